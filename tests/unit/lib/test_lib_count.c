// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event counters in the library, alone: a table of system calls plays driver and card, whose
 * counter rises when a test says so. variants: tsan
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "harness.h"
#include "faultline.h"
#include "faultline/entries.h"
#include "faultline/regs.h"
#include "faultline/uapi.h"
#include "lib_internal.h"

static struct fake {
	struct fl_count word;
	_Alignas(4096) unsigned char doorbell[4096];
	pthread_mutex_t lock;
	pthread_cond_t rose;
	bool alive, event, armed;
	unsigned int waits, arms, relaxes, rise_at_relax;
	int wait_error, create_error, relax_error, map_error, destroy_error, thread_error;
	unsigned int spent[FL_SYS_SEMAPHORE + 1];
	uint32_t number;
	uint64_t map_bytes, now_ns;
} fake;

static void fake_rise(void)
{
	pthread_mutex_lock(&fake.lock);
	__atomic_fetch_add(&fake.word.count, 1, __ATOMIC_RELEASE);
	fake.event |= fake.armed;
	fake.armed = false;
	pthread_cond_broadcast(&fake.rose);
	pthread_mutex_unlock(&fake.lock);
}

static int fake_open(const char *name)
{
	(void)name;
	return 7;
}

static int fake_close(int fd)
{
	return fd == 7 ? 0 : -EBADF;
}

/* As the driver: until there is an event, or the counter ends. */
static int fake_wait(const struct fl_wait_counter *w)
{
	int error = fake.wait_error;

	EXPECT_EQ(w->counter, fake.number);
	pthread_mutex_lock(&fake.lock);
	fake.waits++;
	while (!error && !fake.event && fake.alive && !w->timeout_ns)
		pthread_cond_wait(&fake.rose, &fake.lock);
	if (!error && !fake.event)
		error = fake.alive ? -ETIMEDOUT : -ENOENT;
	if (error == -ETIMEDOUT)
		fake.now_ns += w->timeout_ns;
	fake.event = false;
	pthread_mutex_unlock(&fake.lock);
	return error;
}

static int fake_ioctl(int fd, unsigned int cmd, void *arg)
{
	struct fl_create_counter *c = arg;
	struct fl_query *q = arg;

	EXPECT_EQ(fd, 7);
	switch (cmd) {
	case FL_IOC_QUERY:
		q->abi = FL_ABI_VERSION;
		q->max_queue = 64;
		return 0;
	case FL_IOC_CREATE_COUNTER:
		if (fake.create_error)
			return fake.create_error;
		c->counter = fake.number;
		c->mmap_offset = 4096;
		c->mmap_bytes = fake.map_bytes;
		fake.alive = true;
		return 0;
	case FL_IOC_DESTROY_COUNTER:
		EXPECT_EQ(((struct fl_destroy *)arg)->object, fake.number);
		if (fake.destroy_error)
			return fake.destroy_error;
		pthread_mutex_lock(&fake.lock);
		fake.alive = false;
		pthread_cond_broadcast(&fake.rose);
		pthread_mutex_unlock(&fake.lock);
		return 0;
	case FL_IOC_WAIT_COUNTER:
		return fake_wait(arg);
	}
	return -EINVAL;
}

static void *fake_mmap(int fd, size_t bytes, uint64_t offset, int *error)
{
	(void)fd;
	(void)bytes;
	if (offset == FL_MMAP_DOORBELL)
		return fake.doorbell;
	*error = fake.map_error;
	return fake.map_error ? NULL : &fake.word;
}

static int fake_munmap(void *addr, size_t bytes)
{
	(void)addr;
	(void)bytes;
	return 0;
}

static int fake_doorbell(volatile void *addr, uint32_t value)
{
	EXPECT_EQ((volatile unsigned char *)addr - fake.doorbell, NIC_DB_COUNTER_ARM);
	EXPECT_EQ(value & 0xffff, fake.number);
	pthread_mutex_lock(&fake.lock);
	fake.arms++;
	/* entries.def: what was not seen makes an event at once. */
	fake.armed = value >> 16 == (fake.word.count & 0xffff);
	fake.event |= !fake.armed;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int fake_relax(int fd)
{
	(void)fd;
	fake.now_ns += 10;
	if (++fake.relaxes == fake.rise_at_relax)
		fake_rise();
	return fake.relax_error;
}

static uint64_t fake_now(void)
{
	return fake.now_ns;
}

static void fake_spend(int fd, int what)
{
	(void)fd;
	EXPECT(what >= 0 && what <= FL_SYS_SEMAPHORE);
	fake.spent[what]++;
}

static int fake_thread(void (*fn)(void *arg), void *arg, void **thread)
{
	return fake.thread_error ? fake.thread_error : fl_sys_thread(fn, arg, thread);
}

static const struct fl_sys table = {
	.open = fake_open, .close = fake_close, .ioctl = fake_ioctl, .mmap = fake_mmap,
	.munmap = fake_munmap, .mmio_write32 = fake_doorbell, .relax = fake_relax,
	.spend = fake_spend, .now_ns = fake_now,
	.thread = fake_thread, .thread_join = fl_sys_thread_join,
};

static struct fl_device *dev;
static struct fl_counter *c;

static void count_end(void *unused)
{
	(void)unused;
	if (dev)
		EXPECT_EQ(fl_close(dev), 0);
	dev = NULL;
	fl_sys_set(NULL);
}

static void count_start_on(const struct fl_sys *sys)
{
	memset(&fake, 0, sizeof(fake));
	pthread_mutex_init(&fake.lock, NULL);
	pthread_cond_init(&fake.rose, NULL);
	fake.number = 77;
	fake.map_bytes = 4096;
	fl_sys_set(sys);
	test_cleanup(count_end, NULL);
	EXPECT_EQ(fl_open("x", &dev), 0);
	EXPECT_EQ(fl_create_counter(dev, &c), 0);
	EXPECT_EQ(fl_counter_number(c), 77);
}

static void count_start(void)
{
	count_start_on(&table);
}

TEST("what has been reached needs no wait, also where the counter goes round")
{
	count_start();
	fake.word.count = 5;
	EXPECT_EQ(fl_counter_read(c), 5);
	EXPECT_EQ(fl_counter_wait(c, 5, 0, 0), 0);
	EXPECT_EQ(fl_counter_wait(c, 4, 1, 0), 0);
	fake.word.count = 2;
	EXPECT_EQ(fl_counter_wait(c, 0xFFFFFFFF, 0, 0), 0);
	EXPECT_EQ(fake.waits + fake.arms + fake.relaxes, 0);
}

TEST("busy, it is looked at again and again; asleep, armed with what was seen")
{
	count_start();
	fake.rise_at_relax = 20;
	EXPECT_EQ(fl_counter_wait(c, 1, 1, 0), 0);
	EXPECT_EQ(fake.relaxes, 20);
	EXPECT_EQ(fake.waits, 0);
	EXPECT_EQ(fl_counter_wait(c, 2, 1, 1000), -ETIMEDOUT);
	EXPECT_EQ(fl_counter_wait(c, 2, 0, 1000), -ETIMEDOUT);
	EXPECT_EQ(fake.arms, 1);
	EXPECT_EQ(fake.waits, 1);
	fake.wait_error = -EINTR;
	EXPECT_EQ(fl_counter_wait(c, 2, 0, 0), -EINTR);
	fake.relax_error = -ENODEV;
	EXPECT_EQ(fl_counter_wait(c, 2, 1, 0), -ENODEV);
}

static void *counter_sleep_on(void *arg)
{
	*(int *)arg = fl_counter_wait(c, 3, 0, 0);
	return NULL;
}

TEST("who sleeps wakes when it has risen so far, and not before")
{
	int answer = 1, i;
	pthread_t t;

	count_start();
	EXPECT_EQ(pthread_create(&t, NULL, counter_sleep_on, &answer), 0);
	for (i = 0; i < 3; i++)
		fake_rise();
	pthread_join(t, NULL);
	EXPECT_EQ(answer, 0);
}

static _Atomic uint32_t told;

static void handler_note(void *arg, uint32_t count)
{
	EXPECT_EQ(arg, &told);
	EXPECT(count > told);
	told = count;
}

TEST("a handler hears of what has risen, in a thread of the library, until the counter ends")
{
	count_start();
	told = 0;
	EXPECT_EQ(fl_on_count(c, NULL, NULL), -EINVAL);
	EXPECT_EQ(fl_on_count(c, handler_note, &told), 0);
	EXPECT_EQ(fl_on_count(c, handler_note, &told), -EBUSY);
	fake_rise();
	fake_rise();
	while (told < 2)
		sched_yield();
	EXPECT_EQ(fl_destroy_counter(c), 0);
	EXPECT_EQ(told, 2);
}

TEST("a wait queue wakes once for all that has risen; a semaphore has a unit for each")
{
	struct fl_wait_queue q = { .counter = NULL };
	struct fl_semaphore s = { .counter = NULL };

	count_start();
	EXPECT_EQ(fl_wait_queue_wait(&q, 0, 0), -EINVAL);
	EXPECT_EQ(fl_semaphore_try(&s), -EINVAL);
	q.counter = s.counter = c;
	EXPECT_EQ(fl_semaphore_try(&s), -EAGAIN);
	EXPECT_EQ(fl_wait_queue_wait(&q, 0, 10), -ETIMEDOUT);
	fake_rise();
	fake_rise();
	EXPECT_EQ(fl_wait_queue_wait(&q, 0, 10), 0);
	EXPECT_EQ(fl_wait_queue_wait(&q, 0, 10), -ETIMEDOUT);
	EXPECT_EQ(fl_semaphore_take(&s, 0, 10), 0);
	EXPECT_EQ(fl_semaphore_try(&s), 0);
	EXPECT_EQ(fl_semaphore_try(&s), -EAGAIN);
	EXPECT_EQ(fl_semaphore_take(&s, 1, 100), -ETIMEDOUT);
	fake.rise_at_relax = fake.relaxes + 3;
	EXPECT_EQ(fl_semaphore_take(&s, 1, 100), 0);
	STEP("what has been done costs, and what was in vain does not");
	EXPECT_EQ(fake.spent[FL_SYS_QUEUE], 1);
	EXPECT_EQ(fake.spent[FL_SYS_SEMAPHORE], 3);
}

TEST("what makes no sense is refused, from the program and from the driver")
{
	struct fl_counter *other;

	count_start();
	EXPECT_EQ(fl_create_counter(NULL, &other), -EINVAL);
	EXPECT_EQ(fl_create_counter(dev, NULL), -EINVAL);
	EXPECT_EQ(fl_destroy_counter(NULL), -EINVAL);
	EXPECT_EQ(fl_counter_wait(NULL, 1, 0, 0), -EINVAL);
	EXPECT_EQ(fl_counter_number(NULL) + fl_counter_read(NULL), 0);
	fake.create_error = -EOPNOTSUPP;
	EXPECT_EQ(fl_create_counter(dev, &other), -EOPNOTSUPP);
	fake.create_error = 0;
	EXPECT_EQ(fl_destroy_counter(c), 0);
	fake.number = 70000;
	EXPECT_EQ(fl_create_counter(dev, &other), -EPROTO);
	fake.number = 5;
	fake.map_bytes = 4;
	EXPECT_EQ(fl_create_counter(dev, &other), -EPROTO);
}

TEST("a counter that cannot be had leaves nothing, and one that does not end stays")
{
	struct fl_counter *other = NULL;

	count_start();
	EXPECT_EQ(fl_destroy_counter(c), 0);
	fake.map_error = -ENOMEM;
	EXPECT_EQ(fl_create_counter(dev, &other), -ENOMEM);
	EXPECT(!fake.alive);
	fake.map_error = 0;
	fake.number = 0;
	EXPECT_EQ(fl_create_counter(dev, &other), -EPROTO);
	EXPECT(!fake.alive);
	EXPECT(!other);
	fake.number = 65535;
	EXPECT_EQ(fl_create_counter(dev, &other), 0);
	fake.destroy_error = -EIO;
	EXPECT_EQ(fl_destroy_counter(other), -EIO);
	EXPECT_EQ(fl_counter_number(other), 65535);
	fake.destroy_error = 0;
	EXPECT_EQ(fl_destroy_counter(other), 0);
	EXPECT(!fake.alive);
}

TEST("a handler that gets no thread is not there, and can be asked for again")
{
	count_start();
	EXPECT_EQ(fl_on_count(NULL, handler_note, &told), -EINVAL);
	fake.thread_error = -EAGAIN;
	EXPECT_EQ(fl_on_count(c, handler_note, &told), -EAGAIN);
	fake.thread_error = 0;
	told = 0;
	EXPECT_EQ(fl_on_count(c, handler_note, &told), 0);
	EXPECT_EQ(fl_destroy_counter(c), 0);
	EXPECT_EQ(told, 0);
}

TEST("without clock, threads and accounts a counter counts all the same")
{
	static struct fl_sys bare;
	struct fl_wait_queue q;
	struct fl_semaphore s;

	bare = table;
	bare.thread = NULL;
	bare.spend = NULL;
	bare.now_ns = NULL;
	count_start_on(&bare);
	EXPECT_EQ(fl_on_count(c, handler_note, &told), -EOPNOTSUPP);
	fake.rise_at_relax = 3;
	EXPECT_EQ(fl_counter_wait(c, 1, 1, 0), 0);
	EXPECT_EQ(fake.relaxes, 3);
	q = (struct fl_wait_queue){ .counter = c };
	s = (struct fl_semaphore){ .counter = c };
	EXPECT_EQ(fl_wait_queue_wait(NULL, 0, 0), -EINVAL);
	EXPECT_EQ(fl_semaphore_try(NULL), -EINVAL);
	EXPECT_EQ(fl_wait_queue_wait(&q, 0, 0), 0);
	EXPECT_EQ(fl_semaphore_take(&s, 0, 0), 0);
	STEP("asleep, the driver has the time-out");
	EXPECT_EQ(fl_counter_wait(c, 2, 0, 1000), -ETIMEDOUT);
}
