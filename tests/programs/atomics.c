// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Compare and swap, fetch and add: what they do to the word and what they answer,
 * byte order, fences; and that each is executed exactly once, whoever else works
 * on the same word: other queue pairs, and the processor.
 *
 * With --completions N only the race: so many additions by each of --threads queue
 * pairs on one counter. On a bad network that shows how repetitions are answered.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/rxodv.h>

#include "t.h"
#include "t_link.h"

#define CAS	IBV_WR_ATOMIC_CMP_AND_SWP
#define FAA	IBV_WR_ATOMIC_FETCH_AND_ADD
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define FILL	0xa5a5a5a5a5a5a5a5
#define MAX_QPS	16
#define DEPTH	32	/* posted at a time */
#define RD	16	/* of those, on their way */

static void link_open(struct t_link *l)
{
	struct t_config config = { .sge = 4 };

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.access = ACCESS;
	config.conn.rd_atomic = RD;
	t_link_open(l, &config);
}

/* Word @i of the memory of an end. */
static uint64_t *word(const struct t_end *end, unsigned int i)
{
	return (uint64_t *)(void *)end->mem + i;
}

static void post(struct t_end *end, uint64_t id, enum ibv_wr_opcode op,
		 struct ibv_sge *sge, int num_sge, const struct t_end *at,
		 unsigned int remote, uint64_t compare_add, uint64_t swap)
{
	struct ibv_send_wr wr = {
		.wr_id = id,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = sge,
		.num_sge = num_sge,
		.wr.atomic = {
			.remote_addr = (uintptr_t)word(at, remote),
			.rkey = at->mr->rkey,
			.compare_add = compare_add,
			.swap = swap,
		},
	};
	int err = t_post_send(end, &wr);

	if (err)
		t_fatal("cannot post an atomic: %s", strerror(err));
}

/* -------------------------------------------------------------------- one by one */

struct step {
	enum ibv_wr_opcode op;
	uint64_t before;
	uint64_t compare_add;
	uint64_t swap;
	uint64_t after;
};

static const struct step steps[] = {
	{ FAA, 41, 1, 0, 42 },
	{ FAA, 7, 0, 0, 7 },
	{ FAA, 0, UINT64_MAX, 0, UINT64_MAX },
	{ FAA, UINT64_MAX, 2, 0, 1 },
	{ FAA, 0x00000000ffffffff, 1, 0, 0x0000000100000000 },
	{ FAA, 0x0102030405060708, 0x1020304050607080, 0,
	  0x1122334455667788 },
	{ CAS, 5, 5, 6, 6 },
	{ CAS, 5, 4, 6, 5 },
	{ CAS, 0, 0, UINT64_MAX, UINT64_MAX },
	{ CAS, 0x0102030405060708, 0x0102030405060708, 0xf1f2f3f4f5f6f7f8,
	  0xf1f2f3f4f5f6f7f8 },
	{ CAS, 0x0102030405060708, 0x0807060504030201, 1, 0x0102030405060708 },
	{ CAS, 0x100000001, 1, 2, 0x100000001 },
};

/* The result goes to @num_sge pieces of the memory around word 8. */
static bool one_step(struct t_end *from, struct t_end *to, const struct step *s,
		     unsigned int where, int num_sge)
{
	static const uint32_t cut[5][5] = {
		[1] = { 0, 8 }, [2] = { 0, 3, 8 }, [3] = { 0, 1, 1, 8 },
		[4] = { 0, 2, 4, 7, 8 },
	};
	struct ibv_sge sge[4];
	unsigned char *result = from->mem + 64 + (num_sge > 1);
	uint64_t value = 0, i;
	struct ibv_wc wc;

	memset(from->mem, 0xa5, 4096);
	memset(to->mem, 0xa5, 4096);
	*word(to, where) = s->before;
	for (i = 0; i < (uint64_t)num_sge; i++)
		sge[i] = (struct ibv_sge){
			(uintptr_t)result + cut[num_sge][i],
			cut[num_sge][i + 1] - cut[num_sge][i], from->mr->lkey,
		};
	post(from, 77, s->op, sge, num_sge, to, where, s->compare_add, s->swap);
	if (t_wait(from->scq, &wc, 1) != 1 || wc.status || wc.wr_id != 77 ||
	    wc.byte_len != 8 ||
	    wc.opcode != (s->op == CAS ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD))
		return false;
	memcpy(&value, result, 8);
	if (value != s->before || *word(to, where) != s->after)
		return false;
	memset(result, 0xa5, 8);
	*word(to, where) = FILL;
	for (i = 0; i < 512; i++)
		if (*word(from, i) != FILL || *word(to, i) != FILL)
			return false;
	return true;
}

static void all_steps(struct t_end *from, struct t_end *to, const char *who)
{
	/* First word, last of a page, first of a page. */
	static const unsigned int places[] = { 0, 100, 511 };
	const unsigned int n = sizeof(steps) / sizeof(steps[0]);
	unsigned int i, k, good = 0;
	int num_sge;

	for (i = 0; i < n; i++)
		for (k = 0; k < 3; k++)
			for (num_sge = 1; num_sge <= 4; num_sge++)
				if (one_step(from, to, &steps[i], places[k],
					     num_sge))
					good++;
				else
					t_true(false, "%s, step %u, word %u, %d pieces",
					       who, i, places[k], num_sge);
	t_is(good, n * 3 * 4, "%s, one by one", who);
}

/* A fenced SEND carries what the atomic before it has fetched. */
static void fence(struct t_end *from, struct t_end *to, const char *who)
{
	struct ibv_sge result = { (uintptr_t)from->mem, 8, from->mr->lkey };
	struct ibv_sge room = { (uintptr_t)word(to, 1), 8, to->mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
		.sg_list = &result,
		.num_sge = 1,
	};
	unsigned int i, good = 0;
	struct ibv_wc wc[2];

	*word(to, 0) = 1000;
	for (i = 0; i < 50; i++) {
		*word(from, 0) = FILL;
		if (t_post_recv(to, i, &room, 1))
			t_fatal("cannot post a receive");
		post(from, 1, FAA, &result, 1, to, 0, 1, 0);
		if (t_post_send(from, &wr))
			t_fatal("cannot post a SEND");
		good += t_wait(from->scq, wc, 2) == 2 && !wc[0].status &&
			!wc[1].status && t_wait(to->rcq, wc, 1) == 1 &&
			*word(to, 1) == 1000 + i;
	}
	t_is(good, 50, "%s, fenced messages", who);
}

static void one_by_one(void)
{
	struct t_link l;

	link_open(&l);
	all_steps(&l.a, &l.b, "A to B");
	all_steps(&l.b, &l.a, "B to A");
	fence(&l.a, &l.b, "A to B");
	fence(&l.b, &l.a, "B to A");
	t_link_close(&l);
}

/* -------------------------------------------------------------------- the race */

struct worker {
	struct t_link link;
	struct t_end *from;
	const struct t_end *at;		/* holds the counter, its word 0 */
	uint32_t n;
	uint32_t done;
	uint64_t *answer;		/* n of them */
	bool by_cas;
	bool broken;
	pthread_t thread;
};

static void post_next(struct worker *w, uint32_t i)
{
	struct ibv_sge sge = {
		(uintptr_t)word(w->from, 1 + i % DEPTH), 8, w->from->mr->lkey,
	};

	post(w->from, i, FAA, &sge, 1, w->at, 0, 1, 0);
}

/* Additions, as many under way as there may be. */
static void add(struct worker *w)
{
	uint32_t posted = 0;
	struct ibv_wc wc;

	while (w->done < w->n) {
		while (posted < w->n && posted - w->done < DEPTH)
			post_next(w, posted++);
		if (t_wait(w->from->scq, &wc, 1) != 1 || wc.status ||
		    wc.wr_id != w->done) {
			w->broken = true;
			return;
		}
		w->answer[w->done] = *word(w->from, 1 + w->done % DEPTH);
		__atomic_store_n(&w->done, w->done + 1, __ATOMIC_RELEASE);
	}
}

/* Additions by compare and swap, each tried until nobody has come between. */
static void add_by_cas(struct worker *w)
{
	struct ibv_sge sge = { (uintptr_t)word(w->from, 1), 8,
			       w->from->mr->lkey };
	uint64_t expected = 0;
	struct ibv_wc wc;

	while (w->done < w->n) {
		post(w->from, 0, CAS, &sge, 1, w->at, 0, expected, expected + 1);
		if (t_wait(w->from->scq, &wc, 1) != 1 || wc.status) {
			w->broken = true;
			return;
		}
		if (*word(w->from, 1) != expected) {
			expected = *word(w->from, 1);
			continue;
		}
		w->answer[w->done++] = expected++;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	if (w->by_cas)
		add_by_cas(w);
	else
		add(w);
	return NULL;
}

/* The processor takes part. */
static void *add_by_processor(void *arg)
{
	struct worker *w = arg;

	while (w->done < w->n) {
		w->answer[w->done++] = __atomic_fetch_add(word(w->at, 0), 1,
							  __ATOMIC_RELAXED);
		sched_yield();
	}
	return NULL;
}

/* Every number below @total has been an answer, each once; and in order. */
static void check_answers(const struct worker *w, unsigned int workers,
			  uint64_t total, const char *who)
{
	uint8_t *seen = calloc(total, 1);
	unsigned int i, wrong = 0, backwards = 0;
	uint32_t k;

	if (!seen)
		t_fatal("no memory");
	for (i = 0; i < workers; i++)
		for (k = 0; k < w[i].done; k++) {
			if (w[i].answer[k] >= total || seen[w[i].answer[k]]++)
				wrong++;
			backwards += k && w[i].answer[k] < w[i].answer[k - 1];
		}
	t_is(wrong, 0, "%s: answers that came before, or are too large", who);
	t_is(backwards, 0, "%s: answers that are out of order", who);
	free(seen);
}

/* Fewer and more at a time while requests are posted. */
static void change_limit(struct worker *w)
{
	static const uint8_t limits[] = { 1, 3, RD };
	struct ibv_qp_attr attr, sqd = { .qp_state = IBV_QPS_SQD };
	struct ibv_qp_init_attr init;
	unsigned int i, good = 0;

	for (i = 0; i < 3; i++) {
		uint32_t before = __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);

		if (ibv_modify_qp(w->from->qp, &sqd, IBV_QP_STATE))
			break;
		do {
			t_sleep_us(1000);
			if (ibv_query_qp(w->from->qp, &attr, IBV_QP_STATE, &init))
				return;
		} while (attr.sq_draining);
		attr.max_rd_atomic = limits[i];
		if (ibv_modify_qp(w->from->qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC))
			break;
		attr.qp_state = IBV_QPS_RTS;
		if (ibv_modify_qp(w->from->qp, &attr, IBV_QP_STATE))
			break;
		good++;
		while (!w->broken && w->done < w->n && w->done < before + 100)
			t_sleep_us(100);
	}
	t_is(good, 3, "changes of max_rd_atomic under traffic");
}

struct race {
	const char *name;
	unsigned int qps;
	uint32_t n;
	bool from_b;
	bool by_cas;
	bool with_processor;
	bool with_changes;
};

static void race_open(const struct race *r, struct worker *w, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		memset(&w[i], 0, sizeof(w[i]));
		w[i].n = r->n;
		w[i].by_cas = r->by_cas;
		w[i].answer = calloc(r->n, sizeof(uint64_t));
		if (!w[i].answer)
			t_fatal("no memory");
		if (i < r->qps)
			link_open(&w[i].link);
		w[i].from = r->from_b ? &w[i].link.b : &w[i].link.a;
		w[i].at = r->from_b ? &w[0].link.a : &w[0].link.b;
	}
	*word(w[0].at, 0) = 0;
}

static void race(const struct race *r)
{
	static struct worker w[MAX_QPS + 1];
	unsigned int i, count = r->qps + r->with_processor, broken = 0;

	race_open(r, w, count);
	for (i = 0; i < count; i++)
		if (pthread_create(&w[i].thread, NULL, i < r->qps ? work :
				   add_by_processor, &w[i]))
			t_fatal("cannot start a thread");
	if (r->with_changes)
		change_limit(&w[0]);
	for (i = 0; i < count; i++) {
		pthread_join(w[i].thread, NULL);
		broken += w[i].broken;
	}
	t_is(broken, 0, "%s: queue pairs that failed", r->name);
	t_is(*word(w[0].at, 0), (long long)r->n * count, "%s: the counter",
	     r->name);
	check_answers(w, count, (uint64_t)r->n * count, r->name);
	for (i = 0; i < count; i++) {
		if (i < r->qps)
			t_link_close(&w[i].link);
		free(w[i].answer);
	}
}

static void races(uint32_t n, unsigned int qps, bool from_b)
{
	struct ibv_device *from = t_port[from_b].ctx->device;
	struct ibv_device *at = t_port[!from_b].ctx->device;
	struct race r = { .qps = qps, .n = n, .from_b = from_b };

	t_note("%s: %u queue pairs, %u additions each",
	       from_b ? "B to A" : "A to B", qps, n);
	r.name = "fetch and add";
	race(&r);
	if (t_options.completions)
		return;
	r.name = "with the processor";
	r.with_processor = true;
	if (rxodv_is_supported(at))	/* others promise less */
		race(&r);
	r.with_processor = false;
	r.name = "with changes";
	r.with_changes = true;
	if (rxodv_is_supported(from) && rxodv_is_supported(at))
		race(&r);
	r.with_changes = false;
	r.name = "compare and swap";
	r.by_cas = true;
	r.n = n / 5;
	race(&r);
}

int main(int argc, char **argv)
{
	uint32_t n;

	t_args(argc, argv, "Atomic operations.");
	if (!t_options.threads || t_options.threads > MAX_QPS)
		t_fatal("at most %d threads", MAX_QPS);
	t_open();
	n = t_options.completions ? t_options.completions : 1000;
	if (!t_options.completions)
		one_by_one();
	races(n, t_options.threads, false);
	races(n, t_options.threads, true);
	t_close();
	return t_done();
}
