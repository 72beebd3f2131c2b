// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * No memory for packets. They are sent later, and none is lost: most queue pairs here
 * have no time-out, so that nothing else would send them again.
 *
 * Runs in the namespace of the first device, whose netdev leaves it to the stack to cut
 * trains up.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fail_walk.h"
#include "t.h"
#include "t_link.h"
#include "t_ordered.h"

#define MODULE		"rxe_ordered"
#define LEN		20000	/* of a message: several packets, and a train */
#define STARVE_MS	1000
/* Further apart than this tries are never. */
#define MAX_WAIT_MS	41
#define PATIENCE_MS	2000

/* ------------------------------------------------------------------- counters */

static const char *const names[] = {
	"tx_no_memory", "tx_busy", "tx_no_route", "tx_drops", "retransmits",
	"timeouts", "ordered_holds", "ordered_probes",
};

enum {
	NO_MEMORY, BUSY, NO_ROUTE, DROPS, RETRANSMITS, TIMEOUTS, HOLDS, PROBES,
	COUNTERS,
};

static uint64_t at_start[COUNTERS];

/* Of both devices; the kernel shows them up to 10 ms late. */
static uint64_t counter(int which)
{
	return t_counter(0, names[which]) + t_counter(1, names[which]);
}

static void count_from_here(void)
{
	int i;

	t_sleep_us(20000);
	for (i = 0; i < COUNTERS; i++)
		at_start[i] = counter(i);
}

static unsigned int counted(int which)
{
	t_sleep_us(20000);
	return counter(which) - at_start[which];
}

/* ------------------------------------------------------------------- messages */

/* A SEND has no data. */
static void post(struct t_end *from, const struct t_end *to,
		 enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = { (uintptr_t)from->mem, LEN, from->mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = opcode, .sg_list = &sge,
		.num_sge = opcode != IBV_WR_SEND,
		.wr.rdma = { (uintptr_t)to->mem, to->mr->rkey },
	};

	if (t_post_send(from, &wr))
		t_fatal("cannot post a request");
}

/* A completion within PATIENCE_MS. */
static bool completes(struct ibv_cq *cq)
{
	uint64_t until = t_now_ms() + PATIENCE_MS;
	struct ibv_wc wc;

	while (!ibv_poll_cq(cq, 1, &wc)) {
		if (t_now_ms() > until)
			return false;
		t_sleep_us(1000);
	}
	return !wc.status;
}

static void post_write(struct t_link *l)
{
	static unsigned char round;

	memset(l->a.mem, ++round, LEN);
	memset(l->b.mem, 0, LEN);
	post(&l->a, &l->b, IBV_WR_RDMA_WRITE);
}

static void check_arrival(struct t_link *l, const char *what)
{
	t_true(completes(l->a.scq) && !memcmp(l->a.mem, l->b.mem, LEN),
	       "%s: it arrives", what);
}

/* The same, at the first go. */
static void check_not_lost(struct t_link *l, const char *what)
{
	check_arrival(l, what);
	t_is(counted(DROPS) + counted(NO_ROUTE), 0, "packets given up");
	t_is(counted(RETRANSMITS), 0, "packets sent again");
}

/* Connected, neighbours known. @timeout: code of both queue pairs, 0 for none. */
static void open_link(struct t_link *l, unsigned char timeout)
{
	struct t_config config = { .mem = LEN, .sig_all = true };

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.timeout = timeout;
	t_link_open(l, &config);
	post_write(l);
	check_arrival(l, "with memory");
	count_from_here();
}

/* --------------------------------------------------------------------- steps */

/* Tried again without end, and ever more seldom. */
static void test_packets(void)
{
	struct t_link l;
	struct ibv_wc wc;
	unsigned int n;

	open_link(&l, 0);
	fail_atomic_in(MODULE, NULL);
	fail_atomic(-1);
	post_write(&l);
	t_sleep_us(STARVE_MS * 1000);
	t_is(ibv_poll_cq(l.a.scq, 1, &wc), 0, "completions without memory");
	fail_atomic(0);
	check_not_lost(&l, "no memory for packets");
	n = counted(NO_MEMORY);
	t_true(n >= STARVE_MS / MAX_WAIT_MS && n <= STARVE_MS / MAX_WAIT_MS + 20,
	       "%u tries in %u ms", n, STARVE_MS);
	t_link_close(&l);
}

/* The route that a queue pair remembers, and that of the stack, are no longer good. */
static void forget_routes(void)
{
	static const char path[] = "/proc/sys/net/ipv4/route/flush";
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, "1", 1) != 1)
		t_fatal("%s: %s", path, strerror(errno));
	close(fd);
}

static void test_route(void)
{
	struct t_link l;
	unsigned int n;

	open_link(&l, 0);
	fail_atomic_in(NULL, "dst_alloc");
	forget_routes();
	fail_atomic(3);
	post_write(&l);
	check_not_lost(&l, "no memory for the route");
	fail_atomic(0);
	n = counted(NO_MEMORY);
	t_true(n >= 3, "tries without memory: %u", n);
	t_link_close(&l);
}

/* The stack is to cut a train up, and cannot, a few times or for good. */
static void test_stack(void)
{
	struct t_link l;
	unsigned int n;

	open_link(&l, 0);
	fail_atomic_in(NULL, "skb_segment");
	fail_atomic(3);
	post_write(&l);
	check_not_lost(&l, "the stack has no memory");
	fail_atomic(0);
	n = counted(BUSY);
	t_true(n >= 3, "refusals: %u", n);
	t_link_close(&l);

	open_link(&l, 14);
	fail_atomic(-1);
	post_write(&l);
	t_sleep_us(20000);
	fail_atomic(0);
	check_arrival(&l, "it has none for long");
	t_true(counted(DROPS), "packets given up: %u", counted(DROPS));
	t_link_close(&l);
}

/* The request is under way when memory ends. */
static void test_answers(void)
{
	struct t_link l;
	unsigned int n;

	open_link(&l, 0);
	memset(l.a.mem, 0xff, LEN);
	fail_atomic_in(MODULE, NULL);
	t_rule("rx read delay=20000");
	post(&l.a, &l.b, IBV_WR_RDMA_READ);
	fail_atomic(20);
	check_not_lost(&l, "no memory for answers");
	fail_atomic(0);
	t_rule("clear");
	n = counted(NO_MEMORY);
	t_true(n >= 20, "tries without memory: %u", n);
	t_link_close(&l);
}

/* ------------------------------------------------------- ordered completions */

/*
 * A receive is held, since the acknowledgement of the send before it is lost, and there
 * is no memory to ask for it. So it has not been asked for: it is as soon as there is
 * some, long before the time-out of half a second.
 */
static void test_probe(void)
{
	struct t_config config = { .sig_all = true, .create = t_create_ordered };
	struct t_link l;

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.timeout = 17;
	t_link_open(&l, &config);
	t_recv(&l.a, 1);
	t_recv(&l.b, 1);
	count_from_here();
	fail_atomic_in(MODULE, NULL);
	t_rule("tx ack drop");
	post(&l.a, &l.b, IBV_WR_SEND);
	t_true(completes(l.b.rcq), "the message arrives");
	post(&l.b, &l.a, IBV_WR_SEND);
	t_true(completes(l.b.scq), "the answer is acknowledged");
	/* Nothing has been timed yet, so 10 ms before the first would be due. */
	fail_atomic(-1);
	t_sleep_us(200000);
	t_is(counted(HOLDS), 1, "receives held");
	t_is(counted(PROBES), 0, "probes without memory");
	t_rule("clear");
	fail_atomic(0);
	t_true(completes(l.a.scq) && completes(l.a.rcq), "released");
	t_is(counted(PROBES), 1, "probes");
	t_is(counted(TIMEOUTS), 0, "time-outs");
	t_link_close(&l);
}

int main(int argc, char **argv)
{
	t_args(argc, argv, "Without memory for packets.");
	fail_prepare();
	t_open();
	test_packets();
	test_route();
	test_stack();
	test_answers();
	test_probe();
	fail_atomic_in(NULL, NULL);
	t_close();
	return t_done();
}
