// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t.h"
#include "t_link.h"

struct pair_port t_port[2];

/* -------------------------------------------------------------------- devices */

static void no_block(int fd)
{
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK))
		t_fatal("fcntl: %s", strerror(errno));
}

void t_open(void)
{
	char err[PAIR_ERR_LEN];
	int i;

	for (i = 0; i < 2; i++) {
		if (pair_open(&t_port[i], t_options.dev[i], t_options.gid[i],
			      err))
			t_fatal("%s", err);
		no_block(t_port[i].ctx->async_fd);
	}
}

void t_close(void)
{
	pair_close(&t_port[1]);
	pair_close(&t_port[0]);
}

/* ----------------------------------------------------------------------- ends */

static void set_defaults(struct t_config *c, const struct t_config *config)
{
	memset(c, 0, sizeof(*c));
	if (config)
		*c = *config;
	if (!c->cqe)
		c->cqe = 256;
	if (!c->send_wr)
		c->send_wr = 128;
	if (!c->recv_wr)
		c->recv_wr = 128;
	if (!c->sge)
		c->sge = 4;
	if (!c->max_inline)
		c->max_inline = 64;
	if (!c->mem)
		c->mem = 1 << 16;
	if (!c->conn.mtu)
		pair_conn_init(&c->conn, &t_port[0], &t_port[1]);
}

struct ibv_comp_channel *t_channel(const struct pair_port *port)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(port->ctx);

	if (!channel)
		t_fatal("cannot create a completion channel: %s",
			strerror(errno));
	no_block(channel->fd);
	return channel;
}

struct ibv_qp *t_qp(struct t_end *end, const struct t_config *config)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = end->scq,
		.recv_cq = end->rcq,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = config->sig_all,
		.cap = {
			.max_send_wr = config->send_wr,
			.max_recv_wr = config->recv_wr,
			.max_send_sge = config->sge,
			.max_recv_sge = config->sge,
			.max_inline_data = config->max_inline,
		},
	};
	struct ibv_qp *qp = config->create ?
			    config->create(end->port->pd, &attr) :
			    ibv_create_qp(end->port->pd, &attr);

	if (!qp)
		t_fatal("cannot create a QP: %s", strerror(errno));
	end->cap = attr.cap;
	return qp;
}

static void end_open(struct t_end *end, const struct pair_port *port,
		     const struct t_config *c)
{
	memset(end, 0, sizeof(*end));
	end->port = port;
	end->channel = t_channel(port);
	end->scq = ibv_create_cq(port->ctx, c->cqe, end, end->channel, 0);
	end->rcq = ibv_create_cq(port->ctx, c->cqe, end, end->channel, 0);
	if (!end->scq || !end->rcq)
		t_fatal("cannot create a CQ: %s", strerror(errno));
	end->qp = t_qp(end, c);
	end->mem_len = c->mem;
	end->mem = aligned_alloc(4096, (c->mem + 4095) & ~4095UL);
	if (!end->mem)
		t_fatal("no memory");
	memset(end->mem, 0, c->mem);
	end->mr = ibv_reg_mr(port->pd, end->mem, c->mem, c->conn.access);
	if (!end->mr)
		t_fatal("cannot register %zu bytes: %s", c->mem,
			strerror(errno));
}

void t_link_open(struct t_link *link, const struct t_config *config)
{
	struct t_config c;
	int err;

	memset(link, 0, sizeof(*link));
	set_defaults(&c, config);
	link->conn = c.conn;
	end_open(&link->a, &t_port[0], &c);
	end_open(&link->b, &t_port[1], &c);
	if (c.unconnected)
		return;
	err = pair_connect(link->a.qp, link->a.port, link->b.qp, link->b.port,
			   &c.conn);
	if (err)
		t_fatal("cannot connect the QPs: %s", strerror(err));
}

/* Objects in the order in which they depend on each other; returns an error. */
static int end_close(struct t_end *end)
{
	int err = 0;

	if (end->qp)
		err = ibv_destroy_qp(end->qp);
	if (!err && end->mr)
		err = ibv_dereg_mr(end->mr);
	if (!err && end->scq)
		err = ibv_destroy_cq(end->scq);
	if (!err && end->rcq)
		err = ibv_destroy_cq(end->rcq);
	if (!err && end->channel)
		err = ibv_destroy_comp_channel(end->channel);
	free(end->mem);
	memset(end, 0, sizeof(*end));
	return err;
}

void t_link_close(struct t_link *link)
{
	int err_a = end_close(&link->a);
	int err_b = end_close(&link->b);

	if (err_a || err_b)
		t_true(false, "objects destroyed: %s, %s", strerror(err_a),
		       strerror(err_b));
}

/* ------------------------------------------------------------------- requests */

int t_post_send(struct t_end *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(end->qp, wr, &bad);
}

int t_post_recv(struct t_end *end, uint64_t wr_id, struct ibv_sge *sge,
		int num_sge)
{
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = num_sge,
	};

	return ibv_post_recv(end->qp, &wr, &bad);
}

void t_recv(struct t_end *end, unsigned int n)
{
	int err;

	while (n--) {
		err = t_post_recv(end, end->receives++, NULL, 0);
		if (err)
			t_fatal("cannot post a receive: %s", strerror(err));
	}
}

static void send_one(struct t_link *link, int flags)
{
	struct ibv_send_wr wr = {
		.wr_id = link->sent,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(link->sent),
		.send_flags = flags,
	};
	int err = t_post_send(&link->a, &wr);

	if (err)
		t_fatal("cannot post a send: %s", strerror(err));
	link->sent++;
}

void t_send(struct t_link *link, unsigned int n, int flags)
{
	struct ibv_wc wc;

	while (n-- > 1)
		send_one(link, flags);
	send_one(link, flags | IBV_SEND_SIGNALED);
	if (t_wait(link->a.scq, &wc, 1) != 1)
		t_fatal("message %u was not completed", link->sent - 1);
	if (wc.status != IBV_WC_SUCCESS)
		t_fatal("message %u: %s", (unsigned int)wc.wr_id,
			ibv_wc_status_str(wc.status));
}

void t_deliver(struct t_link *link, unsigned int n, int flags)
{
	t_recv(&link->b, n);
	t_send(link, n, flags);
}

uint32_t t_number(const struct ibv_wc *wc)
{
	return ntohl(wc->imm_data);
}

/* ---------------------------------------------------------------- completions */

int t_wait(struct ibv_cq *cq, struct ibv_wc *wc, int n)
{
	uint64_t until = t_now_ms() + T_WAIT_MS;
	int got = 0, k;

	while (got < n) {
		k = ibv_poll_cq(cq, n - got, wc + got);
		if (k < 0)
			return got;
		got += k;
		if (k > 0)
			until = t_now_ms() + T_WAIT_MS;
		else if (t_now_ms() > until)
			return got;
		else
			t_sleep_us(10);
	}
	return got;
}

bool t_wait_status(struct ibv_cq *cq, enum ibv_wc_status want,
		   const char *what)
{
	struct ibv_wc wc;

	if (t_wait(cq, &wc, 1) != 1)
		return t_true(false, "%s: expected '%s', but no completion came",
			      what, ibv_wc_status_str(want));
	if (wc.status == want)
		return t_true(true, "%s: %s", what, ibv_wc_status_str(want));
	return t_true(false, "%s: expected '%s', saw '%s' (vendor_err %#x)", what,
		      ibv_wc_status_str(want), ibv_wc_status_str(wc.status),
		      wc.vendor_err);
}

unsigned int t_drop_all(struct ibv_cq *cq)
{
	unsigned int total = 0;
	struct ibv_wc wc[16];
	int n;

	while ((n = ibv_poll_cq(cq, 16, wc)) > 0)
		total += n;
	return total;
}

/* --------------------------------------------------------------------- events */

static bool readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1;
}

struct ibv_cq *t_event(struct ibv_comp_channel *channel, int ms)
{
	struct ibv_cq *cq;
	void *context;

	if (!readable(channel->fd, ms) ||
	    ibv_get_cq_event(channel, &cq, &context))
		return NULL;
	ibv_ack_cq_events(cq, 1);
	return cq;
}

unsigned int t_events(struct ibv_comp_channel *channel)
{
	unsigned int n = 0;

	while (t_event(channel, T_QUIET_MS))
		n++;
	return n;
}

void t_expect_events(struct ibv_comp_channel *channel, unsigned int want,
		     const char *what)
{
	unsigned int saw = 0;

	while (saw < want && t_event(channel, 2000 * t_slow()))
		saw++;
	t_is(saw + t_events(channel), want, "events %s", what);
}

bool t_async(const struct pair_port *port, struct ibv_async_event *event,
	     int ms)
{
	if (!readable(port->ctx->async_fd, ms) ||
	    ibv_get_async_event(port->ctx, event))
		return false;
	ibv_ack_async_event(event);
	return true;
}

/* ------------------------------------------------------------ what the driver has */

void t_rule(const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/rxe_ordered/%s/faults",
		 t_options.dev[1]);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		t_fatal("%s: '%s': %s", path, text, strerror(errno));
	close(fd);
}

uint64_t t_counter(int which, const char *name)
{
	unsigned long long value;
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 t_options.dev[which], name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &value) != 1)
		t_fatal("%s: %s", path, strerror(errno));
	fclose(f);
	return value;
}

enum ibv_qp_state t_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
		return IBV_QPS_UNKNOWN;
	return attr.qp_state;
}
