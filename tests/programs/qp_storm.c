// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs that are destroyed in the middle of everything: each thread connects
 * two, has both send, and destroys them some milliseconds later, whatever is under
 * way then, packets, timers and time-outs among it; in the order and by the state
 * change that a random number says. The case sees to a bad network.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "t_link.h"

#define DEPTH		8
#define MESSAGE		12000
#define MAX_LIFE_US	20000
#define MAX_THREADS	64

static unsigned int rounds;

struct storm {
	pthread_t thread;
	uint64_t state;
	unsigned int done;
	unsigned int completed;		/* well */
};

static uint32_t rnd(struct storm *s)
{
	s->state = s->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return s->state >> 33;
}

static void post(struct t_end *from, struct t_end *to, unsigned int i)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ,
		IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct ibv_sge sge = { (uintptr_t)from->mem, MESSAGE, from->mr->lkey };
	struct ibv_sge room = { (uintptr_t)to->mem, MESSAGE, to->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1,
		.opcode = opcodes[i % 4], .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)to->mem + MESSAGE, to->mr->rkey },
	};

	t_post_recv(to, i, &room, 1);
	t_post_send(from, &wr);
}

static void take(struct storm *s, struct ibv_cq *cq)
{
	struct ibv_wc wc[2 * DEPTH];
	int i, n = ibv_poll_cq(cq, 2 * DEPTH, wc);

	for (i = 0; i < n; i++)
		s->completed += wc[i].status == IBV_WC_SUCCESS;
}

/* One end may have gone to ERR or RESET before, as a program that hurries does. */
static void end(struct storm *s, struct t_end *e)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	switch (rnd(s) % 4) {
	case 0:
		pair_to_err(e->qp);
		break;
	case 1:
		ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
		break;
	}
	if (ibv_destroy_qp(e->qp))
		t_true(false, "a QP that can be destroyed");
	e->qp = NULL;
}

static void one_round(struct storm *s, struct t_config *config)
{
	struct t_end *ends[2];
	struct t_link l;
	unsigned int i;

	t_link_open(&l, config);
	ends[0] = &l.a;
	ends[1] = &l.b;
	for (i = 0; i < DEPTH; i++)
		post(ends[i & 1], ends[!(i & 1)], i / 2);
	t_sleep_us(rnd(s) % MAX_LIFE_US);
	i = rnd(s) & 1;
	end(s, ends[i]);
	if (rnd(s) & 1)
		t_sleep_us(rnd(s) % MAX_LIFE_US);
	end(s, ends[!i]);
	take(s, l.a.scq);
	take(s, l.b.scq);
	t_link_close(&l);
}

static void *storm(void *arg)
{
	struct storm *s = arg;
	struct t_config config = {
		.cqe = 64, .send_wr = 16, .recv_wr = 16, .mem = 2 * MESSAGE,
	};

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.timeout = 10;	/* 4 ms */
	for (; s->done < rounds; s->done++)
		one_round(s, &config);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct storm storms[MAX_THREADS];
	unsigned int i, completed = 0, done = 0;
	struct t_link l;

	t_options.threads = 4;
	t_options.completions = 50;
	t_args(argc, argv, "Queue pairs destroyed under traffic.");
	rounds = t_options.completions;
	if (t_options.threads > MAX_THREADS)
		t_fatal("no more than %d threads", MAX_THREADS);
	t_open();
	for (i = 0; i < t_options.threads; i++) {
		storms[i].state = t_options.seed + i;
		if (pthread_create(&storms[i].thread, NULL, storm, &storms[i]))
			t_fatal("no thread");
	}
	for (i = 0; i < t_options.threads; i++) {
		pthread_join(storms[i].thread, NULL);
		done += storms[i].done;
		completed += storms[i].completed;
	}
	t_is(done, (long long)rounds * t_options.threads, "pairs destroyed");
	t_true(completed, "some of their %u requests got through: %u",
	       done * DEPTH, completed);

	/* The network is as bad as before. */
	t_link_open(&l, NULL);
	t_deliver(&l, 10, 0);
	t_link_close(&l);
	t_close();
	return t_done();
}
