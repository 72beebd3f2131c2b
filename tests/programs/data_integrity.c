// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Do all bytes arrive, in the right place, and no others? Every operation at lengths
 * on both sides of each path MTU, at odd alignments, in one piece and in many, in
 * both directions, posted and built by turns; then streams: unsignalled, fenced,
 * solicited, both ways at once. PSNs begin just before they wrap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "di_message.h"
#include "t.h"
#include "t_link.h"

#define PSN_BEFORE_WRAP	0xfffff0

static const uint32_t lengths[] = {
	0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 63, 64, 65, 127, 128, 129, 200,
	255, 256, 257, 300, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049,
	4095, 4096, 4097, 8191, 65536, DI_MAX_LEN,
};
static const unsigned int alignments[] = { 0, 1, 3, 7 };

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static unsigned int next_seed;
static unsigned int max_sge = DI_MAX_SGE;

static void link_open(struct t_link *l, enum ibv_mtu mtu)
{
	struct t_config config = {
		.sge = max_sge, .mem = DI_MEM, .create = di_create_qp,
	};

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.mtu = mtu;
	config.conn.psn = PSN_BEFORE_WRAP;
	t_link_open(l, &config);
}

static void find_max_sge(void)
{
	struct ibv_device_attr attr;
	int i;

	for (i = 0; i < 2; i++) {
		if (ibv_query_device(t_port[i].ctx, &attr))
			t_fatal("cannot query %s", t_options.dev[i]);
		if ((unsigned int)attr.max_sge < max_sge)
			max_sge = attr.max_sge;
	}
}

/* ----------------------------------------------------------- message by message */

/* Pieces: one, two, as many as may be, and what lies between, in turn. */
static unsigned int pieces(unsigned int turn)
{
	const unsigned int choice[] = { 1, 2, max_sge, 3, 5 };
	unsigned int n = choice[turn % COUNT(choice)];

	return n < max_sge ? n : max_sge;
}

static unsigned int at_length(struct t_end *from, struct t_end *to,
			      struct di_message *m)
{
	unsigned int i, rounds = COUNT(alignments), good = 0;

	if (m->len > 65536)
		rounds = 1;
	for (i = 0; i < rounds; i++) {
		unsigned int turn = next_seed;

		m->seed = next_seed++;
		m->align_src = alignments[i];
		m->align_dst = alignments[(i + turn / 4) % COUNT(alignments)];
		m->sge_src = pieces(turn);
		m->sge_dst = pieces(turn / COUNT(alignments));
		if (!di_transfer(from, to, m))
			return good;
		good++;
	}
	return good;
}

/* All lengths of one operation; stops at the first that fails. */
static void one_op(struct t_end *from, struct t_end *to, struct di_message m,
		   int mtu, const char *direction)
{
	unsigned int i, n = 0, good;
	unsigned int failed = t_failed();

	for (i = 0; i < COUNT(lengths); i++) {
		if (m.is_inline && lengths[i] > from->cap.max_inline_data)
			break;
		m.len = lengths[i];
		good = at_length(from, to, &m);
		n += good;
		if (t_failed() != failed)
			return;
	}
	t_true(true, "MTU %d, %s, %s%s: %u messages", mtu, direction,
	       di_op_name[m.op], m.is_inline ? " inline" : "", n);
}

static bool all_ops(struct t_end *from, struct t_end *to, int mtu,
		    const char *direction)
{
	struct di_message m = { 0 };

	for (m.op = 0; m.op < DI_NUM_OPS; m.op++) {
		one_op(from, to, m, mtu, direction);
		if (t_failed())
			return false;
	}
	m.is_inline = true;
	for (m.op = 0; m.op < DI_READ; m.op++) {
		one_op(from, to, m, mtu, direction);
		if (t_failed())
			return false;
	}
	return true;
}

static void one_mtu(enum ibv_mtu mtu)
{
	int bytes = 128 << mtu;
	struct t_link l;

	link_open(&l, mtu);
	if (all_ops(&l.a, &l.b, bytes, "A to B"))
		all_ops(&l.b, &l.a, bytes, "B to A");
	t_is(t_drop_all(l.a.scq) + t_drop_all(l.a.rcq) + t_drop_all(l.b.scq) +
	     t_drop_all(l.b.rcq), 0, "MTU %d: completions left over", bytes);
	t_link_close(&l);
}

/* ------------------------------------------------------------------------ streams */

#define STREAM		64	/* messages */
#define SLOT		8192	/* bytes of memory for each */

/* Message i of a stream that @end sends. */
static uint32_t stream_len(const struct t_end *end, unsigned int i)
{
	return (i * 1237 + (end->qp->qp_num & 0xff)) % (SLOT / 2);
}

static unsigned int stream_seed(const struct t_end *end, unsigned int i)
{
	return end->qp->qp_num * 1000 + i;
}

static void stream_sge(struct t_end *end, unsigned int i, uint32_t len,
		       bool is_source, struct di_layout *layout)
{
	unsigned char *base = end->mem + (is_source ? 0 : DI_AREA) + i * SLOT;

	di_layout_make(layout, base, end->mr->lkey, len, i & 7, 1, 0);
}

static void stream_receives(struct t_end *to)
{
	struct di_layout layout;
	unsigned int i;

	for (i = 0; i < STREAM; i++) {
		stream_sge(to, i, SLOT / 2, false, &layout);
		if (t_post_recv(to, i, layout.sge, 1))
			t_fatal("cannot post a receive");
	}
}

/* The whole stream as one chain; only the last asks for a completion. */
static void stream_post(struct t_end *from)
{
	struct ibv_send_wr wr[STREAM], *bad;
	struct di_layout layout[STREAM];
	unsigned int i;
	int err;

	for (i = 0; i < STREAM; i++) {
		stream_sge(from, i, stream_len(from, i), true, &layout[i]);
		di_layout_fill(&layout[i], di_data(stream_seed(from, i)));
		wr[i] = (struct ibv_send_wr){
			.wr_id = i,
			.next = i + 1 < STREAM ? &wr[i + 1] : NULL,
			.opcode = IBV_WR_SEND,
			.send_flags = i + 1 < STREAM ? 0 : IBV_SEND_SIGNALED,
			.sg_list = layout[i].sge,
			.num_sge = 1,
		};
	}
	err = ibv_post_send(from->qp, wr, &bad);
	if (err)
		t_fatal("cannot post a chain: %s", strerror(err));
}

static void stream_check(struct t_end *from, struct t_end *to, const char *what)
{
	unsigned char *base;
	struct ibv_wc wc[STREAM];
	unsigned int i, bad_order = 0, bad_len = 0, bad_data = 0;
	uint32_t len;
	int n;

	n = t_wait(from->scq, wc, 1);
	t_true(n == 1 && wc[0].status == IBV_WC_SUCCESS &&
	       wc[0].wr_id == STREAM - 1, "%s: the last send completes", what);
	n = t_wait(to->rcq, wc, STREAM);
	t_is(n, STREAM, "%s: receives", what);
	for (i = 0; i < (unsigned int)n; i++) {
		len = stream_len(from, i);
		base = to->mem + DI_AREA + i * SLOT;
		bad_order += wc[i].wr_id != i;
		bad_len += wc[i].byte_len != len;
		/* One piece, after the guard and the alignment. */
		base = (unsigned char *)(((uintptr_t)base + DI_GUARD + 7) & ~7UL) +
		       (i & 7);
		bad_data += memcmp(base, di_data(stream_seed(from, i)), len) != 0;
	}
	t_is(bad_order, 0, "%s: receives out of order", what);
	t_is(bad_len, 0, "%s: wrong lengths", what);
	t_is(bad_data, 0, "%s: wrong contents", what);
	t_is(t_drop_all(from->scq), 0, "%s: completions of unsignalled sends", what);
}

static void test_unsignalled(struct t_link *l)
{
	stream_receives(&l->b);
	stream_post(&l->a);
	stream_check(&l->a, &l->b, "unsignalled");
}

static void test_both_ways(struct t_link *l)
{
	stream_receives(&l->a);
	stream_receives(&l->b);
	stream_post(&l->a);
	stream_post(&l->b);
	stream_check(&l->a, &l->b, "both ways at once, A to B");
	stream_check(&l->b, &l->a, "both ways at once, B to A");
}

/* -------------------------------------------------------------------------- fence */

#define FENCE_LEN	50000

/* The SEND carries what the READ before it fetches; without a fence it would not. */
static bool fence_once(struct t_link *l, unsigned int seed)
{
	const unsigned char *data = di_data(seed);
	struct ibv_sge read = { (uintptr_t)l->a.mem, FENCE_LEN, l->a.mr->lkey };
	struct ibv_sge recv = { (uintptr_t)l->b.mem + DI_AREA, FENCE_LEN,
				l->b.mr->lkey };
	struct ibv_send_wr send_wr = {
		.wr_id = 2,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
		.sg_list = &read,
		.num_sge = 1,
	};
	struct ibv_send_wr read_wr = {
		.wr_id = 1,
		.next = &send_wr,
		.opcode = IBV_WR_RDMA_READ,
		.sg_list = &read,
		.num_sge = 1,
		.wr.rdma = { (uintptr_t)l->b.mem, l->b.mr->rkey },
	};
	struct ibv_wc wc;

	memset(l->a.mem, 0, FENCE_LEN);
	memcpy(l->b.mem, data, FENCE_LEN);
	memset(l->b.mem + DI_AREA, 0, FENCE_LEN);
	if (t_post_recv(&l->b, seed, &recv, 1) || t_post_send(&l->a, &read_wr))
		t_fatal("cannot post");
	return t_wait(l->a.scq, &wc, 1) == 1 && wc.status == IBV_WC_SUCCESS &&
	       wc.wr_id == 2 && t_wait(l->b.rcq, &wc, 1) == 1 &&
	       wc.status == IBV_WC_SUCCESS &&
	       !memcmp(l->b.mem + DI_AREA, data, FENCE_LEN);
}

static void test_fence(struct t_link *l)
{
	unsigned int i, good = 0;

	for (i = 0; i < 20; i++)
		good += fence_once(l, i);
	t_is(good, 20, "fenced SENDs that carry what was read before");
}

/* ---------------------------------------------------------------------- solicited */

static void test_solicited(struct t_link *l)
{
	ibv_req_notify_cq(l->b.rcq, 1);
	t_deliver(l, 3, 0);
	t_is(t_events(l->b.channel), 0, "events of sends that are not solicited");
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_true(t_event(l->b.channel, 2000) == l->b.rcq,
	       "an event of one that is");
	t_drop_all(l->b.rcq);
}

/* WRITEs to the same place: the last one wins, bytes of it lie nowhere else. */
static void test_write_order(struct t_link *l)
{
	struct ibv_sge sge = { .length = 3000, .lkey = l->a.mr->lkey };
	unsigned int i, n = 32, good = 0, round;
	struct ibv_wc wc;

	for (round = 0; round < 10; round++) {
		for (i = 0; i < n; i++) {
			struct ibv_send_wr wr = {
				.opcode = IBV_WR_RDMA_WRITE,
				.send_flags = i + 1 < n ? 0 : IBV_SEND_SIGNALED,
				.sg_list = &sge,
				.num_sge = 1,
				.wr.rdma = { (uintptr_t)l->b.mem, l->b.mr->rkey },
			};

			sge.addr = (uintptr_t)l->a.mem + i * sge.length;
			memset(l->a.mem + i * sge.length, round + i, sge.length);
			if (t_post_send(&l->a, &wr))
				t_fatal("cannot post a WRITE");
		}
		if (t_wait(l->a.scq, &wc, 1) == 1 && wc.status == IBV_WC_SUCCESS &&
		    !memcmp(l->b.mem, l->a.mem + (n - 1) * sge.length, sge.length))
			good++;
	}
	t_is(good, 10, "rounds of WRITEs to one place in which the last one wins");
}

int main(int argc, char **argv)
{
	enum ibv_mtu mtu, max_mtu;
	struct t_link l;

	t_args(argc, argv, "Every byte of every operation.");
	di_init();
	t_open();
	find_max_sge();
	max_mtu = t_port[0].attr.active_mtu < t_port[1].attr.active_mtu ?
		  t_port[0].attr.active_mtu : t_port[1].attr.active_mtu;
	for (mtu = IBV_MTU_256; mtu <= max_mtu && !t_failed(); mtu++)
		one_mtu(mtu);
	t_true(di_built(), "%u messages by builders", di_built());
	for (; mtu <= IBV_MTU_4096; mtu++)
		t_skip("MTU %d: the port is at %d", 128 << mtu, 128 << max_mtu);

	link_open(&l, IBV_MTU_1024);
	test_unsignalled(&l);
	test_both_ways(&l);
	test_fence(&l);
	test_solicited(&l);
	test_write_order(&l);
	t_link_close(&l);
	t_close();
	return t_done();
}
