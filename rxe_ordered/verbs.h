/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What ib_core sees of a device. */
#ifndef RXO_VERBS_H
#define RXO_VERBS_H

#include <rdma/uverbs_ioctl.h>

#include "dev.h"

/* Methods of the driver namespace, uverbs.c. */
extern const struct uapi_definition rxo_uapi_defs[];

/**
 * rxo_verbs_setup - everything ib_register_device() wants to know
 * @dev: ndev, net, tables and stats are set up
 *
 * Sets the ops except dealloc_driver, which belongs to who made the device.
 */
void rxo_verbs_setup(struct rxo_dev *dev);

#endif /* RXO_VERBS_H */
