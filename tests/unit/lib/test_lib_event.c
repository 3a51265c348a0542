// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events in the library, alone: a list of what the driver would say stands in for it. Each is
 * given with the program's own object, and what is said of an object that has gone is passed
 * over.
 */
#include <errno.h>

#include "rig/lib_set.h"

#define SRQ_PLACE	(1ull << 40)	/* the offset of its queue */
#define SRQS		4

static struct fake_set s;
static struct fl_next_event list[8];
static unsigned int listed, told;
static uint64_t patience_ns;
static bool srq_is[SRQS];
static struct fl_rqe srq_queue[SRQS][64];
static unsigned int srqs;
/* What goes wrong with a shared queue: of its beginning, mapping and end; its number. */
static int srq_error, srq_map_error, srq_end_error;
static uint32_t srq_from;

static int list_next(struct fl_next_event *n)
{
	patience_ns = n->timeout_ns;
	if (told == listed)
		return -ETIMEDOUT;
	n->type = list[told].type;
	n->object = list[told].object;
	n->data = list[told++].data;
	return 0;
}

static int list_srq(struct fl_create_srq *c)
{
	unsigned int i;

	if (srq_error)
		return srq_error;
	for (i = 0; srq_is[i]; i++)
		EXPECT(i + 1 < SRQS);
	srq_is[i] = true;
	c->srq = srq_from + i;
	c->entries = 64;
	c->mmap_offset = SRQ_PLACE;
	c->mmap_bytes = sizeof(srq_queue[0]);
	return 0;
}

static int list_ioctl(int fd, unsigned int cmd, void *arg)
{
	switch (cmd) {
	case FL_IOC_NEXT_EVENT:
		return list_next(arg);
	case FL_IOC_CREATE_SRQ:
		return list_srq(arg);
	case FL_IOC_DESTROY_SRQ:
		if (!srq_end_error)
			srq_is[((struct fl_destroy *)arg)->object - srq_from] = false;
		return srq_end_error;
	}
	return fake_ioctl(fd, cmd, arg);
}

static void *list_mmap(int fd, size_t bytes, uint64_t offset, int *error)
{
	if (offset != SRQ_PLACE)
		return fake_sys.mmap(fd, bytes, offset, error);
	EXPECT_EQ(bytes, sizeof(srq_queue[0]));
	*error = srq_map_error;
	if (srq_map_error)
		return NULL;
	fake.maps++;
	return srq_queue[srqs++ % SRQS];
}

static void event_start(void)
{
	static struct fl_sys sys;
	struct fl_device *dev;

	fake_start();
	sys = fake_sys;
	sys.ioctl = list_ioctl;
	sys.mmap = list_mmap;
	fl_sys_set(&sys);
	listed = told = 0;
	srq_error = srq_map_error = srq_end_error = 0;
	srq_from = 0;
	memset(srq_is, 0, sizeof(srq_is));
	EXPECT_EQ(fl_open("fake", &dev), 0);
	fake_set_on(&s, dev, 128, 128);
}

static uint32_t qp_number(struct fl_qp *qp)
{
	struct fl_address a;

	EXPECT_EQ(fl_qp_address(qp, &a), 0);
	return a.qpn;
}

static void event_say(uint32_t type, uint32_t object, uint32_t data)
{
	list[listed++] = (struct fl_next_event){ .type = type, .object = object,
						 .data = data };
}

/* The next event, of that type. */
static struct fl_event event_next(enum fl_event_type type)
{
	struct fl_event e;

	EXPECT_EQ(fl_next_event(s.dev, &e, 5), 0);
	EXPECT_EQ(e.type, type);
	EXPECT_EQ(patience_ns, 5);
	return e;
}

TEST("an event without a place for it, or of no device, is refused")
{
	struct fl_event e;

	event_start();
	EXPECT_EQ(fl_next_event(NULL, &e, 0), -EINVAL);
	EXPECT_EQ(fl_next_event(s.dev, NULL, 0), -EINVAL);
	EXPECT_EQ(fl_next_event(s.dev, &e, 0), -ETIMEDOUT);
}

TEST("the end of a queue pair comes with the status that ended it, and whether that was told")
{
	struct fl_event e;

	event_start();
	event_say(FL_EV_QP_ERROR, qp_number(s.qp), FL_ST_REMOTE_QP);
	event_say(FL_EV_QP_ERROR, qp_number(s.qp),
		  FL_ST_LOCAL_FAULT | FL_ENDED_UNTOLD);
	e = event_next(FL_EVENT_QP_ERROR);
	EXPECT(e.qp == s.qp && !e.cq && !e.srq);
	EXPECT_EQ(e.qpn, qp_number(s.qp));
	EXPECT_EQ(e.status, FL_ST_REMOTE_QP);
	EXPECT_EQ(e.untold, 0);
	e = event_next(FL_EVENT_QP_ERROR);
	EXPECT_EQ(e.status, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(e.untold, 1);
}

TEST("each kind of event names the object that it is about")
{
	struct fl_srq *one, *two;
	struct fl_qp *more;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_event e;

	event_start();
	STEP("two of each, in two domains: none of the first found is always right");
	EXPECT_EQ(fl_alloc_pd(s.dev, &pd), 0);
	EXPECT_EQ(fl_create_cq(s.dev, 64, &cq), 0);
	EXPECT_EQ(fl_create_qp(pd, cq, 64, &more), 0);
	EXPECT_EQ(fl_create_srq(s.pd, 64, &one), 0);
	EXPECT_EQ(fl_create_srq(pd, 64, &two), 0);
	event_say(FL_EV_LAST_RECV, qp_number(s.qp), 0);
	event_say(FL_EV_QP_HEARD, qp_number(more), 0);
	event_say(FL_EV_SQ_DRAINED, qp_number(s.qp), 0);
	event_say(FL_EV_CQ_OVERFLOW, 0, 0);
	event_say(FL_EV_CQ_OVERFLOW, 1, 0);
	event_say(FL_EV_SRQ_LIMIT, 0, 0);
	event_say(FL_EV_SRQ_LIMIT, 1, 0);
	EXPECT(event_next(FL_EVENT_LAST_RECV).qp == s.qp);
	EXPECT(event_next(FL_EVENT_QP_HEARD).qp == more);
	EXPECT(event_next(FL_EVENT_SQ_DRAINED).qp == s.qp);
	e = event_next(FL_EVENT_CQ_OVERFLOW);
	EXPECT(e.cq == s.cq && !e.qp && !e.srq && !e.qpn);
	EXPECT(event_next(FL_EVENT_CQ_OVERFLOW).cq == cq);
	e = event_next(FL_EVENT_SRQ_LIMIT);
	EXPECT(e.srq == one && !e.qp && !e.cq);
	EXPECT(event_next(FL_EVENT_SRQ_LIMIT).srq == two);
	EXPECT_EQ(fl_destroy_srq(one), 0);
	EXPECT_EQ(fl_destroy_srq(two), 0);
}

TEST("what is said of objects that have gone, or of no known kind, is passed over")
{
	struct fl_event e;
	struct fl_srq *srq;
	uint32_t gone;

	event_start();
	gone = qp_number(s.qp);
	event_say(FL_EV_QP_ERROR, gone + 1, 1);
	event_say(FL_EV_CQ_OVERFLOW, 9, 0);
	event_say(FL_EV_SRQ_LIMIT, 3, 0);
	event_say(99, gone, 0);
	event_say(FL_EV_QP_HEARD, gone, 0);
	EXPECT(event_next(FL_EVENT_QP_HEARD).qp == s.qp);
	EXPECT_EQ(fl_create_srq(s.pd, 64, &srq), 0);
	EXPECT_EQ(fl_destroy_srq(srq), 0);
	EXPECT_EQ(fl_destroy_qp(s.qp), 0);
	event_say(FL_EV_SRQ_LIMIT, 0, 0);
	event_say(FL_EV_QP_ERROR, gone, 1);
	EXPECT_EQ(fl_next_event(s.dev, &e, 5), -ETIMEDOUT);
	EXPECT_EQ(told, listed);
}

TEST("a shared queue that the driver refuses, or makes with senseless numbers, is not there")
{
	struct fl_srq *srq = NULL;

	event_start();
	EXPECT_EQ(fl_create_srq(NULL, 64, &srq), -EINVAL);
	EXPECT_EQ(fl_create_srq(s.pd, 64, NULL), -EINVAL);
	EXPECT_EQ(fl_create_srq(s.pd, 0, &srq), -EINVAL);
	EXPECT_EQ(fl_create_srq(s.pd, 1u << 30, &srq), -EINVAL);
	EXPECT(!srq);
	EXPECT_EQ(fl_create_srq(s.pd, 64, &srq), 0);
	EXPECT_EQ(fl_limit_srq(NULL, 1), -EINVAL);
	EXPECT_EQ(fl_limit_srq(srq, 65), -EINVAL);
	EXPECT_EQ(fl_post_srq_recv(NULL, NULL), -EINVAL);
	EXPECT_EQ(fl_post_srq_recv(srq, NULL), -EINVAL);
	EXPECT_EQ(fl_destroy_srq(NULL), -EINVAL);
	EXPECT_EQ(fl_destroy_srq(srq), 0);
	EXPECT(!srq_is[0]);
}

static bool srq_any(void)
{
	unsigned int i;

	for (i = 0; i < SRQS; i++)
		if (srq_is[i])
			return true;
	return false;
}

TEST("a shared queue that cannot be made leaves nothing, and one that does not end stays")
{
	struct fl_srq *srq = NULL;
	int maps;

	event_start();
	maps = fake.maps;
	EXPECT_EQ(fl_create_srq(NULL, 64, &srq), -EINVAL);
	EXPECT_EQ(fl_create_srq(s.pd, 64, NULL), -EINVAL);
	EXPECT_EQ(fl_create_srq(s.pd, 0, &srq), -EINVAL);
	EXPECT_EQ(fl_destroy_srq(NULL), -EINVAL);
	srq_error = -ENOSPC;
	EXPECT_EQ(fl_create_srq(s.pd, 64, &srq), -ENOSPC);
	srq_error = 0;
	srq_map_error = -ENOMEM;
	EXPECT_EQ(fl_create_srq(s.pd, 64, &srq), -ENOMEM);
	EXPECT(!srq_any());
	srq_map_error = 0;
	STEP("a number that no doorbell could carry");
	srq_from = 1u << 16;
	EXPECT_EQ(fl_create_srq(s.pd, 64, &srq), -EPROTO);
	EXPECT(!srq_any());
	EXPECT(!srq);
	EXPECT_EQ(fake.maps, maps);
	srq_from = 0;
	EXPECT_EQ(fl_create_srq(s.pd, 64, &srq), 0);
	srq_end_error = -EBUSY;
	EXPECT_EQ(fl_destroy_srq(srq), -EBUSY);
	EXPECT_EQ(fake.maps, maps + 1);
	srq_end_error = 0;
	EXPECT_EQ(fl_destroy_srq(srq), 0);
	EXPECT_EQ(fake.maps, maps);
}
