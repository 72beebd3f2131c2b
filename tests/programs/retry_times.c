// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How long a requester tries, against the formulas of the specification: the
 * transport time-out 4.096 us * 2^t and its retries (IBTA 9.9.2.1, 11.6.2), the RNR
 * timer codes (table 45) and the RNR retries. For the virtual-time lane: there a
 * bound of a few per cent holds whatever else the machine does.
 */
#include <stdio.h>
#include <string.h>
#include <poll.h>

#include "t.h"
#include "t_link.h"

/* In hundredths of a millisecond. */
static const unsigned int rnr_times[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
	512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576,
	32768, 49152,
};

/* What posting, waking and a few packets may take on top. */
#define SLACK_US	3000

static struct t_link link_;
static uint64_t posted;		/* time of the last post_send() */

static void post_send(struct t_end *end)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	int err;

	posted = t_now_us();
	err = t_post_send(end, &wr);
	if (err)
		t_fatal("cannot post: %s", strerror(err));
}

/* Sleep until the CQ has a completion, at most @ms; the time since @begin. */
static uint64_t sleep_until_done(struct t_end *end, uint64_t begin, int ms,
				 struct ibv_wc *wc)
{
	struct pollfd fd = { .fd = end->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	wc->status = IBV_WC_GENERAL_ERR;
	if (ibv_req_notify_cq(end->scq, 0))
		t_fatal("cannot arm the CQ");
	if (ibv_poll_cq(end->scq, 1, wc) > 0)
		return t_now_us() - begin;
	if (poll(&fd, 1, ms) != 1 || ibv_get_cq_event(end->channel, &cq, &context))
		return UINT64_MAX;
	ibv_ack_cq_events(cq, 1);
	return ibv_poll_cq(end->scq, 1, wc) == 1 ? t_now_us() - begin :
						    UINT64_MAX;
}

static void open_link(const struct pair_conn *conn)
{
	struct t_config config = { .conn = *conn };

	t_link_open(&link_, &config);
}

static void close_link(void)
{
	t_drop_all(link_.a.scq);
	t_drop_all(link_.b.rcq);
	t_link_close(&link_);
}

static void is_about(uint64_t took, uint64_t want_us, const char *what,
		     unsigned int a, unsigned int b)
{
	t_true(took >= want_us && took <= want_us + want_us / 20 + SLACK_US * t_slow(),
	       "%s %u, retries %u: %llu us, by the formula %llu us", what, a, b,
	       (unsigned long long)took, (unsigned long long)want_us);
}

/* The peer does not exist any more: each try is answered by silence. */
static void test_timeout(unsigned int timeout, unsigned int retries)
{
	struct pair_conn conn;
	struct ibv_wc wc;
	uint64_t took;

	pair_conn_init(&conn, &t_port[0], &t_port[1]);
	conn.timeout = timeout;
	conn.retry = retries;
	open_link(&conn);
	ibv_destroy_qp(link_.b.qp);
	link_.b.qp = NULL;
	post_send(&link_.a);
	took = sleep_until_done(&link_.a, posted, 60000, &wc);
	t_is(wc.status, IBV_WC_RETRY_EXC_ERR, "time-out %u: status", timeout);
	is_about(took, (4096ULL << timeout) * (retries + 1) / 1000, "time-out",
		 timeout, retries);
	close_link();
}

static void test_no_timeout(void)
{
	struct pair_conn conn;
	struct ibv_wc wc;

	pair_conn_init(&conn, &t_port[0], &t_port[1]);
	conn.timeout = 0;
	open_link(&conn);
	ibv_destroy_qp(link_.b.qp);
	link_.b.qp = NULL;
	post_send(&link_.a);
	t_true(sleep_until_done(&link_.a, posted, 60000, &wc) == UINT64_MAX,
	       "time-out 0: waits for ever");
	close_link();
}

/* The peer has no receive. @retries below 7 end the request. */
static void test_rnr(unsigned int code, unsigned int retries)
{
	struct pair_conn conn;
	struct ibv_wc wc;
	uint64_t took;

	pair_conn_init(&conn, &t_port[0], &t_port[1]);
	conn.min_rnr = code;
	conn.rnr_retry = retries;
	open_link(&conn);
	post_send(&link_.a);
	took = sleep_until_done(&link_.a, posted, 60000, &wc);
	t_is(wc.status, IBV_WC_RNR_RETRY_EXC_ERR, "RNR code %u: status", code);
	is_about(took, rnr_times[code] * 10ULL * retries, "RNR code", code,
		 retries);
	close_link();
}

/* Seven is for ever: a receive that comes late is still found. */
static void test_rnr_for_ever(void)
{
	struct pair_conn conn;
	struct ibv_wc wc;
	uint64_t late;

	pair_conn_init(&conn, &t_port[0], &t_port[1]);
	conn.min_rnr = 14;		/* 1.28 ms */
	conn.rnr_retry = 7;
	open_link(&conn);
	post_send(&link_.a);
	t_true(sleep_until_done(&link_.a, posted, 2000, &wc) == UINT64_MAX,
	       "RNR retry 7: after 1,500 retries it still tries");
	t_recv(&link_.b, 1);
	late = t_now_us();
	t_true(sleep_until_done(&link_.a, late, 1000, &wc) <
	       2 * 1280 + SLACK_US * t_slow(), "and finds a receive within its timer");
	t_is(wc.status, IBV_WC_SUCCESS, "status");
	close_link();
}

int main(int argc, char **argv)
{
	static const unsigned char timeouts[][2] = {
		{ 14, 0 }, { 14, 1 }, { 14, 7 }, { 10, 7 }, { 12, 3 }, { 17, 2 },
		{ 19, 1 }, { 1, 7 }, { 20, 0 },
	};
	unsigned int i;

	t_args(argc, argv, "Retries against the formulas.");
	t_open();
	for (i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++)
		test_timeout(timeouts[i][0], timeouts[i][1]);
	test_no_timeout();
	for (i = 0; i < 32; i++)
		test_rnr(i, 1);
	for (i = 0; i < 7; i++)
		test_rnr(18, i);
	test_rnr_for_ever();
	t_close();
	return t_done();
}
