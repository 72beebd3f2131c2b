/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A stream of small numbered messages from one queue pair to another, whose
 * receive completions go to a CQ with a completion channel. One thread sends;
 * who consumes the CQ, and how, is up to others: all that they tell the stream is
 * how many messages they have processed.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdatomic.h>
#include <stdint.h>

#include "pair.h"

/**
 * struct stream - the queue pairs and how far they are
 * @channel: of @recv_cq
 * @send_cq: polled by stream_send()
 * @recv_cq: for the consumers; the CQ context is the stream
 * @send_qp: sends
 * @recv_qp: receives
 * @recv_cq_ex: the same CQ for extended polling, or NULL
 * @depth: messages that may be under way
 * @flags: sent with every message: 0 or IBV_SEND_SOLICITED
 * @received: receives posted
 * @sent: messages sent; the number in the next one
 * @done: of these, known to be completed at the sender
 * @processed: advanced by the consumers
 */
struct stream {
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_cq_ex *recv_cq_ex;
	struct ibv_qp *send_qp;
	struct ibv_qp *recv_qp;
	uint32_t depth;
	unsigned int flags;
	uint32_t received;
	uint32_t sent;
	uint32_t done;
	_Atomic uint32_t processed;
};

/* Most messages posted at a time, and how often one asks for a completion. */
#define STREAM_CHAIN	64

/**
 * stream_open - create and connect
 * @s: filled in
 * @a: the port that sends
 * @b: the port that receives, may be the same
 * @depth: messages under way, a multiple of STREAM_CHAIN
 * @err: text of the reason, PAIR_ERR_LEN bytes
 *
 * The CQ of the consumers is neither armed nor owned by anybody.
 *
 * Return: 0, or -1 and a text in @err.
 */
int stream_open(struct stream *s, const struct pair_port *a,
		const struct pair_port *b, uint32_t depth, char *err);

/**
 * stream_open_ex - the same, with a CQ for extended polling
 */
int stream_open_ex(struct stream *s, const struct pair_port *a,
		   const struct pair_port *b, uint32_t depth, char *err);

/**
 * stream_close - destroy
 * @s: opened, or all zero; all events are acknowledged
 */
void stream_close(struct stream *s);

/**
 * stream_send - send the next messages
 * @s: stream
 * @n: how many
 * @err: text of the reason, PAIR_ERR_LEN bytes
 *
 * Message i carries i as its immediate data.
 *
 * Return: how many were sent, fewer than @n when the consumers lag behind; -1 and
 * a text in @err.
 */
int stream_send(struct stream *s, uint32_t n, char *err);

/**
 * stream_number - the number of a message
 * @wc: its receive completion
 */
uint32_t stream_number(const struct ibv_wc *wc);

#endif /* STREAM_H */
