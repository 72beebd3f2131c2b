// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rxo status: queue pairs, and what each waits for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugfs.h"
#include "rxo.h"

static const struct {
	const char *name;
	const char *title;
	int width;
} columns[] = {
	{ "qpn=", "QP", 8 },
	{ "state=", "state", 6 },
	{ "peer=", "peer", 8 },
	{ "expects=", "expects", 8 },
	{ "unacked=", "unacked", 8 },
	{ "next=", "next", 8 },
	{ "sent=", "sent", 6 },
	{ "unsent=", "unsent", 6 },
	{ "reads=", "reads", 6 },
	{ "retries=", "retries", 8 },
};

#define NUM_COLUMNS	(sizeof(columns) / sizeof(columns[0]))

static void status_usage(void)
{
	puts("usage: rxo status [DEVICE]\n"
	     "\n"
	     "Queue pairs of the device, or of all. PSNs: what it expects next from its peer,\n"
	     "the oldest that the peer has not acknowledged, the next to send. Requests: sent\n"
	     "and not complete, not sent yet. What it waits for:\n"
	     "  ack=US        an acknowledgement; it goes back in so many microseconds\n"
	     "  rnr=US        the peer had no receive request\n"
	     "  network=US    the network stack has taken no more, or there was no memory for\n"
	     "                a packet; it tries again in so many microseconds\n"
	     "  window        as many packets are under way as may be\n"
	     "  credits       the peer has not told of a receive request for more than one packet\n"
	     "  fence         READs and atomics before it\n"
	     "  read-limit    as many READs and atomics are under way as may be\n"
	     "  drain         it is in SQD: what has not begun does not begin\n"
	     "  failed        requests before one that has failed\n"
	     "  held-receive  a receive is held back behind sends (ordered completions)\n"
	     "Values are true one by one; traffic goes on while they are read.");
}

static void print_titles(void)
{
	size_t i;

	for (i = 0; i < NUM_COLUMNS; i++)
		printf("%*s ", columns[i].width, columns[i].title);
	puts(" waits for");
}

static void print_line(char *line)
{
	char *waits = strstr(line, " waits:"), *value;
	size_t i;

	if (waits) {
		*waits = 0;
		waits += strlen(" waits:");
	}
	for (i = 0; i < NUM_COLUMNS; i++) {
		value = strstr(line, columns[i].name);
		/* "next=" is not the end of another name. */
		while (value && value != line && value[-1] != ' ')
			value = strstr(value + 1, columns[i].name);
		if (value)
			value += strlen(columns[i].name);
		printf("%*.*s ", columns[i].width,
		       value ? (int)strcspn(value, " ") : 1, value ?: "-");
	}
	printf(" %s\n", waits && *waits ? waits + 1 : "-");
}

static int print_device(const char *device)
{
	char *text = debugfs_read(device, "qps"), *line, *rest = text;

	if (!text)
		return -1;
	printf("%s:\n", device);
	if (*text)
		print_titles();
	while ((line = strsep(&rest, "\n")))
		if (*line)
			print_line(line);
	free(text);
	return 0;
}

static int status_main(int argc, char **argv)
{
	if (argc > 2) {
		rxo_error("status: try 'rxo help status'");
		return RXO_EXIT_USAGE;
	}
	if (argc == 2)
		return print_device(argv[1]) ? RXO_EXIT_FAILED : RXO_EXIT_OK;
	return debugfs_devices(print_device) < 0 ? RXO_EXIT_FAILED : RXO_EXIT_OK;
}

const struct rxo_command rxo_status_command = {
	.name = "status",
	.summary = "queue pairs of a device, and what each waits for",
	.usage = status_usage,
	.main = status_main,
};
