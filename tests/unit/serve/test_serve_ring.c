// SPDX-License-Identifier: BSD-2-Clause
/*
 * A ring of messages between two processes, as programs with RDMA build it from WRITEs alone.
 * Many messages are under way; a number behind each says that it is there; the place that it
 * was sent from is scribbled over as soon as its WRITE has completed; the reader scribbles
 * over what it has read, waits, and sees that nothing comes to lie there before it has given
 * the place back, with a WRITE of its own. Pages of all of these leave meanwhile. What a
 * message holds follows from its number, which is all that the reader knows.
 *
 * variants: tsan posix
 */
#include <pthread.h>

#include "rig/serve.h"

#define SLOTS		16u
#define SLOT_BYTES	(2 * RIG_PAGE + 904)	/* so that two share a page */
#define RING_BYTES	(SLOTS * SLOT_BYTES)
/* Behind the ring: numbers of messages, one a slot; credits; the same, to be sent. */
#define NUMBERS_AT	((RING_BYTES + RIG_PAGE) / RIG_PAGE * RIG_PAGE)
#define CREDIT_AT	(NUMBERS_AT + RIG_PAGE)
#define OWN_AT		(NUMBERS_AT + 2 * RIG_PAGE)
#define ALL_BYTES	(NUMBERS_AT + 3 * RIG_PAGE)
#define MESSAGES	test_rounds(RIG_TSAN ? 60 : 600)
#define LIMIT_S		60

struct ring_end {
	unsigned int board;
	int sock, fence;	/* numbers wait for what is before them */
	struct rig_app a;
	struct rig_address peer;
	uint32_t posted, taken;
	_Atomic bool over;
};

static uint32_t message_bytes(uint64_t n)
{
	uint32_t state = (uint32_t)n * 2654435761u + 9;
	uint32_t most = rig_random(&state) % 2 ? 100 : SLOT_BYTES;

	return 1 + rig_random(&state) % most;
}

static uint8_t message_byte(uint64_t n, uint32_t i)
{
	return (uint8_t)(n * 151 + i * 13 + (i >> 8));
}

static volatile uint64_t *word_at(const struct ring_end *e, size_t at)
{
	return (volatile uint64_t *)(void *)(e->a.mem + at);
}

static int ring_write(struct ring_end *e, size_t from, size_t to, uint32_t bytes, int fence)
{
	const struct fl_work w = {
		.wr_id = e->posted++, .opcode = FL_WRITE, .bytes = bytes, .fence = fence,
		.local = e->a.mem + from, .lkey = fl_mr_key(e->a.mr),
		.remote = e->peer.va + to, .rkey = e->peer.rkey,
	};

	return fl_post(e->a.qp, &w);
}

/* Completions that are there, or, with `wait`, one at least. */
static int ring_take(struct ring_end *e, bool wait)
{
	struct fl_completion c;
	int n;

	for (;;) {
		n = wait ? fl_wait(e->a.cq, &c, 1, LIMIT_S * 1000000000ull) :
			   fl_poll(e->a.cq, &c, 1);
		if (n <= 0)
			return n;
		if (c.status || c.wr_id != e->taken) {
			fprintf(stderr, "board %u, request %u of %u: %s\n", e->board,
				(unsigned int)c.wr_id, e->taken, fl_status_string(c.status));
			return -EBADMSG;
		}
		e->taken++;
		wait = false;
	}
}

/* ---- who writes ---- */

/* Two requests a message. Of one that has completed the source is free for anything. */
static void sources_spoil(struct ring_end *e, uint64_t *spoilt)
{
	for (; (*spoilt + 1) * 2 <= e->taken; ++*spoilt)
		memset(e->a.mem + *spoilt % SLOTS * SLOT_BYTES, 0xee, SLOT_BYTES);
}

static int ring_writes(struct ring_end *e)
{
	uint64_t n, spoilt = 0;
	uint32_t i, bytes, slot;
	time_t end;

	for (n = 0; n < MESSAGES; n++) {
		slot = n % SLOTS;
		end = time(NULL) + LIMIT_S;
		while (n >= *word_at(e, CREDIT_AT) + SLOTS || n >= spoilt + SLOTS) {
			RIG_TRY(ring_take(e, false));
			sources_spoil(e, &spoilt);
			os_yield();
			if (time(NULL) > end)
				return -ETIMEDOUT;
		}
		bytes = message_bytes(n);
		for (i = 0; i < bytes; i++)
			e->a.mem[slot * SLOT_BYTES + i] = message_byte(n, i);
		*word_at(e, OWN_AT + 8 * slot) = n + 1;
		RIG_TRY(ring_write(e, slot * SLOT_BYTES, slot * SLOT_BYTES, bytes, 0));
		RIG_TRY(ring_write(e, OWN_AT + 8 * slot, NUMBERS_AT + 8 * slot, 8, e->fence));
	}
	while (e->taken < e->posted)
		RIG_TRY(ring_take(e, true));
	return 0;
}

/* ---- who reads ---- */

static int slot_read(struct ring_end *e, uint64_t n, uint32_t *state)
{
	volatile uint8_t *slot = e->a.mem + n % SLOTS * SLOT_BYTES;
	uint32_t bytes = message_bytes(n), i;

	for (i = 0; i < bytes; i++)
		if (slot[i] != message_byte(n, i)) {
			fprintf(stderr, "message %d: byte %u of %u\n", (int)n, i, bytes);
			return -EILSEQ;
		}
	/* From now on it is the reader's until it is given back. */
	for (i = 0; i < SLOT_BYTES; i++)
		slot[i] = 0x55;
	if (rig_random(state) % 4 == 0)
		usleep(rig_random(state) % 1000);
	for (i = 0; i < SLOT_BYTES; i++)
		if (slot[i] != 0x55) {
			fprintf(stderr, "after message %d: byte %u\n", (int)n, i);
			return -EUCLEAN;
		}
	return 0;
}

static int ring_reads(struct ring_end *e)
{
	uint32_t state = 7;
	uint64_t n;
	time_t end;

	for (n = 0; n < MESSAGES; n++) {
		end = time(NULL) + LIMIT_S;
		while (*word_at(e, NUMBERS_AT + 8 * (n % SLOTS)) != n + 1) {
			RIG_TRY(ring_take(e, false));
			os_yield();
			if (time(NULL) > end)
				return -ETIMEDOUT;
		}
		atomic_thread_fence(memory_order_acquire);
		RIG_TRY(slot_read(e, n, &state));
		/* A credit that is being sent is read when its turn comes: so one of its own. */
		while (e->posted - e->taken >= SLOTS)
			RIG_TRY(ring_take(e, true));
		*word_at(e, OWN_AT + 8 * (e->posted % SLOTS)) = n + 1;
		RIG_TRY(ring_write(e, OWN_AT + 8 * (e->posted % SLOTS), CREDIT_AT, 8, 0));
	}
	while (e->taken < e->posted)
		RIG_TRY(ring_take(e, true));
	return 0;
}

/* ---- both ---- */

static void *ring_disturb(void *arg)
{
	struct ring_end *e = arg;
	uint32_t state = e->board + 11, from, pages = ALL_BYTES / RIG_PAGE;
	int err = 0;

	while (!e->over && !err) {
		from = rig_random(&state) % pages;
		err = fl_advise(e->a.dev, e->a.mem + from * RIG_PAGE,
				(1 + rig_random(&state) % (pages - from)) * RIG_PAGE, FL_PAGEOUT);
		usleep(rig_random(&state) % 500);
	}
	return err ? e : NULL;
}

static int ring_main(void *arg)
{
	struct ring_end *e = arg;
	void *bad = NULL;
	char done = 1;
	pthread_t t;
	int err;

	RIG_TRY(rig_app_open(&e->a, e->board, ALL_BYTES));
	memset(e->a.mem, 0, ALL_BYTES);
	RIG_TRY(rig_app_connect(&e->a, e->sock, &e->peer));
	if (pthread_create(&t, NULL, ring_disturb, e))
		return 1;
	err = e->board ? ring_reads(e) : ring_writes(e);
	/* Who closes takes its queue pair from the other's last requests. */
	if (!err && (send(e->sock, &done, 1, MSG_NOSIGNAL) != 1 || rig_read(e->sock, &done, 1)))
		err = -EPIPE;
	e->over = true;
	pthread_join(t, &bad);
	if (err || bad)
		fprintf(stderr, "board %u: %s\n", e->board, fl_strerror(err));
	return err || bad || fl_close(e->a.dev);
}

/*
 * Not under drop and droprc: there a page has to stay for as long as the sender waits for an
 * answer, and here it does not, so that they end with an error.
 */
static void ring_goes_round(const char *policy, int fence)
{
	const char *options[] = { "--frames", "160", "--policy", policy, NULL };
	struct ring_end end[2] = { { .board = 0 }, { .board = 1 } };
	pid_t pid[2];
	int fd[2], i;

	rig_start(options);
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	for (i = 0; i < 2; i++) {
		end[i].sock = fd[i];
		end[i].fence = fence;
		pid[i] = rig_fork(ring_main, &end[i]);
	}
	for (i = 0; i < 2; i++)
		close(fd[i]);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(rig_wait(pid[i]), 0);
	rig_end();
}

TEST("a ring of messages holds each as it was sent: block by block, sent again")
{
	ring_goes_round("part", 0);
}

TEST("the same where the SMMU stalls")
{
	ring_goes_round("stall", 0);
}

TEST("the same where the driver reads each request first")
{
	ring_goes_round("ioguard", 0);
}

TEST("the same where no access faults, and what vanished is done again")
{
	ring_goes_round("npr", 0);
}

TEST("the same by packets, and with tables of the card's own")
{
	ring_goes_round("npf", 0);
}

TEST("the same by packets, where the receiver sleeps until a page is there")
{
	ring_goes_round("rxe", 0);
}

/* They keep no order but where they meet, or where a fence is. */
TEST("the same by fragments that come in any order, with a fence before each number")
{
	ring_goes_round("netvm", 1);
}
