// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Files in debugfs. ib_core tells, as it tells its clients, when a device has
 * come, is about to go, or has another name; between the first two the device
 * stays. That debugfs itself fails is no reason to fail: then there are no files.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "debug.h"
#include "dev.h"
#include "fault.h"
#include "qp.h"

/* Of one write to "faults": plenty of lines. */
#define RXO_DEBUG_MAX_WRITE	8192

static struct dentry *rxo_debug_root;

/* ------------------------------------------------------------------- faults */

static int rxo_debug_faults_show(struct seq_file *s, void *unused)
{
	rxo_fault_show(s->private, s);
	return 0;
}

static int rxo_debug_faults_open(struct inode *inode, struct file *file)
{
	return single_open(file, rxo_debug_faults_show, inode->i_private);
}

static ssize_t rxo_debug_faults_write(struct file *file,
				      const char __user *buf, size_t len,
				      loff_t *pos)
{
	struct rxo_dev *dev = ((struct seq_file *)file->private_data)->private;
	char *text;
	int err;

	if (len > RXO_DEBUG_MAX_WRITE)
		return -E2BIG;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	err = rxo_fault_write(dev, text, len);
	kfree(text);
	return err ?: (ssize_t)len;
}

static const struct file_operations rxo_debug_faults_fops = {
	.owner = THIS_MODULE,
	.open = rxo_debug_faults_open,
	.read = seq_read,
	.write = rxo_debug_faults_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* ---------------------------------------------------------------- queue pairs */

static int rxo_debug_qps_open(struct inode *inode, struct file *file)
{
	int err = seq_open(file, &rxo_qp_status_ops);

	if (!err)
		((struct seq_file *)file->private_data)->private =
			inode->i_private;
	return err;
}

static const struct file_operations rxo_debug_qps_fops = {
	.owner = THIS_MODULE,
	.open = rxo_debug_qps_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release,
};

/* ------------------------------------------------------------------- devices */

static struct ib_client rxo_debug_client;

static int rxo_debug_add(struct ib_device *ib)
{
	struct dentry *dir;
	struct rxo_dev *dev;

	if ((u32)ib->ops.driver_id != RXE_ORDERED_DRIVER_ID)
		return -EOPNOTSUPP;
	dev = rxo_dev_of(ib);
	dir = debugfs_create_dir(dev_name(&ib->dev), rxo_debug_root);
	if (IS_ERR(dir))
		return 0;
	debugfs_create_file("faults", 0600, dir, dev, &rxo_debug_faults_fops);
	debugfs_create_file("qps", 0400, dir, dev, &rxo_debug_qps_fops);
	debugfs_create_bool("trains", 0600, dir, &dev->trains);
	ib_set_client_data(ib, &rxo_debug_client, dir);
	return 0;
}

static void rxo_debug_remove(struct ib_device *ib, void *dir)
{
	/* Waits for those who read or write. After that no rule can come. */
	debugfs_remove(dir);
	rxo_fault_clear(rxo_dev_of(ib));
}

static void rxo_debug_rename(struct ib_device *ib, void *dir)
{
	if (dir)
		debugfs_rename(rxo_debug_root, dir, rxo_debug_root,
			       dev_name(&ib->dev));
}

static struct ib_client rxo_debug_client = {
	.name = "rxe_ordered_debug",
	.add = rxo_debug_add,
	.remove = rxo_debug_remove,
	.rename = rxo_debug_rename,
	/* Files need no kernel verbs. */
	.no_kverbs_req = true,
};

int rxo_debug_init(void)
{
	int err;

	rxo_debug_root = debugfs_create_dir("rxe_ordered", NULL);
	err = ib_register_client(&rxo_debug_client);
	if (err)
		debugfs_remove(rxo_debug_root);
	return err;
}

void rxo_debug_exit(void)
{
	ib_unregister_client(&rxo_debug_client);
	debugfs_remove(rxo_debug_root);
}
