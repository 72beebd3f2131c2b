/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The files that the driver keeps for each device in debugfs. */
#ifndef DEBUGFS_H
#define DEBUGFS_H

#include <stddef.h>

/**
 * debugfs_write - write text to a file of a device, in one go
 * @device: its name
 * @file: name of the file
 * @text: what to write
 *
 * Return: 0, or an errno; what is wrong with device, mount or rights has been
 * said then, but not what is wrong with the text (EINVAL, ENOSPC, E2BIG).
 */
int debugfs_write(const char *device, const char *file, const char *text);

/**
 * debugfs_read - all that a file of a device holds
 * @device: its name
 * @file: name of the file
 *
 * Return: text, to be freed, or NULL; what is wrong has been said then.
 */
char *debugfs_read(const char *device, const char *file);

/**
 * debugfs_devices - names of the devices that have files there
 * @each: called with each
 *
 * Return: how many, or -1; what is wrong has been said then.
 */
int debugfs_devices(int (*each)(const char *device));

#endif /* DEBUGFS_H */
