// SPDX-License-Identifier: BSD-2-Clause
/* Steps 6 to 9: in which order pages lose what they had. */
#include <errno.h>

#include "labs/invalidate/tests/bench.h"

#define DROPPED(page) "bank 0 tlbiva " #page " of asid 1"
/* Nothing has gone but a flag: the last level. */
#define AGED(page) "bank 0 tlbival " #page " of asid 1"
#define SYNCED	"bank 0 sync, bank 0 synced"
#define VALID	1u
#define WRITEBACK (100 * US)	/* timing.def, MM_WRITEBACK */
#define AF	(1u << 10)

/* ---- step 6 ---- */

JUDGE(aged, "ageing: the CPU's view, the flag, the TLB")
{
	bench_new(0, 0);
	cpu_write(0, 3, 1);
	card_uses(0, 3, READS, 0, DMA_OK);
	forget();
	kernel_age(0, 3, 1, 0);
	happened("close 3, aged 3, tell 3, " AGED(3) ", " SYNCED ", told 3");
	judge_equal("pages aged", told(LAB_AGES), 1);
	card_uses(0, 3, READS, 0, DMA_SLVERR);
	cpu_finds(0, 3, 1);
	card_uses(0, 3, READS, 0, DMA_OK);
}

JUDGE(aged_few, "of a range only who has the flag, told in one go")
{
	bench_new(0, 0);
	cpu_write(0, 3, 1);
	cpu_fill(0, 5, 3, 2);
	kernel_age(0, 7, 1, 0);
	forget();
	kernel_age(0, 1, 12, 0);
	happened("close 3-6, aged 3, aged 5, aged 6, tell 3-6, "
		 AGED(3) ", " AGED(4) ", " AGED(5) ", " AGED(6) ", "
		 SYNCED ", told 3-6");
	kernel_age(0, 1, 12, 0);
	happened("");
}

JUDGE(aged_refused, "who keeps its view keeps its flags, and nobody is told")
{
	bench_new(0, 0);
	cpu_write(0, 3, 1);
	card_uses(0, 3, READS, 0, DMA_OK);
	forget();
	cpu_refuses(1);
	kernel_age(0, 3, 1, -EBUSY);
	happened("");
	card_uses(0, 3, READS, 0, DMA_OK);
	kernel_age(0, 3, 1, 0);
	card_uses(0, 3, READS, 0, DMA_SLVERR);
}

JUDGE(aged_pinned, "who asks for it has pinned pages aged too, held ones never")
{
	bench_new(0, 0);
	cpu_fill(0, 3, 2, 1);
	kernel_pin(0, 3, 1);
	forget();
	kernel_age(0, 3, 2, 0);
	happened("close 3-4, aged 3, aged 4, tell 3-4, "
		 AGED(3) ", " AGED(4) ", " SYNCED ", told 3-4");
	cpu_fill(0, 6, 2, 1);
	kernel_hold(0, 6);
	forget();
	kernel_age(0, 6, 2, 0);
	happened("close 6-7, aged 7, tell 7, " AGED(7) ", " SYNCED ", told 7");
}

/* ---- step 7 ---- */

JUDGE(no_room, "three dirty pages, two slots: -ENOSPC")
{
	bench_new(0, 2);
	cpu_fill(0, 3, 3, 1);
	kernel_evict(0, 3, 3, -ENOSPC);
	kernel_evict(0, 3, 3, -ENOSPC);
}

/* ---- step 8 ---- */

JUDGE(broken_first, "the CPU's view, the entry, the TLB; then the rest")
{
	bench_new(0, 0);
	cpu_write(0, 3, 1);
	card_uses(0, 3, READS, 0, DMA_OK);
	forget();
	kernel_evict(0, 3, 1, 0);
	happened_first("close 3, tell 3, " DROPPED(3) ", " SYNCED ", told 3");
	card_uses(0, 3, READS, 0, DMA_SLVERR);
}

JUDGE(broken_run, "a run is told in one go, from its first page to its last")
{
	bench_new(0, 0);
	cpu_fill(0, 4, 2, 1);
	cpu_write(0, 7, 3);
	forget();
	kernel_evict(0, 2, 9, 0);
	happened_first("close 4-7, tell 4-7, " DROPPED(4) ", " DROPPED(5) ", "
		       DROPPED(6) ", " DROPPED(7) ", " SYNCED ", told 4-7");
}

JUDGE(broken_batch, "64 pages, and then the next ones")
{
	bench_new(0, 0);
	cpu_fill(0, 0, 66, 1);
	forget();
	kernel_evict(0, 0, 64, 0);
	judge_equal("pages dropped one by one", happened_times("tlbiva "), 64);
	kernel_evict(0, 64, 2, 0);
	happened_first("close 64-65, tell 64-65, " DROPPED(64) ", " DROPPED(65)
		       ", " SYNCED ", told 64-65");
}

JUDGE(broken_refused, "who keeps its view keeps its pages, and needs no slot")
{
	uint64_t was;

	bench_new(0, 0);
	cpu_fill(0, 3, 2, 1);
	card_uses(0, 3, READS, 0, DMA_OK);
	was = frame(0, 4);
	forget();
	cpu_refuses(1);
	kernel_evict(0, 3, 2, -EBUSY);
	happened("");
	judge_equal("slots of swap in use", told(LAB_SWAP_USED), 0);
	judge_equal("frame of page 4", frame(0, 4), was);
	card_uses(0, 3, READS, 0, DMA_OK);
	card_uses(0, 4, WRITES, 9, DMA_OK);
	cpu_finds(0, 4, 9);
	kernel_evict(0, 3, 2, 0);
	card_uses(0, 3, READS, 0, DMA_SLVERR);
}

JUDGE(broken_not_pinned, "a pinned page in the middle stays, for CPU and card")
{
	bench_new(0, 0);
	cpu_fill(0, 3, 3, 1);
	kernel_pin(0, 4, 1);
	forget();
	kernel_evict(0, 3, 3, 0);
	/* Closed it was, with the others; what the card needs is there. */
	happened_first("close 3-5, tell 3-5, 1 STILL VALID, " DROPPED(3) ", "
		       DROPPED(4) ", " DROPPED(5) ", " SYNCED
		       ", told 3-5, 1 STILL VALID");
	card_uses(0, 3, WRITES, 9, DMA_SLVERR);
	card_uses(0, 4, WRITES, 9, DMA_OK);
	card_uses(0, 5, WRITES, 9, DMA_SLVERR);
	cpu_finds(0, 4, 9);
	kernel_unpin(0, 4, 1);
	kernel_evict(0, 4, 1, 0);
	card_uses(0, 4, READS, 0, DMA_SLVERR);
}

/* ---- step 9 ---- */

JUDGE(swapped, "a dirty page goes to swap, its frame to whoever wants it")
{
	bench_new(0, 0);
	cpu_write(0, 3, 1);
	forget();
	kernel_evict(0, 3, 1, 0);
	happened("close 3, tell 3, " DROPPED(3) ", " SYNCED
		 ", told 3, swapped 3");
	judge_equal("frames in use", told(LAB_FRAMES_USED), 0);
	judge_equal("slots of swap in use", told(LAB_SWAP_USED), 1);
	judge_equal("evictions", told(LAB_EVICTIONS), 1);
	judge_equal("pages written to swap", told(LAB_SWAP_OUTS), 1);
	cpu_finds(0, 3, 1);
}

JUDGE(dropped, "a page of zeros is dropped")
{
	bench_new(0, 1);
	cpu_finds(0, 3, 0);
	cpu_finds(0, 4, 0);
	forget();
	kernel_evict(0, 3, 2, 0);
	judge_equal("pages dropped", happened_times("dropped"), 2);
	judge_equal("slots of swap in use", told(LAB_SWAP_USED), 0);
	judge_equal("descriptor", descriptor(0, 3), 0);
	cpu_finds(0, 3, 0);
}

JUDGE(written_once, "what came from swap and was not written goes as it came")
{
	bench_new(0, 0);
	cpu_write(0, 3, 1);
	judge_at_least("ns that writing took", kernel_evict(0, 3, 1, 0),
		       WRITEBACK);
	cpu_finds(0, 3, 1);
	kernel_evict(0, 3, 1, 0);
	judge_equal("pages written to swap", told(LAB_SWAP_OUTS), 1);
	judge_equal("slots of swap in use", told(LAB_SWAP_USED), 1);
	cpu_finds(0, 3, 1);
	cpu_write(0, 3, 2);
	kernel_evict(0, 3, 1, 0);
	judge_equal("pages written to swap", told(LAB_SWAP_OUTS), 2);
	cpu_finds(0, 3, 2);
}

JUDGE(not_written, "what cannot be written stays, as if nothing had been")
{
	uint64_t was;

	bench_new(0, 0);
	cpu_fill(0, 3, 2, 1);
	was = frame(0, 3);
	kernel_swap_bad(true);
	kernel_evict(0, 3, 2, -EIO);
	judge_equal("slots of swap in use", told(LAB_SWAP_USED), 0);
	judge_equal("frame of page 3", frame(0, 3), was);
	card_uses(0, 3, WRITES, 9, DMA_OK);
	cpu_finds(0, 3, 9);
	cpu_finds(0, 4, 2);
	kernel_swap_bad(false);
	kernel_evict(0, 3, 2, 0);
	cpu_finds(0, 3, 9);
}

JUDGE(some_stay, "three dirty pages, two slots: one stays, no matter which; others go")
{
	unsigned int page, stays = 0;

	bench_new(0, 2);
	cpu_fill(0, 3, 3, 1);
	/* Clean ones on both sides: whoever has no slot is not the end of it. */
	cpu_finds(0, 2, 0);
	cpu_finds(0, 6, 0);
	kernel_evict(0, 2, 5, -ENOSPC);
	judge_equal("evictions", told(LAB_EVICTIONS), 4);
	for (page = 3; page < 6; page++)
		if (frame(0, page))
			stays = page;
	card_uses(0, stays, WRITES, 9, DMA_OK);
	for (page = 3; page < 6; page++)
		cpu_finds(0, page, page == stays ? 9 : page - 2);
}

JUDGE(pinned_stays, "pages that are pinned or held take no slot")
{
	bench_new(0, 1);
	cpu_fill(0, 3, 3, 1);
	kernel_pin(0, 3, 1);
	kernel_hold(0, 5);
	kernel_evict(0, 3, 3, 0);
	judge_equal("evictions", told(LAB_EVICTIONS), 1);
	judge_equal("descriptor of page 3 & 1", descriptor(0, 3) & VALID, 1);
	judge_equal("descriptor of page 5 & 1", descriptor(0, 5) & VALID, 1);
	kernel_unpin(0, 3, 1);
}

JUDGE(clock_spares, "the clock ages what it meets, but no pinned page")
{
	bench_new(4, 0);
	cpu_fill(0, 0, 4, 1);
	kernel_pin(0, 1, 1);
	cpu_write(0, 20, 9);
	judge_equal("access flag of page 1", descriptor(0, 1) & AF, AF);
	judge_equal("evictions", told(LAB_EVICTIONS), 1);
	kernel_unpin(0, 1, 1);
	cpu_finds(0, 0, 1);
	cpu_finds(0, 20, 9);
}
