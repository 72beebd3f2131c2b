/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Set-up of the CRC-32 that core/rxo_env.h declares. Process context. */
#ifndef RXO_CRC_H
#define RXO_CRC_H

int rxo_crc_init(void);
void rxo_crc_exit(void);

#endif /* RXO_CRC_H */
