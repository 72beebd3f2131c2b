// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Devices come by "rdma link add" and go by "rdma link delete", with their
 * netdev, or with the module.
 *
 * Locks: rxo_link_mutex makes additions one at a time; it is the outermost.
 * RTNL guards rxo_dev.port_state, and orders an addition against the removal of
 * the netdev. ib_core takes RTNL itself, so none of its calls that register or
 * unregister is made under it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>

#include "dev.h"
#include "fault.h"
#include "link.h"
#include "net.h"
#include "verbs.h"

#define RXO_LINK_TYPE "rxe_ordered"

static DEFINE_MUTEX(rxo_link_mutex);

/* With a reference that keeps it registered, or NULL. */
static struct rxo_dev *rxo_link_get(struct net_device *ndev)
{
	struct ib_device *ib = ib_device_get_by_netdev(
		ndev, (enum rdma_driver_id)RXE_ORDERED_DRIVER_ID);

	return ib ? rxo_dev_of(ib) : NULL;
}

/* ---------------------------------------------------------- life of a device */

/* ib_core gives the GIDs of a VLAN to the device on the netdev below only. */
static bool rxo_link_is_vlan(struct net_device *ndev)
{
	if (!is_vlan_dev(ndev))
		return false;
	pr_err("%s: a VLAN: add a device to %s, it has the addresses of the VLAN\n",
	       netdev_name(ndev), netdev_name(vlan_dev_real_dev(ndev)));
	return true;
}

static bool rxo_link_is_supported(const struct net_device *ndev)
{
	switch (ndev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:	/* tun */
		return true;
	default:
		return false;
	}
}

static void rxo_link_release(struct rxo_dev *dev)
{
	/* Waits for packets that look at the device or its counters. */
	rxo_net_close(dev);
	rxo_fault_destroy(dev);
	rxo_table_fini(&dev->mrs);
	ida_destroy(&dev->pd_ids);
	free_percpu(dev->stats);
	/* Lets the netdev, and with it the namespace, go: last. */
	dev_put(dev->ndev);
}

/* Everything that rxo_link_release() takes down. */
static int rxo_link_prepare(struct rxo_dev *dev, struct net_device *ndev)
{
	int err;

	dev->stats = alloc_percpu(struct rxo_stats);
	if (!dev->stats)
		return -ENOMEM;
	err = rxo_fault_create(dev);
	if (err)
		goto err_stats;
	dev_hold(ndev);
	dev->ndev = ndev;
	dev->trains = READ_ONCE(rxo_trains);
	rxo_table_init(&dev->mrs, 1, RXO_MAX_MR);
	ida_init(&dev->pd_ids);

	err = rxo_net_open(dev);
	if (!err)
		return 0;
	if (err == -EADDRINUSE)
		pr_err("%s: UDP port 4791 is in use in this network namespace\n",
		       netdev_name(ndev));
	dev_put(ndev);
	rxo_fault_destroy(dev);
err_stats:
	free_percpu(dev->stats);
	return err;
}

/* The last thing that ib_core calls, after all objects are gone. */
static void rxo_link_dealloc(struct ib_device *ib)
{
	struct rxo_dev *dev = rxo_dev_of(ib);

	if (dev->port_state != IB_PORT_NOP)
		ibdev_info(ib, "removed\n");
	rxo_link_release(dev);
}

static const struct ib_device_ops rxo_link_dev_ops = {
	.dealloc_driver = rxo_link_dealloc,
};

/*
 * ib_core puts every device into the initial namespace. That shows it in all of
 * them, except in exclusive mode; then the device belongs where its netdev is.
 */
static void rxo_link_set_netns(struct rxo_dev *dev)
{
	struct ib_device *ib = &dev->ib;

	if (!rdma_dev_access_netns(ib, dev->net))
		write_pnet(&ib->coredev.rdma_net, dev->net);
}

static int rxo_link_register(const char *name, struct net_device *ndev)
{
	struct rxo_dev *dev;
	int err;

	dev = ib_alloc_device(rxo_dev, ib);
	if (!dev)
		return -ENOMEM;
	err = rxo_link_prepare(dev, ndev);
	if (err)
		goto err_dealloc;

	rxo_verbs_setup(dev);
	rxo_link_set_netns(dev);
	/* From here on ib_dealloc_device() takes down what was prepared. */
	ib_set_device_ops(&dev->ib, &rxo_link_dev_ops);

	err = ib_device_set_netdev(&dev->ib, ndev, 1);
	if (err)
		goto err_dealloc;
	err = ib_register_device(&dev->ib, name, NULL);
	if (err)
		goto err_dealloc;
	return 0;

err_dealloc:
	ib_dealloc_device(&dev->ib);
	/* How ib_core says that the name is taken. */
	return err == -ENFILE ? -EEXIST : err;
}

/* -------------------------------------------------------------------- events */

/* One event for each change of state, whatever netdev events it took. */
static void rxo_link_update(struct rxo_dev *dev)
{
	enum ib_port_state old = dev->port_state;
	struct ib_event event = {
		.device = &dev->ib,
		.element.port_num = 1,
	};

	ASSERT_RTNL();

	dev->port_state = rxo_net_port_state(dev->ndev);
	if (dev->port_state == old || old == IB_PORT_NOP)
		return;
	event.event = dev->port_state == IB_PORT_ACTIVE ?
		IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
	ib_dispatch_event(&event);
}

static int rxo_link_event(struct notifier_block *nb, unsigned long event,
			  void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct rxo_dev *dev;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
	case NETDEV_UNREGISTER:
		break;
	default:
		return NOTIFY_DONE;
	}

	dev = rxo_link_get(ndev);
	if (!dev)
		return NOTIFY_DONE;
	/* Also when the netdev moves to another namespace. RTNL is held: queue. */
	if (event == NETDEV_UNREGISTER)
		ib_unregister_device_queued(&dev->ib);
	else
		rxo_link_update(dev);
	ib_device_put(&dev->ib);
	return NOTIFY_DONE;
}

static struct notifier_block rxo_link_nb = {
	.notifier_call = rxo_link_event,
};

/* ------------------------------------------------------------------- netlink */

/*
 * The netdev may have gone or moved while the device was being registered, and
 * its notification then found no device.
 */
static int rxo_link_settle(struct net_device *ndev)
{
	struct rxo_dev *dev = rxo_link_get(ndev);
	bool gone;

	if (!dev)
		return -ENODEV;

	rtnl_lock();
	gone = ndev->reg_state != NETREG_REGISTERED ||
	       !net_eq(dev_net(ndev), dev->net);
	if (!gone)
		rxo_link_update(dev);
	rtnl_unlock();

	if (gone) {
		ib_unregister_device_and_put(&dev->ib);
		return -ENODEV;
	}
	ibdev_info(&dev->ib, "added on %s\n", netdev_name(ndev));
	ib_device_put(&dev->ib);
	return 0;
}

static int rxo_link_add_locked(const char *name, struct net_device *ndev)
{
	struct rxo_dev *dev;
	int err;

	lockdep_assert_held(&rxo_link_mutex);

	dev = rxo_link_get(ndev);
	if (dev) {
		ib_device_put(&dev->ib);
		return -EEXIST;
	}
	err = rxo_link_register(name, ndev);
	return err ?: rxo_link_settle(ndev);
}

/* The caller holds a reference on @ndev, and no RTNL. */
static int rxo_link_new(const char *name, struct net_device *ndev)
{
	int err;

	if (!rxo_link_is_supported(ndev) || rxo_link_is_vlan(ndev))
		return -EOPNOTSUPP;
	mutex_lock(&rxo_link_mutex);
	err = rxo_link_add_locked(name, ndev);
	mutex_unlock(&rxo_link_mutex);
	return err;
}

static struct rdma_link_ops rxo_link_ops = {
	.type = RXO_LINK_TYPE,
	.newlink = rxo_link_new,
};

int rxo_link_init(void)
{
	int err;

	err = register_netdevice_notifier(&rxo_link_nb);
	if (err)
		return err;
	rdma_link_register(&rxo_link_ops);
	return 0;
}

void rxo_link_exit(void)
{
	rdma_link_unregister(&rxo_link_ops);
	/* Tells the notifier that every netdev is going: devices are queued. */
	unregister_netdevice_notifier(&rxo_link_nb);
	/* Waits for those, and takes down the rest. */
	ib_unregister_driver((enum rdma_driver_id)RXE_ORDERED_DRIVER_ID);
}

MODULE_ALIAS_RDMA_LINK(RXO_LINK_TYPE);
