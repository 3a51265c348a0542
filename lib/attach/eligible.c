// SPDX-License-Identifier: BSD-2-Clause
/*
 * eligible.c - which memory of the program can become memory of the board (move.c
 * moves it): private, not code, nobody else's, and not what moving stands on.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/internal.h"
#include "faultline.h"

/*
 * Pages of the program's file: here lie the library's variables and constants,
 * those of lib/os and the addresses of functions that the handler calls. Never
 * absent.
 */
static struct os_range variables = { 1, 1 };	/* not 0: among the data */

#if defined(__ELF__)
/* From the linker: where what is loaded of the file begins, and ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern char _end[];
#define DATA_START ((uintptr_t)__ehdr_start)
#define DATA_END ((uintptr_t)_end)
#else
#define DATA_START ((uintptr_t)&variables)
#define DATA_END ((uintptr_t)(&variables + 1))
#endif

void attach_find_variables(void)
{
	uintptr_t at = (uintptr_t)&variables;
	struct os_map m;

	attach_slots_lock();
	if (variables.start == 1) {
		variables.end = at < DATA_END ? DATA_END :
						at + sizeof(variables);
		variables.start = at < DATA_START ? at : DATA_START;
		if (os_map_find(&variables, &m) && m.start < variables.start)
			variables.start = m.start;
		variables.start -= variables.start % ATTACH_PAGE;
	}
	attach_slots_unlock();
}

/* Is any of the n ranges in this page? */
static bool holds_any(uintptr_t va, const struct os_range *r, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (r[i].start < r[i].end && va < r[i].end &&
		    va + ATTACH_PAGE > r[i].start)
			return true;
	return false;
}

static bool must_keep(const struct attach_job *j, uintptr_t va,
		      enum os_map_kind kind)
{
	return kind == OS_MAP_STACK || holds_any(va, &variables, 1) ||
	       holds_any(va, j->keep, sizeof(j->keep) / sizeof(j->keep[0]));
}

/* Of a file perhaps, which then is none of this number. */
#define FILE_UNKNOWN UINT64_MAX

/*
 * Where the system does not tell, all that can be read is taken for private and
 * writable: to try a write would undo what another thread writes just then.
 */
static int eligible_probe(uintptr_t va, struct os_map *m)
{
	char c;

	*m = (struct os_map){ .start = va, .end = va + ATTACH_PAGE,
			      .kind = OS_MAP_PRIVATE,
			      .prot = PROT_READ | PROT_WRITE,
			      .inode = FILE_UNKNOWN };
	return os_copy_from(&c, (void *)va, 1) ? -EFAULT : 0;
}

static bool of_another(const struct attach *a, uintptr_t va)
{
	struct attach_page *p;
	struct attach *b;
	unsigned int i;
	bool yes;

	for (i = 0; i < ATTACH_BOARDS; i++) {
		b = attach_slot(i);
		if (!b || b == a || !attach_enter(b))
			continue;
		p = attach_page(b, va);
		yes = attach_inside(b, va) ||
		      (p && atomic_load(&p->own) & (OWN_IMPORTED | OWN_BUSY));
		attach_leave(b);
		if (yes)
			return true;
	}
	return false;
}

/* May this page be part of the region? *m: of where it lies, kept along. */
static int eligible_page(struct attach *a, uintptr_t va, struct os_map *m)
{
	const struct attach_job *j = &a->job;
	bool write = j->access & (FL_LOCAL_WRITE | FL_REMOTE_WRITE);
	struct attach_page *p = attach_page(a, va);
	int error;

	if (p && atomic_load(&p->own) & OWN_FOREIGN)
		return -EBUSY;
	if (p && atomic_load(&p->own) & OWN_IMPORTED)
		return write && !(atomic_load(&p->own) & OWN_WRITE) ? -EACCES :
								      0;
	if (of_another(a, va))
		return -EOPNOTSUPP;
	if ((va < m->start || va >= m->end) && !os_map_find((void *)va, m)) {
		error = eligible_probe(va, m);
		if (error)
			return error;
	}
	if (m->kind == OS_MAP_SHARED || m->kind == OS_MAP_SPECIAL ||
	    m->prot & PROT_EXEC ||
	    holds_any(va, j->fixed, OS_THREAD_RANGES))
		return -EOPNOTSUPP;
	if (!(m->prot & PROT_READ) || (write && !(m->prot & PROT_WRITE)))
		return -EACCES;
	return attach_page_make(a, va) ? 0 : -ENOMEM;
}

/* Not asked for, but in one granule with what was? */
static bool eligible_beside(const struct attach_job *j, uintptr_t va)
{
	return va + (ATTACH_PAGE - 1) < j->addr ||
	       va > j->addr + (uintptr_t)(j->bytes - 1);
}

/*
 * May this granule be part of the region? Then its rights, and must it stay? (What lies
 * on files may differ from zeros although nobody touched it.) Where
 * the board's granule is larger than the system's pages its parts may differ, or lie
 * beside the memory that was meant: such a one cannot move as a whole.
 */
int attach_eligible(struct attach *a, uintptr_t va, struct os_map *m, int *prot,
		    bool *keep, bool *anonymous)
{
	uintptr_t at = va;
	int error, of_page;

	*keep = false;
	*anonymous = true;
	for (; at - va < attach_granule(a); at += ATTACH_PAGE) {
		error = eligible_page(a, at, m);
		if (error)
			return eligible_beside(&a->job, at) ? -EOPNOTSUPP :
			       error;
		of_page = m->prot & PROT_WRITE ? FL_PROT_READ | FL_PROT_WRITE :
						 FL_PROT_READ;
		if (at != va && of_page != *prot)
			return -EOPNOTSUPP;
		*prot = of_page;
		*keep |= must_keep(&a->job, at, m->kind);
		*anonymous &= m->kind == OS_MAP_PRIVATE && !m->inode;
	}
	*anonymous &= !*keep;
	return 0;
}
