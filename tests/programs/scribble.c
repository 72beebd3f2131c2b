// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Processes that rewrite their shared rings while traffic runs: the arm word, the
 * indices, and in the entries the numbers, lengths, opcodes, flags and keys; from a
 * second thread, or from a child that maps the rings of its parent once more. Each
 * may do whatever it likes to itself, and is killed when it has lost its way.
 *
 * What is tested is another process, whose messages go on and arrive as they were
 * sent, that the devices work afterwards, and what the kernel log says to all this.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/rxodv.h>
#include <rdma/rxe_ordered-abi.h>

#include "t.h"
#include "t_ioctl.h"
#include "t_link.h"

#define RINGS		16
#define ENTRIES		64
#define MESSAGE		3000
#define LIFE_MS		4000	/* of a process that scribbles */
#define MARK		0x5c71bb1e00000000ULL

enum kind { CQ, SQ, RQ, KINDS };

struct ring {
	enum kind kind;
	unsigned char *at;
	size_t len;
	uint64_t offset;
	int fd;
	uint32_t stride;
};

static struct ring rings[RINGS];
static unsigned int n_rings;

/* Sizes that differ by kind, by which a mapping is told to be what it is. */
static const struct t_config config = {
	.cqe = 1024, .send_wr = ENTRIES, .recv_wr = ENTRIES, .sge = 2,
	.max_inline = 128,
};

/* What the processes tell each other. */
struct shared {
	_Atomic uint64_t exchanges;	/* of the one that is not to be disturbed */
	_Atomic uint32_t wrong;		/* of its messages */
	_Atomic bool stop;
	_Atomic uint64_t writes;	/* into rings */
};

static struct shared *shared;

/* --------------------------------------------------------------------- random */

static uint64_t rnd(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	uint64_t z = *state;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Numbers at which checks of lengths and indices go wrong. */
static uint32_t nasty(uint64_t *state)
{
	static const uint32_t values[] = {
		0, 1, 2, 3, 4, 15, 16, 17, 31, 32, 63, 64, 65, 255, 4096,
		0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0,
		0xffffffff,
	};
	uint32_t n = sizeof(values) / sizeof(values[0]);
	uint64_t r = rnd(state);

	return r % 4 ? values[(r >> 8) % n] : (uint32_t)(r >> 32);
}

/* ----------------------------------------------------------------- find rings */

static uint64_t ring_len(uint32_t entries, uint32_t stride)
{
	uint64_t len = RXE_ORDERED_RING_HDR_SIZE + (uint64_t)entries * stride;

	return (len + 4095) & ~4095ULL;
}

/* The distance of two entries, by the id of requests posted just before. */
static uint32_t find_stride(const struct ring *r)
{
	size_t i, first = 0;
	uint64_t id;

	for (i = RXE_ORDERED_RING_HDR_SIZE; i + 8 <= r->len; i += 8) {
		memcpy(&id, r->at + i, sizeof(id));
		if (id == MARK)
			first = i;
		else if (id == MARK + 1 && first)
			return i - first;
	}
	return 0;
}

static void add_ring(uintptr_t from, uintptr_t to, uint64_t offset, int fd)
{
	struct ring *r = &rings[n_rings++];

	*r = (struct ring){
		.at = (unsigned char *)from, .len = to - from,
		.offset = offset, .fd = fd,
	};
	if (r->len == ring_len(1024, sizeof(struct rxe_ordered_wc))) {
		r->kind = CQ;
		r->stride = sizeof(struct rxe_ordered_wc);
		return;
	}
	r->stride = find_stride(r);
	if (!r->stride)
		t_fatal("a ring of %zu bytes without what was posted", r->len);
	r->kind = r->stride > sizeof(struct rxe_ordered_sqe) ? SQ : RQ;
}

static void find_rings(const struct t_link *l)
{
	const char *name = strrchr(l->a.port->ctx->device->dev_path, '/');
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned int i, of_kind[KINDS] = { 0 };
	uintptr_t from, to;
	uint64_t offset;
	char line[512];

	if (!f)
		t_fatal("/proc/self/maps: %s", strerror(errno));
	while (n_rings < RINGS && fgets(line, sizeof(line), f)) {
		const char *path = strstr(line, "/uverbs");

		if (!path || sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNx64,
				    &from, &to, &offset) != 3)
			continue;
		add_ring(from, to, offset,
			 strncmp(path, name, strlen(name)) ?
			 l->b.port->ctx->cmd_fd : l->a.port->ctx->cmd_fd);
	}
	fclose(f);
	for (i = 0; i < n_rings; i++)
		of_kind[rings[i].kind]++;
	if (of_kind[CQ] != 4 || of_kind[SQ] != 2 || of_kind[RQ] != 2)
		t_fatal("%u CQs, %u send rings, %u receive rings mapped",
			of_kind[CQ], of_kind[SQ], of_kind[RQ]);
}

/* Two requests in each ring whose ids are known. */
static void post_marks(struct t_link *l)
{
	struct t_end *ends[] = { &l->a, &l->b };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED };
	unsigned int i, k;

	for (i = 0; i < 4; i++)
		if (t_post_recv(ends[i & 1], MARK + i / 2, NULL, 0))
			t_fatal("cannot post a receive");
	for (i = 0; i < 2; i++) {
		for (k = 0; k < 2; k++) {
			wr.wr_id = MARK + k;
			if (t_post_send(ends[i], &wr))
				t_fatal("cannot post a send");
			t_wait_status(ends[i]->scq, IBV_WC_SUCCESS, "a mark");
		}
	}
}

/* ------------------------------------------------------------------- scribble */

static void put32(struct ring *r, size_t offset, uint32_t value)
{
	__atomic_store_n((uint32_t *)(void *)(r->at + offset), value,
			 __ATOMIC_RELAXED);
}

static size_t entry(const struct ring *r, uint64_t *state)
{
	size_t room = (r->len - RXE_ORDERED_RING_HDR_SIZE) / r->stride;

	return RXE_ORDERED_RING_HDR_SIZE + rnd(state) % room * r->stride;
}

static void write_arm(struct ring *r, uint64_t *state)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)(void *)r->at;
	uint64_t old = *word;

	/* The arm alone: any state, also the one that does not exist. */
	*word = (old & ~RXE_ORDERED_CQ_ARM_MASK) |
		(rnd(state) & RXE_ORDERED_CQ_ARM_MASK);
}

static void write_word(struct ring *r, uint64_t *state)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)(void *)r->at;

	*word = rnd(state) % 2 ? rnd(state) : *word + nasty(state);
}

static void write_cq_cons(struct ring *r, uint64_t *state)
{
	put32(r, offsetof(struct rxe_ordered_cq_hdr, cons), nasty(state));
}

static void write_prod(struct ring *r, uint64_t *state)
{
	put32(r, offsetof(struct rxe_ordered_wq_hdr, prod), nasty(state));
}

/* What is behind the producer index by no more than the ring has entries. */
static void write_prod_near(struct ring *r, uint64_t *state)
{
	_Atomic uint32_t *prod = (_Atomic uint32_t *)(void *)r->at;

	*prod += rnd(state) % 8;
}

static void write_wq_cons(struct ring *r, uint64_t *state)
{
	put32(r, offsetof(struct rxe_ordered_wq_hdr, cons), nasty(state));
	put32(r, offsetof(struct rxe_ordered_wq_hdr, flags), nasty(state));
}

/* The counts that say how much is read behind them: right and wrong by turns. */
static void counts_at(struct ring *r, size_t at, uint64_t *state)
{
	if (r->kind == RQ) {
		put32(r, at + offsetof(struct rxe_ordered_rqe, num_sge),
		      nasty(state));
		return;
	}
	put32(r, at + offsetof(struct rxe_ordered_sqe, num_sge), nasty(state));
	put32(r, at + offsetof(struct rxe_ordered_sqe, inline_len),
	      nasty(state));
	put32(r, at + offsetof(struct rxe_ordered_sqe, flags), rnd(state) & 15);
}

static void write_counts(struct ring *r, uint64_t *state)
{
	counts_at(r, entry(r, state), state);
}

/*
 * In entries that are then posted. What is written into one that the process posts
 * itself is rarely there at the moment of its doorbell.
 */
static void write_posted(struct ring *r, uint64_t *state)
{
	_Atomic uint32_t *prod = (_Atomic uint32_t *)(void *)r->at;
	uint32_t first = *prod, n = 1 + rnd(state) % 8, i;

	for (i = 0; i < n; i++)
		counts_at(r, RXE_ORDERED_RING_HDR_SIZE +
			  (first + i) % ENTRIES * r->stride, state);
	*prod = first + n;
}

static void write_opcode(struct ring *r, uint64_t *state)
{
	put32(r, entry(r, state) + offsetof(struct rxe_ordered_sqe, opcode),
	      rnd(state) % 2 ? rnd(state) % 16 : nasty(state));
}

static void write_remote(struct ring *r, uint64_t *state)
{
	size_t at = entry(r, state);

	put32(r, at + offsetof(struct rxe_ordered_sqe, remote_addr) + 4,
	      nasty(state));
	put32(r, at + offsetof(struct rxe_ordered_sqe, rkey), rnd(state));
}

/* Address, length and key of what is to be read or written here. */
static void write_sge(struct ring *r, uint64_t *state)
{
	size_t head = r->kind == SQ ? sizeof(struct rxe_ordered_sqe) :
				      sizeof(struct rxe_ordered_rqe);
	size_t at = entry(r, state) + head;

	switch (rnd(state) % 4) {
	case 0:
		put32(r, at + offsetof(struct rxe_ordered_sge, addr) + 4,
		      nasty(state));
		break;
	case 1:
		put32(r, at + offsetof(struct rxe_ordered_sge, lkey), rnd(state));
		break;
	default:
		put32(r, at + offsetof(struct rxe_ordered_sge, length),
		      nasty(state));
	}
}

static void write_anything(struct ring *r, uint64_t *state)
{
	size_t words = (r->len - RXE_ORDERED_RING_HDR_SIZE) / 4;

	put32(r, RXE_ORDERED_RING_HDR_SIZE + rnd(state) % words * 4,
	      nasty(state));
}

#define ON(kind)	(1U << (kind))

static const struct target {
	const char *name;
	unsigned int kinds;
	void (*write)(struct ring *r, uint64_t *state);
} targets[] = {
	{ "the arm", ON(CQ), write_arm },
	{ "the arm word", ON(CQ), write_word },
	{ "the consumer index of CQs", ON(CQ), write_cq_cons },
	{ "completions", ON(CQ), write_anything },
	{ "the producer index", ON(SQ) | ON(RQ), write_prod },
	{ "the producer index by a little", ON(SQ) | ON(RQ), write_prod_near },
	{ "consumer index and flags", ON(SQ) | ON(RQ), write_wq_cons },
	{ "counts of sends", ON(SQ), write_counts },
	{ "counts of receives", ON(RQ), write_counts },
	{ "counts of what is posted", ON(SQ) | ON(RQ), write_posted },
	{ "opcodes", ON(SQ), write_opcode },
	{ "addresses and keys of the peer", ON(SQ), write_remote },
	{ "scatter-gather entries of sends", ON(SQ), write_sge },
	{ "scatter-gather entries of receives", ON(RQ), write_sge },
	{ "all entries", ON(CQ) | ON(SQ) | ON(RQ), write_anything },
};

#define TARGETS	(sizeof(targets) / sizeof(targets[0]))

struct scribbler {
	const struct target *target;
	uint64_t seed;
};

static void *scribble(void *arg)
{
	const struct scribbler *s = arg;
	uint64_t state = s->seed;
	unsigned int i;

	for (;;) {
		for (i = 0; i < n_rings; i++)
			if (s->target->kinds & ON(rings[i].kind))
				s->target->write(&rings[i], &state);
		shared->writes++;
		/* So that some of the traffic gets through in between. */
		if (!(rnd(&state) % 4))
			t_sleep_us(50);
	}
	return NULL;
}

/* A child has no part in the rings, but it has the descriptor. */
static void scribble_as_child(struct scribbler *s)
{
	unsigned int i;
	pid_t pid = fork();

	if (pid < 0)
		t_fatal("fork: %s", strerror(errno));
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < n_rings; i++) {
		rings[i].at = mmap(NULL, rings[i].len, PROT_READ | PROT_WRITE,
				   MAP_SHARED, rings[i].fd,
				   (off_t)rings[i].offset);
		if (rings[i].at == MAP_FAILED)
			_exit(0);
	}
	scribble(s);
}

/* -------------------------------------------------- traffic over broken rings */

static void post_one(struct t_link *l, unsigned int i)
{
	struct t_end *from = i & 1 ? &l->a : &l->b;
	struct t_end *to = i & 1 ? &l->b : &l->a;
	struct ibv_sge sge[2] = {
		{ (uintptr_t)from->mem, MESSAGE / 2, from->mr->lkey },
		{ (uintptr_t)from->mem + 8192, MESSAGE / 2, from->mr->lkey },
	};
	struct ibv_sge room[2] = {
		{ (uintptr_t)to->mem + 16384, 4096, to->mr->lkey },
		{ (uintptr_t)to->mem + 32768, 4096, to->mr->lkey },
	};
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
		IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
	};
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = sge, .num_sge = 2,
		.opcode = opcodes[i / 2 % 5],
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)to->mem + 40960, to->mr->rkey },
	};

	if (i % 7 == 3 && wr.opcode != IBV_WR_RDMA_READ) {
		wr.send_flags |= IBV_SEND_INLINE;
		wr.num_sge = 1;
		sge[0].length = 100;
	}
	t_post_recv(to, i, room, 2);
	t_post_send(from, &wr);
}

static void consume(struct ibv_cq *cq, unsigned int i)
{
	struct ibv_wc wc[8];

	switch (i % 4) {
	case 0:
		ibv_poll_cq(cq, 8, wc);
		break;
	case 1:
		rxodv_poll_rearm_cq(cq, 8, wc, i & 8 ? RXODV_REARM_SOLICITED_ONLY : 0);
		break;
	case 2:
		t_ioctl_poll_rearm(cq, 8, wc, 0);
		break;
	case 3:
		ibv_req_notify_cq(cq, i >> 4 & 1);
		t_ioctl_rearm_if_empty(cq, 0);
	}
}

static void reconnect(struct t_link *l)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	ibv_modify_qp(l->a.qp, &attr, IBV_QP_STATE);
	ibv_modify_qp(l->b.qp, &attr, IBV_QP_STATE);
	if (pair_connect(l->a.qp, l->a.port, l->b.qp, l->b.port, &l->conn))
		_exit(0);
}

static void traffic(struct t_link *l)
{
	unsigned int i, n = t_options.completions ? 400 : 100;

	for (i = 1; i <= n; i++) {
		post_one(l, i);
		consume(i & 1 ? l->b.rcq : l->a.rcq, i / 2);
		consume(i & 1 ? l->a.scq : l->b.scq, i / 2 + 1);
		if (i % 16)
			continue;
		t_events(l->a.channel);
		if (t_state(l->a.qp) == IBV_QPS_ERR ||
		    t_state(l->b.qp) == IBV_QPS_ERR)
			reconnect(l);
	}
}

/* A process that scribbles; whatever it comes to. */
static void __attribute__((noreturn)) live(const struct target *target,
					   uint64_t seed, bool by_child)
{
	struct scribbler s = { target, seed };
	struct t_link l;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	t_open();
	t_link_open(&l, &config);
	post_marks(&l);
	find_rings(&l);
	if (by_child)
		scribble_as_child(&s);
	else if (pthread_create(&thread, NULL, scribble, &s))
		t_fatal("no thread");
	traffic(&l);
	/* Half of them take down what they have, under the hands of the other. */
	if (seed % 2) {
		ibv_destroy_qp(l.a.qp);
		ibv_destroy_qp(l.b.qp);
	}
	_exit(0);
}

/* ------------------------------------------------ the one that is undisturbed */

static void exchange(struct t_link *l, uint32_t n)
{
	struct ibv_sge to = { (uintptr_t)l->b.mem, MESSAGE, l->b.mr->lkey };
	struct ibv_sge from = { (uintptr_t)l->a.mem, MESSAGE, l->a.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = n, .sg_list = &from, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc sent, received;

	memset(l->a.mem, (int)(n % 251) + 1, MESSAGE);
	if (t_post_recv(&l->b, n, &to, 1) || t_post_send(&l->a, &wr) ||
	    t_wait(l->a.scq, &sent, 1) != 1 ||
	    t_wait(l->b.rcq, &received, 1) != 1 ||
	    sent.status || received.status || received.wr_id != n ||
	    received.byte_len != MESSAGE ||
	    memcmp(l->a.mem, l->b.mem, MESSAGE))
		shared->wrong++;
	shared->exchanges++;
}

static pid_t start_bystander(void)
{
	struct t_link l;
	uint32_t n;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		t_fatal("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	t_open();
	t_link_open(&l, NULL);
	for (n = 0; !shared->stop && !shared->wrong; n++)
		exchange(&l, n);
	t_link_close(&l);
	t_close();
	_exit(t_failed() ? 1 : 0);
}

/* That it goes on means that it has done something since. */
static bool goes_on(void)
{
	uint64_t before = shared->exchanges, until = t_now_ms() + T_WAIT_MS;

	while (shared->exchanges < before + 3) {
		if (shared->wrong || t_now_ms() > until)
			return false;
		t_sleep_us(1000);
	}
	return true;
}

/* ----------------------------------------------------------------------- main */

/* Returns whether it ended by itself. */
static bool one_scribbler(const struct target *target, uint64_t seed, bool by_child)
{
	uint64_t until = t_now_ms() + LIFE_MS * t_slow();
	bool own = true;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		t_fatal("fork: %s", strerror(errno));
	if (!pid)
		live(target, seed, by_child);
	while (!waitpid(pid, &status, WNOHANG)) {
		if (own && t_now_ms() > until) {
			kill(pid, SIGKILL);
			own = false;
		}
		t_sleep_us(1000);
	}
	if (own && WIFEXITED(status) && WEXITSTATUS(status))
		t_true(false, "it could not even begin");
	return own;
}

static void one_target(const struct target *target, uint32_t rounds, bool by_child)
{
	uint64_t writes = shared->writes;
	unsigned int r, killed = 0;

	for (r = 0; r < rounds; r++)
		killed += !one_scribbler(target, t_options.seed + r, by_child);
	t_true(shared->writes > writes, "%s: rewritten by a %s", target->name,
	       by_child ? "child" : "thread");
	t_true(goes_on(), "another process goes on");
	t_note("%u of %u had to be killed", killed, rounds);
}

static void all_targets(uint32_t rounds)
{
	unsigned int i;

	for (i = 0; i < TARGETS; i++) {
		one_target(&targets[i], rounds, false);
		one_target(&targets[i], rounds, true);
	}
}

/* Every third, once and with less traffic, by turns by a thread and by a child. */
static void some_targets(void)
{
	unsigned int i;

	for (i = 0; i < TARGETS; i += 3)
		one_target(&targets[i], 1, i & 1);
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;
	struct t_link l;

	t_options.completions = 2;
	t_args(argc, argv, "Processes that rewrite their rings.");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		t_fatal("mmap: %s", strerror(errno));
	pid = start_bystander();
	if (!goes_on())
		t_fatal("there is nobody to disturb");
	if (t_options.completions)
		all_targets(t_options.completions);
	else
		some_targets();

	shared->stop = true;
	waitpid(pid, &status, 0);
	t_is(status, 0, "status of the other process");
	t_is(shared->wrong, 0, "its wrong exchanges, of %u",
	     (unsigned int)shared->exchanges);
	t_note("and the devices go on");
	t_open();
	t_link_open(&l, NULL);
	t_deliver(&l, 10, 0);
	t_link_close(&l);
	t_close();
	return t_done();
}
