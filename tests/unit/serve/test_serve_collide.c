// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two pairs of processes write into each other's boards, each request over what others of the
 * same queue pair wrote a moment ago, while threads of all four take the pages away, bring
 * them back, and register and give up the same memory. What is there after each batch, and
 * what READs in the middle of it have seen, a plain array says.
 *
 * variants: tsan posix
 */
#include <pthread.h>

#include "faultline/entries.h"
#include "rig/serve.h"

#define PAGES	24u
#define BYTES	(PAGES * RIG_PAGE)
#define WORKS	24u		/* of a batch */
#define BATCHES	(RIG_TSAN ? 30u : 150u)
#define TRIES	1000u		/* of a batch: pages may leave again each time */
#define LIMIT_NS 60000000000ull

/* What the two share beside their boards. */
struct meeting {
	struct rig_address at[2];
	_Atomic uint32_t said[2], joined[2];	/* connections that there were so far */
	_Atomic uint32_t wanted;	/* connections that the writer has asked for */
	_Atomic uint32_t written, seen;	/* batches */
	_Atomic int over;
	uint8_t want[BYTES];
};

struct party {
	struct meeting *m;
	unsigned int side;		/* 0 writes */
	int fence;			/* of requests that write */
	uint32_t seed;
	struct rig_app a;
	uint8_t *read;			/* side 0: where READs go */
	struct fl_mr *read_mr;
	struct rig_address peer;
	uint32_t connections;
	_Atomic int over;
};

/* ---- connections ---- */

/* Until the other side is as far. */
static int collide_meet(const struct party *p, _Atomic uint32_t *at)
{
	at[p->side] = p->connections;
	while (at[!p->side] < p->connections)
		if (p->m->over)
			return -EPIPE;
		else
			os_yield();
	return 0;
}

/* A queue pair that is not connected refuses what comes. */
static int collide_join(struct party *p)
{
	struct meeting *m = p->m;

	RIG_TRY(rig_app_address(&p->a, &m->at[p->side]));
	p->connections++;
	RIG_TRY(collide_meet(p, m->said));
	p->peer = m->at[!p->side];
	RIG_TRY(fl_connect(p->a.qp, &p->peer.qp));
	return collide_meet(p, m->joined);
}

/* Both throw their queue pair away. */
static int collide_anew(struct party *p)
{
	RIG_TRY(fl_destroy_qp(p->a.qp));
	RIG_TRY(fl_create_qp(p->a.pd, p->a.cq, 64, &p->a.qp));
	return collide_join(p);
}

/* ---- what gets in the way ---- */

static int party_disturb(struct party *p, uint32_t *state)
{
	uint32_t from = rig_random(state) % PAGES;
	size_t n = (1 + rig_random(state) % (PAGES - from)) * RIG_PAGE;
	uint8_t *mem = p->a.mem + from * RIG_PAGE;
	unsigned int pinned = rig_random(state) % 4 ? 0 : FL_PINNED;
	struct fl_fault_counters c;
	struct fl_mr *mr;
	int err;

	switch (rig_random(state) % 4) {
	case 0:
		return fl_advise(p->a.dev, mem, n, FL_PAGEOUT);
	case 1:
		return fl_prefetch(p->a.mr, mem, n, (int)(rig_random(state) % 2));
	case 2:
		err = fl_reg_mr(p->a.pd, mem, n, FL_LOCAL_WRITE | pinned, &mr);
		/* Others have pinned what there is. */
		if (pinned && err == -ENOMEM)
			return 0;
		return err ? err : fl_dereg_mr(mr);
	default:
		return fl_query_counters(p->a.dev, &c);
	}
}

static void *bystander_main(void *party)
{
	struct party *p = party;
	uint32_t state = p->seed + 100;
	int err = 0;

	while (!p->over && !err)
		err = party_disturb(p, &state);
	if (err)
		fprintf(stderr, "a call of a bystander: %s\n", fl_strerror(err));
	return err ? p : NULL;
}

/* ---- the writer ---- */

struct batch {
	struct fl_work work[WORKS];
	uint8_t read[BYTES];		/* what the READs are to see, where they put it */
};

/* Random requests, and what they leave behind, one after the other. */
static void batch_make(struct party *p, struct batch *b, uint32_t *state)
{
	uint8_t *want = p->m->want;
	uint32_t i, n, from, to;

	for (i = 0; i < BYTES; i++)
		p->a.mem[i] = (uint8_t)rig_random(state);
	for (i = 0; i < WORKS; i++) {
		bool reads = rig_random(state) % 4 == 0;

		n = 1 + rig_random(state) % (rig_random(state) % 2 ? 3 * RIG_PAGE : 300);
		from = rig_random(state) % (BYTES - n + 1);
		to = rig_random(state) % (BYTES - n + 1);
		b->work[i] = (struct fl_work){
			.wr_id = i, .opcode = reads ? FL_READ : FL_WRITE, .bytes = n,
			.local = (reads ? p->read : p->a.mem) + from,
			.lkey = fl_mr_key(reads ? p->read_mr : p->a.mr),
			.remote = p->peer.va + to, .rkey = p->peer.rkey,
			.fence = reads ? 0 : p->fence,
		};
		if (reads)
			memcpy(b->read + from, want + to, n);
		else
			memcpy(want + to, p->a.mem + from, n);
	}
}

/* Those from `first` on; the first that has not gone well, or negative errno. */
static int batch_post(struct party *p, const struct batch *b, uint32_t first)
{
	uint32_t good = first, i;
	struct fl_completion c;

	for (i = first; i < WORKS; i++)
		RIG_TRY(fl_post(p->a.qp, &b->work[i]));
	for (i = first; i < WORKS; i++) {
		RIG_TRY(fl_wait(p->a.cq, &c, 1, LIMIT_NS));
		if (c.status && c.status != FL_ST_REFUSED_TOO_OFTEN &&
		    c.status != FL_ST_FLUSHED) {
			fprintf(stderr, "request %u: %s\n", (unsigned int)c.wr_id,
				fl_status_string(c.status));
			return -EBADMSG;
		}
		if (c.wr_id == good && !c.status)
			good++;
	}
	return (int)good;
}

/*
 * What was flushed is posted again, from the first that failed on. Until then a request behind
 * that one may have been carried out, so that a READ sees it too early.
 */
static int batch_do(struct party *p, const struct batch *b)
{
	uint32_t tries;
	int done = 0;

	for (tries = 0; tries < TRIES; tries++) {
		done = batch_post(p, b, (uint32_t)done);
		if (done < 0)
			return done;
		if (done == WORKS)
			return !tries && memcmp(b->read, p->read, BYTES) ? -EILSEQ : 0;
		p->m->wanted++;
		RIG_TRY(collide_anew(p));
	}
	return -ELOOP;
}

static int collide_writes(struct party *p)
{
	static struct batch b;
	uint32_t state = p->seed, i;

	p->read = fl_alloc(p->a.dev, BYTES);
	if (!p->read)
		return -ENOMEM;
	RIG_TRY(fl_reg_mr(p->a.pd, p->read, BYTES, FL_LOCAL_WRITE, &p->read_mr));
	for (i = 1; i <= test_rounds(BATCHES); i++) {
		memcpy(b.read, p->read, BYTES);
		batch_make(p, &b, &state);
		RIG_TRY(batch_do(p, &b));
		p->m->written = i;
		while (p->m->seen < i && !p->m->over)
			os_yield();
		if (p->m->over)
			return -EPIPE;
	}
	return 0;
}

/* ---- the other one ---- */

/* The whole of it, and then some bytes of its own. */
static int collide_looks(struct party *p, uint32_t *state)
{
	uint32_t i, at;

	for (i = 0; i < BYTES; i++)
		if (p->a.mem[i] != p->m->want[i]) {
			fprintf(stderr, "batch %u, byte %u\n", p->m->written, i);
			return -EILSEQ;
		}
	for (i = 0; i < 20; i++) {
		at = rig_random(state) % BYTES;
		p->a.mem[at] = p->m->want[at] = (uint8_t)rig_random(state);
	}
	return 0;
}

static int collide_sees(struct party *p)
{
	struct meeting *m = p->m;
	uint32_t state = p->seed;

	while (m->seen < test_rounds(BATCHES) && !m->over) {
		if (m->wanted >= p->connections) {
			RIG_TRY(collide_anew(p));
		} else if (m->written > m->seen) {
			RIG_TRY(collide_looks(p, &state));
			m->seen++;
		} else {
			os_yield();
		}
	}
	return m->over ? -EPIPE : 0;
}

/* ---- all of them ---- */

static int collide_party(struct party *p)
{
	pthread_t thread;
	void *bad;
	int err;

	RIG_TRY(rig_app_open(&p->a, (p->side + p->seed) % 2, BYTES));
	RIG_TRY(collide_join(p));
	if (pthread_create(&thread, NULL, bystander_main, p))
		return -ENOMEM;
	err = p->side ? collide_sees(p) : collide_writes(p);
	p->over = 1;
	pthread_join(thread, &bad);
	if (err || bad)
		return err ? err : -EPROTO;
	return fl_close(p->a.dev);
}

static int collide_main(void *party)
{
	struct party *p = party;
	int err = collide_party(p);

	if (!err)
		return 0;
	fprintf(stderr, "side %u: %s\n", p->side, fl_strerror(err));
	p->m->over = 1;
	return 1;
}

static void parties_collide(const char *const *options, int fence)
{
	struct meeting *m = mmap(NULL, 2 * sizeof(*m), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int i;
	pid_t pid[4];

	EXPECT((void *)m != MAP_FAILED);
	rig_start(options);
	for (i = 0; i < 4; i++) {
		struct party p = { .m = &m[i / 2], .side = i % 2, .fence = fence,
				   .seed = (uint32_t)test_seed() + 1 + i / 2 };

		pid[i] = rig_fork(collide_main, &p);
	}
	for (i = 0; i < 4; i++)
		EXPECT_EQ(rig_wait(pid[i]), 0);
	rig_end();
	munmap(m, 2 * sizeof(*m));
}

TEST("what collides in four processes ends as in a plain array")
{
	parties_collide(NULL, 0);
}

TEST("the same with few frames, each of which is wanted by all")
{
	static const char *const few[] = { "--frames", "96", NULL };

	parties_collide(few, 0);
}

TEST("the same where a block may fail, and the rest is posted anew")
{
	static const char *const few[] = { "--frames", "96", "--set", "fw.refusals=2", NULL };

	parties_collide(few, 0);
}

TEST("the same where the SMMU stalls")
{
	static const char *const stall[] = { "--frames", "160", "--policy", "stall", NULL };

	parties_collide(stall, 0);
}

/* A READ whose answer is lost is read again, after what was posted behind it without a fence. */
TEST("the same by packets, and with tables of the card's own")
{
	static const char *const npf[] = { "--frames", "160", "--policy", "npf", NULL };

	parties_collide(npf, 1);
}

TEST("the same by packets, each of which may be lost with its page")
{
	static const char *const odp2[] = { "--frames", "160", "--policy", "odp2", NULL };

	parties_collide(odp2, 1);
}
