// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 *
 * The arm word {producer index, arm, overrun} and the consumer index are shared
 * by producers (under cq->lock), kernel-side consumers and, for a user CQ, the
 * process. All of them change the word and the consumer index by
 * compare-and-swap only; that is all the synchronisation there is.
 *
 * Barriers and their partners:
 *  - publish stores the entries, then swaps the word (full barrier). Partner:
 *    consumers load the word with acquire before they read entries.
 *  - consumers read the entries, then swap the consumer index (full barrier).
 *    Partner: publish loads the consumer index with acquire before it stores
 *    into slots that have become free.
 *  - consumers load the consumer index with acquire, then the word. So an index
 *    seen to be equal to that word's producer index was so when the word was
 *    loaded: the consumer index never passes the producer index.
 *
 * The process may write anything into the ring. Then it gets nonsense, or lost
 * or surplus events on this CQ, and nobody else notices: the kernel keeps prod
 * and overrun to itself, masks every index, and bounds every loop.
 */
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <rdma/rxe_ordered.h>

#include "cq.h"
#include "trace.h"
#include "udata.h"

#ifndef CONFIG_64BIT
#error "the arm word needs 64-bit loads that are atomic"
#endif

/* Failed swaps of a producer before it takes the CQ for armed and moves on. */
#define RXO_CQ_PUBLISH_TRIES	16
/*
 * Failed attempts of a kernel-side consumer of a user CQ before it gives up.
 * Each failure means that somebody else has made progress, so only a process
 * that scribbles on its own ring gets here.
 */
#define RXO_CQ_CONSUME_TRIES	(1U << 16)

static_assert(sizeof(struct rxe_ordered_cq_hdr) == RXE_ORDERED_RING_HDR_SIZE);
static_assert(sizeof(struct rxe_ordered_wc) == 64);

/* ------------------------------------------------------------------ produce */

static void rxo_cq_notify(struct rxo_cq *cq)
{
	trace_rxo_fire(cq);
	if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void rxo_cq_raise_overrun(struct rxo_cq *cq)
{
	struct ib_event event = {
		.device = cq->ib.device,
		.element.cq = &cq->ib,
		.event = IB_EVENT_CQ_ERR,
	};

	rxo_stat_inc(rxo_dev_of(cq->ib.device), RXO_CNT_CQ_OVERRUN);
	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
	/* Not from here: a user may be in the middle of something itself. */
	queue_work(rxo_wq, &cq->tell_users);
}

static void rxo_cq_encode(struct rxe_ordered_wc *wc, const struct rxo_cqe *cqe)
{
	*wc = (struct rxe_ordered_wc){
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cqe->opcode,
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.imm_data = (__force __u32)cqe->imm,
		.qp_num = cqe->qpn,
		.src_qp = cqe->src_qp,
		.wc_flags = cqe->flags,
	};
}

/* Make everything up to cq->prod visible. Return: is the arm taken? */
static bool rxo_cq_advance_locked(struct rxo_cq *cq, bool solicited)
{
	u64 word, next;
	bool fire;
	int i;

	lockdep_assert_held(&cq->lock);

	word = READ_ONCE(cq->hdr->word);
	for (i = 0; i < RXO_CQ_PUBLISH_TRIES; i++) {
		next = rxo_arm_publish(word, cq->prod, solicited, cq->overrun,
				       &fire);
		/*
		 * Full barrier: the entries are visible before the index.
		 * Partner: the acquire of the word in rxo_cq_try().
		 */
		if (try_cmpxchg(&cq->hdr->word, &word, next))
			return fire;
	}

	/* Same barrier. Whatever arm was there is taken. */
	next = rxo_arm_publish(0, cq->prod, solicited, cq->overrun, &fire);
	xchg(&cq->hdr->word, next);
	return true;
}

/* Return: how many of @n found room. */
static u32 rxo_cq_store_locked(struct rxo_cq *cq, const struct rxo_cqe *cqe,
			       u32 n, bool *solicited)
{
	u32 used, i;

	lockdep_assert_held(&cq->lock);

	/*
	 * Partner: the full barrier of the swap by which a consumer, having
	 * copied entries out, gave their slots back.
	 */
	used = rxo_ring_used(cq->prod, smp_load_acquire(&cq->hdr->cons));
	/* More than there are: a hostile index. Then there is no room. */
	n = min(n, cq->entries - min(used, cq->entries));

	*solicited = false;
	for (i = 0; i < n; i++) {
		rxo_cq_encode(&cq->ring[(cq->prod + i) & (cq->entries - 1)],
			      &cqe[i]);
		*solicited |= cqe[i].solicited ||
			      cqe[i].status != RXO_WC_SUCCESS;
	}
	cq->prod += n;
	return n;
}

bool rxo_cq_publish(struct rxo_cq *cq, const struct rxo_cqe *cqe, u32 n)
{
	bool solicited, fire, overrun;

	lockdep_assert_in_softirq();

	spin_lock(&cq->lock);
	if (cq->overrun) {
		spin_unlock(&cq->lock);
		return false;
	}
	overrun = rxo_cq_store_locked(cq, cqe, n, &solicited) < n;
	WRITE_ONCE(cq->overrun, overrun);
	fire = rxo_cq_advance_locked(cq, solicited);
	spin_unlock(&cq->lock);

	if (overrun)
		rxo_cq_raise_overrun(cq);
	if (fire)
		rxo_cq_notify(cq);
	return !overrun;
}

/* -------------------------------------------------------------------- users */

void rxo_cq_add_user(struct rxo_cq *cq, struct rxo_cq_user *user)
{
	mutex_lock(&cq->user_lock);
	list_add_tail(&user->entry, &cq->users);
	mutex_unlock(&cq->user_lock);
}

void rxo_cq_del_user(struct rxo_cq *cq, struct rxo_cq_user *user)
{
	mutex_lock(&cq->user_lock);
	list_del(&user->entry);
	mutex_unlock(&cq->user_lock);
}

static void rxo_cq_tell_users(struct work_struct *work)
{
	struct rxo_cq *cq = container_of(work, struct rxo_cq, tell_users);
	struct rxo_cq_user *user;

	mutex_lock(&cq->user_lock);
	list_for_each_entry(user, &cq->users, entry) {
		user->overrun(user->arg);
		cond_resched();
	}
	mutex_unlock(&cq->user_lock);
}

/* ------------------------------------------------------------------ consume */

/*
 * poll_rearm as an indivisible step. An attempt loads the consumer index c and
 * then the word w, and ends in one of two ways.
 *
 * Empty (c equals the producer index of w): it swaps w for w with the arm
 * raised. If the swap succeeds then no completion was added since w was loaded;
 * the CQ was empty then and, as the consumer index cannot pass the producer
 * index, still is. The swap is the instant of the verb.
 *
 * Not empty: it copies entries out, takes the arm out of the word if there is
 * one (raising nothing), and swaps c for c + k. If that succeeds nobody has
 * consumed since c was loaded, so the CQ was not empty at the instant at which
 * the word was seen or made unarmed: that is the instant of the verb. Another
 * verb could arm after it only if the CQ were empty, which it is not before the
 * swap of c. If the swap fails, another consumer was faster, and the attempt
 * is repeated.
 *
 * An arm that a failed attempt has taken out belongs to the CQ. It goes back in
 * when the verb arms, and when it fails; if completions were added meanwhile
 * they should have fired it, so then it is fired instead. If the verb returns
 * completions it is rightly gone: they are returned, so nothing is lost.
 */
struct rxo_cq_op {
	u32 max;
	u32 arm;		/* enum rxe_ordered_arm wanted */
	bool consume;
	struct rxo_cq_sink *sink;
	u32 taken;		/* arm that an earlier attempt took out */
	u32 taken_prod;		/* producer index of the word at that time */
};

/*
 * @word: as loaded, not empty. Leave it without an arm. If it has changed
 * meanwhile, what was copied is not all there was, or an event has been raised
 * that a result of this attempt would contradict: start over.
 */
static int rxo_cq_disarm(struct rxo_cq *cq, struct rxo_cq_op *op, u32 cons,
			 u64 word)
{
	u32 arm = rxo_arm_of(word);

	if (arm == RXE_ORDERED_ARM_NONE)
		return 0;
	/* Who consumed since may have found it empty: that arm is not ours. */
	if (READ_ONCE(cq->hdr->cons) != cons)
		return -EAGAIN;
	if (cmpxchg(&cq->hdr->word, word,
		    rxo_arm_set(word, RXE_ORDERED_ARM_NONE)) != word)
		return -EAGAIN;
	if (op->taken == RXE_ORDERED_ARM_NONE)
		op->taken_prod = (u32)word;
	op->taken = max(op->taken, arm);
	return 0;
}

static int rxo_cq_try_entries(struct rxo_cq *cq, struct rxo_cq_op *op, u32 cons,
			      u64 word)
{
	u32 k = min(rxo_ring_used((u32)word, cons), op->max);
	u32 slot = cons & (cq->entries - 1);
	u32 first = min(k, cq->entries - slot);
	int err;

	err = op->sink->take(op->sink, &cq->ring[slot], first, cq->ring,
			     k - first);
	if (err)
		return err;
	if (rxo_cq_disarm(cq, op, cons, word))
		return -EAGAIN;

	if (!op->consume)
		return READ_ONCE(cq->hdr->cons) == cons ? 1 : -EAGAIN;
	/*
	 * Full barrier: the slots are free only after they were copied out.
	 * Partner: the acquire of the index in rxo_cq_store_locked().
	 */
	return cmpxchg(&cq->hdr->cons, cons, cons + k) == cons ? k : -EAGAIN;
}

static int rxo_cq_try_arm(struct rxo_cq *cq, struct rxo_cq_op *op, u64 word)
{
	u32 arm;
	int err;

	if (word & RXE_ORDERED_CQ_OVERRUN)
		return -EIO;
	err = op->sink->take(op->sink, NULL, 0, NULL, 0);
	if (err)
		return err;
	arm = max3(rxo_arm_of(word), op->arm, op->taken);
	/* An event must not be seen before what happened ahead of the arm: the
	 * full barrier's partner is the swap in rxo_cq_advance_locked().
	 */
	if (cmpxchg(&cq->hdr->word, word, rxo_arm_set(word, arm)) != word)
		return -EAGAIN;
	trace_rxo_arm(cq, arm);
	return 0;
}

static int rxo_cq_try(struct rxo_cq *cq, struct rxo_cq_op *op)
{
	/* This order and both acquires: see the top of the file. */
	u32 cons = smp_load_acquire(&cq->hdr->cons);
	u64 word = smp_load_acquire(&cq->hdr->word);

	/* An old consumer index beside a new word looks like nonsense, too. */
	if (!rxo_ring_is_sane((u32)word, cons, cq->entries))
		return READ_ONCE(cq->hdr->cons) == cons ? -EIO : -EAGAIN;
	if (rxo_ring_used((u32)word, cons))
		return rxo_cq_try_entries(cq, op, cons, word);
	return rxo_cq_try_arm(cq, op, word);
}

/* Before the next attempt. */
static int rxo_cq_pause(struct rxo_cq *cq, u32 tries)
{
	if (!cq->user) {
		cpu_relax();
		return 0;
	}
	if (tries == RXO_CQ_CONSUME_TRIES)
		return -EIO;
	if (fatal_signal_pending(current))
		return -EINTR;
	cond_resched();
	return 0;
}

/* The verb has failed: put the arm back that it took, or fire it. */
static void rxo_cq_give_back(struct rxo_cq *cq, const struct rxo_cq_op *op)
{
	u64 word = READ_ONCE(cq->hdr->word);
	u32 arm;
	int i;

	for (i = 0; i < RXO_CQ_PUBLISH_TRIES; i++) {
		if ((u32)word != op->taken_prod ||
		    word & RXE_ORDERED_CQ_OVERRUN)
			break;
		arm = max(rxo_arm_of(word), op->taken);
		if (try_cmpxchg(&cq->hdr->word, &word, rxo_arm_set(word, arm)))
			return;
	}
	rxo_cq_notify(cq);
}

static int rxo_cq_do(struct rxo_cq *cq, struct rxo_cq_op *op)
{
	u32 tries = 0;
	int ret;

	while ((ret = rxo_cq_try(cq, op)) == -EAGAIN) {
		ret = rxo_cq_pause(cq, ++tries);
		if (ret)
			break;
	}
	if (ret < 0 && op->taken != RXE_ORDERED_ARM_NONE)
		rxo_cq_give_back(cq, op);
	return ret;
}

int rxo_cq_poll_rearm(struct rxo_cq *cq, u32 num_entries, u32 arm,
		      struct rxo_cq_sink *sink)
{
	struct rxo_cq_op op = {
		.max = num_entries,
		.arm = arm,
		.consume = true,
		.sink = sink,
	};

	return rxo_cq_do(cq, &op);
}

int rxo_cq_rearm_if_empty(struct rxo_cq *cq, u32 arm, struct rxo_cq_sink *sink)
{
	struct rxo_cq_op op = {
		.max = 1,
		.arm = arm,
		.sink = sink,
	};

	return rxo_cq_do(cq, &op);
}

/* --------------------------------------------------------- kernel consumers */

/* Numbers of the ring entries are those of user space; the kernel's agree. */
static_assert((int)RXO_WC_SEND == (int)IB_WC_SEND);
static_assert((int)RXO_WC_RDMA_WRITE == (int)IB_WC_RDMA_WRITE);
static_assert((int)RXO_WC_RDMA_READ == (int)IB_WC_RDMA_READ);
static_assert((int)RXO_WC_COMP_SWAP == (int)IB_WC_COMP_SWAP);
static_assert((int)RXO_WC_FETCH_ADD == (int)IB_WC_FETCH_ADD);
static_assert((int)RXO_WC_RECV == (int)IB_WC_RECV);
static_assert((int)RXO_WC_RECV_RDMA_WITH_IMM == (int)IB_WC_RECV_RDMA_WITH_IMM);
static_assert((int)RXO_WC_WITH_IMM == (int)IB_WC_WITH_IMM);
static_assert((int)RXO_WC_GENERAL_ERR == (int)IB_WC_GENERAL_ERR);

struct rxo_cq_wc_sink {
	struct rxo_cq_sink sink;
	struct ib_wc *wc;
};

/* wc->qp stays NULL: there are no QPs of kernel consumers yet. */
static struct ib_wc *rxo_cq_decode(struct ib_wc *out,
				   const struct rxe_ordered_wc *in, u32 n)
{
	for (; n; n--, in++, out++)
		*out = (struct ib_wc){
			.wr_id = in->wr_id,
			.status = in->status,
			.opcode = in->opcode,
			.vendor_err = in->vendor_err,
			.byte_len = in->byte_len,
			.ex.imm_data = (__force __be32)in->imm_data,
			.src_qp = in->src_qp,
			.wc_flags = in->wc_flags,
			.port_num = 1,
		};
	return out;
}

static int rxo_cq_take_wc(struct rxo_cq_sink *sink,
			  const struct rxe_ordered_wc *first, u32 nfirst,
			  const struct rxe_ordered_wc *second, u32 nsecond)
{
	struct rxo_cq_wc_sink *s = container_of(sink, struct rxo_cq_wc_sink,
						sink);

	rxo_cq_decode(rxo_cq_decode(s->wc, first, nfirst), second, nsecond);
	return 0;
}

static int rxo_cq_take_nothing(struct rxo_cq_sink *sink,
			       const struct rxe_ordered_wc *first, u32 nfirst,
			       const struct rxe_ordered_wc *second, u32 nsecond)
{
	return 0;
}

static bool rxo_cq_is_ours(const struct ib_cq *ibcq)
{
	return (u32)ibcq->device->ops.driver_id == RXE_ORDERED_DRIVER_ID &&
	       !ibcq->uobject;
}

/* RXE_ORDERED_ARM_NONE if @flags is not exactly one of the two. */
static u32 rxo_cq_arm_of_flags(enum ib_cq_notify_flags flags)
{
	switch ((u32)flags) {
	case IB_CQ_NEXT_COMP:
		return RXE_ORDERED_ARM_ANY;
	case IB_CQ_SOLICITED:
		return RXE_ORDERED_ARM_SOLICITED;
	default:
		return RXE_ORDERED_ARM_NONE;
	}
}

int rxe_ordered_poll_rearm_cq(struct ib_cq *cq, int num_entries,
			      struct ib_wc *wc, enum ib_cq_notify_flags flags)
{
	struct rxo_cq_wc_sink s = {
		.sink.take = rxo_cq_take_wc,
		.wc = wc,
	};
	u32 arm = rxo_cq_arm_of_flags(flags);

	if (!rxo_cq_is_ours(cq))
		return -EOPNOTSUPP;
	if (num_entries < 1 || !wc || arm == RXE_ORDERED_ARM_NONE)
		return -EINVAL;
	return rxo_cq_poll_rearm(rxo_cq_of(cq), num_entries, arm, &s.sink);
}
EXPORT_SYMBOL_GPL(rxe_ordered_poll_rearm_cq);

int rxe_ordered_rearm_cq_if_empty(struct ib_cq *cq,
				  enum ib_cq_notify_flags flags)
{
	struct rxo_cq_sink sink = { .take = rxo_cq_take_nothing };
	u32 arm = rxo_cq_arm_of_flags(flags);

	if (!rxo_cq_is_ours(cq))
		return -EOPNOTSUPP;
	if (arm == RXE_ORDERED_ARM_NONE)
		return -EINVAL;
	return rxo_cq_rearm_if_empty(rxo_cq_of(cq), arm, &sink);
}
EXPORT_SYMBOL_GPL(rxe_ordered_rearm_cq_if_empty);

/* ------------------------------------------------------------ ib_device_ops */

int rxo_cq_poll(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct rxo_cq *cq = rxo_cq_of(ibcq);
	u32 cons, prod, slot, k, first;

	/* Processes poll in user space. */
	if (cq->user || num_entries < 0)
		return -EINVAL;

	/* Barriers as in rxo_cq_try() and rxo_cq_try_entries(). */
	do {
		cons = smp_load_acquire(&cq->hdr->cons);
		prod = (u32)smp_load_acquire(&cq->hdr->word);
		/* The minimum with entries: cons may be older than prod. */
		k = min3(rxo_ring_used(prod, cons), (u32)num_entries,
			 cq->entries);
		if (!k)
			return 0;
		slot = cons & (cq->entries - 1);
		first = min(k, cq->entries - slot);
		rxo_cq_decode(rxo_cq_decode(wc, &cq->ring[slot], first),
			      cq->ring, k - first);
	} while (cmpxchg(&cq->hdr->cons, cons, cons + k) != cons);
	return k;
}

/*
 * Arms whatever the CQ holds, and never weakens an arm. For a kernel consumer,
 * and for a process that asks by system call.
 */
int rxo_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	u32 want = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ?
		RXE_ORDERED_ARM_SOLICITED : RXE_ORDERED_ARM_ANY;
	struct rxo_cq *cq = rxo_cq_of(ibcq);
	u64 word = READ_ONCE(cq->hdr->word);
	u32 tries = 0;
	int err;

	/* Full barrier; partner: the swap in rxo_cq_advance_locked(). */
	while (!try_cmpxchg(&cq->hdr->word, &word,
			    rxo_arm_set(word, max(rxo_arm_of(word), want)))) {
		err = rxo_cq_pause(cq, ++tries);
		if (err)
			return err;
	}
	trace_rxo_arm(cq, want);

	/* What was added before the arm took effect fires no event. */
	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		return (u32)word != READ_ONCE(cq->hdr->cons);
	return 0;
}

static int rxo_cq_check(const struct ib_cq *ibcq,
			const struct ib_cq_init_attr *attr,
			struct ib_udata *udata)
{
	struct rxe_ordered_create_cq_cmd cmd;
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (attr->cqe < 1 || attr->cqe > RXO_MAX_CQE)
		return -EINVAL;
	/*
	 * A kernel consumer's handler must not run inside a verb. Until there
	 * is a dispatcher to call it, only CQs that are polled are offered.
	 */
	if (!udata)
		return ibcq->comp_handler ? -EOPNOTSUPP : 0;

	err = rxo_udata_read(udata, &cmd, sizeof(cmd));
	if (err)
		return err;
	if (cmd.comp_mask || cmd.flags)
		return -EINVAL;
	return rxo_udata_need(udata, sizeof(struct rxe_ordered_create_cq_resp));
}

int rxo_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  rxo_create_cq_arg *arg)
{
	struct ib_udata *udata = rxo_create_cq_udata(arg);
	struct rxo_ucontext *uctx =
		rdma_udata_to_drv_context(udata, struct rxo_ucontext, ib);
	struct rxe_ordered_create_cq_resp resp = {};
	struct rxo_cq *cq = rxo_cq_of(ibcq);
	int err;

	err = rxo_cq_check(ibcq, attr, udata);
	if (err)
		return err;

	spin_lock_init(&cq->lock);
	mutex_init(&cq->user_lock);
	INIT_LIST_HEAD(&cq->users);
	INIT_WORK(&cq->tell_users, rxo_cq_tell_users);
	cq->user = udata;
	cq->entries = roundup_pow_of_two(attr->cqe);
	cq->umap = rxo_umap_create(uctx ? &uctx->ib : NULL,
				   RXE_ORDERED_RING_HDR_SIZE +
				   (size_t)cq->entries * sizeof(*cq->ring));
	if (IS_ERR(cq->umap))
		return PTR_ERR(cq->umap);
	cq->hdr = cq->umap->mem;
	cq->ring = cq->umap->mem + RXE_ORDERED_RING_HDR_SIZE;
	cq->ib.cqe = cq->entries;
	if (!udata)
		return 0;

	resp.mmap_offset = rxo_umap_offset(cq->umap);
	resp.mmap_size = cq->umap->size;
	resp.entries = cq->entries;
	err = rxo_udata_write(udata, &resp, sizeof(resp));
	if (err)
		rxo_umap_destroy(cq->umap);
	return err;
}

/*
 * No QP uses the CQ any more (ib_core counts), and a QP is destroyed only after
 * its owner is idle, so no producer and no handler is running. If the device
 * goes, the process keeps its mapping: it takes what is in there, then finds
 * that nothing more will come.
 */
int rxo_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct rxo_cq *cq = rxo_cq_of(ibcq);

	cancel_work_sync(&cq->tell_users);
	xchg(&cq->hdr->word, cq->prod | RXE_ORDERED_CQ_OVERRUN);
	rxo_umap_destroy(cq->umap);
	return 0;
}
