/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Part of provider_verbs_test.c, whose helpers it uses: ibv_create_cq_ex(), the
 * extended poll alone and mixed with every other way to consume, ibv_create_qp_ex()
 * and the builders.
 */
#ifndef PROVIDER_EXTENDED_H
#define PROVIDER_EXTENDED_H

#include <sched.h>

#define RC_OPS                                                                 \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |      \
	 IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |                  \
	 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |        \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

static struct ibv_poll_cq_attr no_attr;

static struct ibv_cq_ex *create_cqx(uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 5, .wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = flags,
	};
	struct ibv_cq_ex *cqx = ibv_create_cq_ex(t.ctx, &attr);

	CHECK(cqx && cqx->cqe == ENTRIES && cqx->handle == 55 &&
	      cqx->context == t.ctx);
	return cqx;
}

static void destroy_cqx(struct ibv_cq_ex *cqx)
{
	CHECK(!ibv_destroy_cq(ibv_cq_ex_to_cq(cqx)));
}

/* Another thread that waits for something; the main thread looks whether it is in. */
struct other {
	pthread_t thread;
	struct ibv_cq_ex *cqx;
	atomic_int is_in;
};

/* Long enough for a thread that does not wait to get in: too short hides a fault. */
static void let_others_run(void)
{
	usleep(50000);
}

/* ------------------------------------------------------------- extended CQ */

static void refuse_cqx(uint64_t wc_flags, uint32_t comp_mask, uint32_t flags,
		       int err)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 5, .wc_flags = wc_flags, .comp_mask = comp_mask,
		.flags = flags, .parent_domain = t.pd,
	};

	errno = 0;
	CHECK(!ibv_create_cq_ex(t.ctx, &attr) && errno == err);
}

static void test_create_cq_ex(void)
{
	static const uint64_t not_ours[] = {
		IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, IBV_WC_EX_WITH_CVLAN,
		IBV_WC_EX_WITH_FLOW_TAG, IBV_WC_EX_WITH_TM_INFO,
		IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, 1ULL << 40,
	};
	struct ibv_cq_init_attr_ex plain = { .cqe = 5, .flags = 0xff };
	struct ibv_cq_ex *cqx;
	unsigned int i;

	set_up();
	for (i = 0; i < sizeof(not_ours) / sizeof(not_ours[0]); i++)
		refuse_cqx(IBV_WC_STANDARD_FLAGS | not_ours[i], 0, 0, EOPNOTSUPP);
	refuse_cqx(0, IBV_CQ_INIT_ATTR_MASK_FLAGS,
		   IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN, EOPNOTSUPP);
	refuse_cqx(0, IBV_CQ_INIT_ATTR_MASK_FLAGS, 1 << 7, EOPNOTSUPP);
	refuse_cqx(0, IBV_CQ_INIT_ATTR_MASK_PD, 0, EOPNOTSUPP);
	refuse_cqx(0, 1 << 9, 0, EOPNOTSUPP);
	kernel.cq_entries = 3;
	refuse_cqx(0, 0, 0, EPROTO);
	kernel.cq_entries = 0;
	kernel.gone = 1;
	refuse_cqx(0, 0, 0, EIO);
	kernel.gone = 0;

	/* Flags that the mask does not name are not looked at. */
	cqx = ibv_create_cq_ex(t.ctx, &plain);
	CHECK(cqx && !cqx->read_completion_ts && !cqx->read_cvlan);
	destroy_cqx(cqx);
	tear_down();
}

static void check_current(struct ibv_cq_ex *cqx, uint32_t n)
{
	CHECK(cqx->wr_id == n && cqx->status == IBV_WC_RETRY_EXC_ERR);
	CHECK(ibv_wc_read_opcode(cqx) == IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK(ibv_wc_read_vendor_err(cqx) == 4);
	CHECK(ibv_wc_read_byte_len(cqx) == 5);
	CHECK(ibv_wc_read_imm_data(cqx) == 6);
	CHECK(ibv_wc_read_qp_num(cqx) == 7);
	CHECK(ibv_wc_read_src_qp(cqx) == 8);
	CHECK(ibv_wc_read_wc_flags(cqx) == IBV_WC_WITH_IMM);
	CHECK(!ibv_wc_read_slid(cqx) && !ibv_wc_read_sl(cqx) &&
	      !ibv_wc_read_dlid_path_bits(cqx));
}

static void poll_ex_on(struct ibv_cq_ex *cqx)
{
	struct rxe_ordered_cq_hdr *hdr = (void *)t.cq_page;
	struct ibv_poll_cq_attr bad_attr = { .comp_mask = 1 };
	struct ibv_wc wc;
	uint32_t n = hdr->cons, i;

	CHECK(ibv_start_poll(cqx, &no_attr) == ENOENT);
	for (i = 0; i < ENTRIES; i++)
		complete(n + i);
	CHECK(ibv_start_poll(cqx, &bad_attr) == EINVAL && hdr->cons == n);

	/* Each call consumes one, and others may consume in between. */
	CHECK(!ibv_start_poll(cqx, &no_attr) && hdr->cons == n + 1);
	check_current(cqx, n);
	CHECK(ibv_poll_cq(t.cq, 1, &wc) == 1 && wc.wr_id == n + 1);
	CHECK(!ibv_next_poll(cqx));
	check_current(cqx, n + 2);
	CHECK(rxodv_poll_rearm_cq(ibv_cq_ex_to_cq(cqx), 1, &wc, 0) == 1 &&
	      wc.wr_id == n + 3);
	CHECK(rxodv_rearm_cq_if_empty(ibv_cq_ex_to_cq(cqx), 0) == 1);
	for (i = 4; i < ENTRIES; i++) {
		CHECK(!ibv_next_poll(cqx));
		check_current(cqx, n + i);
	}
	CHECK(rxodv_rearm_cq_if_empty(ibv_cq_ex_to_cq(cqx), 0) == 0);
	CHECK(ibv_next_poll(cqx) == ENOENT);
	check_current(cqx, n + ENTRIES - 1);
	CHECK(rxo_word_arm(hdr->word) == RXE_ORDERED_ARM_ANY);
	ibv_end_poll(cqx);
	CHECK(ibv_start_poll(cqx, &no_attr) == ENOENT);
	hdr->word = rxo_word_with_arm(hdr->word, RXE_ORDERED_ARM_NONE);
}

static void test_poll_ex(void)
{
	struct rxe_ordered_cq_hdr *hdr;
	struct ibv_cq_ex *cqx, *single;
	uint32_t n;

	set_up();
	hdr = (void *)t.cq_page;
	cqx = create_cqx(0);
	single = create_cqx(IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	poll_ex_on(cqx);
	poll_ex_on(single);

	/* The promise of one thread: no lock, so this cannot hang. */
	n = hdr->cons;
	complete(n);
	complete(n + 1);
	CHECK(!ibv_start_poll(single, &no_attr));
	CHECK(!ibv_start_poll(single, &no_attr));
	check_current(single, n + 1);
	ibv_end_poll(single);

	/* Overrun: what is there is returned, then the end is told. */
	complete(n + 2);
	hdr->word |= RXE_ORDERED_CQ_OVERRUN;
	CHECK(!ibv_start_poll(cqx, &no_attr));
	check_current(cqx, n + 2);
	CHECK(ibv_next_poll(cqx) == EIO);
	ibv_end_poll(cqx);
	CHECK(ibv_start_poll(cqx, &no_attr) == EIO);
	CHECK(ibv_start_poll(single, &no_attr) == EIO);
	destroy_cqx(cqx);
	destroy_cqx(single);
	tear_down();
}

static void *poll_session(void *arg)
{
	struct other *o = arg;

	CHECK(!ibv_start_poll(o->cqx, &no_attr));
	atomic_store(&o->is_in, 1);
	ibv_end_poll(o->cqx);
	return NULL;
}

/*
 * B06: a session excludes others until end_poll, also when next_poll has come to
 * the end, and a failed start_poll leaves no lock behind.
 */
static void test_poll_ex_lock(void)
{
	struct rxe_ordered_cq_hdr *hdr;
	struct other o = {};
	int i;

	set_up();
	hdr = (void *)t.cq_page;
	o.cqx = create_cqx(0);
	for (i = 0; i < 3; i++) {
		CHECK(ibv_start_poll(o.cqx, &no_attr) == ENOENT);
		atomic_store(&o.is_in, 0);
		complete(hdr->cons);
		CHECK(!ibv_start_poll(o.cqx, &no_attr));
		CHECK(ibv_next_poll(o.cqx) == ENOENT);
		complete(hdr->cons);
		CHECK(!pthread_create(&o.thread, NULL, poll_session, &o));
		let_others_run();
		CHECK(!atomic_load(&o.is_in));
		ibv_end_poll(o.cqx);
		CHECK(!pthread_join(o.thread, NULL) && o.is_in);
	}
	CHECK(ibv_start_poll(o.cqx, &no_attr) == ENOENT);
	destroy_cqx(o.cqx);
	tear_down();
}

/* ------------------------------------------------- all kinds of consumers */

#define MIXED	500000

static struct {
	struct ibv_cq_ex *cqx;
	atomic_uchar seen[MIXED];
	atomic_uint total;
} mixed;

/* The device: waits for room, publishes, takes the arm. */
static void *mixed_device(void *arg)
{
	struct rxo_cq_ring *r = &to_rxo_cqx(mixed.cqx)->ring;
	uint64_t *word, w, next;
	uint32_t n, i;

	(void)arg;
	for (n = 0; n < MIXED; n++) {
		struct rxe_ordered_wc wc = {
			.wr_id = n, .byte_len = ~n, .qp_num = n * 3,
		};

		while (n - atomic_load(r->cons) == r->entries)
			sched_yield();
		word = (uint64_t *)&wc;
		for (i = 0; i < RXO_CQE_WORDS; i++)
			atomic_store_explicit(
				r->cqe + (n % r->entries) * RXO_CQE_WORDS + i,
				word[i], memory_order_relaxed);
		do {
			w = atomic_load(r->word);
			CHECK(rxo_word_prod(w) == n && !rxo_word_overrun(w));
			next = n + 1;
		} while (!atomic_compare_exchange_weak(r->word, &w, next));
	}
	return NULL;
}

static void mixed_got(uint64_t wr_id, uint32_t byte_len, uint32_t qp_num,
		      int64_t *last)
{
	CHECK(wr_id < MIXED && (int64_t)wr_id > *last);
	CHECK(byte_len == ~(uint32_t)wr_id && qp_num == wr_id * 3);
	CHECK(!atomic_exchange(&mixed.seen[wr_id], 1));
	*last = (int64_t)wr_id;
	atomic_fetch_add(&mixed.total, 1);
}

static void *mixed_extended(void *arg)
{
	struct ibv_cq_ex *cqx = mixed.cqx;
	int64_t last = -1;
	unsigned int i;
	int err;

	(void)arg;
	while (atomic_load(&mixed.total) < MIXED) {
		err = ibv_start_poll(cqx, &no_attr);
		if (err) {
			CHECK(err == ENOENT);
			sched_yield();
			continue;
		}
		for (i = 0; !err && i < 5; i++) {
			uint64_t wr_id = cqx->wr_id;

			if (wr_id % 16 == 0)
				sched_yield();
			CHECK(cqx->wr_id == wr_id);
			mixed_got(wr_id, ibv_wc_read_byte_len(cqx),
				  ibv_wc_read_qp_num(cqx), &last);
			/* Leave at the end of the ring or in the middle of it. */
			err = i < 4 ? ibv_next_poll(cqx) : 0;
		}
		ibv_end_poll(cqx);
	}
	return NULL;
}

static void *mixed_poll(void *use_verb)
{
	struct ibv_cq *cq = ibv_cq_ex_to_cq(mixed.cqx);
	struct ibv_wc wc[3];
	int64_t last = -1;
	int i, n;

	while (atomic_load(&mixed.total) < MIXED) {
		n = use_verb ? rxodv_poll_rearm_cq(cq, 3, wc, 0) :
			       ibv_poll_cq(cq, 3, wc);
		CHECK(n >= 0);
		for (i = 0; i < n; i++)
			mixed_got(wc[i].wr_id, wc[i].byte_len, wc[i].qp_num,
				  &last);
		if (!n)
			sched_yield();
	}
	return NULL;
}

static void *mixed_arm(void *arg)
{
	struct ibv_cq *cq = ibv_cq_ex_to_cq(mixed.cqx);
	unsigned int i;

	(void)arg;
	for (i = 0; atomic_load(&mixed.total) < MIXED; i++) {
		if (i % 2)
			CHECK(!ibv_req_notify_cq(cq, i % 4 == 1));
		else
			CHECK(rxodv_rearm_cq_if_empty(cq, 0) >= 0);
		sched_yield();
	}
	return NULL;
}

static void test_poll_mixed(void)
{
	static const struct {
		void *(*fn)(void *);
		void *arg;
	} threads[] = {
		{ mixed_device, NULL }, { mixed_extended, NULL },
		{ mixed_extended, NULL }, { mixed_poll, NULL },
		{ mixed_poll, &mixed }, { mixed_arm, NULL },
	};
	const unsigned int n = sizeof(threads) / sizeof(threads[0]);
	pthread_t id[sizeof(threads) / sizeof(threads[0])];
	struct rxe_ordered_cq_hdr *hdr;
	unsigned int i;

	set_up();
	hdr = (void *)t.cq_page;
	kernel.cq_entries = 32;
	mixed.cqx = create_cqx(0);
	for (i = 0; i < n; i++)
		CHECK(!pthread_create(&id[i], NULL, threads[i].fn,
				      threads[i].arg));
	for (i = 0; i < n; i++)
		CHECK(!pthread_join(id[i], NULL));
	for (i = 0; i < MIXED; i++)
		CHECK(mixed.seen[i]);
	CHECK(mixed.total == MIXED && hdr->cons == MIXED);
	destroy_cqx(mixed.cqx);
	tear_down();
}

/* ----------------------------------------------------------- ibv_create_qp_ex */

static struct ibv_qp_init_attr_ex qpx_attr(uint32_t comp_mask, uint64_t ops)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = t.cq, .recv_cq = t.cq, .qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | comp_mask, .pd = t.pd,
		.send_ops_flags = ops,
	};
}

/* Takes the place of the plain QP of set_up(). */
static struct ibv_qp_ex *create_qpx(uint64_t ops, int sig_all)
{
	struct ibv_qp_init_attr_ex attr =
		qpx_attr(IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, ops);
	struct ibv_qp_ex *qpx;

	CHECK(!ibv_destroy_qp(t.qp));
	attr.sq_sig_all = sig_all;
	t.qp = ibv_create_qp_ex(t.ctx, &attr);
	CHECK(t.qp && t.qp->qp_num == 0x123);
	CHECK(attr.cap.max_inline_data == MAX_INLINE);
	qpx = ibv_qp_to_qp_ex(t.qp);
	CHECK(qpx && &qpx->qp_base == t.qp);
	return qpx;
}

static void refuse_qpx(struct ibv_qp_init_attr_ex attr, int err)
{
	errno = 0;
	CHECK(!ibv_create_qp_ex(t.ctx, &attr) && errno == err);
}

static void test_create_qp_ex(void)
{
	const uint32_t ops = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	struct ibv_qp_init_attr_ex attr;
	struct ibv_qp_ex *qpx;
	struct ibv_qp *qp;
	uint64_t bit;

	set_up();
	for (bit = 1; bit; bit <<= 1) {
		if (!(bit & RC_OPS))
			refuse_qpx(qpx_attr(ops, bit | IBV_QP_EX_WITH_SEND),
				   EOPNOTSUPP);
	}
	refuse_qpx(qpx_attr(IBV_QP_INIT_ATTR_MAX_TSO_HEADER, 0), EOPNOTSUPP);
	refuse_qpx(qpx_attr(1U << 31, 0), EOPNOTSUPP);
	attr = qpx_attr(IBV_QP_INIT_ATTR_CREATE_FLAGS, 0);
	attr.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	refuse_qpx(attr, EOPNOTSUPP);
	attr = qpx_attr(ops, RC_OPS);
	attr.comp_mask = ops;
	refuse_qpx(attr, EINVAL);
	kernel.gone = 1;
	refuse_qpx(qpx_attr(ops, RC_OPS), EIO);
	kernel.gone = 0;

	/* No builders asked for. */
	attr = qpx_attr(IBV_QP_INIT_ATTR_CREATE_FLAGS, RC_OPS);
	qp = ibv_create_qp_ex(t.ctx, &attr);
	CHECK(qp && !ibv_qp_to_qp_ex(qp) && !ibv_destroy_qp(qp));

	/* Those asked for, wherever the library looks. */
	for (qp_ex_growth = 0; qp_ex_growth <= 32; qp_ex_growth += 8) {
		qpx = create_qpx(IBV_QP_EX_WITH_SEND, 0);
		CHECK(qpx->wr_start && qpx->wr_send && !qpx->wr_send_imm &&
		      !qpx->wr_rdma_write && !qpx->wr_rdma_write_imm &&
		      !qpx->wr_rdma_read && !qpx->wr_send_inv &&
		      !qpx->wr_atomic_cmp_swp && !qpx->wr_atomic_fetch_add);
		/* What a longer struct has there is an operation we lack. */
		if (qp_ex_growth)
			CHECK(!*(void **)(&qpx->wr_atomic_write + 1));
	}
	qp_ex_growth = NO_QP_EX;
	refuse_qpx(qpx_attr(ops, RC_OPS), EOPNOTSUPP);
	qp_ex_growth = 0;
	tear_down();
}

/* --------------------------------------------------------------- builders */

/* The same request by a builder. */
static void build(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	struct ibv_data_buf buf[MAX_SGE];
	struct ibv_sge *sg = wr->sg_list;
	int i;

	qpx->wr_id = wr->wr_id;
	qpx->wr_flags = wr->send_flags;
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qpx);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qpx, wr->imm_data);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qpx, wr->wr.rdma.rkey,
				      wr->wr.rdma.remote_addr, wr->imm_data);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qpx, wr->wr.atomic.rkey,
				      wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add,
				      wr->wr.atomic.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qpx, wr->wr.atomic.rkey,
					wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
		break;
	default:
		ibv_wr_rdma_read(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	}
	/* What is taken is what was set before the builder. */
	qpx->wr_id = 0xdead;
	qpx->wr_flags = 0xbad;

	for (i = 0; i < wr->num_sge; i++)
		buf[i] = (struct ibv_data_buf){
			.addr = (void *)(uintptr_t)sg[i].addr,
			.length = sg[i].length,
		};
	if (wr->send_flags & IBV_SEND_INLINE && wr->num_sge == 1)
		ibv_wr_set_inline_data(qpx, buf[0].addr, buf[0].length);
	else if (wr->send_flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data_list(qpx, wr->num_sge, buf);
	else if (wr->num_sge == 1)
		ibv_wr_set_sge(qpx, sg[0].lkey, sg[0].addr, sg[0].length);
	else if (wr->num_sge || wr->wr_id % 2)
		ibv_wr_set_sge_list(qpx, wr->num_sge, sg);
	/* Else no data at all. */
}

static void restart_sq(uint32_t idx)
{
	struct rxe_ordered_wq_hdr *hdr = (void *)t.sq_page;

	memset(t.sq_page, 0xa5, RING_SIZE);
	memset(hdr, 0, sizeof(*hdr));
	hdr->prod = hdr->cons = idx;
}

static uint32_t prng(void)
{
	static uint64_t x = 20240607;

	x = x * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(x >> 33);
}

static void random_wr(struct ibv_send_wr *wr, struct ibv_sge *sg, char *data)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	int i;

	*wr = (struct ibv_send_wr){
		.wr_id = prng(), .sg_list = sg, .opcode = ops[prng() % 7],
		.num_sge = (int)(prng() % (MAX_SGE + 1)), .imm_data = prng(),
		.send_flags = prng() % 8,
		.wr.rdma = { .remote_addr = prng(), .rkey = prng() },
	};
	if (wr->opcode < IBV_WR_RDMA_READ && prng() % 2)
		wr->send_flags |= IBV_SEND_INLINE;
	for (i = 0; i < wr->num_sge; i++)
		sg[i] = (struct ibv_sge){
			.addr = (uintptr_t)data + prng() % 64,
			.length = prng() % 4 ? prng() % (MAX_INLINE / MAX_SGE + 1) :
					       0,
			.lkey = prng(),
		};
	if (wr->opcode <= IBV_WR_RDMA_READ)
		return;
	wr->num_sge = 1;
	sg[0].length = 8;
	wr->wr.atomic.remote_addr = prng();
	wr->wr.atomic.compare_add = (uint64_t)prng() << 32 | prng();
	wr->wr.atomic.swap = (uint64_t)prng() << 32 | prng();
	wr->wr.atomic.rkey = prng();
}

/* A chain by ibv_post_send() and by a session: the same bytes in the whole ring. */
static void same_bytes(struct ibv_qp_ex *qpx, struct ibv_send_wr *wr, int n,
		       uint32_t idx)
{
	static unsigned char ring[RING_SIZE];
	struct ibv_send_wr *bad;
	int bells, i;

	restart_sq(idx);
	CHECK(!ibv_post_send(t.qp, wr, &bad));
	memcpy(ring, t.sq_page, RING_SIZE);

	restart_sq(idx);
	bells = kernel.doorbells;
	ibv_wr_start(qpx);
	for (i = 0; i < n; i++)
		build(qpx, &wr[i]);
	CHECK(prod(t.sq_page) == idx && kernel.doorbells == bells);
	CHECK(!ibv_wr_complete(qpx));
	CHECK(prod(t.sq_page) == idx + n && kernel.doorbells == bells + 1);
	CHECK(!memcmp(ring, t.sq_page, RING_SIZE));
}

static void test_builders_same_bytes(void)
{
	struct ibv_send_wr wr[ENTRIES];
	struct ibv_sge sg[ENTRIES][MAX_SGE];
	int sig_all, round, i, n;
	struct ibv_qp_ex *qpx;
	char data[128];

	for (i = 0; i < (int)sizeof(data); i++)
		data[i] = (char)(i * 7);
	for (sig_all = 0; sig_all < 2; sig_all++) {
		set_up();
		qpx = create_qpx(RC_OPS, sig_all);
		set_state(IBV_QPS_RTS);
		for (round = 0; round < 300; round++) {
			n = 1 + (int)(prng() % ENTRIES);
			for (i = 0; i < n; i++) {
				random_wr(&wr[i], sg[i], data);
				wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
			}
			/* Around the wrap of the index, too. */
			same_bytes(qpx, wr, n, (uint32_t)round - 100);
		}
		tear_down();
	}
}

/* A session that must fail, and leave no trace; after that, one that must not. */
static void fails(struct ibv_qp_ex *qpx, int err)
{
	uint32_t before = prod(t.sq_page);
	int bells = kernel.doorbells;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

	/* Neither does what follows the error make it good again. */
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	CHECK(ibv_wr_complete(qpx) == err);
	CHECK(prod(t.sq_page) == before && kernel.doorbells == bells);

	if (t.qp->state != IBV_QPS_RTS)
		return;
	ibv_wr_start(qpx);
	CHECK(!ibv_wr_complete(qpx));
	CHECK(prod(t.sq_page) == before && kernel.doorbells == bells);
	CHECK(!ibv_post_send(t.qp, &wr, &bad));
	CHECK(prod(t.sq_page) == before + 1);
	((struct rxe_ordered_wq_hdr *)t.sq_page)->cons++;
}

static void starts(struct ibv_qp_ex *qpx)
{
	qpx->wr_id = 1;
	qpx->wr_flags = 0;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 3);
}

static void test_builders_bad_data(struct ibv_qp_ex *qpx)
{
	char data[MAX_INLINE + 1] = {};
	struct ibv_data_buf huge[2] = {
		{ .addr = data, .length = SIZE_MAX }, { .addr = data, .length = 2 },
	};
	struct ibv_sge sg[MAX_SGE + 1] = {};

	starts(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, MAX_SGE + 1, sg);
	fails(qpx, EINVAL);

	/* B50: sums that are small in 32 or 64 bits. */
	starts(qpx);
	sg[0].length = sg[1].length = 1U << 31;
	ibv_wr_rdma_write(qpx, 1, 2);
	ibv_wr_set_sge_list(qpx, 2, sg);
	fails(qpx, EINVAL);
	starts(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, 2, huge);
	fails(qpx, EINVAL);
	huge[0].length = (size_t)1 << 32;
	starts(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, data, huge[0].length);
	fails(qpx, EINVAL);

	starts(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, data, MAX_INLINE + 1);
	fails(qpx, EINVAL);
	starts(qpx);
	ibv_wr_rdma_read(qpx, 1, 2);
	ibv_wr_set_inline_data(qpx, data, 1);
	fails(qpx, EINVAL);

	/* The result of an atomic has 8 bytes. */
	starts(qpx);
	ibv_wr_atomic_fetch_add(qpx, 1, 8, 1);
	ibv_wr_set_inline_data(qpx, data, 8);
	fails(qpx, EINVAL);
	starts(qpx);
	ibv_wr_atomic_cmp_swp(qpx, 1, 8, 1, 2);
	ibv_wr_set_sge(qpx, 1, 2, 9);
	fails(qpx, EINVAL);
	starts(qpx);
	ibv_wr_atomic_fetch_add(qpx, 1, 8, 1);
	fails(qpx, EINVAL);
}

static void test_builders_bad_session(struct ibv_qp_ex *qpx)
{
	int i;

	starts(qpx);
	qpx->wr_flags = 1 << 10;
	ibv_wr_send(qpx);
	qpx->wr_flags = 0;
	fails(qpx, EINVAL);

	/* Data twice, data of nothing. */
	starts(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	fails(qpx, EINVAL);
	ibv_wr_start(qpx);
	ibv_wr_set_inline_data(qpx, NULL, 0);
	fails(qpx, EINVAL);

	/* Too many. The first error is the one that is told. */
	ibv_wr_start(qpx);
	for (i = 0; i < ENTRIES + 1; i++)
		ibv_wr_send(qpx);
	fails(qpx, ENOMEM);
	ibv_wr_start(qpx);
	for (i = 0; i < ENTRIES + 1; i++)
		ibv_wr_send(qpx);
	qpx->wr_flags = 1 << 10;
	ibv_wr_send(qpx);
	qpx->wr_flags = 0;
	fails(qpx, ENOMEM);

	/* A state that takes no requests: found at the first one. */
	set_state(IBV_QPS_INIT);
	starts(qpx);
	fails(qpx, EINVAL);
	set_state(IBV_QPS_RTS);
}

static void *post_one(void *arg)
{
	struct ibv_send_wr wr = { .wr_id = 99, .opcode = IBV_WR_SEND }, *bad;
	struct other *o = arg;

	CHECK(!ibv_post_send(t.qp, &wr, &bad));
	atomic_store(&o->is_in, 1);
	return NULL;
}

static void test_builders(void)
{
	struct rxe_ordered_wq_hdr *hdr;
	struct ibv_qp_ex *qpx;
	struct other o = {};

	set_up();
	hdr = (void *)t.sq_page;
	qpx = create_qpx(RC_OPS, 0);
	set_state(IBV_QPS_RTS);
	test_builders_bad_data(qpx);
	test_builders_bad_session(qpx);

	/* Abort, with and without an open request. */
	hdr->cons = hdr->prod = 0;
	starts(qpx);
	ibv_wr_abort(qpx);
	starts(qpx);
	ibv_wr_send(qpx);
	ibv_wr_abort(qpx);
	CHECK(hdr->prod == 0);

	/* Whether data is inline is told by the setter alone. */
	qpx->wr_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, MAX_INLINE + 1);
	CHECK(!ibv_wr_complete(qpx));
	CHECK(sqe(0)->num_sge == 1 && sqe(0)->inline_len == 0 &&
	      sqe(0)->flags == RXE_ORDERED_SEND_SIGNALED);
	hdr->cons = hdr->prod = 0;

	/* A session excludes all other posting to this queue. */
	starts(qpx);
	CHECK(!pthread_create(&o.thread, NULL, post_one, &o));
	let_others_run();
	CHECK(!atomic_load(&o.is_in) && hdr->prod == 0);
	CHECK(!ibv_wr_complete(qpx));
	CHECK(!pthread_join(o.thread, NULL) && hdr->prod == 2);
	CHECK(sqe(0)->wr_id == 1 && sqe(1)->wr_id == 99);

	starts(qpx);
	kernel.gone = 1;
	CHECK(ibv_wr_complete(qpx) == EIO);
	kernel.gone = 0;
	tear_down();
}

/* ------------------------------------------------------- ordered completions */

static void create_ordered(const struct rxodv_qp_init_attr *ours, uint32_t flags)
{
	struct ibv_qp_init_attr_ex attr = qpx_attr(0, 0);
	struct ibv_qp *qp;

	kernel.qp_flags = 99;
	qp = rxodv_create_qp(t.ctx, &attr, ours);
	CHECK(qp && kernel.qp_flags == flags && !ibv_destroy_qp(qp));
	CHECK(attr.cap.max_inline_data == MAX_INLINE);
}

static void refuse_ordered(struct rxodv_qp_init_attr ours)
{
	struct ibv_qp_init_attr_ex attr = qpx_attr(0, 0);

	errno = 0;
	CHECK(!rxodv_create_qp(t.ctx, &attr, &ours) && errno == EOPNOTSUPP);
}

static void test_create_ordered(void)
{
	const uint32_t ordered = RXE_ORDERED_CREATE_QP_ORDERED_COMPLETIONS;
	struct ibv_qp_init_attr_ex attr;
	struct rxodv_qp_init_attr ours = {};
	struct verbs_device other = {};
	struct ibv_device *device;

	set_up();
	CHECK(kernel.qp_flags == 0);
	create_ordered(NULL, 0);
	create_ordered(&ours, 0);
	ours.create_flags = RXODV_QP_CREATE_ORDERED_COMPLETIONS;
	create_ordered(&ours, 0);		/* not said to be valid */
	ours.comp_mask = RXODV_QP_INIT_ATTR_MASK_CREATE_FLAGS;
	create_ordered(&ours, ordered);
	ours.create_flags |= 1U << 31;
	refuse_ordered(ours);
	ours.create_flags = 0;
	create_ordered(&ours, 0);
	ours.comp_mask |= 1ULL << 63;
	refuse_ordered(ours);

	/* Of the rest everything that ibv_create_qp_ex() says holds. */
	attr = qpx_attr(IBV_QP_INIT_ATTR_MAX_TSO_HEADER, 0);
	CHECK(!rxodv_create_qp(t.ctx, &attr, NULL) && errno == EOPNOTSUPP);
	device = t.ctx->device;
	t.ctx->device = &other.device;
	attr = qpx_attr(0, 0);
	errno = 0;
	CHECK(!rxodv_create_qp(t.ctx, &attr, NULL) && errno == EOPNOTSUPP);
	t.ctx->device = device;

	/* Programs that know nothing of it. */
	CHECK(!setenv("RXE_ORDERED_COMPLETIONS", "1", 1));
	CHECK(!ibv_destroy_qp(t.qp));
	t.qp = ibv_create_qp(t.pd, &t.attr);
	CHECK(t.qp && kernel.qp_flags == ordered);
	create_ordered(NULL, ordered);
	CHECK(!setenv("RXE_ORDERED_COMPLETIONS", "0", 1));
	create_ordered(NULL, 0);
	CHECK(!unsetenv("RXE_ORDERED_COMPLETIONS"));
	tear_down();
}

static void test_extended(void)
{
	/* A lock too many hangs. */
	alarm(240);
	test_create_cq_ex();
	test_poll_ex();
	test_poll_ex_lock();
	test_poll_mixed();
	test_create_qp_ex();
	test_create_ordered();
	test_builders_same_bytes();
	test_builders();
}

#endif /* PROVIDER_EXTENDED_H */
