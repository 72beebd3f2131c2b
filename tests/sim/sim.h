/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The simulator: two nodes with up to 64 connections between them, each end a
 * requester and a responder of core/, two memories, a link in each direction and
 * a clock that jumps from event to event. One seed decides everything.
 *
 *   plan.c     draws what a seed stands for: links, attributes, workload
 *   world.c    events, the links, and what else happens to a connection
 *   glue.c     drives the core as the driver does: receive, execute, transmit
 *   app.c      what posts requests and receives and looks at completions
 *   memory.c   bytes, and who may touch them
 *   oracle_*.c what has to be true. Written from the specification: counts
 *	        sequence numbers without a wrap in 64 bits and looks at
 *	        packets, memory and completions, never at the state of the core
 *   trace.c    what happened, as text
 *
 * A violation prints the seed, and the same seed does the same again.
 */
#ifndef SIM_H
#define SIM_H

#include <setjmp.h>
#include <stdio.h>

#include "core/rxo_ack.h"
#include "core/rxo_icrc.h"
#include "core/rxo_key.h"
#include "core/rxo_order.h"
#include "core/rxo_qpfsm.h"
#include "core/rxo_reorder.h"
#include "core/rxo_req.h"
#include "core/rxo_resp.h"
#include "rng.h"

#define SIM_CONNS	64
#define SIM_SQ		64	/* send requests of a QP at most, 2^n */
#define SIM_OPS		(4 * SIM_SQ)	/* that the oracle remembers, 2^n */
#define SIM_RQ		64	/* receive requests of a QP at most, 2^n */
#define SIM_PACKETS	65536	/* in flight at most */
#define SIM_READS	512	/* READ requests that are remembered, 2^n */
#define SIM_PACKET_MAX	(RXO_MAX_HDR_LEN + RXO_MAX_MTU + 4 + RXO_ICRC_LEN)

#define NS_PER_US	1000ull
#define NS_PER_MS	1000000ull
#define NS_PER_S	1000000000ull

struct sim;
struct sim_conn;

/* ------------------------------------------------------------------- packets */

struct sim_packet {
	u8 b[SIM_PACKET_MAX];
	u32 len;		/* BTH to ICRC */
	u32 next;		/* in a receive queue, SIM_NONE: last */
	u32 to;			/* node */
	bool damaged;		/* by the link: must not get through */
	u64 arrived;
	u64 executed;		/* requests of the receiver that the sender had
				 * executed when it sent this
				 */
};

#define SIM_NONE U32_MAX

struct sim_link {
	/* plan; probabilities in 1 / 100,000 */
	u32 ps_per_byte;
	u64 delay_ns;
	u64 spread_ns;		/* added at random to what is overtaken */
	u32 late;		/* probability of that */
	u32 loss;
	u32 burst;		/* packets lost in a row, mean */
	u32 dup;
	u32 corrupt;
	u64 queue_ns;		/* backlog from which the sender has to wait */
	/* state */
	u64 free_at;		/* the last bit of what was sent has left */
	u64 down_until;
	bool in_burst;
};

/* ------------------------------------------------------------------ workload */

enum sim_fault {
	SIM_GOOD = 0,
	/* send requests */
	SIM_BAD_KEY,		/* remote key unknown */
	SIM_BAD_RANGE,		/* remote range not granted */
	SIM_BAD_ALIGN,		/* atomic on an odd address */
	SIM_BAD_LOCAL,		/* own buffer not accessible */
	SIM_BAD_ENTRY,		/* does not pass validation */
	/* receive requests */
	SIM_BAD_RECV,		/* malformed */
	SIM_BAD_RECV_LOCAL,	/* buffer not accessible */
};

/* A send request, as the application and the oracle know it. */
struct sim_op {
	u8 opcode;		/* enum rxe_ordered_wr_opcode */
	u8 flags;		/* enum rxe_ordered_send_flags */
	u8 fault;		/* enum sim_fault */
	bool racy;		/* READ of what was written meanwhile */
	u32 len;
	u32 rkey;
	__be32 imm;
	u64 raddr;
	u64 operand;		/* atomics: to add, or to store */
	u64 compare;
	u64 answer;		/* what was there before */
	u64 pattern;		/* of the bytes that are sent */
	u64 first;		/* sequence number, once it has begun */
	u32 npsn;
	bool begun;
	u64 posted_at;
};

struct sim_recv {
	u32 len;
	u8 fault;		/* enum sim_fault */
};

/* Received message that waits for its completion. */
struct sim_msg {
	u32 len;
	bool with_imm;
	bool is_write;
	bool solicited;
	__be32 imm;
	u64 must_be_done;	/* observable requests that have to be completed
				 * before it, in ordered mode
				 */
};

enum sim_app {
	SIM_APP_STREAM,		/* both ends, as many as fit */
	SIM_APP_ONE_WAY,
	SIM_APP_ANSWER,		/* a request for each message received */
	SIM_APP_TIGHT,		/* messages both ways, few receives */
	SIM_APP_COUNT
};

/* What is drawn for one end of a connection. */
struct sim_end_plan {
	struct rxo_req_cfg req;
	struct rxo_resp_cfg resp;
	u32 rd_part;
	u32 psn;
	u32 depth;		/* requests outstanding at most */
	u32 rq;			/* receives posted at most */
	u64 think_ns;		/* before the next request, at random up to */
	u64 recv_late_ns;	/* before a receive is posted again */
	u32 tx_burst;		/* packets in one step */
	u32 rx_batch;
	u32 busy;		/* chance of no memory, or of no room to send */
	u32 stall;		/* chance that a packet finds the QP not running */
	u32 keep;		/* packets kept before their turn at most, each way */
	bool ordered;		/* receives wait for what caused them */
	u64 stall_ns;
};

struct sim_conn_plan {
	struct sim_end_plan end[2];
	enum sim_app app;
	u32 mtu;
	u32 max_len;
	u32 area;		/* bytes of memory that the peer may touch */
	u32 weight[8];		/* of opcodes */
	u32 signalled;		/* chances, in 1 / 100,000 */
	u32 solicited;
	u32 fence;
	u32 bad_op;
	u32 bad_recv;
	u32 short_recv;
	/* mean time between, 0: never */
	u64 kill_ns;		/* the path is cut for good */
	u64 err_ns;		/* an end is moved to ERR */
	u64 revoke_ns;		/* the memory of an end is deregistered */
	u64 drain_ns;		/* SQD and back */
};

/* --------------------------------------------------------------------- ends */

/* Bytes and what they have to be. */
struct sim_area {
	u8 *mem;
	u8 *shadow;
	u32 size;
};

/*
 * Requests of one end, from its send queue to the memory of the peer, as the
 * oracle sees them. Sequence numbers count from 0 and do not wrap.
 */
struct sim_flow {
	struct sim_op op[SIM_OPS];
	u32 posted;		/* free-running indices into op */
	u32 done;		/* completed */
	/* seen on the wire */
	u32 begun;		/* the next that has not begun */
	u64 max;		/* first never sent */
	u64 una;		/* first not acknowledged */
	u64 acked;		/* first that no answer has acknowledged, but for
				 * results that are missing
				 */
	u32 una_op;		/* the request that una lies in */
	struct {
		u64 first, last;
	} read[SIM_READS];	/* READs and atomics sent, free running */
	u32 read_head, read_tail;
	u32 tries;		/* times that una was sent without an answer */
	bool gap_told;		/* an answer has said that una, or more, is missing */
	u32 rnr_naks;		/* in a row */
	u32 una_recvs;		/* requests before una_op that take a receive */
	bool limited;		/* the peer has told how many receives it has */
	u32 recv_limit;		/* one for each request with fewer before it */
	u64 rnr_until;
	u64 progress_at;
	u32 nak;		/* enum rxo_status that a NAK has told */
	u64 nak_at;
	/* at the peer */
	u32 exec_op;
	u32 exec_off;		/* bytes of it */
	u64 exec;		/* next sequence number */
	u32 recv_used;		/* messages that took a receive */
	u32 recv_error;		/* status that this receive must end with */
	u32 peer_error;		/* status that the peer's failure gives */
	u64 peer_error_at;	/* sequence number */
	u64 observed;		/* observable requests executed */
	u64 observed_done;	/* and completed */
	bool failed;		/* an error has been completed */
	bool no_recv;		/* last attempt found no receive */
	u64 sent_at;		/* last packet */
	u64 cut_at;		/* the path is dead since, 0: it is not */
};

/* Packets that came before their turn. */
struct sim_kept {
	struct rxo_reorder order;
	u32 packet[RXO_REORDER_WINDOW];
};

struct sim_end {
	struct sim *sim;
	struct sim_conn *conn;
	u32 side;
	const struct sim_end_plan *plan;
	/* the machines */
	struct rxo_req req;
	struct rxo_resp resp;
	struct rxo_swqe swqe[SIM_SQ];
	struct rxo_order order;
	struct rxo_hold hold[SIM_RQ];	/* of the receive in the same place */
	struct rxo_resp_next_act held[SIM_RQ];
	struct sim_kept kept_req, kept_ans;
	struct rxo_req_cfg req_cfg;
	enum rxo_qp_state state;
	u32 qpn;
	/* received, not looked at yet */
	u32 rx_first, rx_last;
	u32 rx_count;
	u64 stall_until;
	u64 received_at;	/* last success */
	u64 timer_at;		/* U64_MAX: none */
	u64 resume_at;		/* no room to send before; 0: there is */
	u64 refused_at;		/* last time that the link had no room */
	bool run_due;		/* a run event is on its way */
	bool post_due;
	bool recv_due;
	bool drain_wanted;	/* waits for the send queue to drain */
	bool knows_peer_gone;	/* that the peer is in ERR: the application */
	/* receives: free-running indices */
	struct sim_recv rq[SIM_RQ];
	u32 rq_head;		/* next to post */
	u32 rq_tail;		/* next to take */
	u32 rq_done;		/* completed */
	bool recv_kept;		/* taken for a packet that was then dropped */
	u32 credit;		/* answers due */
	u32 late_posts;		/* requests yet to be posted after an error */
	u32 late_recvs;
	struct sim_msg msg[SIM_RQ + 1];	/* free-running, oldest first */
	u32 msg_head, msg_tail;
	/* memory */
	struct sim_area target;	/* what the peer reads and writes */
	struct sim_area local;	/* one slot for each request */
	struct sim_area recv;	/* one slot for each receive */
	u32 slot;		/* bytes of a slot */
	u64 va;			/* of target, as the peer names it */
	u32 rkey;
	bool revoked;
	struct rng rng;		/* glue */
};

struct sim_conn {
	struct sim *sim;
	u32 index;
	u32 generation;
	struct sim_conn_plan plan;
	struct sim_end end[2];
	struct sim_flow flow[2];	/* flow[s]: requests of end[s] */
	bool over;		/* both ends have ended */
	bool cut[2];		/* packets to that side vanish */
	struct rng app;
	struct rng fate;
	u8 *memory;
	size_t memory_size;
	u64 born;
	u64 packets;
};

/* -------------------------------------------------------------------- events */

enum sim_event_kind {
	SIM_EV_ARRIVE,		/* arg: packet */
	SIM_EV_RUN,		/* arg: end */
	SIM_EV_TIMER,
	SIM_EV_POST,
	SIM_EV_RECV,
	SIM_EV_KILL,		/* arg: connection and generation */
	SIM_EV_ERR,
	SIM_EV_REVOKE,
	SIM_EV_DRAIN,
	SIM_EV_CUT_CHECK,
	SIM_EV_REBORN,
};

struct sim_event {
	u64 at;
	u64 order;		/* of those at the same instant */
	u32 kind;
	u32 arg;
	u32 generation;
};

struct sim_stats {
	u64 packets, lost, repeated, damaged, overtaken;
	u64 ops, bytes, errors, flushed, timeouts, rnr, retransmits;
	u64 connections, kept, held, probes;
};

struct sim {
	u64 seed;
	u64 now;
	bool trace;
	bool deadlock;		/* the scenario of ORDERING.md instead of a plan */
	u64 target;		/* packets after which nothing is posted */
	u64 end_at;		/* or time */
	u64 limit;		/* packets that cannot be */
	u64 drain_at;		/* when posting has ended */
	struct sim_link link[2];	/* link[n]: towards node n */
	struct rng link_rng;
	u32 n_conns;
	u32 n_over;
	u64 ended_at;		/* virtual */
	struct sim_conn *conn;
	struct sim_event *heap;
	u32 n_events, max_events;
	u64 order;
	struct sim_packet *packet;
	u32 *free;
	u32 n_free;
	struct sim_stats stats;
	jmp_buf failed;
	char failure[512];
};

static inline struct sim_end *sim_peer(const struct sim_end *e)
{
	return &e->conn->end[!e->side];
}

/* Requests of this end. */
static inline struct sim_flow *sim_flow(const struct sim_end *e)
{
	return &e->conn->flow[e->side];
}

/* Requests of the peer, which this end executes. */
static inline struct sim_flow *sim_peer_flow(const struct sim_end *e)
{
	return &e->conn->flow[!e->side];
}

static inline struct sim_op *sim_op(struct sim_flow *f, u32 idx)
{
	return &f->op[idx % SIM_OPS];
}

static inline bool sim_is_send(u8 opcode)
{
	return opcode == RXE_ORDERED_WR_SEND ||
	       opcode == RXE_ORDERED_WR_SEND_WITH_IMM;
}

static inline bool sim_is_write(u8 opcode)
{
	return opcode == RXE_ORDERED_WR_RDMA_WRITE ||
	       opcode == RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM;
}

static inline bool sim_is_read(u8 opcode)
{
	return opcode == RXE_ORDERED_WR_RDMA_READ;
}

static inline bool sim_is_atomic(u8 opcode)
{
	return opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD;
}

/* Acknowledged by its result. */
static inline bool sim_has_result(u8 opcode)
{
	return sim_is_read(opcode) || sim_is_atomic(opcode);
}

static inline bool sim_has_imm(u8 opcode)
{
	return opcode == RXE_ORDERED_WR_SEND_WITH_IMM ||
	       opcode == RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM;
}

static inline bool sim_takes_recv(u8 opcode)
{
	return sim_is_send(opcode) ||
	       opcode == RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM;
}

/* A violation: ends the run of this seed. */
_Noreturn void sim_fail(const struct sim_end *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define SIM_CHECK(e, cond, ...) do {			\
	if (__builtin_expect(!(cond), 0))		\
		sim_fail(e, __VA_ARGS__);		\
} while (0)

/* plan.c */
void sim_plan(struct sim *sim);
void sim_plan_conn(struct sim_conn *conn);

/* world.c */
void sim_at(struct sim *sim, u64 at, enum sim_event_kind kind, u32 arg,
	    u32 generation);
void sim_at_end(struct sim_end *e, u64 at, enum sim_event_kind kind);
void sim_conn_born(struct sim_conn *conn);
/* False: the queue of the link is full. */
bool sim_link_has_room(const struct sim_end *e, u64 *when);
void sim_link_send(struct sim_end *from, const struct rxo_pkt *pkt,
		   const u8 *payload, u32 len);
void sim_packet_free(struct sim *sim, u32 index);
/* Run a seed. False: a violation, described in sim->failure. */
bool sim_run(struct sim *sim, u64 seed);
void sim_open(struct sim *sim);
void sim_close(struct sim *sim);

/* glue.c */
void sim_end_stop(struct sim_end *e);
void sim_end_start(struct sim_end *e);
void sim_end_rx(struct sim_end *e, u32 packet);
void sim_end_run(struct sim_end *e);
void sim_end_timer(struct sim_end *e);
void sim_end_error(struct sim_end *e);
void sim_end_drain(struct sim_end *e);
bool sim_icrc_ok(const u8 *b, u32 len);
void sim_icrc_put(u8 *b, u32 len);

/* app.c */
void sim_app_start(struct sim_end *e);
/* True: something has been posted. */
bool sim_app_step(struct sim_end *e);
void sim_app_post(struct sim_end *e);
void sim_app_post_recvs(struct sim_end *e);
bool sim_app_is_over(const struct sim_end *e);

/* memory.c */
void sim_memory_init(struct sim_conn *conn);
void sim_memory_free(struct sim_conn *conn);
void sim_pattern(u8 *dst, u64 pattern, u32 off, u32 len);
/* NULL: not allowed. */
u8 *sim_memory_remote(struct sim_end *e, u32 rkey, u64 va, u64 len);
/* Where a byte of the target area lies in it, whoever asks. */
u32 sim_memory_at(const struct sim_end *e, u64 va);
bool sim_area_is_right(const struct sim_area *area);

/* oracle_req.c: what leaves and reaches a requester */
void oracle_sends(struct sim_end *e, const struct rxo_pkt *pkt, u32 len);
void oracle_hears(struct sim_end *e, const struct rxo_pkt *pkt);
void oracle_completes(struct sim_end *e, const struct rxo_req_done *done);
void oracle_popped(struct sim_end *e);
void oracle_drained(struct sim_end *e);
void oracle_check_cut(struct sim_conn *conn);

/* oracle_resp.c: what a responder does */
void oracle_executes(struct sim_end *e, const struct rxo_pkt *pkt,
		     const struct rxo_resp_act *act, enum rxo_resp_result res,
		     u64 executed);
void oracle_receives(struct sim_end *e, const struct rxo_resp_next_act *next);
void oracle_answers(struct sim_end *e, const struct rxo_pkt *pkt,
		    const u8 *payload, u32 len);
void oracle_answer_refused(struct sim_end *e, const struct rxo_pkt *pkt);
void oracle_ended(struct sim_conn *conn);

/* What both halves need. */
s64 oracle_seq(u32 psn, u32 start, u64 near);
struct sim_op *oracle_find(struct sim_flow *f, u64 seq, u32 *idx);
/* IBTA table 47: powers of two and three halves of them. */
static inline u32 oracle_credits(u32 value)
{
	if (value < 4)
		return value;
	return value & 1 ? 3u << (value - 3) / 2 : 1u << value / 2;
}

u32 oracle_npsn(const struct sim_conn *conn, u32 len);

/* trace.c */
void sim_trace(const struct sim_end *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *sim_trace_pkt(const struct rxo_pkt *pkt);

#define SIM_TRACE(e, ...) do {				\
	if (__builtin_expect((e)->sim->trace, 0))	\
		sim_trace(e, __VA_ARGS__);		\
} while (0)

#endif /* SIM_H */
