// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a program sees when its device is taken away under it. It has everything
 * open that a program can have: connected QPs with traffic, mapped rings, memory,
 * a thread that sleeps for a completion. It says "ready"; then the case takes
 * device A away. The program must get IBV_EVENT_DEVICE_FATAL, its threads must
 * come back, every verb must say EIO. Then it says "checked", and when the file
 * RXO_GO exists (the module may be gone by then) it looks at its rings once more,
 * destroys one half of its objects and just unmaps the rings of the other.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/rxodv.h>

#include "t.h"
#include "t_link.h"

#define LINKS		4	/* the first has traffic, the others are idle */
#define MESSAGE		4096
#define COME_BACK_MS	5000

static struct t_link links[LINKS];
static struct ibv_comp_channel *sleeper_channel;
static struct ibv_cq *sleeper_cq;

/* -------------------------------------------------------------------- threads */

/* What ended the traffic, as text; an errno if that was one. */
static const char *traffic_end;
static int traffic_errno;
static unsigned int traffic_messages;

static int traffic_post(struct t_link *l)
{
	struct ibv_sge from = { (uintptr_t)l->a.mem, MESSAGE, l->a.mr->lkey };
	struct ibv_sge to = { (uintptr_t)l->b.mem, MESSAGE, l->b.mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &from,
		.num_sge = 1,
	};

	t_post_recv(&l->b, 0, &to, 1);
	return t_post_send(&l->a, &wr);
}

/* Return: 0 to go on. */
static int traffic_reap(struct t_link *l, unsigned int *posted)
{
	struct ibv_wc wc[16];
	int i, n;

	ibv_poll_cq(l->b.rcq, 16, wc);
	n = ibv_poll_cq(l->a.scq, 16, wc);
	if (n < 0) {
		traffic_end = "poll";
		traffic_errno = -n;
		return -1;
	}
	for (i = 0; i < n; i++) {
		if (wc[i].status == IBV_WC_SUCCESS)
			continue;
		traffic_end = ibv_wc_status_str(wc[i].status);
		return -1;
	}
	*posted -= n;
	traffic_messages += n;
	return 0;
}

static void *traffic(void *arg)
{
	struct t_link *l = arg;
	unsigned int posted = 0;

	for (;;) {
		while (posted < 8) {
			traffic_errno = traffic_post(l);
			if (traffic_errno) {
				traffic_end = "post";
				return NULL;
			}
			posted++;
		}
		if (traffic_reap(l, &posted))
			return NULL;
	}
}

static int sleeper_errno;

static void *sleeper(void *arg)
{
	struct ibv_cq *cq;

	(void)arg;
	if (ibv_get_cq_event(sleeper_channel, &cq, &arg))
		sleeper_errno = errno;
	return NULL;
}

static bool comes_back(pthread_t thread)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += COME_BACK_MS / 1000;
	return !pthread_timedjoin_np(thread, NULL, &ts);
}

/* --------------------------------------------------------------------- events */

static bool wait_fatal(void)
{
	struct ibv_async_event event;

	while (t_async(&t_port[0], &event, 40000)) {
		t_note("event: %s", ibv_event_type_str(event.event_type));
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------------- verbs */

static void is_eio(int err, const char *verb)
{
	if (err < 0)
		err = -err;
	t_true(err == EIO, "%s: %s", verb, strerror(err));
}

static void null_eio(const void *object, const char *verb)
{
	is_eio(object ? 0 : errno, verb);
}

static void check_device_verbs(void)
{
	struct pair_port *port = &t_port[0];
	struct ibv_device_attr dev_attr;
	struct ibv_port_attr port_attr;
	static char page[4096];

	is_eio(ibv_query_device(port->ctx, &dev_attr), "query_device");
	is_eio(ibv_query_port(port->ctx, 1, &port_attr), "query_port");
	null_eio(ibv_alloc_pd(port->ctx), "alloc_pd");
	null_eio(ibv_reg_mr(port->pd, page, sizeof(page), 0), "reg_mr");
	null_eio(ibv_create_cq(port->ctx, 16, NULL, NULL, 0), "create_cq");
	null_eio(ibv_create_comp_channel(port->ctx), "create_comp_channel");
}

static void check_object_verbs(struct t_end *end)
{
	struct ibv_qp_init_attr init = {
		.send_cq = end->scq,
		.recv_cq = end->rcq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4 },
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_qp_attr attr;
	struct ibv_wc wc;

	null_eio(ibv_create_qp(end->port->pd, &init), "create_qp");
	is_eio(pair_to_err(end->qp), "modify_qp");
	is_eio(ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init), "query_qp");
	is_eio(t_post_send(end, &wr), "post_send");
	is_eio(t_post_recv(end, 0, NULL, 0), "post_recv");
	t_drop_all(end->scq);
	is_eio(ibv_poll_cq(end->scq, 1, &wc), "poll_cq");
	is_eio(ibv_req_notify_cq(end->scq, 0), "req_notify_cq");
	is_eio(rxodv_poll_rearm_cq(end->scq, 1, &wc, 0), "rxodv_poll_rearm_cq");
	is_eio(rxodv_rearm_cq_if_empty(end->scq, 0), "rxodv_rearm_cq_if_empty");
}

/* --------------------------------------------------------------- taking down */

static void destroyed(int err, const char *what)
{
	t_true(!err || err == EIO, "destroy %s: %s", what, strerror(err));
}

static void destroy_end(struct t_end *end)
{
	destroyed(ibv_destroy_qp(end->qp), "a QP");
	destroyed(ibv_dereg_mr(end->mr), "a region");
	destroyed(ibv_destroy_cq(end->scq), "a CQ");
}

/* Unmaps whatever is mapped of an uverbs device; returns how much there was. */
static unsigned int unmap_rings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	uintptr_t from[256], to[256];
	char line[512];
	unsigned int i, n = 0;

	if (!f)
		t_fatal("/proc/self/maps: %s", strerror(errno));
	while (n < 256 && fgets(line, sizeof(line), f))
		if (strstr(line, "uverbs") &&
		    sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from[n], &to[n]) == 2)
			n++;
	fclose(f);
	for (i = 0; i < n; i++)
		if (munmap((void *)from[i], to[i] - from[i]))
			t_true(false, "munmap: %s", strerror(errno));
	return n;
}

static void wait_go(void)
{
	const char *go = getenv("RXO_GO");
	uint64_t until = t_now_ms() + 40000;

	while (go && access(go, F_OK)) {
		if (t_now_ms() > until)
			t_fatal("not told to go on");
		t_sleep_us(10000);
	}
}

/* ------------------------------------------------------------------------ main */

static void open_all(void)
{
	int i;

	t_open();
	for (i = 0; i < LINKS; i++)
		t_link_open(&links[i], NULL);
	sleeper_channel = ibv_create_comp_channel(t_port[0].ctx);
	if (!sleeper_channel)
		t_fatal("no channel: %s", strerror(errno));
	sleeper_cq = ibv_create_cq(t_port[0].ctx, 16, NULL, sleeper_channel, 0);
	if (!sleeper_cq || ibv_req_notify_cq(sleeper_cq, 0))
		t_fatal("no CQ to sleep on: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	pthread_t worker, waiter;
	unsigned int n;

	setvbuf(stdout, NULL, _IOLBF, 0);
	t_args(argc, argv, "What a program sees when device A goes away.");
	open_all();
	pthread_create(&worker, NULL, traffic, &links[0]);
	pthread_create(&waiter, NULL, sleeper, NULL);
	while (__atomic_load_n(&traffic_messages, __ATOMIC_RELAXED) < 100)
		t_sleep_us(1000);
	t_note("ready");

	if (!t_true(wait_fatal(), "a fatal event"))
		return t_done();
	if (!t_true(comes_back(worker), "the thread with traffic comes back") ||
	    !t_true(comes_back(waiter), "the thread that sleeps comes back"))
		return t_done();
	t_note("traffic ended after %u messages: %s %s", traffic_messages,
	       traffic_end, traffic_errno ? strerror(traffic_errno) : "");
	t_true(!traffic_errno || traffic_errno == EIO, "traffic error: EIO");
	t_is(sleeper_errno, EIO, "error of the thread that sleeps");
	check_device_verbs();
	check_object_verbs(&links[0].a);
	check_object_verbs(&links[1].a);
	t_note("checked");

	wait_go();
	t_drop_all(links[0].a.rcq);
	t_drop_all(links[2].a.scq);
	destroy_end(&links[0].a);
	destroy_end(&links[1].a);
	n = unmap_rings();
	t_true(n >= 8, "%u rings unmapped", n);
	return t_done();
}
