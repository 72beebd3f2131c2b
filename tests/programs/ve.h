/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the files of verbs_errors share. */
#ifndef VE_H
#define VE_H

#include "t.h"
#include "t_link.h"

#define VE_FILL		0x3c	/* memory that must not be written to */

/**
 * ve_post - post one request of which a completion is wanted, or end the program
 * @end: requester
 * @opcode: operation
 * @sge: local memory, or NULL for none
 * @remote_addr: for RDMA and atomics
 * @rkey: for RDMA and atomics
 */
void ve_post(struct t_end *end, enum ibv_wr_opcode opcode, struct ibv_sge *sge,
	     uint64_t remote_addr, uint32_t rkey);

/**
 * ve_sge - a piece of the memory of an end
 * @end: end
 * @offset: where it begins
 * @length: bytes
 */
struct ibv_sge ve_sge(const struct t_end *end, uint32_t offset, uint32_t length);

/**
 * ve_expect_event - check that a QP reports an asynchronous event
 * @end: end
 * @type: of the event
 * @what: why
 */
void ve_expect_event(struct t_end *end, enum ibv_event_type type,
		     const char *what);

/**
 * ve_expect_state - check the state of a QP
 * @end: end
 * @state: state
 * @what: after what
 */
void ve_expect_state(struct t_end *end, enum ibv_qp_state state,
		     const char *what);

/**
 * ve_drop_events - forget asynchronous events of both devices
 */
void ve_drop_events(void);

/* ve_remote.c: what the responder refuses. */
void ve_remote(void);
/* ve_local.c: what the requester refuses, when posting or when executing. */
void ve_local(void);
/* ve_flow.c: receives that are missing, peers that are missing, flushing. */
void ve_flow(void);
/* ve_states.c: states of queue pairs, queries, objects in use. */
void ve_states(void);
/* ve_memory.c: registering memory. */
void ve_memory(void);

#endif /* VE_H */
