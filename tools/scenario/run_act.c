// SPDX-License-Identifier: BSD-2-Clause
/* Statements that do something. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "board/packets/packets.h"
#include "host/host.h"
#include "sim/sim.h"
#include "tools/scenario/runner_internal.h"
#include "tools/scenario/words.h"

#define WAIT_NS		5000000000ull
#define ACCESS_ALL	(FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ)

static uint64_t range_bytes(const struct arg *a)
{
	return a->set && a->end ? a->end - a->number : 0;
}

/* A guest has as many serial ports as it will have processes. */
static unsigned int count_processes(const struct scenario *s, int board)
{
	unsigned int n = 0;
	int i;

	for (i = 0; i < s->count; i++)
		n += s->st[i].verb == V_PROCESS && s->st[i].arg[2].name == board;
	return n;
}

static int act_board(struct run *r, const struct statement *st)
{
	struct testbed_board_config cfg = {
		.frames = statement_number(st, "frames", 0),
		.swap_pages = statement_number(st, "swap", 0),
		.contexts = (uint32_t)statement_number(st, "contexts", 0),
		.rx_contexts = (uint32_t)statement_number(st, "receive", 0),
		.block_bytes = (uint32_t)statement_number(st, "block", 0),
		.tlb_entries = (uint32_t)statement_number(st, "tlb", 0),
		.walk_cache_entries =
			(uint32_t)statement_number(st, "walkcache", 0),
		.processes = count_processes(r->s, st->arg[0].name),
	};

	return testbed_board_add(r->w, st->arg[0].word, &cfg,
				 &r->board[st->arg[0].name]);
}

static int act_process(struct run *r, const struct statement *st)
{
	struct testbed_process **p = &r->process[st->arg[0].name];
	int err = testbed_process_add_as(r->w, st->arg[0].word,
					 r->board[st->arg[2].name], &r->system,
					 r->resolve, p);

	if (!err && r->resolve == FL_RESOLVE_AROUND)
		err = testbed_resolve(*p, r->resolve, r->resolve_number);
	return err;
}

static int act_buffer(struct run *r, const struct statement *st)
{
	const struct arg *file = statement_option(st, "file");
	const struct arg *fill = statement_option(st, "fill");
	struct testbed_buffer **b = &r->buffer[st->arg[0].name];
	uint64_t seed = statement_number(st, "seed", 1);
	int err;

	err = testbed_buffer_add(r->process[st->arg[2].name], st->arg[0].word,
				 st->arg[3].number, file ? file->word : NULL,
				 b);
	if (!err && fill)
		err = testbed_buffer_fill(*b, (enum testbed_fill)fill->choice, seed);
	if (!err && statement_option(st, "warm"))
		err = testbed_buffer_touch(*b, 0, 0, !file);
	if (!err && statement_option(st, "evicted"))
		err = testbed_buffer_advise(*b, 0, 0, FL_PAGEOUT);
	return err;
}

static int act_region(struct run *r, const struct statement *st)
{
	struct testbed_buffer *b = r->buffer[st->arg[0].name];
	unsigned int access = (unsigned int)statement_number(st, "rights",
							  ACCESS_ALL);

	if (statement_option(st, "pinned"))
		access |= FL_PINNED;
	return testbed_region_add(b, st->arg[1].number,
				  range_bytes(&st->arg[1]), access,
				  (unsigned int)statement_number(st, "domain", 0));
}

static int set_inject(struct run *r, const struct statement *st,
		      struct fabric_inject *i)
{
	return fabric_inject(testbed_fabric(r->w),
			     board_id(r->board[st->arg[0].name]->board),
			     board_id(r->board[st->arg[2].name]->board), i);
}

static struct fabric_inject *inject_of(struct run *r,
				       const struct statement *st)
{
	return &r->inject[board_id(r->board[st->arg[0].name]->board)]
			 [board_id(r->board[st->arg[2].name]->board)];
}

static int act_inject(struct run *r, const struct statement *st)
{
	struct fabric_inject *i = inject_of(r, st);

	memset(i, 0, sizeof(*i));
	i->loss_ppm = (uint32_t)statement_number(st, "loss", 0);
	i->duplicate_ppm = (uint32_t)statement_number(st, "duplicate", 0);
	i->damage_ppm = (uint32_t)statement_number(st, "damage", 0);
	if (i->loss_ppm || i->damage_ppm)
		testbed_injected(r->w);
	i->late_ns = statement_number(st, "late", 0);
	if (i->late_ns)
		i->late_ppm = (uint32_t)statement_number(st, "share", 100000);
	return set_inject(r, st, i);
}

static int act_drop(struct run *r, const struct statement *st)
{
	struct fabric_inject *i = inject_of(r, st);
	int err;

	testbed_injected(r->w);
	i->drop_first = (uint32_t)st->arg[4].number;
	i->kind = st->arg[5].set ? (uint16_t)(1 + st->arg[5].choice) : 0;
	err = set_inject(r, st, i);
	i->drop_first = 0;	/* a later inject does not drop again */
	i->kind = 0;
	return err;
}

static int act_memory(struct run *r, const struct statement *st)
{
	static const int prot[] = { 0, FL_PROT_READ,
				    FL_PROT_READ | FL_PROT_WRITE };
	struct testbed_buffer *b = r->buffer[st->arg[0].name];
	bool three = st->verb == V_TOUCH || st->verb == V_PROTECT ||
		     st->verb == V_PREFETCH;
	const struct arg *range = &st->arg[three ? 2 : 1];
	uint64_t off = range->number, len = range_bytes(range);
	int choice = st->arg[1].choice;

	switch (st->verb) {
	case V_EVICT:
		return testbed_buffer_advise(b, off, len, FL_PAGEOUT);
	case V_FORGET:
		return testbed_buffer_advise(b, off, len, FL_DONTNEED);
	case V_PREFETCH:
		return testbed_prefetch(b, off, len, choice == 1);
	case V_TOUCH:
		return testbed_buffer_touch(b, off, len, choice == 1);
	case V_PROTECT:
		return testbed_buffer_protect(b, off, len, prot[choice]);
	case V_REMAP:
		return testbed_buffer_remap(b, off, len);
	default:
		return testbed_buffer_unmap(b, off, len);
	}
}

static int act_resume(struct run *r, const struct statement *st)
{
	struct testbed_connection *c = r->conn[st->arg[0].name];
	struct testbed_process *p = c->process[0];

	if (st->arg[1].set)
		p = r->process[st->arg[1].name];
	if (p != c->process[0] && p != c->process[1]) {
		testbed_why_set(r->w, "%s connects %s and %s", c->name,
				c->process[0]->name, c->process[1]->name);
		return -ENOENT;
	}
	return testbed_resume(c, p == c->process[1] && p != c->process[0]);
}

static int act_dma(struct run *r, const struct statement *st)
{
	struct testbed_buffer *from = r->buffer[st->arg[0].name];
	struct testbed_buffer *to = r->buffer[st->arg[2].name];
	uint64_t off = statement_number(st, "from", 0), done;
	uint64_t at = statement_number(st, "at", 0), len = st->arg[3].number;
	int err;

	if (from->process != to->process) {
		testbed_why_set(r->w, "%s is in %s, and %s in %s", from->name,
				from->process->name, to->name,
				to->process->name);
		return -EINVAL;
	}
	if (!st->arg[3].set)
		len = from->bytes - off < to->bytes - at ? from->bytes - off :
							   to->bytes - at;
	err = testbed_dma(from, off, to, at, len, &done);
	if (err == -EIO)
		testbed_why_set(r->w, "an access behind %llu bytes was refused",
				(unsigned long long)done);
	return err;
}

static int wait_one(struct run *r, struct testbed_work *k, uint64_t end,
		    enum testbed_wait how)
{
	uint64_t now = sim_now(testbed_sim(r->w));
	int err = testbed_wait(r->w, k, end > now ? end - now : 0, how);

	if (err == -ETIMEDOUT)
		testbed_why_set(r->w, "%s is not complete", k->name);
	return err;
}

static int act_wait(struct run *r, const struct statement *st)
{
	const struct arg *by = statement_option(st, "by");
	enum testbed_wait how = by ? (enum testbed_wait)by->choice : TESTBED_BOTH;
	uint64_t end = sim_now(testbed_sim(r->w)) +
		       statement_number(st, "within", WAIT_NS);
	int i, err = 0;

	if (st->arg[0].choice) {
		for (i = 0; i < r->s->names[NAME_WORK] && !err; i++)
			if (r->work[i].posted)
				err = wait_one(r, &r->work[i], end, how);
		return err;
	}
	for (i = 0; i < st->args && !err; i++)
		err = wait_one(r, &r->work[st->arg[i].name], end, how);
	return err;
}

static int act_counter(struct run *r, const struct statement *st)
{
	int n = st->arg[0].name, err;

	err = testbed_counter_add(r->process[st->arg[2].name], &r->counters[n]);
	if (!err)
		r->counter[n] = &r->counters[n];
	return err;
}

static int act_await(struct run *r, const struct statement *st)
{
	struct testbed_counter *c = r->counter[st->arg[0].name];
	const struct arg *by = statement_option(st, "by");
	uint32_t count = (uint32_t)st->arg[2].number, is = 0;
	enum compare op = (enum compare)st->arg[1].choice;
	int err = testbed_await(c, count + (op == CMP_GT), by ? (unsigned int)by->choice : 0,
				statement_number(st, "within", WAIT_NS), &is);

	if ((!err || err == -ETIMEDOUT) && !compare_holds(op, is, count)) {
		testbed_why_set(r->w, "%s is %u", st->arg[0].word, is);
		return err ? err : -ERANGE;
	}
	return err;
}

static int act_faults(struct run *r, const struct statement *st)
{
	const struct arg *kind = statement_option(st, "kind");
	bool off = statement_option(st, "off");

	board_faults(r->board[st->arg[0].name]->board,
		     off ? 0 : statement_number(st, "share", 0), kind && kind->choice);
	return 0;
}

static int act_note(struct run *r, const struct statement *st)
{
	struct trace_at at = { 0 };

	trace_emit(testbed_trace(r->w), EV_APP_NOTE, &at, st->arg[1].number,
		   st->arg[2].number, 0, 0);
	return 0;
}

/* Device registers, past the driver: what a broken driver could do. */
static int act_poke(struct run *r, const struct statement *st)
{
	const struct arg *width = statement_option(st, "width");
	uint64_t base = st->arg[1].choice ? BUS_SMMU_BASE : BUS_NIC_BASE;

	return board_write(r->board[st->arg[0].name]->board,
			   base + st->arg[2].number,
			   width && width->choice ? 8 : 4, st->arg[4].number);
}

/* Things that were declared, but whose statement was expected to fail, are not there. */
static int are_there(struct run *r, const struct statement *st)
{
	bool gone = false;
	int i;

	switch (st->verb) {
	case V_LINK: case V_INJECT: case V_DROP: case V_POKE: case V_STARVE:
	case V_FAULTS:
		gone = !r->board[st->arg[0].name];
		break;
	case V_PROCESS:
		gone = !r->board[st->arg[2].name];
		break;
	case V_AWAIT:
		gone = !r->counter[st->arg[0].name];
		break;
	case V_BUFFER: case V_COUNTER:
		gone = !r->process[st->arg[2].name];
		break;
	case V_CONNECT:
		gone = !r->process[st->arg[0].name] ||
		       !r->process[st->arg[1].name];
		break;
	case V_EXIT:
		gone = !r->process[st->arg[0].name];
		break;
	case V_REGION: case V_EVICT: case V_FORGET: case V_PREFETCH:
	case V_TOUCH: case V_PROTECT: case V_UNMAP: case V_REMAP:
	case V_DEREGISTER:
		gone = !r->buffer[st->arg[0].name];
		break;
	case V_DMA:
		gone = !r->buffer[st->arg[0].name] ||
		       !r->buffer[st->arg[2].name];
		break;
	case V_RESUME:
		gone = !r->conn[st->arg[0].name];
		break;
	case V_POST: case V_ATOMIC:
		gone = !r->conn[st->arg[3].name] ||
		       !r->buffer[st->arg[4].name] ||
		       !r->buffer[st->arg[6].name];
		break;
	case V_SEND: case V_RECEIVE:
		gone = !r->conn[st->arg[2].name] ||
		       !r->buffer[st->arg[3].name];
		break;
	default:
		break;
	}
	if (st->verb == V_LINK || st->verb == V_INJECT || st->verb == V_DROP) {
		i = st->verb == V_LINK ? 1 : 2;
		gone |= !r->board[st->arg[i].name];
	}
	if (gone)
		testbed_why_set(r->w, "what it names was never made");
	return gone ? -ENOENT : 0;
}

/* What an error of this statement means, where nobody has said more. */
static void act_explain(struct run *r, const struct statement *st, int err)
{
	static const struct {
		enum verb verb;
		int error;
		const char *why;
	} reasons[] = {
		{ V_LINK, -ENOENT, "a link joins two different boards" },
		{ V_LINK, -EEXIST, "these boards have a link already" },
		{ V_BOARD, -EINVAL, "no card has such contexts or blocks (a "
				    "block is a power of two)" },
		{ V_CONNECT, -EINVAL, "no queue has this depth, or no card these "
				      "options" },
		{ V_CONNECT, -EOPNOTSUPP, "mtu=, timeout=, retry=, rnr=, "
					  "rnr_retry=, reads=, psn=, inline= and "
					  "datagrams are of packets (policy npf and "
					  "others), and not all of these of "
					  "datagrams" },
		{ V_POKE, -EINVAL, "offset and value have the register's "
				   "width, 32 bits or width=64" },
		{ V_POKE, -ENXIO, "the device has no register there" },
		{ V_BUFFER, -ENOMEM, "there is no room for so much memory" },
		{ V_BUFFER, -ENOENT, "there is no such file" },
		{ V_BUFFER, -EINVAL, "this is not a regular file" },
		{ V_DMA, -EPERM, "the tables of its system are not inserted "
				 "(policy inserted)" },
		{ V_DMA, -EFAULT, "not all of it is in a region" },
		{ V_DMA, -EOPNOTSUPP, "this board gives the driver no DMA "
				      "engine of the processing system" },
		{ V_COUNTER, -EOPNOTSUPP, "this card counts nothing" },
		{ V_RESUME, -EINVAL, "it has not halted" },
		{ V_RESUME, -EBUSY, "not all that was posted is complete" },
		{ V_POST, -EINVAL, "a size of 0, a range that goes round the "
				   "address space, what only packets have, or more "
				   "inline than connect had room for" },
		{ V_SEND, -EINVAL, "its process has blocks, which know no "
				   "messages, or more is inline than connect had "
				   "room for" },
		{ V_RECEIVE, -EINVAL, "its process has blocks, which know no "
				      "messages" },
		{ V_ATOMIC, -EINVAL, "its process has blocks, which know no "
				     "atomics, or the place at the peer is not on "
				     "a multiple of 8" },
		{ V_POST, -EAGAIN, "the queue is full (depth= of connect)" },
		{ V_SEND, -EAGAIN, "the queue is full (depth= of connect)" },
		{ V_RECEIVE, -EAGAIN, "the queue is full (depth= of connect)" },
		{ V_ATOMIC, -EAGAIN, "the queue is full (depth= of connect)" },
	};
	size_t i;

	if (!err || testbed_why(r->w)[0])
		return;
	if (err == -ESRCH)
		testbed_why_set(r->w, "its process has ended");
	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].verb == st->verb && reasons[i].error == err)
			testbed_why_set(r->w, "%s", reasons[i].why);
}

static int act_carry_out(struct run *r, const struct statement *st)
{
	switch (st->verb) {
	case V_BOARD:
		return act_board(r, st);
	case V_LINK:
		return testbed_link_add(r->w, r->board[st->arg[0].name],
					r->board[st->arg[1].name]);
	case V_PROCESS:
		return act_process(r, st);
	case V_BUFFER:
		return act_buffer(r, st);
	case V_REGION:
		return act_region(r, st);
	case V_CONNECT:
		return run_connect(r, st);
	case V_INJECT:
		return act_inject(r, st);
	case V_DROP:
		return act_drop(r, st);
	case V_DEREGISTER:
		return testbed_region_remove(r->buffer[st->arg[0].name]);
	case V_DMA:
		return act_dma(r, st);
	case V_RESUME:
		return act_resume(r, st);
	case V_COUNTER:
		return act_counter(r, st);
	case V_AWAIT:
		return act_await(r, st);
	case V_POST: case V_SEND: case V_RECEIVE: case V_ATOMIC:
		return run_post(r, st);
	case V_WAIT:
		return act_wait(r, st);
	case V_SLEEP:
		sim_sleep(st->arg[0].number);
		testbed_model_under_way(r->w);
		return 0;
	case V_STARVE:
		host_inject_no_frames(r->board[st->arg[0].name]->kernel,
				      st->arg[1].number);
		return 0;
	case V_FAULTS:
		return act_faults(r, st);
	case V_EXIT:
		return testbed_process_end(r->process[st->arg[0].name]);
	case V_NOTE:
		return act_note(r, st);
	case V_POKE:
		return act_poke(r, st);
	default:
		return act_memory(r, st);
	}
}

int run_act(struct run *r, const struct statement *st)
{
	int err;

	testbed_why_set(r->w, "%s", "");
	err = are_there(r, st);
	if (!err)
		err = act_carry_out(r, st);
	act_explain(r, st, err);
	return err;
}
