// SPDX-License-Identifier: BSD-2-Clause
/*
 * An intruder: a third process with nothing but documented calls, which knows all
 * that there is to know of a pair of others: the numbers of their queue pairs, their
 * keys and their addresses. It reaches none of their memory, it learns nothing from
 * the ways in which it is refused, and the pair does not notice.
 *
 * variants: tsan posix pages
 */
#include "faultline/device.h"
#include "faultline/entries.h"
#include "rig/serve.h"

#define BYTES		(64u << 10)
#define WAIT_NS		60000000000ull
#define PATTERN(i)	((uint8_t)(0x5C + (i) * 3))

/* ---- the intruder's tools ---- */

struct side {
	struct rig_app app;
	struct rig_address at;
};

static struct {
	struct side side[2];		/* on both boards */
	const struct rig_address *victim;
	unsigned int tries, wrong;
	bool relaxed;			/* what its queue pairs are */
} me;

static void attacker_complain(const char *what, unsigned int board, int status)
{
	me.wrong++;
	fprintf(stderr, "intruder on board %c, %s: %s\n", 'a' + (int)board, what,
		status < 0 ? fl_strerror(status) : fl_status_string(status));
}

/* A queue pair that failed is of no use any more: another one. */
static int fresh_pair(struct rig_app *a)
{
	RIG_TRY(fl_destroy_qp(a->qp));
	/* The victim's place in the order does not stop one that keeps none. */
	RIG_TRY((me.relaxed ? fl_create_qp_relaxed : fl_create_qp)
		(a->pd, a->cq, 64, &a->qp));
	return 0;
}

/* One request over a new queue pair to that address. The status, or -errno. */
static int try_one(unsigned int board, const struct fl_address *to,
		   const struct fl_work *w)
{
	struct rig_app *a = &me.side[board].app;
	struct fl_address self;
	int err = fresh_pair(a);

	if (err)
		return err;
	RIG_TRY(fl_qp_address(a->qp, &self));
	me.tries++;
	/* NULL: to itself. */
	RIG_TRY(fl_connect(a->qp, to ? to : &self));
	return rig_app_do(a, w);
}

/* Is it refused so, and has the intruder's own memory stayed as it was? */
static void attacker_refused(const char *what, unsigned int board,
			     const struct fl_address *to, struct fl_work w,
			     int want)
{
	const uint8_t *mem = me.side[board].app.mem;
	unsigned int i, both;
	int status;

	for (both = 0; both < 2; both++) {
		w.opcode = both ? FL_READ : FL_WRITE;
		status = try_one(board, to, &w);
		if (status != want)
			attacker_complain(what, board, status);
		for (i = 0; i < BYTES; i++)
			if (mem[i] != PATTERN(i)) {
				attacker_complain("its memory has changed",
						  board, status);
				return;
			}
	}
}

static struct fl_work attacker_work(unsigned int board, uint64_t remote,
				    uint32_t rkey)
{
	const struct rig_app *a = &me.side[board].app;

	return (struct fl_work){ .local = a->mem, .lkey = fl_mr_key(a->mr),
				 .remote = remote, .rkey = rkey, .bytes = 8192 };
}

static int open_both(void)
{
	unsigned int b, i;

	for (b = 0; b < 2; b++) {
		RIG_TRY(rig_app_open(&me.side[b].app, b, BYTES));
		RIG_TRY(rig_app_address(&me.side[b].app, &me.side[b].at));
		for (i = 0; i < BYTES; i++)
			me.side[b].app.mem[i] = PATTERN(i);
	}
	return 0;
}

/*
 * The same calls with what is its own: they do work, so that the refusals are not
 * for some other reason.
 */
static int attacker_control(void)
{
	struct rig_app *a = &me.side[0].app, *b = &me.side[1].app;
	struct fl_work w = attacker_work(0, me.side[1].at.va,
					 me.side[1].at.rkey);
	int status;

	RIG_TRY(fl_connect(a->qp, &me.side[1].at.qp));
	RIG_TRY(fl_connect(b->qp, &me.side[0].at.qp));
	w.opcode = FL_WRITE;
	status = rig_app_do(a, &w);
	if (status)
		attacker_complain("its own pair, WRITE", 0, status);
	w.opcode = FL_READ;
	status = rig_app_do(a, &w);
	if (status)
		attacker_complain("its own pair, READ", 0, status);
	/* And connected to itself: its own key is good there. */
	w = attacker_work(1, me.side[1].at.va, me.side[1].at.rkey);
	w.opcode = FL_WRITE;
	w.remote += BYTES / 2;
	status = try_one(1, NULL, &w);
	if (status)
		attacker_complain("with itself", 1, status);
	for (status = 0; status < (int)BYTES; status++)
		b->mem[status] = PATTERN(status);
	return 0;
}

/* ---- what it tries ---- */

/* With everything of the victim's, from each board, each of both victims. */
static void attacker_knocks(void)
{
	unsigned int b, v;

	for (b = 0; b < 2; b++)
		for (v = 0; v < 2; v++)
			attacker_refused("the victim's queue pair", b,
					 &me.victim[v].qp,
					 attacker_work(b, me.victim[v].va,
						       me.victim[v].rkey),
					 FL_ST_REMOTE_QP);
}

/* What is wrong with a queue pair makes no difference, nor do key and address. */
static void all_numbers(unsigned int b, unsigned int v)
{
	struct fl_work w = attacker_work(b, me.victim[v].va, me.victim[v].rkey);
	struct fl_address to = me.victim[v].qp, self;
	struct rig_app *a = &me.side[b].app;
	unsigned int n;
	int status, want;

	w.opcode = FL_WRITE;
	for (n = 0; n < DEV_QPS + 2; n++) {
		to.qpn = n < DEV_QPS ? n : n == DEV_QPS ? 0x8000 : 0xFFFFFF;
		w.rkey = n % 3 ? w.rkey : w.rkey ^ n;
		status = try_one(b, &to, &w);
		if (fl_qp_address(a->qp, &self))
			status = -EINVAL;
		/* Its own, which is connected to itself then. */
		want = self.node == to.node && self.qpn == to.qpn ?
		       FL_ST_REMOTE_ACCESS : FL_ST_REMOTE_QP;
		if (status != want)
			attacker_complain("a queue pair's number", b, status);
	}
}

/*
 * Over a queue pair that is connected to itself, on the victim's board: the victim's
 * key and keys beside it, addresses inside and outside. All the same answer.
 */
static void all_keys(unsigned int v)
{
	uint32_t key = me.victim[v].rkey;
	unsigned int i;

	attacker_refused("the victim's key, with itself", v, NULL,
			 attacker_work(v, me.victim[v].va, key),
			 FL_ST_REMOTE_ACCESS);
	attacker_refused("the victim's key, no address", v, NULL,
			 attacker_work(v, 4096, key), FL_ST_REMOTE_ACCESS);
	for (i = 0; i < 32; i++)
		attacker_refused("a key beside the victim's", v, NULL,
				 attacker_work(v, me.victim[v].va,
					       key ^ 1u << i),
				 FL_ST_REMOTE_ACCESS);
	for (i = 1; i < 16; i++)
		attacker_refused("a key beside the victim's", v, NULL,
				 attacker_work(v, me.victim[v].va,
					       i % 2 ? key + i : key - i),
				 FL_ST_REMOTE_ACCESS);
	attacker_refused("no key", v, NULL,
			 attacker_work(v, me.victim[v].va, 0),
			 FL_ST_REMOTE_ACCESS);
	/* Its own key: what is wrong is the address. The answer is the same. */
	attacker_refused("its own key", v, NULL,
			 attacker_work(v, me.victim[v].va, me.side[v].at.rkey),
			 FL_ST_REMOTE_ACCESS);
}

/* As its local key: the victim's memory would be read, or written, for it. */
static void attacker_locally(unsigned int v)
{
	struct fl_work w = attacker_work(v, me.side[v].at.va,
					 me.side[v].at.rkey);

	w.lkey = me.victim[v].rkey;
	attacker_refused("the victim's key as its own", v, NULL, w,
			 FL_ST_LOCAL_KEY);
	w.local = (void *)(uintptr_t)me.victim[v].va;
	attacker_refused("the victim's key and address as its own", v, NULL, w,
			 FL_ST_LOCAL_KEY);
	w.lkey = me.side[v].at.rkey;
	if (me.victim[v].va < me.side[v].at.va ||
	    me.victim[v].va >= me.side[v].at.va + BYTES)
		attacker_refused("the victim's address as its own", v, NULL, w,
				 FL_ST_LOCAL_RANGE);
}

static int attacker_intrude(void *arg)
{
	unsigned int v, i;

	me.victim = arg;
	RIG_TRY(open_both());
	RIG_TRY(attacker_control());
	for (i = 0; i < 4; i++) {
		v = i % 2;
		me.relaxed = i / 2;
		attacker_knocks();
		all_numbers(v, !v);
		all_numbers(!v, !v);
		all_keys(v);
		attacker_locally(v);
	}
	attacker_knocks();
	for (v = 0; v < 2; v++)
		RIG_TRY(fl_close(me.side[v].app.dev));
	fprintf(stderr, "%u tries, %u of them went wrong\n", me.tries, me.wrong);
	return me.wrong || me.tries < 1000 ? 1 : 0;
}

TEST("who knows a queue pair's number, key and address gets nothing with them")
{
	struct rig_address at[2];
	struct rig_pair p;
	uint32_t before;

	rig_start(NULL);
	rig_pair_start(&p);
	while (!*p.rounds)
		usleep(1000);
	memcpy(at, p.at, sizeof(at));
	STEP("the intruder has their queue pairs, keys and addresses");
	EXPECT_EQ(rig_wait(rig_fork(attacker_intrude, at)), 0);
	EXPECT(rig_boards_live());
	before = *p.rounds;
	rig_pair_end(&p, before + 20);
	rig_end();
}

/*
 * The victim does not hear of its peer's end, and stays connected to a queue pair
 * that is no more. Others get its place on the card.
 */
static int attacker_inherits(void *arg)
{
	struct rig_app *s = &me.side[0].app, old, victim;
	struct rig_address at, old_at;
	unsigned int n, same = 0;
	struct fl_address self;
	struct fl_work w;
	int status;

	(void)arg;
	RIG_TRY(rig_app_open(&victim, 1, BYTES));
	RIG_TRY(rig_app_address(&victim, &at));
	RIG_TRY(rig_app_open(&old, 0, BYTES));
	RIG_TRY(rig_app_address(&old, &old_at));
	RIG_TRY(fl_connect(old.qp, &at.qp));
	RIG_TRY(fl_connect(victim.qp, &old_at.qp));
	w = (struct fl_work){ .opcode = FL_WRITE, .local = old.mem,
			      .lkey = fl_mr_key(old.mr), .remote = at.va,
			      .rkey = at.rkey, .bytes = BYTES };
	old.mem[0] = 1;
	if (rig_app_do(&old, &w) || victim.mem[0] != 1)
		return 2;
	RIG_TRY(fl_close(old.dev));
	RIG_TRY(rig_app_open(s, 0, BYTES));
	w.local = s->mem;
	w.lkey = fl_mr_key(s->mr);
	s->mem[0] = 2;
	for (n = 0; n < 2 * DEV_QPS + 4; n++) {
		me.relaxed = n % 2 ? n / DEV_QPS : !(n / DEV_QPS);
		status = try_one(0, &at.qp, &w);
		RIG_TRY(fl_qp_address(s->qp, &self));
		same += self.qpn % 256 == old_at.qp.qpn % 256;
		if (status != FL_ST_REMOTE_QP || self.qpn == old_at.qp.qpn)
			attacker_complain("the place of its peer", 0, status);
	}
	fprintf(stderr, "%u times it had the place\n", same);
	return me.wrong || same < 2 || victim.mem[0] != 1 ||
	       fl_close(s->dev) || fl_close(victim.dev) ? 1 : 0;
}

TEST("who gets the place of a queue pair that is gone does not get its connection")
{
	rig_start(NULL);
	EXPECT_EQ(rig_wait(rig_fork(attacker_inherits, NULL)), 0);
	rig_end();
}

/* ---- where memory lies, and what keys look like ---- */

struct found {
	uint64_t va[2];
	uint32_t key[2][8];
};

static int looks_up(void *arg)
{
	struct found *f = arg;
	struct rig_app a;
	struct fl_mr *mr;
	unsigned int b, i;

	for (b = 0; b < 2; b++) {
		RIG_TRY(rig_app_open(&a, b, BYTES));
		f->va[b] = (uintptr_t)a.mem;
		for (i = 0; i < 8; i++) {
			RIG_TRY(fl_reg_mr(a.pd, a.mem, RIG_PAGE, 0, &mr));
			f->key[b][i] = fl_mr_key(mr);
			RIG_TRY(fl_dereg_mr(mr));
		}
	}
	return 0;
}

#define PROCESSES	6u

/* All of them: seeded or not, each in a process of its own, forked from this one. */
static void look_up(struct found *f)
{
	unsigned int i;

	for (i = 0; i < PROCESSES; i++)
		EXPECT_EQ(rig_wait(rig_fork(looks_up, &f[i])), 0);
}

/* Two may be alike by chance, where there are few addresses (15 bits). */
static void expect_different(const struct found *f, unsigned int n)
{
	unsigned int i, k, same = 0;

	for (i = 0; i < 2 * n; i++)
		for (k = 0; k < i; k++)
			same += f[i / 2].va[i % 2] == f[k / 2].va[k % 2];
	EXPECT_LE(same, 2);
	same = 0;
	for (i = 0; i < 16 * n; i++)
		for (k = 0; k < i; k++)
			same += f[i / 16].key[i / 8 % 2][i % 8] ==
				f[k / 16].key[k / 8 % 2][k % 8];
	EXPECT_LE(same, 2);
}

TEST("each process has its memory elsewhere, and no key is like another")
{
	const char *const seed[] = { "--seed", "7", NULL };
	struct found *f = mmap(NULL, 2 * PROCESSES * sizeof(*f),
			       PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	EXPECT(f != MAP_FAILED);
	rig_start(seed);
	look_up(f);
	rig_end();
	STEP("and so it is when the boards are started again, with the same seed");
	rig_start(seed);
	look_up(f + PROCESSES);
	rig_end();
	expect_different(f, 2 * PROCESSES);
	for (i = 0; i < 4 * PROCESSES; i++)
		EXPECT_EQ(f[i / 2].va[i % 2] % (2u << 20), 0);
	munmap(f, 2 * PROCESSES * sizeof(*f));
}

static int is_told(void *arg)
{
	struct fl_device *dev;

	(void)arg;
	return fl_open(rig_boards.device[0], &dev) >= 0 ||
	       !strstr(fl_open_error(), "FAULTLINE_SEED is set, and is no number");
}

TEST("with FAULTLINE_SEED memory lies where it lay before")
{
	struct found *f = mmap(NULL, 2 * PROCESSES * sizeof(*f),
			       PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	EXPECT(f != MAP_FAILED);
	rig_start(NULL);
	setenv("FAULTLINE_SEED", "5", 1);
	look_up(f);
	for (i = 1; i < PROCESSES; i++) {
		EXPECT_EQ(f[i].va[0], f[0].va[0]);
		EXPECT_EQ(f[i].va[1], f[0].va[1]);
	}
	EXPECT_NE(f[0].va[0], f[0].va[1]);
	STEP("another one, another place");
	setenv("FAULTLINE_SEED", "6", 1);
	look_up(f + 1);
	EXPECT_NE(f[1].va[0], f[0].va[0]);
	STEP("what is no number is a mistake");
	setenv("FAULTLINE_SEED", "five", 1);
	EXPECT_EQ(rig_wait(rig_fork(is_told, NULL)), 0);
	unsetenv("FAULTLINE_SEED");
	rig_end();
	munmap(f, 2 * PROCESSES * sizeof(*f));
}
