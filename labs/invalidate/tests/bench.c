// SPDX-License-Identifier: BSD-2-Clause
/* See bench.h. */
#include "labs/invalidate/tests/bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint64_t last_urcu[LAB_URCU_COUNT];

/* After each step the kernel's own checker must be content. */
static struct subject_msg bench_ask(uint32_t op, uint64_t a, uint64_t b,
				    uint64_t c, uint64_t d)
{
	struct subject_msg m = { .op = op, .arg = { a, b, c, d } };
	char text[sizeof(uint64_t) * (SUBJECT_ARGS - LAB_AT_CHECK)];

	judge_ask(&m);
	memcpy(text, &m.arg[LAB_AT_CHECK], sizeof(text));
	text[sizeof(text) - 1] = 0;
	judge_same("what the kernel's checker finds wrong", text, "");
	return m;
}

void bench_new(unsigned int frames, unsigned int swap)
{
	if (frames)
		judge_did("a board with %u frames, a process, its card", frames);
	else
		judge_did("a board, a process, its card");
	bench_ask(LAB_NEW, frames, swap, 0, 0);
	forget();
}

unsigned int bench_process(void)
{
	judge_did("one more process");
	return (unsigned int)bench_ask(LAB_PROCESS, 0, 0, 0, 0).arg[0];
}

unsigned int bench_open(unsigned int process)
{
	judge_did("process %u opens the card, and gets the next bank", process);
	return (unsigned int)bench_ask(LAB_OPEN, process, 0, 0, 0).arg[0];
}

void bench_close(unsigned int card)
{
	judge_did("card %u is closed", card);
	bench_ask(LAB_CLOSE, card, 0, 0, 0);
}

/* ---- the CPU ---- */

static uint64_t bench_sum_of(unsigned int seed)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < LAB_PAGE_BYTES; i++)
		sum = lab_add(sum, lab_byte(seed, i));
	return sum;
}

void cpu_write(unsigned int process, unsigned int page, unsigned int seed)
{
	judge_did("CPU: process %u fills page %u with bytes of seed %u",
		  process, page, seed);
	judge_equal("error", bench_ask(LAB_CPU, process, page, 1, seed).arg[0],
		    0);
}

void cpu_fill(unsigned int process, unsigned int page, unsigned int n,
	      unsigned int seed)
{
	unsigned int i;

	judge_did("CPU: process %u fills pages %u to %u", process, page,
		  page + n - 1);
	for (i = 0; i < n; i++)
		judge_equal("error", bench_ask(LAB_CPU, process, page + i, 1,
					       seed + i).arg[0], 0);
}

void cpu_finds(unsigned int process, unsigned int page, unsigned int seed)
{
	struct subject_msg m;
	char what[80], came[40];
	unsigned int i;

	judge_did("CPU: process %u reads page %u", process, page);
	m = bench_ask(LAB_CPU, process, page, 0, 0);
	judge_equal("error", m.arg[0], 0);
	if (m.arg[1] == bench_sum_of(seed))
		return;
	snprintf(came, sizeof(came), "others");
	for (i = 0; i < 256; i++)
		if (m.arg[1] == bench_sum_of(i))
			snprintf(came, sizeof(came), "those of seed %u", i);
	snprintf(what, sizeof(what), "those of seed %u", seed);
	judge_same("bytes of the page", came, what);
}

uint64_t cpu_faults(unsigned int process, unsigned int page, bool write)
{
	uint64_t before, after;

	before = bench_ask(LAB_CPU, process, LAB_PAGES - 1, 0, 0).arg[2];
	after = bench_ask(LAB_CPU, process, page, write, 0).arg[2];
	return after - before;
}

void cpu_refuses(unsigned int times)
{
	judge_did("the CPU's view cannot be closed, %u times", times);
	bench_ask(LAB_REFUSE, times, 0, 0, 0);
}

/* ---- the kernel ---- */

static uint64_t bench_advise(const char *text, unsigned int process, unsigned int page,
			     unsigned int n, enum host_advice a, int want)
{
	struct subject_msg m;

	judge_did("kernel: %s of process %u, page %u, %u page%s", text, process,
		  page, n, n == 1 ? "" : "s");
	m = bench_ask(LAB_ADVISE, process, page, n, a);
	judge_same("error of the kernel", strerror(-(int)m.arg[0]),
		   strerror(-want));
	return m.arg[1];
}

uint64_t kernel_evict(unsigned int process, unsigned int page, unsigned int n,
		      int want)
{
	return bench_advise("eviction", process, page, n, HOST_PAGEOUT, want);
}

uint64_t kernel_age(unsigned int process, unsigned int page, unsigned int n,
		    int want)
{
	return bench_advise("ageing", process, page, n, HOST_COLD, want);
}

void kernel_protect(unsigned int process, unsigned int page, unsigned int n,
		    int prot)
{
	judge_did("kernel: mprotect of process %u, page %u, %u pages", process,
		  page, n);
	judge_equal("error", bench_ask(LAB_PROTECT, process, page, n,
				       (uint64_t)prot).arg[0], 0);
}

void kernel_unmap(unsigned int process, unsigned int page, unsigned int n)
{
	judge_did("kernel: munmap of process %u, page %u, %u pages", process,
		  page, n);
	judge_equal("error", bench_ask(LAB_UNMAP, process, page, n, 0).arg[0],
		    0);
}

void kernel_pin(unsigned int process, unsigned int page, unsigned int n)
{
	judge_did("kernel: pages %u to %u of process %u are pinned", page,
		  page + n - 1, process);
	judge_equal("pages", bench_ask(LAB_PIN, process, page, n,
				       LAB_STAY_PINNED).arg[0], n);
}

void kernel_hold(unsigned int process, unsigned int page)
{
	judge_did("kernel: page %u of process %u is held", page, process);
	bench_ask(LAB_PIN, process, page, 1, LAB_STAY_HELD);
}

void kernel_unpin(unsigned int process, unsigned int page, unsigned int n)
{
	judge_did("kernel: pages %u to %u of process %u are unpinned", page,
		  page + n - 1, process);
	bench_ask(LAB_PIN, process, page, n, LAB_STAY_NOT);
}

void kernel_swap_bad(bool bad)
{
	judge_did("swap %s be written", bad ? "cannot" : "can");
	bench_ask(LAB_SWAP_BAD, bad, 0, 0, 0);
}

void card_goes(void)
{
	judge_did("the card is gone: its registers read as ones");
	bench_ask(LAB_GONE, 0, 0, 0, 0);
}

uint64_t kernel_tells(unsigned int process, uint64_t start, uint64_t end)
{
	judge_did("kernel: tells the driver of process %u: bytes 0x%" PRIx64
		  " to before 0x%" PRIx64, process, start, end);
	return bench_ask(LAB_TELL, process, start, end, 0).arg[1];
}

uint64_t kernel_ends_space(unsigned int process)
{
	judge_did("kernel: tells the driver that process %u ends", process);
	return bench_ask(LAB_END_SPACE, process, 0, 0, 0).arg[1];
}

void kernel_region(unsigned int process, unsigned int card, unsigned int page,
		   unsigned int n)
{
	judge_did("process %u registers pages %u to %u, pinned", process, page,
		  page + n - 1);
	judge_equal("error",
		    bench_ask(LAB_REGION, process, card, page, n).arg[0], 0);
}

/* ---- the card ---- */

static const char *bench_outcome(uint64_t st)
{
	switch (st) {
	case DMA_OK:
		return "it gets through";
	case DMA_SLVERR:
		return "a fault";
	case DMA_STALLED:
		return "it is held";
	default:
		return "an error of the bus";
	}
}

static void bench_begin_burst(unsigned int channel, unsigned int card,
			      unsigned int page, int how, unsigned int seed,
			      enum dma_status want)
{
	struct subject_msg m = { .op = LAB_BEGIN,
				 .arg = { channel, card, page, how == WRITES,
					  seed } };

	judge_ask(&m);
	judge_same("the card's access", bench_outcome(m.arg[0]),
		   bench_outcome(want));
}

void card_uses(unsigned int card, unsigned int page, int how, unsigned int seed,
	       enum dma_status want)
{
	judge_did("card %u: %s page %u", card,
		  how == WRITES ? "writes" : "reads", page);
	bench_begin_burst(0, card, page, how, seed, want);
	bench_ask(LAB_FINISH, 0, 0, 0, 0);
}

void card_begins(unsigned int channel, unsigned int card, unsigned int page,
		 int how, unsigned int seed)
{
	judge_did("card %u: begins to %s page %u (channel %u, bytes of seed %u)",
		  card, how == WRITES ? "write" : "read", page, channel, seed);
	bench_begin_burst(channel, card, page, how, seed, DMA_OK);
}

bool card_tries(unsigned int channel, unsigned int card, unsigned int page,
		unsigned int seed)
{
	struct subject_msg m = { .op = LAB_BEGIN,
				 .arg = { channel, card, page, 1, seed } };

	judge_ask(&m);
	judge_did("card %u: begins to write page %u (channel %u, seed %u): %s",
		  card, page, channel, seed, bench_outcome(m.arg[0]));
	return m.arg[0] == DMA_OK;
}

void card_ends(unsigned int channel)
{
	judge_did("card: the access of channel %u ends", channel);
	bench_ask(LAB_FINISH, channel, 0, 0, 0);
}

void card_ends_in(unsigned int channel, uint64_t ns)
{
	judge_did("card: the access of channel %u will end in %" PRIu64 " us",
		  channel, ns / US);
	bench_ask(LAB_FINISH, channel, ns, 0, 0);
}

void card_when(enum lab_moment m, unsigned int channel, unsigned int page,
	       unsigned int seed, uint64_t lasts_ns, unsigned int times)
{
	static const char *const when[LAB_MOMENTS] = {
		"when the CPU's view has been closed",
		"just before the driver is told", "when the driver was told",
	};
	struct subject_msg q = { .op = LAB_WHEN,
				 .arg = { m, channel, 0, page, 1, seed,
					  lasts_ns, times } };

	judge_did("card: will write page %u (seed %u, %" PRIu64 " us) %s", page,
		  seed, lasts_ns / US, when[m]);
	judge_ask(&q);
}

void card_busy(unsigned int card, unsigned int page, uint64_t lasts_ns,
	       unsigned int times)
{
	judge_did("card %u: writes page %u without a pause, both channels",
		  card, page);
	bench_ask(LAB_BUSY, card, page, lasts_ns, times);
}

void bench_wait(uint64_t ns)
{
	judge_did("%" PRIu64 " us pass", ns / US);
	bench_ask(LAB_WAIT, ns, 0, 0, 0);
}

/* ---- what happened ---- */

static char text[4096];
static size_t used;

static void bench_print(const char *fmt, ...)
{
	va_list ap;

	if (used)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ", ");
	va_start(ap, fmt);
	if (used < sizeof(text))
		used += (size_t)vsnprintf(text + used, sizeof(text) - used, fmt,
					  ap);
	va_end(ap);
	if (used > sizeof(text) - 1)
		used = sizeof(text) - 1;
}

static void say_range(const char *what, const uint64_t *a)
{
	if (a[0] == LAB_NOWHERE)
		bench_print("%s ELSEWHERE", what);
	else if (a[1] == 1)
		bench_print("%s %" PRIu64, what, a[0]);
	else
		bench_print("%s %" PRIu64 "-%" PRIu64, what, a[0],
			    a[0] + a[1] - 1);
}

static void say_told(const char *what, const uint64_t *a)
{
	say_range(what, a);
	if (a[2])
		bench_print("%" PRIu64 " STILL VALID", a[2]);
	if (a[3])
		bench_print("%" PRIu64 " OPEN TO THE CPU", a[3]);
	if (a[4])
		bench_print("%" PRIu64 " GIVEN AWAY", a[4]);
}

static void say_tlbi(const uint64_t *a)
{
	static const char *const op[] = { "tlbiva", "tlbival", "tlbivaa",
					  "tlbivaal", "tlbiasid", "tlbiall" };
	const char *name = a[3] < 6 ? op[a[3]] : "tlbi of all banks";

	if (a[3] <= SMMU_TLBI_VAAL && a[1] == LAB_NOWHERE)
		bench_print("bank %" PRIu64 " %s ELSEWHERE of asid %" PRIu64,
			    a[0], name, a[2]);
	else if (a[3] <= SMMU_TLBI_VAAL)
		bench_print("bank %" PRIu64 " %s %" PRIu64 " of asid %" PRIu64,
			    a[0], name, a[1], a[2]);
	else
		bench_print("bank %" PRIu64 " %s of asid %" PRIu64, a[0], name,
			    a[2]);
}

static void say_event(uint64_t ev, const uint64_t *a)
{
	switch (ev) {
	case LAB_EV_CLOSE:
		say_range("close", a);
		break;
	case LAB_EV_TELL:
		say_told("tell", a);
		break;
	case LAB_EV_TOLD:
		say_told("told", a);
		break;
	case LAB_EV_CARD:
		bench_print("card: %s", bench_outcome(a[0]));
		break;
	case LAB_EV_LANDED:
		bench_print("the card's bytes land");
		break;
	case LAB_EV_TLBI:
		say_tlbi(a);
		break;
	case LAB_EV_SYNC:
		bench_print("bank %" PRIu64 " sync", a[0]);
		break;
	case LAB_EV_SYNCED:
		bench_print("bank %" PRIu64 " synced", a[0]);
		break;
	case LAB_EV_AGED:
		bench_print("aged %" PRIu64, a[0]);
		break;
	case LAB_EV_EVICTED:
		bench_print("%s %" PRIu64, a[1] == 2 ? "swapped" : "dropped",
			    a[0]);
		break;
	default:
		bench_print("STALE ACCESS");
	}
}

static void bench_listen(void)
{
	struct subject_msg m;

	used = 0;
	text[0] = 0;
	while ((m = bench_ask(LAB_LOG, 0, 0, 0, 0)).arg[0])
		say_event(m.arg[1], &m.arg[2]);
}

void happened(const char *expected)
{
	bench_listen();
	judge_same("what happened, in this order", text, expected);
}

void happened_first(const char *expected)
{
	size_t n = strlen(expected);

	bench_listen();
	if (strlen(text) > n && text[n] == ',')
		text[n] = 0;
	judge_same("what happened first, in this order", text, expected);
}

unsigned int happened_times(const char *part)
{
	const char *p = text;
	unsigned int n = 0;

	bench_listen();
	while ((p = strstr(p, part))) {
		p++;
		n++;
	}
	return n;
}

void forget(void)
{
	bench_listen();
}

uint64_t told(enum lab_stat s)
{
	return bench_ask(LAB_STATS, 0, 0, 0, 0).arg[s];
}

void no_stale(void)
{
	judge_equal("accesses through a stale translation", told(LAB_STALE), 0);
}

uint64_t descriptor(unsigned int process, unsigned int page)
{
	return bench_ask(LAB_LOOK, process, page, 0, 0).arg[0];
}

uint64_t frame(unsigned int process, unsigned int page)
{
	return bench_ask(LAB_LOOK, process, page, 0, 0).arg[2];
}

uint64_t smmu_reg(uint32_t off, unsigned int bytes)
{
	return bench_ask(LAB_REG, off, bytes, 0, 0).arg[0];
}

/* ---- grace periods by themselves ---- */

uint64_t grace(enum lab_grace op, unsigned int channel)
{
	static const char *const did[] = {
		"a new grace period counter, in lockstep", "enter", "exit",
		"start", "done?", "a new one, in threads mode",
	};
	struct subject_msg m = { .op = LAB_GRACE, .arg = { op, channel } };

	if (op == LAB_GRACE_ENTER || op == LAB_GRACE_EXIT)
		judge_did("sim_grace_%s, channel %u", did[op], channel);
	else if (op == LAB_GRACE_START || op == LAB_GRACE_DONE)
		judge_did("sim_grace_%s", did[op]);
	else
		judge_did("%s", did[op]);
	judge_ask(&m);
	memcpy(last_urcu, &m.arg[1], sizeof(last_urcu));
	return m.arg[0];
}

void reader(enum lab_reader op)
{
	static const char *const call[LAB_CALLS] = {
		"none",
		"urcu_qsbr_register_thread, of one that is registered",
		"urcu_qsbr_unregister_thread, of one that is not registered",
		"urcu_qsbr_thread_online, of one that is online or unknown",
		"urcu_qsbr_thread_offline, of one that is offline or unknown",
		"urcu_qsbr_quiescent_state, of one that is offline",
	};
	static const char *const did[] = {
		"the thread begins to run hardware", "and leaves it",
		"a thread runs hardware twice, and ends",
	};
	struct subject_msg m = { .op = LAB_READER, .arg = { op } };

	judge_did("%s", did[op]);
	judge_ask(&m);
	memcpy(last_urcu, &m.arg[1], sizeof(last_urcu));
	judge_same("call of liburcu that is wrong at that moment",
		   call[last_urcu[LAB_URCU_WRONG] % LAB_CALLS], call[0]);
}

uint64_t urcu(enum lab_urcu what)
{
	return last_urcu[what];
}
