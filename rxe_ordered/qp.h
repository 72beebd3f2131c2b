/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs: life, ownership, timers, attributes, and copying ring entries
 * in. Drives the machines of core/.
 */
#ifndef RXO_QP_H
#define RXO_QP_H

#include "dev.h"

int rxo_qp_init(void);		/* module-wide table of QP numbers */
void rxo_qp_exit(void);

/* ib_device_ops */
int rxo_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata);
int rxo_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int rxo_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init_attr);
int rxo_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata);
/* Details for "rdma resource show qp -dd". */
int rxo_qp_fill_res(struct sk_buff *msg, struct ib_qp *ibqp);

/*
 * Look at the send ring now. Process context with interrupts on (a kernel
 * consumer with interrupts off only marks the work). -EIO: device gone.
 */
int rxo_qp_doorbell(struct ib_qp *ibqp);

/* Lines about the queue pairs of the device that is seq_file.private. */
extern const struct seq_operations rxo_qp_status_ops;

/* Received packet, as net.h hands it up. */
void rxo_rx_skb(struct net *net, struct sk_buff *skb);
/* The same for one that fault injection has let pass. */
void rxo_rx_passed(struct net *net, struct sk_buff *skb);

/* Size the core must allocate for the ib_qp: INIT_RDMA_OBJ_SIZE(ib_qp, ...). */
struct rxo_ibqp {
	struct ib_qp ib;
	struct rxo_qp *qp;	/* what RCU readers can see; freed after them */
};

#endif /* RXO_QP_H */
