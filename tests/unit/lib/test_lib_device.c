// SPDX-License-Identifier: BSD-2-Clause
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "rig/lib_set.h"

TEST("fl_open gives what the driver says of the card")
{
	struct fl_device_attr a;
	struct fl_device *dev;

	fake_start();
	EXPECT_EQ(fl_open("emu:left", &dev), 0);
	EXPECT_STR(fake.opened, "emu:left");
	EXPECT_EQ(fl_query_device(dev, &a), 0);
	EXPECT_EQ(a.node, 5);
	EXPECT_EQ(a.slot, 3);
	EXPECT_EQ(a.block_bytes, 16384);
	EXPECT_EQ(a.max_qp, FAKE_OBJECTS);
	EXPECT_EQ(a.max_cq, FAKE_OBJECTS);
	EXPECT_EQ(a.max_mr, 99);
	EXPECT_EQ(a.max_queue, 1024);
	EXPECT_EQ(fl_close(dev), 0);
	fake_expect_empty();
}

TEST("fl_open without a name leaves the choice of the card to the system")
{
	struct fl_device *dev;

	fake_start();
	EXPECT_EQ(fl_open(NULL, &dev), 0);
	EXPECT_STR(fake.opened, "(null)");
	EXPECT_EQ(fl_close(dev), 0);
}

TEST("fl_open of a card that is not there is the system's error")
{
	struct fl_device *dev = NULL;

	fake_start();
	fake.open_error = -ENOENT;
	EXPECT_EQ(fl_open("nowhere", &dev), -ENOENT);
	EXPECT(!dev);
	fake_expect_empty();
}

TEST("fl_open refuses a driver of another version")
{
	struct fl_device *dev;

	fake_start();
	fake.abi = FL_ABI_VERSION + 1;
	EXPECT_EQ(fl_open("fake", &dev), -EPROTONOSUPPORT);
	fake_expect_empty();
}

TEST("fl_open that fails half way gives back what it took")
{
	struct fl_device *dev;

	fake_start();
	fake.fail_cmd = FL_IOC_QUERY;
	fake.fail_error = -ENODEV;
	EXPECT_EQ(fl_open("fake", &dev), -ENODEV);
	fake_expect_empty();
	fake.fail_cmd = 0;
	fake.mmap_error = -EAGAIN;
	EXPECT_EQ(fl_open("fake", &dev), -EAGAIN);
	fake_expect_empty();
}

TEST("calls on the device refuse what is not there")
{
	struct fl_fault_counters c;
	struct fl_device_attr a;
	struct fl_device *dev = fake_device();

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_open("fake", NULL), -EINVAL);
	EXPECT_EQ(fl_close(NULL), -EINVAL);
	EXPECT_EQ(fl_query_device(NULL, &a), -EINVAL);
	EXPECT_EQ(fl_query_device(dev, NULL), -EINVAL);
	EXPECT_EQ(fl_query_counters(NULL, &c), -EINVAL);
	EXPECT_EQ(fl_query_counters(dev, NULL), -EINVAL);
	EXPECT_EQ(fl_set_policy(NULL, FL_SYSTEM_STALL, FL_RESOLVE_PAGE),
		  -EINVAL);
}

TEST("fl_set_policy asks the driver for what was meant")
{
	struct fl_device *dev = fake_device();

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_STALL, FL_RESOLVE_PAGE), 0);
	EXPECT_EQ(fake.policy.system, FL_SYSTEM_STALL);
	EXPECT_EQ(fake.policy.resolve, FL_IOC_RESOLVE_PAGE);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_PART, FL_RESOLVE_BLOCK), 0);
	EXPECT_EQ(fake.policy.system, FL_SYSTEM_PART);
	EXPECT_EQ(fake.policy.resolve, FL_IOC_RESOLVE_BLOCK);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_PART, FL_RESOLVE_TRANSFER),
		  0);
	EXPECT_EQ(fake.policy.resolve, FL_IOC_RESOLVE_TRANSFER);
	EXPECT_EQ(fake.policy.number, 0);
}

TEST("fl_set_backup goes with a row that diverts, and fl_set_resolve leaves it as it is")
{
	struct fl_device *dev = fake_device();

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_set_backup(NULL, 16, 16), -EINVAL);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_DROPRING, FL_RESOLVE_BLOCK), 0);
	EXPECT_EQ(fl_set_backup(dev, 16, 16), -EOPNOTSUPP);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_BACKUP, FL_RESOLVE_TRANSFER), 0);
	EXPECT_EQ(fl_set_backup(dev, 16, 9), 0);
	EXPECT_EQ(fake.policy.system, FL_SYSTEM_BACKUP);
	EXPECT_EQ(fake.policy.resolve, FL_IOC_RESOLVE_TRANSFER);
	EXPECT_EQ(fake.policy.ring_slots, 16);
	EXPECT_EQ(fake.policy.ring_bits, 9);
	EXPECT_EQ(fl_set_resolve(dev, FL_RESOLVE_PAGE, 0), 0);
	EXPECT_EQ(fake.policy.ring_slots, 16);
	EXPECT_EQ(fake.policy.ring_bits, 9);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_BACKUP, FL_RESOLVE_BLOCK), 0);
	EXPECT_EQ(fake.policy.ring_slots, 0);
}

TEST("fl_set_resolve leaves the policy as it is, and hands on the number")
{
	struct fl_device *dev = fake_device();

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_STALL, FL_RESOLVE_PAGE), 0);
	EXPECT_EQ(fl_set_resolve(dev, FL_RESOLVE_AROUND, 7), 0);
	EXPECT_EQ(fake.policy.system, FL_SYSTEM_STALL);
	EXPECT_EQ(fake.policy.resolve, FL_IOC_RESOLVE_AROUND);
	EXPECT_EQ(fake.policy.number, 7);
	EXPECT_EQ(fl_set_resolve(NULL, FL_RESOLVE_BLOCK, 0), -EINVAL);
	EXPECT_EQ(fl_set_resolve(dev, (enum fl_resolve)9, 0), -EINVAL);
	EXPECT_EQ(fake.policy.number, 7);
	STEP("what the driver says of it comes back");
	fake.fail_cmd = FL_IOC_POLICY;
	fake.fail_error = -EBUSY;
	EXPECT_EQ(fl_set_resolve(dev, FL_RESOLVE_BLOCK, 0), -EBUSY);
	fake.fail_cmd = FL_IOC_QUERY;
	fake.fail_error = -ENODEV;
	EXPECT_EQ(fl_set_resolve(dev, FL_RESOLVE_BLOCK, 0), -ENODEV);
}

TEST("fl_set_row hands a row on, and fl_set_resolve leaves it as it is")
{
	struct fl_device *dev = fake_device();
	struct fl_system_row row = fl_system_rows[FL_SYSTEM_PART];

	test_cleanup(fake_close_device, dev);
	row.rw = FL_VERDICT_DROP;
	row.before = FL_BEFORE_PREFAULT;
	EXPECT_EQ(fl_set_row(dev, FL_SYSTEM_PART, &row, FL_RESOLVE_PAGE), 0);
	EXPECT_EQ(fake.policy.derived, 1);
	EXPECT_MEM(&fake.policy.row, &row, sizeof(row));
	STEP("the column counts, and not the number");
	EXPECT(dev->prefault);
	EXPECT_EQ(fl_set_resolve(dev, FL_RESOLVE_AROUND, 7), 0);
	EXPECT_EQ(fake.policy.derived, 1);
	EXPECT_MEM(&fake.policy.row, &row, sizeof(row));
	EXPECT_EQ(fake.policy.number, 7);
	STEP("a row of the table again, and no bytes of the other");
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_STALL, FL_RESOLVE_PAGE), 0);
	EXPECT_EQ(fake.policy.derived, 0);
	EXPECT_EQ(fake.policy.row.rw, 0);
	EXPECT(!dev->prefault);
	EXPECT_EQ(fl_set_row(dev, FL_SYSTEM_PART, NULL, FL_RESOLVE_PAGE), -EINVAL);
	EXPECT_EQ(fl_set_row(NULL, FL_SYSTEM_PART, &row, FL_RESOLVE_PAGE), -EINVAL);
	EXPECT_EQ(fl_set_row(dev, FL_SYSTEM_PART, &row, FL_RESOLVE_AROUND), -EINVAL);
}

TEST("fl_set_policy refuses what it does not know and hands on -EBUSY")
{
	struct fl_device *dev = fake_device();
	unsigned int before = fake.ioctls;

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_set_policy(dev, (enum fl_system)FL_SYSTEMS, FL_RESOLVE_PAGE),
		  -EINVAL);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_STALL, FL_RESOLVE_AROUND),
		  -EINVAL);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_STALL, (enum fl_resolve)9),
		  -EINVAL);
	EXPECT_EQ(fake.ioctls, before);
	fake.fail_cmd = FL_IOC_POLICY;
	fake.fail_error = -EBUSY;
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_STALL, FL_RESOLVE_PAGE), -EBUSY);
}

TEST("fl_query_counters puts each count in its place")
{
	struct fl_device *dev = fake_device();
	struct fl_fault_counters c = { 0 };

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_query_counters(dev, &c), 0);
	EXPECT_EQ(c.faults, 100);
	EXPECT_EQ(c.faults_source, 101);
	EXPECT_EQ(c.faults_destination, 102);
	EXPECT_EQ(c.pages_in, 103);
	EXPECT_EQ(c.resolves, 104);
	EXPECT_EQ(c.failed, 105);
	EXPECT_EQ(c.spurious, 106);
	EXPECT_EQ(c.invalidations, 107);
	EXPECT_EQ(c.pinned_pages, 108);
	EXPECT_EQ(c.stalls, 109);
	fake.fail_cmd = FL_IOC_COUNTERS;
	fake.fail_error = -ENODEV;
	EXPECT_EQ(fl_query_counters(dev, &c), -ENODEV);
}

/* Two of everything, left lying about. */
static struct fl_device *full_device(void)
{
	struct fl_device *dev = fake_device();
	static char buffer[64];
	struct fl_pd *pd[2];
	struct fl_cq *cq[2];
	struct fl_mr *mr;
	struct fl_qp *qp;
	int i;

	for (i = 0; i < 2; i++) {
		EXPECT_EQ(fl_alloc_pd(dev, &pd[i]), 0);
		EXPECT_EQ(fl_create_cq(dev, 8, &cq[i]), 0);
		EXPECT_EQ(fl_create_qp(pd[i], cq[i], 8, &qp), 0);
		EXPECT_EQ(fl_create_qp(pd[0], cq[i], 8, &qp), 0);
		EXPECT_EQ(fl_reg_mr(pd[i], buffer, 64, FL_REMOTE_READ, &mr),
			  0);
	}
	return dev;
}

TEST("fl_close ends queue pairs, then queues, regions and domains")
{
	struct fl_device *dev = full_device();

	EXPECT_EQ(fl_close(dev), 0);
	EXPECT_STR(fake.order, "QQQQCCMMPP");
	fake_expect_empty();
}

TEST("fl_close frees its memory even when the driver has gone")
{
	struct fl_device *dev = full_device();

	fake.fail_cmd = FL_IOC_DESTROY_QP;
	fake.fail_error = -ENODEV;
	EXPECT_EQ(fl_close(dev), -ENODEV);
	EXPECT_EQ(fake.maps, 0);
	EXPECT_EQ(fake.fds, 0);
	EXPECT_EQ(fake.live_mr, 0);
}

static void *other_thread(void *arg)
{
	*(const struct fl_sys **)arg = fl_sys_get();
	return NULL;
}

TEST("the table of system calls belongs to the thread that set it")
{
	const struct fl_sys *other = NULL;
	pthread_t t;

	fake_start();
	EXPECT(fl_sys_get() == &fake_sys);
	EXPECT_EQ(pthread_create(&t, NULL, other_thread, &other), 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT(other == &fl_sys_linux);
	fl_sys_set(NULL);
	EXPECT(fl_sys_get() == &fl_sys_linux);
}

TEST("a device keeps the table of the thread that opened it")
{
	struct fl_device *dev = fake_device();

	fl_sys_set(NULL);
	EXPECT_EQ(fl_close(dev), 0);
	EXPECT_EQ(fake.fds, 0);
}

TEST("Linux's table opens, asks and maps real files")
{
	const struct fl_sys *s = &fl_sys_linux;
	uint32_t word = 0;
	int fd, error = 0;

	EXPECT_EQ(s->open("/nonexistent/faultline0"), -ENOENT);
	fd = s->open("/dev/null");
	EXPECT(fd >= 0);
	EXPECT_EQ(s->ioctl(fd, FL_IOC_QUERY, &word), -ENOTTY);
	EXPECT(!s->mmap(fd, 4096, 0, &error));
	EXPECT_EQ(error, -ENODEV);
	EXPECT_EQ(s->close(fd), 0);
	EXPECT_EQ(s->close(fd), -EBADF);
	EXPECT_EQ(s->mmio_write32(&word, 0x12345678), 0);
	EXPECT_EQ(word, 0x12345678);
	EXPECT(s->now_ns() > 0);
	EXPECT_EQ(s->relax(-1), 0);
}

TEST("fl_open on a Linux without the driver says so")
{
	struct fl_device *dev;

	fake_start();
	fl_sys_set(NULL);
	EXPECT_EQ(fl_open("/nonexistent/faultline0", &dev), -ENOENT);
	EXPECT(strstr(fl_open_error(), "/nonexistent/faultline0"));
	EXPECT_EQ(fl_open("/dev/null", &dev), -ENOTTY);
	EXPECT_EQ(fl_open("emu:", &dev), -ENOENT);
	fl_sys_set(&fake_sys);
	EXPECT_EQ(fl_open("emu:a", &dev), 0);
	EXPECT_STR(fl_open_error(), "");
	EXPECT_EQ(fl_close(dev), 0);
}

#define IS_ST(value) value,
#define IS_OP(value)
#define IS_WQE(value)
#define IS_QP(value)
#define IS_ACC(value)
#define IS_EV(value)
#define IS_ENDED(value)
#define IS_CMD(value)
#define IS_SILENT(value)
#define IS_ABORT(value)
#define IS_STATE(value)
#define IS_MOD(value)
#define IS_ROW(value)
#define IS_REPORT(value)
#define IS_FAULT(value)
#define IS_XP(value)
#define IS_BACKUP(value)
#define IS_QUIRK(value)
#define EENUM(group, name, value, text) IS_##group(value)
static const int statuses[] = {
#include "faultline/entries.def"
};

TEST("every status of the contract has words and no other has")
{
	const char *none = fl_status_string(FL_ST_REMOTE_INVALID + 1);
	const int n = sizeof(statuses) / sizeof(statuses[0]);
	int i, j, with = 0;

	EXPECT_STR(fl_status_string(FL_ST_OK), "every byte is in place");
	EXPECT_STR(fl_status_string(FL_ST_FLUSHED),
		   "an earlier work request of the queue pair failed");
	EXPECT_STR(none, "a status that the contract does not know");
	EXPECT_STR(fl_status_string(-1), none);
	EXPECT_STR(fl_status_string(256), none);
	for (i = 0; i < n; i++) {
		EXPECT(strcmp(fl_status_string(statuses[i]), none));
		for (j = 0; j < i; j++)
			EXPECT(strcmp(fl_status_string(statuses[i]),
				      fl_status_string(statuses[j])));
	}
	for (i = 0; i < 256; i++)
		with += strcmp(fl_status_string(i), none) != 0;
	EXPECT_EQ(with, n);
}

TEST("an error has the same words with either sign")
{
	EXPECT_STR(fl_strerror(-EAGAIN),
		   "the queue is full: take completions first");
	EXPECT_STR(fl_strerror(EAGAIN), fl_strerror(-EAGAIN));
	EXPECT_STR(fl_strerror(0), "no error");
	EXPECT_STR(fl_strerror(-EPIPE), strerror(EPIPE));
	EXPECT(fl_strerror(-2147483647 - 1));
}
