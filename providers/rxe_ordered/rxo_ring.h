/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The user-space twin of the ring protocol of rxe_ordered-abi.h, in C11 atomics.
 *
 * Owns: every access to shared ring memory except the plain stores into a work
 * queue slot that is not published yet. Must never know: libibverbs. A test
 * compiles this file alone and runs it against a model of the device.
 *
 * No function here blocks, takes a lock or makes a system call. Each may be
 * called from any number of threads; retry loops are lock-free: a try fails
 * only because somebody else made progress.
 */
#ifndef RXO_RING_H
#define RXO_RING_H

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rdma/rxe_ordered-abi.h>

static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
	      "shared words need address-free atomics");
static_assert(sizeof(_Atomic uint64_t) == 8 && sizeof(_Atomic uint32_t) == 4,
	      "atomics must have the layout of the ABI");

/*
 * Comes before every access to a word that others change, so that a test can
 * let something happen exactly there. Nothing otherwise.
 */
#ifndef RXO_RING_STEP
#define RXO_RING_STEP()	((void)0)
#endif

/* Words of a ring entry, and how many of them carry a completion. */
#define RXO_CQE_WORDS		(sizeof(struct rxe_ordered_wc) / 8)
#define RXO_CQE_USED_WORDS	5
/*
 * Bytes written per completion: the used words and one zero word, which is
 * exactly struct ibv_wc (asserted in abi_check.c).
 */
#define RXO_WC_BYTES		(8 * (RXO_CQE_USED_WORDS + 1))

static_assert(offsetof(struct rxe_ordered_wc, reserved) ==
	      8 * RXO_CQE_USED_WORDS, "used words end at reserved");

/**
 * struct rxo_cq_ring - a mapped completion ring
 * @word: arm word; the kernel publishes by compare-and-swap on it
 * @cons: consumer index; the kernel loads it (acquire) before it reuses a slot
 * @cqe: entries, as words
 * @entries: power of two, at most 2^30; set once at create
 */
struct rxo_cq_ring {
	_Atomic uint64_t *word;
	_Atomic uint32_t *cons;
	_Atomic uint64_t *cqe;
	uint32_t entries;
};

/**
 * struct rxo_wq_ring - a mapped send or receive ring
 * @prod: advanced by us only, under the caller's lock
 * @cons: advanced by the kernel only
 * @flags: enum rxe_ordered_wq_flags, written by the kernel only
 * @slots: first entry
 * @entries: power of two; set once at create
 * @stride: bytes from one entry to the next
 */
struct rxo_wq_ring {
	_Atomic uint32_t *prod;
	_Atomic uint32_t *cons;
	_Atomic uint32_t *flags;
	unsigned char *slots;
	uint32_t entries;
	uint32_t stride;
};

/**
 * rxo_cq_ring_init - attach to a mapping
 * @r: to be filled in
 * @base: start of the mapping, aligned to 64 bytes
 * @entries: as told by the kernel
 */
static inline void rxo_cq_ring_init(struct rxo_cq_ring *r, void *base,
				    uint32_t entries)
{
	struct rxe_ordered_cq_hdr *hdr = base;

	r->word = (_Atomic uint64_t *)&hdr->word;
	r->cons = (_Atomic uint32_t *)&hdr->cons;
	r->cqe = (_Atomic uint64_t *)((unsigned char *)base +
				      RXE_ORDERED_RING_HDR_SIZE);
	r->entries = entries;
}

/**
 * rxo_wq_ring_init - attach to a mapping
 * @r: to be filled in
 * @base: start of the mapping, aligned to 64 bytes
 * @entries: as told by the kernel
 * @stride: as told by the kernel
 */
static inline void rxo_wq_ring_init(struct rxo_wq_ring *r, void *base,
				    uint32_t entries, uint32_t stride)
{
	struct rxe_ordered_wq_hdr *hdr = base;

	r->prod = (_Atomic uint32_t *)&hdr->prod;
	r->cons = (_Atomic uint32_t *)&hdr->cons;
	r->flags = (_Atomic uint32_t *)&hdr->flags;
	r->slots = (unsigned char *)base + RXE_ORDERED_RING_HDR_SIZE;
	r->entries = entries;
	r->stride = stride;
}

/* ------------------------------------------------------------ the arm word */

static inline uint32_t rxo_word_prod(uint64_t w)
{
	return (uint32_t)(w & RXE_ORDERED_CQ_PROD_MASK);
}

static inline unsigned int rxo_word_arm(uint64_t w)
{
	return (w & RXE_ORDERED_CQ_ARM_MASK) >> RXE_ORDERED_CQ_ARM_SHIFT;
}

static inline bool rxo_word_overrun(uint64_t w)
{
	return w & RXE_ORDERED_CQ_OVERRUN;
}

static inline uint64_t rxo_word_with_arm(uint64_t w, unsigned int arm)
{
	return (w & ~RXE_ORDERED_CQ_ARM_MASK) |
	       ((uint64_t)arm << RXE_ORDERED_CQ_ARM_SHIFT);
}

static inline unsigned int rxo_arm_max(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

/*
 * The one way in which this side changes the word. Everything that is decided
 * from the word is decided by its index, arm and overrun together, so a
 * success proves that all three were still as loaded.
 * Partner: the kernel's publish, the compare-and-swap that advances the index.
 */
static inline bool rxo_word_cas(struct rxo_cq_ring *r, uint64_t old,
				uint64_t new)
{
	RXO_RING_STEP();
	return atomic_compare_exchange_strong_explicit(r->word, &old, new,
						       memory_order_acq_rel,
						       memory_order_relaxed);
}

/*
 * Consume [old, old + k). Release: the copies out of the slots come before it.
 * Partner: the kernel's load-acquire of cons before it writes a slot again.
 */
static inline bool rxo_cons_cas(struct rxo_cq_ring *r, uint32_t old, uint32_t k)
{
	RXO_RING_STEP();
	return atomic_compare_exchange_strong_explicit(r->cons, &old, old + k,
						       memory_order_acq_rel,
						       memory_order_relaxed);
}

/*
 * Partner: the compare-and-swap on cons of whoever consumes, here and in the
 * kernel.
 */
static inline uint32_t rxo_cons_load(struct rxo_cq_ring *r)
{
	RXO_RING_STEP();
	return atomic_load_explicit(r->cons, memory_order_acquire);
}

/* Partner: the kernel's publish, which releases the entry with the index. */
static inline uint64_t rxo_word_load(struct rxo_cq_ring *r)
{
	RXO_RING_STEP();
	return atomic_load_explicit(r->word, memory_order_acquire);
}

/* ---------------------------------------------------------- consuming a CQ */

/*
 * One look at the ring: how many completions are there?
 *
 * cons is loaded first, so by the time the word is loaded others may have
 * consumed and the device refilled: the difference can exceed the ring without
 * anything being wrong. Only if cons has not moved it is damage: somebody
 * scribbled on the page, and no count can be trusted.
 *
 * Return: the number at the instant of the load of the word if cons still was
 * @c then (which a later successful compare-and-swap on cons from @c proves);
 * -EIO if the indices make no sense.
 */
static inline int rxo_cq_look(struct rxo_cq_ring *r, uint32_t *c, uint64_t *w)
{
	uint32_t n;

	for (;;) {
		*c = rxo_cons_load(r);
		*w = rxo_word_load(r);

		n = rxo_word_prod(*w) - *c;
		if (n <= r->entries)
			return (int)n;
		if (rxo_cons_load(r) == *c)
			return -EIO;
	}
}

/*
 * Copy out entries that may be overwritten meanwhile (then the compare-and-swap
 * on cons fails and the copy is thrown away), hence word by word and atomic.
 * Relaxed is enough: ordered after the load-acquire of the word in
 * rxo_cq_look() and before the release in rxo_cons_cas().
 */
static inline void rxo_cq_copy(struct rxo_cq_ring *r, uint32_t idx, uint32_t k,
			       void *wc)
{
	unsigned char *out = wc;
	uint32_t i;

	for (i = 0; i < k; i++, out += RXO_WC_BYTES) {
		size_t slot = (idx + i) & (r->entries - 1);
		_Atomic uint64_t *src = r->cqe + slot * RXO_CQE_WORDS;
		uint64_t tmp[RXO_CQE_USED_WORDS + 1];
		unsigned int j;

		for (j = 0; j < RXO_CQE_USED_WORDS; j++)
			tmp[j] = atomic_load_explicit(&src[j],
						      memory_order_relaxed);
		tmp[j] = 0;
		memcpy(out, tmp, sizeof(tmp));
	}
}

/**
 * rxo_cq_poll - take completions, leave the arm alone
 * @r: ring
 * @num: room, >= 1
 * @wc: num * RXO_WC_BYTES bytes
 *
 * Return: how many, oldest first; 0 if empty; -EIO if empty and overrun, or if
 * the ring is damaged.
 */
static inline int rxo_cq_poll(struct rxo_cq_ring *r, int num, void *wc)
{
	uint64_t w;
	uint32_t c;
	int k;

	do {
		k = rxo_cq_look(r, &c, &w);
		if (k < 0)
			return k;
		if (k == 0)
			return rxo_word_overrun(w) ? -EIO : 0;
		if (k > num)
			k = num;
		rxo_cq_copy(r, c, k, wc);
	} while (!rxo_cons_cas(r, c, k));

	return k;
}

/*
 * Set the arm to at least @arm. Arming never weakens an arm.
 * Nothing to do if it is that strong already: the load found it so.
 */
static inline uint64_t rxo_cq_strengthen(struct rxo_cq_ring *r, unsigned int arm)
{
	uint64_t w;

	do {
		w = rxo_word_load(r);
		if (rxo_word_arm(w) >= arm)
			break;
	} while (!rxo_word_cas(r, w, rxo_word_with_arm(w, arm)));

	return w;
}

/**
 * rxo_cq_arm - the standard arm: whatever the queue holds
 * @r: ring
 * @arm: enum rxe_ordered_arm, not NONE
 *
 * Arm and queue are one word, so a poll after this sees every completion that
 * was added before the arm: coherence of one location, no full barrier needed.
 *
 * Return: 0; -EIO if the queue is empty and has overrun, as nothing will ever
 * be announced (the arm is set all the same).
 */
static inline int rxo_cq_arm(struct rxo_cq_ring *r, unsigned int arm)
{
	uint64_t w = rxo_cq_strengthen(r, arm);

	if (rxo_word_overrun(w) && rxo_cons_load(r) == rxo_word_prod(w))
		return -EIO;
	return 0;
}

/*
 * Take the arm away if there is one, provided that the word is still @w.
 * What was removed is remembered: if others then consume everything, the try
 * ends in arming or in an error and must not have weakened the arm. (If it was
 * another verb that consumed, that one may have meant to remove the arm. It
 * cannot be told from a poll; too strong an arm costs at most an event that
 * announces a completion, too weak an arm would lose one.)
 */
static inline bool rxo_cq_disarm(struct rxo_cq_ring *r, uint32_t c, uint64_t w,
				 unsigned int *removed)
{
	unsigned int arm = rxo_word_arm(w);

	if (arm == RXE_ORDERED_ARM_NONE)
		return true;
	/* Who consumed since may have found it empty: that arm is not ours. */
	if (rxo_cons_load(r) != c)
		return false;
	if (!rxo_word_cas(r, w, rxo_word_with_arm(w, RXE_ORDERED_ARM_NONE)))
		return false;
	*removed = rxo_arm_max(*removed, arm);
	return true;
}

/*
 * The empty half of both verbs. @w was loaded while prod(w) was the consumer
 * index; cons never passes prod, so as long as the word keeps that index the
 * queue is empty, and the compare-and-swap is the instant of the verb.
 *
 * Return: true and *@ret when the verb is done, false to start over.
 */
static inline bool rxo_cq_finish_empty(struct rxo_cq_ring *r, uint64_t w,
				       unsigned int wanted,
				       unsigned int removed, int *ret)
{
	if (rxo_word_overrun(w)) {
		rxo_cq_strengthen(r, removed);
		*ret = -EIO;
		return true;
	}

	wanted = rxo_arm_max(wanted, removed);
	*ret = 0;
	if (rxo_word_arm(w) >= wanted)
		return true;
	return rxo_word_cas(r, w, rxo_word_with_arm(w, wanted));
}

/**
 * rxo_cq_poll_rearm - take completions and be disarmed, or arm if there are none
 * @r: ring
 * @num: room, >= 1
 * @wc: num * RXO_WC_BYTES bytes
 * @wanted: enum rxe_ordered_arm, not NONE
 *
 * Instant of a result > 0: the load of the word (no arm seen) or the swap that
 * removed the arm. cons was c then: it only grows, and it still is c at the
 * compare-and-swap that consumes.
 *
 * Return: n > 0, 0, or -EIO, as rxodv_poll_rearm_cq().
 */
static inline int rxo_cq_poll_rearm(struct rxo_cq_ring *r, int num, void *wc,
				    unsigned int wanted)
{
	unsigned int removed = RXE_ORDERED_ARM_NONE;
	uint64_t w;
	uint32_t c;
	int k, ret;

	for (;;) {
		k = rxo_cq_look(r, &c, &w);
		if (k < 0) {
			rxo_cq_strengthen(r, removed);
			return k;
		}
		if (k == 0) {
			if (rxo_cq_finish_empty(r, w, wanted, removed, &ret))
				return ret;
			continue;
		}
		if (k > num)
			k = num;
		/* Copy before disarming: the arm is off as briefly as possible. */
		rxo_cq_copy(r, c, k, wc);
		if (rxo_cq_disarm(r, c, w, &removed) && rxo_cons_cas(r, c, k))
			return k;
	}
}

/**
 * rxo_cq_rearm_if_empty - arm if there are no completions, else be disarmed
 * @r: ring
 * @wanted: enum rxe_ordered_arm, not NONE
 *
 * Return: 0 empty and armed; 1 not empty and not armed; -EIO.
 */
static inline int rxo_cq_rearm_if_empty(struct rxo_cq_ring *r,
					unsigned int wanted)
{
	unsigned int removed = RXE_ORDERED_ARM_NONE;
	uint64_t w;
	uint32_t c;
	int k, ret;

	for (;;) {
		k = rxo_cq_look(r, &c, &w);
		if (k < 0) {
			rxo_cq_strengthen(r, removed);
			return k;
		}
		if (k == 0) {
			if (rxo_cq_finish_empty(r, w, wanted, removed, &ret))
				return ret;
			continue;
		}
		/*
		 * Nothing is consumed, so no swap on cons tells whether it was c
		 * when the word was; look again after it.
		 */
		if (rxo_cq_disarm(r, c, w, &removed) && rxo_cons_load(r) == c)
			return 1;
	}
}

/* ------------------------------------------------------------- work queues */

/**
 * rxo_wq_begin - where the next entry goes
 * @r: ring; the caller holds its lock
 *
 * Read from the page each time and not kept: the kernel may restart both
 * indices when the QP goes through RESET.
 */
static inline uint32_t rxo_wq_begin(struct rxo_wq_ring *r)
{
	return atomic_load_explicit(r->prod, memory_order_relaxed);
}

/**
 * rxo_wq_full - is there no slot for index @idx?
 * @r: ring; the caller holds its lock
 * @idx: index to be written next
 *
 * Acquire: the kernel has copied the slot out before it gave it back.
 * Partner: the kernel's store-release of cons.
 */
static inline bool rxo_wq_full(struct rxo_wq_ring *r, uint32_t idx)
{
	return idx - atomic_load_explicit(r->cons, memory_order_acquire) >=
	       r->entries;
}

/**
 * rxo_wq_slot - memory of index @idx
 * @r: ring
 * @idx: an index for which rxo_wq_full() said no
 */
static inline void *rxo_wq_slot(struct rxo_wq_ring *r, uint32_t idx)
{
	return r->slots + (size_t)(idx & (r->entries - 1)) * r->stride;
}

/**
 * rxo_wq_publish - hand all entries below @idx to the kernel
 * @r: ring; the caller holds its lock
 * @idx: one past the last entry written
 *
 * Release: the entries come before the index.
 * Partner: the kernel's load-acquire of prod.
 */
static inline void rxo_wq_publish(struct rxo_wq_ring *r, uint32_t idx)
{
	atomic_store_explicit(r->prod, idx, memory_order_release);
}

/**
 * rxo_wq_needs_doorbell - does the kernel want to be told of what was published?
 * @r: ring
 *
 * Full barrier: our index is visible before we look. The kernel sets the flag,
 * has a full barrier too, and then looks at the index (rxo_wq_enter_err()): one
 * of the two sees the other.
 */
static inline bool rxo_wq_needs_doorbell(struct rxo_wq_ring *r)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(r->flags, memory_order_relaxed) &
	       RXE_ORDERED_WQ_NEED_DOORBELL;
}

#endif /* RXO_RING_H */
