/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a responder keeps for requests that are answered with data, and the
 * answers still to be sent (IBTA 9.7.5.1.5, 9.7.5.1.7). A part of struct
 * rxo_resp: knows PSNs and positions, not when an answer may leave.
 *
 * Context: the owner of the QP.
 */
#ifndef RXO_RDRES_H
#define RXO_RDRES_H

#include "rxo_wire.h"

/* Upper limit of max_dest_rd_atomic. */
#define RXO_MAX_RD_ATOMIC 64
/* Of each kept request an answer, and a piece of it once more. */
#define RXO_MAX_RD_JOBS (2 * RXO_MAX_RD_ATOMIC)

/* A READ or atomic that is kept so that it can be answered again. */
struct rxo_rd_res {
	struct rxo_psn first;
	struct rxo_psn last;
	u64 va;			/* of the byte that first carries */
	u64 orig;		/* atomic: its result; never executed again */
	u32 rkey;
	u32 len;		/* READ */
	u32 msn;		/* after its execution */
	u8 opcode;		/* of the request */
};

/* Responses still to be sent: the PSNs @next .. @last of resource @res. */
struct rxo_rd_job {
	struct rxo_psn next;
	struct rxo_psn last;
	u32 res;		/* free-running index */
	struct rxo_psn from;	/* where the request began: this one is FIRST */
	u32 end;		/* ends before this byte of the resource */
	bool replay;		/* answers a duplicate */
};

struct rxo_rdres {
	u32 limit;		/* max_dest_rd_atomic */
	u8 mtu_shift;
	/* the newest @limit requests, in PSN order */
	struct rxo_rd_res res[RXO_MAX_RD_ATOMIC];
	u32 res_head;		/* free running: next to use */
	u32 res_count;		/* that are kept */
	struct rxo_rd_job job[RXO_MAX_RD_JOBS];
	u32 job_head;
	u32 job_tail;		/* job_tail == job_head: no job */
};

/* Everything is zero. */
void rxo_rdres_start(struct rxo_rdres *rd, u32 mtu, u32 limit);
/* What is no longer kept cannot be answered again. */
void rxo_rdres_set_limit(struct rxo_rdres *rd, u32 limit);

/* PSNs that the answer to @pkt, a READ or atomic, takes. */
u32 rxo_rdres_npsn(const struct rxo_rdres *rd, const struct rxo_pkt *pkt);

/* Are as many requests unanswered as were agreed on? */
bool rxo_rdres_is_full(const struct rxo_rdres *rd);
/*
 * The oldest PSN that is still to be answered must stay comparable to the
 * expected one, @epsn: a peer may not have more than 2^23 outstanding (IBTA
 * 9.7.2). Does it after @npsn more?
 */
bool rxo_rdres_has_span(const struct rxo_rdres *rd, struct rxo_psn epsn,
			u32 npsn);

/*
 * A new READ has been accepted, or an atomic executed with the result @orig;
 * @msn counts it. Not when full.
 */
void rxo_rdres_add(struct rxo_rdres *rd, const struct rxo_pkt *pkt, u64 orig,
		   u32 msn);
/*
 * A duplicate: answer it again. False: it is no piece of a request that is
 * kept, or its answer is still to come anyway, or two pieces of it are.
 */
bool rxo_rdres_replay(struct rxo_rdres *rd, const struct rxo_pkt *pkt);

static inline bool rxo_rdres_has_job(const struct rxo_rdres *rd)
{
	return rd->job_tail != rd->job_head;
}

/* Is an answer with a PSN before @psn still to be sent? */
bool rxo_rdres_owes_before(const struct rxo_rdres *rd, struct rxo_psn psn);

/* More than one request to be answered? */
static inline bool rxo_rdres_has_many(const struct rxo_rdres *rd)
{
	return rd->job_head - rd->job_tail > 1;
}

/* Where the payload of a READ response comes from. */
struct rxo_rd_src {
	u64 va;
	u32 rkey;
};

/* The next answer; there is a job. Fills in what is particular to it. */
void rxo_rdres_next(const struct rxo_rdres *rd, struct rxo_pkt *pkt,
		    struct rxo_rd_src *src);
/* It has been sent. */
void rxo_rdres_sent(struct rxo_rdres *rd);
/* No further answers. */
void rxo_rdres_cancel(struct rxo_rdres *rd);

/* Takes back rxo_rdres_sent(), if nothing else has happened since the mark. */
struct rxo_rd_mark {
	u32 job_tail;
	struct rxo_psn next;
};

struct rxo_rd_mark rxo_rdres_mark(const struct rxo_rdres *rd);
void rxo_rdres_rewind(struct rxo_rdres *rd, const struct rxo_rd_mark *mark);

#endif /* RXO_RDRES_H */
