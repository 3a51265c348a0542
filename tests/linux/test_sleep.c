// SPDX-License-Identifier: BSD-2-Clause
/*
 * The machine sleeps (suspend to idle) and wakes by its clock, with the card open.
 *
 * Where the SMMU is the driver's, nothing touches it and all goes on. Where Linux's
 * arm-smmu has it, that resets it on waking up, as on a board whose SMMU has lost its
 * power: what was open hears -ENODEV, and what is opened from then on works. It comes
 * last, since arm-smmu then has something to say in the log.
 */
#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)
#define LARGE	(1u << 20)
#define RTC	"/sys/class/rtc/rtc0/wakealarm"

/* Has arm-smmu an SMMU of a card's? */
static bool smmu_is_lent(void)
{
	return access("/sys/bus/platform/drivers/arm-smmu/faultline-smmu.0",
		      F_OK) == 0;
}

static void read_text(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	EXPECT_GE(fd, 0);
	n = read(fd, text, room - 1);
	EXPECT_GE(n, 1);
	text[n] = 0;
	close(fd);
}

/*
 * Documentation/power: whatever wakes the machine between the two accesses of
 * wakeup_count, or later, ends the sleep, also one that has not begun: so the alarm
 * cannot come too early, however slow this is.
 */
static void machine_sleep(void)
{
	char count[32];
	int tries;

	for (tries = 0; tries < RIG_TRIES; tries++) {
		STEP("sleep");
		rig_put(RTC, "0");
		read_text("/sys/power/wakeup_count", count, sizeof(count));
		EXPECT_EQ(rig_put(RTC, "+2"), 0);
		if (rig_put("/sys/power/wakeup_count", count) == 0 &&
		    rig_put("/sys/power/state", "freeze") == 0)
			return;
	}
	EXPECT(!"the machine never slept");
}

/* Status of what was posted last, or a negative errno. */
static int transfer_outcome(void)
{
	int n = fl_wait(rig.src.cq, &rig.done, 1, RIG_WAIT_NS);

	STEP("fl_wait: %d", n);
	rig.taken = n == 1;
	return n == 1 ? rig.done.status : n;
}

/* How many global faults arm-smmu has told the log of. */
static unsigned int global_faults(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	unsigned int found = 0;
	char record[8192];
	ssize_t n;

	EXPECT_GE(fd, 0);
	for (;;) {
		n = read(fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)
			continue;	/* overwritten: on with the next */
		if (n <= 0)
			break;
		record[n] = 0;
		found += strstr(record, "arm-smmu") &&
			 strstr(record, "Unexpected global fault");
	}
	close(fd);
	return found;
}

/* After a reset of the SMMU by arm-smmu: its handler hears of what the card tries. */
static void write_refused(uint8_t *dst)
{
	unsigned int before = global_faults();
	int error;

	rig_post(BYTES, BYTES);
	error = transfer_outcome();
	/* Whichever comes first. */
	EXPECT(error == -ENODEV || error == RIG_LOCAL_FAULT);
	STEP("arm-smmu's handler: a global fault");
	while (global_faults() == before)
		usleep(1000);
	EXPECT(rig_zero(dst + BYTES, BYTES));
	EXPECT_PATTERN(dst, BYTES, 190);
}

/* Nothing is left of those that had the card before. */
static void open_anew(uint64_t seed)
{
	int wanted = smmu_is_lent() ? -ENODEV : 0;

	rig_guards();
	STEP("close both sides");
	EXPECT_EQ(fl_close(rig.src.dev), wanted);
	EXPECT_EQ(fl_close(rig.dst.dev), wanted);
	rig.src.dev = rig.dst.dev = NULL;
	rig_clean();
	STEP("opened anew");
	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, seed);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, seed);
	rig_finish();
}

TEST_MODES(between,
	   "the machine sleeps with the card open: it goes on, or arm-smmu ends it")
{
	uint8_t *src = rig_buffer(2 * BYTES), *dst = rig_buffer(2 * BYTES);

	rig_open(system, FL_RESOLVE_BLOCK);
	rig_fill(src, 2 * BYTES, 190);
	rig_regions(src, 2 * BYTES, dst, 2 * BYTES);
	rig_write(0, BYTES);
	machine_sleep();
	if (smmu_is_lent()) {
		write_refused(dst);
	} else {
		rig_write(BYTES, BYTES);
		EXPECT_PATTERN(dst, 2 * BYTES, 190);
	}
	open_anew(191);
}

TEST_MODES(during,
	   "the machine sleeps in the middle of a transfer: that ends, rightly or by arm-smmu")
{
	int error;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 193);
	rig_post(0, LARGE);
	EXPECT(rig_under_way(&rig.dst, 4));
	machine_sleep();
	error = transfer_outcome();
	if (error)
		EXPECT_EQ(rig_same_or_zero(rig.dst.mem, LARGE, 193, 0), LARGE);
	else
		EXPECT_PATTERN(rig.dst.mem, LARGE, 193);
	/* It may be through before the machine slept; else only arm-smmu ends it. */
	EXPECT(!error || smmu_is_lent());
	open_anew(194);
}
