/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two devices that can reach each other, made for "rxo ladder": a namespace each,
 * a veth pair, addresses. rdma_rxe works in the initial namespace only.
 */
#ifndef LADDER_NET_H
#define LADDER_NET_H

#include <stdbool.h>

#define LADDER_DEV_A	"rxo_ladder_a"
#define LADDER_DEV_B	"rxo_ladder_b"

/**
 * ladder_net_up - make LADDER_DEV_A and LADDER_DEV_B
 * @rxe: the second one of rdma_rxe, in the initial namespace
 *
 * Takes down first what an earlier run may have left. Return: 0, or -1; what is
 * wrong has been said then.
 */
int ladder_net_up(bool rxe);

/**
 * ladder_net_down - take down all of it that is there
 */
void ladder_net_down(void);

#endif /* LADDER_NET_H */
