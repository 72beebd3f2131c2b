/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the files of verb_invariants share. */
#ifndef VERB_INVARIANTS_H
#define VERB_INVARIANTS_H

#include "t_verb.h"

/* The verb under test; set once at start. */
extern const struct t_verb *verb;

/* verb_channels.c */
void test_channels(void);

/* verb_foreign.c */
void test_foreign(void);

#endif /* VERB_INVARIANTS_H */
