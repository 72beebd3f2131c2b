// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ladder_run.h"
#include "ladder_trace.h"
#include "rxo.h"

#define TRACEFS		"/sys/kernel/tracing"
#define INSTANCE	TRACEFS "/instances/rxo-ladder"

/* BTH opcodes and syndromes as the tracepoints print them. */
#define OP_ACK		0x11
#define SYNDROME_TYPE	0x60

static const struct {
	unsigned int op;
	const char *name;
} op_names[] = {
	{ 0x04, "SEND" },
	{ OP_ACK, "ACK" },
};

/* --------------------------------------------------------------- the instance */

static int put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC), ret = -1;

	if (fd >= 0) {
		if (write(fd, text, strlen(text)) == (ssize_t)strlen(text))
			ret = 0;
		close(fd);
	}
	return ret;
}

void ladder_trace_off(void)
{
	put(INSTANCE "/events/rxe_ordered/enable", "0");
	rmdir(INSTANCE);
}

int ladder_trace_on(void)
{
	if (access(TRACEFS "/instances", W_OK)) {
		rxo_error("%s: %s (mount -t tracefs tracefs " TRACEFS ")",
			  TRACEFS "/instances", strerror(errno));
		return -1;
	}
	/* An earlier run may have been killed. */
	if (mkdir(INSTANCE, 0700) && errno != EEXIST) {
		rxo_error("%s: %s", INSTANCE, strerror(errno));
		return -1;
	}
	if (!put(INSTANCE "/trace_clock", "mono") &&
	    !put(INSTANCE "/events/rxe_ordered/enable", "1"))
		return 0;
	rxo_error("cannot switch on the tracepoints of rxe_ordered: %s",
		  strerror(errno));
	ladder_trace_off();
	return -1;
}

void ladder_trace_begin(void)
{
	put(INSTANCE "/trace", "");
}

/* -------------------------------------------------------------------- events */

void ladder_trace_note(struct ladder_trace *trace, enum ladder_side side,
		       bool app, uint64_t at_ns, const char *format, ...)
{
	struct ladder_note *note = &trace->note[trace->notes];
	va_list args;

	if (trace->notes == LADDER_MAX_NOTES)
		return;
	note->side = side;
	note->app = app;
	note->at_ns = at_ns;
	va_start(args, format);
	vsnprintf(note->text, sizeof(note->text), format, args);
	va_end(args);
	trace->notes++;
}

/* Value of "name=..." in the text of an event. */
static unsigned long long field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 0) : 0;
}

static const char *packet_name(const char *text)
{
	unsigned int op = field(text, " op="), i;

	if (op == OP_ACK && field(text, " syndrome=") & SYNDROME_TYPE)
		return "NAK";
	for (i = 0; i < sizeof(op_names) / sizeof(op_names[0]); i++)
		if (op_names[i].op == op)
			return op_names[i].name;
	return "packet";
}

static struct ladder_packet *add_packet(struct ladder_trace *trace,
					enum ladder_side from,
					const char *text)
{
	static struct ladder_packet surplus;
	struct ladder_packet *p = &surplus;

	if (trace->packets < LADDER_MAX_PACKETS)
		p = &trace->packet[trace->packets++];
	*p = (struct ladder_packet){
		.from = from,
		.name = packet_name(text),
		.psn = field(text, " psn="),
	};
	return p;
}

/* Taken, or lost, by the side that did not send it: which one was it? */
static struct ladder_packet *find_sent(struct ladder_trace *trace,
				       enum ladder_side from, const char *text)
{
	uint32_t psn = field(text, " psn=");
	struct ladder_packet *p;

	for (p = trace->packet; p < trace->packet + trace->packets; p++)
		if (p->from == from && p->psn == psn && !p->seen_ns &&
		    !strcmp(p->name, packet_name(text)))
			return p;
	return add_packet(trace, from, text);
}

static void add_event(struct ladder_trace *trace, enum ladder_side side,
		      const char *event, uint64_t at)
{
	static const char *const names[LADDER_IDS] = {
		[LADDER_SEND1] = "send1", [LADDER_RECV1] = "recv1",
		[LADDER_SEND2] = "send2", [LADDER_RECV2] = "recv2",
	};
	enum ladder_side other = side == LADDER_A ? LADDER_B : LADDER_A;
	unsigned int psn = field(event, " psn=");
	unsigned long long id = field(event, " wr_id=");
	const char *name = id < LADDER_IDS && names[id] ? names[id] : "request";
	struct ladder_packet *p;

	if (!strncmp(event, "tx:", 3)) {
		add_packet(trace, side, event)->sent_ns = at;
	} else if (!strncmp(event, "rx:", 3)) {
		find_sent(trace, other, event)->seen_ns = at;
	} else if (!strncmp(event, "fault:", 6)) {
		p = find_sent(trace, other, event);
		p->seen_ns = at;
		p->lost = true;
	} else if (!strncmp(event, "completion:", 11)) {
		ladder_trace_note(trace, side, false, at, "%s completes", name);
	} else if (!strncmp(event, "timer:", 6)) {
		ladder_trace_note(trace, side, false, at, "timer");
	} else if (!strncmp(event, "hold:", 5)) {
		ladder_trace_note(trace, side, false, at,
				  "%s held behind PSN %u", name, psn);
	} else if (!strncmp(event, "release:", 8)) {
		ladder_trace_note(trace, side, false, at, "%s released", name);
	} else if (!strncmp(event, "probe:", 6)) {
		ladder_trace_note(trace, side, false, at, "asks for ACK of PSN %u",
				  psn);
	}
}

/* " TASK-PID [CPU] FLAGS SECONDS.MICROSECONDS: rxo_EVENT: FIELDS" */
static void add_line(struct ladder_trace *trace, char *line, uint32_t qpn_a,
		     uint32_t qpn_b)
{
	char *event = strstr(line, ": rxo_"), *time = event;
	uint32_t qpn;
	uint64_t at;

	if (line[0] == '#' || !event)
		return;
	*event = 0;
	while (time > line && time[-1] != ' ')
		time--;
	at = strtoull(time, &time, 10) * 1000000;
	if (*time == '.')
		at += strtoull(time + 1, NULL, 10);
	event += strlen(": rxo_");
	qpn = field(event, " qpn=");
	if (qpn == qpn_a)
		add_event(trace, LADDER_A, event, at * 1000);
	else if (qpn == qpn_b)
		add_event(trace, LADDER_B, event, at * 1000);
}

void ladder_trace_read(struct ladder_trace *trace, FILE *file, uint32_t qpn_a,
		       uint32_t qpn_b)
{
	char line[512];

	memset(trace, 0, sizeof(*trace));
	while (fgets(line, sizeof(line), file))
		add_line(trace, line, qpn_a, qpn_b);
}

int ladder_trace_get(struct ladder_trace *trace, uint32_t qpn_a, uint32_t qpn_b)
{
	FILE *file = fopen(INSTANCE "/trace", "re");

	if (!file) {
		rxo_error("%s: %s", INSTANCE "/trace", strerror(errno));
		return -1;
	}
	ladder_trace_read(trace, file, qpn_a, qpn_b);
	fclose(file);
	return 0;
}
