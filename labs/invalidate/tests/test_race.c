// SPDX-License-Identifier: BSD-2-Clause
/* Everything together: an access that is under way, and the page under it. */
#include "labs/invalidate/tests/bench.h"

#define PAGE	(uint64_t)LAB_PAGE_BYTES
#define DROPPED(page) "bank 0 tlbiva " #page " of asid 1"

JUDGE(told_late, "who is told waits for the access that is under way")
{
	uint64_t ns;

	bench_new(0, 0);
	cpu_write(0, 3, 1);
	card_begins(0, 0, 3, WRITES, 9);
	card_ends_in(0, LONG);
	forget();
	ns = kernel_tells(0, 3 * PAGE, 4 * PAGE);
	happened(DROPPED(3) ", bank 0 sync, the card's bytes land, "
		 "bank 0 synced");
	judge_at_least("ns that it took", ns, LONG);
	no_stale();
}

JUDGE(given_up, "an access that never ends is waited for a second, and no longer")
{
	uint64_t ns;

	bench_new(0, 0);
	cpu_write(0, 3, 1);
	card_begins(0, 0, 3, WRITES, 9);
	forget();
	ns = kernel_tells(0, 3 * PAGE, 4 * PAGE);
	happened(DROPPED(3) ", bank 0 sync");
	judge_at_least("ns that it took", ns, 1000000 * US);
}

static void race_at_once(uint64_t ns)
{
	judge_equal("ns that it took beyond 300 us", ns > LONG ? ns - LONG : 0,
		    0);
}

JUDGE(gone, "a card that is gone is not waited for")
{
	bench_new(0, 0);
	cpu_write(0, 3, 1);
	card_uses(0, 3, WRITES, 9, DMA_OK);
	card_goes();
	race_at_once(kernel_tells(0, 3 * PAGE, 4 * PAGE));
	race_at_once(kernel_ends_space(0));
}

JUDGE(somebody_elses, "the frame is somebody else's only when nobody writes it")
{
	bench_new(2, 0);
	cpu_fill(0, 3, 2, 1);
	card_begins(0, 0, 3, WRITES, 99);
	card_ends_in(0, LONG);
	kernel_evict(0, 3, 1, 0);
	cpu_write(0, 9, 42);
	bench_wait(2 * LONG);
	cpu_finds(0, 9, 42);
	no_stale();
	cpu_finds(0, 4, 2);
}

JUDGE(bytes_kept, "what lands before the end of the eviction is not lost")
{
	bench_new(0, 0);
	cpu_write(0, 3, 1);
	card_begins(0, 0, 3, WRITES, 99);
	card_ends_in(0, LONG);
	forget();
	kernel_evict(0, 3, 1, 0);
	happened("close 3, tell 3, " DROPPED(3) ", bank 0 sync, "
		 "the card's bytes land, bank 0 synced, told 3, swapped 3");
	cpu_finds(0, 3, 99);
	no_stale();
}

JUDGE(read_too, "an access that reads is waited for as well")
{
	bench_new(2, 0);
	cpu_fill(0, 3, 2, 1);
	card_begins(1, 0, 3, READS, 0);
	card_ends_in(1, LONG);
	judge_at_least("ns that the eviction took", kernel_evict(0, 3, 1, 0),
		       LONG);
	cpu_write(0, 9, 42);
	bench_wait(LONG);
	no_stale();
}

JUDGE(from_the_tlb, "an access between entry and TLB gets through, and counts")
{
	bench_new(2, 0);
	cpu_fill(0, 3, 2, 1);
	card_uses(0, 3, WRITES, 98, DMA_OK);
	card_when(LAB_AT_TELL, 0, 3, 99, LONG, 1);
	forget();
	kernel_evict(0, 3, 1, 0);
	happened("close 3, tell 3, card: it gets through, " DROPPED(3)
		 ", bank 0 sync, the card's bytes land, bank 0 synced, told 3, "
		 "swapped 3");
	cpu_write(0, 9, 42);
	bench_wait(LONG);
	cpu_finds(0, 9, 42);
	no_stale();
	cpu_finds(0, 3, 99);
}

JUDGE(not_again, "an access after that faults")
{
	bench_new(2, 0);
	cpu_fill(0, 3, 2, 1);
	card_uses(0, 3, WRITES, 98, DMA_OK);
	card_when(LAB_AT_TOLD, 0, 3, 99, LONG, 1);
	forget();
	kernel_evict(0, 3, 1, 0);
	happened("close 3, tell 3, " DROPPED(3) ", bank 0 sync, bank 0 synced, "
		 "told 3, card: a fault, swapped 3");
	cpu_write(0, 9, 42);
	bench_wait(2 * LONG);
	cpu_finds(0, 9, 42);
	cpu_finds(0, 3, 98);
	no_stale();
}

JUDGE(one_only, "who waits for one access does not wait for the next ones")
{
	uint64_t ns;

	bench_new(0, 0);
	cpu_fill(0, 3, 2, 1);
	card_busy(0, 4, 10 * US, 1000);
	bench_wait(30 * US);
	ns = kernel_tells(0, 3 * PAGE, 4 * PAGE);
	judge_at_least("20 us, less what it took", 20 * US - (ns < 20 * US ? ns :
		       20 * US), 1);
	no_stale();
}

JUDGE(aged_late, "ageing waits, too")
{
	bench_new(0, 0);
	cpu_write(0, 3, 1);
	card_begins(0, 0, 3, WRITES, 99);
	card_ends_in(0, LONG);
	judge_at_least("ns that it took", kernel_age(0, 3, 1, 0), LONG);
	card_uses(0, 3, READS, 0, DMA_SLVERR);
	cpu_finds(0, 3, 99);
}

JUDGE(ends_late, "and so does the end of the address space")
{
	bench_new(0, 0);
	cpu_write(0, 3, 1);
	card_begins(0, 0, 3, WRITES, 99);
	card_ends_in(0, LONG);
	judge_at_least("ns that it took", kernel_ends_space(0), LONG);
	no_stale();
}

JUDGE(two_processes, "the same page of another process stays where it is")
{
	bench_new(0, 0);
	bench_process();
	bench_open(1);
	cpu_write(0, 3, 1);
	cpu_write(1, 3, 2);
	card_uses(0, 3, WRITES, 11, DMA_OK);
	card_uses(1, 3, WRITES, 12, DMA_OK);
	kernel_evict(1, 3, 1, 0);
	card_uses(1, 3, WRITES, 22, DMA_SLVERR);
	card_uses(0, 3, WRITES, 21, DMA_OK);
	kernel_evict(0, 3, 1, 0);
	card_uses(0, 3, WRITES, 31, DMA_SLVERR);
	cpu_finds(0, 3, 21);
	cpu_finds(1, 3, 12);
	no_stale();
}
