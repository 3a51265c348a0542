// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copying between far memories. Two things make it faster than memcpy(): several pages are
 * copied side by side, a cache line of each in turn, since the processor fetches ahead within
 * a page only, and does so for several pages at a time; and stores go past the caches, which
 * need not bring in lines that are overwritten.
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

/* to is aligned to a line. */
static inline void line_stream(uint8_t *to, const uint8_t *from)
{
	unsigned int i;

	for (i = 0; i < LINE; i += sizeof(__m128i))
		_mm_stream_si128((__m128i *)(void *)(to + i),
				 _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
}

void copy_far(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	uint32_t head = -(uint32_t)(uintptr_t)to % LINE, at, i;

	/* Stores past the caches keep no order with those before them, or behind. */
	_mm_sfence();
	if (head > bytes)
		head = bytes;
	memcpy(to, from, head);
	to += head;
	from += head;
	bytes -= head;
	for (; bytes >= STREAMS * PAGE; bytes -= STREAMS * PAGE) {
		for (at = 0; at < PAGE; at += LINE)
			for (i = at; i < STREAMS * PAGE; i += PAGE) {
				__builtin_prefetch(from + i + AHEAD);
				line_stream(to + i, from + i);
			}
		to += STREAMS * PAGE;
		from += STREAMS * PAGE;
	}
	memcpy(to, from, bytes);
	_mm_sfence();
}
#else
void copy_far(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	memcpy(to, from, bytes);
}
#endif
