/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Numbered objects that packets can name: QPs and memory regions. Owns number
 * allocation, RCU look-up, references and the one kill sequence. Knows nothing
 * of what the objects are.
 *
 * Life: rxo_obj_add() publishes; rxo_obj_kill() makes the object unreachable
 * and waits until the last reference is gone (holders keep references for
 * bounded time only: the handling of one packet); the owner then frees it with
 * kfree_rcu() or call_rcu(), because RCU readers may still look at it.
 */
#ifndef RXO_OBJ_H
#define RXO_OBJ_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/xarray.h>

struct rxo_obj {
	u32 id;
	u32 gen;		/* differs between successive holders of an id */
	refcount_t ref;
	struct completion idle;	/* last reference gone */
};

struct rxo_table {
	struct xarray xa;
	u32 next;		/* where the next search begins: ids are reused late */
	u32 gen;		/* how often the search has begun anew */
	u32 min;
	u32 max;
};

void rxo_table_init(struct rxo_table *t, u32 min, u32 max);
/* The table must be empty. */
void rxo_table_fini(struct rxo_table *t);

/**
 * rxo_obj_reserve - give an object a number without making it reachable
 * @t: the table
 * @obj: id, gen and one reference (the table's) are set
 *
 * For objects that must know their number before they can be looked up.
 * Context: process. Return: 0, -ENOSPC if the table is full, -ENOMEM.
 */
int rxo_obj_reserve(struct rxo_table *t, struct rxo_obj *obj);
/* Make a reserved object reachable. Everything written before is visible then. */
void rxo_obj_publish(struct rxo_table *t, struct rxo_obj *obj);
/* Reserve and publish. */
int rxo_obj_add(struct rxo_table *t, struct rxo_obj *obj);

/* Caller is in an RCU read-side section; no reference is taken. May be NULL. */
struct rxo_obj *rxo_obj_lookup_rcu(struct rxo_table *t, u32 id);
/* With a reference, or NULL. Caller is in an RCU read-side section. */
struct rxo_obj *rxo_obj_get(struct rxo_table *t, u32 id);
/* Any context. */
void rxo_obj_put(struct rxo_obj *obj);

/**
 * rxo_obj_kill - unpublish, drop the table's reference, wait for the others
 * @t: the table
 * @obj: reserved or published, and not killed before
 *
 * When it returns nobody holds a reference and nobody can get one, but RCU
 * readers may still look at the memory. Context: process, sleeps.
 */
void rxo_obj_kill(struct rxo_table *t, struct rxo_obj *obj);

#endif /* RXO_OBJ_H */
