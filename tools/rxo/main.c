// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rxo: the table of commands. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rxo.h"

static const struct rxo_command *const commands[] = {
	&rxo_fault_command,
	&rxo_ladder_command,
	&rxo_order_command,
	&rxo_set_command,
	&rxo_status_command,
};

#define NUM_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

void rxo_error(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("rxo: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

static void usage(FILE *out)
{
	size_t i;

	fputs("usage: rxo COMMAND [OPTIONS]\n"
	      "       rxo help [COMMAND]\n"
	      "       rxo --version\n"
	      "\n"
	      "commands:\n", out);
	for (i = 0; i < NUM_COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i]->name,
			commands[i]->summary);
}

static const struct rxo_command *find(const char *name)
{
	size_t i;

	for (i = 0; i < NUM_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	rxo_error("there is no command '%s' (try 'rxo help')", name);
	return NULL;
}

static int help(int argc, char **argv)
{
	const struct rxo_command *command;

	if (argc < 2) {
		usage(stdout);
		return RXO_EXIT_OK;
	}
	command = find(argv[1]);
	if (!command)
		return RXO_EXIT_USAGE;
	command->usage();
	return RXO_EXIT_OK;
}

int main(int argc, char **argv)
{
	const struct rxo_command *command;

	if (argc < 2) {
		usage(stderr);
		return RXO_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version")) {
		puts("rxo " RXO_TOOL_VERSION);
		return RXO_EXIT_OK;
	}
	command = find(argv[1]);
	if (!command)
		return RXO_EXIT_USAGE;
	return command->main(argc - 1, argv + 1);
}
