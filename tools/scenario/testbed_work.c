// SPDX-License-Identifier: BSD-2-Clause
/* Connections, work requests and their completions, with the ledger of both. */
#include "tools/scenario/testbed_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

/* Every post gets a number of its own, the wr_id. */
int testbed_work_number(struct testbed *w, struct testbed_work *work)
{
	uint64_t room = w->work_room ? 2 * w->work_room : 64;
	struct testbed_work **more;

	if (w->works == w->work_room) {
		more = realloc(w->work, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->work = more;
		w->work_room = room;
	}
	w->work[w->works++] = work;
	return 0;
}

struct testbed_work *testbed_work_at(struct testbed *w, uint64_t number)
{
	return number && number <= w->works ? w->work[number - 1] : NULL;
}

/* ---- connections ---- */

static bool speaks_datagrams(const struct testbed_process *p)
{
	return p->system.row.transport == FL_TRANSPORT_UD;
}

static bool speaks_packets(const struct testbed_process *p)
{
	return p->system.row.transport == FL_TRANSPORT_RC || speaks_datagrams(p);
}

static int connection_make_pair(struct testbed_connection *c, int side,
				const struct testbed_joining *j,
				struct fl_address *address)
{
	struct rpc_command o = { .kind = RPC_PAIR, .id = c->number[side],
			   .domain = j->pd, .depth = j->depth,
			   .what = c->relaxed, .inline_bytes = j->inline_bytes };
	struct rpc_answer r;
	int err;

	o.datagrams = c->datagrams;
	/* With blocks there is nothing to receive, and no order where none is wanted. */
	if (speaks_packets(c->process[side]) && !c->relaxed)
		o.receives = j->depth;
	err = testbed_rpc(c->process[side], &o, &r, NULL);

	*address = r.address;
	c->qpn[side] = r.address.qpn;
	return err;
}

/* All attributes: those that were asked for, and the profile's for the rest. */
static struct fl_qp_attr joining_attr(const struct testbed *w,
				      const struct testbed_joining *j)
{
	const uint64_t *t = w->timing.v;
	struct fl_qp_attr a = j->attr;

	if (!(j->mask & FL_ATTR_MTU))
		a.mtu = (unsigned int)t[T_RC_MTU];
	if (!(j->mask & FL_ATTR_RNR_CODE))
		a.rnr_code = (unsigned int)t[T_RC_RNR_CODE];
	if (!(j->mask & FL_ATTR_RETRIES))
		a.retries = (unsigned int)t[T_RC_RETRIES];
	if (!(j->mask & FL_ATTR_RNR_TRIES))
		a.rnr_tries = (unsigned int)t[T_RC_RNR_TRIES];
	if (!(j->mask & FL_ATTR_TIMEOUT))
		a.timeout = (unsigned int)t[T_RC_TIMEOUT];
	if (!(j->mask & FL_ATTR_RD_ATOMIC))
		a.rd_atomic = a.dest_rd_atomic = (unsigned int)t[T_RC_DEPTH];
	return a;
}

static int connection_join(struct testbed_connection *c, int side,
			   const struct testbed_joining *j,
			   const struct fl_address *peer)
{
	struct testbed_process *p = c->process[side];
	struct rpc_command o = { .kind = RPC_CONNECT, .id = c->number[side],
			   .address = *peer, .mask = j->mask,
			   .datagrams = c->datagrams };
	struct rpc_answer r;

	if (j->mask)
		o.attr = joining_attr(p->testbed, j);
	return testbed_rpc(p, &o, &r, NULL);
}

/* What has been made of one that cannot be: nothing is left at either end. */
static void connection_undo(struct testbed_connection *c)
{
	struct rpc_command o = { .kind = RPC_UNPAIR };
	struct rpc_answer r;
	int side;

	for (side = 0; side < 2; side++) {
		o.id = c->number[side];
		testbed_rpc(c->process[side], &o, &r, NULL);
	}
}

/* Attributes of acknowledgements, and of READs. */
#define NOT_OF_DATAGRAMS (FL_ATTR_RNR_CODE | FL_ATTR_RETRIES | FL_ATTR_RNR_TRIES | \
			  FL_ATTR_TIMEOUT | FL_ATTR_RD_ATOMIC)

static enum oracle_order connection_order(const struct testbed_process *p,
					  const struct testbed_connection *c)
{
	if (c->datagrams)
		return ORACLE_DATAGRAMS;
	if (speaks_packets(p))
		return ORACLE_PACKETS;
	if (p->system.row.transport == FL_TRANSPORT_NV)
		return ORACLE_FRAGMENTS;
	return c->relaxed ? ORACLE_RELAXED : ORACLE_POSTED;
}

/* Is it of datagrams? 1, 0, or it cannot be. */
static int joining_datagrams(const struct testbed_process *p, const struct testbed_process *q,
			     const struct testbed_joining *j)
{
	if (!j->datagrams && speaks_datagrams(p) != speaks_datagrams(q))
		return -EOPNOTSUPP;
	if (!j->datagrams && !speaks_datagrams(p))
		return 0;
	if (j->mask & NOT_OF_DATAGRAMS || j->relaxed || !speaks_packets(p) ||
	    !speaks_packets(q))
		return -EOPNOTSUPP;
	return 1;
}

int testbed_connect(struct testbed_process *p, struct testbed_process *q,
		    const char *name, const struct testbed_joining *j,
		    struct testbed_connection **out)
{
	struct testbed *w = p->testbed;
	struct testbed_connection *c = &w->conn[w->conns];
	struct fl_address address[2];
	int err;

	if (w->conns == TESTBED_CONNS)
		return -ENOSPC;
	if (!p->open || !q->open || j->pd >= RPC_DOMAINS)
		return j->pd >= RPC_DOMAINS ? -EINVAL : -ENODEV;
	if ((j->mask || j->inline_bytes) && !(speaks_packets(p) && speaks_packets(q)))
		return -EOPNOTSUPP;
	err = joining_datagrams(p, q, j);
	if (err < 0)
		return err;
	memset(c, 0, sizeof(*c));
	c->datagrams = err;
	c->name = name;
	c->relaxed = j->relaxed;
	c->process[0] = p;
	c->process[1] = q;
	c->pair[0] = oracle_pair(w->oracle, name, connection_order(p, c));
	c->pair[1] = oracle_pair(w->oracle, name, connection_order(q, c));
	c->number[0] = 2 * w->conns;
	c->number[1] = 2 * w->conns + 1;
	err = connection_make_pair(c, 0, j, &address[0]);
	if (!err)
		err = connection_make_pair(c, 1, j, &address[1]);
	if (!err)
		err = connection_join(c, 0, j, &address[1]);
	if (!err)
		err = connection_join(c, 1, j, &address[0]);
	if (err) {
		connection_undo(c);
		return err;
	}
	w->conns++;
	*out = c;
	return 0;
}

int testbed_resume(struct testbed_connection *c, int side)
{
	struct rpc_command o = { .kind = RPC_RESUME, .id = c->number[side] };
	struct testbed_process *p = c->process[side];
	struct rpc_answer r;
	int err;

	if (p->gone)
		return -ESRCH;
	err = testbed_rpc(p, &o, &r, NULL);
	/* Nothing of what had failed lands any more. */
	if (!err)
		oracle_pair_rest(p->testbed->oracle, c->pair[side]);
	return err;
}

/* ---- posting ---- */

static int work_post_one(struct testbed_process *p, struct testbed_work *k,
			 uint64_t number)
{
	struct rpc_command o = {
		.kind = RPC_POST,
		.id = k->conn->number[k->side],
		.work = {
			.wr_id = number,
			.opcode = k->opcode,
			.local = (void *)(uintptr_t)k->local_va,
			.lkey = k->lkey,
			.remote = k->opcode == FL_SEND ? 0 : k->remote_va,
			.rkey = k->rkey,
			.bytes = k->bytes,
			.fence = k->fence,
			.inlined = k->inlined,
			.with_imm = k->with_imm,
			.imm = k->imm,
			.solicited = k->solicited,
			.compare = k->compare,
			.swap = k->swap,
			.notify = k->notify,
		},
	};
	struct rpc_answer r;
	int err = testbed_rpc(p, &o, &r, NULL);

	k->post_ns = r.now_ns;
	return err;
}

/*
 * The other end present, which its own process has to see to, as far as the address lies in
 * the buffer at all. This end is the library's.
 */
static int work_prefault(struct testbed_work *k)
{
	uint64_t start = k->remote ? (uint64_t)(uintptr_t)k->remote->mem : 0;

	if (!k->remote || !k->remote->registered || k->remote_va < start ||
	    k->remote_va - start + k->bytes > k->remote->bytes)
		return 0;
	return testbed_prefetch(k->remote, k->remote_va - start, k->bytes,
				k->opcode != FL_READ);
}

static void work_begin(struct testbed_work *k)
{
	k->posted = k->done = false;
	k->status = 0;
	k->done_bytes = k->done_imm = k->resends = 0;
	k->done_ns = 0;
	k->error = 0;
}

int testbed_post(struct testbed *w, struct testbed_work *k)
{
	struct testbed_process *p = k->conn->process[k->side];
	int err = 0;

	work_begin(k);
	if (p->gone)
		return -ESRCH;
	if (p->system.row.before == FL_BEFORE_PREFAULT)
		err = work_prefault(k);
	if (!err)
		err = testbed_work_number(w, k);
	if (err)
		return err;
	k->number = w->works;
	testbed_model_post(k);
	if (testbed_takes_receive(k))
		err = testbed_mail_post(k);
	if (err) {
		testbed_model_unpost(k);
		return err;
	}
	k->order = k->conn->posts[k->side];
	err = work_post_one(p, k, k->number);
	k->error = err;
	if (!err) {
		k->posted = true;
		k->conn->posts[k->side]++;
		return 0;
	}
	if (testbed_takes_receive(k))
		testbed_mail_unpost(k);
	if (!p->gone)
		testbed_model_unpost(k);
	return err;
}

/* One of them, whose completion will have the number that it gets here. */
static int receive_one(struct testbed *w, struct testbed_work *k, uint64_t va)
{
	struct testbed_process *p = k->conn->process[k->side];
	struct rpc_command o = { .kind = RPC_RECEIVE,
			   .id = k->conn->number[k->side],
			   .work = { .local = (void *)(uintptr_t)va,
				     .bytes = k->bytes, .lkey = k->lkey } };
	struct rpc_answer r;
	int err = testbed_work_number(w, k);

	if (!err)
		err = testbed_mail_receive(k, va);
	if (err)
		return err;
	o.work.wr_id = w->works;
	err = testbed_rpc(p, &o, &r, NULL);
	if (err) {
		testbed_mail_unreceive(k);
		return err;
	}
	k->post_ns = r.now_ns;
	k->number = w->works;
	k->posted = true;
	k->left++;
	return 0;
}

int testbed_receive(struct testbed *w, struct testbed_work *k)
{
	uint32_t i;

	work_begin(k);
	k->left = 0;
	if (k->conn->process[k->side]->gone)
		return -ESRCH;
	for (i = 0; i < k->receives && !k->error; i++)
		k->error = receive_one(w, k, k->local_va + (uint64_t)i * k->bytes);
	return k->error;
}

/* ---- event counters ---- */

int testbed_counter_add(struct testbed_process *p, struct testbed_counter *c)
{
	struct rpc_command o = { .kind = RPC_COUNTER, .id = p->counters };
	struct rpc_answer r = { 0 };
	int err;

	if (p->gone || !p->open)
		return -ESRCH;
	if (p->counters == RPC_EVENT_COUNTERS)
		return -ENOSPC;
	err = testbed_rpc(p, &o, &r, NULL);
	*c = (struct testbed_counter){ .process = p, .id = o.id, .number = r.key };
	p->counters += !err;
	return err;
}

int testbed_await(struct testbed_counter *c, uint32_t count, unsigned int how,
		  uint64_t timeout_ns, uint32_t *is)
{
	struct testbed *w = c->process->testbed;
	struct rpc_command o = { .kind = RPC_AWAIT, .id = c->id, .depth = count,
				 .what = how, .end_ns = sim_now(w->sim) + timeout_ns };
	struct rpc_answer r = { 0 };
	int err;

	if (c->process->gone)
		return -ESRCH;
	err = testbed_rpc(c->process, &o, &r, NULL);
	c->noticed_ns = r.now_ns;
	*is = (uint32_t)r.bytes;
	return err;
}

/* ---- completions ---- */

/* sources: rules, 2: exactly once, in order on its queue pair. */
static void request_completed(struct testbed *w, struct testbed_work *k,
			      const struct fl_completion *c)
{
	struct testbed_connection *conn = k->conn;

	if (k->order != conn->ends[k->side])
		testbed_note_problem(w, 2,
			"work request %s completed out of order on %s",
			k->name, conn->name);
	conn->ends[k->side] = k->order + 1;
	k->done = true;
	k->status = c->status;
	k->done_bytes = c->bytes;
	k->resends = c->resends;
	if (!c->status && c->bytes != k->bytes)
		testbed_note_problem(w, 2,
			"work request %s is complete with %u of %u bytes",
			k->name, c->bytes, k->bytes);
	testbed_model_complete(w, k);
}

/* Those in a row have numbers in a row, and the last one is the work's. */
static void receive_completed(struct testbed *w, struct testbed_work *k,
			      const struct fl_completion *c)
{
	if (c->wr_id != k->number - k->left + 1)
		testbed_note_problem(w, 2,
			"receive %s completed out of order on %s", k->name,
			k->conn->name);
	testbed_mail_arrived(w, k, c);
	k->done = !--k->left;
	if (!k->status)
		k->status = c->status;
	k->done_bytes += c->bytes;
	k->done_imm = c->imm;
}

static void work_completed(void *arg, const struct fl_completion *c,
			   uint64_t now_ns)
{
	struct testbed_process *p = arg;
	struct testbed *w = p->testbed;
	struct testbed_work *k = testbed_work_at(w, c->wr_id);

	if (!k || k->conn->process[k->side] != p || !k->posted || k->done) {
		testbed_note_problem(w, 2,
			"process %s took a completion (wr_id %llu) that %s",
			p->name, (unsigned long long)c->wr_id,
			k && k->done ? "had come before" : "nobody waits for");
		return;
	}
	if (c->qpn != k->conn->qpn[k->side])
		testbed_note_problem(w, 2,
			"work request %s completed on queue pair %u instead "
			"of %u",
			k->name, c->qpn, k->conn->qpn[k->side]);
	k->done_ns = now_ns;
	if (k->opcode == FL_RECV)
		receive_completed(w, k, c);
	else
		request_completed(w, k, c);
}

int testbed_wait(struct testbed *w, struct testbed_work *k, uint64_t timeout_ns,
		 enum testbed_wait how)
{
	struct testbed_process *p = k->conn ? k->conn->process[k->side] : NULL;
	struct rpc_command o = { .kind = RPC_WAIT, .what = how,
			   .work = { .wr_id = k->number },
			   .end_ns = sim_now(w->sim) + timeout_ns };
	struct rpc_sink sink = { .completion = work_completed, .arg = p };
	struct rpc_answer r;

	int err;

	if (!k->done && !k->posted)
		return k->error ? k->error : -ENOENT;
	err = k->done ? 0 : testbed_rpc(p, &o, &r, &sink);
	return err ? err : testbed_lease_end(k);
}
