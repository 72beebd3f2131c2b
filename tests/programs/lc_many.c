// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How long a process with many QPs takes to end. A child makes them on device A,
 * connected in pairs, half of them busy with a request that finds no receive; then
 * it is killed, exits as it is, or destroys all first. With 500 and with 2,000 (as
 * many times fewer as the kernel is slower): it must take less than 5 s, and grow no
 * faster than the number.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"
#include "t_link.h"

#define FEW		500
#define TIMES		4
#define MANY		(TIMES * FEW)
#define LIMIT_MS	5000
/* Below that, what is measured is the machine. */
#define NOISE_MS	200

enum way { KILLED, EXITS, DESTROYS, WAYS };

static const char *const ways[WAYS] = {
	"killed", "exits", "destroys all and exits",
};

static struct t_link many[MANY / 2];

/* ---------------------------------------------------------------------- child */

static void open_pairs(unsigned int n)
{
	struct t_config config = {
		.cqe = 16, .send_wr = 8, .recv_wr = 8, .sge = 1, .mem = 4096,
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	unsigned int i;
	int err;

	t_open();
	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.min_rnr = 0;	/* 655 ms, so that they do not keep it busy */
	for (i = 0; i < n / 2; i++) {
		t_link_open(&many[i], &config);
		err = t_post_send(&many[i].a, &wr);
		if (err)
			t_fatal("cannot post a send: %s", strerror(err));
	}
}

static void __attribute__((noreturn)) child(unsigned int n, enum way way,
					    int say, int hear)
{
	unsigned int i, failed = t_failed();
	char c = 'r';

	open_pairs(n);
	if (write(say, &c, 1) != 1 || read(hear, &c, 1) != 1)
		_exit(1);
	if (way == DESTROYS) {
		for (i = 0; i < n / 2; i++)
			t_link_close(&many[i]);
		t_close();
	}
	_exit(t_failed() > failed ? 1 : 0);
}

/* --------------------------------------------------------------------- parent */

/* Milliseconds that the end took. */
static uint64_t one(unsigned int n, enum way way)
{
	int say[2], hear[2], status;
	uint64_t start;
	pid_t pid;
	char c = 'g';

	if (pipe(say) || pipe(hear))
		t_fatal("pipe: %s", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		t_fatal("fork: %s", strerror(errno));
	if (!pid)
		child(n, way, say[1], hear[0]);
	close(say[1]);
	if (read(say[0], &c, 1) != 1)
		t_fatal("the child with %u QPs has failed", n);

	start = t_now_ms();
	if (way == KILLED)
		kill(pid, SIGKILL);
	else if (write(hear[1], &c, 1) != 1)
		t_fatal("write: %s", strerror(errno));
	if (waitpid(pid, &status, 0) != pid)
		t_fatal("waitpid: %s", strerror(errno));
	start = t_now_ms() - start;
	if (way != KILLED)
		t_is(status, 0, "status of the child with %u QPs", n);
	close(say[0]);
	close(hear[0]);
	close(hear[1]);
	return start;
}

static unsigned int a_few(void)
{
	return FEW / t_slow();
}

/* As many QPs in TIMES processes as at_once() has in one. */
static uint64_t same_number(enum way way)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < TIMES; i++)
		sum += one(a_few(), way);
	return sum;
}

/* The better of two: what else the machine does only ever adds. */
static uint64_t at_once(enum way way)
{
	unsigned int n = TIMES * a_few();
	uint64_t first = one(n, way), second = one(n, way);

	t_note("%s: %u and %u ms", ways[way], (unsigned int)first,
	       (unsigned int)second);
	return first < second ? first : second;
}

int main(int argc, char **argv)
{
	uint64_t few, all;
	int way;

	t_args(argc, argv, "How long a process with many QPs takes to end.");
	for (way = 0; way < WAYS; way++) {
		few = same_number(way);
		all = at_once(way);
		t_note("%s: %u ms with %u QPs, %u ms for %u processes with %u",
		       ways[way], (unsigned int)all, TIMES * a_few(),
		       (unsigned int)few, TIMES, a_few());
		t_true(all < LIMIT_MS, "%s: in less than %u ms", ways[way],
		       LIMIT_MS);
		t_true(all < few + few / 2 + NOISE_MS,
		       "%s: no faster than the number", ways[way]);
	}
	return t_done();
}
