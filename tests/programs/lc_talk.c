// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two devices, or one with itself, talk: SENDs both ways at once, a WRITE and a
 * READ, at lengths around the path MTU and at 64 KiB; every byte is compared.
 *
 * --completions is the number of rounds. With RXO_GO in the environment it goes
 * on until that file exists, a short round at a time, with RXO_PAUSE milliseconds
 * between them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t.h"
#include "t_link.h"

#define AREA	(64 * 1024)

/* Parts of the memory of each end. */
enum { SENT, RECEIVED, WRITTEN, READ, AREAS };

static unsigned int rounds_failed;

static unsigned char *area(const struct t_end *end, int which)
{
	return end->mem + (size_t)which * AREA;
}

static void fill(const struct t_end *end, unsigned int seed)
{
	unsigned char *p = area(end, SENT);
	size_t i;

	for (i = 0; i < AREA; i++)
		p[i] = (unsigned char)(seed + i + (i >> 8));
	memset(area(end, RECEIVED), 0xee, (AREAS - 1) * (size_t)AREA);
}

static void post(struct t_end *end, const struct t_end *peer,
		 enum ibv_wr_opcode opcode, int local, int remote, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)area(end, local),
		.length = len,
		.lkey = end->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err;

	wr.wr.rdma.remote_addr = (uintptr_t)area(peer, remote);
	wr.wr.rdma.rkey = peer->mr->rkey;
	err = t_post_send(end, &wr);
	if (err)
		t_fatal("cannot post a send: %s", strerror(err));
}

static void post_receive(struct t_end *end)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)area(end, RECEIVED),
		.length = AREA,
		.lkey = end->mr->lkey,
	};
	int err = t_post_recv(end, 0, &sge, 1);

	if (err)
		t_fatal("cannot post a receive: %s", strerror(err));
}

static void done(struct ibv_cq *cq, const char *what, uint32_t len)
{
	struct ibv_wc wc;

	if (t_wait(cq, &wc, 1) != 1)
		t_fatal("%s of %u bytes: no completion", what, len);
	if (wc.status != IBV_WC_SUCCESS)
		t_fatal("%s of %u bytes: %s", what, len,
			ibv_wc_status_str(wc.status));
}

static void compare(const struct t_end *end, int which, const struct t_end *peer,
		    const char *what, uint32_t len)
{
	if (!memcmp(area(end, which), area(peer, SENT), len))
		return;
	rounds_failed++;
	t_true(false, "%s of %u bytes: other bytes have arrived", what, len);
}

static void exchange(struct t_link *l, uint32_t len, unsigned int seed)
{
	fill(&l->a, seed);
	fill(&l->b, seed + 100);
	post_receive(&l->a);
	post_receive(&l->b);
	post(&l->a, &l->b, IBV_WR_SEND, SENT, 0, len);
	post(&l->b, &l->a, IBV_WR_SEND, SENT, 0, len);
	done(l->a.scq, "SEND from A", len);
	done(l->b.scq, "SEND from B", len);
	done(l->a.rcq, "receive at A", len);
	done(l->b.rcq, "receive at B", len);
	compare(&l->b, RECEIVED, &l->a, "SEND from A", len);
	compare(&l->a, RECEIVED, &l->b, "SEND from B", len);

	post(&l->a, &l->b, IBV_WR_RDMA_WRITE, SENT, WRITTEN, len);
	post(&l->b, &l->a, IBV_WR_RDMA_READ, READ, SENT, len);
	done(l->a.scq, "WRITE", len);
	done(l->b.scq, "READ", len);
	compare(&l->b, WRITTEN, &l->a, "WRITE", len);
	compare(&l->b, READ, &l->a, "READ", len);
}

static void all_lengths(struct t_link *l, unsigned int seed)
{
	uint32_t mtu = 128U << l->conn.mtu;
	const uint32_t lengths[] = { 1, mtu - 1, mtu, 3 * mtu + 1, AREA };
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		exchange(l, lengths[i], seed);
}

int main(int argc, char **argv)
{
	struct t_config config = { .mem = AREAS * AREA };
	const char *pause = getenv("RXO_PAUSE");
	const char *go = getenv("RXO_GO");
	unsigned int n = 0;
	struct t_link link;

	setvbuf(stdout, NULL, _IOLBF, 0);
	t_options.completions = 2;
	t_args(argc, argv, "Two devices talk, every byte is compared.");
	t_open();
	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	/* 0.5 s: a bond that fails over, or a busy machine, takes a while. */
	config.conn.timeout = 17;
	t_link_open(&link, &config);
	while (n < t_options.completions) {
		all_lengths(&link, n);
		n++;
	}
	t_note("talking");
	while (go && access(go, F_OK)) {
		exchange(&link, 9000, n);
		n++;
		if (pause)
			t_sleep_us(1000 * (unsigned int)atoi(pause));
	}
	t_true(!rounds_failed, "%u rounds, all bytes right", n);
	t_link_close(&link);
	t_close();
	return t_done();
}
