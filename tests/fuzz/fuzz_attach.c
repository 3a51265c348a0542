// SPDX-License-Identifier: BSD-2-Clause
/*
 * The protocol of attached processes (lib/attach/attach.h), by a process that means no
 * good: what it says at the socket, posts, calls, and any byte of the area that it shares
 * with the board. A second process is attached all the time; its memory keeps every byte
 * and its calls are answered. When both are gone, the board has everything back.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "board/board.h"
#include "fabric/fabric.h"
#include "faultline/uapi.h"
#include "fuzz.h"
#include "host/host.h"
#include "lib/attach/attach.h"
#include "os/os.h"
#include "serve/serve.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "trace/trace.h"

const char fuzz_name[] = "attach";

#define STEPS		48u
#define GOOD_PAGES	4u
#define ARENA		0x10000000000ull
#define PATIENCE_MS	20000u	/* so that a busy machine cuts nobody off */
#define LIMIT_NS	60000000000ull	/* then it hangs */

struct peer {
	int sock, shared_fd, bank_fd;
	struct attach_welcome w;
	struct attach_shared *shared;
	uint8_t *bank;
	uint32_t views, posted;
	int file;			/* of its OPEN */
	/* Where the pages of its memory are in the bank; the good one's. */
	uint64_t mem;
	uint32_t frame[GOOD_PAGES];
};

struct play {
	struct fuzz in;
	struct sim *sim;
	struct trace *trace;
	struct timing_profile timing;
	struct fabric *fabric;
	struct board *board;
	struct host_kernel *k;
	struct serve *serve;
	char dir[64], path[96];
	struct peer good, bad;
	bool obeys;
};

/* ---- a process: the honest part ---- */

static bool say_hello(struct peer *p, const char *path,
		      const struct attach_hello *h, size_t n)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fds[2] = { -1, -1 }, nfds = 2;
	ssize_t got;

	*p = (struct peer){ .shared_fd = -1, .bank_fd = -1, .file = -1 };
	strcpy(at.sun_path, path);
	p->sock = socket(AF_UNIX, SOCK_STREAM, 0);
	FUZZ_EXPECT(p->sock >= 0 &&
		    !connect(p->sock, (struct sockaddr *)&at, sizeof(at)),
		    "the board's socket is there");
	if (send(p->sock, h, n, MSG_NOSIGNAL) != (ssize_t)n ||
	    n < sizeof(*h))
		return false;
	got = os_receive(p->sock, &p->w, sizeof(p->w), fds, &nfds);
	if (got != sizeof(p->w))
		return false;
	FUZZ_EXPECT(p->w.error || nfds == 2, "a welcome has two descriptors");
	if (p->w.error) {
		p->w.text[sizeof(p->w.text) - 1] = 0;
		FUZZ_EXPECT(p->w.text[0] && !nfds, "a refusal says why");
		return false;
	}
	p->shared_fd = fds[0];
	p->bank_fd = fds[1];
	p->shared = mmap(NULL, p->w.shared_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED, fds[0], 0);
	p->bank = mmap(NULL, p->w.bank_bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_NORESERVE, fds[1], 0);
	FUZZ_EXPECT(p->shared != MAP_FAILED && p->bank != MAP_FAILED,
		    "what the welcome brought can be mapped");
	return true;
}

static void fuzz_attach_leave(struct peer *p)
{
	if (p->shared)
		munmap(p->shared, p->w.shared_bytes);
	if (p->bank)
		munmap(p->bank, p->w.bank_bytes);
	if (p->shared_fd >= 0)
		close(p->shared_fd);
	if (p->bank_fd >= 0)
		close(p->bank_fd);
	if (p->sock >= 0)
		close(p->sock);
	*p = (struct peer){ .sock = -1 };
}

static void fuzz_attach_wake(struct peer *p)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };

	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&p->shared->board_asleep))
		send(p->sock, &n, sizeof(n), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void do_views(struct peer *p)
{
	uint32_t head = atomic_load(&p->shared->view_head), page;
	struct attach_view *v;

	for (; p->views != head; p->views++) {
		v = &p->shared->view[p->views % ATTACH_VIEWS];
		page = (uint32_t)((v->va - p->mem) / 4096);
		for (; v->kind == ATTACH_OPEN_PAGES && page < GOOD_PAGES &&
		       v->npages; page++, v->npages--)
			p->frame[page] = v->frame++;
	}
	atomic_store(&p->shared->view_done, head);
	os_word_wake(&p->shared->view_done);
}

static void fuzz_attach_ask(struct peer *p, unsigned int slot, uint32_t op,
			    const uint64_t arg[4], const void *payload,
			    size_t n)
{
	struct attach_call *c = &p->shared->call[slot];

	c->op = op;
	memcpy(c->arg, arg, sizeof(c->arg));
	if (n)
		memcpy(c->payload, payload, n);
	atomic_store(&c->state, ATTACH_ASKED);
	atomic_fetch_or(&p->shared->asked, 1ull << slot);
	fuzz_attach_wake(p);
}

/* Of the good process: there is an answer. */
static int fuzz_attach_call(struct play *p, uint32_t op, uint64_t a0,
			    uint64_t a1)
{
	struct attach_call *c = &p->good.shared->call[0];
	const uint64_t arg[4] = { a0, a1 };
	uint64_t end_ns = os_now_ns() + LIMIT_NS;

	fuzz_attach_ask(&p->good, 0, op, arg, NULL, 0);
	while (atomic_load(&c->state) != ATTACH_ANSWERED) {
		do_views(&p->good);
		FUZZ_EXPECT(os_now_ns() < end_ns,
			    "call %u of the good process is answered", op);
		os_yield();
	}
	do_views(&p->good);
	atomic_store(&c->state, ATTACH_FREE_SLOT);
	return c->result;
}

static uint8_t fuzz_attach_pattern(uint32_t page, uint32_t i)
{
	return (uint8_t)(page * 37 + i * 7 + 1);
}

static void good_begins(struct play *p)
{
	struct attach_hello h = { ATTACH_MAGIC, ATTACH_VERSION, 4096, 0, ARENA,
				  "good" };
	struct peer *g = &p->good;
	uint32_t page, i, tries = 0;

	/* The board waits two seconds for a HELLO, and the machine may be busy. */
	while (!say_hello(g, p->path, &h, sizeof(h))) {
		FUZZ_EXPECT(tries++ < 10, "welcome: %d", g->w.error);
		fuzz_attach_leave(g);
	}
	FUZZ_EXPECT(!fuzz_attach_call(p, ATTACH_ALLOC, GOOD_PAGES * 4096, 0),
		    "there is memory");
	g->mem = g->shared->call[0].ret[0];
	for (page = 0; page < GOOD_PAGES; page++) {
		g->frame[page] = UINT32_MAX;
		FUZZ_EXPECT(!fuzz_attach_call(p, ATTACH_FAULT,
					      g->mem + page * 4096, 1),
			    "page %u comes", page);
		FUZZ_EXPECT(g->frame[page] < g->w.frames, "page %u is open",
			    page);
		for (i = 0; i < 4096; i++)
			g->bank[g->frame[page] * 4096ull + i] = fuzz_attach_pattern(page, i);
	}
}

static void good_has_all(struct play *p)
{
	struct peer *g = &p->good;
	uint32_t page, i;

	for (page = 0; page < GOOD_PAGES; page++)
		for (i = 0; i < 4096; i++)
			FUZZ_EXPECT(g->bank[g->frame[page] * 4096ull + i] ==
				    fuzz_attach_pattern(page, i),
				    "byte %u of page %u of "
				    "the good process is as it was", i, page);
	FUZZ_EXPECT(!fuzz_attach_call(p, ATTACH_ALLOC, 4096, 0),
		    "its calls are answered");
	FUZZ_EXPECT(atomic_load(&g->shared->alive), "the board lives");
}

/* ---- a process that means no good ---- */

static uint64_t some_address(struct play *p)
{
	unsigned int x = (unsigned int)fuzz_take(&p->in, 1);

	if (x < 160)
		return p->bad.mem + (x & 31) * 4096;
	return x < 224 ? 0x555500000000ull + (x & 31) * 4096 :
			 fuzz_take(&p->in, 8);
}

static void ask_something(struct play *p)
{
	struct fuzz *f = &p->in;
	uint8_t payload[ATTACH_PAYLOAD] = { 0 };
	unsigned int x = (unsigned int)fuzz_take(f, 1), n = 0;
	uint32_t op = x % (ATTACH_OPS + 1);
	uint64_t arg[4] = { some_address(p), fuzz_take(f, 1), fuzz_take(f, 1),
			    fuzz_take(f, 1) & 3 };
	static const unsigned int ioctls[] = {
		FL_IOC_ALLOC_PD, FL_IOC_CREATE_CQ, FL_IOC_CREATE_QP,
		FL_IOC_REG_MR, FL_IOC_CONNECT_QP, FL_IOC_DEREG_MR,
		FL_IOC_PREFETCH, 77,
	};

	if (op == ATTACH_IOCTL || op == ATTACH_MMAP || op == ATTACH_CLOSE) {
		arg[0] = x < 200 && p->bad.file >= 0 ? (uint64_t)p->bad.file :
						       (arg[0] & 15);
		if (op == ATTACH_IOCTL)
			arg[1] = ioctls[arg[1] & 7];
		else
			arg[1] *= 4096;
		arg[2] <<= 12;
	} else {
		arg[1] *= x & 0x80 ? 4096 : 1;
		arg[2] &= 3;	/* rights, advice: what there is, and one more */
	}
	if (op == ATTACH_ALLOC || op == ATTACH_MAP_FILE)
		arg[0] = fuzz_take(f, 2) * 64;
	payload[0] = (uint8_t)fuzz_below(f, 65);	/* size of a structure */
	for (n = 8; n < 8 + 2 * (x & 15); n += 2)
		payload[n % sizeof(payload)] = (uint8_t)fuzz_take(f, 1);
	fuzz_attach_ask(&p->bad, fuzz_below(f, ATTACH_CALLS), op, arg, payload,
			sizeof(payload));
}

/* As any library would, so that what follows gets further. */
static void ask_well(struct play *p, uint32_t op, uint64_t a0)
{
	struct attach_call *c = &p->bad.shared->call[1];
	const uint64_t arg[4] = { a0, 1 };
	unsigned int tries;

	fuzz_attach_ask(&p->bad, 1, op, arg, NULL, 0);
	for (tries = 0; atomic_load(&c->state) != ATTACH_ANSWERED &&
			tries < 2000; tries++) {
		if (p->obeys)
			do_views(&p->bad);
		os_yield();
	}
	if (atomic_load(&c->state) != ATTACH_ANSWERED)
		return;
	if (op == ATTACH_ALLOC && !c->result)
		p->bad.mem = c->ret[0];
	if (op == ATTACH_OPEN)
		p->bad.file = c->result;
	atomic_store(&c->state, ATTACH_FREE_SLOT);
}

static void fuzz_attach_post(struct play *p)
{
	struct fuzz *f = &p->in;
	struct peer *b = &p->bad;
	struct attach_post *e = &b->shared->post[b->posted % ATTACH_POSTS];
	unsigned int x = (unsigned int)fuzz_take(f, 1);

	e->kind = x & 7;
	e->took = (uint8_t)(x >> 6);
	e->took_xfer = x;
	e->offset = x >> 3 & 1 ? (uint32_t)fuzz_take(f, 4) : x >> 4 & 12;
	e->value = (uint32_t)fuzz_take(f, 2);
	e->xfer = x;
	atomic_store(&b->shared->post_head, b->posted + 1);
	atomic_store(&e->seq, ++b->posted + (x == 255));
	fuzz_attach_wake(b);
}

static void fuzz_attach_say(struct play *p)
{
	struct attach_note n = { fuzz_below(&p->in, 4),
				 (uint32_t)fuzz_take(&p->in, 1) & 3 };
	unsigned int x = (unsigned int)fuzz_take(&p->in, 1);
	int fd = x & 1 ? memfd_create("fuzz", 0) : -1;

	if (fd >= 0 && x & 2 && ftruncate(fd, (x >> 2) * 1024))
		x = 0;
	/* Some of it at a time, too. */
	os_send(p->bad.sock, &n, x & 128 ? x & 7 : sizeof(n), &fd, fd >= 0);
	if (fd >= 0)
		close(fd);
}

static void fuzz_attach_scribble(struct play *p)
{
	struct fuzz *f = &p->in;
	volatile uint8_t *at = (uint8_t *)p->bad.shared;
	uint64_t off = fuzz_take(f, 3) % (sizeof(struct attach_shared) - 32);
	unsigned int n;

	if (off & 1)
		off %= 1024;	/* where the counters are */
	for (n = fuzz_below(f, 16); n; n--)
		at[off++] = (uint8_t)fuzz_take(f, 1);
	fuzz_attach_wake(&p->bad);
}

static void fuzz_attach_step(struct play *p)
{
	unsigned int x = (unsigned int)fuzz_take(&p->in, 1);

	do_views(&p->good);
	if (x < 112)
		ask_something(p);
	else if (x < 144)
		fuzz_attach_post(p);
	else if (x < 168)
		fuzz_attach_say(p);
	else if (x < 184)
		fuzz_attach_scribble(p);
	else if (x < 200)
		ask_well(p, ATTACH_ALLOC, (x & 15) * 4096);
	else if (x < 208)
		ask_well(p, ATTACH_OPEN, 0);
	else if (x < 224)
		ask_well(p, ATTACH_FAULT, p->bad.mem + (x & 7) * 4096);
	else if (p->obeys)
		do_views(&p->bad);
	else
		os_yield();
}

static void bad_one(struct play *p)
{
	struct attach_hello h = { ATTACH_MAGIC, ATTACH_VERSION, 4096, 0, ARENA,
				  "bad" };
	unsigned int x = (unsigned int)fuzz_take(&p->in, 1), i, at;
	size_t n = sizeof(h);

	p->obeys = x & 1;
	for (i = 0; x >> 4 == 15 && i < 4; i++) {
		at = fuzz_below(&p->in, sizeof(h));
		((uint8_t *)&h)[at] ^= (uint8_t)fuzz_take(&p->in, 1);
	}
	if (x >> 4 == 14)
		n = fuzz_below(&p->in, sizeof(h));
	if (say_hello(&p->bad, p->path, &h, n))
		for (i = 0; i < STEPS && p->in.left; i++)
			fuzz_attach_step(p);
	fuzz_attach_leave(&p->bad);
}

/* ---- the boards ---- */

static unsigned int open_files(void)
{
	unsigned int n = 0;
	DIR *d = opendir("/proc/self/fd");

	FUZZ_EXPECT(d, "there is /proc/self/fd");
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void fuzz_attach_begin(struct play *p)
{
	struct trace_config tc = { .ring_records = 1024, .threads = true };
	struct sim_config sc = { .mode = SIM_THREADS, .seed = 1 };
	struct fabric_config fc = { 0 };
	struct board_config bc = { .name = "a", .id = 1 };
	struct host_config hc = { 0 };
	struct host_driver_params dp = { .system = FL_SYSTEM_PART };
	struct serve_config vc = { .patience_ms = PATIENCE_MS };
	int err;

	timing_defaults(&p->timing);
	sc.trace = fc.trace = bc.trace = p->trace = trace_create(&tc);
	fc.sim = bc.sim = vc.sim = p->sim = sim_create(&sc);
	fc.timing = bc.timing = &p->timing;
	bc.fabric = p->fabric = fabric_create(&fc);
	p->board = hc.board = board_create(&bc, &err);
	FUZZ_EXPECT(p->board, "there is a board: %d", err);
	p->k = host_create(&hc, &err);
	FUZZ_EXPECT(p->k, "there is a kernel: %d", err);
	err = host_driver_probe(p->k, &dp);
	FUZZ_EXPECT(!err, "it has the driver: %d", err);
	p->serve = serve_create(&vc, &err);
	FUZZ_EXPECT(p->serve, "it is served: %d", err);
	strcpy(p->dir, "/tmp/faultline-fuzz-XXXXXX");
	FUZZ_EXPECT(mkdtemp(p->dir), "there is a folder");
	snprintf(p->path, sizeof(p->path), "%s/a.sock", p->dir);
	err = serve_open(p->serve, p->k, p->path);
	FUZZ_EXPECT(!err, "its listener is open: %d", err);
}

static void fuzz_attach_end(struct play *p)
{
	const char *wrong;

	serve_close(p->serve);
	serve_destroy(p->serve);
	host_driver_remove(p->k);
	sim_stop(p->sim);
	wrong = host_check(p->k, true);
	FUZZ_EXPECT(!wrong, "the kernel: %s", wrong);
	wrong = board_check(p->board);
	FUZZ_EXPECT(!wrong, "the card: %s", wrong);
	FUZZ_EXPECT(!board_open_slots(p->board), "no slot is left");
	host_destroy(p->k);
	board_destroy(p->board);
	sim_destroy(p->sim);
	fabric_destroy(p->fabric);
	trace_destroy(p->trace);
	timing_free(&p->timing);
	unlink(p->path);
	FUZZ_EXPECT(!rmdir(p->dir), "nothing is left in the folder");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play *p = calloc(1, sizeof(*p));
	unsigned int files = open_files();

	FUZZ_EXPECT(p, "there is memory for a process");
	p->in = (struct fuzz){ data, size };
	fuzz_attach_begin(p);
	good_begins(p);
	bad_one(p);
	good_has_all(p);
	fuzz_attach_leave(&p->good);
	fuzz_attach_end(p);
	FUZZ_EXPECT(open_files() == files, "%u descriptors, then %u", files,
		    open_files());
	free(p);
	return 0;
}
