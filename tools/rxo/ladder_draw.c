// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "ladder_draw.h"

#define MAX_ROWS	(LADDER_MAX_PACKETS + LADDER_MAX_NOTES)
#define WIRE		34	/* characters between the two lines */
#define SIDE		32	/* characters beside them */
#define NOTE		64	/* longest note */

/* One of the two. */
struct row {
	uint64_t at_ns;
	const struct ladder_packet *packet;
	const struct ladder_note *note;
};

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct row *)a)->at_ns;
	uint64_t y = ((const struct row *)b)->at_ns;

	return (x > y) - (x < y);
}

/* Rows in order of time. Return: how many. */
static unsigned int make_rows(const struct ladder_trace *trace, struct row *rows)
{
	unsigned int i, n = 0;

	for (i = 0; i < trace->packets; i++, n++) {
		rows[n] = (struct row){ .packet = &trace->packet[i] };
		/* When it arrived, if its sender does not tell. */
		rows[n].at_ns = trace->packet[i].sent_ns ?:
				trace->packet[i].seen_ns;
	}
	for (i = 0; i < trace->notes; i++, n++) {
		rows[n] = (struct row){ .note = &trace->note[i] };
		rows[n].at_ns = trace->note[i].at_ns;
	}
	qsort(rows, n, sizeof(rows[0]), by_time);
	return n;
}

static double row_us(const struct row *rows, unsigned int i)
{
	return (rows[i].at_ns - rows[0].at_ns) / 1000.0;
}

static void note_text(const struct ladder_note *note, char *text, size_t size)
{
	snprintf(text, size, "%s%s", note->app ? "program " : "", note->text);
}

/* ---------------------------------------------------------------------- text */

static void draw_wire(const struct ladder_packet *p, char *wire)
{
	char label[WIRE];
	int len, from;

	memset(wire, '-', WIRE);
	wire[WIRE] = 0;
	wire[p->from == LADDER_A ? WIRE - 1 : 0] =
		p->from == LADDER_A ? '>' : '<';
	if (p->lost) {
		/* It gets two thirds of the way. */
		from = p->from == LADDER_A ? WIRE - WIRE / 3 : 0;
		memset(wire + from, ' ', WIRE / 3);
		wire[p->from == LADDER_A ? from : WIRE / 3 - 1] = 'X';
	}
	len = snprintf(label, sizeof(label), " %s %u ", p->name, p->psn);
	memcpy(wire + (p->from == LADDER_A ? 2 : WIRE - 2 - len), label, len);
}

void ladder_draw_text(const struct ladder_trace *trace, FILE *out)
{
	char wire[WIRE + 1], side[2][NOTE];
	struct row rows[MAX_ROWS];
	unsigned int i, n = make_rows(trace, rows);

	fprintf(out, "%12s  %-*s|%*s|  %s\n", "us", SIDE, "requester", WIRE, "",
		"responder");
	for (i = 0; i < n; i++) {
		memset(wire, ' ', WIRE);
		wire[WIRE] = 0;
		side[0][0] = 0;
		side[1][0] = 0;
		if (rows[i].packet)
			draw_wire(rows[i].packet, wire);
		else
			note_text(rows[i].note, side[rows[i].note->side],
				  sizeof(side[0]));
		fprintf(out, "%12.0f  %-*s|%s|", row_us(rows, i), SIDE, side[0],
			wire);
		fprintf(out, side[1][0] ? "  %s\n" : "%s\n", side[1]);
	}
}

/* ----------------------------------------------------------------------- SVG */

#define X_A	330
#define X_B	650
#define ROW	26
#define TOP	80

static void svg_packet(const struct ladder_packet *p, int y, FILE *out)
{
	int from = p->from == LADDER_A ? X_A : X_B;
	int to = p->from == LADDER_A ? X_B : X_A;

	if (p->lost)
		to = from + (to - from) * 2 / 3;
	fprintf(out, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"%s\"%s/>\n",
		from, y, to, y + ROW / 2, p->lost ? "lost" : "packet",
		p->lost ? "" : " marker-end=\"url(#tip)\"");
	if (p->lost)
		fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"cross\">&#215;</text>\n",
			to, y + ROW / 2 + 6);
	fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"mid\">%s %u</text>\n",
		(X_A + X_B) / 2, y - 2, p->name, p->psn);
}

static void svg_note(const struct ladder_note *note, int y, FILE *out)
{
	bool left = note->side == LADDER_A;
	char text[NOTE];

	note_text(note, text, sizeof(text));
	fprintf(out, "<circle cx=\"%d\" cy=\"%d\" r=\"3\" class=\"%s\"/>\n",
		left ? X_A : X_B, y, note->app ? "app" : "dot");
	fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n",
		left ? X_A - 12 : X_B + 12, y + 4, left ? "left" : "right",
		text);
}

void ladder_draw_svg(const struct ladder_trace *trace, const char *title,
		     FILE *out)
{
	struct row rows[MAX_ROWS];
	unsigned int i, n = make_rows(trace, rows);
	int height = TOP + ROW * (n + 1), y;

	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"960\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n",
		height);
	fputs("<style>.packet{stroke:#1a5fb4;stroke-width:1.5}.lost{stroke:#c01c28;stroke-width:1.5}"
	      ".axis{stroke:#555;stroke-width:2}.cross{fill:#c01c28;font-size:20px;text-anchor:middle}"
	      ".mid{text-anchor:middle}.left{text-anchor:end}.time{text-anchor:end;fill:#777}"
	      ".app{fill:#26a269}.dot{fill:#555}</style>\n"
	      "<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">"
	      "<path d=\"M0 0 8 4 0 8z\" fill=\"#1a5fb4\"/></marker>\n"
	      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
	fprintf(out, "<text x=\"480\" y=\"24\" class=\"mid\" font-size=\"16\">%s</text>\n",
		title);
	fprintf(out, "<text x=\"%d\" y=\"52\" class=\"mid\">requester</text>\n"
		"<text x=\"%d\" y=\"52\" class=\"mid\">responder</text>\n"
		"<text x=\"80\" y=\"52\" class=\"time\">us</text>\n", X_A, X_B);
	for (i = 0; i < 2; i++)
		fprintf(out, "<line x1=\"%d\" y1=\"60\" x2=\"%d\" y2=\"%d\" class=\"axis\"/>\n",
			i ? X_B : X_A, i ? X_B : X_A, height - 10);
	for (i = 0; i < n; i++) {
		y = TOP + ROW * i;
		fprintf(out, "<text x=\"80\" y=\"%d\" class=\"time\">%.0f</text>\n",
			y + 4, row_us(rows, i));
		if (rows[i].packet)
			svg_packet(rows[i].packet, y, out);
		else
			svg_note(rows[i].note, y, out);
	}
	fputs("</svg>\n", out);
}
