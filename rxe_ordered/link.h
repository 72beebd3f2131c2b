/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Devices: "rdma link add" and "delete", and the events of their netdevs. */
#ifndef RXO_LINK_H
#define RXO_LINK_H

/* Process context. After _init() devices can be made. */
int rxo_link_init(void);
/* No more devices from here on; those there are are gone when it returns. */
void rxo_link_exit(void);

#endif /* RXO_LINK_H */
