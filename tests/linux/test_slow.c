// SPDX-License-Identifier: BSD-2-Clause
/*
 * A page that does not come: the file that it is part of is on a file system whose
 * server does not answer, and belongs to the very process that asks. Then a worker of
 * the driver waits with the process's mmap lock held, and so does whoever else needs
 * that lock. It is this process's own trouble: others open the card, and other
 * devices, and transfer as ever.
 */
#include <sys/syscall.h>

#include "rig/fuse.h"
#include "rig.h"

#define BYTES	(4 * RIG_BLOCK)
#define DIR	"/tmp/slow"

/* What the two processes and the file system's server share. */
struct slow {
	struct rig_shared s;
	struct fuse_test fuse;
};
static struct slow *slow;

enum { OPENING = 1, OVER };

/* ---- the one whose pages do not come ---- */

static void child_slow(void)
{
	struct fl_device *third;
	int arrived[2], fd;
	uint8_t *file, *dst;
	char byte;

	EXPECT_EQ(pipe(arrived), 0);
	slow->fuse.arrived = arrived[1];
	slow->fuse.stuck = FUSE_READ;
	fd = fuse_open(&slow->fuse);
	EXPECT_GE(fd, 0);
	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	file = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	EXPECT((void *)file != MAP_FAILED);
	dst = rig_buffer(BYTES);
	rig_regions(file, BYTES, dst, BYTES);
	rig_post(0, BYTES);
	EXPECT_EQ(read(arrived[0], &byte, 1), 1);
	STEP("a worker waits for the file, and now the process opens the card again");
	slow->s.slot = (uint32_t)syscall(SYS_gettid);
	slow->s.stage = OPENING;
	EXPECT_EQ(fl_open(getenv("FAULTLINE_DEVICE"), &third), 0);
	slow->s.stage = OVER;
	EXPECT_EQ(rig_status(), RIG_LOCAL_FAULT);
	EXPECT_EQ(fl_close(third), 0);
}

/* proc(5), /proc/PID/stat: the letter after the name. */
static char state_of(pid_t process, uint32_t thread)
{
	char path[60], line[200] = "", *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/stat", (int)process,
		 thread);
	f = fopen(path, "r");
	if (f) {
		if (!fgets(line, sizeof(line), f))
			line[0] = 0;
		fclose(f);
	}
	at = strrchr(line, ')');
	return at && at[1] ? at[2] : '?';
}

/* D: it sleeps, whatever signal comes. */
static void await_sleep(pid_t child)
{
	unsigned int asleep = 0;

	rig_await(&slow->s, OPENING);
	while (asleep < 20) {
		usleep(1000);
		asleep = state_of(child, slow->s.slot) == 'D' ? asleep + 1 : 0;
	}
}

/* ---- the others ---- */

static void others_go_on(void)
{
	int fd;

	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 1);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 1);
	rig_finish();
	/* One of those that Linux opens under a lock which all of them share. */
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	EXPECT_GE(fd, 0);
	close(fd);
}

static void end_server(void *arg)
{
	(void)arg;
	if (slow->fuse.server > 0)
		kill(slow->fuse.server, SIGKILL);
}

TEST("who waits for his own page while he opens the card keeps nobody else from it")
{
	pid_t child;

	slow = mmap(NULL, sizeof(*slow), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT((void *)slow != MAP_FAILED);
	mkdir(DIR, 0700);
	snprintf(slow->fuse.dir, sizeof(slow->fuse.dir), "%s", DIR);
	test_cleanup(end_server, NULL);
	child = rig_fork(child_slow);
	await_sleep(child);
	others_go_on();
	EXPECT_EQ(slow->s.stage, OPENING);
	STEP("the file system goes");
	EXPECT_EQ(kill(slow->fuse.server, SIGKILL), 0);
	EXPECT_EQ(rig_wait(child), 0);
	EXPECT_EQ(slow->s.stage, OVER);
}
