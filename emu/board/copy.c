// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copying between far memories. Stores can go past the caches, which then need not bring in
 * lines that are overwritten. Whether it is faster to do so page by page, or four pages side by
 * side, a cache line of each in turn, or not at all, depends on how the processor fetches
 * ahead: each is tried a number of times, and the fastest one stays.
 */
#include "board/copy.h"

#include <string.h>

#include "os/os.h"

/* The thread sanitizer does not see such stores, and would miss races. */
#if defined(__SSE2__) && !defined(OS_TSAN)
#define COPY_STREAMS 1
#endif

#ifdef COPY_STREAMS
#include <emmintrin.h>

#define LINE	64u
#define PAGE	4096u
#define STREAMS	4u		/* pages side by side */
#define AHEAD	512u		/* bytes that are fetched ahead in each */
#define TRIES	48u		/* of all ways, in turns */

enum way { BY_PAGE, SIDE_BY_SIDE, BY_MEMCPY, WAYS };

static atomic_uint tries, quickest;
static _Atomic uint64_t least;	/* ps a byte, of the quickest try; 0: none yet */

/* to is aligned to a line. */
static inline void line_stream(uint8_t *to, const uint8_t *from)
{
	unsigned int i;

	for (i = 0; i < LINE; i += sizeof(__m128i))
		_mm_stream_si128((__m128i *)(void *)(to + i),
				 _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
}

/* So many pages side by side as long as there are; returns the bytes. to: aligned to a line. */
static inline __attribute__((always_inline)) uint32_t
pages_stream(uint8_t *to, const uint8_t *from, uint32_t bytes, uint32_t pages)
{
	uint32_t done, at, i;

	for (done = 0; bytes - done >= pages * PAGE; done += pages * PAGE)
		for (at = done; at < done + PAGE; at += LINE)
			for (i = at; i < at + pages * PAGE; i += PAGE) {
				__builtin_prefetch(from + i + AHEAD);
				line_stream(to + i, from + i);
			}
	return done;
}

static void copy_far_by(enum way way, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	uint32_t head = -(uint32_t)(uintptr_t)to % LINE, done;

	/* Stores past the caches keep no order with those before them, or behind. */
	_mm_sfence();
	if (way == BY_MEMCPY) {
		memcpy(to, from, bytes);	/* it has a fence of its own behind such stores */
		return;
	}
	if (head > bytes)
		head = bytes;
	memcpy(to, from, head);
	to += head;
	from += head;
	bytes -= head;
	done = way == BY_PAGE ? pages_stream(to, from, bytes, 1) :
				pages_stream(to, from, bytes, STREAMS);
	memcpy(to + done, from + done, bytes - done);
	_mm_sfence();
}

/*
 * The least time counts: whatever else there was to do has made others longer. Two threads that try
 * at once may leave the way of one and the time of the other.
 */
static void copy_far_try(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	enum way way = atomic_fetch_add(&tries, 1) % WAYS;
	uint64_t t = os_now_ns(), before = atomic_load(&least);

	copy_far_by(way, to, from, bytes);
	t = (os_now_ns() - t) * 1000 / bytes;
	if (!before || t < before) {
		atomic_store(&least, t);
		atomic_store(&quickest, way);
	}
}

void copy_far_one_way(void)
{
	atomic_store(&tries, TRIES);
}

void copy_far(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	if (bytes >= COPY_FAR_BYTES && atomic_load_explicit(&tries, memory_order_relaxed) < TRIES)
		copy_far_try(to, from, bytes);
	else
		copy_far_by(atomic_load_explicit(&quickest, memory_order_relaxed), to, from, bytes);
}
#else
void copy_far_one_way(void)
{
}

void copy_far(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	memcpy(to, from, bytes);
}
#endif
