/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * In place of the kernel, for provider_verbs_test.c: ioctl() and write() that know
 * the few methods that matter, rings in a memfd, which is the command file, and a
 * device, PD, CQ and QP made on it by the real libibverbs. All CQs share one ring,
 * and so do all QPs.
 */
#ifndef PROVIDER_FAKE_H
#define PROVIDER_FAKE_H

#include <dlfcn.h>
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
	atomic_int doorbells, writes;
	int doorbell_errno;		/* 0: works */
	int deaf, deaf_errno;		/* to that many, either way: this errno */
	int gone;			/* everything answers EIO */
	uint32_t cq_entries;		/* tell this, sense or nonsense */
	uint32_t qp_flags;		/* of the last QP created */
} kernel;

/*
 * Where a struct ibv_qp_ex ends for libibverbs. 0: ask the real one. Other numbers
 * stand for other versions of it: this many bytes longer than that of version 44.
 * NO_QP_EX: nowhere.
 */
#define NO_QP_EX	SIZE_MAX
static size_t qp_ex_growth;

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	static struct ibv_qp_ex *(*real)(struct ibv_qp *);
	size_t at = offsetof(struct ibv_qp_ex, wr_atomic_write) + sizeof(void *);
	uint32_t flags;

	if (!qp_ex_growth) {
		if (!real)
			*(void **)&real = dlsym(RTLD_NEXT, "ibv_qp_to_qp_ex");
		return real(qp);
	}
	if (qp_ex_growth == NO_QP_EX)
		return NULL;
	memcpy(&flags, (char *)qp + at + qp_ex_growth, sizeof(flags));
	return flags & VERBS_QP_EX ? (struct ibv_qp_ex *)qp : NULL;
}

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

static bool is_deaf(void)
{
	return kernel.deaf && kernel.deaf--;
}

static int create_cq(struct ib_uverbs_ioctl_hdr *h)
{
	struct rxe_ordered_create_cq_cmd cmd;
	struct rxe_ordered_create_cq_resp resp = {
		.mmap_offset = CQ_OFF, .mmap_size = RING_SIZE,
		.entries = kernel.cq_entries ? kernel.cq_entries : ENTRIES,
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
	CHECK(!cmd.comp_mask);
	kernel.qp_flags = cmd.flags;
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
		if (!kernel.doorbell_errno && is_deaf())
			return fail(kernel.deaf_errno);
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
	return is_deaf() ? fail(kernel.deaf_errno) : (ssize_t)len;
}

/* ------------------------------------------------------------------ set-up */

/* Instead of the one in libibverbs: keep what the provider registers. */
static const struct verbs_device_ops *provider;
void verbs_register_driver_34(const struct verbs_device_ops *ops)
{
	provider = ops;
}

/* What ibv_open_device() does after it has found the device. */
struct ibv_context *verbs_open_device(struct ibv_device *device,
				      void *private_data);

static struct {
	int fd;				/* the command file */
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

/*
 * libibverbs opens a file if there is a sysfs device and none if not; the provider
 * gets ours and a sysfs device that is opaque and looked into, for which zeros do.
 */
static struct verbs_context *alloc_context(struct ibv_device *device, int cmd_fd,
					   void *private_data)
{
	struct verbs_context *vctx;
	void *sysfs = calloc(1, 4096);

	CHECK(cmd_fd == -1 && sysfs);
	t.dev->sysfs = sysfs;
	vctx = provider->alloc_context(device, t.fd, private_data);
	t.dev->sysfs = NULL;
	free(sysfs);
	return vctx;
}

static void open_device(void)
{
	struct verbs_device_ops ops = *provider;

	ops.alloc_context = alloc_context;
	t.dev->ops = &ops;
	t.ctx = verbs_open_device(&t.dev->device, NULL);
	t.dev->ops = provider;
	t.dev->sysfs = calloc(1, 4096);
	CHECK(t.dev->sysfs);
	CHECK(t.ctx && t.ctx->num_comp_vectors == 3 && t.ctx->cmd_fd == t.fd);
}

static void set_up(void)
{
	t.fd = memfd_create("uverbs", 0);
	CHECK(t.fd >= 0 && !ftruncate(t.fd, RQ_OFF + RING_SIZE));
	CHECK(provider && !strcmp(provider->name, "rxe_ordered"));
	CHECK(provider->match_table[0].kind == VERBS_MATCH_DRIVER_ID &&
	      provider->match_table[0].u.driver_id == RXE_ORDERED_DRIVER_ID &&
	      provider->match_table[1].kind == 0);
	CHECK(provider->match_min_abi_version == 1 &&
	      provider->match_max_abi_version == 1);

	t.dev = provider->alloc_device(NULL);
	CHECK(t.dev);
	atomic_store(&t.dev->refcount, 1);
	open_device();

	t.cq_page = page(t.fd, CQ_OFF);
	t.sq_page = page(t.fd, SQ_OFF);
	t.rq_page = page(t.fd, RQ_OFF);

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

#endif /* PROVIDER_FAKE_H */
