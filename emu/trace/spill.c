// SPDX-License-Identifier: BSD-2-Clause
/* The spill file, see spill.h. A chunk is a record that names the ring, then the ring. */
#include "trace/spill.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t chunk_bytes(const struct trace_spill *s)
{
	return (s->records + 1) * sizeof(struct trace_record);
}

/* False: the disk is full, or so. */
static bool spill_put(const struct trace_spill *s, const void *from, size_t n, off_t at)
{
	size_t done = 0;
	ssize_t got;

	while (done < n) {
		got = pwrite(s->fd, (const char *)from + done, n - done, at + (off_t)done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

uint64_t spill_ring(struct trace_spill *s, const struct trace_ring *r)
{
	uint64_t chunk = atomic_fetch_add(&s->chunks, 1), end = atomic_load(&s->end);
	uint64_t n = atomic_load(&r->records) + 1 - seq_number(r->record[0].seq);
	struct trace_record head = { .seq = r->number, .time_ns = n };
	off_t at = (off_t)(chunk * chunk_bytes(s));

	if (chunk >= end)
		return n;
	if (spill_put(s, &head, sizeof(head), at) &&
	    spill_put(s, r->record, s->records * sizeof(head), at + (off_t)sizeof(head))) {
		atomic_fetch_add(&s->kept, n);
		return 0;
	}
	while (chunk < end && !atomic_compare_exchange_weak(&s->end, &end, chunk))
		;
	return n;
}

uint64_t spill_write(struct trace_spill *s, const struct trace_ring *ring, uint32_t rings,
		     FILE *out)
{
	uint64_t claimed = atomic_load(&s->chunks), end = atomic_load(&s->end);
	uint64_t chunks = claimed < end ? claimed : end, lost = atomic_load(&s->kept), c;
	size_t bytes = (size_t)chunks * chunk_bytes(s);
	const struct trace_record *rec;
	struct trace_merge m;
	struct trace_record *kept = NULL;

	if (bytes && !ftruncate(s->fd, (off_t)bytes)) {
		kept = mmap(NULL, bytes, PROT_READ, MAP_SHARED, s->fd, 0);
		if (kept == MAP_FAILED)
			kept = NULL;
	}
	if (kept)
		merge_begin(&m, ring, rings, kept, chunks);
	else
		merge_begin_rest(&m, ring, rings, UINT64_MAX);
	while ((rec = merge_next(&m)) != NULL)
		trace_record_text(out, rec);
	merge_end(&m);
	/* Another thread may have written one behind the end. */
	for (c = 0; kept && c < chunks; c++)
		lost -= kept[c * (s->records + 1)].time_ns;
	if (kept)
		munmap(kept, bytes);
	return lost;
}
