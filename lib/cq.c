// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completion queues. The card writes entry after entry and last of all the
 * entry's phase, which says on which lap it was written; the library reads on
 * while the phase is that of the lap, and tells the card now and then how far
 * it came. A wait arms the queue, looks once more, and only then sleeps.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "bounce.h"

/*
 * Every so many empty polls ask the driver: while a loss is suspected, and while
 * there is no reason, since a card that was taken away just writes no more.
 */
#define ASK_EVERY 64u
#define ASK_IDLE 65536u
/* A question, not a wait: 0 would be no limit. */
#define ASK_TIMEOUT_NS 1u
/* Completions that all queue pairs of a process may have under way (bounce.c). */
#define CQ_BOUNCES 256u

int fl_create_cq(struct fl_device *dev, unsigned int entries,
		 struct fl_cq **cq)
{
	struct fl_create_cq c = { .size = sizeof(c) };
	struct fl_cq *q;
	int error;

	if (!dev || !cq || !entries || entries > dev->attr.max_queue)
		return -EINVAL;
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	/*
	 * The card hears only now and then of what was taken, and until then
	 * has no room there; so ask for a quarter more than what may wait.
	 */
	c.entries = entries + (entries + 3) / 4;
	/* A request becomes several of them. */
	if (dev->sinks)
		c.entries += CQ_BOUNCES;
	if (c.entries > dev->attr.max_queue)
		c.entries = dev->attr.max_queue;
	error = lib_ioctl(dev, FL_IOC_CREATE_CQ, &c);
	if (error)
		goto free;
	error = -EPROTO;
	if (c.cq > NIC_DB_CQ_CONS_CQN_MASK >> NIC_DB_CQ_CONS_CQN_SHIFT)
		goto destroy;
	q->queue = lib_map_queue(dev, entries, c.entries, sizeof(*q->queue),
				 c.mmap_offset, c.mmap_bytes, &error);
	if (!q->queue)
		goto destroy;
	q->dev = dev;
	q->number = c.cq;
	q->entries = c.entries;
	q->map_bytes = (size_t)c.mmap_bytes;
	q->empty_polls = 1;
	/* Never leave untold more than there is beyond the caller's wish. */
	q->tell = q->entries - entries + 1;
	if (q->tell > q->entries / 4)
		q->tell = q->entries / 4;
	if (!q->tell)
		q->tell = 1;
	lib_link_add(dev, &dev->cqs, &q->link);
	*cq = q;
	return 0;
destroy:
	lib_destroy(dev, FL_IOC_DESTROY_CQ, c.cq);
free:
	free(q);
	return error;
}

static int cq_forget(struct fl_cq *cq)
{
	struct fl_device *dev = cq->dev;
	int error;

	lib_link_del(dev, &cq->link);
	error = dev->sys->munmap((void *)cq->queue, cq->map_bytes);
	free(cq);
	return error;
}

int lib_cq_free(struct fl_cq *cq)
{
	int error = lib_destroy(cq->dev, FL_IOC_DESTROY_CQ, cq->number);
	int next = cq_forget(cq);

	return error ? error : next;
}

int fl_destroy_cq(struct fl_cq *cq)
{
	int error;

	if (!cq)
		return -EINVAL;
	if (cq->qps)
		return -EBUSY;
	error = lib_destroy(cq->dev, FL_IOC_DESTROY_CQ, cq->number);
	return error ? error : cq_forget(cq);
}

static const struct fl_cqe *cq_entry(const struct fl_cq *cq, uint64_t n)
{
	return &cq->queue[n & (cq->entries - 1)];
}

/* entries.def, fl_cqe.phase: 1 + the number of laps before. */
static uint32_t cq_lap(const struct fl_cq *cq, uint64_t n)
{
	return (uint32_t)(1 + n / cq->entries);
}

/*
 * Acquire pairs with the card's release of the phase, which it writes last:
 * whoever sees the phase sees the rest of the entry.
 */
static uint32_t cq_phase(const struct fl_cq *cq, uint64_t n)
{
	return __atomic_load_n(&cq_entry(cq, n)->phase, __ATOMIC_ACQUIRE);
}

void lib_cq_born(const struct fl_cq *cq, struct lib_cq_user *u)
{
	u->born = cq->taken;
	while (u->born - cq->taken < cq->entries &&
	       cq_phase(cq, u->born) == cq_lap(cq, u->born))
		u->born++;
}

void lib_cq_add(struct fl_cq *cq, struct lib_cq_user *u, struct fl_qp *qp)
{
	struct lib_cq_user **b = &cq->bucket[qp->number % LIB_CQ_BUCKETS];

	u->qp = qp;
	/*
	 * Numbers are used again: what is in the queue by now came from an
	 * earlier queue pair of this number.
	 */
	lib_cq_born(cq, u);
	u->same_bucket = *b;
	*b = u;
	cq->qps++;
}

void lib_cq_del(struct fl_cq *cq, struct lib_cq_user *u)
{
	struct lib_cq_user **b = &cq->bucket[u->qp->number % LIB_CQ_BUCKETS];

	while (*b != u) {
		assert(*b);
		b = &(*b)->same_bucket;
	}
	*b = u->same_bucket;
	cq->qps--;
}

static struct lib_cq_user *cq_find(const struct fl_cq *cq, uint32_t qpn)
{
	struct lib_cq_user *u = cq->bucket[qpn % LIB_CQ_BUCKETS];

	while (u && u->qp->number != qpn)
		u = u->same_bucket;
	return u;
}

struct fl_qp *lib_cq_find_qp(const struct fl_cq *cq, uint32_t qpn)
{
	struct lib_cq_user *u = cq_find(cq, qpn);

	return u ? u->qp : NULL;
}

void lib_cq_tell(struct fl_cq *cq, uint32_t reg)
{
	uint64_t last = cq->told + cq->entries - 1;

	/*
	 * Was the queue full, as the card counts? Then the next completion had
	 * no place; whether there was one, only the driver knows.
	 */
	if (cq_phase(cq, last) == cq_lap(cq, last)) {
		cq->suspect = last + 1;
		cq->empty_polls = 0;
	}
	cq->told = cq->taken;
	lib_read_before_doorbell();
	if (cq->dev->snoop) {
		cq->arms += reg != NIC_DB_CQ_CONS;
		lib_publish(cq->dev,
			    &cq->dev->snoop->cq[cq->number % FL_SNOOP_QUEUES],
			    (uint32_t)(uint16_t)cq->taken << 16 | cq->arms);
		return;
	}
	_Static_assert(NIC_DB_CQ_ARM_CQN_SHIFT == NIC_DB_CQ_CONS_CQN_SHIFT &&
		       NIC_DB_CQ_ARM_CONS_SHIFT == NIC_DB_CQ_CONS_CONS_SHIFT &&
		       NIC_DB_CQ_ARM_SOLICITED_CQN_SHIFT ==
			       NIC_DB_CQ_CONS_CQN_SHIFT &&
		       NIC_DB_CQ_ARM_SOLICITED_CONS_SHIFT ==
			       NIC_DB_CQ_CONS_CONS_SHIFT,
		       "regs.def");
	lib_doorbell(cq->dev, reg,
		     cq->number << NIC_DB_CQ_CONS_CQN_SHIFT |
		     (uint32_t)(uint16_t)cq->taken <<
		     NIC_DB_CQ_CONS_CONS_SHIFT);
}

static void cq_taken(struct fl_cq *cq)
{
	cq->taken++;
	/* The entry that had no place came after all: nothing was lost. */
	if (cq->suspect && cq->taken > cq->suspect)
		cq->suspect = 0;
	if (cq->taken - cq->told >= cq->tell)
		lib_cq_tell(cq, NIC_DB_CQ_CONS);
}

/*
 * Requests of a queue pair complete in order, so this one ends all before it,
 * also those that had no completion of their own. False: the card speaks of
 * a request that is not in the queue.
 */
static bool cq_account(struct fl_qp *qp, uint16_t index)
{
	uint32_t done, posted, ahead;

	done = atomic_load_explicit(&qp->done, memory_order_relaxed);
	/*
	 * Pairs with the release in work.c; that came before the doorbell, so
	 * a completion cannot be seen without it.
	 */
	posted = atomic_load_explicit(&qp->posted, memory_order_acquire);
	ahead = (uint16_t)(index - (uint16_t)done);
	if (ahead >= posted - done)
		return false;
	/* Release pairs with the acquire in lib_post_entry(). */
	atomic_store_explicit(&qp->done, done + ahead + 1,
			      memory_order_release);
	return true;
}

/* As the library names it; 0: no completion has it. */
static unsigned int cq_opcode(const struct fl_qp *qp, uint8_t opcode)
{
	/* Of a request that the card refused it may be any number. */
	if (!qp->rc)
		return opcode == FL_OP_READ ? FL_READ : FL_WRITE;
	switch (opcode) {
	case FL_OP_READ:
		return FL_READ;
	case FL_OP_SEND:
		return FL_SEND;
	case FL_OP_FETCH_ADD:
		return FL_FETCH_ADD;
	case FL_OP_CMP_SWAP:
		return FL_CMP_SWAP;
	case FL_OP_RECV:
		return FL_RECV;
	case FL_OP_RECV_IMM:
		return FL_RECV_IMM;
	case FL_OP_RECV_WRITE_IMM:
		return FL_RECV_WRITE_IMM;
	}
	return FL_WRITE;
}

/* Whatever it is of has ended. False: the card speaks of what is not in a queue. */
static bool cq_end(struct fl_qp *qp, const struct fl_cqe *e,
		   struct fl_completion *c)
{
	c->opcode = cq_opcode(qp, e->opcode);
	if (c->opcode < FL_RECV)
		return cq_account(qp, e->index);
	c->resends = 0;
	if (c->opcode != FL_RECV)
		c->imm = e->resends;
	/* Of datagrams the card says who sent them; the receive stands still in its queue. */
	if (qp->ud && qp->rq.queue) {
		c->datagram = 1;
		c->src_qp = e->xfer & 0xFFFFFF;
		c->src_node = e->xfer >> 24;
		c->xfer = qp->rq.queue[e->index & (qp->rq.entries - 1)].xfer;
	}
	return qp->srq ? lib_rq_account(&qp->srq->rq, e->index, true) :
			 lib_rq_account(&qp->rq, e->index, false);
}

static uint32_t cq_under_way(const struct fl_qp *qp)
{
	return atomic_load_explicit(&qp->posted, memory_order_relaxed) -
	       atomic_load_explicit(&qp->done, memory_order_relaxed);
}

int lib_cq_take(struct fl_cq *cq, struct fl_completion *c)
{
	const struct fl_sys *sys = cq->dev->sys;
	uint32_t skipped, want, got;
	struct lib_cq_user *u;
	struct fl_cqe e;

	for (skipped = 0; skipped < cq->entries; skipped++) {
		want = cq_lap(cq, cq->taken);
		got = cq_phase(cq, cq->taken);
		if (got == want - 1)
			return 0;	/* still that of the lap before */
		if (got != want)
			return -EIO;	/* overwritten, or nonsense */
		e = *cq_entry(cq, cq->taken);
		u = cq_find(cq, e.qpn);
		/* Of a queue pair that is gone: nobody wants it. */
		if (!u || cq->taken < u->born) {
			cq_taken(cq);
			continue;
		}
		*c = (struct fl_completion){
			.wr_id = e.wr_id,
			.status = e.status,
			.bytes = e.length,
			.qpn = e.qpn,
			.resends = e.resends,
			.xfer = e.xfer,
		};
		if (!cq_end(u->qp, &e, c))
			return -EIO;
		cq_taken(cq);
		if (sys->trace)
			sys->trace(cq->dev->fd, FL_SYS_EV_COMPLETE, c->xfer,
				   e.qpn, e.status, e.length, cq_under_way(u->qp));
		return 1;
	}
	return 0;
}

/* At most n of them: how many, or -EIO if there is none. */
static int cq_take(struct fl_cq *cq, struct fl_completion *c, int n)
{
	int got = 0, r = 0;

	while (got < n && (r = lib_cq_take(cq, &c[got])) > 0)
		got++;
	return got ? got : r;
}

/*
 * Has the card lost a completion, or is it gone? It tells only the driver, so that
 * is a system call; but it is made only after the queue was seen full, or seldom.
 */
static void cq_ask(struct fl_cq *cq)
{
	uint32_t every = cq->suspect ? ASK_EVERY : ASK_IDLE;
	struct fl_wait_cq w = {
		.size = sizeof(w),
		.cq = cq->number,
		.timeout_ns = ASK_TIMEOUT_NS,
	};

	int error;

	if (cq->empty_polls++ % every)
		return;
	/* A thread that armed the queue sleeps until its event: wake it too (cq_event.c). */
	if (atomic_load_explicit(&cq->armed, memory_order_relaxed))
		return;
	/*
	 * Any other answer is no news. It takes an event that was armed, so
	 * nobody may ask between arming and sleeping.
	 */
	error = lib_ioctl(cq->dev, FL_IOC_WAIT_CQ, &w);
	if (error == -EIO || error == -ENODEV)
		cq->error = error;
}

/* Take what is there; may_ask: when it is nothing, the driver may be asked why. */
static int cq_look(struct fl_cq *cq, struct fl_completion *c, int n,
		   bool may_ask)
{
	const struct fl_sys *sys;
	int got, gone;

	if (!cq || !c || n < 1)
		return -EINVAL;
	sys = cq->dev->sys;
	if (sys->spend)
		sys->spend(cq->dev->fd, FL_SYS_POLL);
	got = cq->dev->sinks ? bounce_poll(cq, c, n) : cq_take(cq, c, n);
	if (got > 0)
		return got;
	if (got < 0) {
		/* The queue of a card that is gone holds what it may. */
		gone = sys->relax ? sys->relax(cq->dev->fd) : 0;
		if (gone)
			return gone;
		cq->error = got;
	} else if (!cq->error && may_ask) {
		cq_ask(cq);
	}
	if (!cq->error && sys->relax)
		return sys->relax(cq->dev->fd);
	return cq->error;
}

int fl_poll(struct fl_cq *cq, struct fl_completion *c, int n)
{
	return cq_look(cq, c, n, true);
}

/* ns that are left of a wait; 0: none. */
static uint64_t cq_time_left(const struct fl_sys *sys, uint64_t start_ns,
			     uint64_t timeout_ns)
{
	uint64_t gone = sys->now_ns ? sys->now_ns() - start_ns : 0;

	return gone < timeout_ns ? timeout_ns - gone : 0;
}

int fl_wait(struct fl_cq *cq, struct fl_completion *c, int n,
	    uint64_t timeout_ns)
{
	struct fl_wait_cq w = { .size = sizeof(w) };
	uint64_t start_ns = 0;
	int r, error;

	r = fl_poll(cq, c, n);
	if (r)
		return r;
	if (timeout_ns && cq->dev->sys->now_ns)
		start_ns = cq->dev->sys->now_ns();
	w.cq = cq->number;
	w.timeout_ns = timeout_ns;
	for (;;) {
		/*
		 * Arm, then look again, then sleep. A completion that came
		 * before the card saw the doorbell is found by the second look
		 * or, since CQ_ARM says how far we came, makes an event at
		 * once; a later one makes an event. Without the second look
		 * this would be right too, but cost a system call. That look
		 * must not ask, since asking takes the event.
		 */
		lib_cq_tell(cq, NIC_DB_CQ_ARM);
		r = cq_look(cq, c, n, false);
		if (r)
			return r;
		error = lib_ioctl(cq->dev, FL_IOC_WAIT_CQ, &w);
		/* What came is worth more than why the sleep ended. */
		r = fl_poll(cq, c, n);
		if (r)
			return r;
		if (error == -EIO)
			cq->error = -EIO;
		if (error)
			return error;
		/* Woken for nothing: an event of a completion already taken. */
		if (timeout_ns) {
			w.timeout_ns = cq_time_left(cq->dev->sys, start_ns,
						    timeout_ns);
			if (!w.timeout_ns)
				return -ETIMEDOUT;
		}
	}
}
