// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Registering memory: of any size, at any address, and what cannot be registered. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ve.h"

#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)
#define MIB	(1UL << 20)

static unsigned char *map(size_t len, int flags)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Written to from the other end at the begin, the middle and the end. */
static void use_region(struct t_link *l, unsigned char *p, size_t len,
		       const char *what)
{
	struct ibv_mr *mr = ibv_reg_mr(l->b.port->pd, p, len, ALL);
	uint32_t chunk = len < 100 ? len : 100;
	size_t offsets[] = { 0, len / 2 / chunk * chunk, len - chunk };
	struct ibv_sge sge = ve_sge(&l->a, 0, chunk);
	unsigned int i;

	if (!t_true(mr != NULL, "register %s%s%s", what, mr ? "" : ": ",
		    mr ? "" : strerror(errno)))
		return;
	for (i = 0; i < 3; i++) {
		memset(l->a.mem, 0x40 + i, chunk);
		ve_post(&l->a, IBV_WR_RDMA_WRITE, &sge,
			(uintptr_t)p + offsets[i], mr->rkey);
		t_wait_status(l->a.scq, IBV_WC_SUCCESS, what);
		t_true(!memcmp(p + offsets[i], l->a.mem, chunk),
		       "%s: %u bytes at %zu", what, chunk, offsets[i]);
	}
	t_is(ibv_dereg_mr(mr), 0, "deregister %s", what);
}

static void test_sizes(struct t_link *l)
{
	unsigned char *p = map(64 * MIB, 0);

	if (!p)
		t_fatal("no memory");
	use_region(l, p + 4095, 1, "1 byte");
	use_region(l, p, 4097, "4 KiB + 1");
	use_region(l, p + 4093, 4099, "4,099 bytes from an odd address");
	use_region(l, p + 1, 3 * MIB + 17, "3 MiB + 17 from an odd address");
	use_region(l, p, 64 * MIB, "64 MiB");
	munmap(p, 64 * MIB);
}

/* Reserved for this test and given back. */
static bool reserve_huge_pages(int n)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");
	bool ok = f && fprintf(f, "%d\n", n) > 0;

	if (f && fclose(f))
		ok = false;
	return ok;
}

static void test_huge_pages(struct t_link *l)
{
	unsigned char *p;

	reserve_huge_pages(2);
	p = map(4 * MIB, MAP_HUGETLB);
	if (!p) {
		t_skip("huge pages: %s", strerror(errno));
	} else {
		use_region(l, p, 4 * MIB, "two huge pages");
		use_region(l, p + 2 * MIB - 5, 10, "10 bytes across two huge pages");
		munmap(p, 4 * MIB);
	}
	reserve_huge_pages(0);
}

static void expect_unregistrable(void *p, size_t len, int access, const char *what)
{
	struct ibv_mr *mr = ibv_reg_mr(t_port[1].pd, p, len, access);

	t_true(!mr, "register %s: refused (%s)", what, strerror(errno));
	if (mr)
		ibv_dereg_mr(mr);
}

static void test_refused(void)
{
	unsigned char *p = map(3 * 4096, 0);

	if (!p)
		t_fatal("no memory");
	expect_unregistrable(p, 0, ALL, "0 bytes");
	expect_unregistrable(p, 64, IBV_ACCESS_REMOTE_WRITE,
			     "for remote but not local write");
	mprotect(p + 4096, 4096, PROT_NONE);
	expect_unregistrable(p, 3 * 4096, ALL, "across an inaccessible page");
	mprotect(p + 4096, 4096, PROT_READ);
	expect_unregistrable(p, 3 * 4096, ALL, "across a read-only page for writing");
	munmap(p + 4096, 4096);
	expect_unregistrable(p, 3 * 4096, ALL, "across a hole");
	expect_unregistrable((void *)~4095UL, 8192, ALL, "around 2^64");
	expect_unregistrable(p, SIZE_MAX, ALL, "2^64 - 1 bytes");
	munmap(p, 3 * 4096);
}

/* Not offered: refused whole, and the region is what it was. */
static void test_rereg(struct t_link *l)
{
	static const struct {
		int flags;
		int access;
		const char *what;
	} rows[] = {
		{ IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS, 1 << 30,
		  "PD and illegal access" },
		{ IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS,
		  IBV_ACCESS_LOCAL_WRITE, "PD and access" },
		{ IBV_REREG_MR_CHANGE_ACCESS, IBV_ACCESS_LOCAL_WRITE, "access" },
		{ IBV_REREG_MR_CHANGE_TRANSLATION, ALL, "translation" },
	};
	struct ibv_pd *pd = ibv_alloc_pd(l->b.port->ctx);
	struct ibv_sge sge = ve_sge(&l->a, 0, 100);
	unsigned char *other = map(4096, 0);
	unsigned int i;
	int err;

	if (!pd || !other)
		t_fatal("no PD or no memory");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		err = ibv_rereg_mr(l->b.mr, rows[i].flags, pd, other, 4096,
				   rows[i].access);
		t_true(err != 0, "change of %s: refused", rows[i].what);
		memset(l->a.mem, 0x50 + i, 100);
		ve_post(&l->a, IBV_WR_RDMA_WRITE, &sge, (uintptr_t)l->b.mem,
			l->b.mr->rkey);
		t_wait_status(l->a.scq, IBV_WC_SUCCESS, "as registered before");
		t_is(l->b.mem[99], 0x50 + i, "its bytes");
	}
	t_is(other[0], 0, "bytes elsewhere");
	munmap(other, 4096);
	t_is(ibv_dealloc_pd(pd), 0, "the other PD is not used");
}

/* On-demand paging is not offered, at any address. */
static void test_on_demand(struct t_link *l)
{
	struct ibv_mr *mr;

	mr = ibv_reg_mr(l->b.port->pd, l->b.mem, 8192, ALL | IBV_ACCESS_ON_DEMAND);
	t_true(!mr, "on demand: refused (%s)", strerror(errno));
	mr = ibv_reg_mr_iova(l->b.port->pd, l->b.mem, 8192, 0x7000,
			     ALL | IBV_ACCESS_ON_DEMAND);
	t_true(!mr, "on demand at another address: refused (%s)", strerror(errno));
	mr = ibv_reg_mr(l->b.port->pd, NULL, SIZE_MAX, ALL | IBV_ACCESS_ON_DEMAND);
	t_true(!mr, "all memory on demand: refused (%s)", strerror(errno));
}

static void test_thousand(void)
{
	unsigned char *p = map(16 * 4096, 0);
	unsigned int i, failed = 0, same = 0;
	uint32_t last = 0;

	for (i = 0; i < 1000; i++) {
		struct ibv_mr *mr = ibv_reg_mr(t_port[1].pd, p + i % 4096,
					       1 + i * 37 % 40000, ALL);

		if (!mr) {
			failed++;
			continue;
		}
		same += mr->rkey == last;
		last = mr->rkey;
		failed += ibv_dereg_mr(mr) != 0;
	}
	t_is(failed, 0, "failures of 1,000 times register and deregister");
	t_is(same, 0, "keys that are the same as the one before");
	munmap(p, 16 * 4096);
}

/* As a user who may lock 64 KiB: a clean error, in a process of its own. */
static int without_memlock(void)
{
	struct rlimit limit = { 65536, 65536 };
	struct pair_port port;
	char err[PAIR_ERR_LEN];
	struct ibv_mr *small, *large;
	unsigned char *p;
	int saved;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(65534) || setuid(65534))
		return 2;
	if (pair_open(&port, t_options.dev[1], t_options.gid[1], err))
		return 2;
	p = map(MIB, 0);
	small = ibv_reg_mr(port.pd, p, 16384, ALL);
	errno = 0;
	large = ibv_reg_mr(port.pd, p, MIB, ALL);
	saved = errno;
	return small && !large && saved == ENOMEM ? 0 : 1;
}

static void test_memlock(void)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(without_memlock());
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		t_fatal("fork: %s", strerror(errno));
	if (WEXITSTATUS(status) == 2)
		t_skip("a user who may lock 64 KiB: cannot become one, or may not open the device");
	else
		t_is(WEXITSTATUS(status), 0,
		     "64 KiB may be locked: 16 KiB registered, 1 MiB refused with ENOMEM, else");
}

void ve_memory(void)
{
	struct t_link link;

	t_note("registering memory");
	t_link_open(&link, NULL);
	test_sizes(&link);
	test_huge_pages(&link);
	test_rereg(&link);
	test_on_demand(&link);
	t_link_close(&link);
	test_refused();
	test_thousand();
	test_memlock();
}
