// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The methods of the driver namespace; see the ABI header for their contract. */
#include <linux/uaccess.h>
#include <rdma/rxe_ordered-abi.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#define UVERBS_MODULE_NAME rxe_ordered
#include <rdma/uverbs_named_ioctl.h>

#include "cq.h"
#include "qp.h"
#include "verbs.h"

struct rxo_uverbs_sink {
	struct rxo_cq_sink sink;
	struct uverbs_attr_bundle *attrs;
};

/* Everything is written before anything is consumed: -EFAULT costs nothing. */
static int rxo_uverbs_take_wc(struct rxo_cq_sink *sink,
			      const struct rxe_ordered_wc *first, u32 nfirst,
			      const struct rxe_ordered_wc *second, u32 nsecond)
{
	struct uverbs_attr_bundle *attrs =
		container_of(sink, struct rxo_uverbs_sink, sink)->attrs;
	u32 count = nfirst + nsecond;
	const struct uverbs_attr *attr;
	void __user *dst;
	int err;

	err = uverbs_copy_to(attrs, RXE_ORDERED_ATTR_CQ_POLL_REARM_COUNT,
			     &count, sizeof(count));
	if (err || !count)
		return err;
	err = uverbs_copy_to(attrs, RXE_ORDERED_ATTR_CQ_POLL_REARM_WC, first,
			     nfirst * sizeof(*first));
	if (err || !nsecond)
		return err;

	attr = uverbs_attr_get(attrs, RXE_ORDERED_ATTR_CQ_POLL_REARM_WC);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	dst = u64_to_user_ptr(attr->ptr_attr.data) + nfirst * sizeof(*first);
	return copy_to_user(dst, second, nsecond * sizeof(*second)) ?
		-EFAULT : 0;
}

static int rxo_uverbs_take_result(struct rxo_cq_sink *sink,
				  const struct rxe_ordered_wc *first,
				  u32 nfirst,
				  const struct rxe_ordered_wc *second,
				  u32 nsecond)
{
	u32 result = nfirst;

	return uverbs_copy_to(container_of(sink, struct rxo_uverbs_sink,
					   sink)->attrs,
			      RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_RESULT,
			      &result, sizeof(result));
}

/* Absent flags are 0. */
static int rxo_uverbs_arm(struct uverbs_attr_bundle *attrs, size_t attr,
			  u32 *arm)
{
	u32 flags;
	int err;

	err = uverbs_get_flags32(&flags, attrs, attr,
				 RXE_ORDERED_REARM_SOLICITED_ONLY);
	if (err)
		return err;
	*arm = flags & RXE_ORDERED_REARM_SOLICITED_ONLY ?
		RXE_ORDERED_ARM_SOLICITED : RXE_ORDERED_ARM_ANY;
	return 0;
}

static int UVERBS_HANDLER(RXE_ORDERED_METHOD_CQ_POLL_REARM)(
	struct uverbs_attr_bundle *attrs)
{
	struct rxo_uverbs_sink s = {
		.sink.take = rxo_uverbs_take_wc,
		.attrs = attrs,
	};
	struct ib_cq *cq = uverbs_attr_get_obj(
		attrs, RXE_ORDERED_ATTR_CQ_POLL_REARM_CQ_HANDLE);
	u32 arm;
	int ret;

	ret = rxo_uverbs_arm(attrs, RXE_ORDERED_ATTR_CQ_POLL_REARM_FLAGS, &arm);
	if (ret)
		return ret;
	ret = uverbs_attr_ptr_get_array_size(attrs,
					     RXE_ORDERED_ATTR_CQ_POLL_REARM_WC,
					     sizeof(struct rxe_ordered_wc));
	if (ret <= 0)
		return ret ?: -EINVAL;
	ret = rxo_cq_poll_rearm(rxo_cq_of(cq), ret, arm, &s.sink);
	return min(ret, 0);
}

static int UVERBS_HANDLER(RXE_ORDERED_METHOD_CQ_REARM_IF_EMPTY)(
	struct uverbs_attr_bundle *attrs)
{
	struct rxo_uverbs_sink s = {
		.sink.take = rxo_uverbs_take_result,
		.attrs = attrs,
	};
	struct ib_cq *cq = uverbs_attr_get_obj(
		attrs, RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_CQ_HANDLE);
	u32 arm;
	int ret;

	ret = rxo_uverbs_arm(attrs, RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_FLAGS,
			     &arm);
	if (ret)
		return ret;
	ret = rxo_cq_rearm_if_empty(rxo_cq_of(cq), arm, &s.sink);
	return min(ret, 0);
}

static int UVERBS_HANDLER(RXE_ORDERED_METHOD_QP_DOORBELL)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *qp = uverbs_attr_get_obj(
		attrs, RXE_ORDERED_ATTR_QP_DOORBELL_QP_HANDLE);

	return rxo_qp_doorbell(qp);
}

DECLARE_UVERBS_NAMED_METHOD(
	RXE_ORDERED_METHOD_CQ_POLL_REARM,
	UVERBS_ATTR_IDR(RXE_ORDERED_ATTR_CQ_POLL_REARM_CQ_HANDLE,
			UVERBS_OBJECT_CQ, UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(RXE_ORDERED_ATTR_CQ_POLL_REARM_FLAGS,
			     enum rxe_ordered_rearm_flags, UA_OPTIONAL),
	UVERBS_ATTR_PTR_OUT(RXE_ORDERED_ATTR_CQ_POLL_REARM_WC,
			    UVERBS_ATTR_MIN_SIZE(sizeof(struct rxe_ordered_wc)),
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(RXE_ORDERED_ATTR_CQ_POLL_REARM_COUNT,
			    UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	RXE_ORDERED_METHOD_CQ_REARM_IF_EMPTY,
	UVERBS_ATTR_IDR(RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_CQ_HANDLE,
			UVERBS_OBJECT_CQ, UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_FLAGS,
			     enum rxe_ordered_rearm_flags, UA_OPTIONAL),
	UVERBS_ATTR_PTR_OUT(RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_RESULT,
			    UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	RXE_ORDERED_METHOD_QP_DOORBELL,
	UVERBS_ATTR_IDR(RXE_ORDERED_ATTR_QP_DOORBELL_QP_HANDLE,
			UVERBS_OBJECT_QP, UVERBS_ACCESS_READ, UA_MANDATORY));

ADD_UVERBS_METHODS(rxo_cq_methods, UVERBS_OBJECT_CQ,
		   &UVERBS_METHOD(RXE_ORDERED_METHOD_CQ_POLL_REARM),
		   &UVERBS_METHOD(RXE_ORDERED_METHOD_CQ_REARM_IF_EMPTY));

ADD_UVERBS_METHODS(rxo_qp_methods, UVERBS_OBJECT_QP,
		   &UVERBS_METHOD(RXE_ORDERED_METHOD_QP_DOORBELL));

const struct uapi_definition rxo_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_CQ, &rxo_cq_methods),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_QP, &rxo_qp_methods),
	{},
};
