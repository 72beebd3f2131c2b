// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rxo fault: rules of fault injection. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugfs.h"
#include "rxo.h"

#define FILE_NAME	"faults"
#define MAX_RULE	1024

static void fault_usage(void)
{
	puts("usage: rxo fault add DEVICE RULE\n"
	     "       rxo fault list DEVICE\n"
	     "       rxo fault clear DEVICE\n"
	     "\n"
	     "RULE, in one argument or several:\n"
	     "  <rx|tx> <ack|nak|send|write|read|response|atomic|any>\n"
	     "      [qpn=N] [psn=N] [nth=K] [every=K] [count=M] [pct=P [seed=S]]\n"
	     "      <drop|dup|corrupt|delay=US|hold=K>\n"
	     "\n"
	     "It applies to single packets that the device receives (rx) or sends (tx), also\n"
	     "within a train. qpn is the number of the local queue pair. Of the packets that\n"
	     "direction, kind, qpn and psn describe it hits the K-th (nth), or every K-th\n"
	     "(from nth on), or all; of these P per cent; M at most (count). The first rule\n"
	     "that hits a packet decides. 'list' shows what each rule has seen and hit.");
}

/* What the driver says of the line that it has refused last. */
static void print_refusal(const char *device)
{
	static const char mark[] = "# refused: ";
	char *text = debugfs_read(device, FILE_NAME), *why;

	if (!text)
		return;
	why = strstr(text, mark);
	if (why)
		why[strcspn(why, "\n")] = 0;
	rxo_error("refused: %s", why ? why + strlen(mark) : "no reason given");
	free(text);
}

static int write_line(const char *device, const char *line)
{
	int err = debugfs_write(device, FILE_NAME, line);

	if (!err)
		return RXO_EXIT_OK;
	if (err == EINVAL || err == ENOSPC)
		print_refusal(device);
	return err == EINVAL ? RXO_EXIT_USAGE : RXO_EXIT_FAILED;
}

static int add(const char *device, int argc, char **argv)
{
	char line[MAX_RULE];
	size_t len = 0;
	int i;

	for (i = 0; i < argc; i++) {
		/* One rule: what follows would be taken for another. */
		if (strpbrk(argv[i], "#\n")) {
			rxo_error("fault: a rule is one line, without '#'");
			return RXO_EXIT_USAGE;
		}
		len += snprintf(line + len, sizeof(line) - len, "%s%c", argv[i],
				i + 1 < argc ? ' ' : '\n');
		if (len >= sizeof(line)) {
			rxo_error("fault: the rule is too long");
			return RXO_EXIT_USAGE;
		}
	}
	return write_line(device, line);
}

static int list(const char *device)
{
	char *text = debugfs_read(device, FILE_NAME);

	if (!text)
		return RXO_EXIT_FAILED;
	fputs(text, stdout);
	free(text);
	return RXO_EXIT_OK;
}

static int fault_main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc > 3 && !strcmp(what, "add"))
		return add(argv[2], argc - 3, argv + 3);
	if (argc == 3 && !strcmp(what, "list"))
		return list(argv[2]);
	if (argc == 3 && !strcmp(what, "clear"))
		return write_line(argv[2], "clear\n");
	rxo_error("fault: try 'rxo help fault'");
	return RXO_EXIT_USAGE;
}

const struct rxo_command rxo_fault_command = {
	.name = "fault",
	.summary = "lose, repeat, spoil, delay or reorder packets of a device by rules",
	.usage = fault_usage,
	.main = fault_main,
};
