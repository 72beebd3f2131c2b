/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXO_COMPAT_LINUX_MM_H
#define RXO_COMPAT_LINUX_MM_H

#include_next <linux/mm.h>

/* Not needed from 6.3 on. */
#ifndef RXO_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

#endif /* RXO_COMPAT_LINUX_MM_H */
