// SPDX-License-Identifier: BSD-2-Clause
/* Processes come and go: context banks, slots, and the end in any state. */
#include "rig/driver.h"
#include "faultline/fsm.h"

#define LEN (64u * 1024)

static void reset_state(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint32_t cr0 = rig_smmu(n, SMMU_GR0_CR0);
	unsigned int i;

	STEP("after probe, before any process");
	EXPECT(!(cr0 & SMMU_GR0_CR0_CLIENTPD));
	EXPECT(cr0 & SMMU_GR0_CR0_USFCFG);
	EXPECT(cr0 & SMMU_GR0_CR0_GFRE && cr0 & SMMU_GR0_CR0_GFIE);
	EXPECT(cr0 & SMMU_GR0_CR0_PTM);
	EXPECT(!(rig_smmu(n, SMMU_GR0_ACR) & SMMU_GR0_ACR_CACHE_LOCK));
	for (i = 0; i < SMMU_GR0_SMR_COUNT; i++) {
		EXPECT_EQ(rig_smmu(n, SMMU_GR0_SMR(i)), 0);
		EXPECT_EQ(rig_smmu(n, SMMU_GR0_S2CR(i)),
			  2u << SMMU_GR0_S2CR_TYPE_SHIFT);
	}
	for (i = 0; i < SMMU_CB_COUNT; i++) {
		EXPECT_EQ(rig_smmu(n, SMMU_CB_BASE(i) + SMMU_CB_SCTLR), 0);
		EXPECT(!(rig_smmu(n, SMMU_CB_BASE(i) + SMMU_CB_ACTLR) &
			 SMMU_CB_ACTLR_CPRE));
	}
}

TEST("probe leaves the SMMU refusing every stream")
{
	rig_run(reset_state);
}

static void bank_state(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct host_mm *mm = host_process_mm(n->process);
	uint32_t sctlr;

	rig_open(n);
	sctlr = rig_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_SCTLR);
	EXPECT_EQ(sctlr, SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE |
			 SMMU_CB_SCTLR_CFIE | SMMU_CB_SCTLR_HUPCF);
	EXPECT_EQ(rig_smmu64(n, SMMU_CB_BASE(0) + SMMU_CB_TTBR0),
		  mm_table_pa(mm) | (uint64_t)mm_asid(mm) << 48);
	EXPECT_EQ(rig_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_TCR) &
			  SMMU_CB_TCR_T0SZ_MASK, 64 - HOST_VA_BITS);
	EXPECT(rig_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_TCR) & SMMU_CB_TCR_EPD1);
	EXPECT(rig_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_TCR2) & SMMU_CB_TCR2_AS);
	EXPECT_EQ(rig_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_MAIR0), 0xff);
	EXPECT_EQ(rig_smmu(n, SMMU_GR0_SMR(0)),
		  SMMU_GR0_SMR_VALID | BOARD_STREAM(0));
	EXPECT_EQ(rig_smmu(n, SMMU_GR0_S2CR(0)),
		  2u << SMMU_GR0_S2CR_PRIVCFG_SHIFT);
	EXPECT_EQ(rig_smmu(n, SMMU_GR1_BASE + SMMU_GR1_CBAR(0)) &
			  SMMU_GR1_CBAR_TYPE_MASK,
		  1u << SMMU_GR1_CBAR_TYPE_SHIFT);
	EXPECT_EQ(rig_smmu(n, SMMU_GR1_BASE + SMMU_GR1_CBA2R(0)),
		  SMMU_GR1_CBA2R_VA64);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_BIND), 1);
	STEP("close: nothing of the process is left");
	EXPECT_EQ(host_close(n->process, n->fd), 0);
	EXPECT_EQ(rig_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_SCTLR), 0);
	EXPECT_EQ(rig_smmu64(n, SMMU_CB_BASE(0) + SMMU_CB_TTBR0) &
			  SMMU_CB_TTBR0_ADDR_MASK, 0);
	EXPECT_EQ(rig_smmu(n, SMMU_GR0_SMR(0)), 0);
	EXPECT_EQ(rig_smmu(n, SMMU_GR0_S2CR(0)),
		  2u << SMMU_GR0_S2CR_TYPE_SHIFT);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_UNBIND), 1);
}

TEST("a process gets a bank that walks its own tables, and gives it back")
{
	rig_run(bank_state);
}

static void bank_sixteen(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	int fd[16], i, one;

	for (i = 0; i < 16; i++) {
		fd[i] = host_open(n->process, "faultline0");
		EXPECT_GE(fd[i], 0);
	}
	STEP("the seventeenth");
	EXPECT_EQ(host_open(n->process, "faultline0"), -EBUSY);
	EXPECT_EQ(host_close(n->process, fd[5]), 0);
	one = host_open(n->process, "faultline0");
	EXPECT_GE(one, 0);
	STEP("the same slot has another stream now: nothing old matches");
	EXPECT_EQ(rig_smmu(n, SMMU_GR0_SMR(5)),
		  SMMU_GR0_SMR_VALID | (BOARD_STREAM(5) + 16));
	EXPECT_EQ(host_open(n->process, "faultline0"), -EBUSY);
}

TEST("sixteen at a time; the seventeenth is EBUSY until one goes")
{
	rig_run(bank_sixteen);
}

/* regs.def, RXC.STATE: what comes in for the process has not begun to land. */
static bool bank_collects(struct rig_node *n)
{
	uint64_t v, n_rx;
	unsigned int i;

	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + NIC_ENG_BASE +
			     NIC_ENG_PARAM, 4, &n_rx), 0);
	n_rx = (n_rx & NIC_ENG_PARAM_NRXC_MASK) >> NIC_ENG_PARAM_NRXC_SHIFT;
	for (i = 0; i < n_rx; i++) {
		EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + NIC_RXC_BASE(i) +
				     NIC_RXC_STATE, 4, &v), 0);
		if ((v & NIC_RXC_STATE_STATE_MASK) == FL_RX_COLLECT)
			return true;
	}
	return false;
}

/* Returns whether there were blocks that had not come in whole. */
static bool in_flight(struct rig *r, uint32_t mode, int who, uint64_t after_ns)
{
	bool collecting;

	rig_pair(r, mode, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	rig_post(r, FL_OP_WRITE, LEN, LEN, LEN);
	sim_sleep(after_ns);
	STEP("side %d closes %u ns after posting, mode %u", who,
	     (unsigned int)after_ns, mode);
	collecting = bank_collects(&r->n[who]);
	rig_close(&r->n[who]);
	EXPECT(!bank_collects(&r->n[who]));
	EXPECT_EQ(rig_smmu(&r->n[who], SMMU_CB_BASE(0) + SMMU_CB_FSR), 0);
	STEP("and opens again");
	rig_open(&r->n[who]);
	rig_set_up(&r->n[who], 0);
	sim_sleep(100000);
	return collecting;
}

static void close_at(struct rig *r)
{
	static const uint64_t at[] = { 1000, 5000, 9000, 14000, 25000 };
	unsigned int collecting = 0;
	uint32_t mode;
	unsigned int i;

	for (mode = 0; mode < 2; mode++)
		for (i = 0; i < 5; i++) {
			collecting += in_flight(r, mode, 1, at[i]);
			rig_close(&r->n[0]);
			rig_close(&r->n[1]);
			in_flight(r, mode, 0, at[i]);
			rig_close(&r->n[0]);
			rig_close(&r->n[1]);
			EXPECT_EQ(host_madvise(r->n[1].process, r->n[1].buffer,
					       RIG_BYTES, HOST_DONTNEED), 0);
		}
	EXPECT_GE(collecting, 1);
}

TEST("a file closes in any state of its transfers, in both modes")
{
	rig_run(close_at);
}

static void bank_mapped(struct rig *r)
{
	struct rig_node *n = &r->n[0];

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(n, LEN, 1);
	STEP("close the number while queues and doorbell are mapped");
	EXPECT_EQ(host_close(n->process, n->fd), 0);
	EXPECT_NE(rig_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_SCTLR), 0);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	sim_sleep(1000000);
	EXPECT(rig_look(n));
	rig_same(r, LEN);
	STEP("the last mapping goes, and the process leaves the card");
	EXPECT_EQ(host_munmap_fd(n->process, n->cqe, n->cq_bytes), 0);
	EXPECT_EQ(host_munmap_fd(n->process, n->doorbell, RIG_PAGE), 0);
	EXPECT_NE(rig_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_SCTLR), 0);
	EXPECT_EQ(host_munmap_fd(n->process, n->sq, n->sq_bytes), 0);
	EXPECT_EQ(rig_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_SCTLR), 0);
	EXPECT_EQ(host_munmap_fd(n->process, n->sq, n->sq_bytes), -EINVAL);
}

TEST("what is mapped keeps the file open, as on Linux")
{
	rig_run(bank_mapped);
}

static void leave_open(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_BLOCK, FL_MR_PINNED);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
}

TEST("a process that ends without closing leaves nothing behind")
{
	/* rig_down() ends it with everything open and checks the kernel. */
	rig_run(leave_open);
}

static void remove_now(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_query q = { .size = sizeof(q) };

	host_driver_remove(n->kernel);
	n->removed = true;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), -ENODEV);
	EXPECT_EQ(host_open(n->process, "faultline0"), -ENODEV);
	STEP("its doorbell does not ring, and will not ring another's");
	host_mmio_write32(n->process, n->doorbell + NIC_DB_SQ,
			  n->qp | 1u << 16);
	STEP("and it can be started again");
	EXPECT_EQ(host_driver_probe(n->kernel, NULL), 0);
	n->removed = false;
	host_mmio_write32(n->process, n->doorbell + NIC_DB_SQ,
			  n->qp | 1u << 16);
	EXPECT_EQ(host_driver_probe(n->kernel, NULL), -EBUSY);
}

TEST("the driver goes while a file is open and a transfer under way")
{
	struct host_driver_params p = { 0 };

	rig_run_with(SIM_LOCKSTEP, &p, leave_open, remove_now);
}

/* A call takes no longer than a handful of registers. */
#define AT_ONCE_NS	20000

static void bank_unplug(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	uint64_t then;
	int status;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_fill(n, LEN, 2);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	sim_sleep(5000);
	board_unplug(n->board);
	EXPECT_EQ(rig_smmu(n, SMMU_GR0_CR0), UINT32_MAX);
	STEP("its page tables change: no access is left that could be waited for");
	then = sim_now(r->sim);
	EXPECT_EQ(host_madvise(n->process, n->buffer, RIG_BYTES,
			       HOST_DONTNEED), 0);
	EXPECT_LE(sim_now(r->sim) - then, AT_ONCE_NS);
	STEP("the firmware is not waited for");
	then = sim_now(r->sim);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), -ENODEV);
	EXPECT_LE(sim_now(r->sim) - then, AT_ONCE_NS);
	STEP("nor is what the card did for the file");
	then = sim_now(r->sim);
	rig_close(n);
	EXPECT_LE(sim_now(r->sim) - then, 10 * AT_ONCE_NS);
	STEP("the peer hears nothing");
	status = rig_wait(&r->n[0]);
	EXPECT_EQ(status, FL_ST_NO_ANSWER);
}

TEST("a card that is gone is not waited for")
{
	rig_run(bank_unplug);
}

static void only_own(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint8_t *db;
	int err, fd2;

	rig_open(n);
	fd2 = host_open(n->process, "faultline0");
	db = host_mmap_fd(n->process, fd2, RIG_PAGE, 0, &err);
	EXPECT(db);
	STEP("no offset of the card's registers but 0 is a doorbell page");
	EXPECT(!host_mmap_fd(n->process, n->fd, RIG_PAGE, NIC_DB_BASE(1),
			     &err));
	EXPECT_EQ(err, -ENOENT);
	rig_set_up(n, 0);
	STEP("the other slot's doorbell does not ring this queue pair");
	r->bad_regs = 1;
	host_mmio_write32(n->process, db + NIC_DB_SQ, n->qp | 1u << 16);
	sim_sleep(100000);
	EXPECT(!rig_look(n));
	EXPECT_EQ(trace_count(r->trace, EV_FW_WQE) +
		  trace_count(r->trace, EV_FW_WQE_BAD), 0);
}

TEST("a process maps its own doorbell page only")
{
	rig_run(only_own);
}
