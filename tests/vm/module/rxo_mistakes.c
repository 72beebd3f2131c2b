// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One mistake of each kind that the debug kernel is there to find, made on purpose
 * when the module is loaded: tests/vm/self-test sees them found.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *kind = "";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "leak, sleep, use or locks");

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);

/* More than one, since a stale register or stack slot may still hold the last. */
static void leak(void)
{
	char *lost;
	int i;

	for (i = 0; i < 16; i++) {
		lost = kmalloc(120, GFP_KERNEL);
		if (lost)
			lost[0] = i;
	}
}

/* Only a debug kernel minds, as long as there is memory. */
static void sleep_in_atomic(void)
{
	void *memory;

	spin_lock(&spin);
	memory = kmalloc(120, GFP_KERNEL);
	spin_unlock(&spin);
	kfree(memory);
}

static void use_after_free(void)
{
	char *freed = kmalloc(120, GFP_KERNEL);

	if (!freed)
		return;
	OPTIMIZER_HIDE_VAR(freed);
	kfree(freed);
	pr_info("read %d\n", READ_ONCE(freed[8]));
}

static void take_both(struct mutex *a, struct mutex *b)
{
	mutex_lock(a);
	mutex_lock(b);
	mutex_unlock(b);
	mutex_unlock(a);
}

static void locks_in_both_orders(void)
{
	take_both(&first, &second);
	take_both(&second, &first);
}

static const struct {
	const char *kind;
	void (*make)(void);
} mistakes[] = {
	{ "leak", leak },
	{ "sleep", sleep_in_atomic },
	{ "use", use_after_free },
	{ "locks", locks_in_both_orders },
};

static int __init rxo_mistakes_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (strcmp(kind, mistakes[i].kind))
			continue;
		mistakes[i].make();
		return 0;
	}
	return -EINVAL;
}
module_init(rxo_mistakes_init);

static void __exit rxo_mistakes_exit(void)
{
}
module_exit(rxo_mistakes_exit);

MODULE_DESCRIPTION("Mistakes for the debug kernel to find");
MODULE_LICENSE("Dual BSD/GPL");
