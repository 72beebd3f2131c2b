// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The one place where the tracepoints are made. */
#include <linux/string.h>

#define CREATE_TRACE_POINTS
#include "trace.h"
