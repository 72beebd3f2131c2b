/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The input as a tape from which a target reads its decisions; zeros at the end. */
#ifndef FUZZ_H
#define FUZZ_H

#include "core/rxo_env.h"

struct tape {
	const u8 *p;
	size_t left;
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static inline u64 tape_get(struct tape *t, u32 bytes)
{
	u64 v = 0;

	while (bytes--) {
		v = v << 8 | (t->left ? *t->p : 0);
		if (t->left) {
			t->p++;
			t->left--;
		}
	}
	return v;
}

/* 0 .. n - 1, from one byte. */
static inline u32 tape_pick(struct tape *t, u32 n)
{
	return (u32)tape_get(t, 1) % n;
}

#define MUST(cond) do { if (!(cond)) __builtin_trap(); } while (0)

#endif /* FUZZ_H */
