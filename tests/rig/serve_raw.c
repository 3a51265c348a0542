// SPDX-License-Identifier: BSD-2-Clause
#include "rig/serve_raw.h"

#define RAW_HASTE_NS 10000000u

int raw_connect(unsigned int board)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_STREAM, 0), tries;
	size_t n = strlen(rig_boards.device[board]) - strlen("emu:");

	EXPECT(n < sizeof(at.sun_path));
	memcpy(at.sun_path, rig_boards.device[board] + strlen("emu:"), n);
	for (tries = 0; tries < 1000; tries++) {
		if (!connect(sock, (struct sockaddr *)&at, sizeof(at)))
			return sock;
		if (errno != EAGAIN)
			break;
		usleep(1000);	/* the backlog is full */
	}
	close(sock);
	return -1;
}

struct attach_hello raw_hello(void)
{
	return (struct attach_hello){ .magic = ATTACH_MAGIC,
				      .version = ATTACH_VERSION,
				      .page_bytes = RIG_PAGE,
				      .arena = RIG_ARENA,
				      .name = "raw" };
}

int raw_say(struct raw *r, unsigned int board, const struct attach_hello *h)
{
	int fds[2] = { -1, -1 }, nfds = 2;
	ssize_t n;

	memset(r, 0, sizeof(*r));
	r->obeys = true;
	r->sock = raw_connect(board);
	if (r->sock < 0)
		return 1;
	if (send(r->sock, h, sizeof(*h), MSG_NOSIGNAL) != sizeof(*h))
		return 1;
	n = os_receive(r->sock, &r->w, sizeof(r->w), fds, &nfds);
	if (n != sizeof(r->w))
		return 1;
	r->shared_fd = fds[0];
	r->bank_fd = fds[1];
	return r->w.error;
}

int raw_attach(struct raw *r, unsigned int board)
{
	struct attach_hello h = raw_hello();
	int err = raw_say(r, board, &h);

	if (err)
		return err;
	r->shared = mmap(NULL, r->w.shared_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED, r->shared_fd, 0);
	r->bank = mmap(NULL, r->w.bank_bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_NORESERVE, r->bank_fd, 0);
	return r->shared == MAP_FAILED || r->bank == MAP_FAILED ? 1 : 0;
}

void raw_detach(struct raw *r)
{
	if (r->shared)
		munmap(r->shared, r->w.shared_bytes);
	if (r->bank)
		munmap(r->bank, r->w.bank_bytes);
	close(r->shared_fd);
	close(r->bank_fd);
	close(r->sock);
}

bool raw_cut_off(struct raw *r, int timeout_ms)
{
	struct pollfd p = { .fd = r->sock, .events = POLLIN };
	struct attach_note note;
	uint64_t end_ns = os_now_ns() + (uint64_t)timeout_ms * 1000000;

	do {
		poll(&p, 1, 10);
		if (recv(r->sock, &note, sizeof(note), MSG_DONTWAIT) == 0)
			return true;
	} while (os_now_ns() < end_ns);
	return false;
}

void raw_ring(struct raw *r)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };

	/* seq_cst, as a fence would be, which ThreadSanitizer does not know. */
	atomic_fetch_or(&r->shared->asked, 0);
	if (atomic_load(&r->shared->board_asleep))
		send(r->sock, &n, sizeof(n), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void raw_views(struct raw *r)
{
	uint32_t head = atomic_load(&r->shared->view_head);

	if (!r->obeys)
		return;
	atomic_store(&r->shared->view_begun, head);
	atomic_store(&r->shared->view_done, head);
}

void raw_ask(struct raw *r, unsigned int slot, uint32_t op,
	     const uint64_t arg[4], const void *payload, size_t n)
{
	struct attach_call *c = &r->shared->call[slot];

	c->op = op;
	memcpy(c->arg, arg, sizeof(c->arg));
	if (n)
		memcpy(c->payload, payload, n);
	atomic_store(&c->state, ATTACH_ASKED);
	atomic_fetch_or(&r->shared->asked, 1ull << slot);
	raw_ring(r);
}

int raw_answer(struct raw *r, unsigned int slot, int ms)
{
	struct attach_call *c = &r->shared->call[slot];
	uint64_t begin_ns = os_now_ns(), waited_ns = 0;

	while (atomic_load(&c->state) != ATTACH_ANSWERED) {
		raw_views(r);
		if (waited_ns > (uint64_t)ms * 1000000)
			return 1;
		/* What does not come at once may be waiting for somebody's patience. */
		if (waited_ns > RAW_HASTE_NS)
			usleep(1000);
		else
			os_yield();
		waited_ns = os_now_ns() - begin_ns;
	}
	raw_views(r);
	atomic_store(&c->state, ATTACH_FREE_SLOT);
	return c->result;
}

int raw_call(struct raw *r, uint32_t op, uint64_t a0, uint64_t a1, uint64_t a2,
	     uint64_t a3)
{
	uint64_t arg[4] = { a0, a1, a2, a3 };

	raw_ask(r, 0, op, arg, NULL, 0);
	return raw_answer(r, 0, 20000);
}

int raw_ioctl(struct raw *r, int fd, unsigned int cmd, void *s, size_t n)
{
	uint64_t arg[4] = { (uint64_t)fd, cmd };
	int err;

	raw_ask(r, 0, ATTACH_IOCTL, arg, s, n);
	err = raw_answer(r, 0, 20000);
	memcpy(s, r->shared->call[0].payload, n);
	return err;
}

bool raw_post(struct raw *r, uint32_t kind, uint32_t offset, uint32_t value)
{
	struct attach_post *p = &r->shared->post[r->posted % ATTACH_POSTS];
	uint64_t end_ns = os_now_ns() + 10000000000ull;

	while (r->posted - atomic_load(&r->shared->post_tail) >= ATTACH_POSTS) {
		raw_ring(r);
		if (os_now_ns() > end_ns)
			return false;
		os_yield();
	}
	p->kind = kind;
	p->offset = offset;
	p->value = value;
	atomic_store(&r->shared->post_head, r->posted + 1);
	atomic_store(&p->seq, ++r->posted);
	raw_ring(r);
	return true;
}

/*
 * Memory of the pair's size on small boards, so that reclaim is at work too. Whoever
 * does not close its pages is waited for as long as usual (5 s); or so long that the
 * pair is not cut off either when it has no CPU.
 */
#define RAW_SMALL "--frames", "512", "--process-frames", "256"
const char *const raw_small[] = { RAW_SMALL, NULL };
const char *const raw_small_patient[] = { RAW_SMALL, "--patience", "60000", NULL };

const struct rig_address *raw_victim;

void beside_pair(int (*fn)(void *arg), const char *const *options,
		 unsigned int times)
{
	struct rig_pair p;
	uint32_t before;
	unsigned int i, k;
	pid_t pid[3];

	rig_start(options);
	rig_pair_start(&p);
	while (!*p.rounds)
		usleep(1000);
	raw_victim = p.at;
	for (i = 0; i < test_rounds(times); i++) {
		for (k = 0; k < 3; k++) {
			unsigned int number = i * 3 + k;

			pid[k] = rig_fork(fn, &number);
		}
		for (k = 0; k < 3; k++)
			EXPECT_EQ(rig_wait(pid[k]), 0);
		EXPECT(rig_boards_live());
	}
	/* It went on meanwhile, and goes on now. */
	before = *p.rounds;
	EXPECT_GE(before, 1);
	raw_victim = NULL;
	rig_pair_end(&p, before + 3);
	rig_end();
}

/* ---- something to do harm with: a file, queues, a region ---- */

int map_queue(struct target *t, uint64_t offset, uint64_t bytes, uint64_t *at)
{
	int err = raw_call(&t->r, ATTACH_MMAP, (uint64_t)t->fd, bytes, offset,
			   0);

	*at = t->r.shared->call[0].ret[0];
	return err;
}

int target_open(struct target *t, unsigned int board)
{
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = 64 };
	struct fl_create_qp qp = { .size = sizeof(qp), .entries = 64,
				   .flags = FL_QP_RELAXED };
	struct fl_reg_mr mr = { .size = sizeof(mr), .length = RAW_BYTES,
				.access = FL_ACC_LOCAL_WRITE |
					  FL_ACC_REMOTE_WRITE };
	struct fl_connect_qp c = { .size = sizeof(c), .node = 1, .peer_qp = 0 };
	uint64_t none;
	int err;

	if (raw_victim) {
		c.node = raw_victim[1].qp.node;
		c.peer_qp = raw_victim[1].qp.qpn;
	}
	memset(t, 0, sizeof(*t));
	err = raw_attach(&t->r, board);
	if (err)
		return err;
	t->fd = raw_call(&t->r, ATTACH_OPEN, 0, 0, 0, 0);
	if (t->fd < 0)
		return t->fd;
	err = raw_ioctl(&t->r, t->fd, FL_IOC_ALLOC_PD, &pd, sizeof(pd));
	err = err ? err : raw_ioctl(&t->r, t->fd, FL_IOC_CREATE_CQ, &cq,
				    sizeof(cq));
	qp.pd = pd.pd;
	qp.cq = cq.cq;
	err = err ? err : raw_ioctl(&t->r, t->fd, FL_IOC_CREATE_QP, &qp,
				    sizeof(qp));
	err = err ? err : raw_call(&t->r, ATTACH_ALLOC, RAW_BYTES, 0, 0, 0);
	t->mem = mr.addr = t->r.shared->call[0].ret[0];
	mr.pd = pd.pd;
	err = err ? err : raw_ioctl(&t->r, t->fd, FL_IOC_REG_MR, &mr,
				    sizeof(mr));
	c.qp = qp.qp;
	err = err ? err : raw_ioctl(&t->r, t->fd, FL_IOC_CONNECT_QP, &c,
				    sizeof(c));
	err = err ? err : map_queue(t, qp.mmap_offset, qp.mmap_bytes,
				    &t->sq_at);
	err = err ? err : map_queue(t, cq.mmap_offset, cq.mmap_bytes,
				    &t->cq_at);
	err = err ? err : map_queue(t, FL_MMAP_DOORBELL, NIC_DB_STRIDE, &none);
	t->pd = pd.pd;
	t->cq = cq.cq;
	t->qp = qp.qp;
	t->key = mr.key;
	t->sq = (struct fl_wqe *)(t->r.bank + t->sq_at);
	return err;
}

bool target_completed(struct target *t)
{
	struct fl_cqe *e = (struct fl_cqe *)(t->r.bank + t->cq_at);
	uint64_t end_ns = os_now_ns() + 20000000000ull;

	while (!__atomic_load_n(&e->phase, __ATOMIC_ACQUIRE)) {
		if (os_now_ns() > end_ns)
			return false;
		os_yield();
	}
	return true;
}
