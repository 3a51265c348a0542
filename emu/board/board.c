// SPDX-License-Identifier: BSD-2-Clause
/* board.c - wiring: who is called when what happens. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/board_internal.h"
#include "faultline/device.h"
#include "faultline/regs.h"
#include "nic/wire.h"
#include "os/os.h"
#include "sim/watch.h"

/* Threads mode; a block of four pages and cells is twelve of the engine's. */
#define STEPS_AT_ONCE 16

/* ---- engine ---- */

static void eng_kick(void *ctx, unsigned int channel)
{
	struct board *b = ctx;

	board_changed(b);
	sim_kick(&b->channel[channel]);
}

/* Where steps take no time, several of them are one. */
static uint64_t channel_step(struct board *b, unsigned int channel,
			     uint64_t now_ns)
{
	int steps = b->timed ? 1 : STEPS_AT_ONCE;
	uint64_t ns;

	board_changed(b);
	do
		ns = engine_step(b->engine, channel, now_ns);
	while (--steps && ns != ENGINE_IDLE);
	return ns;
}

static uint64_t eng_step_read(void *ctx, uint64_t now_ns)
{
	return channel_step(ctx, 0, now_ns);
}

static uint64_t eng_step_write(void *ctx, uint64_t now_ns)
{
	return channel_step(ctx, 1, now_ns);
}

static uint8_t board_nodes(const struct board *b)
{
	bool in_c = !b->cfg.engine || b->cfg.engine == engine_create;

	return in_c ? WIRE_NODES : ENGINE_RTL_NODES;
}

static int make_engine(struct board *b)
{
	struct engine_env env = {
		.ctx = b, .burst_begin = bus_burst_begin,
		.burst_end = bus_burst_end, .wire = b->port,
		.frame_get = fabric_frame_get, .frame_send = fabric_frame_send,
		.irq = irq_engine, .kick = eng_kick,
	};
	struct engine_config cfg = {
		.node = b->cfg.id, .nodes = board_nodes(b),
		.contexts = b->cfg.contexts,
		.rx_contexts = b->cfg.rx_contexts,
		.cell_bytes = (uint32_t)b->cfg.timing->v[T_LINK_CELL],
		.icrc = true, .trace = b->cfg.trace,
		.cause = &b->causes.engine, .board = b->cfg.id,
	};
	int err = 0;

	/* Where time is real, copies cost some. */
	if (!b->timed) {
		env.frame_spare = fabric_frame_spare;
		env.frame_borrow = fabric_frame_borrow;
		env.frames_put = fabric_frames_put;
	}
	while (1u << cfg.block_log2 < b->cfg.block_bytes && cfg.block_log2 < 31)
		cfg.block_log2++;
	if (1u << cfg.block_log2 != b->cfg.block_bytes)
		return -EINVAL;
	if (cfg.cell_bytes > b->cfg.block_bytes || cfg.node >= cfg.nodes)
		return -EINVAL;
	b->block_log2 = (uint8_t)cfg.block_log2;
	b->cell_log2 = (uint8_t)__builtin_ctz(cfg.cell_bytes | 1u << 31);
	b->engine = (b->cfg.engine ? b->cfg.engine : engine_create)(&cfg, &env, &err);
	return b->engine ? 0 : err;
}

/* ---- firmware ---- */

static int fw_mem_read(void *ctx, uint64_t pa, void *buf, uint32_t len)
{
	return dram_get(((struct board *)ctx)->dram, pa, buf, len) ? -EIO : 0;
}

static int fw_mem_write(void *ctx, uint64_t pa, const void *buf, uint32_t len)
{
	return dram_put(((struct board *)ctx)->dram, pa, buf, len) ? -EIO : 0;
}

static int fw_mem_publish(void *ctx, uint64_t pa, uint32_t value)
{
	uint32_t *p = pa % 4 ? NULL :
		      dram_at(((struct board *)ctx)->dram, pa, 4);

	if (!p)
		return -EIO;
	/* Pairs with the library's acquire load of the phase. */
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
	return 0;
}

static void *fw_mem_at(void *ctx, uint64_t pa, uint64_t len)
{
	return dram_at(((struct board *)ctx)->dram, pa, len);
}

static void fw_kick(void *ctx)
{
	struct board *b = ctx;

	board_changed(b);
	sim_kick(&b->fw_actor);
}

static void fw_alarm(void *ctx, uint64_t when_ns)
{
	sim_alarm(&((struct board *)ctx)->fw_actor, when_ns);
}

static uint64_t board_trace_fw(void *ctx, unsigned int event, uint32_t xfer,
			       uint32_t block, uint64_t cause, uint64_t a0,
			       uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct board *b = ctx;
	struct trace_at at = { .xfer = xfer, .block = block, .cause = cause };

	/* The firmware sees registers only, not what the engine recorded. */
	if (event == EV_FW_CHECK && !cause)
		at.cause = engine_rx_event(b->engine, (unsigned int)a0);
	return cause_emit(&b->causes, event, at, a0, a1, a2, a3);
}

static bool one_step(struct board *b, uint64_t now_ns, uint32_t *costs)
{
	board_changed(b);
	cause_firmware(&b->causes);
	return fw_step(b->fw, now_ns, costs);
}

static uint64_t fw_actor_step(void *ctx, uint64_t now_ns)
{
	static const enum timing price[FW_COSTS] = {
		[FW_COST_WQE] = T_FW_WQE, [FW_COST_BLOCK] = T_FW_BLOCK,
		[FW_COST_EVENT] = T_FW_EVENT, [FW_COST_CQE] = T_FW_CQE,
		[FW_COST_COMMAND] = T_FW_COMMAND,
	};
	struct board *b = ctx;
	uint32_t costs[FW_COSTS] = { 0 };
	uint64_t ns = 0;
	bool more;
	int i;

	if (atomic_load(&b->broken) & BOARD_SILENT_FW)
		return SIM_IDLE;
	more = one_step(b, now_ns, costs);
	if (!b->timed) {
		for (i = 1; more && i < STEPS_AT_ONCE; i++) {
			if (!fw_due(b->fw, now_ns))
				return SIM_IDLE;
			more = one_step(b, now_ns, costs);
		}
		return more ? 0 : SIM_IDLE;
	}
	for (i = 0; i < FW_COSTS; i++)
		ns += costs[i] * b->cfg.timing->v[price[i]];
	return more || ns ? ns : SIM_IDLE;
}

static int fw_random(void *ctx, uint32_t *value)
{
	struct board *b = ctx;
	int err;

	if (!b->cfg.strangers) {
		*value = (uint32_t)(rng_next(&b->keys) >> 32);
		return 0;
	}
	/* A system call takes as long as all else that a region needs of the firmware. */
	if (!b->drawn) {
		err = os_random(b->draw, sizeof(b->draw));
		if (err)
			return err;
		b->drawn = BOARD_DRAWS;
	}
	*value = b->draw[--b->drawn];
	return 0;
}

static struct fw *start_fw(struct board *b)
{
	const uint64_t *t = b->cfg.timing->v;
	struct fw_env env = {
		.ctx = b, .engine = b->engine,
		.reg_read = b->engine->ops->reg_read,
		.reg_write = b->engine->ops->reg_write,
		.mem_read = fw_mem_read, .mem_write = fw_mem_write,
		.mem_publish = fw_mem_publish, .mem = fw_mem_at, .irq = irq_firmware,
		.kick = fw_kick, .alarm = fw_alarm, .random = fw_random, .trace = board_trace_fw,
		.resident = b->timed ? NULL : board_resident,
		.resident_tell = board_resident_tell,
		.at_once = !b->timed,
	};
	struct fw_config cfg = {
		.node = b->cfg.id,
		.nodes = board_nodes(b),
		.timeout_ns = t[b->timed ? T_FW_TIMEOUT : T_WALL_TIMEOUT],
		.fault_timeout_ns = t[b->timed ? T_FW_FAULT_TIMEOUT :
						 T_WALL_FAULT_TIMEOUT],
		.tries = (uint32_t)t[T_FW_TRIES],
		.refusals = (uint32_t)t[T_FW_REFUSALS],
		.waiting_share = (uint32_t)t[T_FW_WAITING],
		.busy_ns = t[T_FW_BUSY],
		.may_be_silent = true,
	};

	if (board_annex)
		board_annex->offer(b, &cfg, &env);
	return fw_init(b->fw_mem, &cfg, &env);
}

static int make_fw(struct board *b)
{
	b->fw = start_fw(b);
	return b->fw ? 0 : -EINVAL;
}

/* ---- frames that come ---- */

uint64_t board_emit(void *board, unsigned int ev, const struct trace_at *at,
		   uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct board *b = board;
	struct trace_at here = *at;

	here.board = b->cfg.id;
	return trace_emit(b->cfg.trace, ev, &here, a0, a1, a2, a3);
}

void board_receive(void *board, const struct wire_frame *f, uint64_t now_ns)
{
	struct board *b = board;

	board_changed(b);
	if (!board_annex || wire_is_engines(wire_opcode(f)) ||
	    !board_annex->receive(b, f, now_ns))
		engine_receive(b->engine, f, now_ns);
}

static void board_room(void *board)
{
	struct board *b = board;

	board_changed(b);
	engine_wire_room(b->engine);
	if (board_annex)
		board_annex->room(b);
}

/*
 * A process can have chosen that its peers hear nothing of its missing pages (system drop).
 * The engine answers as ever, and the answer ends here.
 */
static bool board_drops(void *board, const struct wire_frame *f)
{
	uint8_t opcode = wire_opcode(f);
	struct board *b = board;
	struct wire_answer a;
	struct trace_at at;

	if (opcode != WOP_REFUSED && opcode != WOP_READY && opcode != WOP_WAIT)
		return false;
	/* With a code it is about room or order, and not about pages. */
	if (wire_get_answer(f, false, &a) || a.code ||
	    !fw_is_silent(b->fw, f->to, a.ctx))
		return false;
	at = (struct trace_at){ .xfer = a.xfer, .block = a.block,
				.cause = f->cause };
	/* Not a step of the firmware's: it causes nothing that is written next. */
	board_emit(b, EV_FW_SILENT, &at, f->to, a.ctx, opcode, 0);
	return true;
}

/* ---- SMMU ---- */

static int make_smmu(struct board *b)
{
	const struct smmu_env env = {
		.ctx = b, .read64 = bus_walk_read, .read64s = bus_walk_reads, .irq = irq_smmu,
		.sync_start = bus_sync_start, .sync_done = bus_sync_done,
		.resume = bus_resume, .frame_tag = bus_frame_tag,
	};
	struct smmu_config cfg = {
		.tlb_entries = b->cfg.tlb_entries,
		.walk_cache_entries = b->cfg.walk_cache_entries,
		.trace = b->cfg.trace, .board = b->cfg.id,
	};

	if (b->timed) {
		cfg.timing.tlb_hit_ns = (uint32_t)b->cfg.timing->v[T_SMMU_HIT];
		cfg.timing.walk_level_ns =
			(uint32_t)b->cfg.timing->v[T_SMMU_LEVEL];
	}
	b->smmu = smmu_create(&cfg, &env);
	if (!b->smmu)
		return -ENOMEM;
	b->smmu_front = smmu_front(b->smmu);
	return 0;
}

/* ---- the board ---- */

static int board_build(struct board *b)
{
	struct sim *sim = b->cfg.sim;
	char stream[16];
	int err = 0;

	snprintf(stream, sizeof(stream), "keys %u", b->cfg.id);
	rng_init(&b->keys, sim_seed(sim), stream);
	b->causes.trace = b->cfg.trace;
	b->causes.board = b->cfg.id;
	b->timed = sim_mode(sim) == SIM_LOCKSTEP;
	b->at_once = sim_is_inline(sim);
	b->domain = sim_domain_create(sim, b->name);
	b->grace = sim_grace_create(sim);
	b->dram = dram_create();
	/* Those it works with know where it is before it is made. */
	b->fw_mem = aligned_alloc(64, (fw_size() + 63) / 64 * 64);
	if (!b->domain || !b->grace || !b->dram || !b->fw_mem)
		return -ENOMEM;
	sim_actor_init(b->domain, &b->channel[0], "engine read", eng_step_read,
		       b);
	sim_actor_init(b->domain, &b->channel[1], "engine write",
		       eng_step_write, b);
	sim_actor_init(b->domain, &b->fw_actor, "firmware", fw_actor_step, b);
	sim_actor_init(b->domain, &b->psdma_actor, "psdma", psdma_step, b);
	psdma_reset(b);
	if (!b->timed && !b->at_once)
		bells_make(b);
	resident_make(b);
	b->port = fabric_attach(b->cfg.fabric, b->domain, b->cfg.id,
				board_receive, board_room, b, &err);
	if (!b->port)
		return err;
	fabric_filter(b->port, board_drops);
	err = make_smmu(b);
	if (!err)
		err = make_engine(b);
	if (!err && board_annex)
		err = board_annex->make(b);
	if (!err)
		err = make_fw(b);
	return err;
}

struct board *board_create(const struct board_config *cfg, int *error)
{
	struct board *b = aligned_alloc(64, sizeof(*b));

	*error = -ENOMEM;
	if (!b)
		return NULL;
	memset(b, 0, sizeof(*b));
	b->cfg = *cfg;
	if (!b->cfg.contexts)
		b->cfg.contexts = DEV_CONTEXTS;
	if (!b->cfg.rx_contexts)
		b->cfg.rx_contexts = ENGINE_RXC_MAX;
	if (!b->cfg.block_bytes)
		b->cfg.block_bytes = 16384;
	snprintf(b->name, sizeof(b->name), "%s", cfg->name);
	*error = board_build(b);
	if (*error) {
		board_destroy(b);
		return NULL;
	}
	return b;
}

/* The port and the domain belong to the fabric and the sim, which go later. */
void board_destroy(struct board *b)
{
	if (!b)
		return;
	if (b->engine)
		engine_destroy(b->engine);
	if (board_annex)
		board_annex->destroy(b);
	free(b->fw_mem);
	if (b->smmu)
		smmu_destroy(b->smmu);
	dram_destroy(b->dram);
	sim_grace_destroy(b->grace);
	free(b);
}

void board_reset(struct board *b)
{
	bells_first(b);
	/* First the engine, since an SMMU that was reset lets everything pass. */
	sim_enter(b->domain);
	board_changed(b);
	engine_reset(b->engine);
	if (board_annex)
		board_annex->reset(b);
	sim_alarm(&b->fw_actor, SIM_IDLE);
	b->fw = start_fw(b);
	assert(b->fw);
	cause_reset(&b->causes);
	irq_set(b, IRQ_NIC_EVENT, false);
	psdma_reset(b);
	sim_leave(b->domain);
	smmu_reset(b->smmu);
	sim_enter(b->domain);
	memset(b->stalled, 0, sizeof(b->stalled));
	sim_leave(b->domain);
}

void board_inject(struct board *b, unsigned int broken)
{
	sim_enter(b->domain);
	atomic_store(&b->broken, broken);
	fw_kick(b);
	sim_leave(b->domain);
}

void board_unplug(struct board *b)
{
	board_reset(b);
	atomic_store_explicit(&b->unplugged, true, memory_order_relaxed);
}

void board_fw_stats(struct board *b, struct fw_stats *st)
{
	sim_enter(b->domain);
	fw_stats(b->fw, st);
	sim_leave(b->domain);
}

void board_engine_stats(struct board *b, struct engine_stats *st)
{
	sim_enter(b->domain);
	engine_stats(b->engine, st);
	sim_leave(b->domain);
}

uint64_t board_resident_bytes(struct board *b)
{
	uint64_t bytes;

	sim_enter(b->domain);
	bytes = b->resident.bytes;
	sim_leave(b->domain);
	return bytes;
}

uint64_t board_resident_requests(struct board *b)
{
	uint64_t n;

	sim_enter(b->domain);
	n = b->resident.again;
	sim_leave(b->domain);
	return n;
}

unsigned int board_open_slots(struct board *b)
{
	struct fw_stats st;

	board_fw_stats(b, &st);
	return st.open_slots;
}

uint64_t board_end_event(struct board *b, uint32_t xfer)
{
	return cause_completion(&b->causes, xfer);
}

void board_publish(struct board *b, uint32_t xfer)
{
	cause_publish(&b->causes, xfer);
}

uint64_t board_publish_event(struct board *b, uint32_t xfer)
{
	return cause_published(&b->causes, xfer);
}

const char *board_name(const struct board *b)
{
	return b->name;
}

uint8_t board_id(const struct board *b)
{
	return b->cfg.id;
}

struct sim_domain *board_domain(struct board *b)
{
	return b->domain;
}

struct sim *board_sim(struct board *b)
{
	return b->cfg.sim;
}

struct dram *board_dram(struct board *b)
{
	return b->dram;
}

struct trace *board_trace(struct board *b)
{
	return b->cfg.trace;
}

const struct timing_profile *board_timing(const struct board *b)
{
	return b->cfg.timing;
}

struct smmu *board_smmu(struct board *b)
{
	return b->smmu;
}

struct engine *board_engine(struct board *b)
{
	return b->engine;
}

void board_pump(struct board *b)
{
	sim_pump(b->domain);
}

const char *board_check(struct board *b)
{
	const char *wrong;

	/* In lockstep nothing else runs, and who enters would say that he changes it. */
	if (!b->timed)
		sim_enter(b->domain);
	wrong = fw_check(b->fw);
	if (!wrong)
		wrong = engine_check(b->engine);
	if (!wrong && board_annex)
		wrong = board_annex->check(b);
	if (!b->timed)
		sim_leave(b->domain);
	return wrong;
}

bool board_stale(struct board *b)
{
	return b->stale;
}

void board_watch(struct board *b, struct sim_watch *w)
{
	sim_domain_watch(b->domain, w);
}

const char *board_busy(struct board *b)
{
	const char *part = NULL;

	sim_enter(b->domain);
	if (!engine_idle(b->engine))
		part = "engine";
	else if (!fw_idle(b->fw))
		part = "firmware";
	else if (b->psdma.busy)
		part = "psdma";
	else if (board_annex)
		part = board_annex->busy(b);
	sim_leave(b->domain);
	return part || !smmu_busy(b->smmu) ? part : "SMMU";
}
