// SPDX-License-Identifier: BSD-2-Clause
#include "rig/attach_party.h"

#define SHARED		61440u		/* of these: what requests are for */
#define COUNTER		SHARED		/* a word of another thread */
#define MOST		20000u		/* of one request */
#define CHUNK		1500u		/* stored or compared in one go */
#define COMPUTE_NS	50000u
#define RECLAIM_NS	400000u
#define BURST		6u
#define WAIT_NS		2000000000ull

#define IN(p, what, call)						       \
	({								       \
		int r_;							       \
		(p)->doing = (what);					       \
		(p)->party.inside++;					       \
		r_ = (call);						       \
		(p)->party.inside--;					       \
		check_call((p), r_);					       \
		r_;							       \
	})

static void party_problem(struct pair *p, const char *what, int64_t value)
{
	struct swarm *s = p->swarm;

	if (!s->problem[0])
		snprintf(s->problem, sizeof(s->problem), "%s: %s (while: %s; "
			 "%lld)", p->party.name, what, p->doing,
			 (long long)value);
	p->gone = true;
}

/* May something fail that was done right? */
static bool has_lost(const struct pair *p)
{
	return p->party.was_cut || stage.boards_dead ||
	       (p->long_stop && p->party.was_stopped);
}

static void check_call(struct pair *p, int result)
{
	if (result >= 0)
		return;
	if (!has_lost(p))
		party_problem(p, "a call fails", result);
	p->swarm->errors++;
	p->gone = true;
}

/* ---- memory ---- */

/* Of a board that is gone no page comes: the program would end. */
static bool touch_begin(struct pair *p)
{
	if (p->gone || has_lost(p))
		return false;
	/* Atomic: the compiler keeps it before what is touched. */
	atomic_fetch_add(&stage.touching, 1);
	return true;
}

static void touch_end(void)
{
	atomic_fetch_sub(&stage.touching, 1);
}

/* Others run, and the library does not: it may be told to close pages meanwhile. */
static void party_compute(struct pair *p)
{
	if (rng_below(&p->rng, 2))
		stage_rest(1 + rng_below(&p->rng, COMPUTE_NS));
}

static void party_store(struct pair *p, struct side *d, uint32_t at,
			uint32_t bytes)
{
	uint32_t i;

	p->doing = "store";
	for (; bytes && touch_begin(p); bytes -= i, at += i) {
		for (i = 0; i < bytes && i < CHUNK; i++)
			d->mem[at + i] = d->shadow[at + i] =
				(uint8_t)rng_next(&p->rng);
		touch_end();
		party_compute(p);
	}
}

static void party_compare(struct pair *p, struct side *d, uint32_t at,
			  uint32_t bytes)
{
	uint32_t i;

	p->doing = "compare";
	for (; bytes && touch_begin(p); bytes -= i, at += i) {
		for (i = 0; i < bytes && i < CHUNK &&
			    d->mem[at + i] == d->shadow[at + i]; i++)
			;
		touch_end();
		if (i < bytes && i < CHUNK) {
			party_problem(p, "a byte is not what was written last", at + i);
			return;
		}
		party_compute(p);
	}
	p->swarm->compared += !bytes;
}

/* Another thread of the party counts in words that are its own, whatever moves. */
static void count_main(void *pair)
{
	struct pair *p = pair;
	uint32_t counted[2] = { 0 };
	volatile uint32_t *word;
	struct rng rng;
	unsigned int i;

	stage_me = &p->party;
	rng_init(&rng, p->swarm->seed, "counter");
	while (!p->counted && touch_begin(p)) {
		i = (unsigned int)rng_below(&rng, 2);
		word = (volatile uint32_t *)(void *)(p->side[i].mem + COUNTER);
		if (!counted[i])
			*word = 0;
		if (*word != counted[i])
			party_problem(p, "a word is not what was counted",
				      *word);
		*word = ++counted[i];
		touch_end();
		stage_rest(1 + rng_below(&rng, COMPUTE_NS));
	}
}

/* A third one has pages taken away. What moves just then is not to be had. */
static void reclaim_main(void *pair)
{
	struct pair *p = pair;
	struct side *d;
	struct rng rng;
	uint32_t page;

	stage_me = &p->party;
	rng_init(&rng, p->swarm->seed, "reclaimer");
	while (!p->counted && !p->gone && !has_lost(p)) {
		d = &p->side[rng_below(&rng, 2)];
		/* Often the counter's. */
		page = (uint32_t)rng_below(&rng, 2) ? COUNTER / 4096 :
		       (uint32_t)rng_below(&rng, BYTES / 4096);
		p->party.inside++;
		fl_advise(d->dev, d->mem + page * 4096, 4096, FL_PAGEOUT);
		p->party.inside--;
		stage_rest(1 + rng_below(&rng, RECLAIM_NS));
	}
}

/* ---- coming and going ---- */

/* The library draws arenas from its seed and from how many it has made. */
static void seed_arena(struct pair *p)
{
	static uint64_t opens;
	uint64_t drawn = rng_next(&p->rng) -
			 0x9e3779b97f4a7c15ull * ++opens;
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)drawn);
	setenv("FAULTLINE_SEED", text, 1);
}

/* The same in each run: addresses stand in traces. */
static void *party_place(struct pair *p, struct side *d)
{
	uintptr_t n = (uintptr_t)(p - p->swarm->pair) * 2 +
		      (uintptr_t)(d - p->side);

	return (void *)(0x200000000000ull + (n << 30));
}

static int get_memory(struct pair *p, struct side *d)
{
	size_t bytes = BYTES;

	switch (d->kind) {
	case OF_BOARD:
		d->mem = fl_alloc(d->dev, BYTES);
		break;
	case OF_PROGRAM:
		d->mem = mmap(party_place(p, d), BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (d->mem == MAP_FAILED)
			d->mem = NULL;
		break;
	default:
		d->mem = fl_map_file(d->dev, p->swarm->file, &bytes);
		memset(d->shadow, 0x5a, BYTES);
	}
	return d->mem ? 0 : -errno;
}

static int party_reg(struct side *d)
{
	return fl_reg_mr(d->pd, d->mem, BYTES, FL_LOCAL_WRITE | FL_REMOTE_WRITE |
			 FL_REMOTE_READ, &d->mr);
}

/* The first, or the second one if that comes so far. */
static bool cut_one(struct pair *p, const struct side *d)
{
	if (d == p->side || rng_below(&p->rng, 2))
		p->party.cut_fd = d->dev->fd;
	return true;
}

static bool party_come(struct pair *p, unsigned int i)
{
	struct side *d = &p->side[i];
	char name[140];

	d->kind = (enum memory)rng_below(&p->rng, MEMORY_KINDS);
	snprintf(name, sizeof(name), "emu:%s",
		 p->swarm->listener[rng_below(&p->rng, 2)]);
	/* The listeners of dead boards are still there: it would wait for its HELLO_MS. */
	if (has_lost(p))
		return false;
	seed_arena(p);
	return IN(p, "open", fl_open(name, &d->dev)) >= 0 &&
	       cut_one(p, d) &&
	       IN(p, "pd", fl_alloc_pd(d->dev, &d->pd)) >= 0 &&
	       IN(p, "cq", fl_create_cq(d->dev, 64, &d->cq)) >= 0 &&
	       IN(p, "qp", fl_create_qp(d->pd, d->cq, 64, &d->qp)) >= 0 &&
	       IN(p, "memory", get_memory(p, d)) >= 0 &&
	       IN(p, "register", party_reg(d)) >= 0;
}

static bool party_meet(struct pair *p)
{
	struct fl_address at[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (!party_come(p, i) ||
		    IN(p, "address", fl_qp_address(p->side[i].qp, &at[i])) < 0)
			return false;
	return IN(p, "connect", fl_connect(p->side[0].qp, &at[1])) >= 0 &&
	       IN(p, "connect", fl_connect(p->side[1].qp, &at[0])) >= 0;
}

/* Its own memory is as any other again, with what was in it. */
static void check_own(struct pair *p, struct side *d)
{
	if (d->kind != OF_PROGRAM || !d->mem)
		return;
	if (!has_lost(p) && memcmp(d->mem, d->shadow, SHARED))
		party_problem(p, "memory that was given back is not as it was",
			      0);
	munmap(d->mem, BYTES);
}

/* In order, or everything at once. What was lost may be refused, but ends. */
static void party_leave(struct pair *p, struct side *d)
{
	bool orderly = rng_below(&p->rng, 2);

	if (orderly && d->mr)
		IN(p, "deregister", fl_dereg_mr(d->mr));
	if (orderly && d->qp)
		IN(p, "destroy", fl_destroy_qp(d->qp));
	if (d->dev)
		IN(p, "close", fl_close(d->dev));
	check_own(p, d);
}

/* ---- what a pair does ---- */

/* Anything may lie over anything: each is as if the one before had ended. */
static bool post_one(struct pair *p, unsigned int dir, unsigned int i)
{
	struct side *me = &p->side[dir], *you = &p->side[!dir];
	bool read = rng_below(&p->rng, 3) == 0;
	uint32_t bytes = 1 + (uint32_t)rng_below(&p->rng, MOST);
	uint32_t at = (uint32_t)rng_below(&p->rng, SHARED - bytes);
	uint32_t far = (uint32_t)rng_below(&p->rng, SHARED - bytes);
	struct fl_work w = {
		.wr_id = i, .opcode = read ? FL_READ : FL_WRITE,
		.local = me->mem + at, .lkey = fl_mr_key(me->mr),
		.remote = (uintptr_t)you->mem + far,
		.rkey = fl_mr_key(you->mr), .bytes = bytes,
	};

	if (IN(p, "post", fl_post(me->qp, &w)) < 0)
		return false;
	if (read)
		memcpy(me->shadow + at, you->shadow + far, bytes);
	else
		memcpy(you->shadow + far, me->shadow + at, bytes);
	return true;
}

static void party_burst(struct pair *p)
{
	unsigned int dir = (unsigned int)rng_below(&p->rng, 2), posted = 0, done = 0;
	unsigned int n = 1 + (unsigned int)rng_below(&p->rng, BURST);
	struct fl_completion c[BURST];
	int got, i;

	while (posted < n && post_one(p, dir, posted))
		posted++;
	while (done < posted) {
		got = IN(p, "wait", fl_wait(p->side[dir].cq, c, BURST, WAIT_NS));
		if (got < 0)
			return;
		if (!got) {
			party_problem(p, "a request never ends", done);
			return;
		}
		for (i = 0; i < got; i++)
			if (c[i].status)
				check_call(p, -1000 - (int)c[i].status);
		done += (unsigned int)got;
	}
}

static void party_advise(struct pair *p)
{
	static const enum fl_advice advice[] = { FL_PAGEOUT, FL_PAGEOUT,
						 FL_WILLNEED };
	struct side *d = &p->side[rng_below(&p->rng, 2)];
	uint32_t first = (uint32_t)rng_below(&p->rng, BYTES / 4096);
	uint32_t pages = 1 + (uint32_t)rng_below(&p->rng, BYTES / 4096 - first);

	IN(p, "advise", fl_advise(d->dev, d->mem + first * 4096, pages * 4096,
				  advice[rng_below(&p->rng, 3)]));
}

/* A region comes anew: its own memory goes back and comes again. */
static void party_renew(struct pair *p)
{
	struct side *d = &p->side[rng_below(&p->rng, 2)];
	struct fl_mr *old = d->mr;

	d->mr = NULL;
	if (IN(p, "deregister", fl_dereg_mr(old)) < 0)
		return;
	party_store(p, d, (uint32_t)rng_below(&p->rng, SHARED - 1000), 1000);
	if (!p->gone)
		IN(p, "register", party_reg(d));
}

static void party_extra(struct pair *p)
{
	struct side *d = &p->side[rng_below(&p->rng, 2)];
	uint8_t *more;

	p->doing = "more memory";
	p->party.inside++;
	more = fl_alloc(d->dev, 3 * 4096);
	p->party.inside--;
	check_call(p, more ? 0 : -errno);
	if (!more)
		return;
	if (touch_begin(p)) {
		more[5000] = 1;
		touch_end();
	}
	IN(p, "free", fl_free(d->dev, more, 3 * 4096));
}

static void one_op(struct pair *p)
{
	struct side *d = &p->side[rng_below(&p->rng, 2)];
	uint32_t at = (uint32_t)rng_below(&p->rng, SHARED - 5000);

	switch (rng_below(&p->rng, 12)) {
	case 0:
	case 1:
		party_compare(p, d, at, 1 + (uint32_t)rng_below(&p->rng, 5000));
		break;
	case 2:
	case 3:
		party_store(p, d, at, 1 + (uint32_t)rng_below(&p->rng, 5000));
		break;
	case 4:
	case 5:
		party_advise(p);
		break;
	case 6:
		party_renew(p);
		break;
	case 7:
		party_extra(p);
		break;
	default:
		party_burst(p);
	}
}

void pair_main(void *pair)
{
	struct pair *p = pair;
	unsigned int i;

	stage_me = &p->party;
	if (party_meet(p)) {
		p->other[0] = sim_thread_start(sim_self(), "counter", false,
					       count_main, p);
		p->other[1] = sim_thread_start(sim_self(), "reclaimer", false,
					       reclaim_main, p);
		for (i = 0; i < p->ops && !p->gone; i++)
			one_op(p);
		for (i = 0; i < 2 && !p->gone; i++)
			party_compare(p, &p->side[i], 0, SHARED);
	}
	p->counted = true;
	for (i = 0; i < 2; i++)
		if (p->other[i])
			sim_thread_join(p->other[i]);
	for (i = 0; i < 2; i++)
		party_leave(p, &p->side[i]);
	p->ended = true;
}
