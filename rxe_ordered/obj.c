// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Number to object tables. The xarray's own lock guards numbers, next and gen;
 * it is only taken in process context. Look-up is lockless.
 */
#include "obj.h"

void rxo_table_init(struct rxo_table *t, u32 min, u32 max)
{
	xa_init_flags(&t->xa, XA_FLAGS_ALLOC);
	t->next = min;
	t->gen = 0;
	t->min = min;
	t->max = max;
}

void rxo_table_fini(struct rxo_table *t)
{
	WARN_ON_ONCE(!xa_empty(&t->xa));
	xa_destroy(&t->xa);
}

int rxo_obj_reserve(struct rxo_table *t, struct rxo_obj *obj)
{
	int ret;

	refcount_set(&obj->ref, 1);
	init_completion(&obj->idle);

	xa_lock(&t->xa);
	ret = __xa_alloc_cyclic(&t->xa, &obj->id, NULL,
				XA_LIMIT(t->min, t->max), &t->next, GFP_KERNEL);
	/* 1: the search began anew at min. A number cannot come back before. */
	if (ret == 1)
		t->gen++;
	obj->gen = t->gen;
	xa_unlock(&t->xa);

	if (ret == -EBUSY)
		return -ENOSPC;
	return min(ret, 0);
}

void rxo_obj_publish(struct rxo_table *t, struct rxo_obj *obj)
{
	/*
	 * The slot is allocated, so this cannot fail. The store is a release
	 * (rcu_assign_pointer); its partner is the dereference in xa_load().
	 */
	WARN_ON_ONCE(xa_err(xa_store(&t->xa, obj->id, obj, GFP_KERNEL)));
}

int rxo_obj_add(struct rxo_table *t, struct rxo_obj *obj)
{
	int err = rxo_obj_reserve(t, obj);

	if (!err)
		rxo_obj_publish(t, obj);
	return err;
}

/* As xa_load(), which would enter a read-side section of its own. */
struct rxo_obj *rxo_obj_lookup_rcu(struct rxo_table *t, u32 id)
{
	XA_STATE(xas, &t->xa, id);
	void *entry;

	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(),
			 "object look-up outside a read-side section");
	do {
		entry = xas_load(&xas);
		if (xa_is_zero(entry))
			entry = NULL;	/* reserved, not published */
	} while (xas_retry(&xas, entry));
	return entry;
}

struct rxo_obj *rxo_obj_get(struct rxo_table *t, u32 id)
{
	struct rxo_obj *obj = rxo_obj_lookup_rcu(t, id);

	return obj && refcount_inc_not_zero(&obj->ref) ? obj : NULL;
}

void rxo_obj_put(struct rxo_obj *obj)
{
	if (refcount_dec_and_test(&obj->ref))
		complete(&obj->idle);
}

void rxo_obj_kill(struct rxo_table *t, struct rxo_obj *obj)
{
	xa_erase(&t->xa, obj->id);
	rxo_obj_put(obj);
	wait_for_completion(&obj->idle);
}
