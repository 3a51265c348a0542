// SPDX-License-Identifier: BSD-2-Clause
/* Device faults: how much the driver brings in, and that none is lost. */
#include "rig/driver.h"

#define LEN	(64u * 1024)
#define PAGES	(LEN / RIG_PAGE)

static void write_once(struct rig *r, uint32_t mode, uint32_t resolve)
{
	STEP("mode %u, resolve %u: write %u bytes to a cold buffer", mode,
	     resolve, LEN);
	rig_pair(r, mode, resolve, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
}

static void page_body(struct rig *r)
{
	struct fl_counters c;

	write_once(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE);
	c = rig_counters(&r->n[1]);
	EXPECT_EQ(c.pages_in, PAGES);
	EXPECT_EQ(c.resolves, PAGES);
	EXPECT_EQ(c.faults_dst, PAGES);
	EXPECT_EQ(c.faults, c.faults_dst);
	EXPECT_EQ(c.faults_src, 0);
	EXPECT_EQ(c.failed, 0);
	EXPECT_EQ(rig_counters(&r->n[0]).faults, 0);
}

TEST("touch a page: one fault and one request for each page that was missing")
{
	rig_run(page_body);
}

static void one_body(struct rig *r)
{
	static struct trace_record rec[65536];
	uint64_t base, want[] = { 1, 3 };
	struct rig_node *b = &r->n[1];
	uint32_t n, i, seen = 0;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], LEN, 1);
	base = (uintptr_t)b->buffer;
	STEP("of a block's pages the second and the fourth are missing");
	EXPECT_EQ(mm_fault(host_process_mm(b->process), base,
			   HOST_FAULT_WRITE), 0);
	EXPECT_EQ(mm_fault(host_process_mm(b->process), base + 2 * RIG_PAGE,
			   HOST_FAULT_WRITE), 0);
	rig_post(r, FL_OP_WRITE, 0, 0, 4 * RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, 4 * RIG_PAGE);
	n = trace_snapshot(r->trace, rec, 65536);
	for (i = 0; i < n; i++) {
		if (rec[i].event != EV_DRV_RESOLVE)
			continue;
		EXPECT_LE(seen, 1);
		EXPECT_EQ(rec[i].arg[0], base + want[seen] * RIG_PAGE);
		EXPECT_EQ(rec[i].arg[1], 1);
		seen++;
	}
	EXPECT_EQ(seen, 2);
}

TEST("touch a page: the first missing one, and then the next")
{
	rig_run(one_body);
}

static void across_body(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], LEN + 100, 1);
	rig_post(r, FL_OP_WRITE, 100, 100, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	/* Blocks share a page at each edge: who is later finds it there. */
	EXPECT_EQ(rig_counters(&r->n[1]).pages_in, PAGES + 1);
	EXPECT_LE(rig_counters(&r->n[1]).faults_dst, PAGES + LEN / 16384);
}

TEST("touch a page: blocks that begin inside a page")
{
	rig_run(across_body);
}

/* ---- an old entry of the TLB is in the way ---- */

/* Bring pages in as a reader does: present, clean, and read-only for now. */
static void fault_clean(struct rig_node *n)
{
	uint64_t va = (uintptr_t)n->buffer, end = va + LEN;

	for (; va < end; va += RIG_PAGE)
		EXPECT_EQ(mm_fault(host_process_mm(n->process), va, 0), 0);
}

static void clean_write(struct rig *r, uint32_t mode, uint32_t resolve,
			uint64_t faults)
{
	struct rig_node *b = &r->n[1];
	struct fl_counters c;

	STEP("mode %u, resolve %u: the destination is present and clean", mode,
	     resolve);
	rig_pair(r, mode, resolve, 0);
	rig_fill(&r->n[0], LEN, 1);
	fault_clean(b);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	c = rig_counters(b);
	EXPECT_EQ(c.faults_dst, faults);
	EXPECT_EQ(c.spurious, 0);
	EXPECT_EQ(c.invalidations, faults);
	EXPECT_EQ(c.pages_in, 0);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_INVALIDATE), faults);
}

static void clean_page(struct rig *r)
{
	clean_write(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE, PAGES);
}

static void clean_block(struct rig *r)
{
	clean_write(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, LEN / 16384);
}

static void clean_stall(struct rig *r)
{
	clean_write(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_BLOCK, LEN / 16384);
}

TEST("a write refused on a clean page is refused once: its TLB entry goes")
{
	rig_run(clean_page);
	rig_run(clean_block);
	rig_run(clean_stall);
}

/* The card reads the pages first, so that the TLB has them as read-only. */
static void read_first(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	fault_clean(&r->n[1]);
	rig_post(r, FL_OP_READ, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_fill(&r->n[0], LEN, 1);
	EXPECT_EQ(rig_counters(&r->n[1]).faults, 0);
}

static void write_freely(struct rig *r)
{
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_EQ(rig_counters(&r->n[1]).faults, 0);
}

static void clean_prefetch(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct fl_prefetch p = { .size = sizeof(p), .length = LEN,
				 .flags = FL_PREFETCH_WRITE };

	read_first(r);
	p.key = b->key;
	p.addr = (uintptr_t)b->buffer;
	EXPECT_EQ(rig_ioctl(b, FL_IOC_PREFETCH, &p), 0);
	write_freely(r);
}

static void clean_pin(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	read_first(r);
	b->key = rig_reg_mr(b, b->buffer, LEN, RIG_ALL, FL_MR_PINNED, 0);
	write_freely(r);
}

TEST("after prefetch or pin for writing no old entry makes a write fault")
{
	rig_run(clean_prefetch);
	rig_run(clean_pin);
}

static void block_body(struct rig *r)
{
	struct fl_counters c;

	write_once(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	c = rig_counters(&r->n[1]);
	EXPECT_EQ(c.pages_in, PAGES);
	EXPECT_EQ(c.resolves, LEN / 16384);
	EXPECT_EQ(c.faults_dst, LEN / 16384);
}

TEST("touch a block: one request for each block")
{
	rig_run(block_body);
}

static void transfer_body(struct rig *r)
{
	struct fl_counters c;

	write_once(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER);
	c = rig_counters(&r->n[1]);
	EXPECT_EQ(c.pages_in, PAGES);
	/* Later blocks that were on their way may still fault, not page in. */
	EXPECT_LE(c.faults_dst, LEN / 16384);
	EXPECT_GE(c.faults_dst, 1);
}

TEST("touch the transfer: the first fault brings all of it in")
{
	rig_run(transfer_body);
}

static void ahead_body(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct fl_destroy d = { .size = sizeof(d) };

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER, 0);
	d.object = b->key;
	EXPECT_EQ(rig_ioctl(b, FL_IOC_DEREG_MR, &d), 0);
	b->key = rig_reg_mr(b, b->buffer, LEN, RIG_ALL, 0, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	STEP("the page after the region was not touched");
	EXPECT(!mm_resident(host_process_mm(b->process),
			    (uintptr_t)b->buffer + LEN));
	EXPECT_EQ(rig_counters(b).pages_in, PAGES);
}

TEST("touching ahead ends where the region ends")
{
	rig_run(ahead_body);
}

static void source_body(struct rig *r)
{
	struct rig_node *a = &r->n[0];
	struct fl_counters c;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(a, LEN, 3);
	EXPECT_EQ(host_madvise(a->process, a->buffer, LEN, HOST_PAGEOUT), 0);
	rig_fill(&r->n[1], LEN, 9);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	c = rig_counters(a);
	EXPECT_GE(c.faults_src, LEN / 16384);
	EXPECT_EQ(c.faults_dst, 0);
	EXPECT_EQ(c.pages_in, PAGES);
	rig_same(r, LEN);
}

TEST("a source that was paged out comes back for a write")
{
	rig_run(source_body);
}

static void read_body(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[1], LEN, 5);
	EXPECT_EQ(host_madvise(r->n[1].process, r->n[1].buffer, LEN,
			       HOST_PAGEOUT), 0);
	rig_post(r, FL_OP_READ, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_GE(rig_counters(&r->n[0]).faults_dst, 1);
	EXPECT_GE(rig_counters(&r->n[1]).faults_src, 1);
}

TEST("a read faults at both ends and both are repaired")
{
	rig_run(read_body);
}

static void aged_body(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 5);
	rig_fill(b, LEN, 6);
	STEP("clear the access flags of the destination");
	EXPECT_EQ(host_madvise(b->process, b->buffer, LEN, HOST_COLD), 0);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_GE(rig_counters(b).faults, 1);
	EXPECT_EQ(rig_counters(b).pages_in, 0);
	EXPECT_EQ(rig_counters(b).spurious, 0);
}

TEST("an aged page faults, is made young, and is not counted as brought in")
{
	rig_run(aged_body);
}

static void stall_body(struct rig *r)
{
	struct fl_counters c;

	write_once(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_PAGE);
	c = rig_counters(&r->n[1]);
	EXPECT_EQ(c.pages_in, PAGES);
	EXPECT_EQ(c.stalls, PAGES);
	EXPECT_EQ(c.faults_dst, PAGES);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_STALL), PAGES);
	EXPECT_EQ(trace_count(r->trace, EV_ENG_FAULT), 0);
	EXPECT_EQ(rig_smmu(&r->n[1], SMMU_CB_BASE(0) + SMMU_CB_FSR), 0);
	EXPECT(rig_smmu(&r->n[1], SMMU_CB_BASE(0) + SMMU_CB_SCTLR) &
	       SMMU_CB_SCTLR_CFIE);
}

TEST("stall mode holds each access, brings its page in and resumes it")
{
	rig_run(stall_body);
}

static void stall_block_body(struct rig *r)
{
	write_once(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_BLOCK);
	EXPECT_EQ(rig_counters(&r->n[1]).stalls, LEN / 16384);
	EXPECT_EQ(rig_counters(&r->n[1]).pages_in, PAGES);
}

TEST("stall mode touches the rest of the block ahead")
{
	rig_run(stall_block_body);
}

static void stall_transfer_body(struct rig *r)
{
	write_once(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_TRANSFER);
	EXPECT_EQ(rig_counters(&r->n[1]).stalls, 1);
	EXPECT_EQ(rig_counters(&r->n[1]).pages_in, PAGES);
}

TEST("stall mode touches the rest of the transfer ahead")
{
	rig_run(stall_transfer_body);
}

static void fault_gone(struct rig *r, uint32_t mode, int side, int status)
{
	struct rig_node *n = &r->n[side];
	struct fl_counters c;

	rig_pair(r, mode, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 5);
	STEP("unmap the buffer of side %d under its region", side);
	EXPECT_EQ(host_munmap(n->process, n->buffer, RIG_BYTES), 0);
	rig_post(r, FL_OP_WRITE, 0, 0, 4 * RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), status);
	c = rig_counters(n);
	/* A fault is a block that was refused, or an access that was held. */
	EXPECT_GE(c.faults, 1);
	EXPECT_EQ(c.failed, c.faults);
	EXPECT_EQ(c.stalls, mode == FL_SYSTEM_STALL ? c.faults : 0);
}

static void no_source(struct rig *r)
{
	fault_gone(r, FL_SYSTEM_PART, 0, FL_ST_LOCAL_FAULT);
}

static void no_destination(struct rig *r)
{
	fault_gone(r, FL_SYSTEM_PART, 1, FL_ST_REMOTE_FAULT);
}

static void stall_no_source(struct rig *r)
{
	fault_gone(r, FL_SYSTEM_STALL, 0, FL_ST_LOCAL_FAULT);
}

static void stall_no_destination(struct rig *r)
{
	fault_gone(r, FL_SYSTEM_STALL, 1, FL_ST_REMOTE_FAULT);
}

TEST("a source or a destination that is not mapped ends in its status")
{
	rig_run(no_source);
	rig_run(no_destination);
	rig_run(stall_no_source);
	rig_run(stall_no_destination);
}

static void read_only(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 5);
	rig_fill(b, LEN, 6);
	EXPECT_EQ(host_mprotect(b->process, b->buffer, RIG_BYTES, HOST_READ),
		  0);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_REMOTE_FAULT);
}

TEST("a destination that became read-only ends in REMOTE_FAULT")
{
	rig_run(read_only);
}

static void no_frames(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 5);
	host_inject_no_frames(r->n[1].kernel, 1000000);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_REMOTE_FAULT);
	host_inject_no_frames(r->n[1].kernel, 0);
}

TEST("when memory is exhausted the fault ends with a status")
{
	rig_run(no_frames);
}

static void order_body(struct rig *r)
{
	static struct trace_record rec[65536];
	uint32_t n, i, work = 0, bank = 0;
	uint64_t fault_seq = 0;

	write_once(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	n = trace_snapshot(r->trace, rec, 65536);
	for (i = 0; i < n; i++) {
		if (rec[i].event == EV_DRV_IRQ_SMMU) {
			bank++;
			EXPECT(rec[i].arg[1] & SMMU_CB_FSR_TF);
			EXPECT_EQ(rec[i].arg[2] & ~0xfffffull,
				  (uintptr_t)r->n[1].buffer & ~0xfffffull);
		}
		if (rec[i].event == EV_DRV_IRQ_FAULT && !fault_seq)
			fault_seq = rec[i].seq;
		if (rec[i].event == EV_DRV_WORK && !work++)
			EXPECT_EQ(rec[i].cause, fault_seq);
		if (rec[i].event == EV_DRV_WORK ||
		    rec[i].event == EV_DRV_READY) {
			EXPECT_EQ(rec[i].xfer, 1);
			EXPECT_NE(rec[i].block, 0);
		}
	}
	EXPECT_GE(bank, 1);
	EXPECT_EQ(work, LEN / 16384);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_READY), LEN / 16384);
}

TEST("the story of a fault: bank, report, work, answer, each with its cause")
{
	rig_run(order_body);
}

TEST("the same in threads mode, all policies")
{
	struct host_driver_params p = { 0 };

	/* variants: tsan */
	rig_run_with(SIM_THREADS, &p, page_body, NULL);
	rig_run_with(SIM_THREADS, &p, source_body, NULL);
	rig_run_with(SIM_THREADS, &p, read_body, NULL);
	rig_run_with(SIM_THREADS, &p, stall_body, NULL);
	rig_run_with(SIM_THREADS, &p, no_destination, NULL);
}

static void fault_nobody(struct rig *r)
{
	struct rig_node *n = &r->n[0];

	STEP("a global fault, and a fault of a bank without a process");
	rig_smmu_set(n, SMMU_GR0_GFSRRESTORE, 4, SMMU_GR0_GFSR_USF);
	rig_smmu_set(n, SMMU_CB_BASE(7) + SMMU_CB_FSRRESTORE, 4, SMMU_CB_FSR_TF);
	rig_smmu_set(n, SMMU_CB_BASE(7) + SMMU_CB_SCTLR, 4, SMMU_CB_SCTLR_CFIE);
	sim_sleep(100000);
	EXPECT_EQ(rig_smmu(n, SMMU_GR0_GFSR), 0);
	EXPECT_EQ(rig_smmu(n, SMMU_CB_BASE(7) + SMMU_CB_FSR), 0);
	EXPECT(!board_irq_level(n->board, IRQ_SMMU));
	EXPECT_EQ(trace_count(r->trace, EV_DRV_SPURIOUS), 2);
}

static void fault_between(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	unsigned int i;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_smmu_set(b, SMMU_CB_BASE(7) + SMMU_CB_SCTLR, 4, SMMU_CB_SCTLR_CFIE);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	STEP("a bank without a process faults again and again meanwhile");
	for (i = 0; i < 50; i++) {
		rig_smmu_set(b, SMMU_CB_BASE(7) + SMMU_CB_FSRRESTORE, 4,
			 SMMU_CB_FSR_TF);
		sim_sleep(1700);
	}
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	sim_sleep(100000);
	EXPECT_EQ(rig_smmu(b, SMMU_CB_BASE(7) + SMMU_CB_FSR), 0);
	EXPECT(!board_irq_level(b->board, IRQ_SMMU));
	EXPECT_GE(trace_count(r->trace, EV_DRV_SPURIOUS), 2);
	EXPECT_GE(trace_count(r->trace, EV_DRV_IRQ_SMMU), PAGES);
}

static void fault_overtaken(struct rig *r)
{
	uint32_t off = SMMU_CB_BASE(0) + SMMU_CB_FSR, fsr;
	struct rig_node *b = &r->n[1];
	int tries = 0;

	rig_pair(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	do {
		sim_spend(100);
		fsr = rig_smmu(b, off);
		EXPECT(tries++ < 1000);
	} while (!(fsr & SMMU_CB_FSR_SS) || fsr & SMMU_CB_FSR_TF);
	STEP("the top half has cleared FSR, and now MULTI comes");
	rig_smmu_set(b, SMMU_CB_BASE(0) + SMMU_CB_FSRRESTORE, 4,
		 SMMU_CB_FSR_MULTI);
	EXPECT(rig_smmu(b, off) & SMMU_CB_FSR_MULTI);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
}

TEST("MULTI that comes while a fault is resolved does not lose RESUME")
{
	rig_run(fault_overtaken);
}

TEST("a fault of nobody is cleared and told")
{
	rig_run(fault_nobody);
}

TEST("neither the faults of processes nor those of nobody keep the others waiting")
{
	rig_run(fault_between);
}

static void fault_hopeless(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	STEP("the bank reports a bus error on a walk in the first block");
	rig_smmu_set(b, SMMU_CB_BASE(0) + SMMU_CB_FAR, 8,
		 (uintptr_t)b->buffer + 5000);
	rig_smmu_set(b, SMMU_GR1_BASE + SMMU_GR1_CBFRSYNRA(0), 4, BOARD_STREAM(0));
	rig_smmu_set(b, SMMU_CB_BASE(0) + SMMU_CB_FSRRESTORE, 4, SMMU_CB_FSR_EF);
	sim_sleep(100000);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_REMOTE_FAULT);
	EXPECT_GE(rig_counters(b).failed, 1);
}

TEST("what no page cures ends with a status instead of being tried for ever")
{
	rig_run(fault_hopeless);
}
