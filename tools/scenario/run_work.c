// SPDX-License-Identifier: BSD-2-Clause
/* Statements that connect processes and post work. */
#include <errno.h>
#include <string.h>

#include "tools/scenario/runner_internal.h"

#define DEPTH	64

/* ---- connections ---- */

static void join_option(const struct statement *st, const char *key,
			unsigned int flag, unsigned int *value,
			struct testbed_joining *j)
{
	const struct arg *a = statement_option(st, key);

	if (!a)
		return;
	*value = (unsigned int)a->number;
	j->mask |= flag;
}

int run_connect(struct run *r, const struct statement *st)
{
	const struct arg *order = statement_option(st, "order");
	const struct arg *psn = statement_option(st, "psn");
	struct testbed_joining j = {
		.depth = (unsigned int)statement_number(st, "depth", DEPTH),
		.pd = (unsigned int)statement_number(st, "domain", 0),
		.relaxed = order && order->choice,
		.datagrams = statement_option(st, "datagrams"),
		.inline_bytes = (unsigned int)statement_number(st, "inline", 0),
	};

	join_option(st, "mtu", FL_ATTR_MTU, &j.attr.mtu, &j);
	join_option(st, "timeout", FL_ATTR_TIMEOUT, &j.attr.timeout, &j);
	join_option(st, "retry", FL_ATTR_RETRIES, &j.attr.retries, &j);
	join_option(st, "rnr", FL_ATTR_RNR_CODE, &j.attr.rnr_code, &j);
	join_option(st, "rnr_retry", FL_ATTR_RNR_TRIES, &j.attr.rnr_tries, &j);
	join_option(st, "reads", FL_ATTR_RD_ATOMIC, &j.attr.rd_atomic, &j);
	j.attr.dest_rd_atomic = j.attr.rd_atomic;
	if (psn)
		j.mask |= FL_ATTR_SQ_PSN | FL_ATTR_RQ_PSN;
	if (psn)
		j.attr.sq_psn = j.attr.rq_psn = (uint32_t)psn->number;
	return testbed_connect(r->process[st->arg[0].name],
			       r->process[st->arg[1].name], st->arg[3].word, &j,
			       &r->conn[st->arg[3].name]);
}

/* ---- requests of one side that reach memory of the other ---- */

/* The keys of the buffers, unless the line says otherwise. */
static uint32_t work_key(struct run *r, const struct statement *st,
			const char *option, const struct testbed_buffer *b)
{
	const struct arg *a = statement_option(st, option);

	if (!a)
		return b->key;
	return a->name >= 0 ? r->buffer[a->name]->key : (uint32_t)a->number;
}

static int post_sides(struct run *r, struct testbed_work *k)
{
	struct testbed_process *p = k->local->process, *q = k->remote->process;

	k->side = p == k->conn->process[0] ? 0 : 1;
	if (p != k->conn->process[k->side] ||
	    q != k->conn->process[1 - k->side]) {
		testbed_why_set(r->w,
				"%s connects %s and %s, but %s is in %s and %s "
				"in %s",
				k->conn->name, k->conn->process[0]->name,
				k->conn->process[1]->name, k->local->name,
				p->name, k->remote->name, q->name);
		return -EINVAL;
	}
	return 0;
}

/* No size is given: up to the end that is nearer. */
static int post_bytes(struct run *r, const struct testbed_work *k,
		      uint64_t from, uint64_t at, uint64_t *bytes)
{
	const struct testbed_buffer *b = from >= k->local->bytes ? k->local :
							       k->remote;
	uint64_t off = b == k->local ? from : at, left;

	if (off >= b->bytes) {
		testbed_why_set(r->w, "%s=%llu leaves nothing of %s, which has "
				"%llu bytes",
				b == k->local ? "from" : "at",
				(unsigned long long)off, b->name,
				(unsigned long long)b->bytes);
		return -ERANGE;
	}
	*bytes = k->local->bytes - from;
	left = k->remote->bytes - at;
	if (left < *bytes)
		*bytes = left;
	return 0;
}

static int check_idle(struct run *r, const struct testbed_work *k)
{
	if (!k->posted || k->done)
		return 0;
	testbed_why_set(r->w, "%s is still in flight", k->name);
	return -EBUSY;
}

/* Both ends, from what stands behind the connection in the line. */
static int work_ends(struct run *r, const struct statement *st,
		     struct testbed_work *k)
{
	uint64_t from = statement_number(st, "from", 0);
	uint64_t at = statement_number(st, "at", 0), bytes = 8;
	int err;

	k->conn = r->conn[st->arg[3].name];
	k->local = r->buffer[st->arg[4].name];
	k->remote = r->buffer[st->arg[6].name];
	err = post_sides(r, k);
	if (!err && st->verb == V_POST && !st->arg[7].set)
		err = post_bytes(r, k, from, at, &bytes);
	else if (st->verb == V_POST)
		bytes = st->arg[7].number;
	if (err)
		return err;
	if (bytes > UINT32_MAX)
		return -EFBIG;
	k->bytes = (uint32_t)bytes;
	k->local_va = statement_number(st, "local",
				       (uint64_t)(uintptr_t)k->local->mem + from);
	k->remote_va = statement_number(st, "remote",
					(uint64_t)(uintptr_t)k->remote->mem + at);
	k->lkey = work_key(r, st, "lkey", k->local);
	k->rkey = work_key(r, st, "rkey", k->remote);
	return 0;
}

static void work_flags(const struct statement *st, struct testbed_work *k)
{
	const struct arg *imm = statement_option(st, "imm");

	k->fence = statement_option(st, "fence");
	k->solicited = statement_option(st, "solicited");
	k->inlined = statement_option(st, "inline");
	k->with_imm = imm != NULL;
	k->imm = imm ? (uint32_t)imm->number : 0;
}

/* The counter is one of the process that is written to. */
static int post_notify(struct run *r, const struct statement *st, struct testbed_work *k)
{
	const struct arg *a = statement_option(st, "notify");
	const struct testbed_counter *c = a ? r->counter[a->name] : NULL;

	if (!a)
		return 0;
	if (!c || c->process != k->remote->process) {
		testbed_why_set(r->w, "%s is no counter of %s", a->word,
				k->remote->process->name);
		return -EINVAL;
	}
	k->notify = c->number;
	return 0;
}

static int post_request(struct run *r, const struct statement *st,
			struct testbed_work *k)
{
	bool write = st->arg[2].choice == 0;
	int err;

	if (st->verb == V_ATOMIC) {
		k->opcode = write ? FL_FETCH_ADD : FL_CMP_SWAP;
		k->swap = statement_number(st, "value", write);
		k->compare = statement_number(st, "compare", 0);
	} else if (write != (st->arg[5].choice == 0)) {
		testbed_why_set(r->w, "%s",
				write ? "a write goes LOCAL -> REMOTE" :
					"a read goes LOCAL <- REMOTE");
		return -EINVAL;
	} else {
		k->opcode = write ? FL_WRITE : FL_READ;
	}
	err = work_ends(r, st, k);
	if (!err)
		err = post_notify(r, st, k);
	return err ? err : testbed_post(r->w, k);
}

/* ---- messages ---- */

/*
 * One end: its process is that of the buffer. Of a process that is its own peer the first
 * end sends and the second receives.
 */
static int message_end(struct run *r, const struct statement *st,
		       struct testbed_work *k, const char *key)
{
	uint64_t off = statement_number(st, key, 0), bytes = st->arg[4].number;
	uint64_t all = k->receives ? k->receives : 1;
	const struct testbed_process *p;
	int i;

	k->conn = r->conn[st->arg[2].name];
	k->local = r->buffer[st->arg[3].name];
	p = k->local->process;
	for (i = 0; i < 2 && k->conn->process[i] != p; i++)
		;
	if (i == 2) {
		testbed_why_set(r->w, "%s connects %s and %s, but %s is in %s",
				k->conn->name, k->conn->process[0]->name,
				k->conn->process[1]->name, k->local->name,
				p->name);
		return -EINVAL;
	}
	k->side = k->opcode == FL_RECV && k->conn->process[1] == p ? 1 : i;
	if (!st->arg[4].set)
		bytes = off < k->local->bytes ? (k->local->bytes - off) / all : 0;
	if (bytes > UINT32_MAX || off > k->local->bytes ||
	    bytes * all > k->local->bytes - off) {
		testbed_why_set(r->w, "%s has only %llu bytes", k->local->name,
				(unsigned long long)k->local->bytes);
		return -ERANGE;
	}
	k->bytes = (uint32_t)bytes;
	k->local_va = (uint64_t)(uintptr_t)k->local->mem + off;
	k->lkey = work_key(r, st, "lkey", k->local);
	return 0;
}

static int post_message(struct run *r, const struct statement *st,
			struct testbed_work *k)
{
	int err;

	if (st->verb == V_SEND) {
		k->opcode = FL_SEND;
		err = message_end(r, st, k, "from");
		return err ? err : testbed_post(r->w, k);
	}
	k->opcode = FL_RECV;
	k->receives = (uint32_t)statement_number(st, "n", 1);
	err = message_end(r, st, k, "at");
	return err ? err : testbed_receive(r->w, k);
}

int run_post(struct run *r, const struct statement *st)
{
	struct testbed_work *k = &r->work[st->arg[0].name];
	int err = check_idle(r, k);

	if (err)
		return err;
	memset(k, 0, sizeof(*k));
	k->name = st->arg[0].word;
	work_flags(st, k);
	if (st->verb == V_SEND || st->verb == V_RECEIVE)
		return post_message(r, st, k);
	return post_request(r, st, k);
}
