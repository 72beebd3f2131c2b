// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The memory of both nodes. Every area that something may be written to has a
 * shadow: what its bytes have to be.
 */
#include <stdlib.h>

#include "sim.h"

#define PAD 32		/* before, between and behind */

static u64 mix(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 29;
}

/* Byte i of a pattern depends on nothing but the pattern and i. */
void sim_pattern(u8 *dst, u64 pattern, u32 off, u32 len)
{
	u64 w;
	u32 n;

	while (len) {
		w = mix(pattern + (off >> 3));
		n = min(8 - (off & 7), len);
		memcpy(dst, (u8 *)&w + (off & 7), n);
		dst += n;
		off += n;
		len -= n;
	}
}

static u8 *area_place(struct sim_area *a, u8 *at, u32 size, bool shadow)
{
	a->mem = at;
	a->size = size;
	a->shadow = shadow ? at + size : NULL;
	return at + size * (shadow ? 2 : 1);
}

/* Send buffers are written by the application alone and read by the machine. */
static size_t end_size(const struct sim_end *e)
{
	const struct sim_conn_plan *p = &e->conn->plan;
	size_t slot = p->max_len + PAD;

	return 2 * (size_t)(p->area + 2 * PAD) + 2 * SIM_SQ * slot +
	       2 * e->plan->rq * slot;
}

static u8 *end_place(struct sim_end *e, u8 *at)
{
	const struct sim_conn_plan *p = &e->conn->plan;
	u64 pattern = rng_next(&e->rng);

	e->slot = p->max_len + PAD;
	at = area_place(&e->target, at, p->area + 2 * PAD, true);
	at = area_place(&e->local, at, SIM_SQ * e->slot, true);
	at = area_place(&e->recv, at, e->plan->rq * e->slot, true);
	sim_pattern(e->target.mem, pattern, 0, e->target.size);
	memcpy(e->target.shadow, e->target.mem, e->target.size);
	/* Any address, also close to the end of the address space. */
	e->va = rng_below(&e->rng, 4) ? rng_next(&e->rng) >> 8 :
				       0 - (u64)p->area - rng_below(&e->rng, 3);
	e->rkey = (u32)rng_next(&e->rng);
	e->revoked = false;
	return at;
}

void sim_memory_init(struct sim_conn *conn)
{
	size_t size = end_size(&conn->end[0]) + end_size(&conn->end[1]);
	u8 *at;

	if (size > conn->memory_size) {
		free(conn->memory);
		conn->memory = malloc(size);
		conn->memory_size = size;
		if (!conn->memory)
			abort();
	}
	memset(conn->memory, 0x5a, size);
	at = end_place(&conn->end[0], conn->memory);
	end_place(&conn->end[1], at);
}

void sim_memory_free(struct sim_conn *conn)
{
	free(conn->memory);
	conn->memory = NULL;
	conn->memory_size = 0;
}

u8 *sim_memory_remote(struct sim_end *e, u32 rkey, u64 va, u64 len)
{
	u64 size = e->conn->plan.area;

	if (e->revoked || rkey != e->rkey || va < e->va || len > size ||
	    va - e->va > size - len)
		return NULL;
	return e->target.mem + PAD + (va - e->va);
}

u32 sim_memory_at(const struct sim_end *e, u64 va)
{
	return (u32)(PAD + (va - e->va));
}

bool sim_area_is_right(const struct sim_area *area)
{
	return !memcmp(area->mem, area->shadow, area->size);
}
