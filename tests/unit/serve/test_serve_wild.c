// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes that do everything a process can, at random and several calls at
 * once, mostly with arguments that make sense: memory comes and goes, is imported,
 * released, pinned, protected and thrown away; pages are closed at once, late or not
 * at all; and each ends in the middle of it.
 *
 * variants: tsan posix pages
 */
#include "rig/serve_raw.h"

#define SLOTS	16u
#define HEAP	0x555500000000ull
#define BLOCKS	8u

struct wild {
	struct target t;
	uint32_t state;
	int file;
	uint64_t block[BLOCKS];		/* from ALLOC and MAP_FILE */
	uint32_t key[BLOCKS];
	uint32_t notes;
	uint64_t mood_ends_ns, views_ns;
	unsigned int mood;		/* 0: does what it is told, 1: late, 2: not */
};

static uint32_t wild_below(struct wild *w, uint32_t n)
{
	return rig_random(&w->state) % n;
}

static uint64_t some_address(struct wild *w)
{
	switch (wild_below(w, 3)) {
	case 0:
		return w->t.mem + wild_below(w, 280) * (uint64_t)RIG_PAGE;
	case 1:
		return HEAP + wild_below(w, 24) * (uint64_t)RIG_PAGE;
	default:
		return w->block[wild_below(w, BLOCKS)] +
		       wild_below(w, 8) * (uint64_t)RIG_PAGE;
	}
}

static uint64_t some_bytes(struct wild *w)
{
	return (1 + wild_below(w, 24)) * (uint64_t)RIG_PAGE;
}

static void asks_driver(struct wild *w, unsigned int slot)
{
	struct fl_reg_mr mr = { .size = sizeof(mr), .addr = some_address(w),
				.length = some_bytes(w), .pd = w->t.pd,
				.access = wild_below(w, 8),
				.flags = wild_below(w, 2) };
	struct fl_destroy d = { .size = sizeof(d),
				.object = w->key[wild_below(w, BLOCKS)] };
	struct fl_prefetch pf = { .size = sizeof(pf), .addr = w->t.mem,
				  .key = w->t.key, .length = RAW_BYTES,
				  .flags = wild_below(w, 2) };
	uint64_t arg[4] = { (uint64_t)w->t.fd };

	switch (wild_below(w, 3)) {
	case 0:
		arg[1] = FL_IOC_REG_MR;
		raw_ask(&w->t.r, slot, ATTACH_IOCTL, arg, &mr, sizeof(mr));
		break;
	case 1:
		arg[1] = FL_IOC_DEREG_MR;
		raw_ask(&w->t.r, slot, ATTACH_IOCTL, arg, &d, sizeof(d));
		break;
	default:
		arg[1] = FL_IOC_PREFETCH;
		raw_ask(&w->t.r, slot, ATTACH_IOCTL, arg, &pf, sizeof(pf));
	}
}

static uint64_t wild_mask(struct wild *w)
{
	uint64_t part = (1ull << HOST_FRAMES) - 1;

	return (part << wild_below(w, 4) * HOST_FRAMES) |
	       (part << wild_below(w, 4) * HOST_FRAMES);
}

static void wild_asks(struct wild *w, unsigned int slot)
{
	static const uint8_t ops[] = {
		ATTACH_FAULT, ATTACH_FAULT, ATTACH_FAULT, ATTACH_IOCTL,
		ATTACH_ALLOC, ATTACH_MAP_FILE, ATTACH_FREE, ATTACH_ADVISE,
		ATTACH_ADVISE, ATTACH_PROTECT, ATTACH_IMPORT, ATTACH_IMPORT,
		ATTACH_IMPORTED, ATTACH_RETURN, ATTACH_RETURNED, ATTACH_REMAP,
		ATTACH_LOOK,
	};
	struct attach_note n = { .kind = ATTACH_FILE, .id = w->notes };
	uint32_t op = ops[wild_below(w, sizeof(ops))];
	uint64_t pages = (1 + wild_below(w, 64 / HOST_FRAMES)) * HOST_FRAMES;
	uint64_t arg[4] = { some_address(w), some_bytes(w), wild_below(w, 4),
		0 };

	switch (op) {
	case ATTACH_IOCTL:
		asks_driver(w, slot);
		return;
	case ATTACH_FAULT:
		arg[1] = wild_below(w, 3) - 1ull;
		break;
	case ATTACH_ALLOC:
		arg[0] = some_bytes(w);
		break;
	case ATTACH_MAP_FILE:
		os_send(w->t.r.sock, &n, sizeof(n), &w->file, 1);
		arg[0] = some_bytes(w) % (4 * RIG_PAGE);
		arg[1] = w->notes++;
		break;
	case ATTACH_IMPORT: case ATTACH_IMPORTED: case ATTACH_RETURN:
	case ATTACH_RETURNED: case ATTACH_LOOK:
		arg[0] = HEAP + wild_below(w, 24) * (uint64_t)RIG_PAGE;
		arg[1] = wild_below(w, 3) ? HOST_FRAMES : pages;
		arg[3] = op == ATTACH_IMPORTED && !wild_below(w, 8);
		/* None of it untouched, all, or some. */
		if (op == ATTACH_IMPORT && wild_below(w, 2))
			arg[3] = wild_below(w, 2) ? wild_mask(w) :
				 UINT64_MAX >> (64 - arg[1]);
		break;
	}
	raw_ask(&w->t.r, slot, op, arg, NULL, 0);
}

/* What it was given it will use, or throw away. */
static void wild_answered(struct wild *w, struct attach_call *c)
{
	struct fl_reg_mr mr;

	atomic_store(&c->state, ATTACH_FREE_SLOT);
	if (c->result)
		return;
	if (c->op == ATTACH_ALLOC || c->op == ATTACH_MAP_FILE)
		w->block[wild_below(w, BLOCKS)] = c->ret[0];
	if (c->op != ATTACH_IOCTL || c->arg[1] != FL_IOC_REG_MR)
		return;
	memcpy(&mr, c->payload, sizeof(mr));
	w->key[wild_below(w, BLOCKS)] = mr.key;
}

static void closes_pages(struct wild *w)
{
	uint64_t now_ns = os_now_ns();

	if (now_ns > w->mood_ends_ns) {
		w->mood = wild_below(w, 3);
		w->mood_ends_ns = now_ns + wild_below(w, 60) * 1000000ull;
	}
	if (w->mood == 2 || (w->mood == 1 && now_ns < w->views_ns))
		return;
	raw_views(&w->t.r);
	w->views_ns = now_ns + wild_below(w, 25) * 1000000ull;
}

static int lives_wildly(void *arg)
{
	unsigned int number = *(unsigned int *)arg, slot;
	struct wild w = { .state = (uint32_t)test_seed() * 97 + number };
	uint64_t end_ns;
	int err = target_open(&w.t, number & 1);

	/* The one before still ends, and has the card's last slot. */
	if (err)
		return err == -EBUSY ? 0 : 1;
	w.file = os_file_unnamed(NULL);
	if (w.file < 0 || ftruncate(w.file, 3 * RIG_PAGE + 5))
		return 2;
	end_ns = os_now_ns() + (100 + wild_below(&w, 400)) * 1000000ull;
	while (os_now_ns() < end_ns) {
		struct attach_call *c;

		slot = wild_below(&w, SLOTS);
		c = &w.t.r.shared->call[slot];
		if (atomic_load(&c->state) == ATTACH_ANSWERED)
			wild_answered(&w, c);
		else if (atomic_load(&c->state) == ATTACH_FREE_SLOT)
			wild_asks(&w, slot);
		closes_pages(&w);
		if (!wild_below(&w, 64))
			raw_ring(&w.t.r);
		if (!wild_below(&w, 8))
			os_yield();
	}
	return 0;
}

TEST("a wild life beside others, which ends in the middle")
{
	beside_pair(lives_wildly, raw_small, 4);
}
