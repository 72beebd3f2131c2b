// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a process may do to the mappings of its rings: move them, cut them, unmap
 * them, fork, map them again or wrongly; and destroy the objects before or after
 * that. It hurts only itself, nothing is left, the device goes on.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"
#include "t_link.h"

#define RINGS	64
#define PAGE	4096UL

struct ring {
	unsigned char *at;
	size_t len;
	uint64_t offset;
};

static struct ring rings[RINGS];
static unsigned int n_rings;

/* What is mapped of uverbs devices. */
static void find_rings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	uintptr_t from, to;
	uint64_t offset;
	char line[512];

	if (!f)
		t_fatal("/proc/self/maps: %s", strerror(errno));
	n_rings = 0;
	while (n_rings < RINGS && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "uverbs") ||
		    sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNx64, &from,
			   &to, &offset) != 3)
			continue;
		rings[n_rings++] = (struct ring){
			(unsigned char *)from, to - from, offset,
		};
	}
	fclose(f);
}

static struct ibv_cq *one_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(t_port[0].ctx, 512, NULL, NULL, 0);

	if (!cq)
		t_fatal("no CQ: %s", strerror(errno));
	find_rings();
	if (n_rings != 1)
		t_fatal("%u rings mapped, not 1", n_rings);
	return cq;
}

static void *map(int flags, size_t len, uint64_t offset)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, flags,
		    t_port[0].ctx->cmd_fd, (off_t)offset);
}

static void refused(void *p, const char *what)
{
	t_true(p == MAP_FAILED, "%s: refused (%s)", what, strerror(errno));
	if (p != MAP_FAILED)
		munmap(p, PAGE);
}

/* ---------------------------------------------------------------------- tests */

static void test_wrong_maps(void)
{
	struct ibv_cq *cq = one_cq();
	struct ring r = rings[0];
	void *again;

	refused(map(MAP_SHARED, r.len, 0), "map offset 0");
	refused(map(MAP_SHARED, r.len, r.offset + r.len), "map what is behind it");
	refused(map(MAP_SHARED, r.len, 1ULL << 40), "map an offset far away");
	refused(map(MAP_SHARED, PAGE, r.offset), "map the first page");
	refused(map(MAP_SHARED, 2 * r.len, r.offset), "map twice as much");
	refused(map(MAP_PRIVATE, r.len, r.offset), "map it private");
	again = map(MAP_SHARED, r.len, r.offset);
	t_true(again == MAP_FAILED || !munmap(again, r.len), "map it twice");
	t_is(ibv_destroy_cq(cq), 0, "destroy");
	refused(map(MAP_SHARED, r.len, r.offset), "map what has been destroyed");
}

static void test_grow(void)
{
	struct ibv_cq *cq = one_cq();
	struct ring r = rings[0];

	refused(mremap(r.at, r.len, 2 * r.len, MREMAP_MAYMOVE), "make it larger");
	t_is(ibv_destroy_cq(cq), 0, "destroy");
}

static void test_move(void)
{
	struct ibv_cq *cq = one_cq();
	struct ring r = rings[0];
	void *to = mmap(NULL, r.len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mremap(r.at, r.len, r.len, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		t_skip("a ring cannot be moved: %s", strerror(errno));
	t_is(ibv_destroy_cq(cq), 0, "destroy what has been moved");
	t_is(munmap(to, r.len), 0, "unmap after it");
}

/* The first page, the last, or all of it is unmapped first. */
static void test_cut(size_t from, size_t len, const char *what)
{
	struct ibv_cq *cq = one_cq();
	struct ring r = rings[0];

	t_is(munmap(r.at + (from ? r.len - PAGE : 0), len ? len : r.len), 0,
	     "unmap %s", what);
	t_is(ibv_destroy_cq(cq), 0, "destroy");
}

/* A child has no part in them. */
static void test_fork(void)
{
	struct ibv_cq *cq = one_cq();
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		*(volatile unsigned char *)rings[0].at;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	t_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
	       "a child that reads a ring: status %#x", status);
	t_is(ibv_destroy_cq(cq), 0, "destroy");
}

/* Unmapped below working QPs: they fail or not, the kernel does not mind. */
static void test_under_traffic(void)
{
	struct t_link link;
	unsigned int i;

	t_link_open(&link, NULL);
	t_deliver(&link, 10, 0);
	t_drop_all(link.b.rcq);
	t_recv(&link.b, 20);
	find_rings();
	t_true(n_rings >= 8, "%u rings", n_rings);
	for (i = 0; i < n_rings; i++)
		memset(rings[i].at, 0xa5, rings[i].len);
	for (i = 0; i < n_rings; i += 2)
		munmap(rings[i].at, rings[i].len);
	t_is(ibv_destroy_qp(link.a.qp), 0, "destroy a QP without its rings");
	t_is(ibv_destroy_qp(link.b.qp), 0, "destroy the other");
	link.a.qp = link.b.qp = NULL;
	t_link_close(&link);
}

/* What cannot be made leaves nothing, and what is there works. */
static void test_refused_creates(void)
{
	struct ibv_cq *cq = one_cq();
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1 << 20, .max_recv_wr = 1 },
	};
	const void *object;
	struct ibv_wc wc;

	errno = 0;
	object = ibv_create_cq(t_port[0].ctx, 1 << 28, NULL, NULL, 0);
	t_true(!object && errno == EINVAL, "a CQ that is too large: %s",
	       strerror(errno));
	errno = 0;
	object = ibv_create_qp(t_port[0].pd, &attr);
	t_true(!object && errno == EINVAL, "a QP that is too large: %s",
	       strerror(errno));
	find_rings();
	t_is(n_rings, 1, "rings after that");
	t_is(ibv_poll_cq(cq, 1, &wc), 0, "completions");
	t_is(ibv_destroy_cq(cq), 0, "destroy");
}

int main(int argc, char **argv)
{
	struct t_link link;

	t_args(argc, argv, "What a process may do to its rings.");
	t_open();
	test_wrong_maps();
	test_grow();
	test_move();
	test_cut(0, PAGE, "the first page");
	test_cut(1, PAGE, "the last page");
	test_cut(0, 0, "all");
	test_fork();
	test_refused_creates();
	test_under_traffic();

	t_note("and the device goes on");
	t_link_open(&link, NULL);
	t_deliver(&link, 10, 0);
	t_link_close(&link);
	t_close();
	return t_done();
}
