// SPDX-License-Identifier: BSD-2-Clause
#include "rig/lib_set.h"

void fake_set_end(void *arg)
{
	struct fake_set *s = arg;

	fl_close(s->dev);
	s->dev = NULL;
}

void fake_set_on(struct fake_set *s, struct fl_device *dev,
		 unsigned int cq_entries, unsigned int qp_entries)
{
	s->dev = dev;
	test_cleanup(fake_set_end, s);
	EXPECT_EQ(fl_alloc_pd(s->dev, &s->pd), 0);
	EXPECT_EQ(fl_create_cq(s->dev, cq_entries, &s->cq), 0);
	EXPECT_EQ(fl_create_qp(s->pd, s->cq, qp_entries, &s->qp), 0);
	EXPECT_EQ(fl_reg_mr(s->pd, s->buffer, sizeof(s->buffer),
			    FL_LOCAL_WRITE, &s->mr), 0);
}

int fake_post(struct fake_set *s, uint64_t wr_id, int unsignaled)
{
	struct fl_work w = {
		.wr_id = wr_id,
		.opcode = FL_WRITE,
		.local = s->buffer,
		.lkey = fl_mr_key(s->mr),
		.remote = 0x1000,
		.rkey = 9,
		.bytes = 16,
		.unsignaled = unsignaled,
	};

	return fl_post(s->qp, &w);
}

void fake_expect_empty(void)
{
	unsigned int i;

	EXPECT_EQ(fake.fds, 0);
	EXPECT_EQ(fake.maps, 0);
	EXPECT_EQ(fake.live_pd, 0);
	EXPECT_EQ(fake.live_mr, 0);
	EXPECT_EQ(fake.imported, 0);
	for (i = 0; i < FAKE_OBJECTS; i++) {
		EXPECT(!fake.cq[i].used);
		EXPECT(!fake.qp[i].used);
	}
}
