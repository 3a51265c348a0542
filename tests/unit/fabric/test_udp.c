// SPDX-License-Identifier: BSD-2-Clause
/*
 * Boards of two processes, joined by UDP: cold transfers, loss and worse, a
 * peer that is silent, a peer that is started anew, and set-ups that are
 * refused.
 * variants: tsan
 */
#include "board/board_internal.h"
#include "rig/udp.h"
#include "nic/wire.h"

#define NODE_A		2
#define NODE_B		9
#define NODE_C		0
#define SECOND		1000000000ull

static struct site a, b;
static uint16_t port_a, port_b;
/* The second address of the loopback is not everywhere. */
static uint32_t address_b = LOOPBACK;

/* Another test may have taken the port meanwhile; it is free again soon. */
static int link_up(struct site *s, const struct fabric_udp_config *cfg)
{
	int err, tries = 0;

	while ((err = fabric_udp(s->fabric, cfg)) == -EADDRINUSE &&
	       ++tries < 500)
		usleep(20000);
	return err;
}

static int link_site(struct site *s)
{
	struct fabric_udp_config cfg = {
		.local = LOOPBACK, .local_port = port_a,
		.peer = address_b, .peer_port = port_b,
		.first = NODE_B, .last = NODE_B,
	};

	if (s->node == NODE_B)
		cfg = (struct fabric_udp_config){
			.local = address_b, .local_port = port_b,
			.peer = LOOPBACK, .peer_port = port_a,
			.first = NODE_A, .last = NODE_A + 1,
		};
	return link_up(s, &cfg);
}

static void choose_ports(void)
{
	struct sockaddr_in two = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(LOOPBACK + 1) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	udp_rig_need(fd >= 0);
	if (!bind(fd, (struct sockaddr *)&two, sizeof(two)))
		address_b = LOOPBACK + 1;
	close(fd);
	port_a = free_port();
	do
		port_b = free_port();
	while (port_b == port_a);
}

static void site_up(struct site *s, uint8_t node, uint64_t timeout_ns)
{
	site_fabric(s, node, SIM_THREADS, timeout_ns);
	/* A machine that is busy must not end a request. */
	s->timing.v[T_FW_TRIES] = 100;
	site_board(s);
	udp_rig_need(!link_site(s));
}

static void pair_up(uint64_t timeout_ns)
{
	STEP("two sites at 127.0.0.1 and 127.0.0.2, one process each");
	choose_ports();
	site_up(&a, NODE_A, timeout_ns);
	test_cleanup(site_cleanup, &a);
	site_up(&b, NODE_B, timeout_ns);
	test_cleanup(site_cleanup, &b);
}

static struct fabric_udp_stats udp_stats(struct site *s)
{
	struct fabric_udp_stats st;

	fabric_udp_stats(s->fabric, s->node == NODE_A ? NODE_B : NODE_A, &st);
	return st;
}

TEST("1 MB goes over UDP and comes back, with every page cold on both sides")
{
	pair_up(SECOND / 5);
	udp_rig_transfer(&a, &b, 0, 1);
	udp_rig_transfer(&a, &b, 1, 2);
	EXPECT_GE(udp_stats(&a).received, 2048);
	EXPECT_GE(udp_stats(&b).received, 2048);
	EXPECT_EQ(udp_stats(&a).peers, 1);
	EXPECT_EQ(udp_stats(&b).peers, 1);
	EXPECT_EQ(udp_stats(&b).header + udp_stats(&b).node +
		  udp_stats(&b).icrc, 0);
	EXPECT_GE(trace_count(a.trace, EV_WIRE_PEER), 1);
	STEP("what the link lets in is good for the cards as well");
	EXPECT_EQ(trace_count(a.trace, EV_RX_BAD_PACKET) +
		  trace_count(b.trace, EV_RX_BAD_PACKET), 0);
}

TEST("boards that threads of their own run are joined just as well")
{
	a.drive = b.drive = SIM_DEDICATED;
	pair_up(SECOND);
	udp_rig_transfer(&a, &b, 0, 12);
	udp_rig_transfer(&a, &b, 1, 13);
}

/* A third site behind a link of its own: of a to it, or of it to a. */
static int link_third(struct site *s, uint16_t local, uint16_t peer,
		      uint8_t node)
{
	const struct fabric_udp_config cfg = {
		.local = LOOPBACK, .local_port = local,
		.peer = LOOPBACK, .peer_port = peer,
		.first = node, .last = node,
	};

	return link_up(s, &cfg);
}

TEST("a process with two links reaches the boards of two others")
{
	static struct site c;
	struct fabric_udp_stats st;
	uint16_t near = free_port(), far;

	pair_up(SECOND / 5);
	site_fabric(&c, NODE_C, SIM_THREADS, SECOND / 5);
	test_cleanup(site_cleanup, &c);
	site_board(&c);
	do
		far = free_port();
	while (far == near);
	EXPECT_EQ(link_third(&a, near, far, NODE_C), 0);
	EXPECT_EQ(link_third(&c, far, near, NODE_A), 0);
	udp_rig_transfer(&a, &b, 0, 14);
	udp_rig_transfer(&c, &a, 0, 15);
	udp_rig_transfer(&b, &a, 0, 16);
	udp_rig_transfer(&a, &c, 0, 17);
	fabric_udp_stats(a.fabric, NODE_C, &st);
	EXPECT_GE(st.received, 2048);
	EXPECT_EQ(st.node, 0);
	EXPECT_EQ(fabric_udp_port(a.fabric, NODE_C), near);
}

static void udp_inject(struct site *s, const struct fabric_inject *i)
{
	EXPECT_EQ(fabric_inject(s->fabric, s->node,
				s == &a ? NODE_B : NODE_A, i), 0);
}

/* Whoever sends has the board entered. */
static struct fabric_stats udp_sent(struct site *s)
{
	struct fabric_stats st;

	sim_enter(s->board->domain);
	fabric_stats(s->fabric, s->node, &st);
	sim_leave(s->board->domain);
	return st;
}

TEST("one packet in a hundred is lost both ways, and every byte arrives")
{
	const struct fabric_inject loss = { .loss_ppm = 10000 };
	struct fabric_stats st;

	pair_up(SECOND / 20);
	udp_inject(&a, &loss);
	udp_inject(&b, &loss);
	udp_rig_transfer(&a, &b, 0, 4);
	st = udp_sent(&a);
	EXPECT_GE(st.lost, 1);
	EXPECT_GE(trace_count(a.trace, EV_FW_TIMEOUT) +
		  trace_count(b.trace, EV_FW_TIMEOUT), 1);
}

TEST("packets are damaged, doubled and late, though boards inside check nothing")
{
	const struct fabric_inject bad = {
		.damage_ppm = 5000, .duplicate_ppm = 20000, .late_ppm = 20000,
		.late_ns = 3000000,
	};
	struct fabric_stats st;

	pair_up(SECOND / 20);
	udp_inject(&a, &bad);
	udp_inject(&b, &bad);
	udp_rig_transfer(&a, &b, 1, 5);
	st = udp_sent(&a);
	EXPECT_GE(st.damaged, 1);
	EXPECT_GE(st.duplicated, 1);
	EXPECT_GE(st.late, 1);
	STEP("what was damaged was refused at the door");
	EXPECT_GE(udp_stats(&b).icrc, 1);
	EXPECT_GE(trace_count(b.trace, EV_WIRE_REFUSED), 1);
}

/* ---- frames that find no place ---- */

static void count_frame(void *arg, const struct wire_frame *f, uint64_t now_ns)
{
	(void)f;
	(void)now_ns;
	atomic_fetch_add((atomic_uint *)arg, 1);
}

static void no_news(void *arg)
{
	(void)arg;
}

/* A port without a card, which counts what comes. */
struct bare {
	struct sim_domain *domain;
	struct fabric_port *port;
	atomic_uint came;
};

static void bare_up(struct site *s, struct bare *p, uint8_t node)
{
	int error;

	s->frames = 32;
	site_fabric(s, node, SIM_THREADS, 0);
	atomic_store(&p->came, 0);
	p->domain = sim_domain_create(s->sim, "bare");
	p->port = fabric_attach(s->fabric, p->domain, node, count_frame,
				no_news, &p->came, &error);
	udp_rig_need(p->port != NULL);
}

static void bare_send(struct bare *p, uint8_t to)
{
	const struct wire_answer a = { .opcode = WOP_ACK };
	struct wire_frame *f;

	sim_enter(p->domain);
	f = fabric_frame_get(p->port);
	if (f) {
		f->to = to;
		wire_put_answer(f, &a, false);
		fabric_frame_send(p->port, f);
	}
	sim_leave(p->domain);
}

TEST("a packet for which the boards have left no frame is lost and counted")
{
	static struct bare from, to;
	unsigned int sent = 0;

	choose_ports();
	bare_up(&a, &from, NODE_A);
	test_cleanup(site_cleanup, &a);
	bare_up(&b, &to, NODE_B);
	test_cleanup(site_cleanup, &b);
	udp_rig_need(!link_site(&a) && !link_site(&b));
	while (!atomic_load(&to.came) && ++sent < 50000) {
		bare_send(&from, NODE_B);
		usleep(200);
	}
	EXPECT_GE(atomic_load(&to.came), 1);
	STEP("the board of the other side does not run; its link has 32 frames");
	sim_enter(to.domain);
	for (sent = 0; !udp_stats(&b).no_frame && sent < 50000; sent++) {
		bare_send(&from, NODE_B);
		usleep(200);
	}
	sim_leave(to.domain);
	EXPECT_GE(udp_stats(&b).no_frame, 1);
	EXPECT_GE(trace_count(b.trace, EV_WIRE_LOST), 1);
	STEP("it runs again, and its frames are free again");
	sent = atomic_load(&to.came);
	EXPECT_GE(sent, 32);
	while (atomic_load(&to.came) == sent) {
		bare_send(&from, NODE_B);
		usleep(200);
	}
	sim_stop(a.sim);
	sim_stop(b.sim);
	EXPECT(fabric_idle(b.fabric));
}

TEST("a packet that the system does not take is lost and counted")
{
	static struct bare from;
	/* RFC 5737: nobody has it, and the loopback does not lead there. */
	const struct fabric_udp_config cfg = {
		.local = LOOPBACK, .peer = 0xC0000201, .peer_port = 4791,
		.first = NODE_B, .last = NODE_B,
	};

	bare_up(&a, &from, NODE_A);
	test_cleanup(site_cleanup, &a);
	EXPECT_EQ(fabric_udp(a.fabric, &cfg), 0);
	bare_send(&from, NODE_B);
	EXPECT_GE(udp_stats(&a).no_room, 1);
	EXPECT_EQ(udp_stats(&a).sent, 0);
	EXPECT_EQ(trace_count(a.trace, EV_WIRE_LOST), 1);
}

/* ---- nobody there ---- */

static void lonely_main(void *arg)
{
	struct site *s = arg;
	struct talk *t = s->talk;
	struct app x = { .s = s, .t = t, .me = &t->side[0],
			 .you = &t->side[1] };
	struct fl_address nobody = { .node = NODE_B, .qpn = 1 };

	WANT(t, app_make(&x));
	WANT(t, !fl_connect(x.qp, &nobody));
	WANT(t, !fl_post_write(x.qp, 1, x.source_mr, x.source, 4096,
			       0x10000, 1));
	WANT(t, udp_rig_complete(&x) == FL_ST_NO_ANSWER);
	WANT(t, !fl_close(x.dev));
}

TEST("a peer that says nothing ends a request with an error, not with silence")
{
	struct talk t = { 0 };
	struct sim_thread *thread;

	choose_ports();
	site_fabric(&a, NODE_A, SIM_THREADS, SECOND / 100);
	test_cleanup(site_cleanup, &a);
	site_board(&a);
	udp_rig_need(!link_site(&a));
	a.talk = &t;
	thread = host_thread_start(a.process, "app", lonely_main, &a);
	EXPECT_EQ(sim_run(a.sim, 0, 0), SIM_FINISHED);
	sim_thread_join(thread);
	EXPECT_STR(t.failed ? t.failed : "nothing", "nothing");
	EXPECT_EQ(udp_stats(&a).received, 0);
	EXPECT_EQ(udp_stats(&a).peers, 0);
}

/* ---- started anew ---- */

static void udp_restart(struct site *s)
{
	uint8_t node = s->node;

	STEP("node %d is started anew", node);
	site_end(s);
	site_up(s, node, SECOND / 5);
}

TEST("a process that was started anew is known again, whoever speaks first")
{
	pair_up(SECOND / 5);
	STEP("generations go up on both sides");
	udp_rig_transfer(&a, &b, 0, 6);
	udp_rig_transfer(&a, &b, 1, 7);
	udp_restart(&b);
	udp_rig_transfer(&a, &b, 1, 8);
	EXPECT_EQ(udp_stats(&a).peers, 2);
	udp_restart(&b);
	udp_rig_transfer(&a, &b, 0, 9);
	EXPECT_EQ(udp_stats(&a).peers, 3);
	udp_restart(&a);
	udp_rig_transfer(&a, &b, 0, 10);
	udp_rig_transfer(&a, &b, 1, 11);
	EXPECT_EQ(udp_stats(&b).peers, 2);
}

/* ---- what is refused ---- */

static int try_udp(uint32_t local, uint16_t local_port, uint32_t peer,
		   uint16_t peer_port, uint8_t first, uint8_t last)
{
	const struct fabric_udp_config cfg = { local, peer, local_port,
					       peer_port, first, last };

	return fabric_udp(a.fabric, &cfg);
}

TEST("set-ups that cannot be are refused, each with its error")
{
	struct fabric_udp_stats st;
	uint16_t port;

	site_fabric(&a, NODE_A, SIM_THREADS, 0);
	test_cleanup(site_cleanup, &a);
	site_board(&a);
	STEP("nodes");
	EXPECT_EQ(try_udp(LOOPBACK, 0, LOOPBACK, 9, 5, 4), -EINVAL);
	EXPECT_EQ(try_udp(LOOPBACK, 0, LOOPBACK, 9, 5, 16), -EINVAL);
	EXPECT_EQ(try_udp(LOOPBACK, 0, LOOPBACK, 9, 1, 3), -EEXIST);
	STEP("peers");
	EXPECT_EQ(try_udp(LOOPBACK, 0, 0, 9, 5, 5), -EINVAL);
	EXPECT_EQ(try_udp(LOOPBACK, 0, 0xE0000001, 9, 5, 5), -EINVAL);
	EXPECT_EQ(try_udp(LOOPBACK, 0, 0xFFFFFFFF, 9, 5, 5), -EINVAL);
	EXPECT_EQ(try_udp(LOOPBACK, 0, LOOPBACK, 0, 5, 5), -EINVAL);
	EXPECT_EQ(try_udp(LOOPBACK, 777, LOOPBACK, 777, 5, 5), -EINVAL);
	STEP("an address that is not ours (RFC 5737)");
	EXPECT_EQ(try_udp(0xC0000201, 0, LOOPBACK, 9, 5, 5), -EADDRNOTAVAIL);
	EXPECT_EQ(fabric_udp_port(a.fabric, 5), -ENOENT);
	STEP("after all that nodes 5 and 6 are still free, then not");
	EXPECT_EQ(try_udp(LOOPBACK, 0, LOOPBACK, 9, 5, 6), 0);
	port = (uint16_t)fabric_udp_port(a.fabric, 5);
	EXPECT_GE(port, 1);
	EXPECT_EQ(try_udp(LOOPBACK, 0, LOOPBACK, 9, 6, 6), -EEXIST);
	EXPECT_EQ(try_udp(LOOPBACK, port, LOOPBACK, 9, 7, 7), -EADDRINUSE);
	STEP("a node that lives elsewhere is no board of ours");
	EXPECT_EQ(fabric_link(a.fabric, NODE_A, 5), -ENOENT);
	EXPECT_EQ(fabric_inject(a.fabric, 5, NODE_A,
				&(struct fabric_inject){ 0 }), -ENOENT);
	fabric_udp_stats(a.fabric, NODE_A, &st);
	EXPECT_EQ(st.sent, 0);
}

TEST("a board cannot have the number of a node that lives elsewhere")
{
	int error = 0;

	site_fabric(&a, NODE_A, SIM_THREADS, 0);
	test_cleanup(site_cleanup, &a);
	EXPECT_EQ(try_udp(LOOPBACK, 0, LOOPBACK, 9, 5, 6), 0);
	EXPECT(!fabric_attach(a.fabric, sim_domain_create(a.sim, "x"), 6,
			      count_frame, no_news, NULL, &error));
	EXPECT_EQ(error, -EEXIST);
}

TEST("lockstep has no other processes")
{
	site_fabric(&a, NODE_A, SIM_LOCKSTEP, 0);
	test_cleanup(site_cleanup, &a);
	EXPECT_EQ(try_udp(LOOPBACK, 0, LOOPBACK, 9, 5, 5), -ENOTSUP);
}
