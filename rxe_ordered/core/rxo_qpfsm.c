// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Moves between QP states and what each state allows (IBTA 10.3.1). */
#include "rxo_qpfsm.h"

#define TO(s) (1u << RXO_QPS_##s)

/*
 * SQD is entered by request and left to RTS; an RC QP never enters SQE, but an
 * owner may still move one out of it. RESET -> ERR is not a move: there is
 * nothing to flush.
 */
static const u8 rxo_qpfsm_moves[] = {
	[RXO_QPS_RESET] = TO(RESET) | TO(INIT),
	[RXO_QPS_INIT] = TO(RESET) | TO(ERR) | TO(INIT) | TO(RTR),
	[RXO_QPS_RTR] = TO(RESET) | TO(ERR) | TO(RTS),
	[RXO_QPS_RTS] = TO(RESET) | TO(ERR) | TO(RTS) | TO(SQD),
	[RXO_QPS_SQD] = TO(RESET) | TO(ERR) | TO(RTS) | TO(SQD),
	[RXO_QPS_SQE] = TO(RESET) | TO(ERR) | TO(RTS),
	[RXO_QPS_ERR] = TO(RESET) | TO(ERR),
};

bool rxo_qpfsm_may_move(enum rxo_qp_state from, enum rxo_qp_state to)
{
	if ((u32)from >= ARRAY_SIZE(rxo_qpfsm_moves) ||
	    (u32)to >= ARRAY_SIZE(rxo_qpfsm_moves))
		return false;
	return rxo_qpfsm_moves[from] & 1u << to;
}
