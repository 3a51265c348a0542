// SPDX-License-Identifier: BSD-2-Clause
#include "rig/window.h"

struct rig rig;

const char *rig_path(unsigned int i, const char *what)
{
	static char path[2][100];
	static unsigned int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[0]), rig.folders ? "%s/n%u/%s" :
		 "%s/%u%s", rig.dir, i, what);
	return path[turn];
}

/* ---- what stands still ---- */

struct window_stats rig_stats(unsigned int i)
{
	struct window_stats st;

	window_stats(rig.window[i], &st);
	return st;
}

static bool rig_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void rig_show_guest(unsigned int i)
{
	struct rig_guest *g = &rig.guest[i];
	uint32_t done = rig_done(g);
	struct fl_window_entry *at = (void *)(g->bar + FL_WINDOW_RING_OFFSET);

	at += done % FL_WINDOW_RING;
	STEP("guest %u: %u entries written, %u done, the next has seq %u; window "
	     "asleep %u, alive %u; bell %s, socket %s", i, g->next, done,
	     __atomic_load_n(&at->seq, __ATOMIC_SEQ_CST),
	     __atomic_load_n(&g->head->asleep, __ATOMIC_SEQ_CST),
	     __atomic_load_n(&g->head->alive, __ATOMIC_SEQ_CST),
	     rig_readable(g->bell) ? "rung and not taken" : "not rung",
	     rig_readable(g->sock) ? "has something" : "quiet");
}

/*
 * Present: the window polls its listener, the guest's socket and the bell; else the
 * listener alone. Boards of another process cannot be asked.
 */
void rig_show(void)
{
	struct window_stats st;
	unsigned int i;

	for (i = 0; i < RIG_BOARDS; i++) {
		if (rig.window[i]) {
			st = rig_stats(i);
			STEP("window %u: guest %s, %" PRIu64 " came; writes %" PRIu64
			     ", reads %" PRIu64 ", notes %" PRIu64 ", doorbells %"
			     PRIu64 ", refused %" PRIu64 ", bad %" PRIu64
			     ", sleeps %" PRIu64, i,
			     st.present ? "present" : "gone", st.guests, st.writes,
			     st.reads, st.notes, st.doorbells, st.refused, st.bad,
			     st.sleeps);
		}
		if (rig.guest[i].bar)
			rig_show_guest(i);
	}
}

/* ---- a guest: QEMU's part ---- */

int rig_dial(unsigned int i)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(at.sun_path, rig_path(i, "card"));
	EXPECT_EQ(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

bool rig_hear(int sock, int64_t *number, int *fd)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	uint8_t b[8];
	int n = 1, i;

	if (poll(&p, 1, RIG_LIMIT_MS) != 1) {
		rig_show();
		EXPECT(!"a message came, or the end");
	}
	*fd = -1;
	if (os_receive(sock, b, sizeof(b), fd, &n) != sizeof(b))
		return false;
	if (!n)
		*fd = -1;
	*number = 0;
	for (i = 8; i--;)
		*number = (int64_t)((uint64_t)*number << 8 | b[i]);
	return true;
}

static void rig_hear_all(struct rig_guest *g)
{
	int64_t n;
	int fd, i;

	EXPECT(rig_hear(g->sock, &n, &fd) && n == 0 && fd < 0);
	EXPECT(rig_hear(g->sock, &n, &fd) && n == 1 && fd < 0);
	EXPECT(rig_hear(g->sock, &n, &g->shm) && n == -1 && g->shm >= 0);
	for (i = 0; i < FL_WINDOW_VECTORS; i++) {
		EXPECT(rig_hear(g->sock, &n, &fd) && n == 0 && fd >= 0);
		if (i == FL_WINDOW_LOOK)
			g->bell = fd;
		else
			close(fd);
	}
	for (i = 0; i < FL_WINDOW_VECTORS; i++)
		EXPECT(rig_hear(g->sock, &n, &g->vector[i]) && n == 1 &&
		       g->vector[i] >= 0);
}

void rig_ram(struct rig_guest *g, unsigned int i)
{
	int fd = open(rig_path(i, "ram"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	EXPECT(fd >= 0);
	EXPECT_EQ(ftruncate(fd, RIG_RAM), 0);
	g->ram = mmap(NULL, RIG_RAM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(g->ram != MAP_FAILED);
	close(fd);
}

/* Guests that ever came; boards of another process cannot be asked. */
static uint64_t rig_guests(unsigned int i)
{
	return rig.window[i] ? rig_stats(i).guests : 0;
}

struct rig_guest *rig_connect(unsigned int i)
{
	struct rig_guest *g = &rig.guest[i];
	uint64_t guests = rig_guests(i);

	memset(g, 0, sizeof(*g));
	g->sock = rig_dial(i);
	rig_hear_all(g);
	g->bar = mmap(NULL, FL_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		      g->shm, 0);
	EXPECT(g->bar != MAP_FAILED);
	g->head = (struct fl_window_head *)g->bar;
	RIG_UNTIL(!rig.window[i] || rig_guests(i) > guests);
	rig_ram(g, i);
	return g;
}

void rig_forget(struct rig_guest *g)
{
	int i;

	if (!g->bar)
		return;
	if (g->sock >= 0)
		close(g->sock);
	close(g->shm);
	close(g->bell);
	for (i = 0; i < FL_WINDOW_VECTORS; i++)
		close(g->vector[i]);
	munmap(g->bar, FL_WINDOW_BYTES);
	if (g->ram)
		munmap(g->ram, RIG_RAM);
	memset(g, 0, sizeof(*g));
}

void rig_hang_up(unsigned int i)
{
	rig_forget(&rig.guest[i]);
	RIG_UNTIL(!rig_stats(i).present);
}

void rig_pair(unsigned int i, unsigned int k)
{
	struct rig_guest *g = &rig.guest[i], *h = &rig.guest[k];

	rig_command(g, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CONNECT,
					   .object = g->qp, .a = k,
					   .b = h->qp });
	rig_command(h, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CONNECT,
					   .object = h->qp, .a = i,
					   .b = g->qp });
}

void rig_transfer(unsigned int i, unsigned int k, uint64_t seed)
{
	struct rig_guest *g = &rig.guest[i], *h = &rig.guest[k];
	struct fl_cqe e;

	rig_fill(g, seed);
	memset(rig_data(h), 0, RIG_PAGES * 4096);
	rig_post(g, h, FL_OP_WRITE, 0, RIG_PAGES * 4096, (uint32_t)seed);
	e = rig_wait(g);
	EXPECT_EQ(e.status, FL_ST_OK);
	EXPECT_EQ(e.length, RIG_PAGES * 4096);
	EXPECT_MEM(rig_data(h), rig_data(g), RIG_PAGES * 4096);
}

/* ---- boards ---- */

static void rig_changed(void *arg)
{
	atomic_fetch_add((atomic_uint *)arg, 1);
}

void rig_open_window(unsigned int i)
{
	struct window_config cfg = {
		.board = rig.board[i], .socket = rig_path(i, "card"),
		.ram = rig_path(i, "ram"), .changed = rig_changed,
		.arg = &rig.changes,
	};
	int err;

	rig.window[i] = window_create(&cfg, &err);
	EXPECT_EQ(err, 0);
	EXPECT(rig.window[i]);
}

void rig_boards(unsigned int n, uint64_t timeout_ns)
{
	struct trace_config tc = { .threads = true };
	struct sim_config sc = { .mode = SIM_THREADS, .seed = test_seed() };
	unsigned int i, k;
	int err;

	memset(&rig, 0, sizeof(rig));
	strcpy(rig.dir, "/tmp/faultline-window-XXXXXX");
	EXPECT(mkdtemp(rig.dir));
	timing_defaults(&rig.timing);
	rig.timing.v[T_WALL_TIMEOUT] = timeout_ns;
	rig.trace = trace_create(&tc);
	sc.trace = rig.trace;
	rig.sim = sim_create(&sc);
	rig.fabric = fabric_create(&(struct fabric_config){
		.sim = rig.sim, .trace = rig.trace, .timing = &rig.timing });
	for (i = 0; i < n; i++) {
		struct board_config bc = {
			.name = "b", .id = (uint8_t)i, .sim = rig.sim,
			.fabric = rig.fabric, .trace = rig.trace,
			.timing = &rig.timing,
		};

		rig.board[i] = board_create(&bc, &err);
		EXPECT(rig.board[i]);
		for (k = 0; k < i; k++)
			EXPECT_EQ(fabric_link(rig.fabric, (uint8_t)k,
					      (uint8_t)i), 0);
	}
}

void rig_end(void)
{
	unsigned int i;

	for (i = 0; i < RIG_BOARDS; i++) {
		if (rig.window[i])
			window_destroy(rig.window[i]);
		rig_forget(&rig.guest[i]);
	}
	for (i = 0; i < RIG_BOARDS && rig.board[i]; i++) {
		EXPECT(!board_check(rig.board[i]));
		EXPECT(!board_busy(rig.board[i]));
	}
	EXPECT(fabric_idle(rig.fabric));
	sim_stop(rig.sim);
	for (i = 0; i < RIG_BOARDS; i++) {
		board_destroy(rig.board[i]);
		unlink(rig_path(i, "ram"));
		EXPECT(access(rig_path(i, "card"), F_OK));
	}
	sim_destroy(rig.sim);
	fabric_destroy(rig.fabric);
	trace_destroy(rig.trace);
	EXPECT_EQ(rmdir(rig.dir), 0);
}

void rig_start(unsigned int n, uint64_t timeout_ns)
{
	unsigned int i;

	rig_boards(n, timeout_ns);
	for (i = 0; i < n; i++) {
		rig_open_window(i);
		rig_connect(i);
		rig_set_up(&rig.guest[i]);
	}
}
