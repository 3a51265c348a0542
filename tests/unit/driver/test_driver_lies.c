// SPDX-License-Identifier: BSD-2-Clause
/*
 * A card whose registers do not say what they should: another version, an order that never
 * ends, a channel that does not stop. The driver finds no card, or an error, and nobody's
 * memory is left within reach.
 */
#include "faultline/psdma_regs.h"
#include "rig/lies.h"
#include "rig/tables.h"

#define ENG(off)	(BUS_NIC_BASE + NIC_ENG_BASE + (off))
#define FW(off)		(BUS_NIC_BASE + NIC_FW_BASE + (off))
#define XP(off)		(BUS_NIC_BASE + NIC_XP_BASE + (off))
#define SMMU(off)	(BUS_SMMU_BASE + (off))
#define ONES		0xFFFFFFFFu
#define HALF		(RIG_BYTES / 2)

static void lies_nothing(struct rig *r)
{
	(void)r;
}

static void lies_run(void (*body)(struct rig *r), void (*after)(struct rig *r))
{
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };

	rig_run_with(SIM_LOCKSTEP, &p, body, after);
	lies_end();
}

/* ---- what a card says that it is ---- */

static void lies_other_card(struct rig *r)
{
	static const struct {
		const char *what;
		uint64_t pa;
		uint32_t mask, value;
		int ret;
	} of[] = {
		{ "another engine", ENG(NIC_ENG_ID), 1, ~NIC_ENG_ID_RESET, -ENODEV },
		{ "another firmware", FW(NIC_FW_ID), 1, ~NIC_FW_ID_RESET, -ENODEV },
		{ "more contexts than registers", ENG(NIC_ENG_PARAM), NIC_ENG_PARAM_NCTX_MASK,
		  NIC_CTX_COUNT + 1, -ENODEV },
		{ "the same of those that receive", ENG(NIC_ENG_PARAM), NIC_ENG_PARAM_NRXC_MASK,
		  (NIC_RXC_COUNT + 1) << NIC_ENG_PARAM_NRXC_SHIFT, -ENODEV },
		{ "another version", ENG(NIC_ENG_PARAM), NIC_ENG_PARAM_VERSION_MASK,
		  2u << NIC_ENG_PARAM_VERSION_SHIFT, -ENODEV },
		{ "fewer slots", FW(NIC_FW_LIMITS1), NIC_FW_LIMITS1_SLOTS_MASK,
		  15u << NIC_FW_LIMITS1_SLOTS_SHIFT, -ENODEV },
		{ "an SMMU that does not synchronise", SMMU(SMMU_GR0_TLBGSTATUS),
		  SMMU_GR0_TLBGSTATUS_GSACTIVE, SMMU_GR0_TLBGSTATUS_GSACTIVE, -ETIMEDOUT },
	};
	struct rig_node *n = &r->n[1];
	unsigned int i;

	host_driver_remove(n->kernel);
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		STEP("%s", of[i].what);
		lie_tell(of[i].pa, of[i].mask, of[i].value);
		EXPECT_EQ(host_driver_probe(n->kernel, NULL), of[i].ret);
		EXPECT_GE(lies_told(), 1);
		lies_end();
		EXPECT_EQ(host_open(n->process, "faultline0"), -ENODEV);
	}
	STEP("the truth: it is the driver's card");
	EXPECT_EQ(host_driver_probe(n->kernel, NULL), 0);
	rig_open(n);
}

TEST("a card of another kind is left alone")
{
	lies_run(lies_nothing, lies_other_card);
}

/* A card without tables of its own: each row that needs them is refused, and no other. */
static void lies_older_card(struct rig *r)
{
	static const uint32_t features[] = { 0, ONES };
	struct rig_node *n = &r->n[1];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		STEP("features 0x%x", features[i]);
		host_driver_remove(n->kernel);
		lie_tell(FW(NIC_FW_FEATURES), ONES, features[i]);
		EXPECT_EQ(host_driver_probe(n->kernel, NULL), 0);
		EXPECT_GE(lies_told(), 1);
		rig_open(n);
		EXPECT_EQ(tables_policy(n, FL_SYSTEM_NETVM), -EOPNOTSUPP);
		EXPECT_EQ(tables_policy(n, FL_SYSTEM_NPF), -EOPNOTSUPP);
		EXPECT_EQ(tables_policy(n, FL_SYSTEM_STALL), 0);
		rig_set_up(n, 0);
		EXPECT_EQ(host_madvise(n->process, n->buffer, RIG_BYTES, HOST_PAGEOUT), 0);
		rig_close(n);
		lies_end();
	}
	STEP("one that begins with such a row opens for nobody");
	for (i = 0; i < 2; i++) {
		struct host_driver_params p = { .system = i ? FL_SYSTEM_NETVM : FL_SYSTEM_NPF };

		host_driver_remove(n->kernel);
		lie_tell(FW(NIC_FW_FEATURES), ONES, 0);
		EXPECT_EQ(host_driver_probe(n->kernel, &p), 0);
		EXPECT_EQ(host_open(n->process, "faultline0"), -EOPNOTSUPP);
		EXPECT_EQ(board_open_slots(n->board), 0);
		lies_end();
	}
	STEP("the same card, with them");
	host_driver_remove(n->kernel);
	EXPECT_EQ(host_driver_probe(n->kernel, NULL), 0);
	rig_open(n);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_NPF), 0);
}

TEST("a card without tables has the rows that need none")
{
	lies_run(lies_nothing, lies_older_card);
}

/* ---- the card's own table ---- */

static void lies_npf(struct rig *r)
{
	struct rig_node *n = &r->n[1];

	rig_qp_flags = FL_QP_RC;
	rig_open(n);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_NPF), 0);
	rig_set_up(n, 0);
	rig_fill(n, RIG_BYTES, 1);
	rig_qp_flags = 0;
}

static long lies_prefetch(struct rig_node *n, uint32_t page)
{
	struct fl_prefetch p = { .size = sizeof(p), .key = n->key, .length = RIG_PAGE,
				 .addr = (uintptr_t)n->buffer + page * RIG_PAGE };

	return rig_ioctl(n, FL_IOC_PREFETCH, &p);
}

static void lies_load(struct rig *r)
{
	static const struct {
		const char *what;
		uint32_t mask, value;
		int ret;
	} of[] = {
		{ "busy for good", NIC_XP_TAB_STATUS_BUSY, NIC_XP_TAB_STATUS_BUSY, -EIO },
		{ "an error", NIC_XP_TAB_STATUS_CODE_MASK,
		  FL_ST_LOCAL_FAULT << NIC_XP_TAB_STATUS_CODE_SHIFT, -EIO },
		{ "no room", NIC_XP_TAB_STATUS_CODE_MASK,
		  FL_ST_NO_ROOM << NIC_XP_TAB_STATUS_CODE_SHIFT, -ENOSPC },
		{ "gone", ONES, ONES, -ENODEV },
	};
	struct rig_node *n = &r->n[1];
	uint64_t then, loaded;
	unsigned int i;

	lies_npf(r);
	EXPECT_EQ(lies_prefetch(n, 0), 0);
	loaded = rig_counters(n).loaded;
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		STEP("%s", of[i].what);
		lie_tell(XP(NIC_XP_TAB_STATUS), of[i].mask, of[i].value);
		then = sim_now(r->sim);
		EXPECT_EQ(lies_prefetch(n, 1 + i), of[i].ret);
		EXPECT_LE(sim_now(r->sim) - then, 200000000);
		EXPECT_GE(lies_told(), 1);
		lies_end();
		EXPECT_EQ(rig_counters(n).loaded, loaded);
	}
	STEP("the truth: it is loaded");
	EXPECT_EQ(lies_prefetch(n, 1), 0);
	EXPECT_EQ(rig_counters(n).loaded, loaded + 1);
}

TEST("an order that the card does not carry out is an error, after a while or at once")
{
	lies_run(lies_load, NULL);
}

static uint32_t lies_register, lies_mask;

static void lies_zap(struct rig *r)
{
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct rig_node *n = &r->n[1];
	uint64_t then;

	lies_npf(r);
	EXPECT_EQ(lies_prefetch(n, 0), 0);
	lie_tell(XP(lies_register), lies_mask, lies_mask);
	then = sim_now(r->sim);
	EXPECT_EQ(host_madvise(n->process, n->buffer, RIG_PAGE, HOST_PAGEOUT), 0);
	EXPECT_LE(sim_now(r->sim) - then, 400000000);
	EXPECT_GE(lies_told(), 1);
	lies_end();
	STEP("the card may still use the page: its process has lost the card");
	EXPECT_EQ(trace_count(r->trace, EV_DRV_CUT_OFF), 1);
	EXPECT_EQ(rig_counters(n).lost_syncs, 1);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), -ENODEV);
	rig_close(n);
	STEP("the next process has it");
	rig_open(n);
}

TEST("a table that does not forget a page costs its process the card")
{
	STEP("the order does not end");
	lies_register = NIC_XP_TAB_STATUS;
	lies_mask = NIC_XP_TAB_STATUS_BUSY;
	lies_run(lies_zap, NULL);
	STEP("accesses under way do not end");
	lies_register = NIC_XP_TAB_ACTIVE;
	lies_mask = NIC_XP_TAB_ACTIVE_ACTIVE;
	lies_run(lies_zap, NULL);
}

/* ---- the SMMU ---- */

static void lies_stall(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t pages;

	rig_pair(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], RIG_BYTES, 1);
	STEP("the channel's registers are of another access: the page that the SMMU names comes");
	lie_tell(ENG(NIC_ENG_WR_STATUS), NIC_ENG_WR_STATUS_STALLED, 0);
	pages = rig_counters(b).pages_in;
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	EXPECT_GE(lies_told(), 1);
	lies_end();
	EXPECT_EQ(rig_counters(b).pages_in, pages + 1);
	STEP("they name a context that the card has not: nobody looks there");
	lie_tell(ENG(NIC_ENG_WR_STATUS), NIC_ENG_WR_STATUS_INDEX_MASK,
		 NIC_ENG_WR_STATUS_INDEX_MASK);
	rig_post(r, FL_OP_WRITE, RIG_PAGE, RIG_PAGE, RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	EXPECT_GE(lies_told(), 1);
	lies_end();
	rig_same(r, 2 * RIG_PAGE);
	STEP("the stall seems to stay: the driver does not try for good");
	lie_tell(SMMU(SMMU_CB_BASE(0) + SMMU_CB_FSR), SMMU_CB_FSR_SS, SMMU_CB_FSR_SS);
	rig_post(r, FL_OP_WRITE, 2 * RIG_PAGE, 2 * RIG_PAGE, RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	sim_sleep(1000000);
	EXPECT_GE(lies_told(), 16);
	EXPECT_LE(lies_told(), 20);
	r->resumes_ignored = 15;
	lies_end();
	rig_same(r, 3 * RIG_PAGE);
}

TEST("a held access goes on, whatever the registers around it say")
{
	lies_run(lies_stall, NULL);
}

/* ---- the DMA channel ---- */

static long lies_copy(struct rig_node *n)
{
	struct fl_dma_copy c = { .size = sizeof(c), .src = (uintptr_t)n->buffer,
				 .dst = (uintptr_t)n->buffer + HALF, .length = HALF };
	long ret = rig_ioctl(n, FL_IOC_DMA_COPY, &c);

	if (!ret)
		EXPECT_EQ(c.status, FL_DMA_OK);
	return ret;
}

static void lies_channel(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	uint64_t then, starts;

	rig_open(n);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_INSERTED), 0);
	rig_set_up(n, 0);
	rig_fill(n, HALF, 1);
	EXPECT_EQ(lies_copy(n), 0);
	STEP("it says that it goes on");
	lie_tell(BUS_PSDMA_BASE + PSDMA_CH_STATUS, PSDMA_CH_STATUS_STATE_MASK, 2);
	then = sim_now(r->sim);
	EXPECT_EQ(lies_copy(n), -EIO);
	EXPECT_LE(sim_now(r->sim) - then, 3000000000ull);
	EXPECT_GE(lies_told(), 1);
	lies_end();
	STEP("its stream leads to nobody, and nobody starts it again");
	EXPECT_EQ(rig_smmu(n, SMMU_GR0_SMR(SMMU_CB_COUNT)), 0);
	starts = trace_count(r->trace, EV_PSDMA_START);
	EXPECT_EQ(lies_copy(n), -EIO);
	EXPECT_EQ(trace_count(r->trace, EV_PSDMA_START), starts);
	rig_close(n);
	EXPECT_EQ(tables_stats(n).frames_pinned, 0);
}

TEST("a channel that does not stop is not used any more")
{
	lies_run(lies_channel, NULL);
}
