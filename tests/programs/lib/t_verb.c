// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include <infiniband/rxodv.h>

#include "t.h"
#include "t_ioctl.h"
#include "t_verb.h"

/* Every thread changes over from call to call. */
static _Thread_local unsigned int calls;

static int mixed_poll_rearm(struct ibv_cq *cq, int num_entries,
			    struct ibv_wc *wc, uint32_t flags)
{
	return calls++ & 1 ? t_ioctl_poll_rearm(cq, num_entries, wc, flags) :
			     rxodv_poll_rearm_cq(cq, num_entries, wc, flags);
}

static int mixed_rearm_if_empty(struct ibv_cq *cq, uint32_t flags)
{
	return calls++ & 1 ? t_ioctl_rearm_if_empty(cq, flags) :
			     rxodv_rearm_cq_if_empty(cq, flags);
}

static const struct t_verb verbs[] = {
	{ "library", rxodv_poll_rearm_cq, rxodv_rearm_cq_if_empty },
	{ "ioctl", t_ioctl_poll_rearm, t_ioctl_rearm_if_empty },
	{ "mixed", mixed_poll_rearm, mixed_rearm_if_empty },
};

const struct t_verb *t_verb_find(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].name, t_options.method))
			return &verbs[i];
	t_fatal("--method %s does not call the verb", t_options.method);
}
