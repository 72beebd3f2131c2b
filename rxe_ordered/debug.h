/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * debugfs: rxe_ordered/DEVICE/ for every device, under its name of the moment,
 * as long as it is registered. Files:
 *
 *   faults   rules of fault injection: see fault.h
 *   trains   Y or N: are packets of one length sent as one GSO skb?
 *   qps      queue pairs and what each waits for: see qp_status.c
 */
#ifndef RXO_DEBUG_H
#define RXO_DEBUG_H

/* From before the first device until after the last. */
int rxo_debug_init(void);
void rxo_debug_exit(void);

#endif /* RXO_DEBUG_H */
