// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_qpfsm.h"
#include "t.h"

/* Columns: RESET INIT RTR RTS SQD SQE ERR. */
T_TEST(qpfsm_may_move__matrix)
{
	static const char *const rows[] = {
		[RXO_QPS_RESET] = "yy.....",
		[RXO_QPS_INIT]  = "yyy...y",
		[RXO_QPS_RTR]   = "y..y..y",
		[RXO_QPS_RTS]   = "y..yy.y",
		[RXO_QPS_SQD]   = "y..yy.y",
		[RXO_QPS_SQE]   = "y..y..y",
		[RXO_QPS_ERR]   = "y.....y",
	};
	int from, to;

	for (from = 0; from < 7; from++)
		for (to = 0; to < 7; to++) {
			t_context("%d -> %d", from, to);
			T_EQ(rxo_qpfsm_may_move((enum rxo_qp_state)from,
						(enum rxo_qp_state)to),
			     rows[from][to] == 'y');
		}
	T_CHECK(!rxo_qpfsm_may_move((enum rxo_qp_state)7, RXO_QPS_RESET));
	T_CHECK(!rxo_qpfsm_may_move(RXO_QPS_RESET, (enum rxo_qp_state)32));
}

T_TEST(qpfsm_may__rows)
{
	/*			  RESET INIT RTR RTS SQD SQE ERR */
	static const char send[] =     "...y...";
	static const char respond[] =  "..yyyy.";
	static const char complete[] = "...yyy.";
	static const char flush[] =    "......y";
	int s;

	for (s = 0; s < 7; s++) {
		t_context("state %d", s);
		T_EQ(rxo_qpfsm_may_send((enum rxo_qp_state)s), send[s] == 'y');
		T_EQ(rxo_qpfsm_may_respond((enum rxo_qp_state)s),
		     respond[s] == 'y');
		T_EQ(rxo_qpfsm_may_complete((enum rxo_qp_state)s),
		     complete[s] == 'y');
		T_EQ(rxo_qpfsm_is_flushing((enum rxo_qp_state)s),
		     flush[s] == 'y');
	}
}
