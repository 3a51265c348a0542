// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a window makes of an entry that comes while it looks: the guest writes its first
 * one between any two of the window's looks at the ring. No thread of a window runs
 * here, the test looks itself, one instruction at a time (x86-64).
 * variants: tsan
 */
#include "rig/window.h"

#if defined(__x86_64__) && defined(__linux__)
#include <signal.h>
#include <ucontext.h>

#include "board/dram.h"
#include "window/window_internal.h"

#define TRAP_FLAG	0x100

static struct ring_play {
	struct window w;
	uint8_t *bar;			/* the window's memory, as the guest maps it */
	size_t page;
	unsigned int looks, after;	/* the look behind which the guest writes */
	struct sigaction segv, trap;	/* what was there before */
} play;

/* The driver's first entry. */
static void ring_play_write(void)
{
	struct fl_window_entry *e = (void *)(play.bar + FL_WINDOW_RING_OFFSET);

	e->kind = FL_WINDOW_WRITE;
	e->size = 4;
	e->addr = NIC_ENG_IRQ_ENABLE;
	e->arg[0] = 1;
	__atomic_store_n(&e->seq, 1, __ATOMIC_SEQ_CST);
}

/* A guest has come and not said a word. */
static void ring_play_begin(void)
{
	struct guest *g = &play.w.guest;
	unsigned int i;

	rig_boards(1, RIG_LONG);
	memset(&play, 0, sizeof(play));
	play.page = os_page_bytes();
	play.w.cfg = (struct window_config){ .board = rig.board[0],
					     .ram = rig_path(0, "ram"),
					     .ram_base = WINDOW_RAM_BASE };
	g->sock = g->bank = -1;
	g->memory = os_memory_create("ring", FL_WINDOW_BYTES);
	EXPECT(g->memory >= 0);
	/* Two mappings, as of two programs. */
	g->bar = mmap(NULL, FL_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		      g->memory, 0);
	play.bar = mmap(NULL, FL_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			g->memory, 0);
	EXPECT(g->bar != MAP_FAILED && play.bar != MAP_FAILED);
	for (i = 0; i < FL_WINDOW_VECTORS; i++)
		g->vector[i] = os_interrupt_create();
	rig_ram(&rig.guest[0], 0);
	ring_begin(g);
	EXPECT_EQ(sigbus_begin(), 0);
}

static void ring_play_end(void)
{
	struct guest *g = &play.w.guest;
	unsigned int i;

	if (g->bank >= 0) {
		dram_bank_remove(board_dram(rig.board[0]), g->bank);
		sigbus_remove(&g->cut);
	}
	sigbus_end();
	for (i = 0; i < FL_WINDOW_VECTORS; i++)
		close(g->vector[i]);
	munmap(g->bar, FL_WINDOW_BYTES);
	munmap(play.bar, FL_WINDOW_BYTES);
	close(g->memory);
	munmap(rig.guest[0].ram, RIG_RAM);
	rig_end();
}

/* ---- one look after the other ---- */

static void ring_play_protect(int prot)
{
	if (mprotect(play.w.guest.bar + FL_WINDOW_RING_OFFSET, play.page, prot))
		abort();
}

/* SIGSEGV: the window looks at the ring. Let it, for one instruction. */
static void ring_play_look(int sig, siginfo_t *info, void *context)
{
	uint8_t *ring = play.w.guest.bar + FL_WINDOW_RING_OFFSET;
	uint8_t *at = info->si_addr;
	ucontext_t *uc = context;

	(void)sig;
	if (at < ring || at >= ring + play.page)
		abort();
	ring_play_protect(PROT_READ);
	uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

/* SIGTRAP: it has seen what was there. Now the guest has its turn. */
static void ring_play_looked(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	if (++play.looks == play.after)
		ring_play_write();
	uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	ring_play_protect(PROT_NONE);
}

static void ring_play_unwatch(void)
{
	ring_play_protect(PROT_READ | PROT_WRITE);
	sigaction(SIGSEGV, &play.segv, NULL);
	sigaction(SIGTRAP, &play.trap, NULL);
}

static void ring_play_watch(void)
{
	struct sigaction sa = { .sa_sigaction = ring_play_look,
				.sa_flags = SA_SIGINFO };

	EXPECT_EQ(sigaction(SIGSEGV, &sa, &play.segv), 0);
	sa.sa_sigaction = ring_play_looked;
	EXPECT_EQ(sigaction(SIGTRAP, &sa, &play.trap), 0);
	ring_play_protect(PROT_NONE);
}

/* The entry comes behind look number "after"; the window has so many rounds for it. */
static int ring_play_take(unsigned int after, unsigned int rounds)
{
	int n = 0;

	play.after = after;
	if (!after)
		ring_play_write();
	ring_play_watch();
	while (!n && rounds--)
		n = ring_take(&play.w);
	ring_play_unwatch();
	return n;
}

TEST("a driver's first entry finds the guest's memory, behind whatever look it comes")
{
	unsigned int after = 0;
	int n;

	do {
		STEP("the entry comes behind look %u", after);
		ring_play_begin();
		n = ring_play_take(after, 3);
		EXPECT_EQ(play.w.guest.driver.head, n);
		EXPECT_EQ(play.w.guest.bank >= 0, n);
		ring_play_end();
		after++;
	} while (n);
	/* The last one came behind all looks of three rounds. */
	EXPECT_EQ(play.looks, after - 1);
	EXPECT_GE(after, 1 + 3);
}
#else
TEST("a driver's first entry finds the guest's memory, behind whatever look it comes")
{
	test_skip("one instruction at a time: on Linux with x86-64 only");
}
#endif
