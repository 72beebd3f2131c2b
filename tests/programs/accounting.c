// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who pays for rings, and for what else has a size that the process chooses: its
 * memory cgroup. That grows with them and shrinks again; and where it has no room
 * they are refused with ENOMEM, and nobody is killed.
 *
 * Joins the cgroup RXO_CGROUP, which is empty and has no limit yet. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/rxe_ordered-abi.h>

#include "t.h"
#include "t_link.h"

#define CQES	(1 << 17)
#define WRS	16384
#define SGES	16
#define MEM	(64 << 20)
#define REGIONS	32
/* What the kernel has charged or given back may wait for more of its kind. */
#define SLACK	(1 << 20)
#define WAIT_MS	(5000 * t_slow())

/* --------------------------------------------------------------------- cgroup */

static char group[PATH_MAX - 64];

/* A file of the cgroup. */
static FILE *file(const char *name, const char *mode)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	f = fopen(path, mode);
	if (!f)
		t_fatal("%s: %s", path, strerror(errno));
	return f;
}

static void set(const char *name, const char *text)
{
	FILE *f = file(name, "w");

	if (fputs(text, f) < 0 || fclose(f))
		t_fatal("%s: %s", name, strerror(errno));
}

static uint64_t charged(void)
{
	FILE *f = file("memory.current", "r");
	uint64_t bytes;

	if (fscanf(f, "%" SCNu64, &bytes) != 1)
		t_fatal("memory.current is no number");
	fclose(f);
	return bytes;
}

/* How often @name has happened to the cgroup. */
static uint64_t happened(const char *name)
{
	FILE *f = file("memory.events", "r");
	char event[32];
	uint64_t n;

	while (fscanf(f, "%31s %" SCNu64, event, &n) == 2) {
		if (strcmp(event, name))
			continue;
		fclose(f);
		return n;
	}
	t_fatal("memory.events says nothing of %s", name);
}

static void limit(uint64_t bytes)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	set("memory.max", text);
}

/* -------------------------------------------------------------------- objects */

static struct ibv_cq *cq, *small_cq;
static struct ibv_qp *qp;
static struct ibv_mr *mrs[REGIONS];
static void *mem;

static int make_cq(void)
{
	cq = ibv_create_cq(t_port[0].ctx, CQES, NULL, NULL, 0);
	return cq ? 0 : errno;
}

static void drop_cq(void)
{
	if (cq && ibv_destroy_cq(cq))
		t_fatal("cannot destroy the CQ");
	cq = NULL;
}

static int make_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = small_cq, .recv_cq = small_cq,
		.qp_type = IBV_QPT_RC, .cap = { WRS, WRS, SGES, SGES, 0 },
	};

	qp = ibv_create_qp(t_port[0].pd, &attr);
	return qp ? 0 : errno;
}

static void drop_qp(void)
{
	if (qp && ibv_destroy_qp(qp))
		t_fatal("cannot destroy the QP");
	qp = NULL;
}

static int make_mrs(void)
{
	int i;

	for (i = 0; i < REGIONS; i++) {
		mrs[i] = ibv_reg_mr(t_port[0].pd, mem, MEM, 0);
		if (!mrs[i])
			return errno;
	}
	return 0;
}

static void drop_mrs(void)
{
	int i;

	for (i = 0; i < REGIONS; i++) {
		if (mrs[i] && ibv_dereg_mr(mrs[i]))
			t_fatal("cannot deregister a region");
		mrs[i] = NULL;
	}
}

/*
 * @bytes: that much at least. The lists of a send queue count twice: in the ring, and
 * in the kernel's copy.
 */
static const struct kind {
	const char *name;
	uint64_t bytes;
	int (*make)(void);
	void (*drop)(void);
} kinds[] = {
	{ "CQ", CQES * sizeof(struct rxe_ordered_wc), make_cq, drop_cq },
	{ "QP", WRS * (sizeof(struct rxe_ordered_sqe) +
		       sizeof(struct rxe_ordered_rqe) +
		       3 * SGES * sizeof(struct rxe_ordered_sge)),
	  make_qp, drop_qp },
	{ "regions", REGIONS * (MEM / 4096) * sizeof(void *), make_mrs,
	  drop_mrs },
};

/* ----------------------------------------------------------------------- tests */

static void test_charged(const struct kind *kind)
{
	uint64_t before = charged(), with, end = t_now_ms() + WAIT_MS;
	int err = kind->make();

	if (!t_is(err, 0, "%s: made", kind->name))
		return;
	with = charged();
	t_true(with + SLACK >= before + kind->bytes,
	       "%s: %" PRIu64 " KiB are charged, of at least %" PRIu64,
	       kind->name, (with - before) >> 10, kind->bytes >> 10);
	kind->drop();
	/* Some is freed after a grace period. */
	while (charged() > before + SLACK && t_now_ms() < end)
		t_sleep_us(1000);
	t_true(charged() <= before + SLACK, "%s: given back", kind->name);
}

static void test_refused(const struct kind *kind)
{
	uint64_t hits = happened("max");

	limit(charged() + kind->bytes / 2);
	t_is(kind->make(), ENOMEM, "%s: without room", kind->name);
	kind->drop();
	t_true(happened("max") > hits, "%s: it is the limit", kind->name);
	t_is(happened("oom_kill"), 0, "%s: processes killed", kind->name);
	set("memory.max", "max");
	t_is(kind->make(), 0, "%s: with room again", kind->name);
	kind->drop();
}

int main(int argc, char **argv)
{
	const char *path = getenv("RXO_CGROUP");
	const struct kind *kind;

	t_args(argc, argv, "What a memory cgroup is charged with.");
	if (!path)
		t_skip_all("no RXO_CGROUP");
	snprintf(group, sizeof(group), "%s", path);
	set("cgroup.procs", "0");
	t_open();
	small_cq = ibv_create_cq(t_port[0].ctx, 1, NULL, NULL, 0);
	mem = mmap(NULL, MEM, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!small_cq || mem == MAP_FAILED)
		t_fatal("nothing to begin with");
	/* Small pages, and those there: each takes a pointer in a region. */
	madvise(mem, MEM, MADV_NOHUGEPAGE);
	memset(mem, 1, MEM);

	for (kind = kinds; kind < kinds + sizeof(kinds) / sizeof(*kinds); kind++) {
		test_charged(kind);
		test_refused(kind);
	}

	if (ibv_destroy_cq(small_cq))
		t_true(false, "the small CQ can go");
	munmap(mem, MEM);
	t_close();
	return t_done();
}
