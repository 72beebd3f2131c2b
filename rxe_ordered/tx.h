/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the module's exit needs of the transmit side. */
#ifndef RXO_TX_H
#define RXO_TX_H

/* Free the payload pages. No QP exists any more. */
void rxo_tx_exit(void);

#endif /* RXO_TX_H */
