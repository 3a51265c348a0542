// SPDX-License-Identifier: BSD-2-Clause
/* Steps 1 to 6: from the engine's report to READY. */
#include "labs/driver/tests/bench.h"

static struct report other_report(unsigned int index, unsigned int serial,
				  unsigned int page)
{
	struct report r = a_report;

	r.index = index;
	r.serial = serial;
	r.va = VA(page, 0);
	return r;
}

JUDGE(taken, "the top half takes all reports that are there")
{
	struct report a = other_report(1, 1, FIRST),
		b = other_report(2, 2, FIRST + 4);

	bench_new();
	judge_did("three reports, of nobody");
	bench_report(&a_report);
	bench_report(&a);
	bench_report(&b);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(0);
}

JUDGE(none_there, "and says when there was none")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_irq(LAB_LINE_FAULT, 0);
	bench_nothing();
}

JUDGE(owner, "a report of a process is work")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_report(&a_report);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(1);
}

JUDGE(which_slot, "the process is found by its slot, sixteen streams apart")
{
	struct report r = a_report;

	bench_new();
	r.stream = LAB_STREAM + 2 * 16 + 9;
	bench_open(0, r.stream, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_report(&r);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(1);
	judge_did("the first slot is one, too");
	r.stream = LAB_STREAM;
	bench_open(1, r.stream, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_report(&r);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(1);
}

JUDGE(last_owner, "a report of the slot's last owner is not the next one's")
{
	struct report old = a_report;

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_close(0);
	bench_open(1, STREAM + 16, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_report(&old);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(0);
	judge_did("nor one of a stream that is not the card's");
	old.stream = LAB_STREAM - 11;
	bench_report(&old);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(0);
}

JUDGE(whole_answer, "READY names context, side and serial, and nothing else")
{
	struct report r = a_report;

	bench_new();
	bench_report(&r);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_ready(&r, FL_ST_REMOTE_FAULT);
	r = (struct report){ .index = 11, .side = TX, .serial = 255,
			     .stream = STREAM, .va = VA(FIRST, 0), .len = 100,
			     .map = 1 };
	bench_report(&r);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_ready(&r, FL_ST_LOCAL_FAULT);
	bench_nothing();
}

JUDGE(tells_fault, "what was read is what the worker asks for")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_serve(&a_report);
	bench_asked(0, FIRST, 4, true);
	bench_ready(&a_report, 0);
	bench_nothing();
}

JUDGE(tells_read, "a read of ours too, from the middle of a page")
{
	struct report r = { .index = 0, .side = TX, .write = 0, .serial = 200,
			    .stream = STREAM, .va = VA(FIRST + 9, 8),
			    .len = 4096, .map = 2 };

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_serve(&r);
	bench_asked(0, FIRST + 9, 2, false);
	bench_ready(&r, 0);
	bench_counts(0, LAB_FAULTS_SRC, 1);
	bench_counts(0, LAB_FAULTS_DST, 0);
}

JUDGE(tells_map, "its map, and what is left of the transfer")
{
	struct report r = a_report;

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE);
	r.map = 0xc;
	bench_serve(&r);
	bench_asked(0, FIRST + 2, 1, true);
	bench_ready(&r, 0);
	bench_open(1, STREAM + 1, FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER);
	r.stream = STREAM + 1;
	r.left = VA(3, 0);
	bench_serve_ahead(&r);
	bench_asked(1, FIRST, 4, true);
	bench_ready(&r, 0);
	judge_did("and only then what is wanted ahead");
	bench_asked(1, FIRST + 4, 3, true);
	judge_did("more than 32 bits can say is left, and the region is shorter");
	bench_region(1, VA(FIRST + 16, 0), VA(8, 0), true);
	r.va = VA(FIRST + 16, 0);
	r.left = (UINT64_C(1) << 32) + VA(1, 0);
	bench_serve_ahead(&r);
	bench_asked(1, FIRST + 16, 4, true);
	bench_ready(&r, 0);
	bench_asked(1, FIRST + 20, 4, true);
	judge_did("whose transfer and block it was: what the TLB forgets is told with it");
	bench_pages(1, FIRST + 20, 4, LAB_CLEAN);
	r.va = VA(FIRST + 20, 0);
	bench_serve(&r);
	bench_counts(1, LAB_NAMED, (uint64_t)LAB_XFER << 32 | LAB_XBLOCK);
}

JUDGE(not_mixed, "each report by itself: read before it is taken off")
{
	struct report b = other_report(9, 100, FIRST + 8);

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	b.side = TX;
	b.write = 0;
	b.len = 4096;
	bench_report(&a_report);
	bench_report(&b);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(2);
	bench_asked(0, FIRST, 4, true);
	bench_ready(&a_report, 0);
	bench_asked(0, FIRST + 8, 1, false);
	bench_ready(&b, 0);
	bench_nothing();
}

JUDGE(both_sides, "a transmit and a receive context of one number are two")
{
	struct report b = other_report(3, 9, FIRST + 8);

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	b.side = TX;
	bench_report(&a_report);
	bench_report(&b);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(2);
	bench_asked(0, FIRST, 4, true);
	bench_ready(&a_report, 0);
	bench_asked(0, FIRST + 8, 4, true);
	bench_ready(&b, 0);
}

JUDGE(newest, "of two reports of a context that wait, the newer one counts")
{
	struct report b = other_report(3, 8, FIRST + 8);

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_report(&a_report);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_report(&b);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(1);
	bench_asked(0, FIRST + 8, 4, true);
	bench_ready(&b, 0);
	bench_nothing();
}

JUDGE(taken_once, "a report is answered once")
{
	struct report b = other_report(3, 8, FIRST + 8);

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_report(&a_report);
	bench_irq(LAB_LINE_FAULT, 1);
	WHEN(LAB_AT_WORK, 0, "the engine reports again, serial 8", LAB_REPORT,
	     REPORT(b));
	WHEN(LAB_AT_WORK, 0, "and the top half takes it", LAB_IRQ,
	     LAB_LINE_FAULT, 8);
	bench_work(2);
	bench_asked(0, FIRST + 8, 4, true);
	bench_ready(&b, 0);
	bench_nothing();
}

JUDGE(own_copy, "a report that comes while its worker is busy waits")
{
	struct report b = other_report(3, 8, FIRST + 8);

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_report(&a_report);
	bench_irq(LAB_LINE_FAULT, 1);
	WHEN(LAB_AT_PAGE, FIRST + 1, "the engine reports again, serial 8",
	     LAB_REPORT, REPORT(b));
	WHEN(LAB_AT_PAGE, FIRST + 1, "and the top half takes it", LAB_IRQ,
	     LAB_LINE_FAULT, 8);
	bench_work(2);
	bench_asked(0, FIRST, 4, true);
	bench_ready(&a_report, 0);
	bench_asked(0, FIRST + 8, 4, true);
	bench_ready(&b, 0);
	bench_nothing();
}

JUDGE(not_repaired, "what cannot be repaired is given up, and counted")
{
	struct report r = a_report;

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_map(0, FIRST, 4, 0);
	bench_serve(&r);
	bench_ready(&r, FL_ST_REMOTE_FAULT);
	r.side = TX;
	bench_serve(&r);
	bench_ready(&r, FL_ST_LOCAL_FAULT);
	bench_nothing();
	bench_counts(0, LAB_FAILED, 2);
	bench_counts(0, LAB_FAULTS, 2);
}

JUDGE(ended_in_stall, "a held access was counted, not its end")
{
	bench_usual(FL_SYSTEM_STALL, FL_IOC_RESOLVE_BLOCK);
	bench_map(0, FIRST, 4, 0);
	bench_change(0, LAB_REFUSED,
		     (uint64_t)LAB_XFER << 32 | LAB_XBLOCK);
	bench_serve(&a_report);
	bench_ready(&a_report, FL_ST_REMOTE_FAULT);
	bench_counts(0, LAB_FAILED, 0);
	bench_counts(0, LAB_FAULTS, 0);
}

JUDGE(left_meanwhile, "a process that has left gets nothing, the card an answer")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_report(&a_report);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_close(0);
	bench_work(1);
	bench_ready(&a_report, FL_ST_REMOTE_FAULT);
	bench_nothing();
}

JUDGE(next_owner, "who has the slot by then is not asked for another's pages")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_report(&a_report);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_close(0);
	bench_open(1, STREAM, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_work(1);
	bench_ready(&a_report, FL_ST_REMOTE_FAULT);
	bench_nothing();
	bench_counts(1, LAB_FAILED, 0);
	bench_counts(1, LAB_PAGES_IN, 0);
}
