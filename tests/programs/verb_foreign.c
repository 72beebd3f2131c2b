// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The library on a CQ of another driver: -EOPNOTSUPP, and nothing is touched. The
 * device talks to itself.
 */
#include <errno.h>
#include <string.h>

#include <infiniband/rxodv.h>

#include "t.h"
#include "t_ioctl.h"
#include "t_link.h"
#include "verb_invariants.h"

static void check_refused(struct ibv_cq *cq)
{
	struct ibv_wc wc, before;
	uint32_t count = 77;
	struct rxe_ordered_wc raw;
	struct t_poll_rearm call;

	memset(&wc, 0x5a, sizeof(wc));
	before = wc;
	t_is(rxodv_poll_rearm_cq(cq, 1, &wc, 0), -EOPNOTSUPP,
	     "rxodv_poll_rearm_cq on a foreign CQ");
	t_is(rxodv_poll_rearm_cq(cq, 0, NULL, ~0U), -EOPNOTSUPP,
	     "the same with wrong arguments");
	t_is(rxodv_rearm_cq_if_empty(cq, 0), -EOPNOTSUPP,
	     "rxodv_rearm_cq_if_empty on a foreign CQ");
	t_true(!memcmp(&wc, &before, sizeof(wc)), "wc is not written to");

	t_poll_rearm_init(&call, cq, &raw, 1, &count);
	t_true(t_poll_rearm(&call) != 0, "the ioctl on a foreign device is refused");
	t_is(count, 77, "and its count is not written");
}

static void test_on(struct t_link *l)
{
	struct ibv_wc wc[4];

	t_true(!rxodv_is_supported(l->b.port->ctx->device),
	       "rxodv_is_supported says no");
	t_note("a foreign CQ with 2 completions, not armed");
	t_deliver(l, 2, 0);
	check_refused(l->b.rcq);
	t_deliver(l, 1, 0);
	t_is(t_events(l->b.channel), 0, "events, it was not armed");
	t_is(ibv_poll_cq(l->b.rcq, 4, wc), 3, "completions still there");
	t_is(t_number(&wc[0]), 0, "the first of them");

	t_note("an empty foreign CQ, armed");
	t_is(ibv_req_notify_cq(l->b.rcq, 0), 0, "ibv_req_notify_cq");
	check_refused(l->b.rcq);
	t_deliver(l, 1, 0);
	t_is(t_events(l->b.channel), 1, "events, it was armed");
}

void test_foreign(void)
{
	struct pair_port ours[2];
	char err[PAIR_ERR_LEN];
	struct t_link link;
	int i;

	for (i = 0; i < 2; i++)
		t_true(rxodv_is_supported(t_port[i].ctx->device),
		       "rxodv_is_supported says yes to %s", t_options.dev[i]);
	if (!t_options.foreign) {
		t_skip("library on a foreign device: no --foreign DEVICE");
		return;
	}
	memcpy(ours, t_port, sizeof(ours));
	for (i = 0; i < 2; i++)
		if (pair_open(&t_port[i], t_options.foreign, PAIR_GID_AUTO, err))
			t_fatal("%s", err);
	t_link_open(&link, NULL);
	test_on(&link);
	t_drop_all(link.b.rcq);
	t_link_close(&link);
	t_close();
	memcpy(t_port, ours, sizeof(ours));
}
