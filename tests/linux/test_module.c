// SPDX-License-Identifier: BSD-2-Clause
/*
 * The driver goes away: the module while it is used and after, and the card taken
 * from the driver (unbind) in the middle of a transfer.
 */
#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "faultline/uapi.h"
#include "faultline/window.h"
#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)
#define LARGE	(1u << 20)
#define PAGES	(LARGE / RIG_PAGE)
#define MODULE	"/lib/modules/faultline.ko"
#define DRIVER	"/sys/bus/pci/drivers/faultline"

static int module_remove(void)
{
	return syscall(SYS_delete_module, "faultline", O_NONBLOCK) ? -errno : 0;
}

static void module_insert(void)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);

	EXPECT_GE(fd, 0);
	EXPECT_EQ(syscall(SYS_finit_module, fd, "", 0), 0);
	close(fd);
}

/* The device file comes with devtmpfs, a moment later. */
static void await_device(void)
{
	while (access("/dev/faultline0", R_OK | W_OK))
		usleep(1000);
}

static void one_transfer(uint64_t seed)
{
	await_device();
	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, seed);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, seed);
	EXPECT_EQ(rig_since(&rig.dst).faults, BYTES / RIG_BLOCK);
	rig_finish();
	rig_clean();
}

TEST("the module cannot be unloaded while it is used, and can be afterwards")
{
	rig_open(FL_SYSTEM_PART, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 120);
	rig_post(0, LARGE);
	/* delete_module(2): in use, and O_NONBLOCK */
	EXPECT_EQ(module_remove(), -EWOULDBLOCK);
	EXPECT_EQ(rig_status(), 0);
	EXPECT_PATTERN(rig.dst.mem, LARGE, 120);
	EXPECT_EQ(module_remove(), -EWOULDBLOCK);
	rig_finish();
	rig_clean();
	EXPECT_EQ(module_remove(), 0);
	EXPECT_NE(access("/dev/faultline0", F_OK), 0);
	EXPECT_LE(fl_open(getenv("FAULTLINE_DEVICE"), &rig.dst.dev), -1);
	module_insert();
	one_transfer(121);
}

TEST("the module is loaded and unloaded ten times, with a transfer each time")
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		EXPECT_EQ(module_remove(), 0);
		module_insert();
		one_transfer(122 + i);
	}
}

/* The device of the driver: a link with a domain, bus, slot and function. */
static void device_name(char name[64])
{
	DIR *d = opendir(DRIVER);
	struct dirent *e;

	EXPECT(d != NULL);
	name[0] = 0;
	while ((e = readdir(d)))
		if (strchr(e->d_name, ':') && strlen(e->d_name) < 64)
			strcpy(name, e->d_name);
	closedir(d);
	EXPECT(name[0] != 0);
}

TEST_MODES(unbind, "the card is taken from the driver in the middle of a transfer")
{
	struct fl_fault_counters c;
	unsigned int tries;
	struct fl_pd *pd;
	char name[64];
	bool middle = false;
	struct fl_completion done;
	int error;

	device_name(name);
	for (tries = 0; tries < RIG_TRIES && !middle; tries++) {
		rig_open(system, FL_RESOLVE_PAGE);
		rig_buffers_for(LARGE, 140);
		rig_post(0, LARGE);
		middle = rig_under_way(&rig.dst, 16) &&
			 rig_middle(&rig.dst, PAGES);
		EXPECT_EQ(rig_put(DRIVER "/unbind", name), 0);
		STEP("what is open answers that the card is gone");
		EXPECT_EQ(fl_query_counters(rig.dst.dev, &c), -ENODEV);
		EXPECT_EQ(fl_alloc_pd(rig.src.dev, &pd), -ENODEV);
		while ((error = fl_poll(rig.src.cq, &done, 1)) == 1)
			STEP("a completion that was there");
		EXPECT_EQ(error, -ENODEV);
		EXPECT_EQ(fl_wait(rig.dst.cq, &done, 1, RIG_WAIT_NS), -ENODEV);
		EXPECT_EQ(rig_same_or_zero(rig.dst.mem, LARGE, 140, 0), LARGE);
		EXPECT_PATTERN(rig.src.mem, LARGE, 140);
		rig_guards();
		/* It closes all the same; the objects had gone before. */
		fl_close(rig.src.dev);
		fl_close(rig.dst.dev);
		rig.src.dev = rig.dst.dev = NULL;
		rig_clean();
		EXPECT_EQ(rig_put(DRIVER "/bind", name), 0);
		one_transfer(141);
	}
	EXPECT(middle);
}

/* Its own mappings of the card, as a hostile program could have them. */
struct old_owner {
	int fd;
	struct fl_query q;
	struct fl_create_cq cq;
	volatile struct fl_window_doorbell *doorbell;
	volatile uint32_t *queue;
};

static void old_owner_maps(struct old_owner *o)
{
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = 256 };
	void *mem;

	o->fd = open("/dev/faultline0", O_RDWR | O_CLOEXEC);
	EXPECT_GE(o->fd, 0);
	o->q.size = sizeof(o->q);
	EXPECT_EQ(ioctl(o->fd, FL_IOC_QUERY, &o->q), 0);
	EXPECT_EQ(o->q.doorbell, FL_DOORBELL_WINDOW);
	EXPECT_EQ(ioctl(o->fd, FL_IOC_CREATE_CQ, &cq), 0);
	o->cq = cq;
	mem = mmap(NULL, 2 * FL_WINDOW_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		   o->fd, FL_MMAP_DOORBELL);
	EXPECT(mem != MAP_FAILED);
	o->doorbell = mem;
	mem = mmap(NULL, cq.mmap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		   o->fd, (off_t)cq.mmap_offset);
	EXPECT(mem != MAP_FAILED);
	o->queue = mem;
}

TEST("after an unbind old mappings lead nowhere: not to the next owner of the slot")
{
	struct old_owner old, new;
	char name[64];
	uint32_t tail;
	size_t i;

	device_name(name);
	rig_begin();
	/* A card that is new to its driver gives slot 0 first. */
	EXPECT_EQ(rig_put(DRIVER "/unbind", name), 0);
	EXPECT_EQ(rig_put(DRIVER "/bind", name), 0);
	await_device();
	old_owner_maps(&old);
	EXPECT_EQ(old.doorbell->alive, 1);
	EXPECT_EQ(rig_put(DRIVER "/unbind", name), 0);
	STEP("pages of its own, and zeros in them");
	EXPECT_EQ(old.doorbell->alive, 0);
	for (i = 0; i < old.cq.mmap_bytes / 4; i++)
		EXPECT_EQ(old.queue[i], 0);
	EXPECT(mmap(NULL, 2 * FL_WINDOW_PAGE, PROT_READ, MAP_SHARED, old.fd,
		    FL_MMAP_DOORBELL) == MAP_FAILED);
	EXPECT_EQ(errno, ENODEV);
	EXPECT_EQ(rig_put(DRIVER "/bind", name), 0);
	await_device();
	old_owner_maps(&new);
	EXPECT_EQ(new.q.slot, old.q.slot);
	tail = new.doorbell->tail;
	old.doorbell->tail = tail + 7;
	old.doorbell->entry[0].seq = 12345;
	old.queue[0] = 12345;
	EXPECT_EQ(new.doorbell->tail, tail);
	EXPECT_NE(new.doorbell->entry[0].seq, 12345);
	EXPECT_NE(new.queue[0], 12345);
	EXPECT_EQ(new.doorbell->alive, 1);
	/* Its memory goes with its mappings, long after its card. */
	EXPECT_EQ(munmap((void *)old.queue, old.cq.mmap_bytes), 0);
	EXPECT_EQ(close(old.fd), 0);
	EXPECT_EQ(munmap((void *)old.doorbell, 2 * FL_WINDOW_PAGE), 0);
	EXPECT_EQ(munmap((void *)new.queue, new.cq.mmap_bytes), 0);
	EXPECT_EQ(munmap((void *)new.doorbell, 2 * FL_WINDOW_PAGE), 0);
	EXPECT_EQ(close(new.fd), 0);
	one_transfer(143);
}
