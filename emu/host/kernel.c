// SPDX-License-Identifier: BSD-2-Clause
/* kernel.c - the kernel of one board: its object, its counters, its events. */
#include <stdio.h>
#include <stdlib.h>

#include "host/card_tables.h"
#include "host/internal.h"
#include "lib/sys.h"
#include "os/os.h"
#include "sim/sim.h"

/* A host with larger pages cannot protect one of ours alone. */
static int check_host(void)
{
	unsigned long page_bytes = os_page_bytes();

	if (HOST_PAGE % page_bytes == 0)
		return 0;
	fprintf(stderr, "faultline: this system has pages of %lu bytes, and this "
		"board was built for pages of %lu: build it with \"make "
		"PAGE=%lu\"\n", page_bytes, HOST_PAGE, page_bytes);
	return -ENOTSUP;
}

static int kernel_start(struct host_kernel *k, const struct host_config *cfg)
{
	uint64_t pages = cfg->resident_pages ? cfg->resident_pages :
					       HOST_PAGES;
	int err;

	err = check_host();
	if (err)
		return err;
	if (pages > (DRAM_BANK_STRIDE - QUEUE_AREA_BYTES) / HOST_PAGE)
		return -EINVAL;
	k->frames_total = pages;
	k->process_pages = cfg->process_pages ? cfg->process_pages : NO_LIMIT;
	k->process_slots = cfg->process_swap_pages ? cfg->process_swap_pages :
						     NO_LIMIT;
	err = kpages_create(k);
	if (err)
		return err;
	err = -ENOMEM;
	k->card_tables = card_tables_create();
	if (!k->card_tables)
		goto no_tables;
	err = swap_create(&k->swap,
			  cfg->swap_pages ? cfg->swap_pages : HOST_PAGES,
			  cfg->swap_dir);
	if (err)
		goto no_swap;
	err = host_irq_start(k);
	if (err)
		goto no_irq;
	return 0;

no_irq:
	swap_destroy(&k->swap);
no_swap:
	free(k->card_tables);
no_tables:
	kpages_destroy(k);
	return err;
}

static void *kernel_local_trace(size_t *bytes)
{
	*bytes = sizeof(host_this_trace);
	return &host_this_trace;
}

static void *kernel_local_fault(size_t *bytes)
{
	uintptr_t start, end;

	os_fault_variables(&start, &end);
	*bytes = end - start;
	return (void *)start;
}

/* What a thread is in here: its process, its signal, its library. */
static void kernel_locals(struct sim *sim)
{
	sim_local_add(sim, kernel_local_trace);
	sim_local_add(sim, kernel_local_fault);
	sim_local_add(sim, thread_local_self);
	sim_local_add(sim, thread_local_acting);
	sim_local_add(sim, host_waits_local);
	sim_local_add(sim, fl_sys_local);
}

struct host_kernel *host_create(const struct host_config *cfg, int *error)
{
	struct host_kernel *k = calloc(1, sizeof(*k));

	*error = -ENOMEM;
	if (!k)
		return NULL;
	k->board = cfg->board;
	k->sim = board_sim(cfg->board);
	kernel_locals(k->sim);
	k->dram = board_dram(cfg->board);
	k->trace = board_trace(cfg->board);
	k->timing = board_timing(cfg->board);
	k->id = board_id(cfg->board);
	sim_mutex_init(&k->lock);
	sim_waitq_init(&k->device_idle);
	sim_mutex_init(&k->banks_lock);
	*error = kernel_start(k, cfg);
	if (*error) {
		free(k);
		return NULL;
	}
	return k;
}

void host_destroy(struct host_kernel *k)
{
	unsigned int i;

	if (!k)
		return;
	for (i = 0; i < HOST_PROCESSES; i++)
		assert(!k->process[i]);
	pins_forgotten(k);
	assert(!k->frames_used && !k->swap.used);
	host_irq_stop(k);
	areas_destroy(k);
	swap_destroy(&k->swap);
	free(k->card_tables);
	kpages_destroy(k);
	free(k);
}

struct board *host_board(struct host_kernel *k)
{
	return k->board;
}

void host_stats(struct host_kernel *k, struct host_stats *st)
{
	struct host_counts *c = &k->count;
	struct host_mm *mm;
	int line;

	*st = (struct host_stats){
		.faults_minor = atomic_load(&c->faults_minor),
		.faults_major = atomic_load(&c->faults_major),
		.faults_failed = atomic_load(&c->faults_failed),
		.page_ins = atomic_load(&c->page_ins),
		.evictions = atomic_load(&c->evictions),
		.swap_ins = atomic_load(&c->swap_ins),
		.swap_outs = atomic_load(&c->swap_outs),
		.ages = atomic_load(&c->ages),
		.pins = atomic_load(&c->pins),
		.invalidations = atomic_load(&c->invalidations),
		.cpu_faults = atomic_load(&c->cpu_faults),
		.pages_brought = atomic_load(&c->brought),
		.bytes_copied = atomic_load(&c->copied),
		.pinned_peak = atomic_load(&c->pinned_peak),
		.cpu_irq_ns = atomic_load(&c->cpu_irq),
		.cpu_work_ns = atomic_load(&c->cpu_work),
		.cpu_calls_ns = atomic_load(&c->cpu_calls),
		.frames_total = k->frames_total,
		.frames_pinned = atomic_load(&k->frames_staying),
	};
	for (line = 0; line < IRQ_LINES; line++)
		st->irqs[line] = atomic_load(&c->irqs[line]);
	sim_spin_lock(&k->frames_lock);
	st->resident_peak = k->frames_peak;
	for (mm = k->ended; mm; mm = mm->ended_next)
		st->banks_kept++;
	st->frames_free = k->frames_total - k->frames_used;
	sim_spin_unlock(&k->frames_lock);
	sim_spin_lock(&k->areas_lock);
	st->queue_pages = k->area_pages;
	st->banks_kept += k->orphans;
	sim_spin_unlock(&k->areas_lock);
	sim_spin_lock(&k->swap.lock);
	st->swap_used = k->swap.used;
	sim_spin_unlock(&k->swap.lock);
}

atomic_ullong *host_work_account(struct host_kernel *k)
{
	return &k->count.cpu_work;
}

void host_inject_swap_errors(struct host_kernel *k, bool on)
{
	atomic_store(&k->swap.fail_writes, on);
}
