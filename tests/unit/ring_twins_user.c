// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The provider's twin, unchanged, and plain functions around it. */
#include <assert.h>
#include <stdatomic.h>

#include "ring_twins.h"

#ifdef RING_TWINS_STEPS
/* The two that it uses on a completion ring. */
#undef atomic_load_explicit
#define atomic_load_explicit(p, order) \
	tw_load((const volatile void *)(p), sizeof(*(p)))
#undef atomic_compare_exchange_strong_explicit
#define atomic_compare_exchange_strong_explicit(p, old, new, yes, no) ({ \
	uint64_t cx_old_ = *(old);					 \
	tw_swap_if((volatile void *)(p), sizeof(*(p)), cx_old_, new) ==	 \
		cx_old_; })
#endif

#include "rxo_ring.h"

static struct rxo_cq_ring ring;

void twu_init(struct tw_ring *r, uint32_t entries)
{
	rxo_cq_ring_init(&ring, r, entries);
}

static void unpack(struct tw_got *got, const uint64_t (*wc)[RXO_WC_BYTES / 8],
		   int n)
{
	int i;

	for (i = 0; i < n; i++)
		got->id[i] = wc[i][4] >> 32 == (uint32_t)wc[i][0] ? wc[i][0] :
								   UINT64_MAX;
}

int twu_verb(int num, unsigned int arm, struct tw_got *got)
{
	uint64_t wc[TW_MAX_ENTRIES][RXO_WC_BYTES / 8];
	int n = rxo_cq_poll_rearm(&ring, num, wc, arm);

	unpack(got, wc, n);
	return n;
}

int twu_poll(int num, struct tw_got *got)
{
	uint64_t wc[TW_MAX_ENTRIES][RXO_WC_BYTES / 8];
	int n = rxo_cq_poll(&ring, num, wc);

	unpack(got, wc, n);
	return n;
}

int twu_if_empty(unsigned int arm)
{
	return rxo_cq_rearm_if_empty(&ring, arm);
}

int twu_arm(unsigned int arm)
{
	return rxo_cq_arm(&ring, arm);
}
