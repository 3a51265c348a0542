// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes that end without a word: killed in the middle of a transfer, as the
 * source, as the destination, as both. All that they held comes back.
 */
#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)
#define LARGE	(2u << 20)
#define PAGES	(LARGE / RIG_PAGE)
#define SLOTS	16	/* regs.def: NIC_DB_COUNT */

/* tests/linux/run --short, --long */
#define KILLS		25

static struct rig_shared *shared;
static enum fl_system child_system;

/*
 * A dead process's slot may come back a moment after it was waited for: a worker of
 * the driver that was asking the kernel for its pages still holds the address space,
 * and with it the mappings of the file.
 */
static int open_in_time(struct fl_device **dev)
{
	unsigned int tries;
	int error = -EBUSY;

	for (tries = 0; tries < 1000 && error == -EBUSY; tries++) {
		error = fl_open(getenv("FAULTLINE_DEVICE"), dev);
		if (error)
			usleep(10000);
	}
	return error;
}

/* All slots can be had, which none does while a dead process has one. */
static void every_slot(void)
{
	struct fl_device *dev[SLOTS + 1];
	unsigned int n = 0, i;
	int error = 0, last;

	while (n < SLOTS && !error) {
		error = open_in_time(&dev[n]);
		n += !error;
	}
	last = fl_open(getenv("FAULTLINE_DEVICE"), &dev[SLOTS]);
	for (i = 0; i < n; i++)
		EXPECT_EQ(fl_close(dev[i]), 0);
	EXPECT_EQ(error, 0);
	EXPECT_EQ(n, SLOTS);
	EXPECT_EQ(last, -EBUSY);
}

/* Both sides in one process; it says how far it is. */
static void child_of_both(void)
{
	rig_open(child_system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 110);
	for (;;) {
		EXPECT_EQ(madvise(rig.dst.mem, LARGE, MADV_DONTNEED), 0);
		rig_mark();
		shared->faults = 0;
		rig_post(0, LARGE);
		while (!rig_look())
			shared->faults = rig_since(&rig.dst).faults;
		EXPECT_EQ(rig_status(), 0);
	}
}

/* Kill it, and say whether that was in the middle. */
static bool kill_one(void)
{
	uint64_t last;
	pid_t child;

	shared->faults = 0;
	child = rig_fork(child_of_both);
	while (shared->faults < 16)
		usleep(100);
	last = shared->faults;
	EXPECT_EQ(kill(child, SIGKILL), 0);
	EXPECT_EQ(rig_wait(child), -SIGKILL);
	return last < PAGES && shared->faults < PAGES;
}

TEST_MODES(kill_both,
	   "processes are killed in the middle, again and again: all slots come back")
{
	const char *text = getenv("FAULTLINE_KILLS");
	unsigned int kills = text ? (unsigned int)atoi(text) : KILLS;
	unsigned int i, middle = 0;

	shared = rig_share();
	child_system = system;
	EXPECT_GE(kills, 5);
	for (i = 0; i < kills; i++) {
		alarm(RIG_LIMIT_S);
		middle += kill_one();
	}
	STEP("%u of %u were in the middle", middle, i);
	EXPECT_GE(middle, kills * 4 / 5);
	every_slot();
	STEP("and the card works");
	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 111);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 111);
	EXPECT_EQ(rig_since(&rig.dst).pages_in, BYTES / RIG_PAGE);
	rig_finish();
}

/* Two processes, each of them its own side. */

static void child_receives(void)
{
	struct fl_address peer = shared->qp;

	rig_side_open(&rig.dst, child_system, FL_RESOLVE_PAGE);
	EXPECT_EQ(fl_create_qp(rig.dst.pd, rig.dst.cq, 64, &rig.dst.qp), 0);
	rig.dst.mem = rig_buffer(LARGE);
	EXPECT_EQ(fl_reg_mr(rig.dst.pd, rig.dst.mem, LARGE, FL_REMOTE_WRITE |
			    FL_REMOTE_READ, &rig.dst.mr), 0);
	EXPECT_EQ(fl_connect(rig.dst.qp, &peer), 0);
	EXPECT_EQ(fl_qp_address(rig.dst.qp, &shared->qp), 0);
	shared->va = (uintptr_t)rig.dst.mem;
	shared->rkey = fl_mr_key(rig.dst.mr);
	shared->stage = 1;
	for (;;)
		shared->faults = rig_counters(&rig.dst).faults;
}

static void open_source(enum fl_system system)
{
	struct fl_address peer;

	rig_begin();
	rig_side_open(&rig.src, system, FL_RESOLVE_PAGE);
	EXPECT_EQ(fl_create_qp(rig.src.pd, rig.src.cq, 64, &rig.src.qp), 0);
	rig.src.mem = rig_buffer(LARGE);
	rig_fill(rig.src.mem, LARGE, 112);
	EXPECT_EQ(fl_reg_mr(rig.src.pd, rig.src.mem, LARGE, FL_LOCAL_WRITE,
			    &rig.src.mr), 0);
	EXPECT_EQ(fl_qp_address(rig.src.qp, &peer), 0);
	shared->qp = peer;
}

static void kill_peer(enum fl_system system, enum fl_opcode opcode)
{
	struct fl_work w = { .wr_id = 1, .opcode = opcode, .bytes = LARGE };
	struct fl_completion c;
	struct fl_address peer;
	pid_t child;

	shared = rig_share();
	child_system = system;
	open_source(system);
	child = rig_fork(child_receives);
	rig_await(shared, 1);
	peer = shared->qp;
	EXPECT_EQ(fl_connect(rig.src.qp, &peer), 0);
	w.local = rig.src.mem;
	w.lkey = fl_mr_key(rig.src.mr);
	w.remote = shared->va;
	w.rkey = shared->rkey;
	EXPECT_EQ(fl_post(rig.src.qp, &w), 0);
	while (shared->faults < 16)
		usleep(100);
	EXPECT_EQ(kill(child, SIGKILL), 0);
	EXPECT_EQ(rig_wait(child), -SIGKILL);
	EXPECT_LE(shared->faults, PAGES - 1);
	STEP("the survivor hears of it");
	EXPECT_EQ(fl_wait(rig.src.cq, &c, 1, RIG_WAIT_NS), 1);
	EXPECT_EQ(c.wr_id, 1);
	EXPECT_NE(c.status, 0);
	STEP("status: %s", fl_status_string(c.status));
	if (opcode == FL_WRITE)
		EXPECT_PATTERN(rig.src.mem, LARGE, 112);
	rig_guards();
	EXPECT_EQ(fl_close(rig.src.dev), 0);
	rig.src.dev = NULL;
	every_slot();
}

TEST_MODES(kill_destination,
	   "the destination's process is killed: the source has an error completion")
{
	kill_peer(system, FL_WRITE);
}

TEST_MODES(kill_read_from,
	   "the process that is read from is killed: the reader has an error")
{
	kill_peer(system, FL_READ);
}

/* The address space goes, while another process still has the file. */
static void child_leaves_file(void)
{
	struct fl_mr *pinned;

	rig_open(child_system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 113);
	EXPECT_EQ(fl_reg_mr(rig.dst.pd, rig_buffer(LARGE), LARGE,
			    FL_REMOTE_WRITE | FL_PINNED, &pinned), 0);
	rig_post(0, LARGE);
	while (rig_since(&rig.dst).faults < 16)
		;
	shared->faults = rig_since(&rig.dst).faults;
	/* A child of its own keeps all descriptors and sleeps. */
	if (!fork()) {
		shared->slot = (uint32_t)getpid();
		shared->stage = 1;
		rig_await(shared, 2);
		_exit(0);
	}
	rig_await(shared, 1);
	kill(getpid(), SIGKILL);
}

/*
 * Pages that are pinned, of the whole system. Each processor keeps the last changes
 * to itself, an idle one for as long as it sleeps, unless it is told to hand them in
 * (Documentation/admin-guide/sysctl/vm.rst, stat_refresh).
 */
static int64_t death_pins(void)
{
	EXPECT_EQ(rig_put("/proc/sys/vm/stat_refresh", "1"), 0);
	return rig_number("/proc/vmstat", "nr_foll_pin_acquired") -
	       rig_number("/proc/vmstat", "nr_foll_pin_released");
}

/* Unpinning takes a moment, as a slot does (open_in_time). */
static int64_t pins_in_time(int64_t want)
{
	unsigned int tries;

	for (tries = 0; tries < 1000 && death_pins() != want; tries++)
		usleep(10000);
	return death_pins();
}

TEST_MODES(exit_with_file_open, "the address space ends while a child has the file "
	   "open: transfers end, and it keeps neither slots nor pinned pages")
{
	int64_t before = death_pins();
	unsigned int i;
	pid_t child;

	alarm(RIG_LIMIT_S);
	/* The grandchild is ours when its parent is gone. */
	EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	for (i = 0; i < 4; i++) {
		shared = rig_share();
		child_system = system;
		child = rig_fork(child_leaves_file);
		while (shared->stage < 1)
			usleep(1000);
		EXPECT_EQ(waitpid(child, NULL, 0), child);
		STEP("the child has the files, and nothing of the card");
		every_slot();
		EXPECT_EQ(pins_in_time(before), before);
		shared->stage = 2;
		EXPECT_EQ(rig_wait((pid_t)shared->slot), 0);
	}
	every_slot();
}

/* ---- nothing is left ---- */

/* Free and reclaimable memory, in KB; caches of the system come and go. */
static int64_t death_available(void)
{
	rig_put("/proc/sys/vm/drop_caches", "3");
	return rig_number("/proc/meminfo", "MemAvailable");
}

static int64_t death_slab(void)
{
	return rig_number("/proc/meminfo", "SUnreclaim");
}

/*
 * A kernel with KASAN keeps what was freed for a while, up to a 32nd of memory
 * (QUARANTINE_FRACTION of mm/kasan/quarantine.c). Such a kernel is the debug kernel,
 * where kmemleak looks for what is lost; others see it here.
 */
static int64_t quarantine_kb(void)
{
	char line[256];
	bool kasan = false;
	FILE *f = fopen("/proc/kallsyms", "r");

	EXPECT(f != NULL);
	while (!kasan && fgets(line, sizeof(line), f))
		kasan = strstr(line, " kasan_quarantine_put\n");
	fclose(f);
	return kasan ? rig_number("/proc/meminfo", "MemTotal") / 32 : 0;
}

static void open_and_close(unsigned int times)
{
	unsigned int i;

	for (i = 0; i < times; i++) {
		rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
		if (i % 100 == 0) {
			rig_buffers_for(BYTES, 114);
			rig_write(0, BYTES);
		}
		rig_finish();
		rig_clean();
	}
}

TEST("the card is opened and closed a thousand times, and memory is as before")
{
	int64_t memory_kb, slab_kb;

	/* The first rounds fill caches that stay. */
	open_and_close(50);
	memory_kb = death_available();
	slab_kb = death_slab();
	alarm(RIG_LIMIT_S);
	open_and_close(500);	/* two files each */
	STEP("slab: %" PRId64 " KB more, memory: %" PRId64 " KB less",
	     death_slab() - slab_kb, memory_kb - death_available());
	/* One struct of each file left would be 500 KB, one queue 4 MB. */
	EXPECT_LE(death_slab() - slab_kb, 300 + quarantine_kb());
	EXPECT_LE(memory_kb - death_available(), 2048 + quarantine_kb());
}
