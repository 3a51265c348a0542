// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two processes that tell one another by memory alone, as programs with RDMA do: one writes
 * data, and behind them on the same queue pair a number; the other looks at its memory until
 * the number is there, and then all of the data must be. Completions are taken later. Pages
 * leave meanwhile, of data and of numbers. What the data are follows from the number.
 *
 * variants: tsan posix
 */
#include <pthread.h>

#include "rig/serve.h"

#define DATA_PAGES	40u
#define DATA_BYTES	(DATA_PAGES * RIG_PAGE)
/* Behind the data: a page with the peer's number, and one from which the own one is sent. */
#define NUMBER_AT	DATA_BYTES
#define OWN_AT		(DATA_BYTES + RIG_PAGE)
/* The rest: what is sent, since what comes may be looked at meanwhile. */
#define SEND_AT		(DATA_BYTES + 2 * RIG_PAGE)
#define ALL_BYTES	(SEND_AT + DATA_BYTES)
#define ROUNDS		(RIG_TSAN ? 60u : 400u)
#define ROUNDS_PACKETS	(RIG_TSAN ? 10u : 60u)	/* they are refused again and again */
#define LIMIT_S		60

/* What both can work out from the number of a round. */
struct round {
	uint32_t at, bytes;
	uint64_t number;
};

struct side {
	unsigned int board;
	int sock;
	unsigned int rounds;
	bool disturbed;
	struct rig_app a;
	struct rig_address peer;
	uint32_t posted, taken;
	_Atomic bool over;
};

static struct round round_of(uint64_t number)
{
	uint32_t state = (uint32_t)number * 2654435761u + 1, most;
	struct round r = { .number = number };

	/* Few bytes, about a page, about a block, or much. */
	most = (uint32_t[]){ 64, 2 * RIG_PAGE, 5 * RIG_PAGE, DATA_BYTES }[rig_random(&state) % 4];
	r.bytes = 1 + rig_random(&state) % most;
	r.at = rig_random(&state) % (DATA_BYTES - r.bytes + 1);
	return r;
}

static uint8_t byte_of(const struct round *r, uint32_t i)
{
	return (uint8_t)(r->number * 131 + (r->at + i) * 7 + ((r->at + i) >> 8));
}

static volatile uint64_t *number_in(const struct side *s, size_t at)
{
	return (volatile uint64_t *)(void *)(s->a.mem + at);
}

static int post_one(struct side *s, size_t from, size_t to, uint32_t bytes)
{
	return fl_post_write(s->a.qp, s->posted++, s->a.mr, s->a.mem + from, bytes,
			     s->peer.va + to, s->peer.rkey);
}

/* Data and number, one behind the other, and no look at how they end. */
static int side_tells(struct side *s, const struct round *r)
{
	uint32_t i;

	for (i = 0; i < r->bytes; i++)
		s->a.mem[SEND_AT + r->at + i] = byte_of(r, i);
	*number_in(s, OWN_AT) = r->number;
	RIG_TRY(post_one(s, SEND_AT + r->at, r->at, r->bytes));
	return post_one(s, OWN_AT, NUMBER_AT, sizeof(r->number));
}

/* Here the number says that the data are there. */
static int side_hears(struct side *s, const struct round *r)
{
	time_t end = time(NULL) + LIMIT_S;
	uint32_t i, looks = 0;
	struct fl_completion c;
	int n;

	while (*number_in(s, NUMBER_AT) != r->number) {
		n = fl_poll(s->a.cq, &c, 1);	/* as a program does that also sends */
		if (n < 0 || (n && c.status))
			return n < 0 ? n : -EBADMSG;
		s->taken += (uint32_t)n;
		if (++looks % 64 == 0)
			os_yield();
		if (looks % 4096 == 0 && time(NULL) > end)
			return -ETIMEDOUT;
	}
	atomic_thread_fence(memory_order_acquire);
	for (i = 0; i < r->bytes; i++)
		if (s->a.mem[r->at + i] != byte_of(r, i)) {
			fprintf(stderr, "round %d: byte %u of %u at %u\n", (int)r->number, i,
				r->bytes, r->at);
			return -EILSEQ;
		}
	return 0;
}

/* What was sent may be filled anew when it has been taken. */
static int side_takes(struct side *s)
{
	struct fl_completion c;

	while (s->taken < s->posted) {
		RIG_TRY(fl_wait(s->a.cq, &c, 1, LIMIT_S * 1000000000ull));
		if (c.status)
			return -EBADMSG;
		s->taken++;
	}
	return 0;
}

static int side_rounds(struct side *s)
{
	struct round r;
	uint64_t n;

	for (n = 1; n <= 2 * s->rounds; n++) {
		r = round_of(n);
		if (n % 2 == s->board) {
			RIG_TRY(side_takes(s));
			RIG_TRY(side_tells(s, &r));
		} else {
			RIG_TRY(side_hears(s, &r));
		}
	}
	return side_takes(s);
}

static void *disturb_main(void *side)
{
	struct side *s = side;
	uint32_t state = s->board + 5, from, pages = ALL_BYTES / RIG_PAGE;
	int err = 0;

	while (!s->over && !err) {
		from = rig_random(&state) % pages;
		err = fl_advise(s->a.dev, s->a.mem + from * RIG_PAGE,
				(1 + rig_random(&state) % (pages - from)) * RIG_PAGE, FL_PAGEOUT);
		usleep(rig_random(&state) % 200);
	}
	return err ? s : NULL;
}

static int side_main(void *side)
{
	struct side *s = side;
	void *bad = NULL;
	pthread_t t;
	int err;

	RIG_TRY(rig_app_open(&s->a, s->board, ALL_BYTES));
	*number_in(s, NUMBER_AT) = 0;
	RIG_TRY(rig_app_connect(&s->a, s->sock, &s->peer));
	if (s->disturbed && pthread_create(&t, NULL, disturb_main, s))
		return 1;
	err = side_rounds(s);
	s->over = true;
	if (s->disturbed)
		pthread_join(t, &bad);
	if (err || bad)
		fprintf(stderr, "side %u: %s\n", s->board, fl_strerror(err));
	return err || bad || fl_close(s->a.dev);
}

static void sides_talk(const char *const *options, unsigned int rounds, bool disturbed)
{
	struct side side[2] = { { .board = 0 }, { .board = 1 } };
	pid_t pid[2];
	int fd[2], i;

	rig_start(options);
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	for (i = 0; i < 2; i++) {
		side[i].sock = fd[i];
		side[i].rounds = test_rounds(rounds);
		side[i].disturbed = disturbed;
		pid[i] = rig_fork(side_main, &side[i]);
	}
	for (i = 0; i < 2; i++)
		close(fd[i]);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(rig_wait(pid[i]), 0);
	rig_end();
}

TEST("a number that is written behind data is seen behind them, all pages there")
{
	sides_talk(NULL, ROUNDS, false);
}

TEST("a number that is written behind data is seen behind them, while pages leave")
{
	sides_talk(NULL, ROUNDS, true);
}

TEST("the same where the SMMU stalls")
{
	static const char *const stall[] = { "--policy", "stall", NULL };

	sides_talk(stall, ROUNDS, true);
}

TEST("the same by packets, with tables of the card's own")
{
	static const char *const npf[] = { "--policy", "npf", NULL };

	sides_talk(npf, ROUNDS_PACKETS, true);
}

TEST("the same by packets, each of which may be lost with its page")
{
	static const char *const odp2[] = { "--policy", "odp2", NULL };

	sides_talk(odp2, ROUNDS_PACKETS, true);
}
