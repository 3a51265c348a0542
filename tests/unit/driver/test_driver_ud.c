// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of datagrams from end to end: driver, backup ring, card, without the library. The
 * oracle is a list of what was sent, and that no access of the card met a frame that had gone
 * (rig/driver.h counts STALE_ACCESS).
 *
 * variants: tsan
 */
#include "board/packets/packets.h"
#include "faultline/system_rows.h"
#include "nic/transport/ud.h"
#include "rig/driver.h"

#define SIZE	2048u			/* of a receive */
#define RING	32u
#define SENT	400u

/* The receiver's queue, beside what the rig has. */
static struct ud_queue {
	struct fl_rqe *rq;
	uint64_t bytes;
	uint16_t posted;
} queue;

static uint64_t ud_seed;
static uint32_t rig_qp;	/* that the rig has made for the receiver, and nobody uses */

static uint32_t random_below(uint64_t *x, uint32_t below)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (uint32_t)(*x >> 33) % below;
}

static void qp_modify(struct rig_node *n, uint32_t peer, uint32_t mask, struct fl_modify_qp m)
{
	m.size = sizeof(m);
	m.qp = n->qp;
	m.mask = mask | FL_MOD_STATE;
	m.peer_qp = peer;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_MODIFY_QP, &m), 0);
}

/* By the states, since QP_CONNECT has the profile's MTU. */
static void qp_ready(struct rig *r, int i)
{
	struct rig_node *n = &r->n[i];

	qp_modify(n, 0, FL_MOD_QKEY, (struct fl_modify_qp){ .state = FL_STATE_INIT,
							     .qkey = 5 });
	qp_modify(n, r->n[!i].qp, FL_MOD_PEER | FL_MOD_MTU,
		  (struct fl_modify_qp){ .state = FL_STATE_RTR, .mtu = 4, .node = !i });
	qp_modify(n, 0, FL_MOD_SQ_PSN, (struct fl_modify_qp){ .state = FL_STATE_RTS });
}

static void qp_receiver(struct rig_node *n)
{
	struct fl_create_qp c = {
		.size = sizeof(c), .pd = n->pd, .cq = n->cq, .entries = 8,
		.flags = FL_QP_UD, .recv_cq = n->cq, .recv_entries = RING,
	};
	int err;

	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &c), 0);
	n->qp = c.qp;
	queue.rq = host_mmap_fd(n->process, n->fd, c.recv_mmap_bytes, c.recv_mmap_offset,
				&err);
	EXPECT(queue.rq);
	queue.bytes = c.recv_mmap_bytes;
	queue.posted = 0;
}

static void receiver_drop(struct rig_node *n)
{
	struct fl_destroy d = { .size = sizeof(d), .object = n->qp };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_QP, &d), 0);
	EXPECT_EQ(host_munmap_fd(n->process, queue.rq, queue.bytes), 0);
}

static void ud_begin(struct rig *r, uint32_t system)
{
	struct fl_policy p = { .size = sizeof(p), .system = system,
			       .resolve = FL_IOC_RESOLVE_PAGE };
	int i;

	rig_qp_flags = FL_QP_UD;
	for (i = 0; i < 2; i++) {
		rig_open(&r->n[i]);
		EXPECT_EQ(rig_ioctl(&r->n[i], FL_IOC_POLICY, &p), 0);
		rig_set_up(&r->n[i], 0);
	}
	rig_qp = r->n[1].qp;
	qp_receiver(&r->n[1]);
	qp_ready(r, 0);
	qp_ready(r, 1);
}

static void ud_end(struct rig *r)
{
	EXPECT_EQ(host_munmap_fd(r->n[1].process, queue.rq, queue.bytes), 0);
	rig_close(&r->n[0]);
	rig_close(&r->n[1]);
}

static void receive_post(struct rig_node *n, uint32_t at)
{
	struct fl_rqe e = {
		.wr_id = queue.posted, .index = queue.posted, .count = 1,
		.va0 = (uintptr_t)n->buffer + at, .bytes0 = SIZE, .key0 = n->key,
	};

	queue.rq[queue.posted++ % RING] = e;
	host_mmio_write32(n->process, n->doorbell + NIC_DB_RQ,
			  (n->qp & 0xFFFF) | (uint32_t)queue.posted << 16);
}

static void datagram_post(struct rig *r, uint32_t from, uint32_t len)
{
	struct rig_node *n = &r->n[0];
	struct fl_wqe w = {
		.opcode = FL_OP_SEND, .flags = FL_WQE_SIGNALED, .index = n->posted,
		.length = len, .local_va = (uintptr_t)n->buffer + from, .lkey = n->key,
		.wr_id = n->posted, .xfer = 1u + n->posted,
	};

	n->sq[n->posted++ % RIG_QUEUE] = w;
	host_mmio_write32(n->process, n->doorbell + NIC_DB_SQ,
			  (n->qp & 0xFFFF) | (uint32_t)n->posted << 16);
	EXPECT_EQ(rig_wait(n), FL_ST_OK);
}

static uint8_t datagram_byte(uint32_t n, uint32_t i)
{
	return (uint8_t)(n * 41 + i * 7 + i / 200 + n / 256);
}

static void bytes_put(struct rig_node *n, uint32_t at, uint32_t len, uint32_t number)
{
	uint8_t b[SIZE];
	uint32_t i;

	for (i = 0; i < len; i++)
		b[i] = datagram_byte(number, i);
	EXPECT_EQ(mm_copy(host_process_mm(n->process), (uintptr_t)n->buffer + at, b, len,
			  true), 0);
}

static void bytes_expect(struct rig_node *n, uint32_t at, uint32_t len, uint32_t number)
{
	uint8_t b[SIZE], want[SIZE];
	uint32_t i;

	for (i = 0; i < len; i++)
		want[i] = datagram_byte(number, i);
	EXPECT_EQ(mm_copy(host_process_mm(n->process), (uintptr_t)n->buffer + at, b, len,
			  false), 0);
	EXPECT_MEM(b, want, len);
}

static uint64_t ud_lost(struct rig *r)
{
	struct ud_stats st;
	uint64_t sum = 0;
	unsigned int i;

	board_ud_stats(r->n[1].board, &st);
	for (i = 0; i < UD_DROP_WHYS; i++) {
		if (st.dropped[i])
			STEP("dropped for reason %u: %" PRIu64, i, st.dropped[i]);
		sum += st.dropped[i];
	}
	return sum;
}

static uint64_t ud_diverted(struct rig *r)
{
	struct ud_stats st;

	board_ud_stats(r->n[1].board, &st);
	return st.diverted;
}

/* Receive n is at a place of its own, as long as RING are outstanding. */
static uint32_t receive_at(uint32_t n)
{
	return n % (RIG_BYTES / 4096) * 4096 + 1500;
}

static void ud_storm(struct rig *r)
{
	struct rig_node *a = &r->n[0], *b = &r->n[1];
	uint32_t sent = 0, posted = 0, got = 0, page, len[SENT];
	uint64_t x = ud_seed;
	struct fl_cqe *e;

	ud_begin(r, FL_SYSTEM_BACKUP);
	while (got < SENT) {
		if (sent < SENT && sent - got < 16 && random_below(&x, 2)) {
			len[sent] = 1 + random_below(&x, SIZE);
			page = random_below(&x, 16) * 4096 + 3000;
			bytes_put(a, page, len[sent], sent);
			datagram_post(r, page, len[sent]);
			sent++;
		}
		/* Before the datagram, or after it. */
		if (posted - got < RING && random_below(&x, 2))
			receive_post(b, receive_at(posted++));
		page = random_below(&x, RIG_BYTES / 4096 - 8);
		if (!random_below(&x, 4))
			host_madvise(b->process, b->buffer + page * 4096, 8 * 4096,
				     HOST_PAGEOUT);
		if (!random_below(&x, 16))
			host_madvise(a->process, a->buffer, 16 * 4096, HOST_PAGEOUT);
		if (!rig_look(b) && sent - got == 16 && posted - got == RING)
			sim_sleep(20000);
		while (rig_look(b)) {
			e = &b->cqe[b->taken % RIG_QUEUE];
			EXPECT_EQ(e->length, len[got]);
			EXPECT_EQ(e->index, (uint16_t)got);
			EXPECT_EQ(e->xfer, a->qp);
			EXPECT_EQ(rig_wait(b), FL_ST_OK);
			bytes_expect(b, receive_at(got), len[got], got);
			got++;
		}
		sim_sleep(random_below(&x, 3000));
	}
	EXPECT_EQ(ud_lost(r), 0);
	EXPECT_GE(ud_diverted(r), 20);
	EXPECT_EQ(rig_counters(b).failed, 0);
	EXPECT_EQ(rig_counters(b).faults_dst, ud_diverted(r));
	ud_end(r);
}

static void storm_run(enum sim_mode mode, unsigned int seeds)
{
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };
	unsigned int s;

	for (s = 0; s < seeds; s++) {
		ud_seed = test_seed() * 1000 + s + 1;
		rig_run_with(mode, &p, ud_storm, NULL);
	}
}

TEST("backup: pages leave at any time, receives come late, and every datagram arrives, in order")
{
	storm_run(SIM_LOCKSTEP, 6);
}

TEST("the same in threads")
{
	storm_run(SIM_THREADS, 2);
}

static void ring_say(struct rig_node *n, uint32_t slots, uint32_t bits, int error)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_BACKUP,
			       .resolve = FL_IOC_RESOLVE_PAGE, .ring_slots = slots,
			       .ring_bits = bits };
	struct fl_query q = { .size = sizeof(q) };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), error);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	if (!error) {
		EXPECT_EQ(q.ring_slots, slots);
		EXPECT_EQ(q.ring_bits, bits);
	}
}

static void datagrams_again(struct rig *r)
{
	qp_receiver(&r->n[1]);
	qp_ready(r, 1);
	qp_modify(&r->n[0], 0, 0, (struct fl_modify_qp){ .state = FL_STATE_RESET });
	r->n[0].posted = 0;
	qp_ready(r, 0);
}

static void datagrams_lose(struct rig *r, unsigned int n, unsigned int kept)
{
	uint64_t lost = ud_lost(r), diverted = ud_diverted(r);
	unsigned int i;

	for (i = 0; i < n; i++)
		datagram_post(r, 0, 100);
	sim_sleep(1000000);
	EXPECT_EQ(ud_diverted(r) - diverted, kept);
	EXPECT_EQ(ud_lost(r) - lost, n - kept);
}

/* The receiver's queue pairs end, so that there may be a ring of four slots. */
static void ring_small(struct rig *r)
{
	struct fl_destroy d = { .size = sizeof(d), .object = rig_qp };
	struct rig_node *b = &r->n[1];

	receiver_drop(b);
	EXPECT_EQ(rig_ioctl(b, FL_IOC_DESTROY_QP, &d), 0);
	ring_say(b, 4, 0, 0);
	datagrams_again(r);
}

/* Datagrams wait for their receives, so that each keeps a page. */
static void sizes_body(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct fl_create_qp c = {
		.size = sizeof(c), .entries = 8, .flags = FL_QP_UD,
	};

	ud_begin(r, FL_SYSTEM_BACKUP);
	c.pd = b->pd;
	c.cq = c.recv_cq = b->cq;
	bytes_put(&r->n[0], 0, 100, 1);
	STEP("three of a queue pair");
	receiver_drop(b);
	ring_say(b, 0, 3, 0);
	datagrams_again(r);
	datagrams_lose(r, 8, 3);
	STEP("the first queue pair of the rig uses a ring of 256");
	ring_say(b, 4, 0, 0);
	EXPECT_EQ(rig_ioctl(b, FL_IOC_CREATE_QP, &c), -EBUSY);
	STEP("it is made anew when nobody uses it: eight pages, and one is for words");
	ring_small(r);
	datagrams_lose(r, 40, 7);
	STEP("and then what came finds its receives");
	receive_post(b, 0);
	EXPECT_EQ(rig_wait(b), FL_ST_OK);
	bytes_expect(b, 0, 100, 1);
	ud_end(r);
}

TEST("slots and bits of the backup ring are the process's choice, as far as the ring is free")
{
	rig_run(sizes_body);
}

static void full_body(struct rig *r)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		ud_begin(r, FL_SYSTEM_BACKUP);
		bytes_put(&r->n[0], 0, 100, 1);
		if (!i)
			ring_small(r);
		datagrams_lose(r, 40, 7);
		ud_end(r);
	}
}

TEST("a process that leaves while it holds all pages of the ring gives them back")
{
	rig_run(full_body);
}

static void sizes_refused_body(struct rig *r)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_DROPRING,
			       .resolve = FL_IOC_RESOLVE_PAGE, .ring_bits = 1 };
	struct rig_node *n = &r->n[0];

	rig_open(n);
	ring_say(n, 1, 0, -EINVAL);
	ring_say(n, 3, 0, -EINVAL);
	ring_say(n, FL_BACKUP_SLOTS_MAX * 2, 0, -EINVAL);
	ring_say(n, 0, FL_BACKUP_BITS_MAX + 1, -EINVAL);
	ring_say(n, FL_BACKUP_SLOTS_MAX, FL_BACKUP_BITS_MAX, 0);
	STEP("a row that has no backup ring");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

TEST("a backup ring that cannot be is refused")
{
	rig_run(sizes_refused_body);
}

static void dropring_body(struct rig *r)
{
	struct rig_node *a = &r->n[0], *b = &r->n[1];

	ud_begin(r, FL_SYSTEM_DROPRING);
	receive_post(b, 0);
	bytes_put(a, 0, 100, 1);
	bytes_put(a, 4096, 100, 2);
	datagram_post(r, 0, 100);
	sim_sleep(1000000);
	EXPECT_EQ(ud_lost(r), 1);
	EXPECT_EQ(rig_counters(b).faults_dst, 1);
	EXPECT(!rig_look(b));
	datagram_post(r, 4096, 100);
	EXPECT_EQ(rig_wait(b), FL_ST_OK);
	bytes_expect(b, 0, 100, 2);
	EXPECT_EQ(ud_lost(r), 1);
	EXPECT_EQ(ud_diverted(r), 0);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_IRQ_RING), 0);
	ud_end(r);
}

TEST("dropring: what has no page is lost, and the page comes for the next one")
{
	rig_run(dropring_body);
}

static void unmapped_body(struct rig *r)
{
	struct rig_node *a = &r->n[0], *b = &r->n[1];

	ud_begin(r, FL_SYSTEM_BACKUP);
	bytes_put(a, 0, 100, 1);
	receive_post(b, 0);
	receive_post(b, 8192);
	EXPECT_EQ(host_munmap(b->process, b->buffer, 4096), 0);
	datagram_post(r, 0, 100);
	datagram_post(r, 0, 100);
	EXPECT_EQ(rig_wait(b), FL_ST_LOCAL_FAULT);
	EXPECT_EQ(rig_wait(b), FL_ST_OK);
	bytes_expect(b, 8192, 100, 1);
	EXPECT_EQ(rig_counters(b).failed, 1);
	ud_end(r);
}

TEST("a receive without memory ends with an error, and the one behind it does not")
{
	rig_run(unmapped_body);
}

/* More than the driver has pages, in all. */
static void ended_body(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	unsigned int i, k;

	ud_begin(r, FL_SYSTEM_BACKUP);
	bytes_put(&r->n[0], 0, 100, 1);
	for (i = 0; i < 16; i++) {
		for (k = 0; k < 40; k++)
			datagram_post(r, 0, 100);
		sim_sleep(1000000);
		EXPECT_EQ(ud_diverted(r), 40u * (i + 1));
		receiver_drop(b);
		qp_receiver(b);
		qp_ready(r, 1);
		/* The sender's peer is the new one. */
		qp_modify(&r->n[0], 0, 0, (struct fl_modify_qp){ .state = FL_STATE_RESET });
		r->n[0].posted = 0;
		qp_ready(r, 0);
	}
	EXPECT_EQ(ud_lost(r), 0);
	receive_post(b, 0);
	datagram_post(r, 0, 100);
	EXPECT_EQ(rig_wait(b), FL_ST_OK);
	bytes_expect(b, 0, 100, 1);
	ud_end(r);
}

TEST("what is held for a queue pair that ends is given up, and its pages serve others")
{
	rig_run(ended_body);
}

/* More receives than there are workers, so that some copies have not begun. */
static void destroyed_body(struct rig *r)
{
	static uint8_t before[RING * 4096], after[RING * 4096];
	struct rig_node *b = &r->n[1];
	unsigned int i;

	ud_begin(r, FL_SYSTEM_BACKUP);
	bytes_put(&r->n[0], 0, 100, 1);
	for (i = 0; i < RING; i++) {
		bytes_put(b, receive_at(i), 100, 2);
		receive_post(b, receive_at(i));
	}
	EXPECT_EQ(host_madvise(b->process, b->buffer, RIG_BYTES, HOST_PAGEOUT), 0);
	for (i = 0; i < RING; i++)
		datagram_post(r, 0, 100);
	while (ud_diverted(r) < RING)
		sim_sleep(100);
	receiver_drop(b);
	EXPECT_EQ(mm_copy(host_process_mm(b->process), (uintptr_t)b->buffer, before,
			  sizeof(before), false), 0);
	sim_sleep(10000000);
	EXPECT_EQ(mm_copy(host_process_mm(b->process), (uintptr_t)b->buffer, after,
			  sizeof(after), false), 0);
	EXPECT_MEM(after, before, sizeof(before));
	bytes_expect(b, receive_at(RING - 1), 100, 2);
	qp_receiver(b);
	ud_end(r);
}

TEST("when a queue pair has been destroyed, nothing is copied for it any more")
{
	rig_run(destroyed_body);
}

static void closed_body(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	unsigned int i, k;

	for (i = 0; i < 8; i++) {
		ud_begin(r, FL_SYSTEM_BACKUP);
		bytes_put(&r->n[0], 0, 100, 1);
		for (k = 0; k < 12; k++)
			receive_post(b, receive_at(k));
		for (k = 0; k < 40; k++)
			datagram_post(r, 0, 100);
		sim_sleep(i * 3000);
		ud_end(r);
	}
	EXPECT_EQ(ud_lost(r), 0);
}

TEST("a process that leaves while datagrams are held or copied leaves nothing behind")
{
	rig_run(closed_body);
}

static void refused_body(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_BACKUP };
	struct fl_create_qp good, c;
	struct fl_modify_qp m = { .size = sizeof(m) };

	rig_qp_flags = FL_QP_UD;
	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	rig_set_up(n, 0);
	good = (struct fl_create_qp){
		.size = sizeof(good), .pd = n->pd, .cq = n->cq, .entries = 8,
		.flags = FL_QP_UD, .recv_cq = n->cq,
	};
	STEP("of another transport, of two, or with a shared queue");
	c = good;
	c.flags = FL_QP_RC;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &c), -EOPNOTSUPP);
	c.flags = 0;
	c.recv_cq = 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &c), -EOPNOTSUPP);
	c = good;
	c.flags |= FL_QP_RC;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &c), -EINVAL);
	c = good;
	c.srq = 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &c), -EINVAL);
	STEP("a state without what it needs, or with what is not for it");
	m.qp = n->qp;
	m.state = FL_STATE_INIT;
	m.mask = FL_MOD_STATE;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_MODIFY_QP, &m), -EINVAL);
	m.mask |= FL_MOD_QKEY;
	m.qkey = 7;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_MODIFY_QP, &m), 0);
	m.state = FL_STATE_RTR;
	m.mask = FL_MOD_STATE | FL_MOD_PEER | FL_MOD_MTU | FL_MOD_RNR_CODE;
	m.qkey = 0;
	m.mtu = 3;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_MODIFY_QP, &m), -EINVAL);
	STEP("a key that is not named");
	m.mask = FL_MOD_STATE | FL_MOD_PEER | FL_MOD_MTU;
	m.state = FL_STATE_RTR;
	m.qkey = 7;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_MODIFY_QP, &m), -EINVAL);
	STEP("quirks are of acknowledgements");
	p.quirks = FL_QUIRK_CUT;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	rig_close(n);
}

TEST("what datagrams do not have is refused")
{
	rig_run(refused_body);
}
