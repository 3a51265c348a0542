// SPDX-License-Identifier: BSD-2-Clause
/*
 * The card's own tables at the driver's edge: what is loaded for a report, what goes when the
 * kernel takes pages away, and who is answered, against a fake of the card's registers. The
 * oracle is the process's own page tables, walked here.
 *
 * variants: tsan
 */
#include "rig/nic.h"

/* ---- what is loaded ---- */

static void nic_comes(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct fl_counters c;

	STEP("nothing is loaded when a region is registered");
	EXPECT_EQ(fake.pages, 0);
	STEP("a write misses page 3");
	EXPECT_EQ(fake_miss(r, nic_rec(n, true, 3, 100)), 0);
	EXPECT_EQ(nic_count(n), 1);
	EXPECT_EQ(fake_entry(fake_object(n->key), nic_at(n, 3)),
		  nic_walk(n, (uintptr_t)nic_at(n, 3), true) | FL_XP_VALID |
			  FL_XP_WRITE);
	STEP("a packet over the edge of two pages needs both");
	EXPECT_EQ(fake_miss(r, (struct fl_fault_rec){
		.kind = FL_FAULT_RDMA, .side = 1, .write = 1, .qp = n->qp,
		.last = 1, .key = n->key,
		.va = (uintptr_t)nic_at(n, 9) - 10, .len = 20 }), 0);
	EXPECT_EQ(nic_count(n), 3);
	EXPECT(nic_has(n, 8) && nic_has(n, 9));
	STEP("a page that the CPU has is loaded without being brought in");
	rig_fill(n, RIG_PAGE, 1);
	EXPECT_EQ(fake_miss(r, nic_rec(n, false, 0, 8)), 0);
	EXPECT_EQ(nic_count(n), 4);
	c = rig_counters(n);
	EXPECT_EQ(c.faults, 3);
	EXPECT_EQ(c.faults_src, 1);
	EXPECT_EQ(c.faults_dst, 2);
	EXPECT_EQ(c.pages_in, 3);
	EXPECT_EQ(c.loaded, 4);
	EXPECT_EQ(c.failed, 0);
	nic_end(n);
}

TEST("what a report names is in the card's table when its token is answered")
{
	nic_run(nic_comes);
}

static void nic_plans(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_PAGE);
	struct fl_fault_rec rec = nic_rec(n, true, 4, 3 * RIG_PAGE);

	STEP("resolve=page: the first page, whatever the packet needs");
	rec.left = 8 * RIG_PAGE;
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(nic_count(n), 1);
	EXPECT(nic_has(n, 4));
	STEP("resolve=block: the packet");
	nic_policy(n, FL_SYSTEM_NPF, FL_IOC_RESOLVE_BLOCK);
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(nic_count(n), 3);
	STEP("resolve=transfer: all of the message, with one change of the table");
	fake.loads = 0;
	nic_policy(n, FL_SYSTEM_NPF, FL_IOC_RESOLVE_TRANSFER);
	rec.va = (uintptr_t)nic_at(n, 20);
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(nic_count(n), 3 + 11);
	EXPECT_LE(fake.loads, 2);
	STEP("as far as the region goes, and not a page more");
	rec.va = (uintptr_t)nic_at(n, PAGES - 2);
	rec.len = RIG_PAGE;
	rec.left = 1u << 30;
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(nic_count(n), 3 + 11 + 2);
	EXPECT_EQ(fake.pages, 3 + 11 + 2);
	nic_end(n);
}

TEST("how much a report brings is the process's choice")
{
	nic_run(nic_plans);
}

static void nic_around(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct fl_fault_rec rec = nic_rec(n, false, 2, 1);
	uint32_t i;

	rec.kind = FL_FAULT_MEMORY;
	rec.before = 100;
	rec.after = 3;
	STEP("the pages before end with the region");
	EXPECT_EQ(fake_miss(r, rec), 0);
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(nic_has(n, i), i < 6);
	STEP("more than there is, on either side");
	rec.before = ~0u;
	rec.after = ~0u;
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(nic_count(n), PAGES);
	EXPECT_EQ(fake.pages, PAGES);
	STEP("a record with others behind it is not answered");
	rec.last = 0;
	rec.token = 77;
	EXPECT(fake_push(r, rec));
	rec.last = 1;
	rec.token = 78;
	EXPECT(fake_push(r, rec));
	fake_ring(r);
	while (fake_answer(78) < 0)
		sim_sleep(SLOW);
	sim_sleep(10 * SLOW);
	EXPECT_EQ(fake_answer(78), 0);
	EXPECT_EQ(fake_answer(77), -1);
	nic_end(n);
}

TEST("a record of the other kind says how much the card would like around the page")
{
	nic_run(nic_around);
}

/* ---- what is not ---- */

static void nic_fails(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_TRANSFER);
	struct fl_fault_rec rec = nic_rec(n, true, 1, 8);

	STEP("a key that is none, on either side");
	rec.key = n->key ^ 0x1000000;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	rec.side = 0;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_LOCAL_FAULT);
	STEP("a range that the region does not hold");
	rec = nic_rec(n, true, PAGES - 1, RIG_PAGE + 1);
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	rec = nic_rec(n, true, 0, 8);
	rec.va -= 1;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	rec.va = UINT64_MAX - 3;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	rec = nic_rec(n, true, 0, 0);
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	STEP("a slot of nobody, and one that there is not");
	rec = nic_rec(n, true, 0, 8);
	rec.slot = 5;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	rec.slot = 0xfff5;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	STEP("a page that is not mapped");
	EXPECT_EQ(host_munmap(n->process, nic_at(n, 7), RIG_PAGE), 0);
	EXPECT_EQ(fake_miss(r, nic_rec(n, false, 7, 8)), FL_ST_REMOTE_FAULT);
	STEP("its neighbour is, and gets no more");
	rec = nic_rec(n, false, 6, 8);
	rec.left = 8 * RIG_PAGE;
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(nic_count(n), 1);
	STEP("the card's table is full");
	fake.load_error = -ENOSPC;
	EXPECT_EQ(fake_miss(r, nic_rec(n, false, 9, 8)), FL_ST_REMOTE_FAULT);
	EXPECT_EQ(nic_count(n), 1);
	EXPECT_EQ(rig_counters(n).failed, 8);
	nic_end(n);
}

TEST("a report that nothing can be done for is answered with an error")
{
	nic_run(nic_fails);
}

static void nic_rights(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct fl_fault_rec rec = nic_rec(n, true, 1, 8);
	uint32_t key;

	STEP("a region that lets nobody write");
	key = rig_reg_mr(n, nic_at(n, 0), 4 * RIG_PAGE, FL_ACC_REMOTE_READ, 0, 0);
	rec.key = key;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	rec.write = 0;
	rig_fill(n, 4 * RIG_PAGE, 3);
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(fake_entry(fake_object(key), nic_at(n, 1)) & FL_XP_WRITE, 0);
	STEP("one that does, of the same page, has a table of its own");
	EXPECT_EQ(nic_count(n), 0);
	rec.key = n->key;
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(fake_entry(fake_object(n->key), nic_at(n, 1)) & FL_XP_WRITE,
		  FL_XP_WRITE);
	STEP("the process may only read the page: it goes, and comes back so");
	EXPECT_EQ(host_mprotect(n->process, nic_at(n, 1), RIG_PAGE, HOST_READ), 0);
	EXPECT_EQ(fake.pages, 0);
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(fake_entry(fake_object(n->key), nic_at(n, 1)) & FL_XP_WRITE, 0);
	rec.write = 1;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	STEP("and may write again");
	EXPECT_EQ(host_mprotect(n->process, nic_at(n, 1), RIG_PAGE,
				HOST_READ | HOST_WRITE), 0);
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(fake_entry(fake_object(n->key), nic_at(n, 1)) & FL_XP_WRITE,
		  FL_XP_WRITE);
	nic_end(n);
}

TEST("an entry lets the card do what region and mapping both allow")
{
	nic_run(nic_rights);
}

/* ---- what goes ---- */

static void nic_goes(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	uint64_t before = rig_counters(n).zapped;
	uint32_t i, syncs;

	for (i = 0; i < 16; i++)
		EXPECT_EQ(fake_miss(r, nic_rec(n, true, i, 8)), 0);
	STEP("paged out");
	EXPECT_EQ(host_madvise(n->process, nic_at(n, 2), 2 * RIG_PAGE,
			       HOST_PAGEOUT), 0);
	EXPECT(!nic_has(n, 2) && !nic_has(n, 3) && nic_has(n, 1) && nic_has(n, 4));
	nic_agrees(n);
	STEP("dropped");
	EXPECT_EQ(host_madvise(n->process, nic_at(n, 5), RIG_PAGE,
			       HOST_DONTNEED), 0);
	EXPECT(!nic_has(n, 5));
	STEP("unmapped");
	EXPECT_EQ(host_munmap(n->process, nic_at(n, 7), 3 * RIG_PAGE), 0);
	EXPECT_EQ(nic_count(n), 16 - 6);
	EXPECT_EQ(rig_counters(n).zapped - before, 6);
	STEP("what is not loaded is none of the card's business");
	syncs = fake.syncs;
	rig_fill(n, RIG_PAGE, 1);
	EXPECT_EQ(host_munmap(n->process, nic_at(n, 40), 8 * RIG_PAGE), 0);
	EXPECT_EQ(host_madvise(n->process, nic_at(n, 2), RIG_PAGE,
			       HOST_DONTNEED), 0);
	EXPECT_EQ(fake.syncs, syncs);
	STEP("an access flag that is taken away changes nothing");
	EXPECT_EQ(host_madvise(n->process, nic_at(n, 0), 16 * RIG_PAGE,
			       HOST_COLD), -ENOMEM);
	EXPECT_EQ(nic_count(n), 16 - 6);
	nic_agrees(n);
	STEP("the region ends: its table is empty before its number is free");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &(struct fl_destroy){
		.size = sizeof(struct fl_destroy), .object = n->key }), 0);
	EXPECT_EQ(fake.pages, 0);
	nic_end(n);
}

TEST("what the kernel takes away has left the card when the call returns")
{
	nic_run(nic_goes);
}

static void nic_pinned(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	uint32_t key = rig_reg_mr(n, n->buffer, RIG_BYTES, RIG_ALL, FL_MR_PINNED, 0);
	struct fl_fault_rec rec = nic_rec(n, true, 3, 8);
	uint64_t entry;

	STEP("all of it is loaded, with few changes of the table");
	EXPECT_EQ(fake.pages, PAGES);
	EXPECT_LE(fake.loads, 2);
	nic_agrees(n);
	entry = fake_entry(fake_object(key), nic_at(n, 3));
	EXPECT_EQ(entry & FL_XP_WRITE, FL_XP_WRITE);
	STEP("it is not paged out, and a region beside it that is on demand may be");
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(fake.pages, PAGES + 1);
	EXPECT_EQ(host_madvise(n->process, nic_at(n, 3), RIG_PAGE,
			       HOST_DONTNEED), 0);
	EXPECT_EQ(fake_entry(fake_object(key), nic_at(n, 3)), entry);
	EXPECT(!nic_has(n, 3));
	STEP("a report about it loads the same frame, whatever is mapped now");
	rec.key = key;
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(fake_entry(fake_object(key), nic_at(n, 3)), entry);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &(struct fl_destroy){
		.size = sizeof(struct fl_destroy), .object = key }), 0);
	EXPECT_EQ(fake.pages, 0);
	nic_end(n);
}

TEST("what is pinned is loaded at once, and stays")
{
	nic_run(nic_pinned);
}

static void nic_implicit(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct fl_fault_rec rec = nic_rec(n, true, 3, 8);
	uint8_t *more;
	int err;

	STEP("only with tables in the card, and not pinned");
	rec.key = rig_reg_mr(n, NULL, FL_MR_ALL, RIG_ALL, 0, 0);
	rig_reg_mr(n, NULL, FL_MR_ALL, RIG_ALL, FL_MR_PINNED, -EINVAL);
	rig_reg_mr(n, NULL, FL_MR_ALL - 1, RIG_ALL, 0, -EINVAL);
	EXPECT_EQ(fake.pages, 0);
	STEP("what is mapped now, and what is mapped later");
	EXPECT_EQ(fake_miss(r, rec), 0);
	more = host_mmap(n->process, 4 * RIG_PAGE, HOST_READ | HOST_WRITE, NULL, 0,
			 &err);
	rec.va = (uintptr_t)more + RIG_PAGE;
	EXPECT_EQ(fake_miss(r, rec), 0);
	EXPECT_EQ(fake.pages, 2);
	EXPECT(fake_entry(fake_object(rec.key), more + RIG_PAGE));
	nic_agrees(n);
	STEP("nothing is mapped there");
	rec.va = 8 * RIG_PAGE;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	rec.va = (1ull << 48) - 8;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	rec.va = 1ull << 48;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	STEP("and what goes, goes");
	EXPECT_EQ(host_munmap(n->process, more, 4 * RIG_PAGE), 0);
	EXPECT_EQ(fake.pages, 1);
	rec.va = (uintptr_t)more + RIG_PAGE;
	EXPECT_EQ(fake_miss(r, rec), FL_ST_REMOTE_FAULT);
	nic_end(n);
}

TEST("an implicit region is all that the process has and will have")
{
	nic_run(nic_implicit);
}
