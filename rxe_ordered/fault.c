// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fault injection on the packets of a device. See fault.h.
 *
 * Locks: rxo_fault.mutex (process context) makes writers take turns and counts
 * this device in the static key. rxo_fault.lock (bottom halves off) guards rules
 * and held packets. Nothing is sent or handed up under either: what a train has
 * become is collected first.
 *
 * The key changes when the first rule of a device comes and when the last has
 * gone, both seen from the end of a write: "clear" and new rules in one write
 * patch no code.
 */
#include <linux/hrtimer.h>
#include <linux/slab.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "fault.h"
#include "fault_rule.h"
#include "frame.h"
#include "trace.h"

#define RXO_FAULT_MAX_RULES	64
/* Packets of a device that may be delayed or held at a time. */
#define RXO_FAULT_MAX_HELD	1024
/* A packet that nothing overtakes goes on after this. */
#define RXO_FAULT_HOLD_NS	NSEC_PER_SEC
/* Of what is wrong with a line, and of the word that is. */
#define RXO_FAULT_WHY_LEN	128
#define RXO_FAULT_WORD_LEN	32

struct rxo_fault {
	struct mutex mutex;
	bool counted;		/* in rxo_fault_key; mutex */
	char why[RXO_FAULT_WHY_LEN];	/* last line refused; mutex */

	spinlock_t lock;
	u32 nrules;
	struct rxo_fault_rule rule[RXO_FAULT_MAX_RULES];
	struct sk_buff_head held;	/* by time; RXO_FAULT_CB */
	u32 nhold;			/* of those, with a hold count */
	struct hrtimer timer;		/* the first of held is due */
	struct rxo_dev *dev;		/* set once */
};

/* Of a packet that waits. */
struct rxo_fault_cb {
	u64 due;
	u32 qpn;
	u32 hold;		/* packets that have yet to overtake it, or 0 */
	u8 dir;
};

#define RXO_FAULT_CB(skb) ((struct rxo_fault_cb *)(skb)->cb)

/* A packet, or a train, in the hands of a hook. */
struct rxo_fault_train {
	const struct sk_buff *skb;
	u8 dir;
	bool ipv6;
	u32 qpn;
	u32 off;		/* from skb->data to the first BTH */
	u32 len;		/* from there to the last ICRC */
	u32 seg_len;
};

DEFINE_STATIC_KEY_FALSE(rxo_fault_key);
static rxo_fault_rx_t rxo_fault_hand_up;

static_assert(sizeof(struct rxo_fault_cb) <= sizeof_field(struct sk_buff, cb));

/* ------------------------------------------------------------------ copying */

static u32 rxo_fault_seg_len(const struct rxo_fault_train *t, u32 i)
{
	return min(t->seg_len, t->len - i * t->seg_len);
}

static void rxo_fault_copy_hdr(const struct rxo_fault_train *t, u32 i, u32 len,
			       struct sk_buff *skb)
{
	u32 udp_len = len + sizeof(struct udphdr);
	struct udphdr *uh;

	skb_reset_network_header(skb);
	if (t->ipv6) {
		struct ipv6hdr *ip6 = skb_put_data(skb, ipv6_hdr(t->skb),
						   sizeof(*ip6));

		ip6->payload_len = htons(udp_len);
	} else {
		struct iphdr *ip = skb_put_data(skb, ip_hdr(t->skb),
						sizeof(*ip));

		ip->tot_len = htons(udp_len + sizeof(*ip));
		/* As segmentation would have counted it. */
		ip->id = htons(ntohs(ip->id) + i);
	}
	skb_set_transport_header(skb, skb->len);
	uh = skb_put_data(skb, udp_hdr(t->skb), sizeof(*uh));
	uh->len = htons(udp_len);
}

/* Packet @i by itself, all of it in the linear part. NULL: no memory. */
static struct sk_buff *rxo_fault_copy(const struct rxo_fault_train *t, u32 i)
{
	u32 len = rxo_fault_seg_len(t, i), room = skb_headroom(t->skb);
	struct sk_buff *skb;

	skb = alloc_skb(room + sizeof(struct rxo_frame_hdr) + len +
			(t->dir == RXO_FAULT_TX ?
			 t->skb->dev->needed_tailroom : 0),
			GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	rxo_fault_copy_hdr(t, i, len, skb);
	if (skb_copy_bits(t->skb, t->off + i * t->seg_len, skb_put(skb, len),
			  len)) {
		kfree_skb(skb);
		return NULL;
	}
	skb->protocol = htons(t->ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	skb->dev = t->skb->dev;
	RXO_FAULT_CB(skb)->dir = t->dir;
	RXO_FAULT_CB(skb)->qpn = t->qpn;
	if (t->dir == RXO_FAULT_RX) {
		__skb_pull(skb, skb_transport_offset(skb));
		return skb;
	}
	skb_dst_copy(skb, t->skb);
	return skb;
}

/* One byte of the payload or, if there is none, of the ICRC: it must show. */
static void rxo_fault_spoil(struct sk_buff *skb, const struct rxo_pkt *pkt)
{
	u8 *bth = skb_transport_header(skb) + sizeof(struct udphdr);

	bth[pkt->hdr_len + pkt->payload_len / 2] ^= 0xff;
}

/* ----------------------------------------------------------------- going on */

static void rxo_fault_send(struct rxo_dev *dev, struct sk_buff *skb)
{
	bool ipv6 = skb->protocol == htons(ETH_P_IPV6);
	u32 len = ntohs(udp_hdr(skb)->len);

	/* A single packet over IPv4 goes without a checksum, as in tx.c. */
	if (ipv6) {
		udp6_set_csum(false, skb, &ipv6_hdr(skb)->saddr,
			      &ipv6_hdr(skb)->daddr, len);
		ip6_local_out(dev->net, NULL, skb);
	} else {
		udp_hdr(skb)->check = 0;
		ip_local_out(dev->net, NULL, skb);
	}
}

/* Hand on what has passed, in order. Bottom halves off, no lock, RCU. */
static void rxo_fault_go_on(struct rxo_dev *dev, struct sk_buff_head *out)
{
	struct sk_buff *skb;
	u8 dir;

	while ((skb = __skb_dequeue(out))) {
		dir = RXO_FAULT_CB(skb)->dir;
		memset(skb->cb, 0, sizeof(skb->cb));
		if (dir == RXO_FAULT_RX)
			rxo_fault_hand_up(dev->net, skb);
		else
			rxo_fault_send(dev, skb);
	}
}

/* ------------------------------------------------------------ what must wait */

static void rxo_fault_unhold_locked(struct rxo_fault *f, struct sk_buff *skb)
{
	lockdep_assert_held(&f->lock);

	if (RXO_FAULT_CB(skb)->hold)
		f->nhold--;
	__skb_unlink(skb, &f->held);
}

static void rxo_fault_set_timer_locked(struct rxo_fault *f)
{
	struct sk_buff *skb = skb_peek(&f->held);

	lockdep_assert_held(&f->lock);

	if (skb)
		hrtimer_start(&f->timer, ns_to_ktime(RXO_FAULT_CB(skb)->due),
			      HRTIMER_MODE_ABS_SOFT);
}

/* @hold: 0: until @ns from now; else sooner, once overtaken that often. */
static void rxo_fault_hold_locked(struct rxo_fault *f, struct sk_buff *skb,
				  u64 ns, u32 hold)
{
	struct rxo_fault_cb *cb = RXO_FAULT_CB(skb);
	struct sk_buff *at;

	lockdep_assert_held(&f->lock);

	if (skb_queue_len(&f->held) >= RXO_FAULT_MAX_HELD ||
	    (skb_dst(skb) && !skb_dst_force(skb))) {
		rxo_stat_inc(f->dev, RXO_CNT_FAULT_NO_ROOM);
		kfree_skb(skb);
		return;
	}
	/* The netdev that it came by, or was to leave by, may go; ours stays. */
	skb->dev = f->dev->ndev;
	cb->due = ktime_get_ns() + ns;
	cb->hold = hold;
	f->nhold += !!hold;
	skb_queue_reverse_walk(&f->held, at)
		if (RXO_FAULT_CB(at)->due <= cb->due)
			break;
	/* Behind the last that is due before it, or first: @at is the head then. */
	__skb_queue_after(&f->held, at, skb);
	rxo_fault_set_timer_locked(f);
}

/* A packet of this QP goes on: it overtakes those that are held. */
static void rxo_fault_overtake_locked(struct rxo_fault *f, u8 dir, u32 qpn,
				      struct sk_buff_head *out)
{
	struct sk_buff *skb, *next;

	lockdep_assert_held(&f->lock);

	if (!f->nhold)
		return;
	skb_queue_walk_safe(&f->held, skb, next) {
		struct rxo_fault_cb *cb = RXO_FAULT_CB(skb);

		if (!cb->hold || cb->dir != dir || cb->qpn != qpn)
			continue;
		if (cb->hold > 1) {
			cb->hold--;
			continue;
		}
		rxo_fault_unhold_locked(f, skb);
		__skb_queue_tail(out, skb);
	}
}

static enum hrtimer_restart rxo_fault_timer_cb(struct hrtimer *timer)
{
	struct rxo_fault *f = container_of(timer, struct rxo_fault, timer);
	u64 now = ktime_get_ns();
	struct sk_buff_head out;
	struct sk_buff *skb;

	__skb_queue_head_init(&out);
	spin_lock(&f->lock);
	while ((skb = skb_peek(&f->held)) && RXO_FAULT_CB(skb)->due <= now) {
		rxo_fault_unhold_locked(f, skb);
		__skb_queue_tail(&out, skb);
	}
	rxo_fault_set_timer_locked(f);
	spin_unlock(&f->lock);

	rcu_read_lock();
	rxo_fault_go_on(f->dev, &out);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* @qpn: of this QP, or U32_MAX: all. */
static void rxo_fault_purge_locked(struct rxo_fault *f, u32 qpn)
{
	struct sk_buff *skb, *next;

	lockdep_assert_held(&f->lock);

	skb_queue_walk_safe(&f->held, skb, next) {
		if (qpn != U32_MAX && RXO_FAULT_CB(skb)->qpn != qpn)
			continue;
		rxo_fault_unhold_locked(f, skb);
		kfree_skb(skb);
	}
}

/* ------------------------------------------------------------------- verdicts */

/* The first rule that hits packet @i; what comes behind it does not see it. */
static const struct rxo_fault_rule *
rxo_fault_judge_locked(struct rxo_fault *f, const struct rxo_fault_train *t,
		       u32 i, struct rxo_pkt *pkt)
{
	u32 len = rxo_fault_seg_len(t, i);
	u32 avail = min_t(u32, len, RXO_MAX_HDR_LEN);
	struct rxo_fault_pkt p = { .dir = t->dir, .qpn = t->qpn };
	u8 hdr[RXO_MAX_HDR_LEN];
	u32 r;

	lockdep_assert_held(&f->lock);

	if (skb_copy_bits(t->skb, t->off + i * t->seg_len, hdr, avail) ||
	    rxo_wire_parse(hdr, avail, len, pkt))
		return NULL;
	p.kind = (u8)rxo_fault_kind_of(pkt);
	p.psn = pkt->psn.v;
	for (r = 0; r < f->nrules; r++) {
		if (!rxo_fault_hits(&f->rule[r], &p))
			continue;
		trace_rxo_fault(f->dev, t->qpn, pkt,
				rxo_fault_dir_name(t->dir),
				rxo_fault_action_name(f->rule[r].action));
		return &f->rule[r];
	}
	return NULL;
}

static void rxo_fault_pass_locked(struct rxo_fault *f,
				  const struct rxo_fault_train *t,
				  struct sk_buff *skb,
				  struct sk_buff_head *out)
{
	lockdep_assert_held(&f->lock);

	__skb_queue_tail(out, skb);
	rxo_fault_overtake_locked(f, t->dir, t->qpn, out);
}

/* What becomes of packet @i. @rule: that has hit it, or NULL. */
static void rxo_fault_apply_locked(struct rxo_fault *f,
				   const struct rxo_fault_train *t, u32 i,
				   const struct rxo_fault_rule *rule,
				   const struct rxo_pkt *pkt,
				   struct sk_buff_head *out)
{
	static const u8 counter[RXO_FAULT_ACTIONS] = {
		[RXO_FAULT_DROP] = RXO_CNT_FAULT_DROP,
		[RXO_FAULT_DUP] = RXO_CNT_FAULT_DUP,
		[RXO_FAULT_CORRUPT] = RXO_CNT_FAULT_CORRUPT,
		[RXO_FAULT_DELAY] = RXO_CNT_FAULT_DELAY,
		[RXO_FAULT_HOLD] = RXO_CNT_FAULT_HOLD,
	};
	u8 action = rule ? rule->action : RXO_FAULT_PASS;
	struct sk_buff *skb, *second;

	lockdep_assert_held(&f->lock);

	if (rule)
		rxo_stat_inc(f->dev, counter[action]);
	if (action == RXO_FAULT_DROP)
		return;
	skb = rxo_fault_copy(t, i);
	if (!skb) {
		rxo_stat_inc(f->dev, RXO_CNT_FAULT_NO_ROOM);
		return;
	}
	switch (action) {
	case RXO_FAULT_DUP:
		second = rxo_fault_copy(t, i);
		if (second)
			__skb_queue_tail(out, second);
		break;
	case RXO_FAULT_CORRUPT:
		rxo_fault_spoil(skb, pkt);
		break;
	case RXO_FAULT_DELAY:
		rxo_fault_hold_locked(f, skb, (u64)rule->arg * NSEC_PER_USEC, 0);
		return;
	case RXO_FAULT_HOLD:
		rxo_fault_hold_locked(f, skb, RXO_FAULT_HOLD_NS, rule->arg);
		return;
	}
	rxo_fault_pass_locked(f, t, skb, out);
}

/*
 * As long as no rule hits and nothing waits to be overtaken the train stays
 * whole; then it is cut up, from its first packet on.
 */
static bool rxo_fault_cut_locked(struct rxo_fault *f,
				 const struct rxo_fault_train *t,
				 struct sk_buff_head *out)
{
	u32 n = DIV_ROUND_UP(t->len, t->seg_len), i, before;
	const struct rxo_fault_rule *rule;
	bool cut = f->nhold;
	struct rxo_pkt pkt;

	lockdep_assert_held(&f->lock);

	for (i = 0; i < n; i++) {
		rule = rxo_fault_judge_locked(f, t, i, &pkt);
		if (rule && !cut) {
			cut = true;
			for (before = 0; before < i; before++)
				rxo_fault_apply_locked(f, t, before, NULL,
						       NULL, out);
		}
		if (cut)
			rxo_fault_apply_locked(f, t, i, rule, &pkt, out);
	}
	return cut;
}

static bool rxo_fault_train(struct rxo_dev *dev, struct rxo_fault_train *t)
{
	struct rxo_fault *f = dev->fault;
	struct sk_buff_head out;
	bool cut = false;

	__skb_queue_head_init(&out);
	t->ipv6 = ip_hdr(t->skb)->version == 6;
	spin_lock(&f->lock);
	if (f->nrules)
		cut = rxo_fault_cut_locked(f, t, &out);
	spin_unlock(&f->lock);
	if (cut)
		rxo_fault_go_on(dev, &out);
	return cut;
}

bool rxo_fault_rx(struct rxo_dev *dev, struct sk_buff *skb, u32 qpn, u32 len,
		  u32 seg_len)
{
	struct rxo_fault_train t = {
		.skb = skb,
		.dir = RXO_FAULT_RX,
		.qpn = qpn,
		.len = len,
		.seg_len = seg_len,
	};

	if (!rxo_fault_train(dev, &t))
		return false;
	consume_skb(skb);
	return true;
}

bool rxo_fault_tx(struct rxo_dev *dev, struct sk_buff *skb, u32 qpn,
		  u32 seg_len)
{
	u32 off = skb_transport_offset(skb) + sizeof(struct udphdr);
	struct rxo_fault_train t = {
		.skb = skb,
		.dir = RXO_FAULT_TX,
		.qpn = qpn,
		.off = off,
		.len = skb->len - off,
		.seg_len = seg_len,
	};

	if (!rxo_fault_train(dev, &t))
		return false;
	consume_skb(skb);
	return true;
}

/* --------------------------------------------------------------------- rules */

/* What is wrong, for a reader. The word comes from outside: only what prints. */
static void rxo_fault_explain(struct rxo_fault *f,
			      const struct rxo_fault_error *err)
{
	char word[RXO_FAULT_WORD_LEN + 1];
	u32 i;

	for (i = 0; i < min_t(u32, err->len, RXO_FAULT_WORD_LEN); i++)
		word[i] = err->word[i] > ' ' && err->word[i] < 0x7f ?
			err->word[i] : '?';
	word[i] = 0;
	scnprintf(f->why, sizeof(f->why), i ? "%s: '%s'" : "%s", err->what, word);
}

static int rxo_fault_add_locked(struct rxo_fault *f,
				const struct rxo_fault_rule *rule)
{
	lockdep_assert_held(&f->lock);

	if (f->nrules == RXO_FAULT_MAX_RULES)
		return -ENOSPC;
	f->rule[f->nrules++] = *rule;
	return 0;
}

static void rxo_fault_clear_locked(struct rxo_fault *f)
{
	lockdep_assert_held(&f->lock);

	f->nrules = 0;
	rxo_fault_purge_locked(f, U32_MAX);
}

static bool rxo_fault_is_clear(const char *line, size_t len)
{
	static const char clear[] = "clear";

	while (len && line[len - 1] == ' ')
		len--;
	return len == strlen(clear) && !memcmp(line, clear, len);
}

static int rxo_fault_line(struct rxo_fault *f, const char *line, size_t len)
{
	struct rxo_fault_error err;
	struct rxo_fault_rule rule;
	int ret;

	if (rxo_fault_is_clear(line, len)) {
		spin_lock_bh(&f->lock);
		rxo_fault_clear_locked(f);
		spin_unlock_bh(&f->lock);
		return 0;
	}
	ret = rxo_fault_parse(line, len, &rule, &err);
	if (ret == -ENODATA)
		return 0;
	if (!ret) {
		spin_lock_bh(&f->lock);
		ret = rxo_fault_add_locked(f, &rule);
		spin_unlock_bh(&f->lock);
		err = (struct rxo_fault_error){ .what = "too many rules" };
	}
	if (ret)
		rxo_fault_explain(f, &err);
	return ret;
}

/* After a change of rules: does this device still, or now, need the hooks? */
static void rxo_fault_set_key(struct rxo_fault *f)
{
	bool needed = READ_ONCE(f->nrules);

	lockdep_assert_held(&f->mutex);

	if (needed == f->counted)
		return;
	f->counted = needed;
	if (needed)
		static_branch_inc(&rxo_fault_key);
	else
		static_branch_dec(&rxo_fault_key);
}

int rxo_fault_write(struct rxo_dev *dev, const char *text, size_t len)
{
	struct rxo_fault *f = dev->fault;
	const char *end;
	int err = 0;

	mutex_lock(&f->mutex);
	f->why[0] = 0;
	while (len && !err) {
		end = memchr(text, '\n', len);
		if (!end)
			end = text + len;
		err = rxo_fault_line(f, text, end - text);
		len -= min_t(size_t, len, end + 1 - text);
		text = end + 1;
	}
	rxo_fault_set_key(f);
	mutex_unlock(&f->mutex);
	return err;
}

void rxo_fault_clear(struct rxo_dev *dev)
{
	struct rxo_fault *f = dev->fault;

	mutex_lock(&f->mutex);
	spin_lock_bh(&f->lock);
	rxo_fault_clear_locked(f);
	spin_unlock_bh(&f->lock);
	rxo_fault_set_key(f);
	mutex_unlock(&f->mutex);
}

void rxo_fault_forget(struct rxo_dev *dev, u32 qpn)
{
	struct rxo_fault *f = dev->fault;

	if (!rxo_fault_is_on())
		return;
	spin_lock_bh(&f->lock);
	rxo_fault_purge_locked(f, qpn);
	spin_unlock_bh(&f->lock);
}

static void rxo_fault_show_rule(const struct rxo_fault_rule *rule,
				struct seq_file *s)
{
	u32 i;

	seq_printf(s, "%s %s", rxo_fault_dir_name(rule->dir),
		   rxo_fault_kind_name(rule->kind));
	for (i = 0; i < RXO_FAULT_SELS; i++) {
		if (!(rule->given & 1U << i))
			continue;
		seq_printf(s, " %s=", rxo_fault_sel_name(i));
		if (i == RXO_FAULT_PCT)
			seq_printf(s, "%u.%04u", rule->sel[i] / 10000,
				   rule->sel[i] % 10000);
		else
			seq_printf(s, "%u", rule->sel[i]);
	}
	seq_printf(s, " %s", rxo_fault_action_name(rule->action));
	if (rule->arg)
		seq_printf(s, "=%u", rule->arg);
	seq_printf(s, " # seen %llu hit %llu\n", rule->seen, rule->hits);
}

void rxo_fault_show(struct rxo_dev *dev, struct seq_file *s)
{
	struct rxo_fault *f = dev->fault;
	u32 i;

	mutex_lock(&f->mutex);
	spin_lock_bh(&f->lock);
	for (i = 0; i < f->nrules; i++)
		rxo_fault_show_rule(&f->rule[i], s);
	seq_printf(s, "# waiting %u\n", skb_queue_len(&f->held));
	spin_unlock_bh(&f->lock);
	if (f->why[0])
		seq_printf(s, "# refused: %s\n", f->why);
	mutex_unlock(&f->mutex);
}

/* ---------------------------------------------------------------------- life */

void __init rxo_fault_init(rxo_fault_rx_t rx)
{
	rxo_fault_hand_up = rx;
}

int rxo_fault_create(struct rxo_dev *dev)
{
	struct rxo_fault *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	mutex_init(&f->mutex);
	spin_lock_init(&f->lock);
	__skb_queue_head_init(&f->held);
	hrtimer_init(&f->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	f->timer.function = rxo_fault_timer_cb;
	f->dev = dev;
	dev->fault = f;
	return 0;
}

void rxo_fault_destroy(struct rxo_dev *dev)
{
	rxo_fault_clear(dev);
	hrtimer_cancel(&dev->fault->timer);
	kfree(dev->fault);
	dev->fault = NULL;
}
