/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The private provider ABI of libibverbs, level 34, as far as we use it.
 *
 * Only for the standalone build: Debian installs no header for this ABI, inside
 * an rdma-core tree <infiniband/driver.h> is used instead (see rxo.h). What is
 * here are facts about a binary interface (order of members, parameter types,
 * numbers), true for rdma-core 44 (Debian 12) and 56 (Debian 13). The level is
 * part of the symbol version (IBVERBS_PRIVATE_34) and of one symbol's name, so
 * a libibverbs of another level refuses to link with us instead of crashing.
 * The layout is asserted in abi_check.c, with these declarations and, in an
 * rdma-core tree of this level, with the original ones.
 *
 * Two functions of level 34 are not the same in 44 and 56 and must not be used:
 * ibv_cmd_reg_dmabuf_mr (parameters) and ibv_cmd_create_cq_ex2 (only in 56).
 */
#ifndef RXO_ABI34_H
#define RXO_ABI34_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

/* In an rdma-core tree its CMakeLists.txt says which level that has. */
#define RXO_PABI	34

/* ----------------------------------------------------------- registration */

/* What libibverbs found in sysfs or by netlink; opaque to us. */
struct verbs_sysfs_dev;
struct verbs_device;

/* Kinds of entries of a match table; a table ends with kind 0. */
enum {
	VERBS_MATCH_DRIVER_ID = 3,
};

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};

struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);
	struct verbs_context *(*alloc_context)(struct ibv_device *device,
					       int cmd_fd, void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device,
						int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
	void (*uninit_device)(struct verbs_device *device);
};

/* Allocated by the provider, zeroed; all members belong to libibverbs. */
struct verbs_device {
	struct ibv_device device;
	const struct verbs_device_ops *ops;
	atomic_int refcount;
	void *list[2];
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};

static inline struct verbs_device *verbs_get_device(const struct ibv_device *dev)
{
	return (struct verbs_device *)dev;
}

/* ----------------------------------------------------------------- objects */

struct verbs_mr {
	struct ibv_mr ibv_mr;
	int mr_type;
	int access;
};

/* Flag of a QP with builders; where it lies is told in rxo.h. */
enum {
	VERBS_QP_EX = 1 << 1,
};

/* ------------------------------------------------------ table of operations */

/*
 * Every operation a provider can have, by name, in alphabetical order. An
 * operation we do not have needs its slot and nothing else, so it gets no
 * prototype: it stays NULL, and libibverbs keeps its own, which answers
 * EOPNOTSUPP.
 */
typedef void (*rxo_no_op)(void);

struct verbs_context_ops {
	rxo_no_op advise_mr;
	rxo_no_op alloc_dm;
	rxo_no_op alloc_mw;
	rxo_no_op alloc_null_mr;
	rxo_no_op alloc_parent_domain;
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	rxo_no_op alloc_td;
	rxo_no_op async_event;
	rxo_no_op attach_counters_point_flow;
	rxo_no_op attach_mcast;
	rxo_no_op bind_mw;
	rxo_no_op close_xrcd;
	rxo_no_op cq_event;
	rxo_no_op create_ah;
	rxo_no_op create_counters;
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe,
				    struct ibv_comp_channel *channel,
				    int comp_vector);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
					  struct ibv_cq_init_attr_ex *attr);
	rxo_no_op create_flow;
	rxo_no_op create_flow_action_esp;
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *attr);
	rxo_no_op create_rwq_ind_table;
	rxo_no_op create_srq;
	rxo_no_op create_srq_ex;
	rxo_no_op create_wq;
	rxo_no_op dealloc_mw;
	int (*dealloc_pd)(struct ibv_pd *pd);
	rxo_no_op dealloc_td;
	int (*dereg_mr)(struct verbs_mr *mr);
	rxo_no_op destroy_ah;
	rxo_no_op destroy_counters;
	int (*destroy_cq)(struct ibv_cq *cq);
	rxo_no_op destroy_flow;
	rxo_no_op destroy_flow_action;
	int (*destroy_qp)(struct ibv_qp *qp);
	rxo_no_op destroy_rwq_ind_table;
	rxo_no_op destroy_srq;
	rxo_no_op destroy_wq;
	rxo_no_op detach_mcast;
	void (*free_context)(struct ibv_context *context);
	rxo_no_op free_dm;
	rxo_no_op get_srq_num;
	rxo_no_op import_dm;
	rxo_no_op import_mr;
	rxo_no_op import_pd;
	rxo_no_op modify_cq;
	rxo_no_op modify_flow_action_esp;
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask);
	rxo_no_op modify_qp_rate_limit;
	rxo_no_op modify_srq;
	rxo_no_op modify_wq;
	rxo_no_op open_qp;
	rxo_no_op open_xrcd;
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	rxo_no_op post_srq_ops;
	rxo_no_op post_srq_recv;
	int (*query_device_ex)(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr,
			       size_t attr_size);
	rxo_no_op query_ece;
	int (*query_port)(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *attr);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			int attr_mask, struct ibv_qp_init_attr *init_attr);
	rxo_no_op query_qp_data_in_order;
	rxo_no_op query_rt_values;
	rxo_no_op query_srq;
	rxo_no_op read_counters;
	rxo_no_op reg_dm_mr;
	rxo_no_op reg_dmabuf_mr;
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length,
				 uint64_t hca_va, int access);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	rxo_no_op rereg_mr;
	rxo_no_op resize_cq;
	rxo_no_op set_ece;
	rxo_no_op unimport_dm;
	rxo_no_op unimport_mr;
	rxo_no_op unimport_pd;
};

/* ---------------------------------------------------------------- commands */

/*
 * A command is the old write() header and the struct of ib_user_verbs.h, and
 * the driver's own part, if any, directly behind. Nobody but libibverbs looks
 * inside, so the struct is only room here: this way no flexible array ends up
 * in the middle of a struct.
 */
#define RXO_ABI34_CMD(name, core)                                              \
	struct name {                                                          \
		struct ib_uverbs_cmd_hdr hdr;                                  \
		__aligned_u64 room[sizeof(struct core) / 8];                   \
	};                                                                     \
	static_assert(sizeof(struct core) % 8 == 0, "no tail is lost")

RXO_ABI34_CMD(ibv_get_context, ib_uverbs_get_context);
RXO_ABI34_CMD(ibv_query_port, ib_uverbs_query_port);
RXO_ABI34_CMD(ibv_alloc_pd, ib_uverbs_alloc_pd);
RXO_ABI34_CMD(ibv_reg_mr, ib_uverbs_reg_mr);
RXO_ABI34_CMD(ibv_create_cq, ib_uverbs_create_cq);
RXO_ABI34_CMD(ibv_create_qp, ib_uverbs_create_qp);
RXO_ABI34_CMD(ibv_query_qp, ib_uverbs_query_qp);
RXO_ABI34_CMD(ibv_modify_qp, ib_uverbs_modify_qp);

/* --------------------------------------------------------------- functions */

/* The level is in the name. */
void verbs_register_driver_34(const struct verbs_device_ops *ops);

/* Called by the dynamic linker when the library is loaded. */
#define PROVIDER_DRIVER(provider, ops)                                         \
	static __attribute__((constructor)) void provider##_register(void)     \
	{                                                                      \
		verbs_register_driver_34(&(ops));                              \
	}                                                                      \
	static_assert(sizeof(ops) == sizeof(struct verbs_device_ops),          \
		      "not a table of device operations")

/*
 * Allocate, zeroed, @size bytes that hold a struct verbs_context at @offset (a
 * number that travels as a pointer) and initialise that. Owns @cmd_fd from here
 * on, also on failure.
 */
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd,
				    size_t size, struct verbs_context *offset,
				    uint32_t driver_id);
#define verbs_init_and_alloc_context(device, cmd_fd, ptr, member, driver_id)   \
	((__typeof__(ptr))_verbs_init_and_alloc_context(                       \
		device, cmd_fd, sizeof(*(ptr)),                                \
		(struct verbs_context *)offsetof(__typeof__(*(ptr)), member),  \
		driver_id))
void verbs_uninit_context(struct verbs_context *context);
void verbs_set_ops(struct verbs_context *context,
		   const struct verbs_context_ops *ops);

/* All of these: 0, or a positive errno which is also left in errno. */
int ibv_cmd_get_context(struct verbs_context *context,
			struct ibv_get_context *cmd, size_t cmd_size,
			struct ib_uverbs_get_context_resp *resp,
			size_t resp_size);
int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp,
			     size_t *resp_size);
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *attr, struct ibv_query_port *cmd,
		       size_t cmd_size);
int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		     struct ibv_alloc_pd *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);
int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
		   uint64_t hca_va, int access, struct verbs_mr *mr,
		   struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size);
int ibv_cmd_dereg_mr(struct verbs_mr *mr);
int ibv_cmd_create_cq(struct ibv_context *context, int cqe,
		      struct ibv_comp_channel *channel, int comp_vector,
		      struct ibv_cq *cq, struct ibv_create_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_create_cq_resp *resp,
		      size_t resp_size);
int ibv_cmd_destroy_cq(struct ibv_cq *cq);
int ibv_cmd_create_qp(struct ibv_pd *pd, struct ibv_qp *qp,
		      struct ibv_qp_init_attr *attr, struct ibv_create_qp *cmd,
		      size_t cmd_size, struct ib_uverbs_create_qp_resp *resp,
		      size_t resp_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		     int attr_mask, struct ibv_qp_init_attr *init_attr,
		     struct ibv_query_qp *cmd, size_t cmd_size);
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		      int attr_mask, struct ibv_modify_qp *cmd,
		      size_t cmd_size);
int ibv_cmd_destroy_qp(struct ibv_qp *qp);

#endif /* RXO_ABI34_H */
