/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two connected queue pairs in one process.
 *
 * Owns: finding devices by name, choosing a GID, opening, and the modify calls
 * that connect RC queue pairs. Must never know: who uses them and for what. The
 * test programs are built on it too.
 */
#ifndef PAIR_H
#define PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define PAIR_GID_AUTO	(-1)
#define PAIR_ERR_LEN	256

/**
 * struct pair_port - a device, opened
 * @ctx: its context
 * @pd: a protection domain on it
 * @attr: of port 1
 * @gid: the GID that queue pairs use
 * @gid_index: its index
 */
struct pair_port {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_port_attr attr;
	union ibv_gid gid;
	int gid_index;
};

/**
 * struct pair_conn - attributes of a connection, the same in both directions
 * @mtu: path MTU
 * @psn: about where the PSNs of both sides begin, see pair_psn()
 * @access: remote access that both allow, enum ibv_access_flags
 * @rd_atomic: READs under way at a time
 * @timeout: 4.096 us << timeout
 * @retry: retry count
 * @rnr_retry: RNR retry count, 7 without end
 * @min_rnr: RNR timer code
 */
struct pair_conn {
	enum ibv_mtu mtu;
	uint32_t psn;
	int access;
	uint8_t rd_atomic;
	uint8_t timeout;
	uint8_t retry;
	uint8_t rnr_retry;
	uint8_t min_rnr;
};

/**
 * pair_find_devices - names of the devices that a filter accepts
 * @names: room for @max names
 * @max: how many at most
 * @accept: filter, or NULL for all
 *
 * Return: how many devices the filter accepts, which may be more than @max.
 */
int pair_find_devices(char (*names)[IBV_SYSFS_NAME_MAX], int max,
		      bool (*accept)(struct ibv_device *device));

/**
 * pair_open - open a device
 * @port: filled in
 * @name: of the device
 * @gid_index: or PAIR_GID_AUTO: an IPv4-mapped RoCE v2 GID if there is one
 * @err: text of the reason, PAIR_ERR_LEN bytes
 *
 * Return: 0, or -1 and a text in @err.
 */
int pair_open(struct pair_port *port, const char *name, int gid_index,
	      char *err);

/**
 * pair_close - undo pair_open()
 * @port: opened, or all zero
 */
void pair_close(struct pair_port *port);

/**
 * pair_conn_init - defaults for a connection between two ports
 * @conn: filled in: everything allowed, the smaller of the two active MTUs
 * @a: one port
 * @b: the other, may be the same
 */
void pair_conn_init(struct pair_conn *conn, const struct pair_port *a,
		    const struct pair_port *b);

/**
 * pair_psn - the first PSN that a queue pair sends
 * @conn: attributes
 * @qpn: its number, which makes it differ from that of its peer
 */
uint32_t pair_psn(const struct pair_conn *conn, uint32_t qpn);

/**
 * pair_to_init - RESET to INIT
 * @qp: queue pair
 * @conn: attributes
 *
 * Return: 0 or a positive errno, as ibv_modify_qp() does; so do the others.
 */
int pair_to_init(struct ibv_qp *qp, const struct pair_conn *conn);

/**
 * pair_to_rtr - INIT to RTR
 * @qp: queue pair on @port
 * @port: its port
 * @peer: port of the other side
 * @peer_qpn: number of the other queue pair
 * @conn: attributes
 */
int pair_to_rtr(struct ibv_qp *qp, const struct pair_port *port,
		const struct pair_port *peer, uint32_t peer_qpn,
		const struct pair_conn *conn);

/**
 * pair_to_rts - RTR to RTS
 * @qp: queue pair
 * @conn: attributes
 */
int pair_to_rts(struct ibv_qp *qp, const struct pair_conn *conn);

/**
 * pair_to_err - any state to ERR
 * @qp: queue pair
 */
int pair_to_err(struct ibv_qp *qp);

/**
 * pair_connect - two queue pairs in RESET to RTS
 * @a: queue pair on @pa
 * @pa: its port
 * @b: queue pair on @pb
 * @pb: its port
 * @conn: attributes
 */
int pair_connect(struct ibv_qp *a, const struct pair_port *pa,
		 struct ibv_qp *b, const struct pair_port *pb,
		 const struct pair_conn *conn);

#endif /* PAIR_H */
