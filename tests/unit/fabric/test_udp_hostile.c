// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between two sites sits a relay: it hands on what comes, and with each packet
 * it throws in some of its own, from the address that the link trusts and from
 * another one: random bytes, parts of real packets, damaged ones, packets with a good
 * ICRC whose fields cannot be; or real ones once more, at any later time.
 * variants: tsan
 */
#include <poll.h>
#include <pthread.h>

#include "nic/wire.h"
#include "sim/rng.h"
#include "rig/udp.h"

#define NODE_A		1
#define NODE_B		15
/*
 * With thread sanitizer packets are looked at so slowly that time-outs bring more of
 * them, and these more nonsense, than can ever be looked at.
 */
#ifdef __SANITIZE_THREAD__
#define FLOOD		5000u
#define JUNK		2	/* thrown in both ways for each real packet */
#else
#define FLOOD		100000u
#define JUNK		20	/* to each side, for each packet handed on */
#endif
#define MOST		6000	/* bytes of a datagram: more than any frame */
#define KEPT	256	/* packets to be sent again, of each side */

static struct site a, b;

/* fd[i] is what side i takes for its peer; fd[2] is nobody's peer. */
static struct relay {
	int fd[3];
	struct sockaddr_in at[2], site[2];
	pthread_t thread;
	atomic_bool end;
	struct rng rng;
	struct wire_frame last[2];	/* that came from side i */
	uint8_t noise[MOST];
	_Atomic uint32_t junk;
	bool replay;			/* real packets again, not junk */
	struct wire_frame kept[2][KEPT];
} relay;

static int relay_socket(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int fd = socket(AF_INET, SOCK_DGRAM, 0), bytes = 4 << 20;

	*at = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(LOOPBACK) };
	udp_rig_need(fd >= 0 && !bind(fd, (struct sockaddr *)at, sizeof(*at)) &&
		     !getsockname(fd, (struct sockaddr *)at, &len));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	return fd;
}

static void relay_send(int fd, int side, const void *bytes, size_t n)
{
	sendto(fd, bytes, n, 0, (struct sockaddr *)&relay.site[side],
	       sizeof(relay.site[side]));
}

static uint32_t hostile_pick(uint32_t n)
{
	return (uint32_t)rng_below(&relay.rng, n);
}

/* The nodes that the packet names, and an ICRC that is right for them. */
static void hostile_seal(struct wire_frame *f)
{
	uint32_t crc, i;

	f->from = f->bytes[4] >> 4;
	f->to = f->bytes[4] & 15;
	crc = wire_icrc(f);
	for (i = 0; i < 4; i++)
		f->bytes[f->len - 4 + i] = (uint8_t)(crc >> 8 * i);
}

/*
 * A packet that is well sealed, and wrong. What the peer itself could say is not
 * among these: that it is a new process, or a block of its own with other bytes.
 * An attacker who reads the packets of a wire can pose as the peer.
 */
static void hostile_nonsense(struct wire_frame *f)
{
	uint8_t *h = f->bytes;

	switch (hostile_pick(9)) {
	case 0:			/* no such opcode */
		h[0] = (uint8_t)(0x40 + hostile_pick(0x20));
		break;
	case 1:			/* other flags: solicited, pad, version */
		h[1] = (uint8_t)(1 + hostile_pick(0x3F));
		break;
	case 2:			/* not a full member, or of no start at all */
		if (hostile_pick(2))
			h[2] &= 0x7F;
		else
			h[2] = 0x80, h[3] = 0;
		break;
	case 3:			/* to another start */
		h[9] ^= (uint8_t)(1u << hostile_pick(8));
		break;
	case 4:			/* from a node that is not there */
		h[4] ^= (uint8_t)(0x10 << hostile_pick(4));
		break;
	case 5:			/* to a node that is not here */
		h[4] ^= (uint8_t)(1u << hostile_pick(4));
		break;
	case 6:			/* a context that no card has */
		h[12] |= (uint8_t)(0x80 >> hostile_pick(3));
		break;
	case 7:			/* shorter than its header */
		f->len = WIRE_BTH_BYTES + WIRE_ICRC_BYTES + hostile_pick(16);
		break;
	case 8:			/* bits that are reserved */
		h[8] |= (uint8_t)(1 + hostile_pick(255));
		break;
	}
	if (h[0] == WOP_HELLO)
		h[0] = 0xFF;
	hostile_seal(f);
}

static void throw_in(int side)
{
	struct wire_frame f = relay.last[1 - side];
	uint32_t i, n;
	int fd = relay.fd[side];

	atomic_fetch_add(&relay.junk, 1);
	switch (f.len ? hostile_pick(6) : 0) {
	case 0:			/* anything, of any length, none too */
		n = hostile_pick(4) ? hostile_pick(80) : hostile_pick(MOST);
		for (i = 0; i < n; i++)
			relay.noise[i] = (uint8_t)rng_next(&relay.rng);
		relay_send(fd, side, relay.noise, n);
		return;
	case 1:			/* a part of it */
		relay_send(fd, side, f.bytes, hostile_pick(f.len));
		return;
	case 2:			/* damaged */
		f.bytes[5 + hostile_pick(f.len -
					 5)] ^= (uint8_t)(1 +
							  hostile_pick(255));
		relay_send(fd, side, f.bytes, f.len);
		return;
	case 3:			/* good, and from a stranger */
		relay_send(relay.fd[2], side, f.bytes, f.len);
		return;
	default:
		hostile_nonsense(&f);
		relay_send(fd, side, f.bytes, f.len);
	}
}

/* What side once said to the other. */
static void hostile_again(int side)
{
	struct wire_frame *f = &relay.kept[side][hostile_pick(KEPT)];

	if (!f->len)
		return;
	atomic_fetch_add(&relay.junk, 1);
	relay_send(relay.fd[1 - side], 1 - side, f->bytes, f->len);
}

static void hand_on(int side)
{
	struct wire_frame *f = &relay.last[side];
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	ssize_t n = recvfrom(relay.fd[side], f->bytes, sizeof(f->bytes), 0,
			     (struct sockaddr *)&from, &len);
	int i;

	f->len = 0;
	if (n < 16 || from.sin_port != relay.site[side].sin_port)
		return;
	f->len = (uint32_t)n;
	if (relay.replay)
		relay.kept[side][hostile_pick(KEPT)] = *f;
	relay_send(relay.fd[1 - side], 1 - side, f->bytes, f->len);
	if (f->bytes[0] == WOP_HELLO)
		f->len = 0;	/* nothing to make nonsense of */
	for (i = 0; i < JUNK && !relay.replay; i++) {
		throw_in(0);
		throw_in(1);
	}
	for (i = 0; i < 4 && relay.replay; i++)
		hostile_again(i & 1);
}

static void *relay_main(void *arg)
{
	struct pollfd p[2] = { { .fd = relay.fd[0], .events = POLLIN },
			       { .fd = relay.fd[1], .events = POLLIN } };
	int i;

	(void)arg;
	while (!atomic_load(&relay.end)) {
		poll(p, 2, 20);
		for (i = 0; i < 2; i++)
			if (p[i].revents & POLLIN)
				hand_on(i);
	}
	return NULL;
}

static void relay_end(void *arg)
{
	int i;

	(void)arg;
	atomic_store(&relay.end, true);
	pthread_join(relay.thread, NULL);
	for (i = 0; i < 3; i++)
		close(relay.fd[i]);
}

static void site_up(struct site *s, uint8_t node, int side, uint8_t other)
{
	struct fabric_udp_config cfg = {
		.local = LOOPBACK, .peer = LOOPBACK,
		.peer_port = ntohs(relay.at[side].sin_port),
		.first = other, .last = other,
	};

	site_fabric(s, node, SIM_THREADS, 200000000);
	/* Real packets may find the buffers full, and again. */
	s->timing.v[T_FW_TRIES] = 100;
	site_board(s);
	EXPECT_EQ(fabric_udp(s->fabric, &cfg), 0);
	relay.site[side] = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(LOOPBACK),
		.sin_port = htons((uint16_t)fabric_udp_port(s->fabric, other)),
	};
}

static void site_cleanup_both(void *arg)
{
	(void)arg;
	site_end(&a);
	site_end(&b);
}

static void set_up(bool replay)
{
	struct sockaddr_in stranger;

	memset(&relay, 0, sizeof(relay));
	rng_init(&relay.rng, 20260, "relay");
	relay.replay = replay;
	relay.fd[0] = relay_socket(&relay.at[0]);
	relay.fd[1] = relay_socket(&relay.at[1]);
	relay.fd[2] = relay_socket(&stranger);
	test_cleanup(site_cleanup_both, NULL);
	site_up(&a, NODE_A, 0, NODE_B);
	site_up(&b, NODE_B, 1, NODE_A);
	udp_rig_need(!pthread_create(&relay.thread, NULL, relay_main, NULL));
	test_cleanup(relay_end, NULL);
}

TEST("a hundred thousand hostile packets change nothing of a transfer")
{
	struct fabric_udp_stats st[2];
	int i;

	set_up(false);
	udp_rig_transfer(&a, &b, 0, 1);
	STEP("more of it until there were %u", FLOOD);
	for (i = 2; atomic_load(&relay.junk) < FLOOD; i++)
		udp_rig_transfer(&a, &b, i & 1, (uint8_t)i);
	fabric_udp_stats(a.fabric, NODE_B, &st[0]);
	fabric_udp_stats(b.fabric, NODE_A, &st[1]);
	for (i = 0; i < 2; i++) {
		STEP("side %d met every kind and refused it", i);
		EXPECT_GE(st[i].address, 1);
		EXPECT_GE(st[i].length, 1);
		EXPECT_GE(st[i].icrc, 1);
		EXPECT_GE(st[i].node, 1);
		EXPECT_GE(st[i].old, 1);
		EXPECT_GE(st[i].header, 1);
		EXPECT_EQ(st[i].peers, 1);
	}
	STEP("nothing of a card was lost on the way");
	EXPECT_STR(board_check(a.board) ? board_check(a.board) : "good",
		   "good");
	EXPECT_STR(board_check(b.board) ? board_check(b.board) : "good",
		   "good");
}

TEST("real packets that come again, at any later time, do no harm")
{
	int i;

	set_up(true);
	for (i = 0; i < 6; i++)
		udp_rig_transfer(&a, &b, i & 1, (uint8_t)i);
	EXPECT_GE(atomic_load(&relay.junk), 1000);
	STEP("cards know them for what they are");
	EXPECT_GE(trace_count(a.trace, EV_RX_STALE) +
		  trace_count(a.trace, EV_RX_DUPLICATE), 1);
	EXPECT_EQ(trace_count(a.trace, EV_WIRE_PEER), 1);
}
