/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the commands of rxo have in common. */
#ifndef RXO_TOOL_H
#define RXO_TOOL_H

#define RXO_TOOL_VERSION	"0.1.0"

/* Exit codes. */
enum {
	RXO_EXIT_OK = 0,
	RXO_EXIT_FAILED = 1,
	RXO_EXIT_USAGE = 2,
};

/**
 * struct rxo_command - one command
 * @name: as typed
 * @summary: one line for "rxo help"
 * @usage: prints how it is called
 * @main: runs it; @argv[0] is the name of the command
 */
struct rxo_command {
	const char *name;
	const char *summary;
	void (*usage)(void);
	int (*main)(int argc, char **argv);
};

/**
 * rxo_error - one line on standard error
 * @fmt: as printf
 */
void rxo_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

extern const struct rxo_command rxo_fault_command;
extern const struct rxo_command rxo_ladder_command;
extern const struct rxo_command rxo_order_command;
extern const struct rxo_command rxo_set_command;
extern const struct rxo_command rxo_status_command;

#endif /* RXO_TOOL_H */
