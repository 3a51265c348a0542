// SPDX-License-Identifier: BSD-2-Clause
/* The stream's two programs; its boards are stream_world.c. */
#include "tools/work/stream_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "faultline/system_rows.h"

#define SENDS		512u	/* entries of the sender's queue, and places of its packets */
#define ACKS		512u	/* receives for acknowledgements */
#define PLACE		2048u	/* of a packet at the sender */
#define RECEIVE		4096u	/* of a receive: a page */
#define INITIAL_WINDOW	10u	/* RFC 6928 */
#define BATCH		16

/* The first thing that went wrong. */
static int end_fail(struct stream_end_point *e, const char *what, int error)
{
	if (error && !e->error) {
		e->error = error;
		snprintf(e->w->r->problem, sizeof(e->w->r->problem), "%s: %s", what,
			 fl_strerror(error));
		e->w->r->end = STREAM_BROKEN;
	}
	return error;
}

static int end_open(struct stream_end_point *e, unsigned int sends, unsigned int receives)
{
	struct fl_system_row row = fl_system_rows[e->w->s->system];
	struct fl_qp_init init = {
		.type = FL_QPT_UD, .entries = sends, .recv_entries = receives,
	};

	if (e->w->s->pinned && e == &e->w->end[1])
		row.before = FL_BEFORE_PIN;
	if (end_fail(e, "fl_open", fl_open("faultline0", &e->dev)) ||
	    end_fail(e, "fl_set_row",
		     fl_set_row(e->dev, e->w->s->system, &row, FL_RESOLVE_PAGE)) ||
	    end_fail(e, "fl_alloc_pd", fl_alloc_pd(e->dev, &e->pd)) ||
	    end_fail(e, "fl_create_cq",
		     fl_create_cq(e->dev, 2 * (sends + receives), &e->cq)))
		return -1;
	init.send_cq = e->cq;
	return end_fail(e, "fl_create_qp_ex", fl_create_qp_ex(e->pd, &init, &e->qp)) ||
	       end_fail(e, "fl_qp_address", fl_qp_address(e->qp, &e->address));
}

/* Memory for the card, present there if ready. */
static int end_memory(struct stream_end_point *e, size_t bytes, bool ready)
{
	if (!e->w->begin_ns)
		e->w->begin_ns = sim_now(e->w->sim);
	e->mem = fl_alloc(e->dev, bytes);
	if (end_fail(e, "fl_alloc", e->mem ? 0 : -ENOMEM) ||
	    end_fail(e, "fl_reg_mr",
		     fl_reg_mr(e->pd, e->mem, bytes, FL_LOCAL_WRITE, &e->mr)))
		return -1;
	return ready && end_fail(e, "fl_advise_mr",
				 fl_advise_mr(e->pd, FL_PREFETCH_FOR_WRITE, FL_ADVICE_FLUSH,
					      fl_mr_key(e->mr), e->mem, bytes));
}

/* By the states, since fl_connect() would take the profile's MTU. */
static int end_connect(struct stream_end_point *e, const struct fl_address *peer)
{
	static const unsigned int given[] = {
		FL_ATTR_STATE | FL_ATTR_QKEY, FL_ATTR_STATE | FL_ATTR_PEER | FL_ATTR_MTU,
		FL_ATTR_STATE | FL_ATTR_SQ_PSN,
	};
	struct fl_qp_attr a = {
		.qkey = 1, .mtu = 2048, .node = peer->node, .peer_qp = peer->qpn,
	};
	int i, err = 0;

	for (i = 0; i < 3 && !err; i++) {
		a.state = (enum fl_state)(FL_INIT + i);
		err = end_fail(e, "fl_modify_qp", fl_modify_qp(e->qp, &a, given[i]));
	}
	return err;
}

/* It ends; what the driver has counted is kept. */
static void end_close(struct stream_end_point *e)
{
	struct fl_fault_counters c;

	if (e->mr)
		end_fail(e, "fl_dereg_mr", fl_dereg_mr(e->mr));
	if (e->w->end_ns < sim_now(e->w->sim))
		e->w->end_ns = sim_now(e->w->sim);
	if (!e->dev)
		return;
	if (!end_fail(e, "fl_query_counters", fl_query_counters(e->dev, &c)))
		e->w->r->count.faults += c.faults;
	fl_close(e->dev);
}

/* Both are there, connected, and have posted their receives. */
static int end_meet(struct stream_end_point *e)
{
	struct stream_end_point *peer = &e->w->end[e == &e->w->end[0]];

	e->here = true;
	while (!peer->here && !peer->error && !e->error)
		sim_sleep(1000);
	if (peer->error || end_connect(e, &peer->address))
		return -1;
	e->connected = true;
	while (!peer->connected && !peer->error)
		sim_sleep(1000);
	return peer->error ? -1 : 0;
}

static int receive_post(struct stream_end_point *e, uint32_t place, uint32_t bytes)
{
	const struct fl_segment s = { e->mem + (size_t)place * RECEIVE, bytes,
				      fl_mr_key(e->mr) };
	const struct fl_receive r = { .wr_id = place, .list = &s, .segments = bytes != 0 };

	return end_fail(e, "fl_post_recv", fl_post_recv(e->qp, &r));
}

static int packet_post(struct stream_end_point *e, void *local, uint32_t bytes, uint32_t number)
{
	const struct fl_work w = {
		.opcode = FL_SEND, .local = local, .lkey = fl_mr_key(e->mr),
		.bytes = bytes, .with_imm = 1, .imm = number,
	};

	return end_fail(e, "fl_post", fl_post(e->qp, &w));
}

/* ---- the receiver ---- */

static void receiver_packet(struct stream_end_point *e, const struct fl_completion *c)
{
	uint32_t *seen = e->w->seen, at = (uint32_t)c->wr_id, number;

	/* The last one only says that it is over. */
	if (c->imm >= e->w->s->packets)
		return;
	memcpy(&number, e->mem + (size_t)at * RECEIVE, sizeof(number));
	if (c->bytes != STREAM_PACKET || number != c->imm)
		end_fail(e, "a packet holds the bytes of another one", -EIO);
	seen[c->imm / 32] |= 1u << c->imm % 32;
	while (e->next < e->w->s->packets && seen[e->next / 32] >> e->next % 32 & 1)
		e->next++;
	receive_post(e, at, RECEIVE);
}

static void receiver_status(struct stream_end_point *e, const struct fl_completion *c)
{
	if (!e->w->s->read_only || e->error) {
		end_fail(e, fl_status_string(c->status), -EIO);
		return;
	}
	e->error = -EIO;
	e->w->r->end = STREAM_REFUSED;
	e->w->r->status = c->status;
}

static bool receiver_dead(const struct stream_end_point *e)
{
	return e->w->s->dies && e->next >= e->w->s->dies;
}

/* Until the sender has ended. */
static void receiver_loop(struct stream_end_point *e)
{
	struct fl_completion c[BATCH];
	bool came;
	int i, n;

	while (!e->error && !e->w->end[0].over && !receiver_dead(e)) {
		n = fl_wait(e->cq, c, BATCH, 10000000000ull);
		if (n == -ETIMEDOUT)
			continue;
		if (n < 0)
			end_fail(e, "fl_wait", n);
		came = false;
		for (i = 0; i < n && !e->error; i++) {
			if (c[i].status)
				receiver_status(e, &c[i]);
			else if (c[i].opcode == FL_RECV_IMM)
				receiver_packet(e, &c[i]);
			came |= c[i].opcode == FL_RECV_IMM;
		}
		/* One for all that was taken at once. */
		if (came && !e->error)
			packet_post(e, NULL, 0, e->next);
	}
}

static int ring_protect(struct stream_end_point *e)
{
	const struct stream *s = e->w->s;

	return s->read_only &&
	       end_fail(e, "fl_protect", fl_protect(e->dev, e->mem,
						    (size_t)s->ring * RECEIVE,
						    FL_PROT_READ));
}

void stream_receiver(void *arg)
{
	struct stream_end_point *e = arg;
	const struct stream *s = e->w->s;
	unsigned int i;

	if (!end_open(e, SENDS, s->ring) &&
	    !end_memory(e, (size_t)s->ring * RECEIVE, !s->cold && !s->pinned) &&
	    !ring_protect(e) && !end_meet(e)) {
		for (i = 0; i < s->ring && !e->error; i++)
			receive_post(e, i, RECEIVE);
		e->ready = true;
		receiver_loop(e);
	}
	e->over = true;
	end_close(e);
}

/* ---- the sender ---- */

struct sender {
	struct stream_end_point *e;
	uint32_t una, next, most;	/* oldest unacknowledged, next, never sent from here on */
	uint32_t window, limit;		/* may be on the way; slow start ends there */
	uint32_t grown;			/* acknowledged since the window last grew by one */
	uint32_t twice;			/* packets before this one were sent more than once */
	uint32_t tries;
	bool measured;
	uint64_t rto_ns, due_ns;
};

static uint64_t sender_now(const struct sender *x)
{
	return sim_now(x->e->w->sim);
}

static void sender_rearm(struct sender *x)
{
	const uint64_t *t = x->e->w->timing.v;

	x->tries = 0;
	x->rto_ns = t[x->measured ? T_TCP_RTO_MIN : T_TCP_RTO_FIRST];
	x->due_ns = sender_now(x) + x->rto_ns;
}

static void sender_post(struct sender *x)
{
	const struct stream *s = x->e->w->s;
	uint32_t most = (uint32_t)x->e->w->timing.v[T_TCP_WINDOW];
	uint8_t *at;

	most = x->window < most ? x->window : most;
	while (x->next < s->packets && x->next - x->una < most && !x->e->error) {
		at = x->e->mem + x->next % SENDS * PLACE;
		memcpy(at, &x->next, sizeof(x->next));
		packet_post(x->e, at, STREAM_PACKET, x->next);
		x->next++;
		x->e->w->r->sent++;
		if (x->next > x->most)
			x->most = x->next;
	}
}

/* All before `number` is there. RFC 5681, 3.1: slow start, then one packet a round. */
static void sender_acked(struct sender *x, uint32_t number)
{
	uint32_t n = number - x->una;

	if (number <= x->una || number > x->most)
		return;
	x->una = number;
	if (x->next < number)
		x->next = number;
	/* Karn: what was sent twice says nothing of the time that an answer takes. */
	x->measured |= number > x->twice;
	if (x->window < x->limit) {
		x->window += n;
	} else {
		x->grown += n;
		if (x->grown >= x->window) {
			x->grown = 0;
			x->window++;
		}
	}
	sender_rearm(x);
}

/* RFC 5681, 3.1; RFC 6298, 5.4 to 5.6: back to the oldest, one packet, twice the time. */
static void sender_timeout(struct sender *x)
{
	uint32_t half = (x->next - x->una) / 2;

	x->e->w->r->timeouts++;
	x->tries++;
	x->limit = half > 2 ? half : 2;
	x->window = 1;
	x->grown = 0;
	x->twice = x->most;
	x->next = x->una;
	x->rto_ns *= 2;
	x->due_ns = sender_now(x) + x->rto_ns;
}

static void sender_hear(struct sender *x)
{
	struct fl_completion c[BATCH];
	uint64_t now = sender_now(x);
	int i, n = 0;

	if (now < x->due_ns)
		n = fl_wait(x->e->cq, c, BATCH, x->due_ns - now);
	if (n < 0 && n != -ETIMEDOUT)
		end_fail(x->e, "fl_wait", n);
	for (i = 0; i < n && !x->e->error; i++) {
		if (c[i].status)
			end_fail(x->e, fl_status_string(c[i].status), -EIO);
		if (c[i].opcode != FL_RECV_IMM)
			continue;
		receive_post(x->e, 0, 0);
		sender_acked(x, c[i].imm);
	}
	if (sender_now(x) >= x->due_ns)
		sender_timeout(x);
}

static void sender_loop(struct stream_end_point *e)
{
	const struct stream *s = e->w->s;
	const uint64_t *t = e->w->timing.v;
	struct sender x = { .e = e, .window = INITIAL_WINDOW, .limit = UINT32_MAX };
	uint64_t begin = sender_now(&x);

	sender_rearm(&x);
	while (x.una < s->packets && !e->error && !e->w->end[1].error) {
		sender_post(&x);
		sender_hear(&x);
		if (x.tries >= t[T_TCP_TRIES])
			e->w->r->end = STREAM_GAVE_UP;
		else if (s->limit_ns && sender_now(&x) - begin > s->limit_ns)
			e->w->r->end = STREAM_LIMIT;
		if (e->w->r->end != STREAM_OK)
			break;
	}
	e->w->r->ns = sender_now(&x) - begin;
}

void stream_sender(void *arg)
{
	struct stream_end_point *e = arg;
	unsigned int i;

	if (!end_open(e, SENDS, ACKS) && !end_memory(e, SENDS * PLACE, true) &&
	    !end_meet(e)) {
		for (i = 0; i < ACKS && !e->error; i++)
			receive_post(e, 0, 0);
		while (!e->w->end[1].ready && !e->w->end[1].error)
			sim_sleep(1000);
		sender_loop(e);
	}
	e->over = true;
	/* It sleeps until something comes. */
	if (!e->error && e->connected)
		packet_post(e, e->mem, STREAM_PACKET, UINT32_MAX);
	sim_sleep(1000000);
	end_close(e);
}
