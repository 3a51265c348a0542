// SPDX-License-Identifier: BSD-2-Clause
/* look.c - what memory holds, for checkers: nothing is brought in, nothing is traced. */
#include "host/internal.h"

/* Part of a page that has no frame. */
static int look_away(struct host_mm *mm, struct host_map *m, uint64_t va,
		     uint64_t at, void *to, uint64_t n)
{
	uint64_t d = pt_get(mm, va);
	uint8_t page[HOST_PAGE];
	int err;

	if (d & PTE_SWAP)
		err = swap_read(&mm->k->swap, pte_slot(d), page);
	else
		err = m->file->read(m->file, m->offset + (va - m->start), page);
	if (!err)
		memcpy(to, page + at, n);
	return err;
}

static int look_page(struct host_mm *mm, uint64_t va, uint64_t at, void *to,
		     uint64_t n)
{
	struct host_map *m = map_find(mm, va);
	uint64_t d = pt_get(mm, va);
	const uint8_t *mem;

	if (!m)
		return -EFAULT;
	if (pte_resident(d)) {
		mem = frame_mem(frame_at(mm, d & PTE_ADDR));
		memcpy(to, mem + at, n);
		return 0;
	}
	if ((d & PTE_SWAP) || m->file)
		return look_away(mm, m, va, at, to, n);
	memset(to, 0, n);
	return 0;
}

int mm_look(struct host_mm *mm, uint64_t va, void *buf, uint64_t len)
{
	uint64_t done, n, at;
	int err = 0;

	if (!sim_mutex_trylock(&mm->lock))
		return -EAGAIN;
	for (done = 0; done < len && !err; done += n) {
		at = (va + done) % HOST_PAGE;
		n = HOST_PAGE - at < len - done ? HOST_PAGE - at : len - done;
		err = look_page(mm, va + done - at, at, (uint8_t *)buf + done,
				n);
	}
	sim_mutex_unlock(&mm->lock);
	return err;
}
