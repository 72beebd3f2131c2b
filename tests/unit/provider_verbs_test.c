// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unit test of the provider on the real libibverbs, without a kernel driver.
 *
 *   cc -std=gnu11 -O1 -g -Wall -Wextra -Werror -pthread -DRXO_STANDALONE \
 *      -fsanitize=address,undefined -Iuapi -Iproviders/rxe_ordered \
 *      tests/unit/provider_verbs_test.c providers/rxe_ordered/[a-z]*.c \
 *      -libverbs -o /tmp/provider_verbs_test && /tmp/provider_verbs_test
 *
 * provider_fake.h takes the place of the kernel, so what libibverbs makes of our
 * private declarations (sizes, offsets, order of operations) is what is tested, and
 * then posting and polling; provider_extended.h has the tests of the extended CQ and
 * of the builders.
 */
#define _GNU_SOURCE
#include "provider_fake.h"

/* ------------------------------------------------------------------- tests */

static void test_queries(void)
{
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_srq_init_attr srq = {};
	struct ibv_mr *mr;
	char buf[8];

	set_up();
	CHECK(!ibv_query_device(t.ctx, &attr) && attr.max_sge == 4);
	CHECK(!strcmp(attr.fw_ver, "1.2.3"));
	CHECK(!ibv_query_device_ex(t.ctx, NULL, &ex) && ex.orig_attr.max_sge == 4);
	CHECK(!ibv_query_port(t.ctx, 1, &port) && port.gid_tbl_len == 99);
	mr = ibv_reg_mr(t.pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr && mr->lkey == 6 && mr->rkey == 7 && mr->addr == buf);
	CHECK(!ibv_dereg_mr(mr));

	/* What we do not have. */
	CHECK(ibv_resize_cq(t.cq, 16) == EOPNOTSUPP);
	CHECK(!ibv_create_srq(t.pd, &srq) && errno == EOPNOTSUPP);

	/* A kernel that describes impossible rings. */
	kernel.cq_entries = 3;
	CHECK(!ibv_create_cq(t.ctx, 5, NULL, NULL, 0) && errno == EPROTO);
	kernel.cq_entries = 1 << 20;
	CHECK(!ibv_create_cq(t.ctx, 5, NULL, NULL, 0) && errno == EPROTO);
	kernel.gone = 1;
	CHECK(!ibv_create_cq(t.ctx, 5, NULL, NULL, 0) && errno == EIO);
	kernel.gone = 0;
	tear_down();
}

static struct rxe_ordered_sqe *sqe(int i)
{
	return (void *)(t.sq_page + RXE_ORDERED_RING_HDR_SIZE + i * SQ_STRIDE);
}

static uint32_t prod(const unsigned char *p)
{
	return ((const struct rxe_ordered_wq_hdr *)p)->prod;
}

/* Post one that must fail, and leave no trace. */
static void refuse(struct ibv_send_wr *wr, int err)
{
	struct ibv_send_wr *bad = NULL;
	uint32_t before = prod(t.sq_page);
	int bells = kernel.doorbells;

	CHECK(ibv_post_send(t.qp, wr, &bad) == err);
	CHECK(bad == wr && prod(t.sq_page) == before);
	CHECK(kernel.doorbells == bells);
}

static void test_post_send_bad(void)
{
	static const enum ibv_qp_state not_yet[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
	};
	char data[MAX_INLINE + 1];
	struct ibv_sge sg[MAX_SGE + 1] = {
		{ .addr = (uintptr_t)data, .length = 4, .lkey = 6 },
	};
	struct ibv_send_wr wr = { .sg_list = sg, .num_sge = 1,
				  .opcode = IBV_WR_SEND };
	unsigned int i;

	set_up();
	for (i = 0; i < 3; i++) {
		set_state(not_yet[i]);
		refuse(&wr, EINVAL);
	}
	set_state(IBV_QPS_RTS);

	wr.num_sge = MAX_SGE + 1;
	refuse(&wr, EINVAL);
	wr.num_sge = -1;
	refuse(&wr, EINVAL);
	wr.num_sge = 1;

	wr.opcode = IBV_WR_LOCAL_INV;
	refuse(&wr, EOPNOTSUPP);
	wr.opcode = 99;
	refuse(&wr, EINVAL);
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = 1 << 10;
	refuse(&wr, EINVAL);

	/* B50: 2 x 2 GiB is 0 in 32 bits. */
	sg[0].length = sg[1].length = 1U << 31;
	wr.num_sge = 2;
	wr.send_flags = IBV_SEND_INLINE;
	refuse(&wr, EINVAL);
	wr.send_flags = 0;
	refuse(&wr, EINVAL);
	wr.num_sge = 1;
	sg[0].length++;
	refuse(&wr, EINVAL);

	sg[0].length = MAX_INLINE + 1;
	wr.send_flags = IBV_SEND_INLINE;
	refuse(&wr, EINVAL);
	sg[0].length = 1;
	wr.opcode = IBV_WR_RDMA_READ;
	refuse(&wr, EINVAL);
	tear_down();
}

static void test_post_send_good(void)
{
	char data[MAX_INLINE], more[4] = "abc";
	struct ibv_sge sg[2] = {
		{ .addr = (uintptr_t)data, .length = MAX_INLINE - 4 },
		{ .addr = (uintptr_t)more, .length = 4, .lkey = 9 },
	};
	struct ibv_send_wr wr[ENTRIES + 2] = {}, *bad = NULL;
	int i;

	memset(data, 'x', sizeof(data));
	t.attr.sq_sig_all = 0;
	set_up();
	set_state(IBV_QPS_RTS);
	for (i = 0; i < ENTRIES + 2; i++) {
		wr[i].wr_id = 1000 + i;
		wr[i].sg_list = sg;
		wr[i].num_sge = 2;
		wr[i].opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr[i].imm_data = 0x11223344;
		wr[i].wr.rdma.remote_addr = 0x1234567890;
		wr[i].wr.rdma.rkey = 0x99;
		wr[i].next = i < ENTRIES + 1 ? &wr[i + 1] : NULL;
	}
	wr[1].send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	wr[2].opcode = IBV_WR_SEND;

	/* A chain that is too long: what fits is posted, one doorbell. */
	CHECK(ibv_post_send(t.qp, wr, &bad) == ENOMEM && bad == &wr[ENTRIES]);
	CHECK(kernel.doorbells == 1 && prod(t.sq_page) == ENTRIES);
	CHECK(sqe(0)->wr_id == 1000 && sqe(0)->num_sge == 2 &&
	      sqe(0)->inline_len == 0 && sqe(0)->flags == 0 &&
	      sqe(0)->opcode == RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM &&
	      sqe(0)->imm_data == 0x11223344 && sqe(0)->rkey == 0x99 &&
	      sqe(0)->remote_addr == 0x1234567890);
	CHECK(!memcmp(sqe(0) + 1, sg, sizeof(sg)));
	CHECK(sqe(1)->num_sge == 0 && sqe(1)->inline_len == MAX_INLINE &&
	      sqe(1)->flags == (RXE_ORDERED_SEND_INLINE |
				RXE_ORDERED_SEND_SIGNALED));
	CHECK(!memcmp(sqe(1) + 1, data, MAX_INLINE - 4) &&
	      !memcmp((char *)(sqe(1) + 1) + MAX_INLINE - 4, more, 4));
	CHECK(sqe(2)->imm_data == 0 && sqe(2)->rkey == 0);

	/* The kernel frees two slots. */
	((struct rxe_ordered_wq_hdr *)t.sq_page)->cons = 2;
	CHECK(!ibv_post_send(t.qp, &wr[ENTRIES], &bad));
	CHECK(prod(t.sq_page) == ENTRIES + 2 && sqe(1)->wr_id == 1000 + 9);

	/* No doorbell method: write(), and from then on only that. */
	kernel.doorbell_errno = EPROTONOSUPPORT;
	for (i = 0; i < 2; i++) {
		((struct rxe_ordered_wq_hdr *)t.sq_page)->cons++;
		CHECK(!ibv_post_send(t.qp, &wr[ENTRIES + 1], &bad));
		CHECK(kernel.writes == i + 1 && kernel.doorbells == 3);
	}
	tear_down();

	/* Every send signalled; the device goes away. */
	t.attr.sq_sig_all = 1;
	set_up();
	set_state(IBV_QPS_RTS);
	wr[0].next = NULL;
	CHECK(!ibv_post_send(t.qp, wr, &bad));
	CHECK(sqe(0)->flags == RXE_ORDERED_SEND_SIGNALED);
	kernel.gone = 1;
	CHECK(ibv_post_send(t.qp, wr, &bad) == EIO && bad == wr);
	kernel.gone = 0;
	tear_down();
}

/* Operands where the ABI wants them, and zeros where it wants zeros. */
static void test_post_atomic(void)
{
	struct ibv_sge sg[2] = {
		{ .addr = 0x1000, .length = 8, .lkey = 6 },
		{ .addr = 0x2000, .length = 1, .lkey = 6 },
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = sg, .num_sge = 1,
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = {
			.remote_addr = 0x1234567890, .rkey = 0x99,
			.compare_add = 0x1112131415161718,
			.swap = 0x2122232425262728,
		},
	};

	t.attr.sq_sig_all = 0;
	set_up();
	set_state(IBV_QPS_RTS);
	CHECK(!ibv_post_send(t.qp, &wr, &bad));
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	CHECK(!ibv_post_send(t.qp, &wr, &bad));
	CHECK(sqe(0)->opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP &&
	      sqe(0)->remote_addr == 0x1234567890 && sqe(0)->rkey == 0x99 &&
	      sqe(0)->compare_add == 0x1112131415161718 &&
	      sqe(0)->swap == 0x2122232425262728 && !sqe(0)->reserved &&
	      sqe(0)->num_sge == 1);
	CHECK(!memcmp(sqe(0) + 1, sg, sizeof(sg[0])));
	CHECK(sqe(1)->opcode == RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD &&
	      sqe(1)->compare_add == 0x1112131415161718 && !sqe(1)->swap);

	/* The result has 8 bytes, and nothing is sent that could be inline. */
	wr.num_sge = 0;
	refuse(&wr, EINVAL);
	wr.num_sge = 2;
	refuse(&wr, EINVAL);
	sg[0].length = 7;
	CHECK(!ibv_post_send(t.qp, &wr, &bad));
	wr.num_sge = 1;
	refuse(&wr, EINVAL);
	sg[0].length = 8;
	wr.send_flags = IBV_SEND_INLINE;
	refuse(&wr, EINVAL);
	tear_down();
}

static void test_post_recv(void)
{
	struct ibv_sge sg[MAX_SGE + 1] = { { .addr = 1, .length = 2, .lkey = 3 } };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = sg, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;
	struct rxe_ordered_wq_hdr *hdr;
	struct rxe_ordered_rqe *rqe;
	int i;

	set_up();
	hdr = (void *)t.rq_page;
	CHECK(ibv_post_recv(t.qp, &wr, &bad) == EINVAL && bad == &wr);
	set_state(IBV_QPS_INIT);
	wr.num_sge = MAX_SGE + 1;
	CHECK(ibv_post_recv(t.qp, &wr, &bad) == EINVAL && bad == &wr);
	for (i = 0; i < ENTRIES; i++) {
		wr.num_sge = i % (MAX_SGE + 1);
		wr.wr_id = i;
		bad = NULL;
		CHECK(!ibv_post_recv(t.qp, &wr, &bad));
		rqe = (void *)(t.rq_page + RXE_ORDERED_RING_HDR_SIZE +
			       i * RQ_STRIDE);
		CHECK(rqe->wr_id == (uint64_t)i && rqe->reserved == 0 &&
		      rqe->num_sge == (uint32_t)wr.num_sge &&
		      !memcmp(rqe + 1, sg, wr.num_sge * sizeof(sg[0])));
	}
	CHECK(ibv_post_recv(t.qp, &wr, &bad) == ENOMEM && bad == &wr);
	CHECK(kernel.doorbells == 0 && prod(t.rq_page) == ENTRIES);

	/* In the error state the kernel asks to be told. */
	set_state(IBV_QPS_ERR);
	hdr->cons++;
	CHECK(!ibv_post_recv(t.qp, &wr, &bad) && kernel.doorbells == 0);
	hdr->cons++;
	hdr->flags = RXE_ORDERED_WQ_NEED_DOORBELL;
	CHECK(!ibv_post_recv(t.qp, &wr, &bad) && kernel.doorbells == 1);
	tear_down();
}

static void complete(uint32_t n)
{
	struct rxe_ordered_cq_hdr *hdr = (void *)t.cq_page;
	struct rxe_ordered_wc *wc =
		(void *)(t.cq_page + RXE_ORDERED_RING_HDR_SIZE);

	wc[n % ENTRIES] = (struct rxe_ordered_wc){
		.wr_id = n, .status = IBV_WC_RETRY_EXC_ERR,
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .vendor_err = 4,
		.byte_len = 5, .imm_data = 6, .qp_num = 7, .src_qp = 8,
		.wc_flags = IBV_WC_WITH_IMM, .reserved = { 1, 2, 3 },
	};
	hdr->word++;
}

static void test_poll(void)
{
	struct rxe_ordered_cq_hdr *hdr;
	struct ibv_wc wc[3];
	uint32_t n;

	set_up();
	hdr = (void *)t.cq_page;
	for (n = 0; n < 100; n++) {
		memset(wc, 0xff, sizeof(wc));
		complete(n);
		if (n % 2)
			CHECK(ibv_poll_cq(t.cq, 3, wc) == 1);
		else
			CHECK(rxodv_poll_rearm_cq(t.cq, 3, wc, 0) == 1);
		CHECK(wc[0].wr_id == n && wc[0].vendor_err == 4 &&
		      wc[0].status == IBV_WC_RETRY_EXC_ERR &&
		      wc[0].opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
		      wc[0].byte_len == 5 && wc[0].imm_data == 6 &&
		      wc[0].qp_num == 7 && wc[0].src_qp == 8 &&
		      wc[0].wc_flags == IBV_WC_WITH_IMM && !wc[0].sl &&
		      !wc[0].pkey_index && !wc[0].slid &&
		      !wc[0].dlid_path_bits);
		CHECK(wc[1].wr_id == UINT64_MAX);
	}
	CHECK(ibv_poll_cq(t.cq, 0, wc) == 0 && ibv_poll_cq(t.cq, 1, wc) == 0);
	CHECK(ibv_poll_cq(t.cq, -1, wc) < 0);

	/* Bad arguments change nothing, even on a CQ that holds something. */
	complete(n);
	CHECK(!ibv_req_notify_cq(t.cq, 1));
	CHECK(rxodv_poll_rearm_cq(t.cq, 0, wc, 0) == -EINVAL);
	CHECK(rxodv_poll_rearm_cq(t.cq, -1, wc, 0) == -EINVAL);
	CHECK(rxodv_poll_rearm_cq(t.cq, 1, NULL, 0) == -EINVAL);
	CHECK(rxodv_poll_rearm_cq(t.cq, 1, wc, 2) == -EINVAL);
	CHECK(rxodv_rearm_cq_if_empty(t.cq, 1U << 31) == -EINVAL);
	CHECK(hdr->cons == n && rxo_word_arm(hdr->word) == 1);

	CHECK(rxodv_rearm_cq_if_empty(t.cq, 0) == 1);
	CHECK(rxodv_poll_rearm_cq(t.cq, 1, wc, 0) == 1);
	CHECK(rxodv_poll_rearm_cq(t.cq, 1, wc, RXODV_REARM_SOLICITED_ONLY) == 0);
	CHECK(rxo_word_arm(hdr->word) == 1);
	CHECK(rxodv_rearm_cq_if_empty(t.cq, 0) == 0);
	CHECK(rxo_word_arm(hdr->word) == 2);
	CHECK(!ibv_req_notify_cq(t.cq, 1) && rxo_word_arm(hdr->word) == 2);

	hdr->word |= RXE_ORDERED_CQ_OVERRUN;
	CHECK(rxodv_poll_rearm_cq(t.cq, 1, wc, 0) == -EIO);
	CHECK(rxodv_rearm_cq_if_empty(t.cq, 0) == -EIO);
	CHECK(ibv_poll_cq(t.cq, 1, wc) == -EIO);
	CHECK(ibv_req_notify_cq(t.cq, 0) == EIO);
	tear_down();
}

static void test_foreign(void)
{
	static const struct verbs_device_ops other = { .name = "other" };
	struct verbs_device dev = { .ops = &other };
	struct ibv_context ctx = { .device = &dev.device };
	struct ibv_cq cq = { .context = &ctx }, before = cq;
	struct ibv_wc wc;

	set_up();
	CHECK(rxodv_is_supported(&t.dev->device));
	CHECK(!rxodv_is_supported(&dev.device));
	CHECK(rxodv_poll_rearm_cq(&cq, 1, &wc, 0) == -EOPNOTSUPP);
	CHECK(rxodv_poll_rearm_cq(&cq, 0, NULL, ~0U) == -EOPNOTSUPP);
	CHECK(rxodv_rearm_cq_if_empty(&cq, 0) == -EOPNOTSUPP);
	CHECK(!memcmp(&cq, &before, sizeof(cq)));
	tear_down();
}

#include "provider_extended.h"

/* ------------------------------------------------ doorbells that fail and pass */

/* One request or receive each way, told by how often the kernel was called. */
static void ring_all(void)
{
	struct rxe_ordered_wq_hdr *rq = (void *)t.rq_page;
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(t.qp);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct ibv_recv_wr *bad_recv, recv = {};
	uint32_t before = prod(t.sq_page), received = rq->prod;
	int i, calls;

	for (i = 0; i < 3; i++) {
		kernel.deaf = 3;
		calls = kernel.doorbells + kernel.writes;
		if (i == 0) {
			CHECK(!ibv_post_send(t.qp, &wr, &bad));
		} else if (i == 1) {
			ibv_wr_start(qpx);
			ibv_wr_send(qpx);
			CHECK(!ibv_wr_complete(qpx));
		} else {
			CHECK(!ibv_post_recv(t.qp, &recv, &bad_recv));
		}
		CHECK(kernel.doorbells + kernel.writes == calls + 4);
	}
	/* Each once. */
	CHECK(prod(t.sq_page) == before + 2 && rq->prod == received + 1);
	((struct rxe_ordered_wq_hdr *)t.sq_page)->cons = before + 2;
	rq->cons = received + 1;
}

/* A doorbell that fails and passes: what was posted is posted. */
static void test_doorbell_again(void)
{
	static const int passing[] = { EINTR, EAGAIN, ENOMEM };
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	unsigned int i;

	set_up();
	create_qpx(IBV_QP_EX_WITH_SEND, 0);
	set_state(IBV_QPS_ERR);
	((struct rxe_ordered_wq_hdr *)t.rq_page)->flags =
		RXE_ORDERED_WQ_NEED_DOORBELL;
	for (i = 0; i < 3; i++) {
		kernel.deaf_errno = passing[i];
		ring_all();
	}
	CHECK(!kernel.writes);
	kernel.doorbell_errno = EPROTONOSUPPORT;
	CHECK(!ibv_post_send(t.qp, &wr, &bad) && kernel.writes == 1);
	((struct rxe_ordered_wq_hdr *)t.sq_page)->cons++;
	for (i = 0; i < 3; i++) {
		kernel.deaf_errno = passing[i];
		ring_all();
	}

	/* One that does not pass. */
	kernel.deaf = 1;
	kernel.deaf_errno = EIO;
	CHECK(ibv_post_send(t.qp, &wr, &bad) == EIO && bad == &wr);
	CHECK(!kernel.deaf);
	tear_down();
}

int main(void)
{
	test_queries();
	test_post_send_bad();
	test_post_send_good();
	test_post_atomic();
	test_post_recv();
	test_poll();
	test_foreign();
	test_extended();
	test_doorbell_again();
	puts("ok provider on libibverbs");
	return 0;
}
