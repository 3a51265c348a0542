/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_pincache.h - for tests of the cache of pinned regions: a driver that is a plain
 * array of what is registered, and refuses when it is told to. No expectation in what
 * threads call.
 */
#ifndef FL_RIG_LIB_PINCACHE_H
#define FL_RIG_LIB_PINCACHE_H

#include <pthread.h>
#include <unistd.h>

#include "os/os.h"
#include "rig/lib_fake.h"

#define PG		os_page_bytes()
#define REGIONS		256
#define RIGHTS		(FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ)

/* ---- a driver that knows what is registered ---- */

struct driver {
	pthread_mutex_t lock;
	struct {
		bool used;
		uint64_t addr, bytes, pages;
		uint32_t pd, access, key;
	} mr[REGIONS];
	uint32_t keys;			/* ever given */
	uint64_t pages, most_pages;	/* of all that is registered */
	unsigned int room;		/* regions; 0: as many as there are */
	int room_error, end_error;
	unsigned int calls, live, imported;
	bool slow;			/* others run meanwhile */
};
extern struct driver driver;

int driver_find(uint32_t key);

extern struct fl_device *cache_dev;
extern struct fl_pd *cache_pd, *cache_other;

void cache_start(uint64_t bound, int hook);
void cache_stop(void);
struct fl_cache_counters cache_count(void);

static inline void *page_at(uint64_t page)
{
	return (void *)(uintptr_t)(0x100000 + page * PG);
}

struct fl_mr *region_make(uint64_t page, uint64_t pages, unsigned int access);

#endif
