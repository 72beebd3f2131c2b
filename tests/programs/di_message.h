/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One message of data_integrity: buffers laid out in pieces with guard bytes around
 * each, the transfer, and the comparison of every byte.
 */
#ifndef DI_MESSAGE_H
#define DI_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "t_link.h"

#define DI_MAX_LEN	((1U << 20) + 3)
#define DI_MAX_SGE	32
#define DI_GUARD	24	/* bytes before each piece and after the last */
#define DI_EXTRA	8	/* room left over in a receive, at most */

/* Memory of one end: a source and a destination area, and one for idle receives. */
#define DI_AREA		(DI_MAX_LEN + (DI_MAX_SGE + 1) * (DI_GUARD + 8) + 4096)
#define DI_MEM		(2 * DI_AREA + 4096)

enum di_op {
	DI_SEND,
	DI_SEND_IMM,
	DI_WRITE,
	DI_WRITE_IMM,
	DI_READ,
	DI_NUM_OPS,
};

extern const char *const di_op_name[DI_NUM_OPS];

/**
 * struct di_message - what to transfer
 * @op: operation
 * @len: bytes
 * @align_src: the pieces of the source begin that far from a multiple of 8
 * @align_dst: those of the destination
 * @sge_src: pieces of the source; one if it is remote
 * @sge_dst: pieces of the destination; one if it is remote
 * @is_inline: copied when it is posted
 * @seed: for all that is random about it
 */
struct di_message {
	enum di_op op;
	uint32_t len;
	unsigned int align_src;
	unsigned int align_dst;
	unsigned int sge_src;
	unsigned int sge_dst;
	bool is_inline;
	unsigned int seed;
};

/**
 * struct di_layout - a buffer in pieces
 * @base: first guard byte
 * @span: bytes from there to behind the last guard byte
 * @sge: the pieces
 * @num: how many
 */
struct di_layout {
	unsigned char *base;
	uint32_t span;
	struct ibv_sge sge[DI_MAX_SGE];
	unsigned int num;
};

/**
 * di_create_qp - for struct t_config: a QP of which messages can be built, too
 *
 * Half of the messages that a device of ours sends then go by the builders of struct
 * ibv_qp_ex, the others by ibv_post_send(). How others build is not our business.
 */
struct ibv_qp *di_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

/**
 * di_built - how many messages went by builders
 */
unsigned int di_built(void);

/**
 * di_init - make the random bytes
 */
void di_init(void);

/**
 * di_data - the bytes of a message
 * @seed: of the message
 */
const unsigned char *di_data(unsigned int seed);

/**
 * di_layout_make - lay out a buffer of guard bytes
 * @layout: filled in
 * @base: memory with room for it
 * @lkey: of that memory
 * @len: bytes of all pieces
 * @align: of each piece
 * @pieces: how many
 * @seed: decides where it is cut
 */
void di_layout_make(struct di_layout *layout, unsigned char *base, uint32_t lkey,
		    uint32_t len, unsigned int align, unsigned int pieces,
		    unsigned int seed);

/**
 * di_layout_fill - put data into the pieces
 * @layout: buffer
 * @data: bytes
 */
void di_layout_fill(const struct di_layout *layout, const unsigned char *data);

/**
 * di_layout_check - compare a buffer, guards included
 * @layout: buffer
 * @data: what the pieces must hold
 * @len: of them the first bytes; the rest must hold guard bytes
 *
 * Return: -1 if all is right, else the offset from the base of the first wrong byte.
 */
long di_layout_check(const struct di_layout *layout, const unsigned char *data,
		     uint32_t len);

/**
 * di_transfer - do it and check everything
 * @from: requester
 * @to: responder
 * @m: message
 *
 * Return: whether all was right; if not, a check has failed that says what.
 */
bool di_transfer(struct t_end *from, struct t_end *to,
		 const struct di_message *m);

#endif /* DI_MESSAGE_H */
