// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a program on reliable connections does without a thought: a lock of compare-and-swap,
 * a record of several pages that only its holder writes, and the word that gives the lock back
 * posted right behind the record. Three processes on two boards take turns, while the owner's
 * pages leave and the owner itself counts in the page of the lock. Each turn adds one to every
 * word of the record; nothing else is known of how it came there.
 *
 * variants: tsan
 */
#include "rig/serve.h"

#define CLIENTS	3u
#define TURNS	test_rounds(RIG_TSAN ? 4 : 12)
#define RECORD	(5 * RIG_PAGE + 24)	/* begins in the middle of a page */
#define WORDS	(RECORD / 8)
#define AT	(RIG_PAGE + 1000)
#define LOCK	40u
#define MINE	128u			/* the owner's own counter, beside the lock */
#define BYTES	(8 * RIG_PAGE)		/* of the owner; a client has three times as much */
#define WAIT_NS	60000000000ull

struct lock_side {
	unsigned int number;		/* of a client, from 1 */
	int sock[CLIENTS];		/* the owner's; a client has the first */
};

/* All words of the record are the same; which. */
static int record_value(const uint8_t *record, uint64_t *value)
{
	uint64_t word;
	uint32_t i;

	memcpy(value, record, 8);
	for (i = 0; i < WORDS; i++) {
		memcpy(&word, record + i * 8, 8);
		if (word != *value) {
			fprintf(stderr, "word %u of the record is %llu, the first %llu\n", i,
				(unsigned long long)word, (unsigned long long)*value);
			return -EBADMSG;
		}
	}
	return 0;
}

static void record_fill(uint8_t *record, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < WORDS; i++)
		memcpy(record + i * 8, &value, 8);
}

static int wait_all(struct rig_app *a, unsigned int n)
{
	struct fl_completion c;

	while (n--) {
		RIG_TRY(fl_wait(a->cq, &c, 1, WAIT_NS));
		if (c.status) {
			fprintf(stderr, "request %u: %s\n", (unsigned int)c.wr_id,
				fl_status_string(c.status));
			return -EIO;
		}
	}
	return 0;
}

static int lock_swap(struct rig_app *a, const struct rig_address *at, uint64_t from, uint64_t to)
{
	return fl_post_atomic(a->qp, FL_CMP_SWAP, 1, a->mr, a->mem, at->va + LOCK, at->rkey,
			      from, to);
}

/*
 * Memory of a client: what an atomic brought; what a READ brought; the record as it shall be;
 * and one of rubbish, which is written before it and must not be seen.
 */
static int lock_turn(struct rig_app *a, const struct rig_address *at, uint64_t me)
{
	uint8_t *got = a->mem + AT, *next = got + BYTES, *rubbish = next + BYTES;
	uint64_t old = 1, value;

	while (old) {
		RIG_TRY(lock_swap(a, at, 0, me));
		RIG_TRY(wait_all(a, 1));
		memcpy(&old, a->mem, 8);
	}
	RIG_TRY(fl_post_read(a->qp, 2, a->mr, got, RECORD, at->va + AT, at->rkey));
	RIG_TRY(wait_all(a, 1));
	RIG_TRY(record_value(got, &value));
	record_fill(next, value + 1);
	memset(rubbish, 0xdb, RECORD);
	RIG_TRY(fl_advise(a->dev, a->mem, 3 * BYTES, FL_PAGEOUT));
	RIG_TRY(fl_post_write(a->qp, 3, a->mr, rubbish, RECORD, at->va + AT, at->rkey));
	RIG_TRY(fl_post_write(a->qp, 4, a->mr, next, RECORD, at->va + AT, at->rkey));
	RIG_TRY(lock_swap(a, at, me, 0));
	RIG_TRY(wait_all(a, 3));
	memcpy(&old, a->mem, 8);
	if (old != me) {
		fprintf(stderr, "the lock of %u was held by %llu\n", (unsigned int)me,
			(unsigned long long)old);
		return -EBADMSG;
	}
	return 0;
}

static int lock_client(void *arg)
{
	struct lock_side *s = arg;
	struct rig_address at;
	struct rig_app a;
	unsigned int i;
	char done = 1;

	/* Two on the other board, one on the owner's. */
	RIG_TRY(rig_app_open(&a, s->number == CLIENTS, 3 * BYTES));
	RIG_TRY(rig_app_connect(&a, s->sock[0], &at));
	for (i = 0; i < TURNS; i++)
		RIG_TRY(lock_turn(&a, &at, s->number));
	if (send(s->sock[0], &done, 1, MSG_NOSIGNAL) != 1)
		return -EPIPE;
	RIG_TRY(rig_read(s->sock[0], &done, 1));
	return fl_close(a.dev) ? 1 : 0;
}

/* Until all clients are done: its pages leave, and it counts beside the lock. */
static int lock_keep(struct rig_app *a, struct lock_side *s, uint64_t *counted)
{
	volatile uint64_t *mine = (volatile uint64_t *)(a->mem + MINE);
	struct pollfd p[CLIENTS];
	unsigned int i, left = CLIENTS;
	char done;

	for (i = 0; i < CLIENTS; i++)
		p[i] = (struct pollfd){ .fd = s->sock[i], .events = POLLIN };
	for (*counted = 0; left; ++*counted) {
		++*mine;
		RIG_TRY(fl_advise(a->dev, a->mem, BYTES, FL_PAGEOUT));
		if (poll(p, CLIENTS, 1) <= 0)
			continue;
		for (i = 0; i < CLIENTS; i++)
			if (p[i].revents) {
				RIG_TRY(rig_read(p[i].fd, &done, 1));
				p[i].fd = -1;
				left--;
			}
	}
	return 0;
}

static int lock_owner(void *arg)
{
	struct lock_side *s = arg;
	uint64_t counted, value, word;
	struct rig_address peer;
	struct rig_app a, line;
	unsigned int i;

	RIG_TRY(rig_app_open(&a, 1, BYTES));
	RIG_TRY(fl_dereg_mr(a.mr));
	RIG_TRY(fl_reg_mr(a.pd, a.mem, BYTES, FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ |
			  FL_REMOTE_ATOMIC, &a.mr));
	for (i = 0; i < CLIENTS; i++) {
		line = a;
		RIG_TRY(fl_create_qp(a.pd, a.cq, 8, &line.qp));
		RIG_TRY(rig_app_connect(&line, s->sock[i], &peer));
	}
	RIG_TRY(lock_keep(&a, s, &counted));
	RIG_TRY(record_value(a.mem + AT, &value));
	memcpy(&word, a.mem + MINE, 8);
	if (value != CLIENTS * TURNS || word != counted) {
		fprintf(stderr, "%llu turns of %u, and %llu of the owner's %llu\n",
			(unsigned long long)value, CLIENTS * TURNS, (unsigned long long)word,
			(unsigned long long)counted);
		return 2;
	}
	memcpy(&word, a.mem + LOCK, 8);
	for (i = 0; i < CLIENTS; i++)
		if (send(s->sock[i], "", 1, MSG_NOSIGNAL) != 1)
			return -EPIPE;
	return word || fl_close(a.dev) ? 1 : 0;
}

static void lock_and_record(const char *policy, const char *frames)
{
	const char *options[] = { "--policy", policy, "--frames", frames, NULL };
	struct lock_side client, owner = { 0 };
	pid_t pid[CLIENTS + 1];
	unsigned int i;
	int sock[2];

	STEP("system %s, %s frames", policy, frames);
	rig_start(options);
	for (i = 0; i < CLIENTS; i++) {
		EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock), 0);
		owner.sock[i] = sock[0];
		client = (struct lock_side){ .number = i + 1, .sock = { sock[1] } };
		pid[i] = rig_fork(lock_client, &client);
		close(sock[1]);
	}
	pid[CLIENTS] = rig_fork(lock_owner, &owner);
	for (i = 0; i < CLIENTS; i++)
		close(owner.sock[i]);
	for (i = 0; i <= CLIENTS; i++)
		EXPECT_EQ(rig_wait(pid[i]), 0);
	rig_end();
}

TEST("a record under a lock is seen whole, and no turn is lost: npf")
{
	lock_and_record("npf", "4096");
}

TEST("the same where memory is short")
{
	lock_and_record("npf", "64");
}

TEST("the same with the card that asks its driver: odp2")
{
	lock_and_record("odp2", "4096");
}

TEST("the same in software: rxe")
{
	lock_and_record("rxe", "4096");
}
