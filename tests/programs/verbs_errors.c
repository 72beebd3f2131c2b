// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What goes wrong with verbs, and what has to be seen then: error codes, completion
 * statuses, asynchronous events, and memory that stays as it was.
 */
#include <errno.h>
#include <string.h>

#include "ve.h"

void ve_post(struct t_end *end, enum ibv_wr_opcode opcode, struct ibv_sge *sge,
	     uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = sge,
		.num_sge = sge ? 1 : 0,
		.wr.rdma = { remote_addr, rkey },
	};
	int err;

	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.swap = 2;
		wr.wr.atomic.rkey = rkey;
	}
	err = t_post_send(end, &wr);

	if (err)
		t_fatal("cannot post %d: %s", opcode, strerror(err));
}

struct ibv_sge ve_sge(const struct t_end *end, uint32_t offset, uint32_t length)
{
	return (struct ibv_sge){ (uintptr_t)end->mem + offset, length,
				 end->mr->lkey };
}

void ve_expect_event(struct t_end *end, enum ibv_event_type type,
		     const char *what)
{
	struct ibv_async_event event;

	if (!t_async(end->port, &event, 3000)) {
		t_true(false, "%s: expected event '%s', but none came", what,
		       ibv_event_type_str(type));
		return;
	}
	t_true(event.event_type == type && event.element.qp == end->qp,
	       "%s: event '%s'%s%s", what, ibv_event_type_str(type),
	       event.event_type == type ? "" : " expected, but saw ",
	       event.event_type == type ? "" :
	       ibv_event_type_str(event.event_type));
}

static const char *state_name(enum ibv_qp_state state)
{
	static const char *const name[] = {
		[IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT",
		[IBV_QPS_RTR] = "RTR", [IBV_QPS_RTS] = "RTS",
		[IBV_QPS_SQD] = "SQD", [IBV_QPS_SQE] = "SQE",
		[IBV_QPS_ERR] = "ERR",
	};

	return state <= IBV_QPS_ERR ? name[state] : "unknown";
}

void ve_expect_state(struct t_end *end, enum ibv_qp_state state,
		     const char *what)
{
	enum ibv_qp_state saw = t_state(end->qp);

	t_true(saw == state, "%s: state %s%s%s", what, state_name(state),
	       saw == state ? "" : " expected, but saw ",
	       saw == state ? "" : state_name(saw));
}

void ve_drop_events(void)
{
	struct ibv_async_event event;

	while (t_async(&t_port[0], &event, 0) || t_async(&t_port[1], &event, 0))
		;
}

int main(int argc, char **argv)
{
	t_args(argc, argv, "What goes wrong with verbs.");
	t_open();
	ve_remote();
	ve_local();
	ve_flow();
	ve_states();
	ve_memory();
	t_close();
	return t_done();
}
