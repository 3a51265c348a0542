// SPDX-License-Identifier: BSD-2-Clause
/*
 * One process with many queue pairs, half of them to its other board and half to its own, whose
 * requests follow one another in any order. Each queue pair writes a strip of memory that is its
 * own, over what it wrote a moment ago; strips of several share a page, and between them lie
 * bytes that a thread counts in, while another takes the pages away. What is there in the end, a
 * plain array says.
 *
 * variants: tsan posix
 */
#include <pthread.h>

#include "rig/serve.h"

#define PAIRS	12u		/* of queue pairs: even ones lead to board b, odd ones back to a */
#define DEPTH	16u
#define GAP	8u		/* bytes of the CPU's behind each strip */
#define BYTES	(32u * RIG_PAGE)	/* of either board, written; and as many to read from */
#define ROUNDS	(RIG_TSAN ? 10u : 60u)
#define POSTS	600u		/* of a round */
#define LIMIT_NS 60000000000ull

struct strip {
	struct fl_qp *from, *to;
	unsigned int board;		/* whose memory */
	uint32_t at, bytes;
	uint32_t posted, done, number;	/* requests; number: from->qpn */
	uint8_t *read;			/* where READs of it go */
	uint8_t *read_want;
};

struct many {
	struct rig_app app[2];
	struct fl_cq *cq;
	struct strip strip[PAIRS];
	uint8_t *want[2];		/* of both boards */
	uint8_t *source;		/* in a's memory, behind what is written */
	struct fl_mr *read_mr;
	uint32_t seed, state;
	bool reads;
	_Atomic int over;
};

/* ---- who gets in the way ---- */

static void *many_evicts(void *many)
{
	struct many *m = many;
	uint32_t state = m->seed + 7, page, n;
	struct rig_app *a;
	int err = 0;

	while (!m->over && !err) {
		a = &m->app[rig_random(&state) % 2];
		page = rig_random(&state) % (BYTES / RIG_PAGE);
		n = 1 + rig_random(&state) % (BYTES / RIG_PAGE - page);
		err = rig_random(&state) % 3 ?
			fl_advise(a->dev, a->mem + page * RIG_PAGE, n * RIG_PAGE, FL_PAGEOUT) :
			fl_prefetch(a->mr, a->mem + page * RIG_PAGE, n * RIG_PAGE, 1);
		if (rig_random(&state) % 2)
			usleep(rig_random(&state) % 300);
	}
	if (err)
		fprintf(stderr, "a page to evict or to fetch: %s\n", fl_strerror(err));
	return err ? m : NULL;
}

/* Numbers between the strips go up by one, and nothing else happens to them. */
static void *many_counts(void *many)
{
	struct many *m = many;
	uint64_t n, seen;
	unsigned int i;
	uint8_t *at;

	for (n = 1; !m->over; n++)
		for (i = 0; i < PAIRS; i++) {
			at = m->app[m->strip[i].board].mem + m->strip[i].at + m->strip[i].bytes;
			memcpy(&seen, at, GAP);
			if (seen != n - 1) {
				fprintf(stderr, "behind strip %u: %llu, not %llu\n", i,
					(unsigned long long)seen, (unsigned long long)n - 1);
				return m;
			}
			memcpy(at, &n, GAP);
		}
	return NULL;
}

/* ---- requests ---- */

static struct strip *many_strip(struct many *m, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < PAIRS; i++)
		if (m->strip[i].number == number)
			return &m->strip[i];
	return NULL;
}

/* Of a queue pair they come in the order in which they were posted. */
static int many_take(struct many *m, bool wait)
{
	struct fl_completion c;
	struct strip *s;
	int n = wait ? fl_wait(m->cq, &c, 1, LIMIT_NS) : fl_poll(m->cq, &c, 1);

	if (n <= 0)
		return n;
	s = many_strip(m, c.qpn);
	if (!s || c.status || c.wr_id != s->done) {
		fprintf(stderr, "request %llu of queue pair %u: %s\n",
			(unsigned long long)c.wr_id, c.qpn, fl_status_string(c.status));
		return -EBADMSG;
	}
	s->done++;
	return 1;
}

static uint32_t many_length(struct many *m, const struct strip *s)
{
	static const uint32_t most[] = { 8, 64, 600, 6000 };
	uint32_t n = 1 + rig_random(&m->state) % most[rig_random(&m->state) % 4];

	if (!(rig_random(&m->state) % 3))
		n = 8;
	return n < s->bytes ? n : s->bytes;
}

static int many_post(struct many *m, struct strip *s)
{
	struct rig_app *to = &m->app[s->board];
	uint32_t n = many_length(m, s);
	uint32_t at = rig_random(&m->state) % (s->bytes - n + 1);
	uint32_t from = rig_random(&m->state) % (BYTES - n + 1);
	bool reads = m->reads && rig_random(&m->state) % 8 == 0;
	struct fl_work w = {
		.wr_id = s->posted++, .opcode = reads ? FL_READ : FL_WRITE, .bytes = n,
		.local = reads ? s->read + at : m->source + from,
		.lkey = fl_mr_key(reads ? m->read_mr : m->app[0].mr),
		.remote = (uintptr_t)to->mem + s->at + at, .rkey = fl_mr_key(to->mr),
	};

	if (reads)
		memcpy(s->read_want + at, m->want[s->board] + s->at + at, n);
	else
		memcpy(m->want[s->board] + s->at + at, m->source + from, n);
	return fl_post(s->from, &w);
}

static int many_round(struct many *m)
{
	uint32_t i, left;
	struct strip *s;

	for (i = 0; i < BYTES; i++)
		m->source[i] = (uint8_t)rig_random(&m->state);
	for (i = 0; i < POSTS; i++) {
		s = &m->strip[rig_random(&m->state) % PAIRS];
		while (s->posted - s->done == DEPTH)
			RIG_TRY(many_take(m, true));
		RIG_TRY(many_post(m, s));
		if (!(rig_random(&m->state) % 4))
			RIG_TRY(many_take(m, false));
	}
	do {
		for (left = i = 0; i < PAIRS; i++)
			left += m->strip[i].posted - m->strip[i].done;
		if (left)
			RIG_TRY(many_take(m, true));
	} while (left);
	return 0;
}

static int many_looks(const struct many *m)
{
	const struct strip *s;
	const uint8_t *is, *want;
	uint32_t i, k;

	for (i = 0; i < PAIRS; i++) {
		s = &m->strip[i];
		is = m->app[s->board].mem + s->at;
		want = m->want[s->board] + s->at;
		for (k = 0; k < s->bytes; k++)
			if (is[k] != want[k] || s->read[k] != s->read_want[k]) {
				fprintf(stderr, "strip %u, byte %u: %u for %u, read %u for %u\n",
					i, k, is[k], want[k], s->read[k], s->read_want[k]);
				return -EILSEQ;
			}
	}
	return 0;
}

/* ---- all of it ---- */

static int many_connect(struct many *m, struct strip *s)
{
	struct rig_app *to = &m->app[s->board];
	struct fl_address at[2];

	RIG_TRY(fl_create_qp(m->app[0].pd, m->cq, DEPTH, &s->from));
	RIG_TRY(fl_create_qp(to->pd, to->cq, DEPTH, &s->to));
	RIG_TRY(fl_qp_address(s->from, &at[0]));
	RIG_TRY(fl_qp_address(s->to, &at[1]));
	RIG_TRY(fl_connect(s->from, &at[1]));
	s->number = at[0].qpn;
	return fl_connect(s->to, &at[0]);
}

/* Strips of any length, one behind the other, as far as there is room for all. */
static int many_strips(struct many *m)
{
	uint32_t at[2] = { 0 }, most = BYTES / (PAIRS / 2) - GAP, i;
	uint8_t *read = fl_alloc(m->app[0].dev, 2 * BYTES);
	struct strip *s;

	if (!read)
		return -ENOMEM;
	RIG_TRY(fl_reg_mr(m->app[0].pd, read, 2 * BYTES, FL_LOCAL_WRITE, &m->read_mr));
	for (i = 0; i < PAIRS; i++) {
		s = &m->strip[i];
		s->board = !(i % 2);
		s->at = at[s->board];
		s->bytes = rig_random(&m->state) % 2 ? 700 + rig_random(&m->state) % 700 :
			   most - rig_random(&m->state) % 700;
		at[s->board] += s->bytes + GAP;
		s->read = read + i * (most + GAP);
		s->read_want = calloc(1, s->bytes);
		if (!s->read_want)
			return -ENOMEM;
		RIG_TRY(many_connect(m, s));
	}
	return 0;
}

static int many_rounds(struct many *m)
{
	uint32_t i;

	for (i = 0; i < test_rounds(ROUNDS); i++) {
		RIG_TRY(many_round(m));
		RIG_TRY(many_looks(m));
	}
	return 0;
}

struct many_wish {
	uint32_t seed;
	bool reads;
};

static int many_main(void *arg)
{
	const struct many_wish *wish = arg;
	static struct many many;
	void *bad[2] = { NULL };
	struct many *m = &many;
	pthread_t thread[2];
	unsigned int i;
	int err;

	m->state = m->seed = wish->seed;
	m->reads = wish->reads;
	for (i = 0; i < 2; i++) {
		RIG_TRY(rig_app_open(&m->app[i], i, 2 * BYTES));
		m->want[i] = calloc(1, BYTES);
		if (!m->want[i])
			return 1;
	}
	m->source = m->app[0].mem + BYTES;
	RIG_TRY(fl_create_cq(m->app[0].dev, PAIRS * DEPTH, &m->cq));
	RIG_TRY(many_strips(m));
	if (pthread_create(&thread[0], NULL, many_evicts, m) ||
	    pthread_create(&thread[1], NULL, many_counts, m))
		return 1;
	err = many_rounds(m);
	m->over = 1;
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], &bad[i]);
	for (i = 0; i < PAIRS; i++)
		free(m->strip[i].read_want);
	free(m->want[0]);
	free(m->want[1]);
	if (err || bad[0] || bad[1])
		return 2;
	return fl_close(m->app[0].dev) || fl_close(m->app[1].dev) ? 3 : 0;
}

static void many_run(const char *const *options, bool reads)
{
	struct many_wish wish = { (uint32_t)test_seed(), reads };

	rig_start(options);
	EXPECT_EQ(rig_app_run(many_main, &wish), 0);
	rig_end();
}

TEST("twelve queue pairs of a process write strips that share pages, as in a plain array")
{
	many_run(NULL, true);
}

TEST("the same with few frames")
{
	static const char *const few[] = { "--frames", "120", NULL };

	many_run(few, true);
}

TEST("the same where the SMMU stalls")
{
	static const char *const stall[] = { "--frames", "200", "--policy", "stall", NULL };

	many_run(stall, true);
}

/* A READ whose answer is lost is read again, after what was posted behind it. */
TEST("the same by packets, without READs, and with tables of the card's own")
{
	static const char *const npf[] = { "--frames", "200", "--policy", "npf", NULL };

	many_run(npf, false);
}

TEST("the same by packets, each of which may be lost with its page")
{
	static const char *const odp2[] = { "--frames", "200", "--policy", "odp2", NULL };

	many_run(odp2, false);
}
