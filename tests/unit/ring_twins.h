/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The two twins of the completion ring behind plain functions, for tests that
 * run them against each other on one ring.
 *
 * They cannot share a translation unit: their names are the same on purpose.
 * rxe_ordered/cq.c is compiled unchanged in ring_twins_kernel.c, on top of the
 * substitute headers in ring_twins_kstub/; the provider's rxo_ring.h in
 * ring_twins_user.c. With RING_TWINS_STEPS every access to the shared words and
 * entries goes through the functions at the end, otherwise it is the atomic
 * instruction that it would be.
 */
#ifndef RING_TWINS_H
#define RING_TWINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/rxe_ordered-abi.h>

#define TW_MAX_ENTRIES	64

struct tw_ring {
	_Alignas(128) struct rxe_ordered_cq_hdr hdr;
	struct rxe_ordered_wc entry[TW_MAX_ENTRIES];
};

/* What one verb got; the number is in all words of an entry. */
struct tw_got {
	uint64_t id[TW_MAX_ENTRIES];
};

/* How a call of the kernel's verb is made to fail. */
enum tw_fail { TW_FINE, TW_FAULT, TW_KILLED };

/* Both twins look at the same ring; empty, not armed, both indices @start. */
void twk_init(struct tw_ring *ring, uint32_t entries, uint32_t start);
void twu_init(struct tw_ring *ring, uint32_t entries);

/* Adds @n with numbers from @id on, @solicited the last. False: has overrun. */
bool twk_publish(uint64_t id, uint32_t n, bool solicited);
int twk_verb(int num, unsigned int arm, struct tw_got *got, enum tw_fail fail);
int twk_if_empty(unsigned int arm);
int twk_notify(unsigned int arm);

int twu_verb(int num, unsigned int arm, struct tw_got *got);
int twu_if_empty(unsigned int arm);
int twu_poll(int num, struct tw_got *got);
int twu_arm(unsigned int arm);

/* The kernel's private state: what a producer owns from lock to unlock. */
struct tw_private {
	uint32_t prod;
	bool overrun;
};
struct tw_private twk_private(void);
void twk_set_private(struct tw_private p);

/* Supplied by the test: the completion handler, and the device's event. */
void tw_event(void);
void tw_overrun(void);

#ifdef RING_TWINS_STEPS
uint64_t tw_load(const volatile void *p, size_t size);
/* Return: the value before; it was @old if the swap took place. */
uint64_t tw_swap_if(volatile void *p, size_t size, uint64_t old, uint64_t new);
uint64_t tw_swap(volatile void *p, size_t size, uint64_t new);
void tw_lock(void);
void tw_unlock(void);
#endif

#endif /* RING_TWINS_H */
