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

uint64_t spill_ring(struct trace_spill *s, const struct trace_ring *r)
{
	uint64_t chunk = atomic_fetch_add(&s->chunks, 1);
	struct trace_record head = { .seq = r->number };
	off_t at = (off_t)(chunk * chunk_bytes(s));
	size_t n = s->records * sizeof(head), done = 0;
	const char *from = (const char *)r->record;
	ssize_t got;

	got = pwrite(s->fd, &head, sizeof(head), at);
	if (got != (ssize_t)sizeof(head))
		return s->records;
	while (done < n) {
		got = pwrite(s->fd, from + done, n - done,
			     at + (off_t)(sizeof(head) + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return s->records - done / sizeof(head);
		done += (size_t)got;
	}
	return 0;
}

uint64_t spill_write(struct trace_spill *s, const struct trace_ring *ring, uint32_t rings,
		     FILE *out)
{
	uint64_t chunks = atomic_load(&s->chunks), lost = 0;
	size_t bytes = (size_t)chunks * chunk_bytes(s);
	const struct trace_record *rec;
	struct trace_merge m;
	void *kept = NULL;

	if (bytes && !ftruncate(s->fd, (off_t)bytes)) {
		kept = mmap(NULL, bytes, PROT_READ, MAP_SHARED, s->fd, 0);
		if (kept == MAP_FAILED)
			kept = NULL;
	}
	if (!kept) {
		lost = chunks * s->records;
		chunks = 0;
	}
	merge_begin(&m, ring, rings, kept, chunks);
	while ((rec = merge_next(&m)) != NULL)
		trace_record_text(out, rec);
	merge_end(&m);
	if (kept)
		munmap(kept, bytes);
	return lost;
}
