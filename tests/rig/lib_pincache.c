// SPDX-License-Identifier: BSD-2-Clause
#include "rig/lib_pincache.h"

/* ---- a driver that knows what is registered ---- */

struct driver driver;

static uint64_t pages_of(uint64_t addr, uint64_t bytes)
{
	return (addr + bytes - 1) / PG - addr / PG + 1;
}

static int driver_reg(struct fl_reg_mr *r)
{
	unsigned int i = 0;

	if (driver.room && driver.live >= driver.room)
		return driver.room_error;
	while (driver.mr[i].used)
		if (++i == REGIONS)
			return -EIO;
	r->key = ++driver.keys;
	driver.mr[i].used = true;
	driver.mr[i].addr = r->addr;
	driver.mr[i].bytes = r->length;
	driver.mr[i].pages = pages_of(r->addr, r->length);
	driver.mr[i].pd = r->pd;
	driver.mr[i].access = r->access;
	driver.mr[i].key = r->key;
	driver.live++;
	driver.pages += driver.mr[i].pages;
	if (driver.pages > driver.most_pages)
		driver.most_pages = driver.pages;
	return 0;
}

int driver_find(uint32_t key)
{
	int i;

	for (i = 0; i < REGIONS; i++)
		if (driver.mr[i].used && driver.mr[i].key == key)
			return i;
	return -1;
}

static int driver_end(uint32_t key)
{
	int i = driver_find(key);

	if (driver.end_error)
		return driver.end_error;
	/* A key that is ended twice would be somebody else's by then. */
	if (i < 0)
		return -ENOENT;
	driver.mr[i].used = false;
	driver.live--;
	driver.pages -= driver.mr[i].pages;
	return 0;
}

static int driver_ioctl(int fd, unsigned int cmd, void *arg)
{
	int error;

	if (cmd != FL_IOC_REG_MR && cmd != FL_IOC_DEREG_MR)
		return fake_ioctl(fd, cmd, arg);
	if (driver.slow)
		usleep(10);
	pthread_mutex_lock(&driver.lock);
	driver.calls++;
	error = cmd == FL_IOC_REG_MR ? driver_reg(arg) :
				driver_end(((struct fl_destroy *)arg)->object);
	pthread_mutex_unlock(&driver.lock);
	return error;
}

static int driver_import(int fd, void *addr, size_t bytes, unsigned int access)
{
	(void)fd; (void)addr; (void)bytes; (void)access;
	__atomic_add_fetch(&driver.imported, 1, __ATOMIC_RELAXED);
	return 0;
}

static void driver_release(int fd, void *addr, size_t bytes)
{
	(void)fd; (void)addr; (void)bytes;
	__atomic_sub_fetch(&driver.imported, 1, __ATOMIC_RELAXED);
}

static int driver_remap(void *addr, size_t bytes)
{
	(void)addr; (void)bytes;
	return 0;
}

struct fl_device *cache_dev;
struct fl_pd *cache_pd, *cache_other;

void cache_start(uint64_t bound, int hook)
{
	static struct fl_sys sys;

	fake_start();
	memset(&driver, 0, sizeof(driver));
	pthread_mutex_init(&driver.lock, NULL);
	sys = fake_sys;
	sys.ioctl = driver_ioctl;
	sys.import = driver_import;
	sys.release = driver_release;
	sys.remap = driver_remap;
	sys.relax = NULL;
	sys.trace = NULL;
	fl_sys_set(&sys);
	EXPECT_EQ(fl_open("fake", &cache_dev), 0);
	EXPECT_EQ(fl_set_policy(cache_dev, FL_SYSTEM_PINCACHE, FL_RESOLVE_BLOCK), 0);
	EXPECT_EQ(fl_set_cache(cache_dev, bound, hook), 0);
	EXPECT_EQ(fl_alloc_pd(cache_dev, &cache_pd), 0);
	EXPECT_EQ(fl_alloc_pd(cache_dev, &cache_other), 0);
}

void cache_stop(void)
{
	EXPECT_EQ(fl_close(cache_dev), 0);
	EXPECT_EQ(driver.live, 0);
	EXPECT_EQ(driver.imported, 0);
}

struct fl_cache_counters cache_count(void)
{
	struct fl_cache_counters c;

	EXPECT_EQ(fl_query_cache(cache_dev, &c), 0);
	return c;
}

struct fl_mr *region_make(uint64_t page, uint64_t pages, unsigned int access)
{
	struct fl_mr *m = NULL;

	EXPECT_EQ(fl_reg_mr(cache_pd, page_at(page), pages * PG, access, &m), 0);
	return m;
}
