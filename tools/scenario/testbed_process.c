// SPDX-License-Identifier: BSD-2-Clause
/* Processes: their beginning, the way of a command to them, and their end. */
#include "tools/scenario/testbed_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "faultline/system_rows.h"
#include "host/mm.h"
#include "lib/os/os.h"
#include "sim/sim.h"
#include "tools/scenario/landing.h"

/* How long a board may take to give back what a process had. */
#define BURIAL_NS	30000000000ull
#define BURIAL_STEP_NS	100000

/* One command for the application thread; the scenario thread waits until it is done. */
struct testbed_call {
	struct rpc_app *app;
	const struct rpc_command *o;
	struct rpc_answer *r;
	const struct rpc_sink *sink;
};

static bool has_call(void *arg)
{
	struct testbed_process *p = arg;

	return __atomic_load_n(&p->call, __ATOMIC_ACQUIRE) != NULL;
}

static bool is_done(void *arg)
{
	struct testbed_process *p = arg;

	return __atomic_load_n(&p->done, __ATOMIC_ACQUIRE);
}

static bool only_touches(const struct rpc_command *o)
{
	return o->kind == RPC_FILL || o->kind == RPC_TOUCH ||
	       o->kind == RPC_READ;
}

static void call_do(void *call)
{
	struct testbed_call *c = call;

	rpc_do(c->app, c->o, c->r, c->sink);
}

/* Memory to which no page comes ends the command, and not this program. */
static void call_try(struct testbed_process *p, struct testbed_call *c)
{
	uint64_t addr;
	int err = landing_try(call_do, c, &addr);

	if (!err)
		return;
	testbed_why_set(p->testbed, "process %s on board %s: no page comes to "
			"0x%llx, byte %llu of what it touches: %s", p->name,
			p->board->name, (unsigned long long)addr,
			(unsigned long long)(addr - c->o->addr),
			landing_reason(err));
	c->r->error = err;
}

static void process_agent(void *arg)
{
	struct testbed_process *p = arg;
	struct testbed_call *c;
	bool end;

	do {
		sim_wait(&p->wake, has_call, p, 0);
		c = p->call;
		__atomic_store_n(&p->call, NULL, __ATOMIC_RELEASE);
		end = c->o->kind == RPC_CLOSE;
		if (only_touches(c->o))
			call_try(p, c);
		else
			call_do(c);
		/* c lies on the scenario thread's stack: nothing of it after done. */
		__atomic_store_n(&p->done, true, __ATOMIC_RELEASE);
		sim_wake(&p->finished, 0);
	} while (!end);
}

static int process_hand_over(struct testbed_process *p, struct testbed_call *c)
{
	__atomic_store_n(&p->done, false, __ATOMIC_RELAXED);
	__atomic_store_n(&p->call, c, __ATOMIC_RELEASE);
	sim_wake(&p->wake, 0);
	sim_wait(&p->finished, is_done, p, 0);
	return c->r->error;
}

/* ---- commands ---- */

/* Name that the library gives such a process. */
static void name_elsewhere(const struct testbed_process *p, char name[32])
{
	snprintf(name, 32, "process %ld", (long)p->pid);
}

/* Until nothing of it is left on the board. */
static int wait_buried(struct testbed_process *p)
{
	uint64_t end_ns = sim_now(p->testbed->sim) + BURIAL_NS;
	struct host_mm *mm;
	char name[32];

	name_elsewhere(p, name);
	while ((mm = host_find_mm(p->board->kernel, name)) != NULL) {
		mm_put(mm);
		if (sim_now(p->testbed->sim) > end_ns)
			return testbed_note_problem(p->testbed, 6,
				"board %s does not let go of process %s, which "
				"has ended", p->board->name, p->name);
		sim_sleep(BURIAL_STEP_NS);
	}
	return 0;
}

/* It has ended: what it had is gone. */
static void process_forget(struct testbed_process *p)
{
	struct testbed *w = p->testbed;
	unsigned int i;

	p->gone = true;
	testbed_model_gone(p);
	if (p->mm)
		mm_put(p->mm);
	p->mm = NULL;
	for (i = 0; i < w->buffers; i++)
		if (w->buffer[i].process == p)
			w->buffer[i].registered = false;
}

/* A process elsewhere, in order or with kill; its exit status, or -signal. */
static int end_elsewhere(struct testbed_process *p, bool kill)
{
	int status = 0, err;

	if (p->board->guest) {
		err = testbed_guest_reap(p, kill, &status);
	} else {
		err = fork_server_reap(&p->testbed->fork_server, p->pid, p->line,
				       kill, &status);
		if (!err && !p->board->far)
			err = wait_buried(p);
	}
	process_forget(p);
	return err ? err : status;
}

/*
 * What boards and kernels did before an answer is what this thread looks at next, but
 * it heard of it by way of another process. Their locks hand it on in this one.
 */
static void catch_up(struct testbed *w)
{
	uint64_t start, end;
	unsigned int i;
	int prot;

	for (i = 0; i < w->boards; i++)
		board_check(w->board[i].board);
	for (i = 0; i < w->processes; i++)
		if (w->process[i].mm)
			mm_lookup(w->process[i].mm, 0, &start, &end, &prot);
}

/* Without an answer: what is the process's end, and how to say it. */
static void end_unheard(struct testbed_process *p, int err, int said)
{
	/* What it would say next is of no use to anybody. */
	int status = end_elsewhere(p, err != -ESRCH || p->board->guest);
	char words[CHILD_WORDS];

	if (err == -ESRCH && p->board->guest) {
		testbed_why_set(p->testbed, "the guest of board %s has gone",
				p->board->name);
		return;
	}
	if (err == -ECHILD)
		status = said;
	if (err == -ESRCH || err == -ECHILD)
		testbed_why_set(p->testbed, "process %s has ended by itself (%s)",
				p->name, child_words(status, words));
	else
		testbed_why_set(p->testbed, "process %s %s", p->name,
				err == -EPROTO ? "answered what makes no sense" :
					       "did not answer");
}

static int command_elsewhere(struct testbed_process *p, struct testbed_call *c)
{
	int err = rpc_call(p->line, c->o, c->r, c->sink);

	catch_up(p->testbed);
	if (!err)
		return c->r->error;
	end_unheard(p, err, c->r->error);
	return err == -ECHILD ? -ESRCH : err;
}

int testbed_rpc(struct testbed_process *p, const struct rpc_command *o,
		struct rpc_answer *r, const struct rpc_sink *sink)
{
	struct testbed_call c = { .app = &p->app, .o = o, .r = r, .sink = sink };

	memset(r, 0, sizeof(*r));
	if (p->gone)
		return -ESRCH;
	return p->host ? process_hand_over(p, &c) : command_elsewhere(p, &c);
}

int testbed_in(struct testbed_process *p, rpc_run fn, void *arg)
{
	struct rpc_command o = { .kind = RPC_RUN, .addr = (uintptr_t)fn,
				 .from = (uintptr_t)arg };
	struct rpc_answer r;

	return p->board->guest ? -ENOTSUP : testbed_rpc(p, &o, &r, NULL);
}

int testbed_counters(struct testbed_process *p, struct fl_fault_counters *c)
{
	struct rpc_command o = { .kind = RPC_COUNTERS };
	struct rpc_answer r;
	int err = testbed_rpc(p, &o, &r, NULL);

	*c = r.counters;
	return err;
}

int testbed_cache(struct testbed_process *p, struct fl_cache_counters *c)
{
	struct rpc_command o = { .kind = RPC_COUNTERS };
	struct rpc_answer r;
	int err = testbed_rpc(p, &o, &r, NULL);

	*c = r.cache;
	return err;
}

/* ---- life ---- */

static uint64_t testbed_clock(void *sim)
{
	return sim_now(sim);
}

static int start_here(struct testbed_process *p)
{
	int err = 0;

	p->app.now_ns = testbed_clock;
	p->app.now_arg = p->testbed->sim;
	p->host = host_process_create(p->board->kernel, p->name, &err);
	if (!p->host)
		return err;
	p->agent = host_thread_start(p->host, p->name, process_agent, p);
	if (!p->agent) {
		host_process_exit(p->host);
		return -ENOMEM;
	}
	p->mm = host_process_mm(p->host);
	mm_get(p->mm);
	return 0;
}

/* A guest's clock began when it did. This also waits until it is up. */
static int guest_epoch(struct testbed_process *p, uint64_t *epoch_ns)
{
	struct rpc_command o = { .kind = RPC_CLOCK };
	struct rpc_answer r;
	int err = testbed_rpc(p, &o, &r, NULL);

	*epoch_ns = r.now_ns - sim_now(p->testbed->sim);
	return err;
}

static int process_open_card(struct testbed_process *p)
{
	struct testbed *w = p->testbed;
	char device[128], name[32];
	struct rpc_command o = {
		.kind = RPC_OPEN,
		.what = p->system.like,
		.derived = p->system.derived,
		.unverified = p->system.unverified,
		.quirks = p->system.quirks,
		.ring_slots = p->system.ring_slots,
		.ring_bits = p->system.ring_bits,
		.row = p->system.row,
		.cache = p->system.cache,
		.resolve = p->resolve == FL_RESOLVE_AROUND ? FL_RESOLVE_BLOCK :
							     p->resolve,
		.text = device,
	};
	struct rpc_answer r;
	int n, err;

	n = snprintf(device, sizeof(device), "emu:%s", p->board->name);
	if (p->board->guest) {
		o.text = NULL;		/* the only card there */
		err = guest_epoch(p, &o.epoch_ns);
		if (err)
			return err;
	} else if (p->board->far) {
		o.text = p->board->far;
		o.epoch_ns = os_now_ns() - sim_now(w->sim);
	} else if (p->pid) {
		n = snprintf(device, sizeof(device), "emu:");
		testbed_listener_path(w, p->board, device + n,
				      sizeof(device) - (size_t)n);
		o.epoch_ns = os_now_ns() - sim_now(w->sim);
	} else if (n >= (int)sizeof(device)) {
		return -ENAMETOOLONG;
	}
	err = testbed_rpc(p, &o, &r, NULL);
	if (!err && p->pid && !testbed_kernel_elsewhere(p->board)) {
		name_elsewhere(p, name);
		p->mm = host_find_mm(p->board->kernel, name);
		err = p->mm ? 0 : -ESRCH;
	}
	p->open = !err;
	return err;
}

struct testbed_system testbed_row(enum fl_system system)
{
	return (struct testbed_system){ .like = system,
					.row = fl_system_rows[system] };
}

/* What the caller of the testbed has said comes first. */
static void process_cache(struct testbed_process *p)
{
	const struct rpc_cache *said = &p->testbed->cfg.cache;
	struct rpc_cache *c = &p->system.cache;

	if (!testbed_leases(p))
		memset(c, 0, sizeof(*c));
	else if (said->bytes)
		c->bytes = said->bytes;
	if (testbed_leases(p) && said->hook)
		c->hook = said->hook;
}

int testbed_process_add(struct testbed *w, const char *name,
			struct testbed_board *b,
			enum fl_system system, enum fl_resolve resolve,
			struct testbed_process **out)
{
	struct testbed_system row = testbed_row(system);

	return testbed_process_add_as(w, name, b, &row, resolve, out);
}

int testbed_process_add_as(struct testbed *w, const char *name,
			   struct testbed_board *b,
			   const struct testbed_system *system,
			   enum fl_resolve resolve, struct testbed_process **out)
{
	struct testbed_process *p = &w->process[w->processes];
	int err;

	if (w->processes == TESTBED_PROCESSES)
		return -ENOSPC;
	memset(p, 0, sizeof(*p));
	p->name = name;
	p->testbed = w;
	p->board = b;
	p->system = *system;
	p->resolve = resolve;
	process_cache(p);
	sim_waitq_init(&p->wake);
	sim_waitq_init(&p->finished);
	if (w->cfg.guest_script)
		err = testbed_guest_take(w, b, &p->line);
	else if (w->cfg.processes)
		err = fork_server_fork(&w->fork_server, &p->pid, &p->line);
	else
		err = start_here(p);
	if (err)
		return err;
	w->processes++;
	*out = p;
	return process_open_card(p);
}

int testbed_resolve(struct testbed_process *p, enum fl_resolve resolve,
		    uint32_t number)
{
	struct rpc_command o = { .kind = RPC_RESOLVE, .resolve = resolve,
				 .what = number };
	struct rpc_answer r;

	return testbed_rpc(p, &o, &r, NULL);
}

int testbed_process_end(struct testbed_process *p)
{
	struct rpc_command o = { .kind = RPC_CLOSE };
	struct rpc_answer r;
	char words[CHILD_WORDS];
	int status, err = testbed_rpc(p, &o, &r, NULL);

	if (p->gone)
		return err;
	if (p->host) {
		sim_thread_join(p->agent);
		host_process_exit(p->host);
		p->host = NULL;
		process_forget(p);
		return err;
	}
	status = end_elsewhere(p, false);
	if (status)
		testbed_note_problem(p->testbed, 6,
			"process %s did not end in order (%s)", p->name,
			child_words(status, words));
	return err;
}
