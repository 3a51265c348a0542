/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - the judge's side of this lab: what CPU, card and kernel do, as
 * one-line steps, and what must come of it.
 */
#ifndef FL_LABS_INVALIDATE_BENCH_H
#define FL_LABS_INVALIDATE_BENCH_H

#include "host/host.h"
#include "labs/invalidate/invalidate_lab.h"
#include "nic/engine.h"
#include "smmu/smmu.h"
#include "tools/grade/judge.h"

#define US	UINT64_C(1000)
/* Longer than an eviction with its copy to swap, shorter than a sync may take. */
#define LONG	(300 * US)
#define RW	(HOST_READ | HOST_WRITE)
enum { READS, WRITES };

/* A board with so many frames and pages of swap (0: plenty); process and card 0. */
void bench_new(unsigned int frames, unsigned int swap);
unsigned int bench_process(void);
/* Its card; banks are given in turn, as cards are. */
unsigned int bench_open(unsigned int process);
void bench_close(unsigned int card);

/* The CPU. */
void cpu_write(unsigned int process, unsigned int page, unsigned int seed);
/* so many pages, each with the seed after the last one's */
void cpu_fill(unsigned int process, unsigned int page, unsigned int n,
	      unsigned int seed);
/* The page must hold the bytes of seed; 0: zeros. */
void cpu_finds(unsigned int process, unsigned int page, unsigned int seed);
/* How many page faults it had. */
uint64_t cpu_faults(unsigned int process, unsigned int page, bool write);
void cpu_refuses(unsigned int times);

/* The kernel; want: 0 or negative errno. Returns ns. */
uint64_t kernel_evict(unsigned int process, unsigned int page, unsigned int n,
		      int want);
uint64_t kernel_age(unsigned int process, unsigned int page, unsigned int n,
		    int want);
void kernel_protect(unsigned int process, unsigned int page, unsigned int n,
		    int prot);
void kernel_unmap(unsigned int process, unsigned int page, unsigned int n);
void kernel_pin(unsigned int process, unsigned int page, unsigned int n);
/* The process needs it where it is (HELD_KEPT), to the end. */
void kernel_hold(unsigned int process, unsigned int page);
void kernel_unpin(unsigned int process, unsigned int page, unsigned int n);
void kernel_swap_bad(bool bad);
/* Tell the driver of bytes from start to before end. */
uint64_t kernel_tells(unsigned int process, uint64_t start, uint64_t end);
uint64_t kernel_ends_space(unsigned int process);
void kernel_region(unsigned int process, unsigned int card, unsigned int page,
		   unsigned int n);

/* The card. A whole access, which must get this outcome. */
void card_uses(unsigned int card, unsigned int page, int how, unsigned int seed,
	       enum dma_status want);
/* An access begins, and gets through; and ends. */
void card_begins(unsigned int channel, unsigned int card, unsigned int page,
		 int how, unsigned int seed);
/* The same, to write, if it can. */
bool card_tries(unsigned int channel, unsigned int card, unsigned int page,
		unsigned int seed);
void card_ends(unsigned int channel);
void card_ends_in(unsigned int channel, uint64_t ns);
void card_when(enum lab_moment m, unsigned int channel, unsigned int page,
	       unsigned int seed, uint64_t lasts_ns, unsigned int times);
void card_busy(unsigned int card, unsigned int page, uint64_t lasts_ns,
	       unsigned int times);
/* For good: its registers read as ones. */
void card_goes(void);
void bench_wait(uint64_t ns);

/* What happened since the last look, as text; or only forget it. */
void happened(const char *expected);
void forget(void);
void happened_first(const char *expected);
unsigned int happened_times(const char *part);
void no_stale(void);
uint64_t told(enum lab_stat s);
uint64_t descriptor(unsigned int process, unsigned int page);
uint64_t frame(unsigned int process, unsigned int page);
uint64_t smmu_reg(uint32_t off, unsigned int bytes);

/* Grace periods and readers by themselves. */
uint64_t grace(enum lab_grace op, unsigned int channel);
void reader(enum lab_reader op);
uint64_t urcu(enum lab_urcu what);

#endif
