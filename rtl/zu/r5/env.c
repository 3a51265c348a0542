// SPDX-License-Identifier: BSD-2-Clause
/* What the firmware asks of its board: registers, memory, time, the line for events. */
#include "r5.h"

#define BUS_ERROR	(-5)

/* ---- time ---- */

/* Not static: a debugger reads it. */
struct r5_clock {
	uint64_t ns;
	uint32_t cycles;	/* at that time */
} r5_clock;

void r5_clock_start(void)
{
	uint32_t value = 1u << 0 | 1u << 2;	/* PMCR: on, cycles from 0 */

	__asm__ volatile("mcr p15, 0, %0, c9, c12, 0" : : "r"(value));
	value = 1u << 31;			/* PMCNTENSET: cycles */
	__asm__ volatile("mcr p15, 0, %0, c9, c12, 1" : : "r"(value));
	r5_clock.cycles = r5_cycles();
}

uint64_t r5_now_ns(void)
{
	uint32_t cycles = r5_cycles();

	r5_clock.ns += (uint64_t)(cycles - r5_clock.cycles) * R5_CYCLE_NS;
	r5_clock.cycles = cycles;
	return r5_clock.ns;
}

/* ---- the engine: registers of 64 bits are two, the lower one first ---- */

static int engine_read(struct engine *engine, uint32_t off, unsigned int size, uint64_t *value)
{
	(void)engine;
	*value = r5_read(off);
	if (size == 8)
		*value |= (uint64_t)r5_read(off + 4) << 32;
	return 0;
}

static int engine_write(struct engine *engine, uint32_t off, unsigned int size, uint64_t value)
{
	(void)engine;
	r5_write(off, (uint32_t)value);
	if (size == 8)
		r5_write(off + 4, (uint32_t)(value >> 32));
	return 0;
}

/* ---- memory ---- */

/* NULL: not DRAM, or the firmware's own. */
static void *memory_at(uint64_t pa, uint32_t len)
{
	const uint64_t end = pa + len;

	if (pa < R5_DRAM_FIRST || pa >> R5_DRAM_LOG2 || end > 1ull << R5_DRAM_LOG2)
		return 0;
	if (end > R5_TABLES && pa < R5_TABLES + (1ull << R5_TABLES_LOG2))
		return 0;
	return (void *)(uintptr_t)pa;
}

static int memory_read(void *ctx, uint64_t pa, void *buf, uint32_t len)
{
	const void *at = memory_at(pa, len);

	(void)ctx;
	if (!at)
		return BUS_ERROR;
	/* The doorbell was read before: pairs with the process's barrier before it. */
	r5_barrier_card();
	__builtin_memcpy(buf, at, len);
	return 0;
}

static int memory_write(void *ctx, uint64_t pa, const void *buf, uint32_t len)
{
	void *at = memory_at(pa, len);

	(void)ctx;
	if (!at)
		return BUS_ERROR;
	__builtin_memcpy(at, buf, len);
	return 0;
}

static int memory_publish(void *ctx, uint64_t pa, uint32_t value)
{
	volatile uint32_t *at = memory_at(pa, 4);

	(void)ctx;
	if (!at || pa % 4)
		return BUS_ERROR;
	/* Pairs with the library's acquire load of the phase. */
	r5_barrier();
	*at = value;
	return 0;
}

/* ---- the rest ---- */

static void line_set(void *ctx, unsigned int line, bool level)
{
	(void)ctx, (void)line;
	/* What it tells of is in memory before. */
	r5_barrier_card();
	r5_write(NIC_BOX_BASE + NIC_BOX_LINE, level);
}

/* r5_main() takes one step after the other, and looks at the time in each. */
static void work_due(void *ctx)
{
	(void)ctx;
}

static void alarm_set(void *ctx, uint64_t when_ns)
{
	(void)ctx, (void)when_ns;
}

static int key_draw(void *ctx, uint32_t *value)
{
	(void)ctx;
	return r5_keys_draw(value);
}

struct fw_env r5_env(void)
{
	return (struct fw_env){
		.reg_read = engine_read, .reg_write = engine_write,
		.mem_read = memory_read, .mem_write = memory_write,
		.mem_publish = memory_publish, .irq = line_set, .kick = work_due,
		.alarm = alarm_set, .random = key_draw,
	};
}
