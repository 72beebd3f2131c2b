// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Module init and exit. */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "crc.h"
#include "debug.h"
#include "dev.h"
#include "fault.h"
#include "link.h"
#include "net.h"
#include "qp.h"
#include "stats.h"
#include "tx.h"

struct workqueue_struct *rxo_wq;

bool rxo_trains = true;
module_param_named(trains, rxo_trains, bool, 0644);
MODULE_PARM_DESC(trains,
		 "Send packets of one length as one UDP GSO skb (devices added from now on)");

bool rxo_ordered_default;
module_param_named(ordered_completions, rxo_ordered_default, bool, 0644);
MODULE_PARM_DESC(ordered_completions,
		 "Ordered completions for QPs of kernel consumers; processes ask for themselves");

unsigned int rxo_overtaking_us;
module_param_named(overtaking_us, rxo_overtaking_us, uint, 0644);
MODULE_PARM_DESC(overtaking_us,
		 "Longest time by which a packet may be overtaken on its path, microseconds (0: the path keeps order; ordered QPs created from now on)");

static int __init rxo_init(void)
{
	int err;

	rxo_stats_init();
	rxo_fault_init(rxo_rx_passed);
	err = rxo_crc_init();
	if (err)
		return err;

	/*
	 * An item is one QP for one budget, so it is short. Bound to the CPU
	 * that queued it, where its data is hot, and managed, so that the QPs
	 * of a CPU take turns in the order in which they asked instead of each
	 * waking a thread. WQ_MEM_RECLAIM: storage may be waiting for it.
	 */
	rxo_wq = alloc_workqueue("rxe_ordered", WQ_MEM_RECLAIM, 0);
	if (!rxo_wq) {
		err = -ENOMEM;
		goto err_crc;
	}
	err = rxo_qp_init();
	if (err)
		goto err_wq;
	err = rxo_net_init(rxo_rx_skb);
	if (err)
		goto err_qp;
	err = rxo_debug_init();
	if (err)
		goto err_net;
	err = rxo_link_init();
	if (err)
		goto err_debug;
	return 0;

err_debug:
	rxo_debug_exit();
err_net:
	rxo_net_exit();
err_qp:
	rxo_qp_exit();
err_wq:
	destroy_workqueue(rxo_wq);
err_crc:
	rxo_crc_exit();
	return err;
}

static void __exit rxo_exit(void)
{
	/* Ends all devices, so from here on there are no objects and packets. */
	rxo_link_exit();
	rxo_debug_exit();
	rxo_net_exit();
	/* Call-backs of freed objects still run code of this module. */
	rcu_barrier();
	rxo_qp_exit();
	rxo_tx_exit();
	destroy_workqueue(rxo_wq);
	rxo_crc_exit();
}

module_init(rxo_init);
module_exit(rxo_exit);

MODULE_DESCRIPTION("Soft-RoCE v2 with ordered completions");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(RXO_VERSION);
