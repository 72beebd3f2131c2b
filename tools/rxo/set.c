// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rxo set: switches of a device. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "debugfs.h"
#include "rxo.h"

static void set_usage(void)
{
	puts("usage: rxo set DEVICE trains on|off\n"
	     "\n"
	     "trains: send packets of one length as one GSO packet (on), or each by itself\n"
	     "(off), from now on. netem, for one, loses a train as a whole.");
}

static int set_main(int argc, char **argv)
{
	bool on, off;
	int err;

	if (argc != 4 || strcmp(argv[2], "trains")) {
		rxo_error("set: try 'rxo help set'");
		return RXO_EXIT_USAGE;
	}
	on = !strcmp(argv[3], "on");
	off = !strcmp(argv[3], "off");
	if (!on && !off) {
		rxo_error("set: '%s' is neither on nor off", argv[3]);
		return RXO_EXIT_USAGE;
	}
	err = debugfs_write(argv[1], "trains", on ? "Y" : "N");
	return err ? RXO_EXIT_FAILED : RXO_EXIT_OK;
}

const struct rxo_command rxo_set_command = {
	.name = "set",
	.summary = "switches of a device",
	.usage = set_usage,
	.main = set_main,
};
