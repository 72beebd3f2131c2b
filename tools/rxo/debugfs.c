// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugfs.h"
#include "rxo.h"

#define FOLDER	"rxe_ordered"

/* Where debugfs is, or an empty string. */
static void find_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *entry;

	path[0] = 0;
	if (!mounts)
		return;
	while (!path[0] && (entry = getmntent(mounts)))
		if (!strcmp(entry->mnt_type, "debugfs"))
			snprintf(path, size, "%s", entry->mnt_dir);
	endmntent(mounts);
}

/* Why @device has no file to be opened. */
static void explain(const char *mount, const char *device, int err)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/" FOLDER, mount);
	if (!mount[0])
		rxo_error("debugfs is not mounted (mount -t debugfs debugfs /sys/kernel/debug)");
	else if (err == EACCES || err == EPERM)
		rxo_error("only root may do this");
	else if (err == ENOENT && access(path, F_OK))
		rxo_error("the module rxe_ordered is not loaded");
	else if (err == ENOENT && device)
		rxo_error("no rxe_ordered device is named '%s'", device);
	else
		rxo_error("%s: %s", path, strerror(err));
}

static int open_file(const char *device, const char *file, int flags)
{
	char mount[256], path[512];
	int fd;

	find_mount(mount, sizeof(mount));
	if (strchr(device, '/') || device[0] == '.') {
		rxo_error("'%s' cannot be the name of a device", device);
		errno = ENODEV;
		return -1;
	}
	if (snprintf(path, sizeof(path), "%s/" FOLDER "/%s/%s", mount, device,
		     file) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mount[0] ? open(path, flags | O_CLOEXEC) : -1;
	if (fd < 0) {
		int err = mount[0] ? errno : ENODEV;

		explain(mount, device, err);
		errno = err == EINVAL ? EIO : err;
	}
	return fd;
}

int debugfs_write(const char *device, const char *file, const char *text)
{
	int fd = open_file(device, file, O_WRONLY), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

char *debugfs_read(const char *device, const char *file)
{
	size_t size = 0, len = 0;
	char *text = NULL, *more;
	int fd = open_file(device, file, O_RDONLY);
	ssize_t n = 1;

	if (fd < 0)
		return NULL;
	while (n > 0) {
		if (size - len < 4096) {
			size += 65536;
			more = realloc(text, size);
			if (!more)
				break;
			text = more;
		}
		n = read(fd, text + len, size - len - 1);
		if (n > 0)
			len += n;
	}
	close(fd);
	if (n) {
		rxo_error("cannot read '%s' of %s: %s", file, device,
			  strerror(errno));
		free(text);
		return NULL;
	}
	text[len] = 0;
	return text;
}

int debugfs_devices(int (*each)(const char *device))
{
	char mount[256], path[512];
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	find_mount(mount, sizeof(mount));
	snprintf(path, sizeof(path), "%s/" FOLDER, mount);
	dir = mount[0] ? opendir(path) : NULL;
	if (!dir) {
		explain(mount, NULL, errno);
		return -1;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (each(entry->d_name)) {
			n = -1;
			break;
		}
		n++;
	}
	closedir(dir);
	return n;
}
