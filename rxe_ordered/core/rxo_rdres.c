// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Kept requests and the answers owed to them. See rxo_rdres.h. */
#include "rxo_rdres.h"

void rxo_rdres_start(struct rxo_rdres *rd, u32 mtu, u32 limit)
{
	RXO_ASSERT(mtu >= RXO_MIN_MTU && mtu <= RXO_MAX_MTU &&
		   !(mtu & (mtu - 1)));
	rd->mtu_shift = 8;
	while (rd->mtu_shift < 12 && mtu > 1u << rd->mtu_shift)
		rd->mtu_shift++;
	rxo_rdres_set_limit(rd, limit);
}

void rxo_rdres_set_limit(struct rxo_rdres *rd, u32 limit)
{
	RXO_ASSERT(limit <= RXO_MAX_RD_ATOMIC);
	rd->limit = min(limit, (u32)RXO_MAX_RD_ATOMIC);
	rd->res_count = min(rd->res_count, rd->limit);
}

/* Bytes that a request asks for. An atomic is like a READ of none. */
static u32 rxo_rdres_len(const struct rxo_pkt *pkt)
{
	return pkt->opcode == RXO_OP_READ_REQUEST ? pkt->dma_len : 0;
}

u32 rxo_rdres_npsn(const struct rxo_rdres *rd, const struct rxo_pkt *pkt)
{
	u32 len = rxo_rdres_len(pkt);

	return len ? ((len - 1) >> rd->mtu_shift) + 1 : 1;
}

static struct rxo_rd_res *rxo_rdres_at(struct rxo_rdres *rd, u32 idx)
{
	return &rd->res[idx % RXO_MAX_RD_ATOMIC];
}

static struct rxo_rd_job *rxo_rdres_job(struct rxo_rdres *rd, u32 idx)
{
	return &rd->job[idx % RXO_MAX_RD_JOBS];
}

static const struct rxo_rd_job *rxo_rdres_peek(const struct rxo_rdres *rd,
					       u32 idx)
{
	return &rd->job[idx % RXO_MAX_RD_JOBS];
}

/* ------------------------------------------------------------------- limits */

bool rxo_rdres_is_full(const struct rxo_rdres *rd)
{
	u32 n = 0;
	u32 i;

	for (i = rd->job_tail; i != rd->job_head; i++)
		n += !rxo_rdres_peek(rd, i)->replay;
	return n >= rd->limit;
}

bool rxo_rdres_has_span(const struct rxo_rdres *rd, struct rxo_psn epsn,
			u32 npsn)
{
	u32 i;

	for (i = rd->job_tail; i != rd->job_head; i++) {
		const struct rxo_rd_job *job = rxo_rdres_peek(rd, i);
		u32 behind = (epsn.v - job->next.v) & RXO_PSN_MASK;

		if (!job->replay)
			return behind + npsn <= 1u << 23;
	}
	return true;
}

/* --------------------------------------------------------------------- jobs */

/*
 * Forget replays of resources that are no longer kept: the peer may have only
 * so many requests outstanding, so it has had those answers. This also bounds
 * the jobs, two for each resource kept.
 */
static void rxo_rdres_prune_jobs(struct rxo_rdres *rd)
{
	u32 to = rd->job_tail;
	u32 i;

	for (i = rd->job_tail; i != rd->job_head; i++) {
		const struct rxo_rd_job *job = rxo_rdres_job(rd, i);

		if (job->replay && rd->res_head - job->res > rd->res_count)
			continue;
		if (to != i)
			*rxo_rdres_job(rd, to) = *job;
		to++;
	}
	rd->job_head = to;
}

/* Before job @at, or behind all. */
static void rxo_rdres_insert_job(struct rxo_rdres *rd, u32 at,
				 const struct rxo_rd_job *job)
{
	u32 i;

	RXO_ASSERT(rd->job_head - rd->job_tail < RXO_MAX_RD_JOBS);
	for (i = rd->job_head++; i != at; i--)
		*rxo_rdres_job(rd, i) = *rxo_rdres_job(rd, i - 1);
	*rxo_rdres_job(rd, at) = *job;
}

void rxo_rdres_add(struct rxo_rdres *rd, const struct rxo_pkt *pkt, u64 orig,
		   u32 msn)
{
	u32 idx = rd->res_head++;
	struct rxo_rd_res *res = rxo_rdres_at(rd, idx);
	struct rxo_rd_job job = {
		.next = pkt->psn,
		.from = pkt->psn,
		.res = idx,
		.end = rxo_rdres_len(pkt),
	};

	rd->res_count = min(rd->res_count + 1, rd->limit);
	rxo_rdres_prune_jobs(rd);
	*res = (struct rxo_rd_res){
		.first = pkt->psn,
		.last = rxo_psn_add(pkt->psn, rxo_rdres_npsn(rd, pkt) - 1),
		.va = pkt->va,
		.orig = orig,
		.rkey = pkt->rkey,
		.len = rxo_rdres_len(pkt),
		.msn = msn,
		.opcode = pkt->opcode,
	};
	job.last = res->last;
	rxo_rdres_insert_job(rd, rd->job_head, &job);
}

/* --------------------------------------------------------------- duplicates */

/*
 * Does a duplicate ask for @res, or a piece of it? If so, fill in @job. The
 * requester may ask for what it misses only, in whole packets from the front.
 */
static bool rxo_rdres_maps(const struct rxo_rdres *rd,
			   const struct rxo_rd_res *res,
			   const struct rxo_pkt *pkt, struct rxo_rd_job *job)
{
	u32 len = rxo_rdres_len(pkt);
	u32 off;

	if (pkt->opcode != res->opcode ||
	    !rxo_psn_in(pkt->psn, res->first, res->last))
		return false;
	off = (u32)rxo_psn_diff(pkt->psn, res->first) << rd->mtu_shift;
	if (pkt->rkey != res->rkey || pkt->va != res->va + off ||
	    len > res->len - off || (!len && res->len))
		return false;
	job->next = pkt->psn;
	job->from = pkt->psn;
	job->last = rxo_psn_add(pkt->psn, rxo_rdres_npsn(rd, pkt) - 1);
	job->end = off + len;
	job->replay = true;
	return true;
}

/* Partly sent, and that was lost: start over from where it asks. */
static void rxo_rdres_merge(struct rxo_rd_job *pending,
			    const struct rxo_rd_job *job)
{
	if (rxo_psn_before(job->next, pending->next)) {
		pending->next = job->next;
		pending->from = job->next;
	}
	if (rxo_psn_after(job->last, pending->last)) {
		pending->last = job->last;
		pending->end = job->end;
	}
}

/*
 * What is asked for again may lie before what is still to be sent for the same
 * request. Then it goes first: what has arrived behind it waits for it.
 */
static bool rxo_rdres_queue_piece(struct rxo_rdres *rd,
				  const struct rxo_rd_job *job)
{
	u32 at = rd->job_head, n = 0;
	u32 i;

	for (i = rd->job_tail; i != rd->job_head; i++) {
		struct rxo_rd_job *pending = rxo_rdres_job(rd, i);

		if (pending->res != job->res)
			continue;
		n++;
		if (rxo_psn_after(job->next, pending->last))
			continue;
		if (rxo_psn_before(job->last, pending->next)) {
			at = at == rd->job_head ? i : at;
			continue;
		}
		/* All of it is still to come. */
		if (!rxo_psn_before(job->next, pending->next) &&
		    !rxo_psn_after(job->last, pending->last))
			return false;
		rxo_rdres_merge(pending, job);
		return true;
	}
	if (n > 1)
		return false;
	/* All jobs but the first have not begun, see rxo_rdres_rewind(). */
	if (at != rd->job_head)
		rxo_rdres_job(rd, at)->from = rxo_rdres_job(rd, at)->next;
	rxo_rdres_insert_job(rd, at, job);
	return true;
}

bool rxo_rdres_replay(struct rxo_rdres *rd, const struct rxo_pkt *pkt)
{
	struct rxo_rd_job job = {};
	u32 n;

	/* Newest first: an old one may be from before the PSNs wrapped. */
	for (n = 1; n <= rd->res_count; n++) {
		job.res = rd->res_head - n;
		if (rxo_rdres_maps(rd, rxo_rdres_at(rd, job.res), pkt, &job))
			return rxo_rdres_queue_piece(rd, &job);
	}
	return false;
}

/* ------------------------------------------------------------------ answers */

bool rxo_rdres_owes_before(const struct rxo_rdres *rd, struct rxo_psn psn)
{
	u32 i;

	for (i = rd->job_tail; i != rd->job_head; i++)
		if (rxo_psn_before(rxo_rdres_peek(rd, i)->next, psn))
			return true;
	return false;
}

/* Position within the request that is answered, which may be a repetition. */
static void rxo_rdres_fill_read(const struct rxo_rdres *rd,
				const struct rxo_rd_job *job,
				const struct rxo_rd_res *res,
				struct rxo_pkt *pkt, struct rxo_rd_src *src)
{
	u32 off = ((job->next.v - res->first.v) & RXO_PSN_MASK) <<
		  rd->mtu_shift;
	bool first = rxo_psn_eq(job->next, job->from);
	bool last = rxo_psn_eq(job->next, job->last);

	src->va = res->va + off;
	src->rkey = res->rkey;
	if (first)
		pkt->opcode = last ? RXO_OP_READ_RESP_ONLY :
				     RXO_OP_READ_RESP_FIRST;
	else
		pkt->opcode = last ? RXO_OP_READ_RESP_LAST :
				     RXO_OP_READ_RESP_MIDDLE;
	pkt->payload_len = min(job->end - off, 1u << rd->mtu_shift);
	pkt->pad = -pkt->payload_len & 3;
}

void rxo_rdres_next(const struct rxo_rdres *rd, struct rxo_pkt *pkt,
		    struct rxo_rd_src *src)
{
	const struct rxo_rd_job *job = rxo_rdres_peek(rd, rd->job_tail);
	const struct rxo_rd_res *res = &rd->res[job->res % RXO_MAX_RD_ATOMIC];

	pkt->psn = job->next;
	pkt->msn = res->msn;
	if (res->opcode == RXO_OP_READ_REQUEST) {
		rxo_rdres_fill_read(rd, job, res, pkt, src);
	} else {
		pkt->opcode = RXO_OP_ATOMIC_ACK;
		pkt->orig = res->orig;
		*src = (struct rxo_rd_src){};
	}
}

void rxo_rdres_sent(struct rxo_rdres *rd)
{
	struct rxo_rd_job *job = rxo_rdres_job(rd, rd->job_tail);

	job->next = rxo_psn_add(job->next, 1);
	if (rxo_psn_after(job->next, job->last))
		rd->job_tail++;
}

void rxo_rdres_cancel(struct rxo_rdres *rd)
{
	rd->job_tail = rd->job_head;
}

struct rxo_rd_mark rxo_rdres_mark(const struct rxo_rdres *rd)
{
	return (struct rxo_rd_mark){
		.job_tail = rd->job_tail,
		.next = rxo_rdres_peek(rd, rd->job_tail)->next,
	};
}

/* Jobs that have ended are still in their places; all but the first began. */
void rxo_rdres_rewind(struct rxo_rdres *rd, const struct rxo_rd_mark *mark)
{
	for (; rd->job_tail != mark->job_tail; rd->job_tail--) {
		struct rxo_rd_job *job = rxo_rdres_job(rd, rd->job_tail);

		job->next = job->from;
	}
	rxo_rdres_job(rd, mark->job_tail)->next = mark->next;
}
