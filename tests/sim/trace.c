// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A run as text: one line for each thing that happens. */
#include <stdarg.h>

#include "sim.h"

static const char *opcode_name(u8 opcode)
{
	static const char *const names[] = {
		"SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_IMM",
		"SEND_ONLY", "SEND_ONLY_IMM", "WRITE_FIRST", "WRITE_MIDDLE",
		"WRITE_LAST", "WRITE_LAST_IMM", "WRITE_ONLY", "WRITE_ONLY_IMM",
		"READ", "RESP_FIRST", "RESP_MIDDLE", "RESP_LAST", "RESP_ONLY",
		"ACK", "ATOMIC_ACK", "CMP_SWAP", "FETCH_ADD",
	};

	return opcode < ARRAY_SIZE(names) ? names[opcode] : "?";
}

const char *sim_trace_pkt(const struct rxo_pkt *pkt)
{
	static const char *const aeth[] = { "ack", "rnr", "?", "nak" };
	static char text[128];
	int n;

	n = snprintf(text, sizeof(text), "%s psn %06x", opcode_name(pkt->opcode),
		     pkt->psn.v);
	if (rxo_opcode_info(pkt->opcode)->hdrs & RXO_HDR_AETH)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      " %s %u msn %u", aeth[pkt->syndrome >> 5 & 3],
			      pkt->syndrome & 31, pkt->msn);
	if (pkt->payload_len)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %u bytes",
			      pkt->payload_len);
	if (pkt->opcode == RXO_OP_READ_REQUEST)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " of %u",
			      pkt->dma_len);
	if (pkt->ackreq)
		snprintf(text + n, sizeof(text) - (size_t)n, " ackreq");
	return text;
}

void sim_trace(const struct sim_end *e, const char *format, ...)
{
	va_list ap;

	printf("%12.3f us  %2u.%u %s ", (double)(e->sim->now - NS_PER_S) / 1000,
	       e->conn->index, e->conn->generation, e->side ? "  B" : "A  ");
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}
