/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs with what only the library can ask for. */
#ifndef T_ORDERED_H
#define T_ORDERED_H

#include <stdint.h>
#include <infiniband/verbs.h>

/**
 * t_create_qp - create a queue pair by rxodv_create_qp()
 * @pd: protection domain
 * @attr: as for ibv_create_qp(), changed like there
 * @flags: create_flags of struct rxodv_qp_init_attr
 *
 * Return: it, or NULL with errno.
 */
struct ibv_qp *t_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
			   uint32_t flags);

/**
 * t_create_ordered - one with ordered completions, for struct t_config
 * @pd: protection domain
 * @attr: as above
 *
 * Return: as above.
 */
struct ibv_qp *t_create_ordered(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

#endif /* T_ORDERED_H */
