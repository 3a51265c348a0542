// SPDX-License-Identifier: BSD-2-Clause
/*
 * The firmware between its mailbox (rtl/zu/fl_mailbox.v, page BOX of regs.def) and the engine.
 *
 * It asks both in turn, and takes no interrupt: an R5 does nothing else, so a line (91) would only
 * add the time it takes to get there, and state that a handler shares. One turn that finds nothing
 * costs three reads of the card.
 */
#include "r5.h"

#define FW_WORDS	(NIC_FW_CMD(NIC_FW_CMD_COUNT) / 4)
#define FW_CMD_FIRST	(NIC_FW_CMD(0) / 4)
/* What a step may change: from EQ_BASE to what lies before CMD. */
#define FW_MOVING	(NIC_FW_EQ_BASE / 4)

static struct {
	struct fw *fw;
	uint32_t word[FW_WORDS];	/* of page FW, as the driver reads it */
} r5;

static uint64_t r5_memory[(1u << R5_TABLES_LOG2) / 8]
	__attribute__((section(".tables"), aligned(64)));

/*
 * Page FW is memory of the card's: words from first to end - 1, as they are now. The last comes
 * first, so that CMD_STATUS follows CMD_RESULT.
 */
static void page_show(uint32_t first, uint32_t end)
{
	uint64_t value;

	while (end-- > first) {
		if (fw_reg_read(r5.fw, NIC_FW_BASE + 4 * end, 4, &value))
			value = 0;
		if (r5.word[end] == (uint32_t)value)
			continue;
		r5.word[end] = (uint32_t)value;
		r5_write(NIC_FW_BASE + 4 * end, (uint32_t)value);
	}
}

/* Nobody knows what stands there. */
static void page_start(void)
{
	uint32_t i;

	for (i = 0; i < FW_WORDS; i++)
		r5_write(NIC_FW_BASE + 4 * i, 0);
	page_show(0, FW_WORDS);
}

/* Carry out the oldest write of the queue. False: there is none. */
static bool mail_take(void)
{
	uint32_t addr = r5_read(NIC_BOX_BASE + NIC_BOX_ADDR), off, value;

	if (!(addr & NIC_BOX_ADDR_VALID))
		return false;
	r5_keys_stir(r5_cycles());
	off = addr & NIC_BOX_ADDR_OFFSET_MASK;
	value = r5_read(NIC_BOX_BASE + NIC_BOX_DATA);
	/* What is refused has no effect. */
	fw_reg_write(r5.fw, off, 4, value);
	page_show(FW_MOVING, FW_CMD_FIRST);
	if (off >= NIC_FW_BASE + NIC_FW_CMD(0) && off < NIC_FW_BASE + 4 * FW_WORDS)
		page_show((off - NIC_FW_BASE) / 4, (off - NIC_FW_BASE) / 4 + 1);
	r5_write(NIC_BOX_BASE + NIC_BOX_DONE, 1);
	return true;
}

/* An earlier firmware may have left blocks under way, of which this one knows nothing. */
static bool engine_rests(void)
{
	uint32_t param = r5_read(NIC_ENG_BASE + NIC_ENG_PARAM), i, busy = 0;

	for (i = 0; i < (param & NIC_ENG_PARAM_NCTX_MASK) && i < NIC_CTX_COUNT; i++)
		busy |= r5_read(NIC_CTX_BASE(i) + NIC_CTX_STATE) & NIC_CTX_STATE_STATE_MASK;
	param >>= NIC_ENG_PARAM_NRXC_SHIFT;
	for (i = 0; i < (param & 0xFF) && i < NIC_RXC_COUNT; i++)
		busy |= r5_read(NIC_RXC_BASE(i) + NIC_RXC_STATE) & NIC_RXC_STATE_STATE_MASK;
	return !busy;
}

/* Patience and the rest: emu/sim/timing.def has the same values, and says what they are. */
static void firmware_start(void)
{
	static const struct fw_config cfg = {
		.node = R5_NODE,
		.timeout_ns = 1000000,
		.fault_timeout_ns = 20000000,
		.tries = 7,
		.refusals = 1000,
		.waiting_share = 4,
		.busy_ns = 10000,
		.reach = 1ull << R5_DRAM_LOG2,
	};
	struct fw_env env = r5_env();

	if (r5_read(NIC_ENG_BASE + NIC_ENG_ID) != NIC_ENG_ID_RESET)
		r5_stop(R5_END_NO_CARD);
	if (!engine_rests())
		r5_stop(R5_END_BUSY);
	if (fw_size() <= sizeof(r5_memory))
		r5.fw = fw_init(r5_memory, &cfg, &env);
	if (!r5.fw)
		r5_stop(R5_END_NO_CARD);
	/* The line is not read: EVT_POP says whether there is an event. */
	fw_engine_line(r5.fw, true);
}

_Noreturn void r5_main(void)
{
	uint32_t costs[FW_COSTS] = { 0 };
	bool did;

	r5_clock_start();
	firmware_start();
	page_start();
	r5_write(NIC_BOX_BASE + NIC_BOX_OPEN, NIC_BOX_OPEN_OPEN);
	for (;;) {
		did = mail_take();
		if (fw_step(r5.fw, r5_now_ns(), costs)) {
			page_show(FW_MOVING, FW_CMD_FIRST);
			did = true;
		}
		/* Whoever was given up writes to memory that others may have by now. */
		if (!did && !(r5_read(NIC_BOX_BASE + NIC_BOX_OPEN) & NIC_BOX_OPEN_OPEN))
			r5_stop(R5_END_CLOSED);
	}
}
