// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What libibverbs sees first: which devices are ours, how to open one, and the
 * table of operations. Operations that are not in the table stay with
 * libibverbs, which answers EOPNOTSUPP for them.
 */
#include <errno.h>
#include <stdlib.h>

#include "rxo.h"

static void rxo_free_context(struct ibv_context *ctx);

static const struct verbs_context_ops rxo_context_ops = {
	.alloc_pd = rxo_alloc_pd,
	.create_cq = rxo_create_cq,
	.create_cq_ex = rxo_create_cq_ex,
	.create_qp = rxo_create_qp,
	.create_qp_ex = rxo_create_qp_ex,
	.dealloc_pd = rxo_dealloc_pd,
	.dereg_mr = rxo_dereg_mr,
	.destroy_cq = rxo_destroy_cq,
	.destroy_qp = rxo_destroy_qp,
	.free_context = rxo_free_context,
	.modify_qp = rxo_modify_qp,
	.poll_cq = rxo_poll_cq,
	.post_recv = rxo_post_recv,
	.post_send = rxo_post_send,
	.query_device_ex = rxo_query_device_ex,
	.query_port = rxo_query_port,
	.query_qp = rxo_query_qp,
	.reg_mr = rxo_reg_mr,
	.req_notify_cq = rxo_req_notify_cq,
};

static int rxo_get_context(struct verbs_context *vctx)
{
	RXO_MSG(struct ib_uverbs_get_context_resp,
		struct rxe_ordered_alloc_ucontext_resp) resp = {};
	struct ibv_get_context cmd = {};

#if RXO_PABI >= 57	/* a list of descriptors to hand in: none */
	return ibv_cmd_get_context(vctx, &cmd, sizeof(cmd), NULL,
				   (void *)resp.core, sizeof(resp));
#else
	return ibv_cmd_get_context(vctx, &cmd, sizeof(cmd), (void *)resp.core,
				   sizeof(resp));
#endif
}

static struct verbs_context *rxo_alloc_context(struct ibv_device *device,
					       int cmd_fd, void *private_data)
{
	struct rxo_context *ctx;

	(void)private_data;

	/* Owns cmd_fd from here on, whatever happens. */
	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, vctx,
					   RXE_ORDERED_DRIVER_ID);
	if (!ctx)
		return NULL;

	if (rxo_get_context(&ctx->vctx))
		goto err_uninit;

	verbs_set_ops(&ctx->vctx, &rxo_context_ops);
	return &ctx->vctx;

err_uninit:
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	return NULL;
}

static void rxo_free_context(struct ibv_context *ibctx)
{
	struct rxo_context *ctx = to_rxo_ctx(ibctx);

	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static struct verbs_device *rxo_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	(void)sysfs_dev;
	return calloc(1, sizeof(struct verbs_device));
}

static void rxo_uninit_device(struct verbs_device *device)
{
	free(device);
}

/* By driver id only: names are the administrator's business and can change. */
static const struct verbs_match_ent rxo_match_table[] = {
	{
		.u.driver_id = RXE_ORDERED_DRIVER_ID,
		.kind = VERBS_MATCH_DRIVER_ID,
	},
	{},
};

static const struct verbs_device_ops rxo_device_ops = {
	.name = "rxe_ordered",
	.match_min_abi_version = RXE_ORDERED_ABI_VERSION,
	.match_max_abi_version = RXE_ORDERED_ABI_VERSION,
	.match_table = rxo_match_table,
	.alloc_context = rxo_alloc_context,
	.alloc_device = rxo_alloc_device,
	.uninit_device = rxo_uninit_device,
};
PROVIDER_DRIVER(rxe_ordered, rxo_device_ops);

/**
 * rxo_is_our_device - is this device driven by this library?
 * @device: any verbs device
 *
 * Looks only at what every libibverbs device has.
 */
bool rxo_is_our_device(struct ibv_device *device)
{
	return verbs_get_device(device)->ops == &rxo_device_ops;
}
