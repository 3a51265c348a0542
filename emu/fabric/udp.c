// SPDX-License-Identifier: BSD-2-Clause
/*
 * udp.c - a link to the boards of another process, on this machine or another.
 *
 * What leaves is a RoCEv2 packet: the payload of a UDP datagram is a frame from
 * BTH to ICRC, to port 4791 unless told otherwise. The addresses and ports of
 * the datagram are those of the two processes, not of the nodes; which nodes a
 * packet is between, and which start of each process, stands in udp_tag.c.
 * Its ICRC is the one of wire.c, over the addresses that the nodes would
 * have, as if the link were a wire between two ports of one network; so it also
 * vouches for the node numbers, and a packet can go through whatever changes outer addresses.
 *
 * Sending: a node of the other process has a port here whose queue ends in the socket.
 * So injection, delay and the trace are those of every link; and who posts does not hold
 * his board while the system copies. The socket never blocks: what it
 * does not take is lost. Receiving: a thread that sleeps until something comes, checks
 * it, copies it into a frame of the link's own pool and puts it into the queue
 * of the board that it is for, which then runs. A packet that is refused takes
 * no frame. Nothing is allocated after the start.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fabric/fabric_internal.h"
#include "lib/os/os.h"
#include "trace/trace.h"

/* Asked for; a system gives what it likes (limits of its administrator). */
#define BUFFER_BYTES	(4 << 20)
/* sim_stop() does not wake who sleeps in poll(): look so often. */
#define LOOK_MS		20
#define AT_ONCE		64
/* Answers to packets that name another instance: at most one in this time. */
#define HELLO_NS	1000000u

/* In the order of struct fabric_udp_stats. */
enum counter {
	C_SENT, C_RECEIVED, C_NO_ROOM, C_NO_FRAME, C_ADDRESS, C_LENGTH, C_ICRC,
	C_NODE, C_OLD, C_HEADER, C_UNANSWERED, C_HELLOS, C_PEERS, C_COUNT
};
static_assert(sizeof(struct fabric_udp_stats) == C_COUNT * sizeof(uint64_t),
	      "one counter each");

struct udp_link {
	struct fabric_link link;	/* first */
	struct fabric *fabric;
	struct fabric_udp_config cfg;
	struct sockaddr_in peer;
	int fd, wake[2];		/* wake: a pipe, to end the thread */
	struct sim_domain *domain;
	struct sim_thread *thread;
	atomic_bool ending;
	struct sim_spin lock;		/* of tag */
	struct udp_tag tag;
	struct fabric_port pool;	/* frames; its node means nothing */
	uint32_t here;			/* bit per node that has a board */
	/* the thread's own */
	struct wire_frame in;
	uint64_t hello_ns;
	_Atomic uint64_t count[C_COUNT];
};

static struct udp_link *udp_of(const struct fabric_port *p)
{
	return (struct udp_link *)p->link;
}

static void udp_count(struct udp_link *l, enum counter c)
{
	atomic_fetch_add_explicit(&l->count[c], 1, memory_order_relaxed);
}

static void note_lost(struct udp_link *l, uint8_t board,
		      const struct wire_frame *f)
{
	struct trace_at at = { .board = board, .xfer = f->xfer,
			       .block = f->block, .attempt = f->attempt,
			       .cause = f->cause };

	trace_emit(l->fabric->cfg.trace, EV_WIRE_LOST, &at, wire_opcode(f),
		   f->to, f->len, 0);
}

/* ---- sending ---- */

static bool udp_transmit(struct udp_link *l, const struct wire_frame *f)
{
	ssize_t n;

	do
		n = sendto(l->fd, f->bytes, f->len, 0,
			   (struct sockaddr *)&l->peer, sizeof(l->peer));
	while (n < 0 && errno == EINTR);
	udp_count(l, n < 0 ? C_NO_ROOM : C_SENT);
	return n >= 0;
}

static void udp_greet(struct udp_link *l, uint16_t to)
{
	struct wire_frame f;

	udp_tag_hello(&l->tag, &f, to);
	udp_transmit(l, &f);
}

static bool udp_wrap(struct fabric_port *p, struct wire_frame *f)
{
	struct udp_link *l = udp_of(p);
	bool good, known;

	sim_spin_lock(&l->lock);
	good = udp_tag_on(&l->tag, f);
	known = l->tag.peer;
	sim_spin_unlock(&l->lock);
	if (good) {
		wire_icrc_write(f);
		return true;
	}
	if (!known)
		udp_greet(l, 0);
	udp_count(l, C_UNANSWERED);
	note_lost(l, f->from, f);
	return false;
}

static void udp_send(struct fabric_port *p, const struct wire_frame *f)
{
	if (!udp_transmit(udp_of(p), f))
		note_lost(udp_of(p), f->from, f);
}

/* ---- receiving ---- */

static void udp_refuse(struct udp_link *l, enum counter why)
{
	struct trace_at at = { .board = l->cfg.first };

	udp_count(l, why);
	trace_emit(l->fabric->cfg.trace, EV_WIRE_REFUSED, &at, why, l->in.len,
		   0, 0);
}

static bool nodes_good(const struct udp_link *l)
{
	return l->in.from >= l->cfg.first && l->in.from <= l->cfg.last &&
	       l->here >> l->in.to & 1;
}

static void udp_deliver(struct udp_link *l)
{
	struct wire_frame *f = &l->in;
	struct fabric_slot *s = fabric_slot_get(&l->pool);

	if (!s) {
		udp_count(l, C_NO_FRAME);
		note_lost(l, f->to, f);
		return;
	}
	memcpy(&s->frame, f, offsetof(struct wire_frame, bytes) + f->len);
	udp_count(l, C_RECEIVED);
	fabric_deliver(&l->pool, s, 0);
}

/* The sender and the receiver of a packet. False: it is not to be looked at further. */
static bool udp_identify(struct udp_link *l, bool hello)
{
	uint16_t from = udp_tag_sender(&l->in);
	struct trace_at at = { .board = l->cfg.first };
	enum udp_verdict v;
	uint64_t now_ns;

	sim_spin_lock(&l->lock);
	v = udp_tag_judge(&l->tag, &l->in);
	sim_spin_unlock(&l->lock);
	if (v == UDP_OLD) {
		udp_refuse(l, C_OLD);
		return false;
	}
	if (v == UDP_HELLO) {
		if (!hello)
			udp_refuse(l, C_OLD);
		now_ns = sim_now(l->fabric->cfg.sim);
		if (l->hello_ns && now_ns - l->hello_ns < HELLO_NS)
			return false;
		l->hello_ns = now_ns;
		udp_greet(l, from);
		return false;
	}
	if (v == UDP_TAKE_NEW) {
		udp_count(l, C_PEERS);
		trace_emit(l->fabric->cfg.trace, EV_WIRE_PEER, &at, from,
			   l->cfg.first, l->cfg.last, 0);
		if (hello)	/* it may still wait for one that names it */
			udp_greet(l, from);
	}
	return true;
}

/* l->in is what came. The checks: fabric.h, struct fabric_udp_stats. */
static void take_in(struct udp_link *l)
{
	struct wire_frame *f = &l->in;
	bool hello;
	enum wire_error e;

	if (f->len < WIRE_BTH_BYTES + WIRE_ICRC_BYTES ||
	    f->len > WIRE_FRAME_MAX) {
		udp_refuse(l, C_LENGTH);
		return;
	}
	udp_tag_nodes(f);
	if (!wire_icrc_good(f)) {
		udp_refuse(l, C_ICRC);
		return;
	}
	hello = wire_opcode(f) == WOP_HELLO;
	if (!hello && !nodes_good(l)) {
		udp_refuse(l, C_NODE);
		return;
	}
	if (!udp_identify(l, hello))
		return;
	if (hello) {
		udp_count(l, C_HELLOS);
		return;
	}
	sim_spin_lock(&l->lock);
	e = udp_tag_off(&l->tag, f);
	sim_spin_unlock(&l->lock);
	if (e != WIRE_OK) {
		udp_refuse(l, C_HEADER);
		return;
	}
	f->icrc_later = true;	/* its fields are others now, and good */
	udp_deliver(l);
}

/* False: nothing is there. */
static bool receive_one(struct udp_link *l)
{
	/* A byte more than a frame may have, so that one that is too long shows. */
	uint8_t bytes[WIRE_FRAME_MAX + 1];
	struct sockaddr_in from;
	socklen_t from_bytes = sizeof(from);
	ssize_t n = recvfrom(l->fd, bytes, sizeof(bytes), 0,
			     (struct sockaddr *)&from, &from_bytes);

	if (n < 0)
		return errno == EINTR;
	l->in.len = (uint32_t)n;
	memcpy(l->in.bytes, bytes, n > WIRE_FRAME_MAX ? WIRE_FRAME_MAX :
						       (size_t)n);
	if (from_bytes != sizeof(from) || from.sin_family != AF_INET ||
	    from.sin_addr.s_addr != l->peer.sin_addr.s_addr ||
	    from.sin_port != l->peer.sin_port)
		udp_refuse(l, C_ADDRESS);
	else
		take_in(l);
	return true;
}

static void receive_main(void *arg)
{
	struct udp_link *l = arg;
	struct pollfd p[2] = { { .fd = l->fd, .events = POLLIN },
			       { .fd = l->wake[0], .events = POLLIN } };
	unsigned int i;

	udp_greet(l, 0);
	while (!sim_stopping() && !atomic_load(&l->ending)) {
		poll(p, 2, LOOK_MS);
		if (l->fabric->cfg.trace)
			trace_tick(l->fabric->cfg.trace);
		/* Not more at once: nobody can keep it from looking up. */
		for (i = 0; i < AT_ONCE && receive_one(l); i++)
			;
	}
}

/* ---- building ---- */

static int udp_check_config(const struct fabric *f,
			    const struct fabric_udp_config *cfg)
{
	unsigned int n;

	if (f->timed)
		return -ENOTSUP;
	if (cfg->first > cfg->last || cfg->last >= FABRIC_UDP_NODES)
		return -EINVAL;
	/* RFC 1122 3.2.1.3, RFC 1112 4: this network; many machines, or all. */
	if (!cfg->peer_port || !(cfg->peer >> 24) || cfg->peer >> 28 >= 14)
		return -EINVAL;
	if (cfg->peer == cfg->local && cfg->peer_port == cfg->local_port)
		return -EINVAL;
	for (n = cfg->first; n <= cfg->last; n++)
		if (f->port[n])
			return -EEXIST;
	for (n = FABRIC_UDP_NODES; n < WIRE_NODES; n++)
		if (f->port[n])
			return -ERANGE;
	return 0;
}

static struct sockaddr_in udp_address(uint32_t ip, uint16_t port)
{
	struct sockaddr_in a;

	memset(&a, 0, sizeof(a));
	a.sin_family = AF_INET;
	a.sin_addr.s_addr = htonl(ip);
	a.sin_port = htons(port);
	return a;
}

static int open_socket(struct udp_link *l)
{
	struct sockaddr_in local = udp_address(l->cfg.local, l->cfg.local_port);
	socklen_t len = sizeof(local);
	int bytes = BUFFER_BYTES, err;

	l->peer = udp_address(l->cfg.peer, l->cfg.peer_port);
	l->fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (l->fd < 0 || pipe(l->wake))
		return -errno;
	err = os_set_nonblocking(l->fd);
	if (!err)
		err = os_set_nonblocking(l->wake[0]);
	if (!err)
		err = os_set_nonblocking(l->wake[1]);
	if (err)
		return err;
	/* Less will do, so their answer is not looked at. */
	setsockopt(l->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	setsockopt(l->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	if (bind(l->fd, (struct sockaddr *)&local, sizeof(local)) ||
	    getsockname(l->fd, (struct sockaddr *)&local, &len))
		return -errno;
	l->cfg.local_port = ntohs(local.sin_port);
	return 0;
}

static void link_free(struct udp_link *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	if (l->wake[0] >= 0) {
		close(l->wake[0]);
		close(l->wake[1]);
	}
	fabric_port_ends(&l->pool);
	free(l);
}

/* Ports of the nodes over there; the caller undoes what was done. */
static int make_ports(struct udp_link *l)
{
	struct fabric *f = l->fabric;
	struct fabric_port *p;
	unsigned int n;

	for (n = l->cfg.first; n <= l->cfg.last; n++) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return -ENOMEM;
		p->fabric = f;
		p->domain = l->domain;
		p->node = (uint8_t)n;
		p->link = &l->link;
		f->port[n] = p;
	}
	return 0;
}

static int udp_build(struct udp_link *l)
{
	struct fabric *f = l->fabric;
	unsigned int n;
	int err;

	l->domain = sim_domain_create(f->cfg.sim, "udp");
	if (!l->domain)
		return -ENOMEM;
	err = make_ports(l);
	l->pool.fabric = f;
	l->pool.domain = l->domain;
	if (!err)	/* the last that can fail: the domain now knows it */
		err = fabric_port_sends(&l->pool);
	for (n = l->cfg.first; n <= l->cfg.last; n++) {
		if (!err) {
			fabric_port_receives(f->port[n]);
		} else {
			free(f->port[n]);
			f->port[n] = NULL;
		}
	}
	return err;
}

static bool udp_idle(const struct fabric_link *link)
{
	const struct udp_link *l = (const struct udp_link *)link;

	return atomic_load(&l->pool.given) == atomic_load(&l->pool.taken);
}

static void udp_destroy(struct fabric_link *link)
{
	struct udp_link *l = (struct udp_link *)link;

	atomic_store(&l->ending, true);
	/* EAGAIN: it is full, so the thread will wake anyway. */
	while (write(l->wake[1], "", 1) < 0 && errno != EAGAIN)
		sim_yield();
	if (l->thread)
		sim_thread_join(l->thread);
	link_free(l);
}

int fabric_udp(struct fabric *f, const struct fabric_udp_config *cfg)
{
	struct udp_link *l;
	int err = udp_check_config(f, cfg);
	unsigned int n;

	if (err)
		return err;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->fabric = f;
	l->cfg = *cfg;
	for (n = 0; n < FABRIC_UDP_NODES; n++)
		if (f->port[n] && !f->port[n]->link)
			l->here |= 1u << n;
	l->fd = l->wake[0] = l->wake[1] = -1;
	udp_tag_init(&l->tag);
	err = open_socket(l);
	if (!err)
		err = udp_build(l);
	if (err) {
		link_free(l);
		return err;
	}
	l->link = (struct fabric_link){
		.next = f->links, .wrap = udp_wrap, .send = udp_send, .idle = udp_idle,
		.destroy = udp_destroy,
	};
	f->links = &l->link;
	l->thread = sim_thread_start(f->cfg.sim, "udp", true, receive_main, l);
	if (l->thread)
		return 0;
	/* The domain keeps the link's actors: it stays, and its nodes are silent. */
	return -ENOMEM;
}

static struct udp_link *link_of(struct fabric *f, uint8_t node)
{
	return node < WIRE_NODES && f->port[node] ? udp_of(f->port[node]) : NULL;
}

int fabric_udp_port(struct fabric *f, uint8_t node)
{
	struct udp_link *l = link_of(f, node);

	return l ? l->cfg.local_port : -ENOENT;
}

void fabric_udp_stats(struct fabric *f, uint8_t node,
		      struct fabric_udp_stats *st)
{
	struct udp_link *l = link_of(f, node);
	uint64_t count[C_COUNT] = { 0 };
	unsigned int i;

	for (i = 0; l && i < C_COUNT; i++)
		count[i] = atomic_load_explicit(&l->count[i],
						memory_order_relaxed);
	memcpy(st, count, sizeof(*st));
}
