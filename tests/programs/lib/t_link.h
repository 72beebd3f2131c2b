/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two ends with everything that a test needs: CQs, a channel, a connected QP and
 * registered memory. Whatever goes wrong in making them ends the program.
 */
#ifndef T_LINK_H
#define T_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "pair.h"
#include "t.h"

/* The two devices of the options, opened by t_open(). */
extern struct pair_port t_port[2];

/**
 * struct t_config - what t_link_open() is to make, zero for the defaults
 * @cqe: entries of each CQ (256)
 * @send_wr: of each QP (128)
 * @recv_wr: of each QP (128)
 * @sge: scatter-gather entries of a request (4)
 * @max_inline: bytes of inline data (64)
 * @mem: bytes of registered memory (64 KiB)
 * @sig_all: every send asks for a completion
 * @create: instead of ibv_create_qp()
 * @unconnected: leave the QPs in RESET
 * @conn: attributes of the connection; defaults if its mtu is 0
 */
struct t_config {
	int cqe;
	uint32_t send_wr;
	uint32_t recv_wr;
	uint32_t sge;
	uint32_t max_inline;
	size_t mem;
	bool sig_all;
	struct ibv_qp *(*create)(struct ibv_pd *pd,
				 struct ibv_qp_init_attr *attr);
	bool unconnected;
	struct pair_conn conn;
};

/**
 * struct t_end - one end
 * @port: its device
 * @channel: of both CQs; does not block
 * @scq: completions of sends
 * @rcq: of receives
 * @qp: queue pair
 * @cap: what the QP was granted
 * @mem: memory, with all access rights
 * @mr: its region
 * @receives: receives posted by t_recv() so far
 */
struct t_end {
	const struct pair_port *port;
	struct ibv_comp_channel *channel;
	struct ibv_cq *scq;
	struct ibv_cq *rcq;
	struct ibv_qp *qp;
	struct ibv_qp_cap cap;
	unsigned char *mem;
	size_t mem_len;
	struct ibv_mr *mr;
	uint64_t receives;
};

struct t_link {
	struct t_end a;
	struct t_end b;
	struct pair_conn conn;
	uint32_t sent;		/* by t_send() */
};

/* ------------------------------------------------------------ make, take down */

/**
 * t_open - open both devices of the options
 */
void t_open(void);

/**
 * t_close - close them
 */
void t_close(void);

/**
 * t_link_open - make two connected ends
 * @link: filled in
 * @config: how, or NULL
 */
void t_link_open(struct t_link *link, const struct t_config *config);

/**
 * t_link_close - destroy them; if that fails, a check has failed
 * @link: made by t_link_open(); what is NULL has been destroyed already
 */
void t_link_close(struct t_link *link);

/**
 * t_channel - make a completion channel that does not block
 * @port: on which device
 */
struct ibv_comp_channel *t_channel(const struct pair_port *port);

/**
 * t_qp - make a queue pair in RESET
 * @end: with its CQs
 * @config: sizes
 */
struct ibv_qp *t_qp(struct t_end *end, const struct t_config *config);

/* ------------------------------------------------------------------- requests */

/**
 * t_post_send - post one send request
 *
 * Return: 0 or a positive errno.
 */
int t_post_send(struct t_end *end, struct ibv_send_wr *wr);

/**
 * t_post_recv - post one receive
 * @wr_id: its id
 * @sge: where to, @num_sge of them
 *
 * Return: 0 or a positive errno.
 */
int t_post_recv(struct t_end *end, uint64_t wr_id, struct ibv_sge *sge,
		int num_sge);

/**
 * t_recv - post receives without room for data, numbered on
 * @end: where
 * @n: how many
 */
void t_recv(struct t_end *end, unsigned int n);

/**
 * t_send - send numbered messages without data from a to b
 * @link: link; t_recv() was called
 * @n: how many
 * @flags: IBV_SEND_SOLICITED or 0
 *
 * Waits for the completion of the last send. The responder adds its completion
 * before it acknowledges, so all receive completions have been added by then.
 */
void t_send(struct t_link *link, unsigned int n, int flags);

/**
 * t_deliver - t_recv() and t_send()
 */
void t_deliver(struct t_link *link, unsigned int n, int flags);

/**
 * t_number - the number of a message
 * @wc: its receive completion
 */
uint32_t t_number(const struct ibv_wc *wc);

/* ---------------------------------------------------------------- completions */

/**
 * t_wait - wait for completions
 * @cq: CQ
 * @wc: the completions
 * @n: how many
 *
 * Return: how many came within T_WAIT_MS of the one before.
 */
int t_wait(struct ibv_cq *cq, struct ibv_wc *wc, int n);

#define T_WAIT_MS	(10000 * t_slow())

/**
 * t_wait_status - wait for a completion and check its status
 * @cq: CQ
 * @want: status
 * @what: of what
 *
 * Return: whether it came with that status.
 */
bool t_wait_status(struct ibv_cq *cq, enum ibv_wc_status want,
		   const char *what);

/**
 * t_drop_all - poll and forget whatever is in a CQ
 * @cq: CQ
 *
 * Return: how many there were.
 */
unsigned int t_drop_all(struct ibv_cq *cq);

/* --------------------------------------------------------------------- events */

/**
 * t_event - take one completion event and acknowledge it
 * @channel: channel
 * @ms: how long to wait for it
 *
 * Return: its CQ, or NULL if there was none.
 */
struct ibv_cq *t_event(struct ibv_comp_channel *channel, int ms);

/**
 * t_events - take all completion events that come
 * @channel: channel
 *
 * Return: how many there were until none came for T_QUIET_MS.
 */
unsigned int t_events(struct ibv_comp_channel *channel);

#define T_QUIET_MS	20

/**
 * t_expect_events - check how many events there are, after waiting for that many
 * @channel: channel
 * @want: how many there should be
 * @what: of what
 */
void t_expect_events(struct ibv_comp_channel *channel, unsigned int want,
		     const char *what);

/**
 * t_async - wait for an asynchronous event and acknowledge it
 * @port: device
 * @event: filled in
 * @ms: how long to wait
 *
 * Return: whether there was one.
 */
bool t_async(const struct pair_port *port, struct ibv_async_event *event,
	     int ms);

/* ----------------------------------------------------------- what the driver has */

/**
 * t_rule - a rule of the fault layer for the second device
 * @text: the rule, or "clear"
 */
void t_rule(const char *text);

/**
 * t_counter - a hardware counter
 * @which: device of the options, 0 or 1
 * @name: of the counter
 */
uint64_t t_counter(int which, const char *name);

/**
 * t_state - the state of a queue pair, asked from the driver
 * @qp: queue pair
 */
enum ibv_qp_state t_state(struct ibv_qp *qp);

#endif /* T_LINK_H */
