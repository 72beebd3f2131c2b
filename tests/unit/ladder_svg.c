// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * usage: ladder_svg QPN-A QPN-B <TRACE >SVG
 *
 * What rxo ladder draws of a trace, for ladder_svg_test.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ladder_draw.h"
#include "ladder_trace.h"
#include "rxo.h"

void rxo_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
}

int main(int argc, char **argv)
{
	static struct ladder_trace trace;

	if (argc != 3)
		return 2;
	ladder_trace_read(&trace, stdin, strtoul(argv[1], NULL, 10),
			  strtoul(argv[2], NULL, 10));
	ladder_draw_svg(&trace, "made up", stdout);
	return 0;
}
