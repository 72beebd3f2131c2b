/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Fault injection: loses, repeats, spoils, delays and reorders single packets
 * of a device below its protocol, by rules (fault_rule.h) that debugfs takes.
 *
 * Packets are hooked in right after their headers were found usable (rx), or
 * right before the stack gets them (tx); a train is looked at packet by packet
 * and goes on whole unless a rule hits one of them. While no device has a rule
 * the hooks cost a static branch each.
 *
 * What is delayed or held lives here, in a bounded number for a bounded time,
 * and no longer than its queue pair, the rules and the device.
 */
#ifndef RXO_FAULT_H
#define RXO_FAULT_H

#include <linux/jump_label.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>

#include "dev.h"

DECLARE_STATIC_KEY_FALSE(rxo_fault_key);

static inline bool rxo_fault_is_on(void)
{
	return static_branch_unlikely(&rxo_fault_key);
}

/*
 * @rx takes a packet that has passed: skb->data at the UDP header, network
 * header set, no train. It owns the skb. Bottom halves off, RCU read-side
 * section.
 */
typedef void (*rxo_fault_rx_t)(struct net *net, struct sk_buff *skb);

void rxo_fault_init(rxo_fault_rx_t rx);

/* The faults of a device, no rules yet. -ENOMEM. Process context. */
int rxo_fault_create(struct rxo_dev *dev);
/* No packet is under way any more, and no rule can be added. */
void rxo_fault_destroy(struct rxo_dev *dev);
/* Remove all rules, free what is delayed or held. Process context. */
void rxo_fault_clear(struct rxo_dev *dev);
/* Free what is delayed or held of a QP that nobody can find any more. */
void rxo_fault_forget(struct rxo_dev *dev, u32 qpn);

/**
 * rxo_fault_rx - let the rules of a device look at what it has received
 * @dev: the device
 * @skb: a packet or a train; skb->data at the first BTH, headers set
 * @qpn: QP that the first packet is for
 * @len: from the first BTH to the last ICRC
 * @seg_len: of each packet but the last
 *
 * Context: bottom halves off, RCU read-side section.
 * Return: true if the skb has been taken; what passes comes back by itself.
 */
bool rxo_fault_rx(struct rxo_dev *dev, struct sk_buff *skb, u32 qpn, u32 len,
		  u32 seg_len);
/* The same for what is to be sent by @qpn: skb->data at the IP header. */
bool rxo_fault_tx(struct rxo_dev *dev, struct sk_buff *skb, u32 qpn,
		  u32 seg_len);

/**
 * rxo_fault_write - take lines: rules to be added, or "clear"
 * @dev: the device
 * @text: lines; what comes before a wrong one takes effect
 * @len: of it
 *
 * Context: process. Return: 0; -EINVAL for a wrong line, which rxo_fault_show()
 * then tells about; -ENOSPC for too many rules.
 */
int rxo_fault_write(struct rxo_dev *dev, const char *text, size_t len);
/* The rules, one a line as they were given, with what they have seen and hit. */
void rxo_fault_show(struct rxo_dev *dev, struct seq_file *s);

#endif /* RXO_FAULT_H */
