// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The kernel's twin, unchanged, and plain functions around it. */
/* The kernel is not built with these two. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "cq.c"
#pragma GCC diagnostic pop

_Thread_local bool tw_killed;

static struct rxo_cq cq;

static void handler(struct ib_cq *ibcq, void *context)
{
	(void)ibcq, (void)context;
	tw_event();
}

static void event_handler(struct ib_event *event, void *context)
{
	(void)event, (void)context;
	tw_overrun();
}

void twk_init(struct tw_ring *ring, uint32_t entries, uint32_t start)
{
	static struct rxo_dev dev;

	cq = (struct rxo_cq){
		.ib.device = &dev.ib,
		.ib.comp_handler = handler,
		.ib.event_handler = event_handler,
		.prod = start,
		.user = true,
		.entries = entries,
		.hdr = &ring->hdr,
		.ring = ring->entry,
	};
	ring->hdr.word = start;
	ring->hdr.cons = start;
}

struct tw_private twk_private(void)
{
	return (struct tw_private){ .prod = cq.prod, .overrun = cq.overrun };
}

void twk_set_private(struct tw_private p)
{
	cq.prod = p.prod;
	cq.overrun = p.overrun;
}

bool twk_publish(uint64_t id, uint32_t n, bool solicited)
{
	struct rxo_cqe cqe[4] = {};
	uint32_t i;

	for (i = 0; i < n; i++)
		cqe[i] = (struct rxo_cqe){
			.wr_id = id + i,
			.opcode = (u32)(id + i),
			.byte_len = (u32)(id + i),
			.qpn = (u32)(id + i),
			.flags = (u32)(id + i),
			.solicited = solicited && i == n - 1,
		};
	return rxo_cq_publish(&cq, cqe, n);
}

struct sink {
	struct rxo_cq_sink sink;
	struct tw_got *got;
	enum tw_fail fail;
};

static u64 load_part(const u64 *p)
{
#ifdef RING_TWINS_STEPS
	return tw_load(p, sizeof(*p));
#else
	/* The real sinks copy plainly: what was torn is thrown away. */
	return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}

/* One entry. A torn one is given a number that does not exist. */
static u64 load_entry(const struct rxe_ordered_wc *wc)
{
	u64 id = load_part(&wc->wr_id);
	u64 flags = load_part((const u64 *)&wc->src_qp);

	return flags >> 32 == (u32)id ? id : U64_MAX;
}

static int take(struct rxo_cq_sink *sink, const struct rxe_ordered_wc *first,
		u32 nfirst, const struct rxe_ordered_wc *second, u32 nsecond)
{
	struct sink *s = container_of(sink, struct sink, sink);
	u32 i;

	if (s->fail == TW_FAULT)
		return -EFAULT;
	for (i = 0; s->got && i < nfirst + nsecond; i++)
		s->got->id[i] = load_entry(i < nfirst ? &first[i] :
					   &second[i - nfirst]);
	return 0;
}

int twk_verb(int num, unsigned int arm, struct tw_got *got, enum tw_fail fail)
{
	struct sink s = { .sink.take = take, .got = got, .fail = fail };

	tw_killed = fail == TW_KILLED;
	return rxo_cq_poll_rearm(&cq, (u32)num, arm, &s.sink);
}

int twk_if_empty(unsigned int arm)
{
	struct sink s = { .sink.take = take };

	tw_killed = false;
	return rxo_cq_rearm_if_empty(&cq, arm, &s.sink);
}

int twk_notify(unsigned int arm)
{
	tw_killed = false;
	return rxo_cq_req_notify(&cq.ib, arm == RXE_ORDERED_ARM_SOLICITED ?
				 IB_CQ_SOLICITED : IB_CQ_NEXT_COMP);
}

/* Declared by what cq.c includes, and not called here. */
struct rxo_umap *rxo_umap_create(struct ib_ucontext *uctx, size_t size)
{
	(void)uctx, (void)size;
	abort();
}

void rxo_umap_destroy(struct rxo_umap *umap)
{
	(void)umap;
	abort();
}

u64 rxo_umap_offset(struct rxo_umap *umap)
{
	(void)umap;
	abort();
}
