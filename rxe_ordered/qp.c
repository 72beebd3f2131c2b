// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life and attributes of queue pairs, as the verbs see them.
 *
 * The struct rxo_qp is what packets find under RCU; it is freed after them.
 * Rings and records are touched by the owner only and go when destroy has
 * become the owner for good.
 */
#include <linux/slab.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include <rdma/uverbs_ioctl.h>

#include "fault.h"
#include "qp_priv.h"
#include "trace.h"
#include "udata.h"

/* QP 0 and 1 are the management QPs; keep clear of what looks like them. */
#define RXO_QPN_MIN	0x11
#define RXO_QPN_MAX	0xfffffe

struct rxo_table rxo_qps;

int rxo_qp_init(void)
{
	rxo_table_init(&rxo_qps, RXO_QPN_MIN, RXO_QPN_MAX);
	return 0;
}

void rxo_qp_exit(void)
{
	rcu_barrier();	/* rxo_qp_free_rcu() is our text */
	rxo_table_fini(&rxo_qps);
}

/* ------------------------------------------------------------------- create */

static int rxo_qp_check_init(const struct ib_qp_init_attr *attr,
			     const struct ib_udata *udata)
{
	const struct ib_qp_cap *cap = &attr->cap;

	if (!udata)		/* kernel consumers: not offered */
		return -EOPNOTSUPP;
	if (attr->qp_type != IB_QPT_RC || attr->srq || attr->create_flags ||
	    attr->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (!attr->send_cq || !attr->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > RXO_MAX_QP_WR ||
	    cap->max_recv_wr > RXO_MAX_QP_WR ||
	    cap->max_send_sge > RXO_MAX_SGE ||
	    cap->max_recv_sge > RXO_MAX_SGE ||
	    cap->max_inline_data > RXO_MAX_INLINE)
		return -EINVAL;
	return 0;
}

static int rxo_qp_read_cmd(struct ib_udata *udata,
			   struct rxe_ordered_create_qp_cmd *cmd)
{
	int err;

	err = rxo_udata_read(udata, cmd, sizeof(*cmd));
	if (err)
		return err;
	if (cmd->comp_mask ||
	    cmd->flags & ~(u32)RXE_ORDERED_CREATE_QP_ORDERED_COMPLETIONS)
		return -EINVAL;
	return rxo_udata_need(udata, sizeof(struct rxe_ordered_create_qp_resp));
}

static void rxo_qp_set_order(struct rxo_qp *qp, bool ordered)
{
	qp->ordered = ordered;
	if (ordered)
		qp->overtaking = (u64)READ_ONCE(rxo_overtaking_us) *
				 NSEC_PER_USEC;
	rxo_order_init(&qp->order, qp->overtaking);
}

static int rxo_qp_ring_create(struct rxo_wq_ring *wq, struct ib_udata *udata,
			      u32 wr, u32 sge, u32 stride)
{
	struct rxo_ucontext *uctx =
		rdma_udata_to_drv_context(udata, struct rxo_ucontext, ib);
	struct rxo_umap *umap;

	wq->entries = roundup_pow_of_two(max(wr, 1U));
	wq->max_sge = sge;
	wq->stride = stride;
	umap = rxo_umap_create(&uctx->ib, RXE_ORDERED_RING_HDR_SIZE +
					  (size_t)wq->entries * stride);
	if (IS_ERR(umap))
		return PTR_ERR(umap);
	wq->umap = umap;
	wq->hdr = umap->mem;
	wq->slots = (u8 *)umap->mem + RXE_ORDERED_RING_HDR_SIZE;
	return 0;
}

static int rxo_qp_alloc_rings(struct rxo_qp *qp, struct ib_qp_cap *cap,
			      struct ib_udata *udata)
{
	u32 sge = max(cap->max_send_sge, 1U);
	int err;

	qp->sq_data_len = round_up(max_t(u32, sge * sizeof(struct rxe_ordered_sge),
					 cap->max_inline_data), 16);
	err = rxo_qp_ring_create(&qp->sq, udata, cap->max_send_wr, sge,
				 sizeof(struct rxe_ordered_sqe) +
				 qp->sq_data_len);
	if (err)
		return err;
	sge = max(cap->max_recv_sge, 1U);
	err = rxo_qp_ring_create(&qp->rq, udata, cap->max_recv_wr, sge,
				 sizeof(struct rxe_ordered_rqe) +
				 sge * sizeof(struct rxe_ordered_sge));
	if (err)
		return err;
	qp->swqe = kvcalloc(qp->sq.entries, sizeof(*qp->swqe), RXO_GFP_USER);
	qp->sq_data = kvcalloc(qp->sq.entries, qp->sq_data_len, RXO_GFP_USER);
	if (!qp->swqe || !qp->sq_data)
		return -ENOMEM;
	if (qp->ordered) {
		qp->hold = kvcalloc(qp->rq.entries, sizeof(*qp->hold),
				    RXO_GFP_USER);
		if (!qp->hold)
			return -ENOMEM;
	}

	cap->max_send_wr = qp->sq.entries;
	cap->max_recv_wr = qp->rq.entries;
	cap->max_send_sge = qp->sq.max_sge;
	cap->max_recv_sge = qp->rq.max_sge;
	cap->max_inline_data = min_t(u32, qp->sq_data_len, RXO_MAX_INLINE);
	return 0;
}

static void rxo_qp_free_rings(struct rxo_qp *qp)
{
	kvfree(qp->hold);
	kvfree(qp->sq_data);
	kvfree(qp->swqe);
	rxo_umap_destroy(qp->rq.umap);
	rxo_umap_destroy(qp->sq.umap);
}

static int rxo_qp_respond(struct rxo_qp *qp, struct ib_udata *udata)
{
	struct rxe_ordered_create_qp_resp resp = {
		.sq_mmap_offset = rxo_umap_offset(qp->sq.umap),
		.sq_mmap_size = qp->sq.umap->size,
		.rq_mmap_offset = rxo_umap_offset(qp->rq.umap),
		.rq_mmap_size = qp->rq.umap->size,
		.sq_entries = qp->sq.entries,
		.sq_stride = qp->sq.stride,
		.rq_entries = qp->rq.entries,
		.rq_stride = qp->rq.stride,
	};

	return rxo_udata_write(udata, &resp, sizeof(resp));
}

static struct rxo_qp *rxo_qp_alloc(struct ib_qp *ibqp,
				   const struct ib_qp_init_attr *attr)
{
	struct rxo_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL_ACCOUNT);

	if (!qp)
		return NULL;
	qp->dev = rxo_dev_of(ibqp->device);
	qp->ib = ibqp;
	qp->pd = rxo_pd_of(ibqp->pd)->id;
	qp->send_cq = rxo_cq_of(attr->send_cq);
	qp->recv_cq = rxo_cq_of(attr->recv_cq);
	rxo_run_init(qp);
	return qp;
}

static void rxo_qp_cq_overrun(void *arg)
{
	rxo_run_kick(arg, RXO_RUN_CQ_ERR);
}

/* With one CQ for both it is told twice, which is once too often but no harm. */
static void rxo_qp_add_to_cqs(struct rxo_qp *qp)
{
	struct rxo_cq *cq[] = { qp->send_cq, qp->recv_cq };
	int i;

	for (i = 0; i < ARRAY_SIZE(cq); i++) {
		qp->cq_user[i].overrun = rxo_qp_cq_overrun;
		qp->cq_user[i].arg = qp;
		rxo_cq_add_user(cq[i], &qp->cq_user[i]);
	}
}

static void rxo_qp_del_from_cqs(struct rxo_qp *qp)
{
	rxo_cq_del_user(qp->send_cq, &qp->cq_user[0]);
	rxo_cq_del_user(qp->recv_cq, &qp->cq_user[1]);
}

int rxo_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata)
{
	struct rxe_ordered_create_qp_cmd cmd;
	struct rxo_qp *qp;
	int err;

	err = rxo_qp_check_init(attr, udata);
	if (err)
		return err;
	err = rxo_qp_read_cmd(udata, &cmd);
	if (err)
		return err;
	qp = rxo_qp_alloc(ibqp, attr);
	if (!qp)
		return -ENOMEM;
	rxo_qp_set_order(qp, udata ? cmd.flags &
			 RXE_ORDERED_CREATE_QP_ORDERED_COMPLETIONS :
			 READ_ONCE(rxo_ordered_default));
	err = rxo_qp_alloc_rings(qp, &attr->cap, udata);
	if (err)
		goto err_rings;
	qp->sq_lim.max_sge = qp->sq.max_sge;
	qp->sq_lim.max_inline = attr->cap.max_inline_data;
	qp->sq_lim.sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->attr.cap = attr->cap;
	rxo_req_init(&qp->req, qp->swqe, qp->sq.entries - 1);
	rxo_resp_init(&qp->resp);
	err = rxo_qp_respond(qp, udata);
	if (err)
		goto err_rings;
	/* From here on packets can find it; in RESET it takes none. */
	err = rxo_obj_add(&rxo_qps, &qp->obj);
	if (err)
		goto err_rings;
	rxo_qp_add_to_cqs(qp);
	ibqp->qp_num = qp->obj.id;
	container_of(ibqp, struct rxo_ibqp, ib)->qp = qp;
	return 0;

err_rings:
	rxo_qp_free_rings(qp);
	kfree(qp);
	return err;
}

/* ------------------------------------------------------------------- modify */

static bool rxo_qp_mtu_ok(const struct rxo_dev *dev, enum ib_mtu mtu)
{
	return mtu >= IB_MTU_256 && mtu <= rxo_net_mtu(dev->ndev);
}

static int rxo_qp_check_attr(const struct rxo_qp *qp,
			     const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return -EINVAL;
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_ALT_PATH || mask & IB_QP_CAP ||
	    mask & IB_QP_RATE_LIMIT)
		return -EOPNOTSUPP;
	if (mask & IB_QP_PATH_MIG_STATE && attr->path_mig_state != IB_MIG_MIGRATED)
		return -EOPNOTSUPP;
	if (mask & IB_QP_PATH_MTU && !rxo_qp_mtu_ok(qp->dev, attr->path_mtu))
		return -EINVAL;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > RXO_MAX_RD_PER_QP)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > RXO_MAX_RD_PER_QP)
		return -EINVAL;
	if ((mask & IB_QP_TIMEOUT && attr->timeout > 31) ||
	    (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7) ||
	    (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31))
		return -EINVAL;
	/* Else nothing would bound how long a receive is held. */
	if (qp->ordered && mask & IB_QP_TIMEOUT && !attr->timeout)
		return -EINVAL;
	return 0;
}

/*
 * SQD is for changes that must not meet what is under way. Until that has ended there
 * is no way back to RTS, and no change but those that RTS allows (IBTA 10.3.1.5).
 */
static bool rxo_qp_may_modify_draining(enum ib_qp_state next, int mask)
{
	if (mask & IB_QP_STATE)
		return next == IB_QPS_RESET || next == IB_QPS_ERR;
	return ib_modify_qp_is_ok(IB_QPS_RTS, IB_QPS_RTS, IB_QPT_RC, mask);
}

static bool rxo_qp_is_draining(const struct rxo_qp *qp)
{
	return qp->state == RXO_QPS_SQD && !rxo_req_is_drained(&qp->req);
}

static int rxo_qp_check_move(const struct rxo_qp *qp,
			     const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state cur = (enum ib_qp_state)qp->state;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;

	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != cur)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(cur, next, IB_QPT_RC, mask) ||
	    !rxo_qpfsm_may_move(qp->state, (enum rxo_qp_state)next))
		return -EINVAL;
	if (rxo_qp_is_draining(qp) && !rxo_qp_may_modify_draining(next, mask))
		return -EINVAL;
	/* A QP that cannot complete anything is not to be used. */
	if (cur == IB_QPS_RESET && next == IB_QPS_INIT &&
	    (rxo_cq_has_overrun(qp->send_cq) ||
	     rxo_cq_has_overrun(qp->recv_cq)))
		return -EINVAL;
	return 0;
}

/* What modify QP says is kept for query QP and for the machines. */
static void rxo_qp_keep_attr(struct rxo_qp *qp, const struct ib_qp_attr *attr,
			     int mask)
{
	struct ib_qp_attr *a = &qp->attr;

#define KEEP(bit, field) do { if (mask & (bit)) a->field = attr->field; } while (0)
	KEEP(IB_QP_ACCESS_FLAGS, qp_access_flags);
	KEEP(IB_QP_PKEY_INDEX, pkey_index);
	KEEP(IB_QP_PORT, port_num);
	KEEP(IB_QP_PATH_MTU, path_mtu);
	KEEP(IB_QP_TIMEOUT, timeout);
	KEEP(IB_QP_RETRY_CNT, retry_cnt);
	KEEP(IB_QP_RNR_RETRY, rnr_retry);
	KEEP(IB_QP_RQ_PSN, rq_psn);
	KEEP(IB_QP_SQ_PSN, sq_psn);
	KEEP(IB_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	KEEP(IB_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	KEEP(IB_QP_MIN_RNR_TIMER, min_rnr_timer);
	KEEP(IB_QP_DEST_QPN, dest_qp_num);
#undef KEEP
	a->path_mig_state = IB_MIG_MIGRATED;
}

static u32 rxo_qp_mtu_bytes(const struct rxo_qp *qp)
{
	return ib_mtu_enum_to_int(qp->attr.path_mtu);
}

static void rxo_qp_set_req_cfg(struct rxo_qp *qp)
{
	qp->req_cfg = (struct rxo_req_cfg){
		.mtu = rxo_qp_mtu_bytes(qp),
		.dqpn = qp->attr.dest_qp_num,
		.pkey = RXO_DEFAULT_PKEY,
		.max_rd_atomic = qp->attr.max_rd_atomic,
		.timeout = qp->attr.timeout,
		.retry_cnt = qp->attr.retry_cnt,
		.rnr_retry = qp->attr.rnr_retry,
		.window = RXO_QP_WINDOW,
		.ack_every = RXO_ACK_EVERY,
	};
}

static void rxo_qp_set_resp_cfg(struct rxo_qp *qp)
{
	qp->resp_cfg = (struct rxo_resp_cfg){
		.mtu = rxo_qp_mtu_bytes(qp),
		.dqpn = qp->attr.dest_qp_num,
		.pkey = RXO_DEFAULT_PKEY,
		.max_dest_rd_atomic = qp->attr.max_dest_rd_atomic,
		.min_rnr_timer = qp->attr.min_rnr_timer,
		.access = qp->attr.qp_access_flags,
		.credits = true,
	};
}

static void rxo_qp_drop_rx(struct rxo_qp *qp)
{
	kfree_skb(qp->rx_first);
	qp->rx_first = NULL;
	rxo_kept_free(qp);
	skb_queue_purge(&qp->rxq);
}

/* Back to what create left behind; the rings are empty for both sides. */
static void rxo_qp_reset(struct rxo_qp *qp)
{
	struct ib_qp_cap cap = qp->attr.cap;

	rxo_qp_drop_rx(qp);
	rxo_req_init(&qp->req, qp->swqe, qp->sq.entries - 1);
	rxo_resp_init(&qp->resp);
	rxo_order_init(&qp->order, qp->overtaking);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->attr.cap = cap;
	dst_release(qp->dst);
	qp->dst = NULL;
	qp->tx_resume = 0;
	qp->tx_tries = 0;
	qp->tx_refused = 0;
	qp->comm_est = false;
	qp->sqd_notify = false;
	qp->err_event = RXO_RESP_EV_NONE;
	qp->pending.n = 0;
	memset(&qp->seen, 0, sizeof(qp->seen));

	qp->sq.next = 0;
	qp->rq.next = 0;
	qp->rq.done = 0;
	qp->sq.broken = false;
	qp->rq.broken = false;
	WRITE_ONCE(qp->sq.hdr->prod, 0);
	WRITE_ONCE(qp->sq.hdr->cons, 0);
	WRITE_ONCE(qp->rq.hdr->prod, 0);
	WRITE_ONCE(qp->rq.hdr->cons, 0);
	WRITE_ONCE(qp->rq.hdr->flags, 0);
}

/* Attributes that may change while the machines run. */
static void rxo_qp_update_machines(struct rxo_qp *qp)
{
	if (rxo_qpfsm_may_respond(qp->state)) {
		rxo_qp_set_resp_cfg(qp);
		rxo_resp_modify(&qp->resp, &qp->resp_cfg);
	}
	if (rxo_qpfsm_may_complete(qp->state)) {
		rxo_qp_set_req_cfg(qp);
		rxo_req_modify(&qp->req, &qp->req_cfg);
	}
}

static void rxo_qp_move(struct rxo_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	enum rxo_qp_state from = qp->state;

	if (attr->qp_state != IB_QPS_ERR)
		trace_rxo_state(qp->dev, qp->obj.id, from, attr->qp_state);
	switch (attr->qp_state) {
	case IB_QPS_RESET:
		rxo_qp_reset(qp);
		qp->state = RXO_QPS_RESET;
		return;
	case IB_QPS_ERR:
		rxo_wq_enter_err(qp);
		return;
	case IB_QPS_RTR:
		rxo_qp_set_resp_cfg(qp);
		if (from == RXO_QPS_INIT)
			rxo_resp_start(&qp->resp, &qp->resp_cfg,
				       rxo_psn_make(attr->rq_psn));
		break;
	case IB_QPS_RTS:
		if (from == RXO_QPS_RTR) {
			rxo_qp_set_req_cfg(qp);
			rxo_req_start(&qp->req, &qp->req_cfg,
				      rxo_psn_make(attr->sq_psn));
		}
		qp->req.draining = false;
		break;
	case IB_QPS_SQD:
		qp->req.draining = true;
		qp->sqd_notify = mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
				 attr->en_sqd_async_notify;
		break;
	default:
		break;
	}
	qp->state = (enum rxo_qp_state)attr->qp_state;
	rxo_qp_update_machines(qp);
}

static int rxo_qp_modify_owned(struct rxo_qp *qp, struct ib_qp_attr *attr,
			       int mask)
{
	struct rxo_av av;
	int err;

	err = rxo_qp_check_move(qp, attr, mask);
	if (err)
		return err;
	err = rxo_qp_check_attr(qp, attr, mask);
	if (err)
		return err;
	if (mask & IB_QP_AV) {
		err = rxo_av_init(&av, &attr->ah_attr, qp->obj.id,
				  mask & IB_QP_DEST_QPN ?
				  attr->dest_qp_num : qp->attr.dest_qp_num);
		if (err)
			return err;
		qp->av = av;
		qp->attr.ah_attr = attr->ah_attr;
		/* Reference of the caller's; query QP fills in what is stable. */
		qp->attr.ah_attr.grh.sgid_attr = NULL;
		dst_release(qp->dst);
		qp->dst = NULL;
	}
	rxo_qp_keep_attr(qp, attr, mask);
	if (mask & IB_QP_STATE)
		rxo_qp_move(qp, attr, mask);
	else
		rxo_qp_update_machines(qp);
	return 0;
}

int rxo_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct rxo_qp *qp = rxo_qp_of(ibqp);
	int err;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	rxo_run_ctl_begin(qp);
	err = rxo_qp_modify_owned(qp, attr, mask);
	rxo_run_ctl_end(qp);
	return err;
}

int rxo_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init_attr)
{
	struct rxo_qp *qp = rxo_qp_of(ibqp);

	rxo_run_ctl_begin(qp);
	*attr = qp->attr;
	attr->qp_state = (enum ib_qp_state)qp->state;
	attr->cur_qp_state = attr->qp_state;
	if (rxo_qpfsm_may_complete(qp->state))
		attr->sq_psn = qp->req.psn.v;
	if (rxo_qpfsm_may_respond(qp->state))
		attr->rq_psn = qp->resp.epsn.v;
	attr->sq_draining = rxo_qp_is_draining(qp);
	rxo_run_ctl_end(qp);

	init_attr->event_handler = ibqp->event_handler;
	init_attr->qp_context = ibqp->qp_context;
	init_attr->send_cq = ibqp->send_cq;
	init_attr->recv_cq = ibqp->recv_cq;
	init_attr->cap = attr->cap;
	init_attr->sq_sig_type = qp->sq_lim.sig_all ? IB_SIGNAL_ALL_WR :
						      IB_SIGNAL_REQ_WR;
	init_attr->qp_type = IB_QPT_RC;
	return 0;
}

static int rxo_qp_put_order(struct sk_buff *msg, const struct rxo_order *o,
			    const struct rxo_rtt *rtt, u32 in_use)
{
	if (rdma_nl_put_driver_u32(msg, "receives_in_use", in_use) ||
	    rdma_nl_put_driver_u64(msg, "holds", o->n_hold) ||
	    rdma_nl_put_driver_u64(msg, "nak_releases", o->n_proven) ||
	    rdma_nl_put_driver_u64(msg, "probes", o->n_probe) ||
	    rdma_nl_put_driver_u64(msg, "rtt_ns", rtt->mean))
		return -EMSGSIZE;
	return 0;
}

int rxo_qp_fill_res(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct rxo_qp *qp = rxo_qp_of(ibqp);
	struct nlattr *table;
	struct rxo_order order;
	struct rxo_rtt rtt;
	u32 in_use;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	rxo_run_ctl_begin(qp);
	order = qp->order;
	rtt = qp->req.rtt;
	in_use = qp->rq.next - qp->rq.done;
	rxo_run_ctl_end(qp);

	if (rdma_nl_put_driver_u32(msg, "ordered_completions", qp->ordered) ||
	    (qp->ordered && rxo_qp_put_order(msg, &order, &rtt, in_use))) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

/* ------------------------------------------------------------ destroy, bell */

static void rxo_qp_free_rcu(struct rcu_head *rcu)
{
	struct rxo_qp *qp = container_of(rcu, struct rxo_qp, rcu);

	/* A packet that found the QP just before it went may have been queued. */
	skb_queue_purge(&qp->rxq);
	kfree(qp);
}

int rxo_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct rxo_qp *qp = rxo_qp_of(ibqp);

	rxo_qp_del_from_cqs(qp);
	rxo_obj_kill(&rxo_qps, &qp->obj);
	rxo_run_ctl_begin(qp);
	rxo_run_stop(qp);
	rxo_qp_drop_rx(qp);
	rxo_fault_forget(qp->dev, qp->obj.id);
	dst_release(qp->dst);
	/* If the device goes, a process that still posts learns it when it rings. */
	WRITE_ONCE(qp->rq.hdr->flags, RXE_ORDERED_WQ_NEED_DOORBELL);
	rxo_qp_free_rings(qp);
	call_rcu(&qp->rcu, rxo_qp_free_rcu);
	return 0;
}

int rxo_qp_doorbell(struct ib_qp *ibqp)
{
	rxo_run_ring(rxo_qp_of(ibqp));
	return 0;
}
