// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The extended poll of a CQ of ibv_create_cq_ex().
 *
 * Each start_poll and next_poll takes one completion out of the ring, as a poll
 * with room for one would: copied, consumed by compare-and-swap. So a session
 * holds nothing that others could miss, and poll, the verb and the kernel method
 * may consume the same CQ in the middle of it.
 *
 * What a session does own is the current completion; that is what the mutex is
 * for. It is held after a start_poll that returned 0 and until end_poll, whatever
 * next_poll returned. Which functions take it is decided when the CQ is created.
 */
#include <errno.h>

#include "rxo.h"

/*
 * Make the next completion the current one. The current one stays as it was if
 * there is none.
 *
 * Return: 0; ENOENT; EIO when there is none and never will be.
 */
static int rxo_cqx_advance(struct ibv_cq_ex *cqx)
{
	struct rxo_cq *cq = to_rxo_cqx(cqx);
	struct ibv_wc wc;
	int n = rxo_cq_poll(&cq->ring, 1, &wc);

	if (n < 1)
		return n ? -n : ENOENT;

	cq->current = wc;
	cqx->wr_id = wc.wr_id;
	cqx->status = wc.status;
	return 0;
}

/* ----------------------------------------------------------------- session */

static int rxo_start_poll_unlocked(struct ibv_cq_ex *cqx,
				   struct ibv_poll_cq_attr *attr)
{
	return attr->comp_mask ? EINVAL : rxo_cqx_advance(cqx);
}

static int rxo_start_poll(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct rxo_cq *cq = to_rxo_cqx(cqx);
	int err;

	pthread_mutex_lock(&cq->session);
	err = rxo_start_poll_unlocked(cqx, attr);
	if (err)
		pthread_mutex_unlock(&cq->session);
	return err;
}

static void rxo_end_poll_unlocked(struct ibv_cq_ex *cqx)
{
	(void)cqx;
}

static void rxo_end_poll(struct ibv_cq_ex *cqx)
{
	pthread_mutex_unlock(&to_rxo_cqx(cqx)->session);
}

/* ------------------------------------------------------ current completion */

static enum ibv_wc_opcode rxo_read_opcode(struct ibv_cq_ex *cqx)
{
	return to_rxo_cqx(cqx)->current.opcode;
}

static uint32_t rxo_read_vendor_err(struct ibv_cq_ex *cqx)
{
	return to_rxo_cqx(cqx)->current.vendor_err;
}

static uint32_t rxo_read_byte_len(struct ibv_cq_ex *cqx)
{
	return to_rxo_cqx(cqx)->current.byte_len;
}

static __be32 rxo_read_imm_data(struct ibv_cq_ex *cqx)
{
	return to_rxo_cqx(cqx)->current.imm_data;
}

static uint32_t rxo_read_qp_num(struct ibv_cq_ex *cqx)
{
	return to_rxo_cqx(cqx)->current.qp_num;
}

static uint32_t rxo_read_src_qp(struct ibv_cq_ex *cqx)
{
	return to_rxo_cqx(cqx)->current.src_qp;
}

static unsigned int rxo_read_wc_flags(struct ibv_cq_ex *cqx)
{
	return to_rxo_cqx(cqx)->current.wc_flags;
}

/* Ethernet has no LIDs and no service levels: zero, as ibv_poll_cq() says. */
static uint32_t rxo_read_slid(struct ibv_cq_ex *cqx)
{
	return to_rxo_cqx(cqx)->current.slid;
}

static uint8_t rxo_read_sl(struct ibv_cq_ex *cqx)
{
	return to_rxo_cqx(cqx)->current.sl;
}

static uint8_t rxo_read_dlid_path_bits(struct ibv_cq_ex *cqx)
{
	return to_rxo_cqx(cqx)->current.dlid_path_bits;
}

/**
 * rxo_poll_ex_init - give a CQ its extended poll
 * @cq: completion queue, not yet seen by anybody else
 * @single_threaded: the caller promises that sessions do not meet
 *
 * All fields of an entry can be read, whether they were asked for or not: they
 * have been copied anyway. There is no reader for what no entry has
 * (timestamps, VLAN, flow tag, tag matching), which creation refuses.
 */
void rxo_poll_ex_init(struct rxo_cq *cq, bool single_threaded)
{
	struct ibv_cq_ex *cqx = &cq->ibcqx;

	cqx->start_poll = single_threaded ? rxo_start_poll_unlocked :
					    rxo_start_poll;
	cqx->next_poll = rxo_cqx_advance;
	cqx->end_poll = single_threaded ? rxo_end_poll_unlocked : rxo_end_poll;

	cqx->read_opcode = rxo_read_opcode;
	cqx->read_vendor_err = rxo_read_vendor_err;
	cqx->read_byte_len = rxo_read_byte_len;
	cqx->read_imm_data = rxo_read_imm_data;
	cqx->read_qp_num = rxo_read_qp_num;
	cqx->read_src_qp = rxo_read_src_qp;
	cqx->read_wc_flags = rxo_read_wc_flags;
	cqx->read_slid = rxo_read_slid;
	cqx->read_sl = rxo_read_sl;
	cqx->read_dlid_path_bits = rxo_read_dlid_path_bits;
}
