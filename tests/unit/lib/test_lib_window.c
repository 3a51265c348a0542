// SPDX-License-Identifier: BSD-2-Clause
/*
 * Doorbells of a card behind a window: entries in a ring that an emulator takes out,
 * played here. variants: tsan
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "lib_internal.h"
#include "os/os.h"

#define FD	5
#define BELL(d)	((_Atomic uint32_t *)((char *)(d) + FL_WINDOW_PAGE + FL_WINDOW_BELL))

static struct {
	struct fl_window_doorbell *page;	/* and the bell behind it */
	uint32_t kind;			/* what QUERY says of doorbells */
	size_t mapped, unmapped;
} card;

static int card_open(const char *name)
{
	(void)name;
	return FD;
}

static int card_close(int fd)
{
	return fd == FD ? 0 : -EBADF;
}

static int card_ioctl(int fd, unsigned int cmd, void *arg)
{
	struct fl_query *q = arg;

	EXPECT_EQ(fd, FD);
	EXPECT_EQ(cmd, FL_IOC_QUERY);
	q->abi = FL_ABI_VERSION;
	q->doorbell = card.kind;
	return 0;
}

static void *card_mmap(int fd, size_t bytes, uint64_t offset, int *error)
{
	(void)fd;
	(void)error;
	EXPECT_EQ(offset, FL_MMAP_DOORBELL);
	card.mapped = bytes;
	return card.page;
}

static int card_munmap(void *addr, size_t bytes)
{
	EXPECT((void *)card.page == addr);
	card.unmapped = bytes;
	return 0;
}

static const struct fl_sys card_sys = {
	.open = card_open,
	.close = card_close,
	.ioctl = card_ioctl,
	.mmap = card_mmap,
	.munmap = card_munmap,
};

static void card_gone(void *arg)
{
	(void)arg;
	fl_sys_set(NULL);
	free(card.page);
	memset(&card, 0, sizeof(card));
}

static struct fl_device *lib_window_device(uint32_t start)
{
	struct fl_device *dev;

	card.page = aligned_alloc(FL_WINDOW_PAGE, 2 * FL_WINDOW_PAGE);
	EXPECT(card.page);
	test_cleanup(card_gone, NULL);
	memset(card.page, 0, 2 * FL_WINDOW_PAGE);
	card.kind = FL_DOORBELL_WINDOW;
	card.page->alive = 1;
	card.page->head = card.page->tail = start;
	fl_sys_set(&card_sys);
	EXPECT_EQ(fl_open(NULL, &dev), 0);
	return dev;
}

/* The emulator takes the next entry; false: there is none. */
static bool lib_window_take(struct fl_window_entry *e)
{
	_Atomic uint32_t *head = (_Atomic uint32_t *)&card.page->head;
	struct fl_window_entry *from;
	uint32_t at = atomic_load(head);

	from = &card.page->entry[at % FL_WINDOW_BELLS];
	if (atomic_load_explicit((_Atomic uint32_t *)&from->seq,
				 memory_order_acquire) != at + 1)
		return false;
	memcpy((char *)e + 4, (char *)from + 4, sizeof(*e) - 4);
	atomic_store_explicit(head, at + 1, memory_order_release);
	return true;
}

TEST("a doorbell is an entry with offset and value; a trace is one before it")
{
	struct fl_device *dev = lib_window_device(0xfffffffe);
	struct fl_window_entry e;

	EXPECT_EQ(card.mapped, 2 * FL_WINDOW_PAGE);
	STEP("over the end of the 32-bit count");
	dev->sys->trace(FD, FL_SYS_EV_POST, 77, 1, 2, 3, 4);
	EXPECT_EQ(lib_doorbell(dev, NIC_DB_SQ, 0x12345678), 0);
	EXPECT_EQ(lib_doorbell(dev, NIC_DB_CQ_ARM, 9), 0);
	EXPECT(lib_window_take(&e));
	EXPECT_EQ(e.kind, FL_WINDOW_NOTE);
	EXPECT_EQ(e.addr, FL_SYS_EV_POST);
	EXPECT_EQ(e.xfer, 77);
	EXPECT(e.arg[0] == 1 && e.arg[1] == 2 && e.arg[2] == 3 && e.arg[3] == 4);
	EXPECT(lib_window_take(&e));
	EXPECT_EQ(e.kind, FL_WINDOW_WRITE);
	EXPECT_EQ(e.size, 4);
	EXPECT_EQ(e.addr, NIC_DB_SQ);
	EXPECT_EQ(e.arg[0], 0x12345678);
	EXPECT(lib_window_take(&e));
	EXPECT_EQ(e.addr, NIC_DB_CQ_ARM);
	EXPECT(!lib_window_take(&e));
	EXPECT_EQ(card.page->tail, 1);
	EXPECT_EQ(fl_close(dev), 0);
	EXPECT_EQ(card.unmapped, 2 * FL_WINDOW_PAGE);
}

TEST("the bell rings only for an emulator that sleeps")
{
	struct fl_device *dev = lib_window_device(0);

	EXPECT_EQ(lib_doorbell(dev, NIC_DB_SQ, 1), 0);
	EXPECT_EQ(*BELL(card.page), 0);
	card.page->asleep = 1;
	*BELL(card.page) = ~0u;
	EXPECT_EQ(lib_doorbell(dev, NIC_DB_SQ, 2), 0);
	EXPECT_EQ(*BELL(card.page), FL_WINDOW_PEER << 16 | FL_WINDOW_LOOK);
	EXPECT_EQ(fl_close(dev), 0);
}

TEST("an emulator that has ended is ENODEV, for doorbells and for who polls")
{
	struct fl_device *dev = lib_window_device(0);

	EXPECT_EQ(dev->sys->relax(FD), 0);
	card.page->alive = 0;
	EXPECT_EQ(lib_doorbell(dev, NIC_DB_SQ, 1), -ENODEV);
	EXPECT_EQ(dev->sys->relax(FD), -ENODEV);
	EXPECT_EQ(card.page->tail, 0);
	EXPECT_EQ(fl_close(dev), 0);
}

TEST("a trace that nobody must wait for is dropped when the ring is full")
{
	struct fl_device *dev = lib_window_device(0);
	unsigned int i;

	for (i = 0; i < FL_WINDOW_BELLS; i++)
		EXPECT_EQ(lib_doorbell(dev, NIC_DB_SQ, i), 0);
	dev->sys->trace(FD, FL_SYS_EV_COMPLETE, 1, 0, 0, 0, 0);
	EXPECT_EQ(card.page->tail, FL_WINDOW_BELLS);
	EXPECT_EQ(fl_close(dev), 0);
}

TEST("what the library keeps to itself is no matter for the card")
{
	struct fl_device *dev = lib_window_device(0);

	dev->sys->trace(FD, FL_SYS_EV_CACHE_HIT, 0, 1, 2, 3, 0);
	dev->sys->trace(FD, FL_SYS_EV_CACHE_EVICT, 0, 1, 2, 3, 0);
	EXPECT_EQ(card.page->tail, 0);
	EXPECT_EQ(fl_close(dev), 0);
}

static void *end_emulator(void *arg)
{
	(void)arg;
	os_word_wait((_Atomic uint32_t *)&card.page->asleep, 0, 1000000);
	atomic_store((_Atomic uint32_t *)&card.page->alive, 0);
	return NULL;
}

TEST("who waits for room in the ring goes on when the emulator ends")
{
	struct fl_device *dev = lib_window_device(0);
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < FL_WINDOW_BELLS; i++)
		EXPECT_EQ(lib_doorbell(dev, NIC_DB_SQ, i), 0);
	EXPECT_EQ(pthread_create(&thread, NULL, end_emulator, NULL), 0);
	EXPECT_EQ(lib_doorbell(dev, NIC_DB_SQ, i), -ENODEV);
	pthread_join(thread, NULL);
	EXPECT_EQ(fl_close(dev), 0);
}

#define THREADS	4u
#define RINGS	2000u

struct ringer {
	struct fl_device *dev;
	pthread_t thread;
	uint32_t number;
	int error;
};

static void *ring_often(void *arg)
{
	struct ringer *r = arg;
	uint32_t i;

	for (i = 0; i < RINGS && !r->error; i++)
		r->error = lib_doorbell(r->dev, NIC_DB_SQ,
					r->number << 16 | i);
	return NULL;
}

TEST("doorbells of several threads all arrive, each thread's in its order")
{
	struct ringer r[THREADS] = { 0 };
	struct fl_device *dev = lib_window_device(0xffffff00);
	uint32_t next[THREADS] = { 0 }, who, got = 0;
	struct fl_window_entry e;
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		r[i].dev = dev;
		r[i].number = i;
		EXPECT_EQ(pthread_create(&r[i].thread, NULL, ring_often, &r[i]),
			  0);
	}
	while (got < THREADS * RINGS) {
		if (!lib_window_take(&e)) {
			os_yield();
			continue;
		}
		who = (uint32_t)e.arg[0] >> 16;
		EXPECT(who < THREADS);
		EXPECT_EQ(e.arg[0] & 0xffff, next[who]);
		next[who]++;
		got++;
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(r[i].thread, NULL);
		EXPECT_EQ(r[i].error, 0);
	}
	EXPECT(!lib_window_take(&e));
	EXPECT_EQ(fl_close(dev), 0);
}

TEST("a kind of doorbell that this library does not know is refused")
{
	struct fl_device *dev = lib_window_device(0);

	EXPECT_EQ(fl_close(dev), 0);
	card.kind = FL_DOORBELL_SNOOP + 1;
	EXPECT_EQ(fl_open(NULL, &dev), -EPROTONOSUPPORT);
}
