// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/rxodv.h>

#include "di_message.h"
#include "t.h"

#define GUARD_BYTE	0xa5
#define POOL		(2 * DI_MAX_LEN)

const char *const di_op_name[DI_NUM_OPS] = {
	[DI_SEND] = "SEND",
	[DI_SEND_IMM] = "SEND_WITH_IMM",
	[DI_WRITE] = "RDMA_WRITE",
	[DI_WRITE_IMM] = "RDMA_WRITE_WITH_IMM",
	[DI_READ] = "RDMA_READ",
};

static const enum ibv_wr_opcode wr_opcode[DI_NUM_OPS] = {
	[DI_SEND] = IBV_WR_SEND,
	[DI_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
	[DI_WRITE] = IBV_WR_RDMA_WRITE,
	[DI_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
	[DI_READ] = IBV_WR_RDMA_READ,
};

static unsigned char pool[POOL];

/* ---------------------------------------------------------------------- buffers */

void di_init(void)
{
	uint64_t x = 0x9e3779b97f4a7c15 + t_options.seed;
	unsigned int i;

	for (i = 0; i < POOL; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		pool[i] = x >> 24;
	}
}

const unsigned char *di_data(unsigned int seed)
{
	return pool + seed * 2654435761U % DI_MAX_LEN;
}

static int compare_cuts(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void di_layout_make(struct di_layout *layout, unsigned char *base, uint32_t lkey,
		    uint32_t len, unsigned int align, unsigned int pieces,
		    unsigned int seed)
{
	unsigned char *p = base;
	uint32_t cuts[DI_MAX_SGE + 1];
	unsigned int i;

	/* Pieces of no length at all are legal, and they occur. */
	for (i = 1; i < pieces; i++)
		cuts[i] = rand_r(&seed) % (len + 1);
	cuts[0] = 0;
	cuts[pieces] = len;
	qsort(cuts + 1, pieces - 1, sizeof(cuts[0]), compare_cuts);

	for (i = 0; i < pieces; i++) {
		p += DI_GUARD;
		p = (unsigned char *)(((uintptr_t)p + 7) & ~7UL) + align;
		layout->sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)p,
			.length = cuts[i + 1] - cuts[i],
			.lkey = lkey,
		};
		p += layout->sge[i].length;
	}
	layout->base = base;
	layout->span = p + DI_GUARD - base;
	layout->num = pieces;
	memset(base, GUARD_BYTE, layout->span);
}

void di_layout_fill(const struct di_layout *layout, const unsigned char *data)
{
	unsigned int i;

	for (i = 0; i < layout->num; i++) {
		memcpy((void *)(uintptr_t)layout->sge[i].addr, data,
		       layout->sge[i].length);
		data += layout->sge[i].length;
	}
}

static long check_guard(const unsigned char *from, const unsigned char *to,
			const unsigned char *base)
{
	for (; from < to; from++)
		if (*from != GUARD_BYTE)
			return from - base;
	return -1;
}

static long check_data(const unsigned char *p, const unsigned char *data,
		       uint32_t len, const unsigned char *base)
{
	uint32_t i;

	if (!memcmp(p, data, len))
		return -1;
	for (i = 0; p[i] == data[i]; i++)
		;
	return p + i - base;
}

long di_layout_check(const struct di_layout *layout, const unsigned char *data,
		     uint32_t len)
{
	const unsigned char *end = layout->base, *p;
	unsigned int i;
	uint32_t n;
	long bad;

	for (i = 0; i < layout->num; i++) {
		p = (const unsigned char *)(uintptr_t)layout->sge[i].addr;
		bad = check_guard(end, p, layout->base);
		if (bad >= 0)
			return bad;
		n = layout->sge[i].length < len ? layout->sge[i].length : len;
		bad = check_data(p, data, n, layout->base);
		if (bad >= 0)
			return bad;
		data += n;
		len -= n;
		/* What is left of this piece is guarded as well. */
		end = p + n;
	}
	return check_guard(end, layout->base + layout->span, layout->base);
}

/* ---------------------------------------------------------------------- builders */

static unsigned int built;

unsigned int di_built(void)
{
	return built;
}

struct ibv_qp *di_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
				  IBV_QP_EX_WITH_SEND_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_READ,
	};
	struct ibv_qp *qp;

	if (!rxodv_is_supported(pd->context->device))
		return ibv_create_qp(pd, attr);
	qp = ibv_create_qp_ex(pd->context, &ex);
	attr->cap = ex.cap;
	return qp;
}

static void build_request(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	uint64_t addr = wr->wr.rdma.remote_addr;
	uint32_t rkey = wr->wr.rdma.rkey;

	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qp, wr->imm_data);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, rkey, addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, rkey, addr, wr->imm_data);
		break;
	default:
		ibv_wr_rdma_read(qp, rkey, addr);
	}
}

static void build_data(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	struct ibv_data_buf buf[DI_MAX_SGE];
	int i;

	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		ibv_wr_set_sge_list(qp, wr->num_sge, wr->sg_list);
		return;
	}
	for (i = 0; i < wr->num_sge; i++)
		buf[i] = (struct ibv_data_buf){
			.addr = (void *)(uintptr_t)wr->sg_list[i].addr,
			.length = wr->sg_list[i].length,
		};
	ibv_wr_set_inline_data_list(qp, wr->num_sge, buf);
}

/* What ibv_post_send() does with it. */
static int build(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr)
{
	built++;
	ibv_wr_start(qp);
	qp->wr_id = wr->wr_id;
	qp->wr_flags = wr->send_flags & ~(unsigned int)IBV_SEND_INLINE;
	build_request(qp, wr);
	build_data(qp, wr);
	return ibv_wr_complete(qp);
}

/* ---------------------------------------------------------------------- transfer */

struct transfer {
	const struct di_message *m;
	struct t_end *from;
	struct t_end *to;
	struct di_layout src;
	struct di_layout dst;
	struct di_layout idle;	/* the receive that a WRITE_WITH_IMM consumes */
	const unsigned char *data;
	uint32_t imm;
};

static bool bad(const struct di_message *m, const char *fmt, long saw, long want)
{
	char what[96];

	snprintf(what, sizeof(what), fmt, saw, want);
	return t_true(false, "%s%s, %u bytes, aligned to %u and %u, %u and %u pieces, seed %u: %s",
		      di_op_name[m->op], m->is_inline ? " inline" : "", m->len,
		      m->align_src, m->align_dst, m->sge_src, m->sge_dst, m->seed,
		      what);
}

static bool has_receive(enum di_op op)
{
	return op == DI_SEND || op == DI_SEND_IMM || op == DI_WRITE_IMM;
}

static void lay_out(struct transfer *t)
{
	const struct di_message *m = t->m;
	bool is_send = m->op == DI_SEND || m->op == DI_SEND_IMM;
	struct t_end *src = m->op == DI_READ ? t->to : t->from;
	struct t_end *dst = m->op == DI_READ ? t->from : t->to;
	uint32_t extra = is_send ? m->seed % (DI_EXTRA + 1) : 0;

	di_layout_make(&t->src, src->mem, src->mr->lkey, m->len, m->align_src,
		       m->op == DI_READ ? 1 : m->sge_src, m->seed);
	di_layout_fill(&t->src, t->data);
	di_layout_make(&t->dst, dst->mem + DI_AREA, dst->mr->lkey,
		       m->len + extra, m->align_dst,
		       is_send || m->op == DI_READ ? m->sge_dst : 1,
		       m->seed + 1);
	di_layout_make(&t->idle, t->to->mem + 2 * DI_AREA, t->to->mr->lkey, 64,
		       m->align_dst, 1, m->seed);
}

static int post(struct transfer *t)
{
	const struct di_message *m = t->m;
	struct di_layout *local = m->op == DI_READ ? &t->dst : &t->src;
	struct di_layout *remote = m->op == DI_READ ? &t->src : &t->dst;
	struct ibv_send_wr wr = {
		.wr_id = m->seed,
		.opcode = wr_opcode[m->op],
		.send_flags = IBV_SEND_SIGNALED |
			      (m->is_inline ? IBV_SEND_INLINE : 0),
		.imm_data = t->imm,
		.sg_list = local->sge,
		.num_sge = local->num,
	};
	struct di_layout *receive = m->op == DI_WRITE_IMM ? &t->idle : &t->dst;
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(t->from->qp);
	int err = 0;

	if (m->op >= DI_WRITE) {
		wr.wr.rdma.remote_addr = remote->sge[0].addr;
		wr.wr.rdma.rkey = t->to->mr->rkey;
	}
	if (has_receive(m->op))
		err = t_post_recv(t->to, ~(uint64_t)m->seed, receive->sge,
				  receive->num);
	if (err)
		return err;
	/* Alignments go round in fours: of each some, either way. */
	if (qpx && (m->seed ^ m->seed >> 2) & 1)
		return build(qpx, &wr);
	return t_post_send(t->from, &wr);
}

static bool check_send_wc(const struct transfer *t, const struct ibv_wc *wc)
{
	static const enum ibv_wc_opcode opcode[DI_NUM_OPS] = {
		[DI_SEND] = IBV_WC_SEND,
		[DI_SEND_IMM] = IBV_WC_SEND,
		[DI_WRITE] = IBV_WC_RDMA_WRITE,
		[DI_WRITE_IMM] = IBV_WC_RDMA_WRITE,
		[DI_READ] = IBV_WC_RDMA_READ,
	};
	const struct di_message *m = t->m;

	if (wc->status != IBV_WC_SUCCESS)
		return bad(m, "send status %ld, expected %ld", wc->status, 0);
	if (wc->wr_id != m->seed)
		return bad(m, "send wr_id %ld, expected %ld", wc->wr_id, m->seed);
	if (wc->opcode != opcode[m->op])
		return bad(m, "send opcode %ld, expected %ld", wc->opcode,
			   opcode[m->op]);
	if (wc->qp_num != t->from->qp->qp_num)
		return bad(m, "send qp_num %ld, expected %ld", wc->qp_num,
			   t->from->qp->qp_num);
	if (m->op == DI_READ && wc->byte_len != m->len)
		return bad(m, "READ byte_len %ld, expected %ld", wc->byte_len,
			   m->len);
	return true;
}

static bool check_recv_wc(const struct transfer *t, const struct ibv_wc *wc)
{
	const struct di_message *m = t->m;
	unsigned int flags = m->op == DI_SEND ? 0 : IBV_WC_WITH_IMM;
	enum ibv_wc_opcode opcode = m->op == DI_WRITE_IMM ?
		IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;

	if (wc->status != IBV_WC_SUCCESS)
		return bad(m, "receive status %ld, expected %ld", wc->status, 0);
	if (wc->wr_id != ~(uint64_t)m->seed)
		return bad(m, "receive wr_id %ld, expected %ld", wc->wr_id,
			   ~(uint64_t)m->seed);
	if (wc->opcode != opcode)
		return bad(m, "receive opcode %ld, expected %ld", wc->opcode,
			   opcode);
	if (wc->byte_len != m->len)
		return bad(m, "receive byte_len %ld, expected %ld", wc->byte_len,
			   m->len);
	/* rdma_rxe says GRH of RC as well. */
	if ((wc->wc_flags & ~IBV_WC_GRH) != flags)
		return bad(m, "receive wc_flags %#lx, expected %#lx",
			   wc->wc_flags, flags);
	if (flags && wc->imm_data != t->imm)
		return bad(m, "imm_data %#lx, expected %#lx", wc->imm_data,
			   t->imm);
	if (wc->qp_num != t->to->qp->qp_num)
		return bad(m, "receive qp_num %ld, expected %ld", wc->qp_num,
			   t->to->qp->qp_num);
	return true;
}

static bool check_memory(const struct transfer *t)
{
	const struct di_message *m = t->m;
	long at;

	at = di_layout_check(&t->dst, t->data, m->len);
	if (at >= 0)
		return bad(m, "destination differs at offset %ld of %ld", at,
			   t->dst.span);
	/* The source of an inline request has been overwritten on purpose. */
	at = m->is_inline ? -1 : di_layout_check(&t->src, t->data, m->len);
	if (at >= 0)
		return bad(m, "source was written at offset %ld of %ld", at,
			   t->src.span);
	at = di_layout_check(&t->idle, NULL, 0);
	if (at >= 0)
		return bad(m, "an idle buffer was written at offset %ld of %ld",
			   at, t->idle.span);
	return true;
}

bool di_transfer(struct t_end *from, struct t_end *to,
		 const struct di_message *m)
{
	struct transfer t = {
		.m = m,
		.from = from,
		.to = to,
		.data = di_data(m->seed),
		.imm = m->seed * 0x01000193,
	};
	struct ibv_wc wc;
	int err;

	lay_out(&t);
	err = post(&t);
	if (err)
		return bad(m, "posting: error %ld, expected %ld", err, 0);
	if (m->is_inline)
		memset(t.src.base, 0, t.src.span);
	if (t_wait(from->scq, &wc, 1) != 1)
		return bad(m, "%ld send completions, expected %ld", 0, 1);
	if (!check_send_wc(&t, &wc))
		return false;
	if (has_receive(m->op)) {
		if (t_wait(to->rcq, &wc, 1) != 1)
			return bad(m, "%ld receive completions, expected %ld", 0,
				   1);
		if (!check_recv_wc(&t, &wc))
			return false;
	}
	return check_memory(&t);
}
