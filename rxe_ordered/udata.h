/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Driver data of the verbs in and out, by the rules at the top of the ABI
 * header. A verb first checks what it will need, then acts, then answers.
 */
#ifndef RXO_UDATA_H
#define RXO_UDATA_H

#include <rdma/ib_verbs.h>

/**
 * rxo_udata_read - copy a command in
 * @udata: not NULL
 * @cmd: filled in
 * @size: of the command struct; 0 for a verb without one
 *
 * Return: 0, -EINVAL (too short), -EOPNOTSUPP (longer, and the tail is not
 * zero), -EFAULT.
 */
static inline int rxo_udata_read(struct ib_udata *udata, void *cmd, size_t size)
{
	if (udata->inlen < size)
		return -EINVAL;
	if (udata->inlen > size &&
	    !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EOPNOTSUPP;
	return size ? ib_copy_from_udata(cmd, udata, size) : 0;
}

/* For a verb that has neither command nor response. */
static inline int rxo_udata_none(struct ib_udata *udata)
{
	return udata ? rxo_udata_read(udata, NULL, 0) : 0;
}

/* Room for a response that the verb is useless without? */
static inline int rxo_udata_need(const struct ib_udata *udata, size_t size)
{
	return udata->outlen < size ? -EINVAL : 0;
}

/* Copy a response out, truncated to what the caller has room for. */
static inline int rxo_udata_write(struct ib_udata *udata, void *resp,
				  size_t size)
{
	size = min(size, udata->outlen);
	return size ? ib_copy_to_udata(udata, resp, size) : 0;
}

#endif /* RXO_UDATA_H */
