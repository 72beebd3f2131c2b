/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A ladder as text and as SVG. */
#ifndef LADDER_DRAW_H
#define LADDER_DRAW_H

#include <stdio.h>

#include "ladder_trace.h"

/**
 * ladder_draw_text - one line for each packet and each note, in order of time
 * @trace: what has happened
 * @out: where to
 */
void ladder_draw_text(const struct ladder_trace *trace, FILE *out);

/**
 * ladder_draw_svg - the same as a picture
 * @trace: what has happened
 * @title: line above it, plain text
 * @out: where to
 */
void ladder_draw_svg(const struct ladder_trace *trace, const char *title,
		     FILE *out);

#endif /* LADDER_DRAW_H */
