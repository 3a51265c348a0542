// SPDX-License-Identifier: BSD-2-Clause
/*
 * The card goes and comes back while processes open its file, ask it something and
 * close it. Whoever is too late hears ENODEV; nobody uses what has gone.
 *
 * variants: tsan
 */
#include <stdatomic.h>

#include "rig/driver.h"

#define VISITORS 3u

struct visit {
	struct host_process *process;
	struct sim_thread *thread;
	atomic_bool over;
	unsigned int opened, late, refused;
};

/* Too late is no error: the card had gone. */
static void visit_heard(struct visit *v, long err)
{
	if (err == -ENODEV)
		v->late++;
	else
		EXPECT_EQ(err, 0);
}

static void visit_card(struct visit *v)
{
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	int fd = host_open(v->process, "faultline0"), err;
	void *page;

	if (fd < 0) {
		EXPECT_EQ(fd, -ENODEV);
		v->refused++;
		sim_sleep(500);
		return;
	}
	v->opened++;
	visit_heard(v, host_ioctl(v->process, fd, FL_IOC_ALLOC_PD, &pd));
	page = host_mmap_fd(v->process, fd, RIG_PAGE, FL_MMAP_DOORBELL, &err);
	visit_heard(v, page ? 0 : err);
	err = host_poll(v->process, fd, 700);
	EXPECT(err == 0 || err == -ETIMEDOUT || err == -ENODEV);
	if (page)
		EXPECT_EQ(host_munmap_fd(v->process, page, RIG_PAGE), 0);
	EXPECT_EQ(host_close(v->process, fd), 0);
}

static void visit_many(void *arg)
{
	struct visit *v = arg;

	/* One that the machine let start last finds the card when all is over. */
	while (!v->over || v->opened == 0)
		visit_card(v);
}

/* Two visitors of one process, and one of another. */
static void come_and_go(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct visit v[VISITORS] = { 0 };
	struct host_process *other;
	unsigned int i;
	int err;

	other = host_process_create(n->kernel, "other", &err);
	EXPECT(other);
	for (i = 0; i < VISITORS; i++) {
		v[i].process = i ? n->process : other;
		v[i].thread = host_thread_start(v[i].process, "visit",
						visit_many, &v[i]);
	}
	for (i = 0; i < 50; i++) {
		sim_sleep(2000 + i * 371);
		host_driver_remove(n->kernel);
		sim_sleep(i * 53);
		EXPECT_EQ(host_driver_probe(n->kernel, NULL), 0);
	}
	for (i = 0; i < VISITORS; i++) {
		v[i].over = true;
		sim_thread_join(v[i].thread);
		STEP("%u opened, %u late, %u refused", v[i].opened, v[i].late,
		     v[i].refused);
		EXPECT_GE(v[i].opened, 1);
	}
	host_process_exit(other);
}

TEST("processes come while the card goes")
{
	rig_run(come_and_go);
}

TEST("processes come while the card goes, threads")
{
	struct host_driver_params p = { 0 };

	rig_run_with(SIM_THREADS, &p, come_and_go, NULL);
}
