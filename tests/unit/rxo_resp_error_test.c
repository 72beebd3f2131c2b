// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Errors of core/rxo_resp.c: what the peer must not do, what fails here. */
#include "responder.h"

/* ---------------------------------------------------------- broken messages */

struct step { u8 op; u32 len, total; };

T_TEST(resp_rx__invalid_requests)
{
	static const struct step rows[][2] = {
		/* order of opcodes */
		{ { RXO_OP_SEND_MIDDLE, 256, 0 } },
		{ { RXO_OP_SEND_LAST, 1, 0 } },
		{ { RXO_OP_WRITE_MIDDLE, 256, 0 } },
		{ { RXO_OP_WRITE_LAST_IMM, 1, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_FIRST, 256, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_ONLY, 1, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_WRITE_LAST, 1, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_WRITE_ONLY, 1, 1 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_READ_REQUEST, 0, 1 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_SEND_LAST, 44, 0 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_WRITE_ONLY, 44, 44 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_READ_REQUEST, 0, 1 } },
		/* length of a packet */
		{ { RXO_OP_SEND_FIRST, 255, 0 } },
		{ { RXO_OP_SEND_FIRST, 0, 0 } },
		{ { RXO_OP_SEND_FIRST, 260, 0 } },
		{ { RXO_OP_SEND_ONLY, 257, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_MIDDLE, 252, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_LAST, 0, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_LAST, 257, 0 } },
		{ { RXO_OP_WRITE_ONLY, 257, 257 } },
		{ { RXO_OP_WRITE_FIRST, 100, 300 } },
		/* length of a WRITE */
		{ { RXO_OP_WRITE_ONLY, 10, 9 } },
		{ { RXO_OP_WRITE_ONLY, 10, 11 } },
		{ { RXO_OP_WRITE_ONLY, 0, 1 } },
		{ { RXO_OP_WRITE_ONLY, 1, 0 } },
		{ { RXO_OP_WRITE_ONLY_IMM, 10, 0x80000001 } },
		{ { RXO_OP_WRITE_FIRST, 256, 255 } },
		{ { RXO_OP_WRITE_FIRST, 256, 0x80000001 } },
		{ { RXO_OP_WRITE_FIRST, 256, 0xffffffff } },
		{ { RXO_OP_WRITE_FIRST, 256, 256 }, { RXO_OP_WRITE_LAST, 1, 0 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_WRITE_LAST, 43, 0 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_WRITE_LAST, 45, 0 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_WRITE_MIDDLE, 256, 0 } },
		/* others */
		{ { RXO_OP_READ_REQUEST, 0, 0x80000001 } },
		{ { RXO_OP_SEND_ONLY_INV, 1, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_LAST_INV, 1, 0 } },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct step *s = rows[i];
		bool two = s[1].op || s[1].len;
		bool in_send = two && s[0].op == RXO_OP_SEND_FIRST;

		t_context("row %zu", i);
		init();
		if (two) {
			T_CHECK(rx_len(s[0].op, 10, s[0].len, s[0].total) >
				RXO_RESP_NONE);
			done(RXO_RES_OK);
		}
		s += two;
		T_EQ(rx_len(s->op, 10 + two, s->len, s->total), RXO_RESP_NONE);
		refused(10 + two, NAK_INV, RXO_RESP_EV_REQ);
		/* A receive in use is given back, flushed. */
		T_CHECK(!resp.have_recv);
		init();
		if (two) {
			rx_len(rows[i][0].op, 10, rows[i][0].len,
			       rows[i][0].total);
			done(RXO_RES_OK);
		}
		rx_len(s->op, 10 + two, s->len, s->total);
		done(RXO_RES_OK);
		T_EQ(next.complete, in_send);
		if (in_send)
			T_EQ(next.status, RXO_WC_WR_FLUSH_ERR);
	}
}

T_TEST(resp_rx__valid_extremes)
{
	init();
	T_EQ(rx_len(RXO_OP_WRITE_FIRST, 10, 256, 0x80000000), RXO_RESP_WRITE);
	init();
	T_EQ(rx_len(RXO_OP_READ_REQUEST, 10, 0, 0x80000000), RXO_RESP_READ);
	done(RXO_RES_OK);
	T_EQ(resp.epsn.v, 10 + (1 << 23));
	send();
	T_EQ(tx.pkt.opcode, RXO_OP_READ_RESP_FIRST);
	/* The last of those, asked for again. */
	T_EQ(rx_read(10 + (1 << 23) - 1, 10, 0x80000000), RXO_RESP_DROP);
	resp.rd.job_tail = resp.rd.job_head;
	T_EQ(rx_read(10 + (1 << 23) - 1, 10, 0x80000000), RXO_RESP_NONE);
	sends_data(RXO_OP_READ_RESP_ONLY, 10 + (1 << 23) - 1, 0x80000000 - 256,
		   256);
	init();
	take(RXO_OP_SEND_FIRST, 10, 256);
	resp.msg_off = RXO_MAX_MSG - 1;
	T_EQ(rx(RXO_OP_SEND_LAST, 11, 1), RXO_RESP_RECV);
	T_EQ(rx(RXO_OP_SEND_LAST, 11, 2), RXO_RESP_NONE);
	refused(11, NAK_INV, RXO_RESP_EV_REQ);
}

/* 2^23 PSNs may be outstanding, not one more. */
T_TEST(resp_rx__psns_stay_comparable)
{
	init();
	T_EQ(rx_len(RXO_OP_READ_REQUEST, 10, 0, 0x80000000), RXO_RESP_READ);
	done(RXO_RES_OK);
	T_EQ(rx_len(RXO_OP_READ_REQUEST, 10 + (1 << 23), 0, 1), RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(next.fatal);
	init();
	T_EQ(rx_len(RXO_OP_READ_REQUEST, 10, 0, 0x80000000 - 1024),
	     RXO_RESP_READ);
	done(RXO_RES_OK);
	take(RXO_OP_WRITE_ONLY, 10 + (1 << 23) - 4, 1);
	send();
	T_EQ(rx_len(RXO_OP_READ_REQUEST, 10 + (1 << 23) - 3, 0, 5 * 256),
	     RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(next.fatal);
}

T_TEST(resp_rx__access_flags_of_the_qp)
{
	init();
	cfg.access = RXO_ACCESS_REMOTE_READ;
	start(10);
	rx(RXO_OP_WRITE_ONLY, 10, 1);
	refused(10, NAK_ACC, RXO_RESP_EV_ACCESS);
	start(10);
	rx(RXO_OP_WRITE_ONLY, 10, 0);
	refused(10, NAK_ACC, RXO_RESP_EV_ACCESS);
	start(10);
	take_read(10, 1);

	cfg.access = RXO_ACCESS_REMOTE_WRITE;
	start(10);
	rx_read(10, 10, 1);
	refused(10, NAK_ACC, RXO_RESP_EV_ACCESS);
	start(10);
	take(RXO_OP_WRITE_ONLY, 10, 1);
	cfg.access = 0;
	rxo_resp_modify(&resp, &cfg);
	rx(RXO_OP_WRITE_ONLY, 11, 1);
	refused(11, NAK_ACC, RXO_RESP_EV_ACCESS);
}

T_TEST(resp_rx__responses_are_not_requests)
{
	init();
	T_EQ(rx(RXO_OP_ACK, 10, 0), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_QP_TYPE);
	T_EQ(rx(0x64, 10, 0), RXO_RESP_DROP);
	T_EQ(resp.epsn.v, 10);
}

/* ------------------------------------------------------ failed execution */

T_TEST(resp_done__failures)
{
	static const struct {
		u8 op;
		enum rxo_resp_result result;
		u8 syndrome;
		bool complete;
		enum rxo_status status;
		u32 opcode;
		enum rxo_resp_event event;
	} rows[] = {
		{ RXO_OP_SEND_ONLY, RXO_RES_LOC_LEN, NAK_INV, true,
		  RXO_WC_LOC_LEN_ERR, RXO_WC_RECV, RXO_RESP_EV_NONE },
		{ RXO_OP_SEND_ONLY, RXO_RES_LOC_PROT, NAK_OP, true,
		  RXO_WC_LOC_PROT_ERR, RXO_WC_RECV, RXO_RESP_EV_NONE },
		{ RXO_OP_SEND_ONLY, RXO_RES_RECV_BAD, NAK_OP, true,
		  RXO_WC_LOC_QP_OP_ERR, RXO_WC_RECV, RXO_RESP_EV_NONE },
		{ RXO_OP_WRITE_ONLY_IMM, RXO_RES_RECV_BAD, NAK_OP, true,
		  RXO_WC_LOC_QP_OP_ERR, RXO_WC_RECV_RDMA_WITH_IMM,
		  RXO_RESP_EV_NONE },
		{ RXO_OP_WRITE_ONLY, RXO_RES_ACCESS, NAK_ACC, false, 0, 0,
		  RXO_RESP_EV_ACCESS },
		{ RXO_OP_WRITE_ONLY, RXO_RES_PLACE_ACCESS, NAK_ACC, false, 0, 0,
		  RXO_RESP_EV_ACCESS },
		{ RXO_OP_WRITE_ONLY_IMM, RXO_RES_ACCESS, NAK_ACC, false, 0, 0,
		  RXO_RESP_EV_ACCESS },
		{ RXO_OP_WRITE_ONLY_IMM, RXO_RES_PLACE_ACCESS, NAK_ACC, true,
		  RXO_WC_LOC_ACCESS_ERR, RXO_WC_RECV_RDMA_WITH_IMM,
		  RXO_RESP_EV_ACCESS },
		{ RXO_OP_READ_REQUEST, RXO_RES_ACCESS, NAK_ACC, false, 0, 0,
		  RXO_RESP_EV_ACCESS },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		init();
		take_ask(RXO_OP_SEND_ONLY, 10, 1);
		T_CHECK(rx_len(rows[i].op, 11,
			       rows[i].op == RXO_OP_READ_REQUEST ? 0 : 4, 4) >
			RXO_RESP_NONE);
		done(rows[i].result);
		T_CHECK(next.fatal);
		T_EQ(next.event, rows[i].event);
		T_EQ(next.complete, rows[i].complete);
		if (rows[i].complete) {
			T_EQ(next.status, rows[i].status);
			T_EQ(next.opcode, rows[i].opcode);
		}
		T_CHECK(!resp.have_recv);
		T_EQ(resp.epsn.v, 11);
		T_EQ(rx(RXO_OP_SEND_ONLY, 11, 1), RXO_RESP_DROP);
		T_EQ(act.drop, RXO_DROP_STATE);
		T_EQ(rx(RXO_OP_SEND_ONLY, 10, 1), RXO_RESP_DROP);
		sends_ack(11, rows[i].syndrome, 1);
		sends_nothing();
	}
}

T_TEST(resp_done__failure_in_the_middle_completes_once)
{
	init();
	take(RXO_OP_SEND_FIRST, 10, 256);
	T_EQ(rx(RXO_OP_SEND_MIDDLE, 11, 256), RXO_RESP_RECV);
	T_CHECK(!act.need_recv);
	done(RXO_RES_LOC_LEN);
	T_CHECK(next.complete && next.fatal);
	T_EQ(next.status, RXO_WC_LOC_LEN_ERR);
	T_CHECK(!resp.have_recv);
	sends_ack(11, NAK_INV, 0);
}

/* ------------------------------------------------------------------ modify */

T_TEST(resp_modify__fewer_reads_are_kept)
{
	init();
	take_read(10, 1);
	take_read(11, 1);
	send();
	send();
	cfg.max_dest_rd_atomic = 1;
	cfg.mtu = 4096;			/* cannot change any more */
	rxo_resp_modify(&resp, &cfg);
	T_EQ(rx_read(10, 10, 1), RXO_RESP_DROP);
	cfg.mtu = 256;
	T_EQ(rx_read(11, 11, 1), RXO_RESP_NONE);
	take_read(12, 257);
	sends_data(RXO_OP_READ_RESP_FIRST, 12, 0, 256);
}
