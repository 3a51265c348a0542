// SPDX-License-Identifier: BSD-2-Clause
/*
 * Descriptors that make whoever closes or reads them wait: a socket that lingers,
 * in the queue of a socket, and a file whose file system never answers. Nobody but
 * the process that sent them may stand still.
 *
 * variants: tsan posix
 */
#include "rig/serve_stuck.h"

/* ---- sockets in sockets ---- */

/* With HELLO, on both boards. Where the system takes none there, nothing is sent. */
static int sockets_with_hello(void *arg)
{
	struct attach_hello h = raw_hello();
	unsigned int i;
	int sock, fd;

	(void)arg;
	for (i = 0; i < 6; i++) {
		sock = raw_connect(i & 1);
		fd = stuck_nested(i % 3 + 1);
		if (sock < 0 || fd < 0)
			return 1;
		os_send(sock, &h, i < 3 ? 3 : sizeof(h), &fd, 1);
		stuck_close(fd);
		if (i % 2)
			close(sock);
	}
	stuck_is_ready();
	return 0;
}

TEST("sockets in sockets that linger, before HELLO")
{
	stuck_test(sockets_with_hello, NULL);
}

static int sockets_with_notes(void *arg)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };
	unsigned int i;
	struct raw r;
	int fd;

	(void)arg;
	if (raw_attach(&r, 0))
		return 1;
	for (i = 0; i < 20; i++) {
		fd = stuck_nested(i % 4);
		if (fd < 0)
			return 2;
		/* Some wait for a MAP_FILE, some are too many. */
		n.kind = i % 2 ? ATTACH_WAKEUP : ATTACH_FILE;
		n.id = i;
		os_send(r.sock, &n, sizeof(n), &fd, 1);
		stuck_close(fd);
	}
	stuck_is_ready();
	return 0;
}

TEST("the same with notes, kept and dropped")
{
	stuck_test(sockets_with_notes, NULL);
}

#define MANY	100u

/* Many processes: what each one left in its queue is closed at its end. */
static int sockets_left_behind(void *arg)
{
	struct attach_note none = { 0 };
	unsigned int i, k;
	struct raw r;
	int fd;

	(void)arg;
	for (i = 0; i < MANY; i++) {
		if (raw_attach(&r, i & 1))
			return 1;
		fd = stuck_nested(i % 3 + 1);
		if (fd < 0)
			return 2;
		/* It is cut off for the first, with the others unread. */
		os_send(r.sock, &none, sizeof(none), NULL, 0);
		for (k = 0; k < 8; k++)
			os_send(r.sock, &none, sizeof(none), &fd, 1);
		stuck_close(fd);
		if (i % 2 && !raw_cut_off(&r, STUCK_LIMIT_MS))
			return 3;
		raw_detach(&r);
	}
	stuck_is_ready();
	return 0;
}

TEST("the same, unread when the process is cut off")
{
	stuck_test(sockets_left_behind, NULL);
}

/* ---- files that never answer ---- */

static void needs_fuse(void)
{
	if (!fuse_possible())
		test_skip("/dev/fuse cannot be mounted here: neither root, nor "
			  "a user namespace with a /dev/fuse that it may open");
}

/* The library's own way: the file is mapped, and then something needs a page. */
static int opens_file(struct rig_app *a, uint8_t **mem, uint32_t op)
{
	char path[130];
	size_t bytes;
	int fd;

	stuck->fuse.stuck = op;
	fd = fuse_open(&stuck->fuse);
	if (fd < 0) {
		perror("FUSE");
		return 1;
	}
	if (rig_app_open(a, 0, 1u << 16))
		return 2;
	snprintf(path, sizeof(path), "%s/file", stuck->fuse.dir);
	*mem = fl_map_file(a->dev, path, &bytes);
	return *mem ? 0 : 3;
}

static int file_never_flushed(void *arg)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };
	struct raw r;
	int fd, i;

	(void)arg;
	stuck->fuse.stuck = FUSE_FLUSH;
	fd = fuse_open(&stuck->fuse);
	if (fd < 0 || raw_attach(&r, 0))
		return 1;
	for (i = 0; i < 12; i++) {
		n.kind = i % 2 ? ATTACH_WAKEUP : ATTACH_FILE;
		n.id = (uint32_t)i;
		os_send(r.sock, &n, sizeof(n), &fd, 1);
	}
	stuck_is_ready();
	return 0;
}

TEST("a file whose closing is never answered")
{
	needs_fuse();
	stuck_test(file_never_flushed, NULL);
}

static int cpu_reads_file(void *arg)
{
	struct rig_app a;
	uint8_t *mem;
	int r = opens_file(&a, &mem, FUSE_READ);

	(void)arg;
	if (r || write(stuck->ready[1], "", 1) != 1)
		return r ? r : 4;
	return mem[5];		/* waits, and is a crash when it is cut off */
}

TEST("a file whose READ is never answered, mapped and touched by the CPU")
{
	struct rig_pair p;

	needs_fuse();
	stuck_begin(&p, cpu_reads_file, NULL);
	EXPECT_EQ(stuck_hear(stuck->arrived[0]), 0);
	stuck_beside(&p);
	rig_pair_end(&p, 20);
	stuck_end();
}

#define PAIRS 16u

/* Many queue pairs, each with itself, with writes from pages that never come. */
static int posts_many(struct rig_app *a, uint8_t *mem)
{
	struct fl_address at;
	struct fl_qp *qp[PAIRS];
	struct fl_work w;
	struct fl_mr *mr;
	unsigned int i;

	RIG_TRY(fl_reg_mr(a->pd, mem, FUSE_FILE_BYTES, FL_LOCAL_WRITE, &mr));
	for (i = 0; i < PAIRS; i++) {
		RIG_TRY(fl_create_qp(a->pd, a->cq, 4, &qp[i]));
		RIG_TRY(fl_qp_address(qp[i], &at));
		RIG_TRY(fl_connect(qp[i], &at));
	}
	for (i = 0; i < 4 * PAIRS; i++) {
		w = (struct fl_work){
			.opcode = FL_WRITE, .bytes = 16384,
			.local = mem + i * (32u << 10), .lkey = fl_mr_key(mr),
			.remote = (uintptr_t)a->mem, .rkey = fl_mr_key(a->mr),
		};
		RIG_TRY(fl_post(qp[i % PAIRS], &w));
	}
	return 0;
}

#define FROM_B	8u	/* more than the contexts that its requests may have */
#define FROM_A	3u	/* which leaves the pair some */

/* qp of b and another of a know each other. */
static int connect_two(struct rig_app *a, struct rig_app *b, struct fl_qp **qp)
{
	struct fl_address at, to;
	struct fl_qp *other;

	RIG_TRY(fl_create_qp(b->pd, b->cq, 4, qp));
	RIG_TRY(fl_create_qp(a->pd, a->cq, 4, &other));
	RIG_TRY(fl_qp_address(*qp, &at));
	RIG_TRY(fl_qp_address(other, &to));
	RIG_TRY(fl_connect(other, &at));
	return fl_connect(*qp, &to);
}

/*
 * One block of each queue pair, from the other board and from its own: more wait than
 * a card has workers. From then on the driver lets the process make nothing more.
 */
static int posts_across(struct rig_app *a, struct rig_app *b, uint8_t *mem)
{
	struct fl_qp *qp[FROM_B + FROM_A];
	struct rig_app *from;
	struct fl_work w;
	struct fl_mr *mr;
	unsigned int i;

	RIG_TRY(fl_reg_mr(a->pd, mem, FUSE_FILE_BYTES, FL_LOCAL_WRITE |
			  FL_REMOTE_WRITE, &mr));
	RIG_TRY(rig_app_open(b, 1, 1u << 16));
	for (i = 0; i < FROM_B + FROM_A; i++)
		RIG_TRY(connect_two(a, i < FROM_B ? b : a, &qp[i]));
	for (i = 0; i < FROM_B + FROM_A; i++) {
		from = i < FROM_B ? b : a;
		w = (struct fl_work){
			.opcode = FL_WRITE, .bytes = 16384,
			.local = from->mem, .lkey = fl_mr_key(from->mr),
			.remote = (uintptr_t)mem + i * (32u << 10),
			.rkey = fl_mr_key(mr),
		};
		RIG_TRY(fl_post(qp[i], &w));
	}
	return 0;
}

static int card_writes_file(void *arg)
{
	struct rig_app a, b;
	uint8_t *mem;
	int r = opens_file(&a, &mem, FUSE_READ);

	(void)arg;
	if (!r)
		r = posts_across(&a, &b, mem);
	if (r)
		return r;
	stuck_is_ready();
	return 0;
}

/* All contexts that it may have on its board. */
static int card_reads_file(void *arg)
{
	struct rig_app a;
	uint8_t *mem;
	int r = opens_file(&a, &mem, FUSE_READ);

	(void)arg;
	if (!r)
		r = posts_many(&a, mem);
	if (r)
		return r;
	stuck_is_ready();
	return 0;
}

static void card_test(int (*fn)(void *arg), const char *const *options)
{
	struct rig_pair p;

	needs_fuse();
	stuck_begin(&p, fn, options);
	EXPECT_EQ(stuck_hear(stuck->arrived[0]), 0);
	stuck_beside(&p);
	rig_pair_end(&p, 20);
	stuck_end();
}

static const char *const never[] = { "--patience", "3600000", NULL };

TEST("the same file, as the destination of more blocks than there are workers")
{
	card_test(card_writes_file, never);
}

TEST("the same file, as the source of more blocks than a card has contexts")
{
	card_test(card_reads_file, never);
}

static const char *const patient[] = { "--patience", "1500", NULL };

/* What the boards say goes into a file from now on; returns what goes back. */
static int listen_to_boards(FILE **f)
{
	int fd = os_file_unnamed(NULL), stderr_was = dup(STDERR_FILENO);

	*f = fdopen(fd, "r");
	EXPECT(*f && stderr_was >= 0);
	EXPECT_EQ(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	return stderr_was;
}

static bool boards_said(FILE *f, const char *what)
{
	char line[400];
	bool said = false;

	rewind(f);
	while (!said && fgets(line, sizeof(line), f))
		said = strstr(line, what);
	return said;
}

/* Back to so many descriptors and threads, however long that takes. */
static void expect_back(unsigned int files, unsigned int threads)
{
	int ms;

	for (ms = 0; ms < STUCK_LIMIT_MS && (stuck_entries("fd") > files ||
	     stuck_entries("task") > threads); ms += 10)
		usleep(10000);
	EXPECT_LE(stuck_entries("fd"), files);
	EXPECT_LE(stuck_entries("task"), threads);
}

TEST("whose file does not answer is cut off, and all that it had comes back")
{
	unsigned int files, threads;
	struct rig_pair p;
	int stderr_was;
	FILE *said;

	needs_fuse();
	stuck_create();
	stderr_was = listen_to_boards(&said);
	rig_start(patient);
	dup2(stderr_was, STDERR_FILENO);
	test_cleanup(stuck_clean, NULL);
	rig_pair_start(&p);
	EXPECT(stuck_pair_goes_on(&p, 1));
	files = stuck_entries("fd");
	threads = stuck_entries("task");
	close(stderr_was);
	stuck_fork(&p, cpu_reads_file);
	EXPECT_EQ(stuck_hear(stuck->arrived[0]), 0);
	STEP("its touch is a crash in the end");
	EXPECT_EQ(rig_wait(stuck->pid), -SIGSEGV);
	stuck->pid = 0;
	expect_back(files, threads);
	EXPECT(boards_said(said, "does not answer"));
	fclose(said);
	stuck_beside(&p);
	rig_pair_end(&p, 20);
	stuck_end();
}

/* Each attachment leaves a process behind that cannot be ended. */
static int leaves_lost_ones(void *arg)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };
	unsigned int i;
	struct raw r;
	int fd;

	(void)arg;
	stuck->fuse.stuck = FUSE_FLUSH;
	fd = fuse_open(&stuck->fuse);
	if (fd < 0)
		return 1;
	for (i = 0; i < 1000; i++) {
		if (raw_attach(&r, 0))
			return 2;
		if (os_send(r.sock, &n, sizeof(n), &fd, 1) != sizeof(n))
			return 3;
		/* Until there are too many of them: then it is told to go. */
		if (raw_cut_off(&r, 100))
			break;
		raw_detach(&r);
	}
	if (i < 16 || i == 1000)
		return 4;
	stuck_is_ready();
	return 0;
}

TEST("who leaves processes behind that cannot be ended has sixteen")
{
	needs_fuse();
	stuck_test(leaves_lost_ones, NULL);
}

/* ---- without a FUSE: what reads the file is stopped ---- */

/* The page that stands for all is there: so whoever reads the file is, too. */
static int maps_a_file(void *arg)
{
	struct attach_note n = { .kind = ATTACH_FILE, .id = 7 };
	const uint64_t none[4] = { 0 };
	int fd = os_file_unnamed(NULL);
	uint64_t mem, a[4] = { 0 };
	unsigned int i;
	struct raw r;

	(void)arg;
	if (fd < 0 || ftruncate(fd, 64 * RIG_PAGE) || raw_attach(&r, 0))
		return 1;
	os_send(r.sock, &n, sizeof(n), &fd, 1);
	if (raw_call(&r, ATTACH_MAP_FILE, 64 * RIG_PAGE, 7, 0, 0))
		return 2;
	mem = r.shared->call[0].ret[0];
	if (raw_call(&r, ATTACH_FAULT, mem, 0, 0, 0))
		return 3;
	if (write(stuck->ready[1], "", 1) != 1 ||
	    stuck_hear(stuck->arrived[0]))
		return 4;
	/* Faults by the dozen, and something that ends at once. */
	for (i = 1; i < 32; i++) {
		a[0] = mem + i * RIG_PAGE;
		raw_ask(&r, i, ATTACH_FAULT, a, NULL, 0);
	}
	raw_ask(&r, 40, ATTACH_CLOSE, none, NULL, 0);
	if (raw_answer(&r, 40, STUCK_LIMIT_MS) != -EBADF)
		return 5;
	if (write(stuck->ready[1], "", 1) != 1)
		return 6;
	return raw_cut_off(&r, STUCK_LIMIT_MS) ? 0 : 7;
}

static void stop_reader(void)
{
	pid_t child[STUCK_FAMILY];
	unsigned int n = stuck_children(rig_boards.child.pid, child, 0);

	STEP("what reads its file is the last of %u processes", n);
	EXPECT_EQ(n, 2);
	EXPECT_EQ(kill(child[1], SIGSTOP), 0);
	EXPECT_EQ(write(stuck->arrived[1], "", 1), 1);
	EXPECT_EQ(stuck_hear(stuck->ready[0]), 0);
}

TEST("what reads a file is stopped: its process waits, and is cut off")
{
	unsigned int files, threads;
	struct rig_pair p;
	pid_t pid;

	stuck_begin(&p, maps_a_file, patient);
	stop_reader();
	files = stuck_entries("fd");
	threads = stuck_entries("task");
	stuck_beside(&p);
	pid = stuck->pid;
	stuck->pid = 0;
	EXPECT_EQ(rig_wait(pid), 0);
	expect_back(files - 1, threads - 1);
	rig_pair_end(&p, 20);
	stuck_end();
}

TEST("what reads a file is stopped, and the boards end")
{
	struct rig_pair p;

	stuck_begin(&p, maps_a_file, NULL);
	stop_reader();
	rig_pair_end(&p, 20);
	stuck_end();
}
