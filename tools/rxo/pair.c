// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Devices, GIDs and the modify calls that connect two RC queue pairs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pair.h"

#define PORT_NUM	1

/* ------------------------------------------------------------------ devices */

int pair_find_devices(char (*names)[IBV_SYSFS_NAME_MAX], int max,
		      bool (*accept)(struct ibv_device *device))
{
	struct ibv_device **list;
	int i, n, found = 0;

	list = ibv_get_device_list(&n);
	if (!list)
		return 0;
	for (i = 0; i < n; i++) {
		if (accept && !accept(list[i]))
			continue;
		if (found < max)
			snprintf(names[found], sizeof(names[found]), "%s",
				 ibv_get_device_name(list[i]));
		found++;
	}
	ibv_free_device_list(list);
	return found;
}

static struct ibv_context *open_by_name(const char *name, char *err)
{
	struct ibv_context *ctx = NULL;
	struct ibv_device **list;
	int i, n = 0;

	list = ibv_get_device_list(&n);
	if (!list) {
		snprintf(err, PAIR_ERR_LEN, "cannot list RDMA devices: %s",
			 strerror(errno));
		return NULL;
	}
	for (i = 0; i < n; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			break;
	if (i == n) {
		snprintf(err, PAIR_ERR_LEN, "no RDMA device is named '%s'",
			 name);
	} else {
		ctx = ibv_open_device(list[i]);
		if (!ctx)
			snprintf(err, PAIR_ERR_LEN, "cannot open %s: %s", name,
				 strerror(errno));
	}
	ibv_free_device_list(list);
	return ctx;
}

/* --------------------------------------------------------------------- GIDs */

/* The higher the better; 0: not to be used. */
static int gid_rank(const struct ibv_gid_entry *entry)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *raw = entry->gid.raw;

	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2)
		return 0;
	if (!memcmp(raw, mapped, sizeof(mapped)))
		return 3;
	return raw[0] == 0xfe && (raw[1] & 0xc0) == 0x80 ? 1 : 2;
}

static int choose_gid(struct pair_port *port, int gid_index, char *err)
{
	struct ibv_gid_entry entry, best = { 0 };
	int i, rank, best_rank = 0;

	for (i = 0; i < port->attr.gid_tbl_len; i++) {
		if (gid_index != PAIR_GID_AUTO && i != gid_index)
			continue;
		if (ibv_query_gid_ex(port->ctx, PORT_NUM, i, &entry, 0))
			continue;
		rank = gid_rank(&entry);
		if (rank > best_rank) {
			best_rank = rank;
			best = entry;
		}
	}
	if (!best_rank) {
		snprintf(err, PAIR_ERR_LEN, gid_index == PAIR_GID_AUTO ?
			 "%s has no RoCE v2 GID (does its netdev have an address?)" :
			 "%s has no RoCE v2 GID at index %d",
			 ibv_get_device_name(port->ctx->device), gid_index);
		return -1;
	}
	port->gid = best.gid;
	port->gid_index = best.gid_index;
	return 0;
}

/* --------------------------------------------------------------- open, close */

static int open_port(struct pair_port *port, int gid_index, char *err)
{
	const char *name = ibv_get_device_name(port->ctx->device);
	int ret;

	ret = ibv_query_port(port->ctx, PORT_NUM, &port->attr);
	if (ret) {
		snprintf(err, PAIR_ERR_LEN, "cannot query the port of %s: %s",
			 name, strerror(ret));
		return -1;
	}
	if (port->attr.state != IBV_PORT_ACTIVE) {
		snprintf(err, PAIR_ERR_LEN, "the port of %s is not active: %s",
			 name, ibv_port_state_str(port->attr.state));
		return -1;
	}
	if (choose_gid(port, gid_index, err))
		return -1;
	port->pd = ibv_alloc_pd(port->ctx);
	if (!port->pd) {
		snprintf(err, PAIR_ERR_LEN, "no protection domain on %s: %s",
			 name, strerror(errno));
		return -1;
	}
	return 0;
}

int pair_open(struct pair_port *port, const char *name, int gid_index,
	      char *err)
{
	memset(port, 0, sizeof(*port));
	port->ctx = open_by_name(name, err);
	if (!port->ctx)
		return -1;
	if (open_port(port, gid_index, err)) {
		pair_close(port);
		return -1;
	}
	return 0;
}

void pair_close(struct pair_port *port)
{
	if (port->pd)
		ibv_dealloc_pd(port->pd);
	if (port->ctx)
		ibv_close_device(port->ctx);
	memset(port, 0, sizeof(*port));
}

/* ------------------------------------------------------------------- connect */

void pair_conn_init(struct pair_conn *conn, const struct pair_port *a,
		    const struct pair_port *b)
{
	*conn = (struct pair_conn){
		.mtu = a->attr.active_mtu < b->attr.active_mtu ?
		       a->attr.active_mtu : b->attr.active_mtu,
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_READ,
		.rd_atomic = 4,
		.timeout = 14,
		.retry = 7,
		.rnr_retry = 7,
		.min_rnr = 1,
	};
}

uint32_t pair_psn(const struct pair_conn *conn, uint32_t qpn)
{
	return (conn->psn + (qpn & 7)) & 0xffffff;
}

int pair_to_init(struct ibv_qp *qp, const struct pair_conn *conn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT_NUM,
		.qp_access_flags = conn->access,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int pair_to_rtr(struct ibv_qp *qp, const struct pair_port *port,
		const struct pair_port *peer, uint32_t peer_qpn,
		const struct pair_conn *conn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = conn->mtu,
		.dest_qp_num = peer_qpn,
		.rq_psn = pair_psn(conn, peer_qpn),
		.max_dest_rd_atomic = conn->rd_atomic,
		.min_rnr_timer = conn->min_rnr,
		.ah_attr = {
			.is_global = 1,
			.port_num = PORT_NUM,
			.grh = {
				.dgid = peer->gid,
				.sgid_index = port->gid_index,
				.hop_limit = 64,
			},
		},
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER);
}

int pair_to_rts(struct ibv_qp *qp, const struct pair_conn *conn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = pair_psn(conn, qp->qp_num),
		.timeout = conn->timeout,
		.retry_cnt = conn->retry,
		.rnr_retry = conn->rnr_retry,
		.max_rd_atomic = conn->rd_atomic,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

int pair_to_err(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

int pair_connect(struct ibv_qp *a, const struct pair_port *pa,
		 struct ibv_qp *b, const struct pair_port *pb,
		 const struct pair_conn *conn)
{
	int err;

	err = pair_to_init(a, conn);
	if (!err)
		err = pair_to_init(b, conn);
	if (!err)
		err = pair_to_rtr(a, pa, pb, b->qp_num, conn);
	if (!err)
		err = pair_to_rtr(b, pb, pa, a->qp_num, conn);
	if (!err)
		err = pair_to_rts(a, conn);
	if (!err)
		err = pair_to_rts(b, conn);
	return err;
}
