// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of verbs, and those that are too small for a file of their own.
 * Capabilities say only what is true and tested.
 */
#include <linux/ethtool.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/uverbs_ioctl.h>

#include "cq.h"
#include "mr.h"
#include "net.h"
#include "qp.h"
#include "udata.h"
#include "umap.h"
#include "verbs.h"

#define RXO_GID_TBL_LEN		256
#define RXO_PKEY_TBL_LEN	1
/*
 * A scheduler may keep a software responder waiting: 4.096 us * 2^15 = 134 ms.
 */
#define RXO_LOCAL_CA_ACK_DELAY	15

/* ------------------------------------------------------------------ queries */

static int rxo_query_device(struct ib_device *ibdev,
			    struct ib_device_attr *attr, struct ib_udata *udata)
{
	int err = rxo_udata_none(udata);

	if (err)
		return err;
	*attr = (struct ib_device_attr){
		.fw_ver = RXO_FW_VER,
		.sys_image_guid = ibdev->node_guid,
		.max_mr_size = RXO_MAX_MR_SIZE,
		.page_size_cap = PAGE_MASK & GENMASK(30, 0),
		.hw_ver = 1,
		.max_qp = RXO_MAX_QP,
		.max_qp_wr = RXO_MAX_QP_WR,
		.device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN |
				    IB_DEVICE_PORT_ACTIVE_EVENT |
				    IB_DEVICE_SYS_IMAGE_GUID,
		.kernel_cap_flags = IBK_ALLOW_USER_UNREG,
		.max_send_sge = RXO_MAX_SGE,
		.max_recv_sge = RXO_MAX_SGE,
		.max_sge_rd = RXO_MAX_SGE,
		.max_cq = RXO_MAX_CQ,
		.max_cqe = RXO_MAX_CQE,
		.max_mr = RXO_MAX_MR,
		.max_pd = RXO_MAX_PD,
		.max_qp_rd_atom = RXO_MAX_RD_PER_QP,
		.max_res_rd_atom = RXO_MAX_RD_PER_QP * RXO_MAX_QP,
		.max_qp_init_rd_atom = RXO_MAX_RD_PER_QP,
		.atomic_cap = IB_ATOMIC_HCA,
		.masked_atomic_cap = IB_ATOMIC_NONE,
		.max_pkeys = RXO_PKEY_TBL_LEN,
		.local_ca_ack_delay = RXO_LOCAL_CA_ACK_DELAY,
	};
	return 0;
}

/* Width and speed with the largest product that the netdev reaches. */
static const struct rxo_rate {
	u32 mbps;
	u8 width;
	u16 speed;
} rxo_rates[] = {
	{ SPEED_1000, IB_WIDTH_1X, IB_SPEED_SDR },
	{ SPEED_5000, IB_WIDTH_1X, IB_SPEED_DDR },
	{ SPEED_10000, IB_WIDTH_4X, IB_SPEED_SDR },
	{ SPEED_20000, IB_WIDTH_4X, IB_SPEED_DDR },
	{ SPEED_25000, IB_WIDTH_1X, IB_SPEED_EDR },
	{ SPEED_40000, IB_WIDTH_4X, IB_SPEED_QDR },
	{ SPEED_50000, IB_WIDTH_1X, IB_SPEED_HDR },
	{ SPEED_100000, IB_WIDTH_4X, IB_SPEED_EDR },
	{ SPEED_200000, IB_WIDTH_4X, IB_SPEED_HDR },
	{ SPEED_400000, IB_WIDTH_4X, IB_SPEED_NDR },
	{ 800000, IB_WIDTH_8X, IB_SPEED_NDR },
};

/*
 * Not ib_get_eth_speed(): that one writes to the kernel log, at any process's
 * wish, when a netdev has no speed, as tun and loopback have none.
 */
static void rxo_query_rate(struct net_device *ndev, struct ib_port_attr *attr)
{
	struct ethtool_link_ksettings ks = {};
	size_t i, best = 0;
	u32 mbps = SPEED_UNKNOWN;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED &&
	    !__ethtool_get_link_ksettings(ndev, &ks))
		mbps = ks.base.speed;
	rtnl_unlock();

	if (mbps != (u32)SPEED_UNKNOWN)
		for (i = 0; i < ARRAY_SIZE(rxo_rates); i++)
			if (rxo_rates[i].mbps <= mbps)
				best = i;
	attr->active_width = rxo_rates[best].width;
	attr->active_speed = rxo_rates[best].speed;
}

static int rxo_query_port(struct ib_device *ibdev, u32 port,
			  struct ib_port_attr *attr)
{
	struct net_device *ndev = rxo_dev_of(ibdev)->ndev;

	/* Zeroed by the caller. Below an MTU of 256 the port is unusable. */
	attr->state = rxo_net_port_state(ndev);
	attr->phys_state = attr->state == IB_PORT_ACTIVE ?
		IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = rxo_net_mtu(ndev) ?: IB_MTU_256;
	attr->gid_tbl_len = RXO_GID_TBL_LEN;
	attr->pkey_tbl_len = RXO_PKEY_TBL_LEN;
	attr->ip_gids = true;
	attr->max_msg_sz = RXO_MAX_MSG;
	attr->max_vl_num = 1;
	rxo_query_rate(ndev, attr);
	return 0;
}

static int rxo_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			  u16 *pkey)
{
	if (index >= RXO_PKEY_TBL_LEN)
		return -EINVAL;
	*pkey = RXO_DEFAULT_PKEY;
	return 0;
}

static int rxo_get_port_immutable(struct ib_device *ibdev, u32 port,
				  struct ib_port_immutable *immutable)
{
	/* Neither MAD nor CM: those need QP1. */
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	immutable->gid_tbl_len = RXO_GID_TBL_LEN;
	immutable->pkey_tbl_len = RXO_PKEY_TBL_LEN;
	return 0;
}

static enum rdma_link_layer rxo_get_link_layer(struct ib_device *ibdev,
					       u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static struct rdma_hw_stats *rxo_alloc_port_stats(struct ib_device *ibdev,
						  u32 port)
{
	return rxo_stats_alloc();
}

static int rxo_get_hw_stats(struct ib_device *ibdev,
			    struct rdma_hw_stats *stats, u32 port, int index)
{
	return port ? rxo_stats_sum(rxo_dev_of(ibdev)->stats, stats) : -EINVAL;
}

static void rxo_get_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, RXO_VERSION, IB_FW_VERSION_NAME_MAX);
}

/* ------------------------------------------------------------ small objects */

static int rxo_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	struct rxe_ordered_alloc_ucontext_resp resp = {
		.max_inline = RXO_MAX_INLINE,
		.max_sge = RXO_MAX_SGE,
	};
	int err = rxo_udata_none(udata);

	return err ?: rxo_udata_write(udata, &resp, sizeof(resp));
}

static void rxo_dealloc_ucontext(struct ib_ucontext *uctx)
{
}

/*
 * Nothing to do: ib_core destroys the objects, and mapped rings are plain
 * pages. That it exists lets a device go while processes hold it open.
 */
static void rxo_disassociate_ucontext(struct ib_ucontext *uctx)
{
}

static int rxo_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct rxo_dev *dev = rxo_dev_of(ibpd->device);
	int ret = rxo_udata_none(udata);

	if (ret)
		return ret;
	ret = ida_alloc_range(&dev->pd_ids, 1, RXO_MAX_PD, GFP_KERNEL);
	if (ret < 0)
		return ret;
	rxo_pd_of(ibpd)->id = ret;
	return 0;
}

static int rxo_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	ida_free(&rxo_dev_of(ibpd->device)->pd_ids, rxo_pd_of(ibpd)->id);
	return 0;
}

/*
 * A process posts into its ring. The write command, with no work request, is a
 * doorbell for those who do not use the driver's method. Kernel consumers have
 * no QPs yet.
 */
static int rxo_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad)
{
	if (!wr)
		return rxo_qp_doorbell(ibqp);
	*bad = wr;
	return -EOPNOTSUPP;
}

static int rxo_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	*bad = wr;
	return -EOPNOTSUPP;
}

/* -------------------------------------------------------------------- table */

/*
 * get_dma_mr is left out, so that ib_core does not hand the device to kernel
 * consumers before it can serve them.
 */
static const struct ib_device_ops rxo_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = (enum rdma_driver_id)RXE_ORDERED_DRIVER_ID,
	.uverbs_abi_ver = RXE_ORDERED_ABI_VERSION,

	.query_device = rxo_query_device,
	.query_port = rxo_query_port,
	.query_pkey = rxo_query_pkey,
	.get_port_immutable = rxo_get_port_immutable,
	.get_link_layer = rxo_get_link_layer,
	.get_dev_fw_str = rxo_get_fw_str,
	.alloc_hw_port_stats = rxo_alloc_port_stats,
	.get_hw_stats = rxo_get_hw_stats,

	.alloc_ucontext = rxo_alloc_ucontext,
	.dealloc_ucontext = rxo_dealloc_ucontext,
	.disassociate_ucontext = rxo_disassociate_ucontext,
	.mmap = rxo_umap_mmap,
	.mmap_free = rxo_umap_free,
	.alloc_pd = rxo_alloc_pd,
	.dealloc_pd = rxo_dealloc_pd,

	.reg_user_mr = rxo_mr_reg_user,
	.dereg_mr = rxo_mr_dereg,

	.create_cq = rxo_cq_create,
	.destroy_cq = rxo_cq_destroy,
	.poll_cq = rxo_cq_poll,
	.req_notify_cq = rxo_cq_req_notify,

	.create_qp = rxo_qp_create,
	.modify_qp = rxo_qp_modify,
	.query_qp = rxo_qp_query,
	.destroy_qp = rxo_qp_destroy,
	.fill_res_qp_entry = rxo_qp_fill_res,
	.post_send = rxo_post_send,
	.post_recv = rxo_post_recv,

	INIT_RDMA_OBJ_SIZE(ib_cq, rxo_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, rxo_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, rxo_ibqp, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, rxo_ucontext, ib),
};

/* EUI-64 from the MAC address; a random one for netdevs without. */
static void rxo_verbs_set_guid(struct rxo_dev *dev)
{
	const struct net_device *ndev = dev->ndev;
	u8 mac[ETH_ALEN], guid[8];

	if (ndev->addr_len == ETH_ALEN && is_valid_ether_addr(ndev->dev_addr))
		ether_addr_copy(mac, ndev->dev_addr);
	else
		eth_random_addr(mac);
	addrconf_addr_eui48(guid, mac);
	memcpy(&dev->ib.node_guid, guid, sizeof(guid));
}

void rxo_verbs_setup(struct rxo_dev *dev)
{
	struct ib_device *ib = &dev->ib;

	strscpy(ib->node_desc, "rxe_ordered", sizeof(ib->node_desc));
	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = num_possible_cpus();
	ib->local_dma_lkey = 0;
	rxo_verbs_set_guid(dev);
	ib->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
			       BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	ib->driver_def = rxo_uapi_defs;
	ib_set_device_ops(ib, &rxo_dev_ops);
}
