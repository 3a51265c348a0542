// SPDX-License-Identifier: BSD-2-Clause
/*
 * After all the others, in the same guest: did the kernel complain, and did the
 * card interrupt it as it should?
 */
#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)

/* Documentation/admin-guide/tainted-kernels: what a sound kernel never has. */
#define TAINT_BAD_PAGE	(1 << 5)
#define TAINT_DIE	(1 << 7)
#define TAINT_WARN	(1 << 9)
#define TAINT_LOCKUP	(1 << 14)

TEST("the kernel has not warned, died, locked up or found a bad page")
{
	int64_t taint = rig_number("/proc/sys/kernel/tainted", "");

	STEP("tainted: 0x%" PRIx64, taint);
	EXPECT_GE(taint, 0);
	EXPECT_EQ(taint & (TAINT_BAD_PAGE | TAINT_DIE | TAINT_WARN |
			   TAINT_LOCKUP), 0);
}

/*
 * Of the kernel, then of the driver. Not "Call trace:": what is bad says so in
 * words as well, while the OOM killer, which test_group.c calls, prints one too.
 */
static const char *const complaints[] = {
	"WARNING:", "BUG:", "Oops", "Unable to handle", "Internal error",
	"INFO: task", "INFO: rcu", "rcu: INFO", "corruption", "Bad page",
	"refcount_t:", "nobody cared", "no TLB sync", "SMMU global fault",
	"firmware does not answer", "does not close", "the card is gone",
	"Unexpected global fault", "Blocked unknown Stream", "TLB sync timed out",
	"Unhandled context fault",
};

/* The log of the kernel from its begin; one record a read (dev-kmsg). */
static unsigned int find_complaints(char *found, size_t room)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	unsigned int records = 0, i;
	char record[8192];
	ssize_t n;

	EXPECT_GE(fd, 0);
	found[0] = 0;
	for (;;) {
		n = read(fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)
			continue;	/* overwritten: on with the next */
		if (n <= 0)
			break;
		record[n] = 0;
		records++;
		for (i = 0; i < sizeof(complaints) / sizeof(*complaints); i++)
			if (strstr(record, complaints[i]) && !found[0])
				snprintf(found, room, "%.300s", record);
	}
	close(fd);
	return records;
}

TEST("the kernel's log has no complaint, of the kernel itself or of the driver")
{
	char found[400];

	EXPECT_GE(find_complaints(found, sizeof(found)), 20);
	EXPECT_STR(found, "");
}

/* How often the line with this name has come, on all processors. */
static int64_t after_interrupts(const char *name)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[512], *at, *end;
	int64_t sum = -1;

	EXPECT(f != NULL);
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, name) || !(at = strchr(line, ':')))
			continue;
		sum = 0;
		for (at++; ; at = end) {
			int64_t n = strtoll(at, &end, 10);

			if (end == at)
				break;
			sum += n;
		}
	}
	fclose(f);
	return sum;
}

TEST("each of the three interrupts comes when there is a reason for it")
{
	int64_t smmu, fault, event;
	struct fl_completion c;

	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 180);
	smmu = after_interrupts("faultline-smmu");
	fault = after_interrupts("faultline-fault");
	event = after_interrupts("faultline-event");
	EXPECT_GE(smmu, 0);
	rig_write(0, BYTES);
	STEP("faults: smmu %" PRId64 ", engine %" PRId64,
	     after_interrupts("faultline-smmu") - smmu,
	     after_interrupts("faultline-fault") - fault);
	EXPECT_GE(after_interrupts("faultline-smmu") - smmu, 1);
	EXPECT_GE(after_interrupts("faultline-fault") - fault, 1);
	/* One a fault at most, and one more for a level that stayed up. */
	EXPECT_LE(after_interrupts("faultline-fault") - fault,
		  4 * BYTES / RIG_BLOCK);
	STEP("nobody sends: a wait that ends because time is over");
	EXPECT_EQ(fl_wait(rig.src.cq, &c, 1, 1000000), -ETIMEDOUT);
	fault = after_interrupts("faultline-fault");
	event = after_interrupts("faultline-event");
	rig_write(0, BYTES);
	STEP("no faults now");
	EXPECT_EQ(after_interrupts("faultline-fault") - fault, 0);
	EXPECT_LE(after_interrupts("faultline-event") - event, 2);
	rig_finish();
}

/* A sleeper is woken by an event, not by looking. */
TEST("a thread that sleeps for a completion is woken by the event interrupt")
{
	unsigned int tries;
	int64_t event, came = 0;

	rig_open(FL_SYSTEM_PART, FL_RESOLVE_PAGE);
	rig_buffers_for(BYTES, 181);
	for (tries = 0; tries < RIG_TRIES && !came; tries++) {
		EXPECT_EQ(madvise(rig.dst.mem, BYTES, MADV_DONTNEED), 0);
		event = after_interrupts("faultline-event");
		rig_write(0, BYTES);
		came = after_interrupts("faultline-event") - event;
	}
	EXPECT_GE(came, 1);
	rig_finish();
}
