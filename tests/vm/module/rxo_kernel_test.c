// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The functions of rdma/rxe_ordered.h, called as a consumer in the kernel would, on
 * a CQ without a handler; and what ib_core's own verbs make of the same CQ. There
 * are no queue pairs of kernel consumers, so the test plays the device: it stores
 * the entries and moves the arm word. Loading fails if a check does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <rdma/rxe_ordered.h>

#include "cq.h"

#define ENTRIES	4

static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "device of rxe_ordered");

static char *foreign;
module_param(foreign, charp, 0444);
MODULE_PARM_DESC(foreign, "device of rdma_rxe");

static unsigned int checks, failures;

#define IS(expr, want)	is(#expr, __LINE__, expr, want)

static void is(const char *what, int line, long long saw, long long want)
{
	checks++;
	if (saw == want)
		return;
	failures++;
	pr_err("line %d: %s is %lld, not %lld\n", line, what, saw, want);
}

/* --------------------------------------------------------------- the device's part */

static u32 arm_of(struct ib_cq *cq)
{
	return (rxo_cq_of(cq)->hdr->word & RXE_ORDERED_CQ_ARM_MASK) >>
	       RXE_ORDERED_CQ_ARM_SHIFT;
}

/* Entries whose wr_id is their index. (Whoever calls this plays unfired arms, too.) */
static void add(struct ib_cq *ibcq, unsigned int n)
{
	struct rxo_cq *cq = rxo_cq_of(ibcq);

	for (; n; n--, cq->prod++)
		cq->ring[cq->prod & (cq->entries - 1)] = (struct rxe_ordered_wc){
			.wr_id = cq->prod,
			.opcode = IB_WC_RECV,
			.byte_len = 100 + cq->prod,
		};
	cq->hdr->word = (cq->hdr->word & ~RXE_ORDERED_CQ_PROD_MASK) | cq->prod;
}

/* ---------------------------------------------------------------------- the checks */

static void bad_arguments(struct ib_cq *cq)
{
	static const u32 flags[] = {
		0, IB_CQ_SOLICITED_MASK, IB_CQ_REPORT_MISSED_EVENTS,
		IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS, 1 << 3,
	};
	u64 before = rxo_cq_of(cq)->hdr->word;
	struct ib_wc wc;
	int i;

	IS(rxe_ordered_poll_rearm_cq(cq, 0, &wc, IB_CQ_NEXT_COMP), -EINVAL);
	IS(rxe_ordered_poll_rearm_cq(cq, -1, &wc, IB_CQ_NEXT_COMP), -EINVAL);
	IS(rxe_ordered_poll_rearm_cq(cq, 1, NULL, IB_CQ_NEXT_COMP), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		IS(rxe_ordered_poll_rearm_cq(cq, 1, &wc, flags[i]), -EINVAL);
		IS(rxe_ordered_rearm_cq_if_empty(cq, flags[i]), -EINVAL);
	}
	IS(rxo_cq_of(cq)->hdr->word == before, true);
}

static void empty(struct ib_cq *cq)
{
	struct ib_wc wc;

	IS(arm_of(cq), RXE_ORDERED_ARM_NONE);
	IS(rxe_ordered_poll_rearm_cq(cq, 1, &wc, IB_CQ_SOLICITED), 0);
	IS(arm_of(cq), RXE_ORDERED_ARM_SOLICITED);
	bad_arguments(cq);
	IS(rxe_ordered_rearm_cq_if_empty(cq, IB_CQ_NEXT_COMP), 0);
	IS(arm_of(cq), RXE_ORDERED_ARM_ANY);
	IS(rxe_ordered_rearm_cq_if_empty(cq, IB_CQ_SOLICITED), 0);
	IS(rxe_ordered_poll_rearm_cq(cq, 1, &wc, IB_CQ_SOLICITED), 0);
	IS(arm_of(cq), RXE_ORDERED_ARM_ANY);
}

/* Goes around the ring more than once. */
static void not_empty(struct ib_cq *cq)
{
	struct ib_wc wc[ENTRIES];
	u32 first, round;

	for (round = 0; round < 5; round++) {
		first = rxo_cq_of(cq)->prod;
		add(cq, 3);
		bad_arguments(cq);
		IS(rxe_ordered_rearm_cq_if_empty(cq, IB_CQ_NEXT_COMP), 1);
		IS(arm_of(cq), RXE_ORDERED_ARM_NONE);
		IS(ib_req_notify_cq(cq, IB_CQ_SOLICITED), 0);
		IS(arm_of(cq), RXE_ORDERED_ARM_SOLICITED);
		IS(rxe_ordered_poll_rearm_cq(cq, 2, wc, IB_CQ_NEXT_COMP), 2);
		IS(arm_of(cq), RXE_ORDERED_ARM_NONE);
		IS(wc[0].wr_id, first);
		IS(wc[1].wr_id, first + 1);
		IS(wc[1].byte_len, 100 + first + 1);
		IS(wc[1].opcode, IB_WC_RECV);
		IS(rxe_ordered_poll_rearm_cq(cq, ENTRIES, wc, IB_CQ_NEXT_COMP), 1);
		IS(wc[0].wr_id, first + 2);
		IS(rxe_ordered_poll_rearm_cq(cq, 1, wc, IB_CQ_NEXT_COMP), 0);
		IS(arm_of(cq), RXE_ORDERED_ARM_ANY);
	}
}

/* The classic verbs on the same word: only the consumer index has to agree. */
static void classic(struct ib_cq *cq)
{
	const enum ib_cq_notify_flags missed =
		IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;
	struct ib_wc wc[ENTRIES];

	IS(ib_poll_cq(cq, ENTRIES, wc), 0);
	IS(ib_req_notify_cq(cq, missed), 0);
	add(cq, 2);
	IS(ib_req_notify_cq(cq, missed), 1);
	IS(ib_poll_cq(cq, 1, wc), 1);
	IS(wc[0].wr_id, rxo_cq_of(cq)->prod - 2);
	IS(rxe_ordered_poll_rearm_cq(cq, ENTRIES, wc, IB_CQ_NEXT_COMP), 1);
	IS(wc[0].wr_id, rxo_cq_of(cq)->prod - 1);
}

static void overrun(struct ib_cq *cq)
{
	struct ib_wc wc;

	add(cq, 1);
	rxo_cq_of(cq)->hdr->word |= RXE_ORDERED_CQ_OVERRUN;
	IS(rxe_ordered_poll_rearm_cq(cq, 1, &wc, IB_CQ_NEXT_COMP), 1);
	IS(rxe_ordered_poll_rearm_cq(cq, 1, &wc, IB_CQ_NEXT_COMP), -EIO);
	IS(rxe_ordered_rearm_cq_if_empty(cq, IB_CQ_NEXT_COMP), -EIO);
	IS(arm_of(cq), RXE_ORDERED_ARM_NONE);
}

/* Whatever the arguments are. */
static void of_another_driver(struct ib_cq *cq)
{
	struct ib_wc wc;

	IS(rxe_ordered_poll_rearm_cq(cq, 1, &wc, IB_CQ_NEXT_COMP), -EOPNOTSUPP);
	IS(rxe_ordered_poll_rearm_cq(cq, 0, NULL, 0), -EOPNOTSUPP);
	IS(rxe_ordered_rearm_cq_if_empty(cq, IB_CQ_NEXT_COMP), -EOPNOTSUPP);
	IS(rxe_ordered_rearm_cq_if_empty(cq, 0), -EOPNOTSUPP);
}

static void ours(struct ib_cq *cq)
{
	empty(cq);
	not_empty(cq);
	classic(cq);
	overrun(cq);
}

/* ------------------------------------------------------------------------- module */

static void never(struct ib_cq *cq, void *context)
{
}

/* Until there is a dispatcher for handlers, a CQ with one is refused. */
static void with_handler(struct ib_device *dev)
{
	const struct ib_cq_init_attr attr = { .cqe = ENTRIES };
	struct ib_cq *cq = ib_create_cq(dev, never, NULL, NULL, &attr);

	IS(PTR_ERR_OR_ZERO(cq), -EOPNOTSUPP);
	if (!IS_ERR(cq))
		ib_destroy_cq(cq);
}

static int with_cq(const char *name, u32 driver, void (*test)(struct ib_cq *))
{
	const struct ib_cq_init_attr attr = { .cqe = ENTRIES };
	struct ib_device *dev;
	struct ib_cq *cq;

	dev = ib_device_get_by_name(name, (enum rdma_driver_id)driver);
	if (!dev)
		return -ENODEV;
	cq = ib_create_cq(dev, NULL, NULL, NULL, &attr);
	if (!IS_ERR(cq)) {
		test(cq);
		ib_destroy_cq(cq);
	}
	if (driver == RXE_ORDERED_DRIVER_ID)
		with_handler(dev);
	ib_device_put(dev);
	return PTR_ERR_OR_ZERO(cq);
}

static int __init rxo_kernel_test_init(void)
{
	int err;

	err = with_cq(device, RXE_ORDERED_DRIVER_ID, ours);
	if (!err)
		err = with_cq(foreign, RDMA_DRIVER_RXE, of_another_driver);
	pr_info("%u checks, %u failed\n", checks, failures);
	return err ?: failures ? -EINVAL : 0;
}
module_init(rxo_kernel_test_init);

static void __exit rxo_kernel_test_exit(void)
{
}
module_exit(rxo_kernel_test_exit);

MODULE_DESCRIPTION("Test of the kernel functions of rxe_ordered");
MODULE_LICENSE("Dual BSD/GPL");
