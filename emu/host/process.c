// SPDX-License-Identifier: BSD-2-Clause
/* process.c - processes: numbers, arenas, beginning and end. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "host/internal.h"

/* Is it in use? k->lock held. */
static bool asid_used(const struct host_kernel *k, uint32_t asid)
{
	unsigned int i;

	for (i = 0; i < HOST_PROCESSES; i++)
		if (k->process[i] && k->process[i]->mm &&
		    k->process[i]->mm->asid == asid)
			return true;
	return false;
}

/* 16 bits, never 0, and as late as can be one that was used before. */
static uint16_t next_asid(struct host_kernel *k)
{
	do {
		k->asid = k->asid % 0xffff + 1;
	} while (asid_used(k, k->asid));
	return (uint16_t)k->asid;
}

/* A slot and numbers; -EAGAIN when there are too many, as fork says. */
static int enroll(struct host_kernel *k, struct host_process *p,
		  uint16_t *asid)
{
	int err = -EAGAIN;
	unsigned int i;

	sim_mutex_lock(&k->lock);
	for (i = 0; err && i < HOST_PROCESSES; i++)
		if (!k->process[i]) {
			*asid = next_asid(k);
			k->process[i] = p;
			p->slot = i;
			p->pid = ++k->pids;
			err = 0;
		}
	sim_mutex_unlock(&k->lock);
	return err;
}

static void strike_off(struct host_process *p)
{
	sim_mutex_lock(&p->k->lock);
	p->k->process[p->slot] = NULL;
	sim_mutex_unlock(&p->k->lock);
}

struct host_process *host_process_create(struct host_kernel *k,
					 const char *name, int *error)
{
	struct host_process *p = calloc(1, sizeof(*p));
	uint8_t *arena;
	uint16_t asid;

	*error = -ENOMEM;
	if (!p)
		return NULL;
	p->k = k;
	snprintf(p->name, sizeof(p->name), "%s", name);
	sim_mutex_init(&p->lock);
	*error = enroll(k, p, &asid);
	if (*error)
		goto no_slot;
	*error = segv_install();
	if (*error)
		goto no_handler;
	arena = cpu_reserve(k, p->slot, error);
	if (!arena)
		goto no_arena;
	p->mm = mm_create(k, p->pid, asid, arena, error);
	if (!p->mm)
		goto no_mm;
	return p;

no_mm:
	munmap(arena, HOST_ARENA_BYTES);
no_arena:
	segv_uninstall();
no_handler:
	strike_off(p);
no_slot:
	free(p);
	return NULL;
}

void host_process_exit(struct host_process *p)
{
	assert(!atomic_load(&p->threads));
	/* Files first: the driver unpins, unbinds the bank and lets go of mm.
	 */
	host_files_close(p);
	mm_exit(p->mm);
	strike_off(p);
	mm_put(p->mm);
	segv_uninstall();
	free(p);
}

const char *host_process_name(const struct host_process *p)
{
	return p->name;
}

uint32_t host_process_pid(const struct host_process *p)
{
	return p->pid;
}

struct host_kernel *host_process_kernel(struct host_process *p)
{
	return p->k;
}

struct host_mm *host_process_mm(struct host_process *p)
{
	return p->mm;
}
