// SPDX-License-Identifier: BSD-2-Clause
/*
 * rpc.c - commands over a stream socket. Each message is a head and what it
 * says: a command goes there with its text behind it; back come pieces of bytes and
 * completions, and at last the answer. A process in a guest is told from its line:
 * the line stays, and says that the process has ended.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib/os/os.h"
#include "tools/scenario/rpc.h"

/* Longer than any command may take: its waiting has an end of its own. */
#define PATIENCE_MS	120000
#define PIECE		65536u
#define TEXT_MAX	4096u

enum { LINE_ORDER = 1, LINE_BYTES, LINE_COMPLETION, LINE_ANSWER, LINE_END };
struct head {
	uint32_t kind, bytes;
};
struct completion {
	struct fl_completion c;
	uint64_t now_ns;
};

static int send_all(int line, const void *from, size_t n)
{
	return os_send_all(line, from, n, NULL, 0, -1) ? -ESRCH : 0;
}

static int line_say(int line, uint32_t kind, const void *from, uint32_t bytes)
{
	struct head h = { .kind = kind, .bytes = bytes };
	int err = send_all(line, &h, sizeof(h));

	return err ? err : send_all(line, from, bytes);
}

/* limit_ms -1: none. */
static int line_receive_all(int line, void *to, size_t n, int limit_ms)
{
	struct pollfd p = { .fd = line, .events = POLLIN };
	char *at = to;
	ssize_t r;
	int ready;

	for (; n; n -= (size_t)r, at += r) {
		do {
			ready = poll(&p, 1, limit_ms);
		} while (ready < 0 && errno == EINTR);
		if (!ready)
			return -ETIMEDOUT;
		r = os_receive(line, at, n, NULL, NULL);
		if (r <= 0)
			return -ESRCH;
	}
	return 0;
}

/* ---- the scenario thread's side ---- */

static int send_command(int line, const struct rpc_command *o)
{
	size_t text = o->text ? strlen(o->text) + 1 : 0;
	struct head h = { .kind = LINE_ORDER,
			  .bytes = (uint32_t)(sizeof(*o) + text) };
	struct rpc_command plain = *o;
	int err;

	if (text > TEXT_MAX)
		return -ENAMETOOLONG;
	plain.text = NULL;		/* an address of this program */
	err = send_all(line, &h, sizeof(h));
	if (!err)
		err = send_all(line, &plain, sizeof(plain));
	return err ? err : send_all(line, o->text, text);
}

static int hear_piece(int line, uint32_t bytes, uint64_t *left,
		      const struct rpc_sink *sink)
{
	char *piece;
	int err;

	if (!sink || !sink->bytes || bytes > PIECE || bytes > *left)
		return -EPROTO;
	piece = malloc(PIECE);
	if (!piece)
		return -ENOMEM;
	err = line_receive_all(line, piece, bytes, PATIENCE_MS);
	if (!err)
		err = sink->bytes(sink->arg, piece, bytes);
	*left -= bytes;
	free(piece);
	return err;
}

static int hear_completion(int line, uint32_t bytes,
			   const struct rpc_sink *sink)
{
	struct completion x;
	int err;

	if (!sink || !sink->completion || bytes != sizeof(x))
		return -EPROTO;
	err = line_receive_all(line, &x, sizeof(x), PATIENCE_MS);
	if (!err)
		sink->completion(sink->arg, &x.c, x.now_ns);
	return err;
}

/* -ECHILD and the status, or what went wrong. */
static int hear_end(int line, uint32_t bytes, int *status)
{
	int32_t s;
	int err;

	if (bytes != sizeof(s))
		return -EPROTO;
	err = line_receive_all(line, &s, sizeof(s), PATIENCE_MS);
	*status = s;
	return err ? err : -ECHILD;
}

void rpc_end_make(struct rpc_end *e, int status)
{
	*e = (struct rpc_end){ LINE_END, sizeof(e->status), status };
}

int rpc_end_wait(int line, int *status)
{
	struct head h;
	int err = line_receive_all(line, &h, sizeof(h), PATIENCE_MS);

	if (err || h.kind != LINE_END)
		return err ? err : -EPROTO;
	err = hear_end(line, h.bytes, status);
	return err == -ECHILD ? 0 : err;
}

int rpc_call(int line, const struct rpc_command *o, struct rpc_answer *r,
	     const struct rpc_sink *sink)
{
	uint64_t left = o->kind == RPC_READ ? o->bytes : 0;
	struct head h;
	int err = send_command(line, o);

	while (!err) {
		err = line_receive_all(line, &h, sizeof(h), PATIENCE_MS);
		if (err)
			break;
		if (h.kind == LINE_ANSWER && h.bytes == sizeof(*r))
			return line_receive_all(line, r, sizeof(*r),
						PATIENCE_MS);
		if (h.kind == LINE_END)
			return hear_end(line, h.bytes, &r->error);
		if (h.kind == LINE_BYTES)
			err = hear_piece(line, h.bytes, &left, sink);
		else if (h.kind == LINE_COMPLETION)
			err = hear_completion(line, h.bytes, sink);
		else
			err = -EPROTO;
	}
	return err;
}

/* ---- the process's side ---- */

static int tell_bytes(void *line, const void *from, uint64_t n)
{
	const uint8_t *mem = from;
	uint8_t *piece = malloc(PIECE);
	uint64_t at, part;
	int err = piece ? 0 : -ENOMEM;

	for (at = 0; at < n && !err; at += part) {
		part = n - at < PIECE ? n - at : PIECE;
		/* A copy, since a page that is not there faults no system call. */
		rpc_copy(piece, mem + at, part);
		err = line_say(*(int *)line, LINE_BYTES, piece, (uint32_t)part);
	}
	free(piece);
	return err;
}

static void tell_completion(void *line, const struct fl_completion *c,
			    uint64_t now_ns)
{
	struct completion x;

	memset(&x, 0, sizeof(x));	/* padding goes over the line too */
	x.c = *c;
	x.now_ns = now_ns;
	/* A peer that has gone hears no answer either: its next command does not come. */
	line_say(*(int *)line, LINE_COMPLETION, &x, sizeof(x));
}

static uint64_t clock_ns(void *epoch_ns)
{
	return os_now_ns() - *(uint64_t *)epoch_ns;
}

static int receive_command(int line, struct rpc_command *o, char text[TEXT_MAX])
{
	struct head h;
	int err = line_receive_all(line, &h, sizeof(h), -1);

	if (err)
		return err;
	if (h.kind != LINE_ORDER || h.bytes < sizeof(*o) ||
	    h.bytes > sizeof(*o) + TEXT_MAX)
		return -EPROTO;
	err = line_receive_all(line, o, sizeof(*o), -1);
	h.bytes -= (uint32_t)sizeof(*o);
	if (!err)
		err = line_receive_all(line, text, h.bytes, -1);
	if (!err && h.bytes) {
		text[h.bytes - 1] = 0;
		o->text = text;
	}
	return err;
}

void rpc_serve(int line)
{
	struct rpc_sink sink = { .bytes = tell_bytes,
				   .completion = tell_completion,
				   .arg = &line };
	struct rpc_app *a = calloc(1, sizeof(*a));
	uint64_t epoch_ns = 0;
	struct rpc_answer r;
	struct rpc_command o;
	char text[TEXT_MAX];

	if (!a)
		return;
	a->now_ns = clock_ns;
	a->now_arg = &epoch_ns;
	do {
		if (receive_command(line, &o, text))
			break;
		if (o.kind == RPC_OPEN)
			epoch_ns = o.epoch_ns;
		memset(&r, 0, sizeof(r));
		rpc_do(a, &o, &r, &sink);
	} while (!line_say(line, LINE_ANSWER, &r, sizeof(r)) &&
		 o.kind != RPC_CLOSE);
	free(a);
}
