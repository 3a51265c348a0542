/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mm.h - the small kernel's memory manager (host.h), as the driver's Linux API needs it: kernel
 * threads page in, pin, copy and look, and hear what becomes of a process's memory. Pages are
 * of HOST_PAGE bytes.
 */
#ifndef FL_HOST_MM_H
#define FL_HOST_MM_H

#include <stdbool.h>
#include <stdint.h>

#include "host/page.h"

struct host_frame;
struct host_mm;
struct sim_waitq;

#define HOST_FAULT_WRITE 1u
#define HOST_FAULT_CARD	 2u	/* the driver asks, for the card */
/*
 * As handle_mm_fault: make the page of va present for reading or writing. 0
 * minor (or was there), 1 major, -EFAULT not mapped or not allowed, -ENOMEM.
 * May sleep. Spends time.
 */
int mm_fault(struct host_mm *mm, uint64_t va, unsigned int flags);
/* Nobody is there any more who wants anything: who works for it should end. */
bool mm_killed(const struct host_mm *mm);
/*
 * Pin the frames of npages from va: present, and not evicted until they were unpinned
 * as often. As pin_user_pages: the number of pages pinned, which may be less than
 * asked for, or negative errno when it is none; frame[] gets a handle of each.
 *
 * A pin holds the frame, not the mapping. When the page is unmapped or thrown away, or
 * its process ends, the frame becomes an orphan: no mapping leads to it, it still
 * counts as pinned and on its process's account, and it is free after the last unpin.
 */
long mm_pin(struct host_mm *mm, uint64_t va, uint64_t npages, bool write,
	    struct host_frame **frame);
/* In any order, of any processes of one kernel; dirty: the device wrote to them. */
void mm_unpin(struct host_frame *const *frame, uint64_t npages, bool dirty);
/* Where its HOST_PAGE bytes lie; of a frame that is in use. */
uint64_t frame_pa(const struct host_frame *f);
/* The mapping that holds va: 0 and its bounds and rights, or -EFAULT. */
int mm_lookup(struct host_mm *mm, uint64_t va, uint64_t *start, uint64_t *end,
	      int *prot);
uint64_t mm_table_pa(const struct host_mm *mm);		/* TTBR0 */
uint16_t mm_asid(const struct host_mm *mm);
/*
 * A reference keeps the structure, not the memory: after its process has ended
 * every call finds nothing mapped.
 */
void mm_get(struct host_mm *mm);
void mm_put(struct host_mm *mm);
/*
 * mmget_not_zero: keeps the memory, too. The end of the process waits until as many
 * users have put it.
 */
bool mm_get_live(struct host_mm *mm);
void mm_put_live(struct host_mm *mm);
/*
 * The mmap lock: mappings stay as they are until mm_maps_end(). Whoever changes
 * mappings (a system call of the process) has it for writing.
 */
void mm_maps_read(struct host_mm *mm);
void mm_maps_write(struct host_mm *mm);
void mm_maps_end(struct host_mm *mm);
/* Resident right now (any rights)? For tests and reports. */
bool mm_resident(struct host_mm *mm, uint64_t va);
/*
 * Copy between kernel and a process's memory, paging in as needed; 0 or
 * -EFAULT.
 */
int mm_copy(struct host_mm *mm, uint64_t va, void *buf, uint64_t len,
	    bool to_user);
/*
 * What memory holds right now, be it in a frame, in swap or in a file: without side
 * effects, for checkers. -EFAULT: not mapped; -EAGAIN: somebody is at work on the
 * address space.
 */
int mm_look(struct host_mm *mm, uint64_t va, void *buf, uint64_t len);
/*
 * sim_wait() in a call of mm's process: 0, -ETIME, or -EINTR when the process
 * has been killed or the run ends.
 */
int mm_wait(struct host_mm *mm, struct sim_waitq *q, bool (*cond)(void *arg),
	    void *arg, uint64_t timeout_ns);

/*
 * Called between clearing the entries and reusing the frames
 * (break-before-make), and on release before the tables go. Must not sleep.
 */
struct mm_notifier {
	void (*invalidate)(struct mm_notifier *n, struct host_mm *mm,
			   uint64_t start, uint64_t end);
	/* Access flags have gone, and nothing else. */
	void (*age)(struct mm_notifier *n, struct host_mm *mm, uint64_t start,
		    uint64_t end);
	void (*release)(struct mm_notifier *n, struct host_mm *mm);
	/*
	 * A page has come, or may be written now; the entry says so already. Linux tells
	 * nobody of that. May be NULL.
	 */
	void (*mapped)(struct mm_notifier *n, struct host_mm *mm, uint64_t start,
		       uint64_t end);
	/* Would mapped() do anything now? NULL where that is. */
	bool (*hears)(struct mm_notifier *n);
	struct mm_notifier *next;
};
int mm_notifier_register(struct host_mm *mm, struct mm_notifier *n);
void mm_notifier_unregister(struct host_mm *mm, struct mm_notifier *n);

#endif
