// SPDX-License-Identifier: BSD-2-Clause
/* process.c - processes: numbers, arenas, beginning and end. */
#include <stdio.h>
#include <stdlib.h>

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
static int process_enroll(struct host_kernel *k, struct host_process *p,
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

struct host_process *process_new(struct host_kernel *k, const char *name,
				 uint16_t *asid, int *error)
{
	struct host_process *p = calloc(1, sizeof(*p));

	*error = -ENOMEM;
	if (!p)
		return NULL;
	p->k = k;
	snprintf(p->name, sizeof(p->name), "%s", name);
	sim_mutex_init(&p->lock);
	*error = process_enroll(k, p, asid);
	if (!*error)
		return p;
	free(p);
	return NULL;
}

void process_publish(struct host_process *p, struct host_mm *mm)
{
	sim_mutex_lock(&p->k->lock);
	p->mm = mm;
	sim_mutex_unlock(&p->k->lock);
}

struct host_mm *host_find_mm(struct host_kernel *k, const char *name)
{
	struct host_mm *mm = NULL;
	unsigned int i;

	sim_mutex_lock(&k->lock);
	for (i = 0; !mm && i < HOST_PROCESSES; i++)
		if (k->process[i] && !strcmp(k->process[i]->name, name))
			mm = k->process[i]->mm;
	/* A process that is enrolled holds a reference of its own. */
	if (mm)
		mm_get(mm);
	sim_mutex_unlock(&k->lock);
	return mm;
}

void process_free(struct host_process *p)
{
	strike_off(p);
	free(p);
}

/* The arena is mm's, which goes where it is reserved. */
static int process_embed(struct host_process *p, uint16_t asid)
{
	struct host_mm *mm;
	uint64_t arena;
	int err;

	arena = arena_reserve(p->k, p->slot, &err);
	if (!arena)
		return err;
	mm = mm_create(p->k, p->pid, asid, &arena_ops, &err);
	if (!mm) {
		arena_release(arena);
		return err;
	}
	mm->arena = arena;
	/* The end of it is never opened, so that a stray access is seen. */
	mm->device_base = arena + ARENA_MEMORY_BYTES;
	process_publish(p, mm);
	return 0;
}

struct host_process *host_process_create(struct host_kernel *k,
					 const char *name, int *error)
{
	struct host_process *p;
	uint16_t asid;

	p = process_new(k, name, &asid, error);
	if (!p)
		return NULL;
	*error = process_embed(p, asid);
	if (!*error)
		return p;
	process_free(p);
	return NULL;
}

void host_process_exit(struct host_process *p)
{
	struct host_mm *mm = p->mm;

	assert(!atomic_load(&p->threads));
	/* Files first: the driver unpins, unbinds the bank and lets go of mm.
	 */
	host_files_close(p);
	mm_exit(mm);
	if (mm->ops->release)
		mm->ops->release(mm);
	process_free(p);
	mm_put(mm);
}

const char *host_process_name(const struct host_process *p)
{
	return p->name;
}

uint32_t host_process_pid(const struct host_process *p)
{
	return p->pid;
}

void host_process_set_uid(struct host_process *p, uint32_t uid)
{
	p->uid = uid;
}

uint32_t host_process_uid(const struct host_process *p)
{
	return p->uid;
}

struct host_kernel *host_process_kernel(struct host_process *p)
{
	return p->k;
}

struct host_mm *host_process_mm(struct host_process *p)
{
	return p->mm;
}
