// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unit test of the provider on the real libibverbs, without a kernel driver.
 *
 *   cc -std=gnu11 -O1 -g -Wall -Wextra -Werror -pthread -DRXO_STANDALONE \
 *      -fsanitize=address,undefined -Iuapi -Iproviders/rxe_ordered \
 *      tests/unit/provider_verbs_test.c providers/rxe_ordered/[a-z]*.c \
 *      -libverbs -o /tmp/provider_verbs_test && /tmp/provider_verbs_test
 *
 * The test takes the place of the kernel by defining ioctl(): it knows the few
 * methods that matter, and the rings live in a memfd, which is the command file.
 * So what libibverbs makes of our private declarations (sizes, offsets, order of
 * operations) is what is tested, and then posting and polling.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "rxo.h"
#include "rxodv.h"

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: %s: %s (errno %d)\n",          \
				__FILE__, __LINE__, __func__, #cond, errno);   \
			exit(1);                                               \
		}                                                              \
	} while (0)

#define ENTRIES		8
#define SQ_STRIDE	(64 + 128)
#define RQ_STRIDE	(16 + 4 * 16)
#define MAX_SGE		4
#define MAX_INLINE	128
#define CQ_OFF		0x10000
#define SQ_OFF		0x20000
#define RQ_OFF		0x30000
#define RING_SIZE	0x1000
#define QP_HANDLE	77

/* -------------------------------------------------------- the fake kernel */

static struct {
	int doorbells, writes;
	int doorbell_errno;		/* 0: works */
	int gone;			/* everything answers EIO */
	uint32_t bad_entries;		/* tell nonsense about the CQ */
} kernel;

static struct ib_uverbs_attr *find(struct ib_uverbs_ioctl_hdr *h, uint16_t id)
{
	unsigned int i;

	for (i = 0; i < h->num_attrs; i++)
		if (h->attrs[i].attr_id == id)
			return &h->attrs[i];
	return NULL;
}

/* Short attributes travel inside the attribute. */
static void copy_in(struct ib_uverbs_ioctl_hdr *h, uint16_t id, void *to,
		    size_t len)
{
	struct ib_uverbs_attr *a = find(h, id);

	CHECK(a && a->len == len);
	memcpy(to, len <= 8 ? (void *)&a->data : (void *)(uintptr_t)a->data,
	       len);
}

static void copy_out(struct ib_uverbs_ioctl_hdr *h, uint16_t id,
		     const void *from, size_t len)
{
	struct ib_uverbs_attr *a = find(h, id);

	if (!a)
		return;
	CHECK(a->len == len);
	memcpy((void *)(uintptr_t)a->data, from, len);
}

static int fail(int err)
{
	errno = err;
	return -1;
}

static int create_cq(struct ib_uverbs_ioctl_hdr *h)
{
	struct rxe_ordered_create_cq_cmd cmd;
	struct rxe_ordered_create_cq_resp resp = {
		.mmap_offset = CQ_OFF, .mmap_size = RING_SIZE,
		.entries = kernel.bad_entries ? kernel.bad_entries : ENTRIES,
	};
	uint32_t cqe;

	copy_in(h, UVERBS_ATTR_UHW_IN, &cmd, sizeof(cmd));
	CHECK(!cmd.comp_mask && !cmd.flags);
	copy_in(h, UVERBS_ATTR_CREATE_CQ_CQE, &cqe, sizeof(cqe));
	find(h, UVERBS_ATTR_CREATE_CQ_HANDLE)->data = 55;
	cqe = ENTRIES;
	copy_out(h, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
	copy_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	return 0;
}

static int create_qp(struct ib_uverbs_ioctl_hdr *h)
{
	struct rxe_ordered_create_qp_cmd cmd;
	struct rxe_ordered_create_qp_resp resp = {
		.sq_mmap_offset = SQ_OFF, .sq_mmap_size = RING_SIZE,
		.rq_mmap_offset = RQ_OFF, .rq_mmap_size = RING_SIZE,
		.sq_entries = ENTRIES, .sq_stride = SQ_STRIDE,
		.rq_entries = ENTRIES, .rq_stride = RQ_STRIDE,
	};
	struct ib_uverbs_qp_cap cap = {
		.max_send_wr = ENTRIES, .max_recv_wr = ENTRIES,
		.max_send_sge = MAX_SGE, .max_recv_sge = MAX_SGE,
		.max_inline_data = MAX_INLINE,
	};
	uint32_t qpn = 0x123;

	copy_in(h, UVERBS_ATTR_UHW_IN, &cmd, sizeof(cmd));
	CHECK(!cmd.comp_mask && !cmd.flags);
	find(h, UVERBS_ATTR_CREATE_QP_HANDLE)->data = QP_HANDLE;
	copy_out(h, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	copy_out(h, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, sizeof(qpn));
	copy_out(h, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	return 0;
}

static int device_method(struct ib_uverbs_ioctl_hdr *h)
{
	struct rxe_ordered_alloc_ucontext_resp ctx = {
		.max_inline = MAX_INLINE, .max_sge = MAX_SGE,
	};
	struct ib_uverbs_ex_query_device_resp dev = {
		.base.fw_ver = (1ULL << 32) | (2 << 16) | 3, .base.max_sge = 4,
		.response_length = sizeof(dev),
	};
	struct ib_uverbs_query_port_resp_ex port = {
		.legacy_resp.gid_tbl_len = 99,
	};
	struct ib_uverbs_reg_mr_resp mr = { .mr_handle = 5, .lkey = 6, .rkey = 7 };
	uint32_t vectors = 3, pd = 44;
	struct ib_uverbs_attr *a;

	switch (h->method_id) {
	case UVERBS_METHOD_GET_CONTEXT:
		copy_out(h, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors,
			 sizeof(vectors));
		copy_out(h, UVERBS_ATTR_UHW_OUT, &ctx, sizeof(ctx));
		return 0;
	case UVERBS_METHOD_QUERY_PORT:
		copy_out(h, UVERBS_ATTR_QUERY_PORT_RESP, &port, sizeof(port));
		return 0;
	case UVERBS_METHOD_INVOKE_WRITE:
		a = find(h, UVERBS_ATTR_WRITE_CMD);
		switch (a->data) {
		case IB_USER_VERBS_CMD_ALLOC_PD:
			copy_out(h, UVERBS_ATTR_CORE_OUT, &pd, sizeof(pd));
			return 0;
		case IB_USER_VERBS_CMD_REG_MR:
			copy_out(h, UVERBS_ATTR_CORE_OUT, &mr, sizeof(mr));
			return 0;
		case IB_USER_VERBS_CMD_MODIFY_QP:
			CHECK(find(h, UVERBS_ATTR_CORE_IN)->len ==
			      sizeof(struct ib_uverbs_modify_qp));
			return 0;
		case IB_USER_VERBS_CMD_QUERY_DEVICE:
			/* Also libibverbs' question whether we know this way. */
			if (!find(h, UVERBS_ATTR_CORE_OUT))
				return fail(ENOSPC);
			copy_out(h, UVERBS_ATTR_CORE_OUT, &dev.base,
				 sizeof(dev.base));
			return 0;
		case IB_USER_VERBS_CMD_FLAG_EXTENDED |
			IB_USER_VERBS_EX_CMD_QUERY_DEVICE:
			copy_out(h, UVERBS_ATTR_CORE_OUT, &dev, sizeof(dev));
			return 0;
		}
	}
	return fail(EPROTONOSUPPORT);
}

int ioctl(int fd, unsigned long request, ...)
{
	static const struct ib_uverbs_destroy_cq_resp no_cq_events;
	static const struct ib_uverbs_destroy_qp_resp no_qp_events;
	struct ib_uverbs_ioctl_hdr *h;
	va_list ap;

	(void)fd;
	va_start(ap, request);
	h = va_arg(ap, struct ib_uverbs_ioctl_hdr *);
	va_end(ap);

	if (request != RDMA_VERBS_IOCTL)
		return fail(ENOTTY);
	CHECK(h->driver_id == RXE_ORDERED_DRIVER_ID);
	CHECK(h->length == sizeof(*h) + h->num_attrs * sizeof(h->attrs[0]));
	CHECK(!h->reserved1 && !h->reserved2);
	if (kernel.gone)
		return fail(EIO);

	if (h->object_id == UVERBS_OBJECT_QP &&
	    h->method_id == RXE_ORDERED_METHOD_QP_DOORBELL) {
		CHECK(h->num_attrs == 1 && h->attrs[0].len == 0 &&
		      h->attrs[0].flags == UVERBS_ATTR_F_MANDATORY &&
		      h->attrs[0].attr_id ==
			      RXE_ORDERED_ATTR_QP_DOORBELL_QP_HANDLE &&
		      h->attrs[0].data == QP_HANDLE);
		kernel.doorbells++;
		return kernel.doorbell_errno ? fail(kernel.doorbell_errno) : 0;
	}
	if (h->object_id == UVERBS_OBJECT_CQ) {
		if (h->method_id == UVERBS_METHOD_CQ_CREATE)
			return create_cq(h);
		copy_out(h, UVERBS_ATTR_DESTROY_CQ_RESP, &no_cq_events,
			 sizeof(no_cq_events));
		return 0;
	}
	if (h->object_id == UVERBS_OBJECT_QP) {
		if (h->method_id == UVERBS_METHOD_QP_CREATE)
			return create_qp(h);
		copy_out(h, UVERBS_ATTR_DESTROY_QP_RESP, &no_qp_events,
			 sizeof(no_qp_events));
		return 0;
	}
	if (h->object_id == UVERBS_OBJECT_DEVICE)
		return device_method(h);
	return 0;
}

/* Only the old doorbell comes this way. */
ssize_t write(int fd, const void *buf, size_t len)
{
	const struct ib_uverbs_cmd_hdr *hdr = buf;
	struct ib_uverbs_post_send cmd;

	(void)fd;
	CHECK(len == sizeof(*hdr) + sizeof(cmd));
	memcpy(&cmd, hdr + 1, sizeof(cmd));
	CHECK(hdr->command == IB_USER_VERBS_CMD_POST_SEND);
	CHECK(hdr->in_words * 4 == (int)len && hdr->out_words == 1);
	CHECK(cmd.qp_handle == QP_HANDLE && !cmd.wr_count && cmd.response);
	kernel.writes++;
	return (ssize_t)len;
}

/* ------------------------------------------------------------------ set-up */

/* Instead of the one in libibverbs: keep what the provider registers. */
static const struct verbs_device_ops *provider;
void verbs_register_driver_34(const struct verbs_device_ops *ops)
{
	provider = ops;
}

static struct {
	struct verbs_device *dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	unsigned char *cq_page, *sq_page, *rq_page;
	struct ibv_qp_init_attr attr;
} t;

static void *page(int fd, off_t off)
{
	void *p = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       off);

	CHECK(p != MAP_FAILED);
	return p;
}

static void set_up(void)
{
	int fd = memfd_create("uverbs", 0);
	struct verbs_context *vctx;

	CHECK(fd >= 0 && !ftruncate(fd, RQ_OFF + RING_SIZE));
	CHECK(provider && !strcmp(provider->name, "rxe_ordered"));
	CHECK(provider->match_table[0].kind == VERBS_MATCH_DRIVER_ID &&
	      provider->match_table[0].u.driver_id == RXE_ORDERED_DRIVER_ID &&
	      provider->match_table[1].kind == 0);
	CHECK(provider->match_min_abi_version == 1 &&
	      provider->match_max_abi_version == 1);

	t.dev = provider->alloc_device(NULL);
	CHECK(t.dev);
	t.dev->ops = provider;
	/* Opaque, and looked into by libibverbs; zeros will do. */
	t.dev->sysfs = calloc(1, 4096);
	atomic_store(&t.dev->refcount, 1);
	vctx = provider->alloc_context(&t.dev->device, fd, NULL);
	CHECK(vctx);
	t.ctx = &vctx->context;
	CHECK(t.ctx->num_comp_vectors == 3 && t.ctx->cmd_fd == fd);

	t.cq_page = page(fd, CQ_OFF);
	t.sq_page = page(fd, SQ_OFF);
	t.rq_page = page(fd, RQ_OFF);

	t.pd = ibv_alloc_pd(t.ctx);
	CHECK(t.pd && t.pd->handle == 44);
	t.cq = ibv_create_cq(t.ctx, 5, NULL, NULL, 0);
	CHECK(t.cq && t.cq->cqe == ENTRIES && t.cq->handle == 55);

	t.attr.send_cq = t.attr.recv_cq = t.cq;
	t.attr.qp_type = IBV_QPT_RC;
	t.qp = ibv_create_qp(t.pd, &t.attr);
	CHECK(t.qp && t.qp->qp_num == 0x123);
	CHECK(t.attr.cap.max_inline_data == MAX_INLINE);
	CHECK(!ibv_qp_to_qp_ex(t.qp));
}

static void set_state(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	CHECK(!ibv_modify_qp(t.qp, &attr, IBV_QP_STATE) && t.qp->state == state);
}

static void tear_down(void)
{
	CHECK(!ibv_destroy_qp(t.qp));
	CHECK(!ibv_destroy_cq(t.cq));
	CHECK(!ibv_dealloc_pd(t.pd));
	CHECK(!ibv_close_device(t.ctx));
	munmap(t.cq_page, RING_SIZE);
	munmap(t.sq_page, RING_SIZE);
	munmap(t.rq_page, RING_SIZE);
	/* What libibverbs does with the last reference. */
	free(t.dev->sysfs);
	provider->uninit_device(t.dev);
	memset(&t, 0, sizeof(t));
	memset(&kernel, 0, sizeof(kernel));
}

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
	kernel.bad_entries = 3;
	CHECK(!ibv_create_cq(t.ctx, 5, NULL, NULL, 0) && errno == EPROTO);
	kernel.bad_entries = 1 << 20;
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

static void test_post_recv(void)
{
	struct ibv_sge sg[MAX_SGE + 1] = { { .addr = 1, .length = 2, .lkey = 3 } };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = sg, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;
	struct rxe_ordered_rqe *rqe;
	int i;

	set_up();
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

	set_state(IBV_QPS_ERR);
	((struct rxe_ordered_wq_hdr *)t.rq_page)->cons++;
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

int main(void)
{
	test_queries();
	test_post_send_bad();
	test_post_send_good();
	test_post_recv();
	test_poll();
	test_foreign();
	puts("ok provider on libibverbs");
	return 0;
}
