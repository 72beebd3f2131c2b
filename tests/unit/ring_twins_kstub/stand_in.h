/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What rxe_ordered/cq.c needs of the kernel, in user space. Every header that it
 * includes is a line that includes this one. Of each substitute, its kind:
 *
 *  same	does what the kernel's does: swaps, loads, lock, minimum, containers
 *  subset	a struct with only the members that are used
 *  fixed	a constant answer, or one that the test chooses
 *  never	has to compile and is not called: life cycle, driver data
 */
#ifndef RING_TWINS_STAND_IN_H
#define RING_TWINS_STAND_IN_H

#include <sched.h>

#include "core/rxo_env.h"
#include "ring_twins.h"

#define CONFIG_64BIT	1

/* ------------------------------------------------------------ same: language */

#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define max3(a, b, c)		max(max(a, b), c)
#define min3(a, b, c)		min(min(a, b), c)
#define fallthrough		__attribute__((fallthrough))
#define IS_ERR(p)		((unsigned long)(p) >= -4095UL)
#define PTR_ERR(p)		((int)(long)(p))
#define EXPORT_SYMBOL_GPL(x)	struct tw_semicolon
#define __percpu
#define __force

/* ---------------------------------------------------- same: atomics and lock */

#ifdef RING_TWINS_STEPS

#define READ_ONCE(x)		((__typeof__(x))tw_load(&(x), sizeof(x)))
#define smp_load_acquire(p)	((__typeof__(*(p)))tw_load(p, sizeof(*(p))))
#define cmpxchg(p, old, new) \
	((__typeof__(*(p)))tw_swap_if(p, sizeof(*(p)), old, new))
#define xchg(p, new)		((__typeof__(*(p)))tw_swap(p, sizeof(*(p)), new))

typedef struct { int unused; } spinlock_t;
#define spin_lock(l)		tw_lock()
#define spin_unlock(l)		tw_unlock()

#else

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
/* The kernel's are full barriers if they succeed and none if they fail. */
#define cmpxchg(p, old, new) ({						\
	__typeof__(*(p)) cx_old_ = (old);				\
	__atomic_compare_exchange_n(p, &cx_old_, new, false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); \
	cx_old_; })
#define xchg(p, new)		__atomic_exchange_n(p, new, __ATOMIC_SEQ_CST)

typedef struct { int held; } spinlock_t;
static inline void spin_lock(spinlock_t *l)
{
	while (__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}
static inline void spin_unlock(spinlock_t *l)
{
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

#endif

#define try_cmpxchg(p, pold, new) ({				\
	__typeof__(*(p)) try_old_ = *(pold);			\
	__typeof__(*(p)) try_seen_ = cmpxchg(p, try_old_, new);	\
	*(pold) = try_seen_;					\
	try_seen_ == try_old_; })

#define WRITE_ONCE(x, v)		((void)(*(volatile __typeof__(x) *)&(x) = (v)))
#define spin_lock_init(l)		((void)(l))
#define lockdep_assert_held(l)		((void)(l))
#define lockdep_assert_in_softirq()	((void)0)
#define cpu_relax()			sched_yield()
#define cond_resched()			((void)0)

/* ---------------------------------------------------------------------- fixed */

extern _Thread_local bool tw_killed;
#define current				NULL
#define fatal_signal_pending(task)	tw_killed
#define this_cpu_add(x, n)		((void)&(x), (void)(n))
#define roundup_pow_of_two(n)		(n)
#define queue_work(wq, work)		((void)(wq), (void)(work))

/* --------------------------------------------------------------------- subset */

struct list_head { struct list_head *next, *prev; };
typedef struct { int counter; } atomic_t;
typedef struct { int refs; } refcount_t;
struct completion { int done; };
struct xarray { void *root; };
struct ida { void *root; };
struct net;
struct net_device;
struct workqueue_struct;
struct vm_area_struct;
struct rdma_hw_stats;

enum ib_port_state { IB_PORT_NOP };
enum ib_event_type { IB_EVENT_CQ_ERR };
enum ib_cq_notify_flags {
	IB_CQ_SOLICITED = 1 << 0,
	IB_CQ_NEXT_COMP = 1 << 1,
	IB_CQ_SOLICITED_MASK = IB_CQ_SOLICITED | IB_CQ_NEXT_COMP,
	IB_CQ_REPORT_MISSED_EVENTS = 1 << 2,
};
enum {
	IB_WC_SEND = 0, IB_WC_RDMA_WRITE = 1, IB_WC_RDMA_READ = 2,
	IB_WC_COMP_SWAP = 3, IB_WC_FETCH_ADD = 4,
	IB_WC_RECV = 128, IB_WC_RECV_RDMA_WITH_IMM = 129,
	IB_WC_WITH_IMM = 2, IB_WC_GENERAL_ERR = 21,
};

struct ib_device { struct { u32 driver_id; } ops; };
struct ib_pd { struct ib_device *device; };
struct ib_ucontext { struct ib_device *device; };
struct ib_uobject;
struct ib_cq;
struct ib_event {
	struct ib_device *device;
	union { struct ib_cq *cq; } element;
	enum ib_event_type event;
};
struct ib_cq {
	struct ib_device *device;
	struct ib_uobject *uobject;
	void (*comp_handler)(struct ib_cq *cq, void *context);
	void (*event_handler)(struct ib_event *event, void *context);
	void *cq_context;
	int cqe;
};
struct ib_cq_init_attr { unsigned int cqe; u32 comp_vector, flags; };
struct ib_wc {
	u64 wr_id;
	int status, opcode;
	u32 vendor_err, byte_len;
	union { __be32 imm_data; } ex;
	u32 src_qp;
	int wc_flags;
	u8 port_num;
};
struct ib_udata { size_t inlen, outlen; };
struct rdma_user_mmap_entry { int unused; };

/* ---------------------------------------------------------------------- never */

struct mutex { int unused; };
struct work_struct { int unused; };
#define mutex_init(m)			((void)(m))
#define mutex_lock(m)			((void)(m), abort())
#define mutex_unlock(m)			((void)(m))
#define INIT_LIST_HEAD(head)		((void)(head))
#define list_add_tail(entry, head)	((void)(entry), (void)(head))
#define list_del(entry)			((void)(entry))
#define list_for_each_entry(pos, head, member)				\
	for (pos = container_of((head)->next, __typeof__(*pos), member);	\
	     &pos->member != (head);					\
	     pos = container_of(pos->member.next, __typeof__(*pos), member))
#define INIT_WORK(work, f)		((void)(work), (void)(f))
#define cancel_work_sync(work)		((void)(work))

typedef struct ib_udata rxo_create_cq_arg;
#define rxo_create_cq_udata(arg)	(arg)
#define rdma_udata_to_drv_context(udata, type, member) \
	((void)(udata), (type *)NULL)
static inline bool ib_is_udata_cleared(struct ib_udata *u, size_t off, size_t len)
{
	(void)u, (void)off, (void)len;
	abort();
}
static inline int ib_copy_from_udata(void *dst, struct ib_udata *u, size_t len)
{
	(void)dst, (void)u, (void)len;
	abort();
}
static inline int ib_copy_to_udata(struct ib_udata *u, void *src, size_t len)
{
	(void)u, (void)src, (void)len;
	abort();
}

#endif /* RING_TWINS_STAND_IN_H */
