/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* QP states (IBTA 10.3.1): what each allows and which moves exist. */
#ifndef RXO_QPFSM_H
#define RXO_QPFSM_H

#include "rxo_env.h"

/* Same numbers as enum ib_qp_state. */
enum rxo_qp_state {
	RXO_QPS_RESET = 0,
	RXO_QPS_INIT = 1,
	RXO_QPS_RTR = 2,
	RXO_QPS_RTS = 3,
	RXO_QPS_SQD = 4,
	RXO_QPS_SQE = 5,
	RXO_QPS_ERR = 6,
};

/* Is @from -> @to a move an RC QP may make by modify QP? */
bool rxo_qpfsm_may_move(enum rxo_qp_state from, enum rxo_qp_state to);

/* May a new message be started? (RTS only; SQD finishes what it has begun.) */
static inline bool rxo_qpfsm_may_send(enum rxo_qp_state s)
{
	return s == RXO_QPS_RTS;
}

/* Are acknowledgements and responses of the peer taken? (RTS, SQD, SQE) */
static inline bool rxo_qpfsm_may_complete(enum rxo_qp_state s)
{
	return s == RXO_QPS_RTS || s == RXO_QPS_SQD || s == RXO_QPS_SQE;
}

/* Are requests of the peer executed? (RTR, RTS, SQD, SQE) */
static inline bool rxo_qpfsm_may_respond(enum rxo_qp_state s)
{
	return s == RXO_QPS_RTR || rxo_qpfsm_may_complete(s);
}

/* Are posted requests flushed? (ERR) */
static inline bool rxo_qpfsm_is_flushing(enum rxo_qp_state s)
{
	return s == RXO_QPS_ERR;
}

#endif /* RXO_QPFSM_H */
