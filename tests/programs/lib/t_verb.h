/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The verb under test, by the library, by ioctl, or by both in turn. */
#ifndef T_VERB_H
#define T_VERB_H

#include <stdint.h>
#include <infiniband/verbs.h>

struct t_verb {
	const char *name;
	int (*poll_rearm)(struct ibv_cq *cq, int num_entries,
			  struct ibv_wc *wc, uint32_t flags);
	int (*rearm_if_empty)(struct ibv_cq *cq, uint32_t flags);
};

/**
 * t_verb_find - the verb as t_options.method asks for it
 *
 * Ends the program if that is not a way to call the verb.
 */
const struct t_verb *t_verb_find(void);

#endif /* T_VERB_H */
