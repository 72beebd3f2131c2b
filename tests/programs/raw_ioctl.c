// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The driver's uverbs methods without the library: what they return, and that wrong
 * input is refused with nothing consumed and the arm unchanged.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "t.h"
#include "t_ioctl.h"
#include "t_link.h"

#define SOLICITED	RXE_ORDERED_REARM_SOLICITED_ONLY
#define WC_SIZE		sizeof(struct rxe_ordered_wc)
#define MAX_WC		1023	/* in 65,535 bytes */
#define PAGE		4096

static struct rxe_ordered_wc wcs[MAX_WC];

/* -------------------------------------------------------------------- helpers */

/* Takes up to @room completions and checks that they are numbered from @first on. */
static void expect_taken(struct t_link *l, unsigned int room, unsigned int want,
			 uint32_t first, const char *what)
{
	struct t_poll_rearm call;
	uint32_t i, count = 0xdead;

	t_poll_rearm_init(&call, l->b.rcq, wcs, room, &count);
	t_is(t_poll_rearm(&call), 0, "error of a right call, %s", what);
	t_is(count, want, "count with room for %u, %s", room, what);
	for (i = 0; i < count && i < room; i++) {
		struct ibv_wc wc = { .imm_data = wcs[i].imm_data };

		if (t_number(&wc) == first + i)
			continue;
		t_is(t_number(&wc), first + i, "number of completion %u", i);
		return;
	}
}

/* A wrong call. What is wrong in itself is refused before the count is written. */
static void expect_error(const struct t_poll_rearm *call, int want,
			 const char *what)
{
	uint32_t before = 0x5a5a5a5a;
	int err;

	if (want == EINVAL && call->has_count)
		memcpy(call->count, &before, sizeof(before));
	err = t_poll_rearm(call);
	t_true(err == want, "%s: %s%s%s", what, strerror(want),
	       err == want ? "" : " expected, but saw ",
	       err == want ? "" : strerror(err));
	if (want == EINVAL && call->has_count &&
	    memcmp(call->count, &before, sizeof(before)))
		t_true(false, "%s: the count is not to be written", what);
}

/* Memory whose first @len bytes end where an inaccessible page begins. */
static void *before_hole(size_t len)
{
	size_t pages = (len + PAGE - 1) / PAGE * PAGE;
	char *p = mmap(NULL, pages + PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + pages, PAGE, PROT_NONE))
		t_fatal("mmap: %s", strerror(errno));
	return p + pages - len;
}

static void free_before_hole(void *p, size_t len)
{
	size_t pages = (len + PAGE - 1) / PAGE * PAGE;

	munmap((char *)p + len - pages, pages + PAGE);
}

/* ------------------------------------------------------------------ right calls */

static void test_results(struct t_link *l)
{
	t_deliver(l, 5, 0);
	expect_taken(l, 3, 3, 0, "5 there");
	expect_taken(l, 16, 2, 3, "2 there");
	expect_taken(l, 16, 0, 0, "empty");
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 1, "after a count of 0");
	expect_taken(l, 1, 1, 5, "1 there");
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 0, "after a count > 0");
	expect_taken(l, 1, 1, 6, "1 there");
}

static void test_fields(struct t_link *l)
{
	struct ibv_sge sge[2] = {
		{ (uintptr_t)l->a.mem, 100, l->a.mr->lkey },
		{ (uintptr_t)l->b.mem, 200, l->b.mr->lkey },
	};
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = &sge[0],
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = 0x12345678,
	};
	struct t_poll_rearm call;
	uint32_t count;

	t_post_recv(&l->b, 0x1122334455667788, &sge[1], 1);
	t_post_send(&l->a, &wr);
	t_wait_status(l->a.scq, IBV_WC_SUCCESS, "a send of 100 bytes");
	memset(wcs, 0xff, sizeof(wcs[0]));
	t_is(t_ioctl_rearm_if_empty(l->b.rcq, 0), 1, "rearm_if_empty");
	t_poll_rearm_init(&call, l->b.rcq, wcs, 1, &count);
	t_is(t_poll_rearm(&call), 0, "error");
	t_is(count, 1, "count");
	t_is(wcs[0].wr_id, 0x1122334455667788, "wr_id");
	t_is(wcs[0].status, IBV_WC_SUCCESS, "status");
	t_is(wcs[0].opcode, IBV_WC_RECV, "opcode");
	t_is(wcs[0].byte_len, 100, "byte_len");
	t_is(wcs[0].imm_data, 0x12345678, "imm_data");
	t_is(wcs[0].wc_flags, IBV_WC_WITH_IMM, "wc_flags");
	t_is(wcs[0].qp_num, l->b.qp->qp_num, "qp_num");
	t_is(wcs[0].reserved[0] | wcs[0].reserved[5], 0, "reserved");
}

static void test_flags(struct t_link *l)
{
	struct t_poll_rearm call;
	uint32_t count;

	t_poll_rearm_init(&call, l->b.rcq, wcs, 4, &count);
	call.has_flags = true;
	call.flags = SOLICITED;
	t_is(t_poll_rearm(&call), 0, "error, solicited only");
	t_is(count, 0, "count, empty");
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 0, "of one that is not solicited");
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 1, "of one that is");
	call.flags = 0;
	t_is(t_poll_rearm(&call), 0, "error, flags 0");
	t_is(count, 2, "count");
}

static void test_rearm_if_empty(struct t_link *l)
{
	t_is(t_ioctl_rearm_if_empty(l->b.rcq, 0), 0, "rearm_if_empty, empty");
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 1, "after it");
	t_is(t_ioctl_rearm_if_empty(l->b.rcq, 0), 1, "rearm_if_empty, not empty");
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 0, "after that");
	t_is(t_ioctl_rearm_if_empty(l->b.rcq, 2), -EINVAL,
	     "rearm_if_empty, unknown flag");
	expect_taken(l, 4, 2, 0, "nothing consumed");
	t_is(t_ioctl_rearm_if_empty(l->b.rcq, SOLICITED), 0,
	     "rearm_if_empty, solicited");
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 0, "of one that is not solicited");
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 1, "of one that is");
}

/* As many as an attribute can hold, and one more than that. */
static void test_large_array(void)
{
	struct t_config config = { .cqe = 2048, .recv_wr = 1100 };
	struct t_link l;

	t_link_open(&l, &config);
	t_recv(&l.b, 1100);
	while (l.sent < 1100)
		t_send(&l, 50, 0);
	expect_taken(&l, MAX_WC, MAX_WC, 0, "1,100 there");
	expect_taken(&l, MAX_WC, 1100 - MAX_WC, MAX_WC, "the rest");
	expect_taken(&l, MAX_WC, 0, 0, "empty");
	t_link_close(&l);
}

/* ------------------------------------------------------------------ wrong calls */

static void wrong_lengths(struct t_link *l)
{
	static const uint16_t lengths[] = { 1, WC_SIZE - 1, WC_SIZE + 1,
					    3 * WC_SIZE / 2, 65535 };
	struct t_poll_rearm call;
	uint32_t count;
	unsigned int i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		t_poll_rearm_init(&call, l->b.rcq, wcs, 1, &count);
		call.wc_len = lengths[i];
		t_note("WC of %u bytes", lengths[i]);
		expect_error(&call, EINVAL, "a length that is not a multiple");
	}
	t_poll_rearm_init(&call, l->b.rcq, wcs, 0, &count);
	expect_error(&call, EINVAL, "a length of 0");
	t_poll_rearm_init(&call, l->b.rcq, wcs, 1, &count);
	call.has_wc = false;
	expect_error(&call, EINVAL, "no WC");
	t_poll_rearm_init(&call, l->b.rcq, wcs, 1, &count);
	call.has_count = false;
	expect_error(&call, EINVAL, "no COUNT");
}

/* (FLAGS may have 8 bytes as well.) */
static const uint16_t not_u32[] = { 0, 1, 3, 5, 7, 9, 4096 };
#define NUM_NOT_U32	(sizeof(not_u32) / sizeof(not_u32[0]))

static void wrong_u32_lengths(struct t_link *l)
{
	struct t_poll_rearm call;
	unsigned int i;
	uint32_t count;

	for (i = 0; i < NUM_NOT_U32; i++) {
		t_note("COUNT and FLAGS of %u bytes", not_u32[i]);
		t_poll_rearm_init(&call, l->b.rcq, wcs, 1, &count);
		call.count_len = not_u32[i];
		expect_error(&call, EINVAL, "COUNT of a wrong length");
		t_poll_rearm_init(&call, l->b.rcq, wcs, 1, &count);
		call.has_flags = true;
		call.flags_len = not_u32[i];
		expect_error(&call, EINVAL, "FLAGS of a wrong length");
	}
	t_poll_rearm_init(&call, l->b.rcq, wcs, 1, &count);
	call.count_len = 8;
	expect_error(&call, EINVAL, "COUNT of 8 bytes");
}

static void wrong_flags(struct t_link *l)
{
	static const uint32_t flags[] = { 2, 3, 0x80000001, 0xfffffffe };
	struct t_poll_rearm call;
	uint32_t count;
	unsigned int i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		t_poll_rearm_init(&call, l->b.rcq, wcs, 1, &count);
		call.has_flags = true;
		call.flags = flags[i];
		expect_error(&call, EINVAL, "unknown flags");
	}
	call.flags = 1ULL << 32;
	call.flags_len = 8;
	expect_error(&call, EINVAL, "unknown flags in 8 bytes");
}

/* An empty CQ has nothing to write to WC, so only COUNT can be wrong there. */
static void wrong_memory(struct t_link *l, bool is_empty)
{
	struct rxe_ordered_wc *edge = before_hole(2 * WC_SIZE);
	uint32_t *half = before_hole(2);
	struct t_poll_rearm call;
	uint32_t count;
	void *hole = before_hole(0);

	if (!is_empty) {
		t_poll_rearm_init(&call, l->b.rcq, hole, 4, &count);
		expect_error(&call, EFAULT, "WC that cannot be written");
		t_poll_rearm_init(&call, l->b.rcq, NULL, 4, &count);
		expect_error(&call, EFAULT, "WC at address 0");
		t_poll_rearm_init(&call, l->b.rcq, edge, 4, &count);
		expect_error(&call, EFAULT, "WC that faults half way");
		t_poll_rearm_init(&call, l->b.rcq, (void *)((char *)edge + 8), 2,
				  &count);
		expect_error(&call, EFAULT, "WC that faults within an entry");
	}
	t_poll_rearm_init(&call, l->b.rcq, wcs, 4, hole);
	call.count = NULL;
	expect_error(&call, EFAULT, "COUNT at address 0");
	call.count = hole;
	t_is(t_poll_rearm(&call), EFAULT, "COUNT that cannot be written");
	call.count = half;
	t_is(t_poll_rearm(&call), EFAULT, "COUNT that faults half way");

	free_before_hole(edge, 2 * WC_SIZE);
	free_before_hole(half, 2);
	free_before_hole(hole, 0);
}

static void wrong_objects(struct t_link *l)
{
	struct t_poll_rearm call;
	uint32_t count;
	int err;

	t_poll_rearm_init(&call, l->b.rcq, wcs, 4, &count);
	call.handle = 0x7fffffff;
	expect_error(&call, ENOENT, "a handle that does not exist");
	call.handle = l->b.qp->handle;
	expect_error(&call, EINVAL, "the handle of a QP");
	t_poll_rearm_init(&call, l->b.rcq, wcs, 4, &count);
	call.driver_id = 1;
	err = t_poll_rearm(&call);
	t_true(err == EINVAL, "another driver id: refused (%s)", strerror(err));
}

static void expect_rearm_error(const struct t_rearm *call, int want,
			       const char *what)
{
	int err = t_rearm(call);

	t_true(err == want, "rearm_if_empty, %s: %s%s%s", what, strerror(want),
	       err == want ? "" : " expected, but saw ",
	       err == want ? "" : strerror(err));
}

static void wrong_rearm_lengths(struct t_link *l)
{
	uint32_t result = 0x5a5a5a5a;
	struct t_rearm call;
	unsigned int i;

	for (i = 0; i < NUM_NOT_U32; i++) {
		t_note("RESULT and FLAGS of %u bytes", not_u32[i]);
		t_rearm_init(&call, l->b.rcq, &result);
		call.result_len = not_u32[i];
		expect_rearm_error(&call, EINVAL, "RESULT of a wrong length");
		t_rearm_init(&call, l->b.rcq, &result);
		call.has_flags = true;
		call.flags_len = not_u32[i];
		expect_rearm_error(&call, EINVAL, "FLAGS of a wrong length");
	}
	t_rearm_init(&call, l->b.rcq, &result);
	call.result_len = 8;
	expect_rearm_error(&call, EINVAL, "RESULT of 8 bytes");
	call.has_result = false;
	expect_rearm_error(&call, EINVAL, "no RESULT");
	t_is(result, 0x5a5a5a5a, "RESULT, not written");
}

static void wrong_rearm(struct t_link *l)
{
	uint32_t result, *half = before_hole(2);
	void *hole = before_hole(0);
	struct t_rearm call;

	wrong_rearm_lengths(l);
	t_rearm_init(&call, l->b.rcq, NULL);
	expect_rearm_error(&call, EFAULT, "RESULT at address 0");
	call.result = hole;
	expect_rearm_error(&call, EFAULT, "RESULT that cannot be written");
	call.result = half;
	expect_rearm_error(&call, EFAULT, "RESULT that faults half way");
	t_rearm_init(&call, l->b.rcq, &result);
	call.handle = 0x7fffffff;
	expect_rearm_error(&call, ENOENT, "a handle that does not exist");
	call.handle = l->b.qp->handle;
	expect_rearm_error(&call, EINVAL, "the handle of a QP");
	free_before_hole(half, 2);
	free_before_hole(hole, 0);
}

static void wrong_calls(struct t_link *l, bool is_empty)
{
	wrong_lengths(l);
	wrong_u32_lengths(l);
	wrong_flags(l);
	wrong_memory(l, is_empty);
	wrong_objects(l);
	wrong_rearm(l);
}

static void test_wrong_calls(struct t_link *l)
{
	t_note("3 completions, not armed");
	t_deliver(l, 3, 0);
	wrong_calls(l, false);
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 0, "it was not armed");
	expect_taken(l, 8, 4, 0, "nothing consumed");

	t_note("3 completions, armed for solicited ones");
	t_is(t_ioctl_rearm_if_empty(l->b.rcq, SOLICITED), 0, "arm");
	t_deliver(l, 3, 0);
	wrong_calls(l, false);
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 0, "the arm has not become stronger");
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 1, "nor has it gone");
	expect_taken(l, 8, 5, 4, "nothing consumed");

	t_note("empty, not armed");
	wrong_calls(l, true);
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 0, "it was not armed");
	expect_taken(l, 8, 1, 9, "1 there");
}

/* Empty, and what cannot be written is the room for completions that do not exist. */
static void test_fault_when_empty(struct t_link *l)
{
	void *hole = before_hole(0);
	struct t_poll_rearm call;
	uint32_t count = 7;
	int err;

	t_poll_rearm_init(&call, l->b.rcq, hole, 1, &count);
	err = t_poll_rearm(&call);
	t_true(err == 0 || err == EFAULT, "empty, WC cannot be written: %s",
	       strerror(err));
	t_deliver(l, 1, 0);
	if (err)
		t_expect_events(l->b.channel, 0, "after EFAULT");
	else
		t_expect_events(l->b.channel, 1, "after a count of 0");
	expect_taken(l, 4, 1, 0, "1 there");
	free_before_hole(hole, 0);
}

/* -------------------------------------------------------------------- doorbell */

static void test_doorbell(struct t_link *l)
{
	int fd = l->a.qp->context->cmd_fd;

	t_is(t_ioctl_doorbell(fd, l->a.qp->handle), 0,
	     "doorbell with nothing posted");
	t_deliver(l, 1, 0);
	t_is(t_ioctl_doorbell(fd, l->a.qp->handle), 0, "doorbell once more");
	expect_taken(l, 4, 1, 0, "sent once");
	t_is(t_ioctl_doorbell(fd, 0x7fffffff), ENOENT,
	     "doorbell of a QP that does not exist");
}

/* ------------------------------------------------------------------------ main */

struct test {
	const char *name;
	void (*run)(struct t_link *l);	/* on a fresh link */
};

static const struct test tests[] = {
	{ "results", test_results },
	{ "fields of a completion", test_fields },
	{ "flags", test_flags },
	{ "rearm_if_empty", test_rearm_if_empty },
	{ "wrong calls", test_wrong_calls },
	{ "a fault with nothing to write", test_fault_when_empty },
	{ "doorbell", test_doorbell },
};

int main(int argc, char **argv)
{
	struct t_link link;
	unsigned int i;

	t_args(argc, argv, "The uverbs methods without the library.");
	t_open();
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		t_note("%s", tests[i].name);
		t_link_open(&link, NULL);
		tests[i].run(&link);
		t_drop_all(link.b.rcq);
		t_link_close(&link);
	}
	t_note("large array");
	test_large_array();
	t_close();
	return t_done();
}
