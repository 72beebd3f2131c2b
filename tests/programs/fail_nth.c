// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every call that makes something, with each allocation and each copy from or to the
 * process failing in turn, or every so many-th of them. What has failed leaves nothing,
 * what has succeeded works.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/rxodv.h>

#include "fail_walk.h"
#include "t.h"
#include "t_ioctl.h"
#include "t_link.h"

#define MEM		(64 * 4096)
#define WRS		128

static struct t_link l;
static unsigned char *mem;

/* --------------------------------------------------------------------- objects */

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_comp_channel *channel;

static int make_context(void)
{
	ctx = ibv_open_device(t_port[0].ctx->device);
	return ctx ? 0 : errno;
}

static void use_context(void)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(ctx, &attr))
		t_true(false, "a context that can be asked");
	ibv_close_device(ctx);
}

static int make_pd(void)
{
	pd = ibv_alloc_pd(t_port[0].ctx);
	return pd ? 0 : errno;
}

static void use_pd(void)
{
	struct ibv_mr *in = ibv_reg_mr(pd, mem, 100, 0);

	if (!in || ibv_dereg_mr(in))
		t_true(false, "a protection domain that takes a region");
	if (ibv_dealloc_pd(pd))
		t_true(false, "a protection domain that can go");
}

static int make_mr(void)
{
	mr = ibv_reg_mr(t_port[0].pd, mem, MEM, IBV_ACCESS_LOCAL_WRITE);
	return mr ? 0 : errno;
}

/* All of its pages, by a message that is read from them. */
static void use_mr(void)
{
	struct ibv_sge sge = { (uintptr_t)mem, MEM, mr->lkey };
	struct ibv_sge room = { (uintptr_t)l.b.mem, MEM, l.b.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc sent, received;

	memset(l.b.mem, 0, MEM);
	if (t_post_recv(&l.b, 1, &room, 1) || t_post_send(&l.a, &wr) ||
	    t_wait(l.a.scq, &sent, 1) != 1 || sent.status ||
	    t_wait(l.b.rcq, &received, 1) != 1 || received.status ||
	    memcmp(mem, l.b.mem, MEM))
		t_true(false, "a region of which every page can be sent");
	if (ibv_dereg_mr(mr))
		t_true(false, "a region that can go");
}

static int make_channel(void)
{
	channel = ibv_create_comp_channel(t_port[0].ctx);
	return channel ? 0 : errno;
}

static void use_channel(void)
{
	if (ibv_destroy_comp_channel(channel))
		t_true(false, "a channel that can go");
}

static int make_cq(void)
{
	cq = ibv_create_cq(t_port[0].ctx, 300, NULL, l.a.channel, 0);
	return cq ? 0 : errno;
}

static void use_cq(void)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(cq, 1, &wc) || ibv_req_notify_cq(cq, 0) ||
	    t_ioctl_rearm_if_empty(cq, 0))
		t_true(false, "a CQ that can be polled and armed");
	if (ibv_destroy_cq(cq))
		t_true(false, "a CQ that can go");
}

static int make_cq_ex(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 300, .channel = l.a.channel,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct ibv_cq_ex *ex = ibv_create_cq_ex(t_port[0].ctx, &attr);

	cq = ex ? ibv_cq_ex_to_cq(ex) : NULL;
	return ex ? 0 : errno;
}

static void use_cq_ex(void)
{
	struct ibv_poll_cq_attr attr = { 0 };

	if (ibv_start_poll((struct ibv_cq_ex *)cq, &attr) != ENOENT)
		t_true(false, "an extended CQ that is empty");
	use_cq();
}

static struct ibv_qp_init_attr_ex qp_attr(void)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = l.a.scq, .recv_cq = l.a.rcq, .qp_type = IBV_QPT_RC,
		.cap = { WRS, WRS, 2, 2, 64 },
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = t_port[0].pd,
	};
}

static int make_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = l.a.scq, .recv_cq = l.a.rcq, .qp_type = IBV_QPT_RC,
		.cap = { WRS, WRS, 2, 2, 64 },
	};

	qp = ibv_create_qp(t_port[0].pd, &attr);
	return qp ? 0 : errno;
}

static int make_qp_ex(void)
{
	struct ibv_qp_init_attr_ex attr = qp_attr();

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	qp = ibv_create_qp_ex(t_port[0].ctx, &attr);
	return qp ? 0 : errno;
}

static int make_qp_ordered(void)
{
	struct rxodv_qp_init_attr ours = {
		.comp_mask = RXODV_QP_INIT_ATTR_MASK_CREATE_FLAGS,
		.create_flags = RXODV_QP_CREATE_ORDERED_COMPLETIONS,
	};
	struct ibv_qp_init_attr_ex attr = qp_attr();

	qp = rxodv_create_qp(t_port[0].ctx, &attr, &ours);
	return qp ? 0 : errno;
}

/* The ring to its last entry: what it is told is flushed. */
static void use_qp(void)
{
	struct ibv_recv_wr *bad, wr = { 0 };
	struct ibv_wc wc[WRS];
	int i, err;

	err = pair_to_init(qp, &l.conn);
	for (i = 0; i < WRS && !err; i++)
		err = ibv_post_recv(qp, &wr, &bad);
	if (!err)
		err = pair_to_err(qp);
	if (err || t_wait(l.a.rcq, wc, WRS) != WRS)
		t_true(false, "a QP that takes and flushes %d receives (%d)",
		       WRS, err);
	if (ibv_destroy_qp(qp))
		t_true(false, "a QP that can go");
	qp = NULL;
}

/* ----------------------------------------------------------- one QP with itself */

static void reset(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		t_fatal("no way back to RESET");
	t_drop_all(l.a.scq);
	t_drop_all(l.a.rcq);
}

static int make_connected(void)
{
	int err = pair_to_init(qp, &l.conn);

	if (!err)
		err = pair_to_rtr(qp, &t_port[0], &t_port[0], qp->qp_num,
				  &l.conn);
	if (!err)
		err = pair_to_rts(qp, &l.conn);
	return err;
}

/* The allocations of packets are in here; what cannot be sent is sent later. */
static int make_message(void)
{
	struct ibv_recv_wr *bad_recv, recv = { 0 };
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND,
					.send_flags = IBV_SEND_SIGNALED };
	int err = ibv_post_recv(qp, &recv, &bad_recv);

	return err ? err : ibv_post_send(qp, &wr, &bad);
}

static void use_message(void)
{
	struct ibv_wc sent, received;

	if (t_wait(l.a.scq, &sent, 1) != 1 || sent.status ||
	    t_wait(l.a.rcq, &received, 1) != 1 || received.status)
		t_true(false, "a message that arrives");
}

static void use_connected(void)
{
	if (make_message())
		t_true(false, "a connected QP that takes a message");
	else
		use_message();
	reset();
}

/* As it was after a message that could not be posted. */
static void reconnect(void)
{
	reset();
	if (make_connected())
		t_fatal("cannot connect again");
}

/* The kernel's own way to consume. */
static int make_poll(void)
{
	struct ibv_wc wc;
	int n = t_ioctl_poll_rearm(l.a.rcq, 1, &wc, 0);

	return n < 0 ? -n : 0;
}

static void use_poll(void)
{
	t_deliver(&l, 1, 0);
	if (t_drop_all(l.b.rcq) != 1)
		t_true(false, "a link that goes on");
}

/* ------------------------------------------------------------------------ main */

static const struct fail_step objects[] = {
	{ "open a device", make_context, use_context, NULL },
	{ "protection domain", make_pd, use_pd, NULL },
	{ "memory region", make_mr, use_mr, NULL },
	{ "completion channel", make_channel, use_channel, NULL },
	{ "CQ", make_cq, use_cq, NULL },
	{ "extended CQ", make_cq_ex, use_cq_ex, NULL },
	{ "QP", make_qp, use_qp, NULL },
	{ "extended QP", make_qp_ex, use_qp, NULL },
	{ "ordered QP", make_qp_ordered, use_qp, NULL },
	{ "poll and rearm", make_poll, use_poll, NULL },
}, connecting[] = {
	{ "RESET to RTS", make_connected, use_connected, reset },
}, connected[] = {
	{ "message", make_message, use_message, reconnect },
};

int main(int argc, char **argv)
{
	struct t_config config = { .mem = MEM };

	t_options.completions = 1;
	t_args(argc, argv, "Allocations that fail, one by one, or every so many-th.");
	fail_prepare();
	t_open();
	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.timeout = 10;
	t_link_open(&l, &config);
	mem = aligned_alloc(4096, MEM);
	if (!mem)
		t_fatal("no memory");
	memset(mem, 0x5a, MEM);

	/*
	 * What fails in here ib_core answers by freeing the context, and forgets the
	 * reference to the process that it has; kmemleak may find that.
	 */
	fail_not_in("ib_init_ucontext");
	FAIL_WALK(objects, t_options.completions);
	fail_not_in(NULL);
	if (make_qp())
		t_fatal("cannot create a QP");
	FAIL_WALK(connecting, t_options.completions);
	reconnect();
	FAIL_WALK(connected, t_options.completions);
	if (ibv_destroy_qp(qp))
		t_true(false, "the QP can go");

	free(mem);
	t_link_close(&l);
	t_close();
	return t_done();
}
