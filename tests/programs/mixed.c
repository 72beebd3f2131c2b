// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * For a bad network: operations of all kinds in random order, --completions N in each
 * direction of one queue pair and 16 of them under way at a time, so that what is sent
 * again meets everything else that is on its way. At each completion every byte of both
 * ends is compared, guards included; what atomics find counts up by one.
 *
 * Then an eighth of that with long messages and the smallest path MTU. The PSNs wrap
 * early in both. With --from only one of the directions.
 */
#include <stdlib.h>
#include <string.h>

#include "di_message.h"
#include "t.h"
#include "t_link.h"

#define WINDOW	16	/* operations of a flow under way */
#define PIECES	4
#define LONGEST	65536
#define SLOT	(LONGEST + 4096)
#define COUNTER	(2 * WINDOW * SLOT)	/* behind the slots of both flows */
#define MEM	(COUNTER + 4096)

/* Beside those of enum di_op. */
enum { ADD = DI_NUM_OPS, SWAP, NUM_KINDS };

static const struct {
	enum ibv_wr_opcode request;
	enum ibv_wc_opcode done;
	const char *name;
} kinds[NUM_KINDS] = {
	[DI_SEND] = { IBV_WR_SEND, IBV_WC_SEND, "SEND" },
	[DI_SEND_IMM] = { IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, "SEND_WITH_IMM" },
	[DI_WRITE] = { IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, "WRITE" },
	[DI_WRITE_IMM] = { IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
			   "WRITE_WITH_IMM" },
	[DI_READ] = { IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, "READ" },
	[ADD] = { IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD, "FETCH_ADD" },
	[SWAP] = { IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, "CMP_SWAP" },
};

static const struct {
	enum ibv_mtu mtu;
	uint32_t longest;
	unsigned int share;	/* of --completions, one in that many */
} parts[] = {
	{ IBV_MTU_1024, 16384, 1 },
	{ IBV_MTU_256, LONGEST, 8 },
};

/**
 * struct op - one operation
 * @nr: number within its flow
 * @len: bytes of data
 * @receive: which of the receives of its flow it consumes
 * @pending: completions that have not come
 * @local: at the requester
 * @remote: at the responder
 * @found: an atomic finds that
 * @data: what both ends hold in the end
 */
struct op {
	unsigned int kind;
	uint32_t nr;
	uint32_t len;
	uint32_t receive;
	unsigned int pending;
	struct di_layout local;
	struct di_layout remote;
	uint64_t found;
	const unsigned char *data;
};

/**
 * struct flow - one direction
 * @which: its half of the slots
 * @total: how many operations it is to have
 */
struct flow {
	struct t_end *from;
	struct t_end *to;
	unsigned int which;
	uint32_t longest;
	uint32_t total;
	uint32_t posted;
	uint32_t completed;
	uint32_t receives;	/* posted */
	uint32_t received;
	uint64_t atomics;	/* posted */
	struct op op[WINDOW];
};

static unsigned int random_state;

static unsigned int random_below(unsigned int n)
{
	return rand_r(&random_state) % n;
}

static bool is_send(const struct op *op)
{
	return op->kind == DI_SEND || op->kind == DI_SEND_IMM;
}

static bool has_imm(const struct op *op)
{
	return op->kind == DI_SEND_IMM || op->kind == DI_WRITE_IMM;
}

static bool has_receive(const struct op *op)
{
	return is_send(op) || op->kind == DI_WRITE_IMM;
}

static bool is_atomic(const struct op *op)
{
	return op->kind >= DI_NUM_OPS;
}

/* ------------------------------------------------------------------------ post */

static unsigned char *slot(const struct flow *f, const struct t_end *end,
			   uint32_t nr)
{
	return end->mem + (size_t)(f->which * WINDOW + nr % WINDOW) * SLOT;
}

/* Of the atomics that come to this end. */
static uint64_t *counter(const struct t_end *end)
{
	return (uint64_t *)(void *)(end->mem + COUNTER);
}

static void lay_out(struct flow *f, struct op *op)
{
	uint32_t room = op->len;
	unsigned int pieces = 1;

	if (is_send(op)) {
		room += random_below(DI_EXTRA + 1);
		pieces += random_below(PIECES);
	}
	di_layout_make(&op->local, slot(f, f->from, op->nr), f->from->mr->lkey,
		       op->len, random_below(8), 1 + random_below(PIECES),
		       random_below(RAND_MAX));
	di_layout_make(&op->remote, slot(f, f->to, op->nr), f->to->mr->lkey,
		       room, random_below(8), pieces, random_below(RAND_MAX));
	if (!is_atomic(op))
		di_layout_fill(op->kind == DI_READ ? &op->remote : &op->local,
			       op->data);
}

static void make(struct flow *f, struct op *op)
{
	*op = (struct op){
		.kind = random_below(NUM_KINDS),
		.nr = f->posted,
		.len = random_below(2 + random_below(f->longest)),
		.data = di_data(random_below(RAND_MAX)),
		.pending = 1,
	};
	if (is_atomic(op)) {
		op->len = sizeof(op->found);
		op->found = f->atomics++;
		op->data = (const unsigned char *)&op->found;
	}
	if (has_receive(op)) {
		op->receive = f->receives++;
		op->pending = 2;
	}
	lay_out(f, op);
}

static void aim(const struct flow *f, const struct op *op,
		struct ibv_send_wr *wr)
{
	if (is_atomic(op)) {
		wr->wr.atomic.remote_addr = (uintptr_t)counter(f->to);
		wr->wr.atomic.rkey = f->to->mr->rkey;
		wr->wr.atomic.compare_add = op->kind == ADD ? 1 : op->found;
		wr->wr.atomic.swap = op->found + 1;
	} else if (!is_send(op)) {
		wr->wr.rdma.remote_addr = op->remote.sge[0].addr;
		wr->wr.rdma.rkey = f->to->mr->rkey;
	}
}

static void post_next(struct flow *f)
{
	struct op *op = &f->op[f->posted % WINDOW];
	struct ibv_send_wr wr = {
		.wr_id = f->posted,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = f->posted,
	};
	int err = 0;

	make(f, op);
	wr.opcode = kinds[op->kind].request;
	wr.sg_list = op->local.sge;
	wr.num_sge = op->local.num;
	aim(f, op, &wr);
	if (has_receive(op))
		err = t_post_recv(f->to, op->nr, op->remote.sge,
				  is_send(op) ? op->remote.num : 0);
	if (!err)
		err = t_post_send(f->from, &wr);
	if (err)
		t_fatal("posting %s: %s", kinds[op->kind].name, strerror(err));
	f->posted++;
}

/* ----------------------------------------------------------------- completions */

static bool bad(const struct flow *f, const struct op *op, const char *what,
		long saw)
{
	return t_true(false, "from %c, %s %u of %u bytes: %s %ld",
		      'A' + (int)f->which, kinds[op->kind].name, op->nr,
		      op->len, what, saw);
}

/* Both ends as they must be when either knows that it is done. */
static bool check_memory(const struct flow *f, const struct op *op)
{
	long at;

	at = di_layout_check(&op->local, op->data, op->len);
	if (at >= 0)
		return bad(f, op, "requester differs at offset", at);
	at = di_layout_check(&op->remote, op->data,
			     is_atomic(op) ? 0 : op->len);
	if (at >= 0)
		return bad(f, op, "responder differs at offset", at);
	return true;
}

static bool check_send(const struct flow *f, const struct op *op,
		       const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		return bad(f, op, "send status", wc->status);
	if (wc->wr_id != op->nr)
		return bad(f, op, "send wr_id", wc->wr_id);
	if (wc->opcode != kinds[op->kind].done)
		return bad(f, op, "send opcode", wc->opcode);
	return check_memory(f, op);
}

static bool check_recv(const struct flow *f, const struct op *op,
		       const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		return bad(f, op, "receive status", wc->status);
	if (wc->wr_id != op->nr || !has_receive(op) || op->receive != f->received)
		return bad(f, op, "receive wr_id", wc->wr_id);
	if (wc->byte_len != op->len)
		return bad(f, op, "receive byte_len", wc->byte_len);
	if (has_imm(op) != !!(wc->wc_flags & IBV_WC_WITH_IMM))
		return bad(f, op, "receive wc_flags", wc->wc_flags);
	if (has_imm(op) && wc->imm_data != op->nr)
		return bad(f, op, "receive imm_data", wc->imm_data);
	return check_memory(f, op);
}

static bool poll_send(struct flow *f)
{
	struct op *op = &f->op[f->completed % WINDOW];
	struct ibv_wc wc;

	if (ibv_poll_cq(f->from->scq, 1, &wc) <= 0 || !check_send(f, op, &wc))
		return false;
	op->pending--;
	f->completed++;
	return true;
}

static bool poll_recv(struct flow *f)
{
	struct ibv_wc wc;
	struct op *op;

	if (ibv_poll_cq(f->to->rcq, 1, &wc) <= 0)
		return false;
	op = &f->op[wc.wr_id % WINDOW];
	if (!check_recv(f, op, &wc))
		return false;
	op->pending--;
	f->received++;
	return true;
}

/* ------------------------------------------------------------------------- run */

static bool is_done(const struct flow *f)
{
	return f->completed == f->total && f->received == f->receives;
}

/* Whatever can be done now. Return: whether anything has completed. */
static bool step(struct flow *f)
{
	bool any = false;

	while (f->posted < f->total && !f->op[f->posted % WINDOW].pending)
		post_next(f);
	while (poll_send(f))
		any = true;
	while (poll_recv(f))
		any = true;
	return any;
}

static void run(struct flow *f)
{
	uint64_t heard = t_now_ms();

	while (!t_failed() && (!is_done(&f[0]) || !is_done(&f[1]))) {
		if (step(&f[0]) | step(&f[1])) {
			heard = t_now_ms();
		} else if (t_now_ms() - heard > T_WAIT_MS) {
			t_true(false, "nothing completes any more");
			return;
		} else {
			t_sleep_us(100);
		}
	}
}

static bool is_asked_for(unsigned int direction)
{
	return !t_options.from || t_options.from == 'a' + (int)direction;
}

static void part(unsigned int i)
{
	static struct flow f[2];
	struct t_config config = { .mem = MEM, .sge = PIECES };
	uint32_t total = t_options.completions / parts[i].share;
	struct t_link l;
	unsigned int k;

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.mtu = parts[i].mtu;
	config.conn.psn = 0xffff00;
	config.conn.rd_atomic = 8;
	config.conn.access |= IBV_ACCESS_REMOTE_ATOMIC;
	t_link_open(&l, &config);
	memset(f, 0, sizeof(f));
	for (k = 0; k < 2; k++)
		f[k] = (struct flow){
			.from = k ? &l.b : &l.a,
			.to = k ? &l.a : &l.b,
			.which = k,
			.longest = parts[i].longest,
			.total = is_asked_for(k) ? total : 0,
		};
	run(f);
	for (k = 0; k < 2; k++) {
		t_is(f[k].completed, f[k].total,
		     "path MTU %d, up to %u bytes, from %c", 128 << parts[i].mtu,
		     parts[i].longest, 'A' + k);
		t_is(*counter(f[k].to), f[k].atomics, "atomics executed");
	}
	t_link_close(&l);
}

int main(int argc, char **argv)
{
	unsigned int i;

	t_options.completions = 1000;
	t_args(argc, argv, "Operations of all kinds under way both ways at once.");
	random_state = t_options.seed;
	di_init();
	t_open();
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && !t_failed(); i++)
		part(i);
	t_close();
	return t_done();
}
