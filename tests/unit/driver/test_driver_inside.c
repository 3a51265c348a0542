// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parts of the driver by themselves, within the kernel of a board: events of objects that are
 * nobody's, how much may be pinned, copies out of the system buffer that the card names
 * wrongly, a shadow of regions that must not change.
 */
#include "rig/inside.h"

#include <linux/sched/mm.h>

static void inside_row(struct rig_node *n, uint32_t system)
{
	struct fl_policy p = { .size = sizeof(p), .system = system,
			       .resolve = FL_IOC_RESOLVE_PAGE };

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	rig_qp_flags = system == FL_SYSTEM_NETVM ? FL_QP_NV : 0;
	rig_set_up(n, 0);
	rig_qp_flags = 0;
	rig_fill(n, RIG_BYTES, 1);
}

/* ---- events ---- */

static void inside_event(struct inside *in, u32 type, u32 object)
{
	struct fl_eqe e = { .type = type, .object = object };
	unsigned long flags;

	spin_lock_irqsave(&in->dev->irq_lock, flags);
	fl_event_note(in->dev, &e);
	spin_unlock_irqrestore(&in->dev->irq_lock, flags);
}

static void inside_events(struct rig *r)
{
	static const uint32_t of_qp[] = { FL_EV_QP_ERROR, FL_EV_LAST_RECV, FL_EV_QP_HEARD,
					  FL_EV_SQ_DRAINED };
	struct fl_next_event next = { .size = sizeof(next), .timeout_ns = 1000 };
	struct rig_node *n = &r->n[1];
	struct inside in;
	unsigned int i;

	inside_row(n, FL_SYSTEM_PART);
	inside_enter(&in, n, SHIM_IN_TASK);
	STEP("a queue pair that had the place before, and a place of nobody");
	for (i = 0; i < 4; i++) {
		inside_event(&in, of_qp[i], n->qp + 0x100);
		inside_event(&in, of_qp[i], n->qp + 1);
	}
	STEP("queues that there are not, or not any more");
	inside_event(&in, FL_EV_CQ_OVERFLOW, in.dev->max_cq);
	inside_event(&in, FL_EV_CQ_OVERFLOW, n->cq + 1);
	inside_event(&in, FL_EV_SRQ_LIMIT, FL_CARD_SRQS);
	inside_event(&in, FL_EV_SRQ_LIMIT, 1);
	STEP("a kind that the driver does not know");
	inside_event(&in, 0xFF, n->qp);
	EXPECT_EQ(in.ctx->news.end, 0);
	EXPECT(!fl_event_any(in.ctx));
	inside_leave(&in);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_NEXT_EVENT, &next), -ETIMEDOUT);
	STEP("its own: it hears of each");
	inside_enter(&in, n, SHIM_IN_TASK);
	for (i = 0; i < 4; i++)
		inside_event(&in, of_qp[i], n->qp);
	inside_event(&in, FL_EV_CQ_OVERFLOW, n->cq);
	inside_leave(&in);
	for (i = 0; i < 5; i++) {
		next = (struct fl_next_event){ .size = sizeof(next) };
		EXPECT_EQ(rig_ioctl(n, FL_IOC_NEXT_EVENT, &next), 0);
		EXPECT_EQ(next.type, i < 4 ? of_qp[i] : FL_EV_CQ_OVERFLOW);
		EXPECT_EQ(next.object, i < 4 ? n->qp : n->cq);
	}
}

TEST("an event of an object that has gone is nobody's")
{
	rig_run(inside_events);
}

/* ---- how much may be pinned ---- */

static void inside_pins(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct inside in;
	s64 before;

	inside_row(n, FL_SYSTEM_PART);
	inside_enter(&in, n, SHIM_IN_TASK);
	before = atomic64_read(&in.ctx->pinned);
	STEP("more than any file may, at once and by and by");
	EXPECT_EQ(fl_pin_reserve(in.ctx, FL_PIN_PAGES_MAX + 1), -EDQUOT);
	EXPECT_EQ(fl_pin_reserve(in.ctx, FL_PIN_PAGES_MAX), 0);
	EXPECT_EQ(fl_pin_reserve(in.ctx, 1), -EDQUOT);
	EXPECT_EQ(atomic64_read(&in.ctx->pinned), before + FL_PIN_PAGES_MAX);
	fl_pin_give_back(in.ctx, FL_PIN_PAGES_MAX);
	EXPECT_EQ(atomic64_read(&in.ctx->pinned), before);
	EXPECT_EQ(atomic64_read(&in.ctx->mm->pinned_vm), before);
	inside_leave(&in);
}

TEST("a file pins up to its limit, and what is refused is not counted")
{
	rig_run(inside_pins);
}

#define FEW	4u

/* A worker is not the process, and its limit is what the process had. */
static void inside_worker(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct inside in;

	inside_row(n, FL_SYSTEM_PART);
	inside_enter(&in, n, SHIM_IN_TASK);
	STEP("the process, which may have a few");
	EXPECT_EQ(fl_pin_reserve(in.ctx, FEW + 1), -EDQUOT);
	STEP("a worker for it");
	in.task.mm = NULL;
	EXPECT_EQ(fl_pin_reserve(in.ctx, FEW + 1), -EDQUOT);
	EXPECT_EQ(fl_pin_reserve(in.ctx, FEW), 0);
	fl_pin_give_back(in.ctx, FEW);
	STEP("one that was allowed to pin without limit when it opened the file");
	in.ctx->pin_free = true;
	EXPECT_EQ(fl_pin_reserve(in.ctx, FEW + 1), 0);
	fl_pin_give_back(in.ctx, FEW + 1);
	inside_leave(&in);
}

TEST("a worker pins as much as the process may for which it works")
{
	struct host_driver_params p = { .plain_user = true,
					.memlock_bytes = FEW * RIG_PAGE };

	rig_run_with(SIM_LOCKSTEP, &p, inside_worker, NULL);
}

/* ---- the system buffer ---- */

#define SLOT	3u
#define SLOTS	256u
#define SLOT_BYTES 4096u

static int inside_copy(struct inside *in, const struct fl_fault_rec *rec, unsigned int refuse)
{
	int ret;

	EXPECT(mmget_not_zero(in->ctx->mm));
	host_inject_driver_error(refuse);
	ret = fl_divert_copy(in->ctx, rec);
	host_inject_driver_error(0);
	mmput_async(in->ctx->mm);
	return ret;
}

static void inside_diverts(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_fault_rec good, lie;
	uint8_t page[2][RIG_PAGE];
	struct host_mm *mm = host_process_mm(n->process);
	struct inside in;
	u8 *buffer;

	inside_row(n, FL_SYSTEM_NETVM);
	EXPECT_EQ(mm_copy(mm, (uintptr_t)n->buffer, page[0], RIG_PAGE, false), 0);
	good = (struct fl_fault_rec){ .kind = FL_FAULT_DIVERT, .write = 1, .token = SLOT,
				      .va = (uintptr_t)n->buffer + 100, .len = 50 };
	inside_enter(&in, n, SHIM_IN_TASK);
	memset(in.dev->xp.div + SLOT * SLOT_BYTES, 0xA5, SLOT_BYTES);
	STEP("a slot that there is not");
	lie = good;
	lie.token = SLOTS;
	EXPECT_EQ(inside_copy(&in, &lie, 0), -EIO);
	STEP("more than a slot has");
	lie = good;
	lie.len = SLOT_BYTES + 1;
	EXPECT_EQ(inside_copy(&in, &lie, 0), -EIO);
	STEP("more than the page has");
	lie = good;
	lie.va += RIG_PAGE - 120;
	EXPECT_EQ(inside_copy(&in, &lie, 0), -EIO);
	STEP("a page that cannot be had");
	EXPECT_EQ(inside_copy(&in, &good, 1), -ENOMEM);
	STEP("the card has no buffer from this driver");
	buffer = in.dev->xp.div;
	in.dev->xp.div = NULL;
	EXPECT_EQ(inside_copy(&in, &good, 0), -EIO);
	in.dev->xp.div = buffer;
	inside_leave(&in);
	EXPECT_EQ(mm_copy(mm, (uintptr_t)n->buffer, page[1], RIG_PAGE, false), 0);
	EXPECT_MEM(page[1], page[0], RIG_PAGE);
	STEP("what it should say: these bytes change, and no other");
	inside_enter(&in, n, SHIM_IN_TASK);
	EXPECT_EQ(inside_copy(&in, &good, 0), 0);
	inside_leave(&in);
	memset(page[0] + 100, 0xA5, 50);
	EXPECT_EQ(mm_copy(mm, (uintptr_t)n->buffer, page[1], RIG_PAGE, false), 0);
	EXPECT_MEM(page[1], page[0], RIG_PAGE);
}

TEST("a slot or a length of the system buffer that cannot be is not copied")
{
	rig_run(inside_diverts);
}

/* ---- the shadow ---- */

static s64 inside_maps(struct inside *in, uint64_t start, uint64_t bytes)
{
	struct fl_range range = { start, start + bytes };
	s64 before = atomic64_read(&in->ctx->nic.loaded);

	fl_tables_shadow.mapped(in->ctx, range);
	return atomic64_read(&in->ctx->nic.loaded) - before;
}

static void inside_shadow(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_carded *c;
	struct inside in;
	uint64_t va;
	void *pinned;
	int err;

	inside_row(n, FL_SYSTEM_NETVM);
	va = (uintptr_t)n->buffer;
	pinned = host_mmap(n->process, 2 * RIG_PAGE, HOST_READ | HOST_WRITE, NULL, 0, &err);
	EXPECT(pinned);
	rig_reg_mr(n, pinned, 2 * RIG_PAGE, RIG_ALL, FL_MR_PINNED, 0);
	inside_enter(&in, n, SHIM_IN_CALLBACK);
	STEP("pages of a region come, as far as they belong to it");
	EXPECT_EQ(inside_maps(&in, va - RIG_PAGE, 4 * RIG_PAGE), 3);
	EXPECT_EQ(inside_maps(&in, va + RIG_BYTES, RIG_PAGE), 0);
	STEP("what is pinned keeps its frame, whatever is mapped there");
	EXPECT_EQ(inside_maps(&in, (uintptr_t)pinned, 2 * RIG_PAGE), 0);
	STEP("a region that is about to end gets no more");
	list_for_each_entry(c, &in.ctx->nic.regions, list)
		c->ending = true;
	EXPECT_EQ(inside_maps(&in, va, 2 * RIG_PAGE), 0);
	list_for_each_entry(c, &in.ctx->nic.regions, list)
		c->ending = false;
	EXPECT_EQ(inside_maps(&in, va, 2 * RIG_PAGE), 2);
	STEP("nor does a process that leaves the card");
	fl_nic_close(in.ctx);
	EXPECT_EQ(inside_maps(&in, va, 2 * RIG_PAGE), 0);
	inside_leave(&in);
}

TEST("pages that the kernel maps are loaded for regions that are alive and not pinned")
{
	rig_run(inside_shadow);
}
