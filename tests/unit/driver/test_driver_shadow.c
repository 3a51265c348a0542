// SPDX-License-Identifier: BSD-2-Clause
/*
 * The shadow of a process's tables in the card (NetVM), at the driver's edge: what is there
 * when a region begins, what comes with a page that the kernel maps, and what goes. The oracle
 * is the process's own page tables, walked here.
 *
 * variants: tsan
 */
#include "rig/nic.h"

static struct rig_node *shadow_begin(struct rig *r, uint32_t touched)
{
	struct rig_node *n = &r->n[1];

	rig_qp_flags = FL_QP_NV;
	rig_open(n);
	nic_policy(n, FL_SYSTEM_NETVM, FL_IOC_RESOLVE_PAGE);
	rig_set_up(n, 0);
	if (touched)
		rig_fill(n, touched * RIG_PAGE, 1);
	return n;
}

static void shadow_comes(struct rig *r)
{
	struct rig_node *n = shadow_begin(r, 0);
	uint64_t pages = rig_counters(n).pages_in;

	STEP("nothing was there when the region began");
	EXPECT_EQ(nic_count(n), 0);
	STEP("the CPU writes: what the kernel maps is in the card's table");
	rig_fill(n, 4 * RIG_PAGE, 1);
	EXPECT_EQ(nic_count(n), 4);
	EXPECT_EQ(fake_entry(fake_object(n->key), nic_at(n, 3)),
		  nic_walk(n, (uintptr_t)nic_at(n, 3), true) | FL_XP_VALID |
			  FL_XP_WRITE);
	nic_agrees(n);
	STEP("the card missed none of it");
	EXPECT_EQ(rig_counters(n).faults, 0);
	EXPECT_EQ(rig_counters(n).pages_in, pages);
	STEP("a page that is read is there to be read, and when it is written to be written");
	EXPECT_GE(mm_fault(host_process_mm(n->process), (uintptr_t)nic_at(n, 9), 0), 0);
	EXPECT_EQ(fake_entry(fake_object(n->key), nic_at(n, 9)) & FL_XP_WRITE, 0);
	EXPECT(nic_has(n, 9));
	EXPECT_GE(mm_fault(host_process_mm(n->process), (uintptr_t)nic_at(n, 9),
			   HOST_FAULT_WRITE), 0);
	EXPECT_NE(fake_entry(fake_object(n->key), nic_at(n, 9)) & FL_XP_WRITE, 0);
	nic_end(n);
}

TEST("what the kernel maps in a region is in the shadow, with the rights that it has")
{
	nic_run(shadow_comes);
}

static void shadow_begins(struct rig *r)
{
	struct rig_node *n = shadow_begin(r, 5);
	struct fl_reg_mr mr = { .size = sizeof(mr), .pd = n->pd, .length = 8 * RIG_PAGE,
				.access = FL_ACC_REMOTE_READ };
	uint32_t i, write = 0;

	STEP("a second region, only to be read, on the same pages");
	mr.addr = (uintptr_t)nic_at(n, 2);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_REG_MR, &mr), 0);
	for (i = 2; i < 10; i++) {
		EXPECT_EQ(fake_entry(fake_object(mr.key), nic_at(n, i)) != 0, i < 5);
		write |= fake_entry(fake_object(mr.key), nic_at(n, i)) & FL_XP_WRITE;
	}
	EXPECT_EQ(write, 0);
	STEP("a page comes for both");
	rig_fill(n, 6 * RIG_PAGE, 2);
	EXPECT(fake_entry(fake_object(mr.key), nic_at(n, 5)));
	EXPECT(nic_has(n, 5));
	STEP("one region ends: the other keeps its own");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &(struct fl_destroy){
		.size = sizeof(struct fl_destroy), .object = mr.key }), 0);
	EXPECT_EQ(nic_count(n), 6);
	nic_end(n);
}

TEST("what is there when a region begins is in its shadow, with the region's rights")
{
	nic_run(shadow_begins);
}

static void shadow_goes(struct rig *r)
{
	struct rig_node *n = shadow_begin(r, 8);

	STEP("paged out, dropped, unmapped");
	EXPECT_EQ(host_madvise(n->process, nic_at(n, 1), RIG_PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(host_madvise(n->process, nic_at(n, 2), RIG_PAGE, HOST_DONTNEED), 0);
	EXPECT_EQ(host_munmap(n->process, nic_at(n, 7), RIG_PAGE), 0);
	EXPECT_EQ(nic_count(n), 5);
	nic_agrees(n);
	STEP("a right goes, and comes back with the next write");
	EXPECT_EQ(host_mprotect(n->process, nic_at(n, 4), RIG_PAGE, HOST_READ), 0);
	EXPECT_EQ(fake_entry(fake_object(n->key), nic_at(n, 4)) & FL_XP_WRITE, 0);
	EXPECT_EQ(host_mprotect(n->process, nic_at(n, 4), RIG_PAGE,
				HOST_READ | HOST_WRITE), 0);
	EXPECT_GE(mm_fault(host_process_mm(n->process), (uintptr_t)nic_at(n, 4),
			   HOST_FAULT_WRITE), 0);
	EXPECT_NE(fake_entry(fake_object(n->key), nic_at(n, 4)) & FL_XP_WRITE, 0);
	STEP("what comes back from swap is loaded again");
	EXPECT_GE(mm_fault(host_process_mm(n->process), (uintptr_t)nic_at(n, 1), 0), 0);
	EXPECT(nic_has(n, 1));
	STEP("all of it goes, and one page comes: there is still a place for it");
	EXPECT_EQ(host_madvise(n->process, nic_at(n, 0), 7 * RIG_PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(nic_count(n), 0);
	sim_sleep(SLOW);
	EXPECT_GE(mm_fault(host_process_mm(n->process), (uintptr_t)nic_at(n, 1), 0), 0);
	EXPECT(nic_has(n, 1));
	nic_end(n);
}

TEST("what the kernel takes away leaves the shadow")
{
	nic_run(shadow_goes);
}

static void shadow_refuses(struct rig *r)
{
	struct rig_node *n = shadow_begin(r, 0);
	struct fl_reg_mr all = { .size = sizeof(all), .pd = n->pd, .length = FL_MR_ALL,
				 .access = FL_ACC_REMOTE_READ };
	struct fl_create_qp qp = { .size = sizeof(qp), .pd = n->pd, .cq = n->cq,
				   .entries = 8 };
	struct fl_create_counter c = { .size = sizeof(c) };

	STEP("no region of all memory: its shadow would have no end");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_REG_MR, &all), -EINVAL);
	STEP("no queue pair of another transport, and none with receives");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), -EOPNOTSUPP);
	qp.flags = FL_QP_RC;
	qp.recv_cq = n->cq;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), -EOPNOTSUPP);
	qp.flags = FL_QP_NV;
	qp.recv_entries = 4;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), -EINVAL);
	STEP("a card without NetVM's transport has no event counters");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_COUNTER, &c), -EOPNOTSUPP);
	nic_end(n);
}

TEST("what does not go with a shadow is refused")
{
	nic_run(shadow_refuses);
}

static void shadow_pinned(struct rig *r)
{
	struct rig_node *n = shadow_begin(r, 0);
	struct fl_reg_mr mr = { .size = sizeof(mr), .pd = n->pd, .length = 2 * RIG_PAGE,
				.access = RIG_ALL, .flags = FL_MR_PINNED };
	uint64_t entry;

	mr.addr = (uintptr_t)nic_at(n, 4);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_REG_MR, &mr), 0);
	entry = fake_entry(fake_object(mr.key), nic_at(n, 4));
	EXPECT(entry & FL_XP_VALID && entry & FL_XP_WRITE);
	STEP("what the kernel maps beside it, and in it, leaves it as it is");
	rig_fill(n, 8 * RIG_PAGE, 3);
	EXPECT_EQ(fake_entry(fake_object(mr.key), nic_at(n, 4)), entry);
	EXPECT_EQ(fake_entry(fake_object(mr.key), nic_at(n, 6)), 0);
	STEP("the other region has both, also once the pin has ended");
	EXPECT(nic_has(n, 4) && nic_has(n, 6));
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &(struct fl_destroy){
		.size = sizeof(struct fl_destroy), .object = mr.key }), 0);
	EXPECT(nic_has(n, 4) && nic_has(n, 6));
	nic_end(n);
}

TEST("a pinned region is in the card from its beginning, and the kernel's pages do not change it")
{
	nic_run(shadow_pinned);
}

/* The card says that it has put 100 bytes into a slot of the system buffer, for page 3. */
static struct fl_fault_rec divert_rec(struct rig_node *n, uint32_t token)
{
	struct fl_fault_rec rec = nic_rec(n, true, 3, 100);

	rec.kind = FL_FAULT_DIVERT;
	rec.token = token;
	return rec;
}

static void divert_answered(struct rig *r, struct fl_fault_rec rec, uint32_t code)
{
	unsigned int before = fake.copied, i;

	EXPECT(fake_push(r, rec));
	fake_ring(r);
	for (i = 0; i < 1000 && fake.copied == before; i++)
		sim_sleep(SLOW);
	EXPECT_EQ(fake.copied, before + 1);
	EXPECT_EQ(fake.copied_slot, rec.token);
	EXPECT_EQ(fake.copied_code, code);
}

static void divert_refused(struct rig *r)
{
	struct rig_node *n = shadow_begin(r, 4);
	struct fl_fault_rec rec;

	STEP("this card has no system buffer: nothing can be in it");
	divert_answered(r, divert_rec(n, 1), FL_ST_REMOTE_FAULT);
	EXPECT_EQ(rig_counters(n).failed, 1);
	STEP("nor for memory that is in no region");
	rec = divert_rec(n, 2);
	rec.va += RIG_BYTES;
	divert_answered(r, rec, FL_ST_REMOTE_FAULT);
	EXPECT_EQ(rig_counters(n).failed, 2);
	nic_end(n);
}

TEST("what a card says of a system buffer that it has not got is an error, and copies nothing")
{
	nic_run(divert_refused);
}
