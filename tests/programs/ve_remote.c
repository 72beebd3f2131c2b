// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA that the responder has to refuse: the requester sees an error completion, the
 * responder an asynchronous event, and no byte of memory changes. And what looks
 * refusable but is not: requests of no length with nonsense keys.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ve.h"

#define MEM	8192	/* registered at the responder, in the middle of an area */
#define AREA	(3 * MEM)

/* Which key the request names. */
enum key {
	KEY_RIGHT,
	KEY_WRONG_VARIANT,	/* the low byte, which distinguishes generations */
	KEY_WRONG_INDEX,
	KEY_OTHER_PD,
	KEY_NO_ACCESS,		/* a region without remote rights */
	KEY_NO_ATOMIC,		/* a region with all others */
	KEY_SHORT,		/* a region that ends 4 bytes early */
	KEY_GONE,		/* a region that has been deregistered */
};

/*
 * @start: remote address relative to the region, or absolute if it is so far away
 */
struct refusal {
	const char *name;
	enum key key;
	int64_t start;
	uint32_t length;
	int qp_access;
};

#define RDMA	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)
#define ALL	(RDMA | IBV_ACCESS_REMOTE_ATOMIC)

static const struct refusal refusals[] = {
	{ "rkey with a wrong low byte", KEY_WRONG_VARIANT, 0, 64, ALL },
	{ "rkey of no region", KEY_WRONG_INDEX, 0, 64, ALL },
	{ "rkey of another PD", KEY_OTHER_PD, 0, 64, ALL },
	{ "region without remote access", KEY_NO_ACCESS, 0, 64, ALL },
	{ "region that is gone", KEY_GONE, 0, 64, ALL },
	{ "QP without remote access", KEY_RIGHT, 0, 64, IBV_ACCESS_LOCAL_WRITE },
	{ "begins one byte early", KEY_RIGHT, -1, 64, ALL },
	{ "ends one byte late", KEY_RIGHT, MEM - 63, 64, ALL },
	{ "last byte and one more", KEY_RIGHT, MEM - 1, 2, ALL },
	{ "begins at the end", KEY_RIGHT, MEM, 1, ALL },
	{ "several packets, ends one byte late", KEY_RIGHT, 1, MEM, ALL },
	{ "wraps around 2^64", KEY_RIGHT, INT64_MIN, MEM, ALL },
};

static const struct refusal atomic_refusals[] = {
	{ "rkey with a wrong low byte", KEY_WRONG_VARIANT, 0, 8, ALL },
	{ "rkey of another PD", KEY_OTHER_PD, 0, 8, ALL },
	{ "region without remote access", KEY_NO_ACCESS, 0, 8, ALL },
	{ "region without atomic access", KEY_NO_ATOMIC, 0, 8, ALL },
	{ "region that is gone", KEY_GONE, 0, 8, ALL },
	{ "QP without atomic access", KEY_RIGHT, 0, 8, RDMA },
	{ "before the region", KEY_RIGHT, -8, 8, ALL },
	{ "at the end", KEY_RIGHT, MEM, 8, ALL },
	{ "across the end", KEY_SHORT, MEM - 8, 8, ALL },
	{ "wraps around 2^64", KEY_RIGHT, INT64_MIN, 8, ALL },
	{ "misaligned by 1", KEY_RIGHT, 1, 8, ALL },
	{ "misaligned by 4", KEY_RIGHT, 12, 8, ALL },
	{ "misaligned across pages", KEY_RIGHT, 4092, 8, ALL },
};

struct target {
	struct t_link link;
	unsigned char *area;
	struct ibv_mr *mr;
	struct ibv_pd *other_pd;	/* or NULL */
};

static uint32_t register_target(struct target *t, enum key key)
{
	struct ibv_pd *pd = t->link.b.port->pd;
	int access = key == KEY_NO_ACCESS ? IBV_ACCESS_LOCAL_WRITE :
		     key == KEY_NO_ATOMIC ? RDMA : ALL;
	size_t length = key == KEY_SHORT ? MEM - 4 : MEM;
	uint32_t rkey;

	if (key == KEY_OTHER_PD)
		pd = t->other_pd = ibv_alloc_pd(t->link.b.port->ctx);
	t->mr = pd ? ibv_reg_mr(pd, t->area + MEM, length, access) : NULL;
	if (!t->mr)
		t_fatal("cannot register memory: %s", strerror(errno));
	rkey = t->mr->rkey;
	if (key == KEY_WRONG_VARIANT)
		rkey ^= 1;
	if (key == KEY_WRONG_INDEX)
		rkey ^= 0x00f0f000;
	if (key == KEY_GONE) {
		ibv_dereg_mr(t->mr);
		t->mr = NULL;
	}
	return rkey;
}

static void target_open(struct target *t, const struct refusal *r)
{
	struct t_config config = { .mem = AREA };

	memset(t, 0, sizeof(*t));
	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.access = ALL;
	t_link_open(&t->link, &config);
	if (r->qp_access != ALL) {
		struct ibv_qp_attr attr = { .qp_access_flags = r->qp_access };

		if (ibv_modify_qp(t->link.b.qp, &attr, IBV_QP_ACCESS_FLAGS))
			t_fatal("cannot take the rights of the QP");
	}
	t->area = aligned_alloc(4096, AREA);
	if (!t->area)
		t_fatal("no memory");
	memset(t->area, VE_FILL, AREA);
	memset(t->link.a.mem, VE_FILL ^ 0xff, AREA);
}

static void target_close(struct target *t)
{
	t_link_close(&t->link);
	if (t->mr)
		ibv_dereg_mr(t->mr);
	if (t->other_pd)
		ibv_dealloc_pd(t->other_pd);
	free(t->area);
	ve_drop_events();
}

static unsigned int changed(const unsigned char *p, uint32_t n, int fill)
{
	unsigned int count = 0;

	while (n--)
		count += *p++ != fill;
	return count;
}

/* Is the request itself wrong, not the access? */
static bool is_invalid(const struct refusal *r, enum ibv_wr_opcode opcode)
{
	return opcode > IBV_WR_RDMA_READ && r->start % 8;
}

static void refuse_one(const struct refusal *r, enum ibv_wr_opcode opcode,
		       const char *verb)
{
	struct ibv_sge sge;
	struct target t;
	uint64_t addr;
	uint32_t rkey;
	char what[96];

	snprintf(what, sizeof(what), "%s, %s", verb, r->name);
	target_open(&t, r);
	rkey = register_target(&t, r->key);
	addr = r->start == INT64_MIN ? 0xfffffffffffff000 :
	       (uintptr_t)t.area + MEM + r->start;
	sge = ve_sge(&t.link.a, 0, r->length);
	if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		t_recv(&t.link.b, 1);
	ve_post(&t.link.a, opcode, &sge, addr, rkey);
	if (is_invalid(r, opcode)) {
		t_wait_status(t.link.a.scq, IBV_WC_REM_INV_REQ_ERR, what);
		ve_expect_event(&t.link.b, IBV_EVENT_QP_REQ_ERR, what);
	} else {
		t_wait_status(t.link.a.scq, IBV_WC_REM_ACCESS_ERR, what);
		ve_expect_event(&t.link.b, IBV_EVENT_QP_ACCESS_ERR, what);
	}
	ve_expect_state(&t.link.a, IBV_QPS_ERR, what);
	ve_expect_state(&t.link.b, IBV_QPS_ERR, what);
	t_is(changed(t.area, AREA, VE_FILL), 0, "%s: remote bytes changed", what);
	t_is(changed(t.link.a.mem, AREA, VE_FILL ^ 0xff), 0,
	     "%s: local bytes changed", what);
	target_close(&t);
}

static void test_refusals(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		refuse_one(&refusals[i], IBV_WR_RDMA_WRITE, "WRITE");
		refuse_one(&refusals[i], IBV_WR_RDMA_READ, "READ");
	}
	refuse_one(&refusals[0], IBV_WR_RDMA_WRITE_WITH_IMM, "WRITE_WITH_IMM");
	for (i = 0; i < sizeof(atomic_refusals) / sizeof(atomic_refusals[0]);
	     i++) {
		refuse_one(&atomic_refusals[i], IBV_WR_ATOMIC_CMP_AND_SWP,
			   "CMP_AND_SWP");
		refuse_one(&atomic_refusals[i], IBV_WR_ATOMIC_FETCH_AND_ADD,
			   "FETCH_AND_ADD");
	}
}

/* The whole region, and its first and last byte, are within reach. */
static void test_bounds_allowed(void)
{
	static const struct { uint32_t start, length; } ranges[] = {
		{ 0, MEM }, { 0, 1 }, { MEM - 1, 1 }, { 17, MEM - 17 },
	};
	struct refusal none = { "in bounds", KEY_RIGHT, 0, 0, ALL };
	struct target t;
	unsigned int i;

	target_open(&t, &none);
	register_target(&t, KEY_RIGHT);
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		struct ibv_sge sge = ve_sge(&t.link.a, 0, ranges[i].length);

		memset(t.area, VE_FILL, AREA);
		ve_post(&t.link.a, IBV_WR_RDMA_WRITE, &sge,
			(uintptr_t)t.area + MEM + ranges[i].start, t.mr->rkey);
		t_wait_status(t.link.a.scq, IBV_WC_SUCCESS, "WRITE within bounds");
		t_is(changed(t.area, AREA, VE_FILL), ranges[i].length,
		     "bytes changed of %u at %u", ranges[i].length,
		     ranges[i].start);
	}
	target_close(&t);
}

/* A region whose addresses end just below 2^64. */
static void test_iova_near_wrap(void)
{
	struct refusal none = { "near 2^64", KEY_RIGHT, 0, 0, ALL };
	uint64_t iova = 0xffffffffffffe000 - MEM;
	struct ibv_sge sge;
	struct target t;

	target_open(&t, &none);
	t.mr = ibv_reg_mr_iova(t.link.b.port->pd, t.area + MEM, MEM, iova, ALL);
	if (!t_true(t.mr != NULL, "register at addresses near 2^64"))
		goto out;
	sge = ve_sge(&t.link.a, 0, 64);
	ve_post(&t.link.a, IBV_WR_RDMA_WRITE, &sge, iova + MEM - 64, t.mr->rkey);
	t_wait_status(t.link.a.scq, IBV_WC_SUCCESS, "WRITE to its last bytes");
	t_is(changed(t.area + 2 * MEM - 64, 64, VE_FILL), 64, "bytes changed");
	sge = ve_sge(&t.link.a, 0, 3 * MEM);
	ve_post(&t.link.a, IBV_WR_RDMA_WRITE, &sge, iova + 1, t.mr->rkey);
	t_wait_status(t.link.a.scq, IBV_WC_REM_ACCESS_ERR,
		      "WRITE from there past 2^64");
	t_is(changed(t.area, AREA, VE_FILL), 64, "bytes changed since");
out:
	target_close(&t);
}

/* Nothing is accessed, so no key is looked at. */
static void test_zero_length(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
	};
	static const uint32_t keys[] = { 0, 0xdeadbeef };
	struct ibv_sge empty = { 0x1234, 0, 0xdeadbeef };
	unsigned int i, k, good = 0, posted = 0;
	struct t_link l;

	t_link_open(&l, NULL);
	for (i = 0; i < 4; i++) {
		for (k = 0; k < 4; k++) {
			t_recv(&l.b, opcodes[i] != IBV_WR_RDMA_WRITE &&
			       opcodes[i] != IBV_WR_RDMA_READ);
			ve_post(&l.a, opcodes[i], k & 1 ? &empty : NULL,
				0xfffffffffffffff0, k & 2 ? keys[1] : keys[0]);
			posted++;
			good += t_wait_status(l.a.scq, IBV_WC_SUCCESS,
					      "no length, nonsense keys");
		}
	}
	t_is(good, posted, "requests of no length");
	t_is(t_drop_all(l.b.rcq), 8, "receives of no length");
	t_link_close(&l);
}

/* More at a time than the responder has agreed to: here none at all. */
static void test_too_many_reads(enum ibv_wr_opcode opcode)
{
	struct t_config config = { .unconnected = true };
	struct pair_conn conn;
	struct ibv_sge sge;
	struct t_link l;

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.access = ALL;
	t_link_open(&l, &config);
	conn = l.conn;
	if (pair_to_init(l.a.qp, &conn) || pair_to_init(l.b.qp, &conn) ||
	    pair_to_rtr(l.a.qp, l.a.port, l.b.port, l.b.qp->qp_num, &conn) ||
	    pair_to_rts(l.a.qp, &conn))
		t_fatal("cannot connect");
	conn.rd_atomic = 0;
	if (pair_to_rtr(l.b.qp, l.b.port, l.a.port, l.a.qp->qp_num, &conn) ||
	    pair_to_rts(l.b.qp, &conn))
		t_fatal("cannot connect");
	sge = ve_sge(&l.a, 0, 8);
	ve_post(&l.a, opcode, &sge, (uintptr_t)l.b.mem, l.b.mr->rkey);
	t_wait_status(l.a.scq, IBV_WC_REM_INV_REQ_ERR,
		      "a READ or atomic more than the responder allows");
	ve_expect_event(&l.b, IBV_EVENT_QP_REQ_ERR, "one too many");
	t_link_close(&l);
	ve_drop_events();
}

/* Another thread that WRITEs until that fails. */
struct fire {
	struct t_end *end;
	struct ibv_sge sge;
	uint64_t addr;
	uint32_t rkey;
	_Atomic unsigned int done;
	enum ibv_wc_status status;
};

static void *fire_main(void *arg)
{
	struct fire *f = arg;
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };

	do {
		ve_post(f->end, IBV_WR_RDMA_WRITE, &f->sge, f->addr, f->rkey);
		if (t_wait(f->end->scq, &wc, 1) != 1)
			break;
		f->status = wc.status;
		f->done++;
	} while (wc.status == IBV_WC_SUCCESS);
	return NULL;
}

/* Deregistered while it is written to: an error then, and no byte after that. */
static void test_deregister_under_fire(void)
{
	struct refusal none = { "under fire", KEY_RIGHT, 0, 0, ALL };
	struct fire f = { 0 };
	struct target t;
	pthread_t thread;
	int err;

	target_open(&t, &none);
	f.end = &t.link.a;
	f.sge = ve_sge(&t.link.a, 0, MEM);
	f.addr = (uintptr_t)t.area + MEM;
	f.rkey = register_target(&t, KEY_RIGHT);
	pthread_create(&thread, NULL, fire_main, &f);
	while (f.done < 20)
		t_sleep_us(100);
	err = ibv_dereg_mr(t.mr);
	t.mr = NULL;
	memset(t.area, VE_FILL, AREA);
	pthread_join(thread, NULL);
	t_is(err, 0, "deregister a region that is written to");
	t_is(f.status, IBV_WC_REM_ACCESS_ERR, "status of WRITE %u", f.done);
	t_is(changed(t.area, AREA, VE_FILL), 0, "bytes changed after that");
	target_close(&t);
}

void ve_remote(void)
{
	unsigned int i;

	t_note("what the responder refuses");
	test_refusals();
	test_bounds_allowed();
	test_iova_near_wrap();
	test_zero_length();
	test_too_many_reads(IBV_WR_RDMA_READ);
	test_too_many_reads(IBV_WR_ATOMIC_FETCH_AND_ADD);
	for (i = 0; i < 10; i++)
		test_deregister_under_fire();
}
