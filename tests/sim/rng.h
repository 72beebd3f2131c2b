/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Random numbers that depend on the seed and nothing else. Each subject draws
 * from a stream of its own, so that a new question asked about one does not
 * change the answers about the others, and stored seeds keep their meaning.
 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include "core/rxo_env.h"

struct rng {
	u64 s;
};

static inline u64 rng_next(struct rng *r)
{
	u64 z = r->s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline struct rng rng_stream(u64 seed, u64 subject)
{
	struct rng r = { .s = seed * 0xd1342543de82ef95ull + subject };

	r.s = rng_next(&r) ^ subject << 32;
	return r;
}

/* 0 .. n - 1 */
static inline u32 rng_below(struct rng *r, u32 n)
{
	return (u32)((rng_next(r) >> 32) * n >> 32);
}

/* lo .. hi */
static inline u32 rng_range(struct rng *r, u32 lo, u32 hi)
{
	return lo + rng_below(r, hi - lo + 1);
}

/* Probability in 1 / 100,000. */
static inline bool rng_chance(struct rng *r, u32 p)
{
	return p && rng_below(r, 100000) < p;
}

#endif /* SIM_RNG_H */
