// SPDX-License-Identifier: BSD-2-Clause
#include "rig/udp.h"

#define BYTES		(1u << 20)
#define PATIENCE_NS	100000000000ull	/* of an application: a test that hangs ends */

enum { T_NOTHING, T_READY, T_CONNECTED, T_DONE };

void site_end(struct site *s)
{
	if (!s->sim)
		return;
	if (s->process)
		host_process_exit(s->process);
	if (s->kernel)
		host_driver_remove(s->kernel);
	sim_stop(s->sim);
	if (s->kernel)
		host_destroy(s->kernel);
	if (s->board)
		board_destroy(s->board);
	fabric_destroy(s->fabric);	/* and its links */
	sim_destroy(s->sim);
	trace_destroy(s->trace);
	timing_free(&s->timing);
	memset(s, 0, sizeof(*s));
}

void udp_rig_need(bool good)
{
	if (!good)
		abort();
}

void site_fabric(struct site *s, uint8_t node, enum sim_mode mode,
		 uint64_t timeout_ns)
{
	struct trace_config tc = { .ring_records = 4096, .threads = true };
	struct sim_config sc = { .mode = mode, .drive = s->drive,
				 .seed = test_seed() + node };
	struct fabric_config fc = { .frames = s->frames };

	memset(s, 0, sizeof(*s));
	s->node = node;
	s->drive = sc.drive;
	s->frames = fc.frames;
	timing_defaults(&s->timing);
	if (timeout_ns)
		s->timing.v[T_WALL_TIMEOUT] = timeout_ns;
	tc.threads = mode == SIM_THREADS;
	sc.trace = fc.trace = s->trace = trace_create(&tc);
	fc.sim = s->sim = sim_create(&sc);
	udp_rig_need(s->trace && s->sim);
	fc.timing = &s->timing;
	s->fabric = fabric_create(&fc);
	udp_rig_need(s->fabric != NULL);
}

void site_board(struct site *s)
{
	struct host_driver_params driver = { .system = FL_SYSTEM_PART,
					     .resolve = FL_IOC_RESOLVE_BLOCK };
	struct board_config bc = { .name = "site", .id = s->node, .sim = s->sim,
				   .fabric = s->fabric, .trace = s->trace,
				   .timing = &s->timing };
	struct host_config hc = { 0 };
	int error;

	s->board = hc.board = board_create(&bc, &error);
	udp_rig_need(s->board != NULL);
	s->kernel = host_create(&hc, &error);
	udp_rig_need(s->kernel && !host_driver_probe(s->kernel, &driver));
	s->process = host_process_create(s->kernel, "app", &error);
	udp_rig_need(s->process != NULL);
}

uint16_t free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	udp_rig_need(fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a)) &&
		     !getsockname(fd, (struct sockaddr *)&a, &len));
	close(fd);
	return ntohs(a.sin_port);
}

/* ---- an application ---- */

static uint8_t udp_rig_pattern(const struct talk *t, int side, uint32_t i)
{
	return (uint8_t)((i * 2654435761u >> 13) + t->salt + 77 * side);
}

bool app_make(struct app *a)
{
	uint32_t i;
	bool good = !fl_open(NULL, &a->dev) && !fl_alloc_pd(a->dev, &a->pd) &&
		    !fl_create_cq(a->dev, 64, &a->cq) &&
		    !fl_create_qp(a->pd, a->cq, 64, &a->qp) &&
		    !fl_qp_address(a->qp, &a->me->at);

	a->source = good ? fl_alloc(a->dev, BYTES) : NULL;
	a->destination = good ? fl_alloc(a->dev, BYTES) : NULL;
	if (!a->source || !a->destination)
		return false;
	for (i = 0; i < BYTES; i++)
		a->source[i] = udp_rig_pattern(a->t, a->s->side, i);
	/* Both cold: one on the disk, one never touched. */
	if (fl_advise(a->dev, a->source, BYTES, FL_PAGEOUT) ||
	    fl_reg_mr(a->pd, a->source, BYTES, FL_REMOTE_READ,
		      &a->source_mr) ||
	    fl_reg_mr(a->pd, a->destination, BYTES,
		      FL_LOCAL_WRITE | FL_REMOTE_WRITE, &a->destination_mr))
		return false;
	a->me->source = (uintptr_t)a->source;
	a->me->source_key = fl_mr_key(a->source_mr);
	a->me->destination = (uintptr_t)a->destination;
	a->me->destination_key = fl_mr_key(a->destination_mr);
	return true;
}

static bool wait_step(struct talk *t, struct told *who, int step)
{
	while (atomic_load(&who->step) < step && !atomic_load(&t->failed))
		sim_sleep(200000);
	return atomic_load(&who->step) >= step;
}

int udp_rig_complete(struct app *a)
{
	struct fl_completion c;
	int n = fl_wait(a->cq, &c, 1, PATIENCE_NS);

	if (n < 0 || c.status)
		fprintf(stderr, "# a request ended: %s\n", n < 0 ?
			fl_strerror(n) : fl_status_string(c.status));
	return n < 0 ? n : c.status;
}

static bool udp_rig_same(const struct talk *t, const uint8_t *mem, int side)
{
	uint32_t i;

	for (i = 0; i < BYTES; i++)
		if (mem[i] != udp_rig_pattern(t, side, i))
			return false;
	return true;
}

/* The active side writes to the other, then reads from it. */
static void app_main(void *arg)
{
	struct site *s = arg;
	struct talk *t = s->talk;
	int other = 1 - s->side;
	struct app a = { .s = s, .t = t, .me = &t->side[s->side],
			 .you = &t->side[other] };

	WANT(t, app_make(&a));
	atomic_store(&a.me->step, T_READY);
	if (!wait_step(t, a.you, T_READY))
		goto close;
	WANT(t, !fl_connect(a.qp, &a.you->at));
	if (t->active == s->side) {
		/* A connection is good when both have made it. */
		WANT(t, wait_step(t, a.you, T_CONNECTED));
		WANT(t, !fl_post_write(a.qp, 1, a.source_mr, a.source, BYTES,
				       a.you->destination,
				       a.you->destination_key));
		WANT(t, udp_rig_complete(&a) == FL_ST_OK);
		WANT(t, !fl_post_read(a.qp, 2, a.destination_mr, a.destination,
				      BYTES, a.you->source,
				      a.you->source_key));
		WANT(t, udp_rig_complete(&a) == FL_ST_OK);
		WANT(t, udp_rig_same(t, a.destination, other));
		atomic_store(&a.me->step, T_DONE);
	} else {
		atomic_store(&a.me->step, T_CONNECTED);
		if (wait_step(t, a.you, T_DONE))
			WANT(t, udp_rig_same(t, a.destination, other));
	}
close:
	if (a.dev)
		WANT(t, !fl_close(a.dev));
}

void udp_rig_transfer(struct site *a, struct site *b, int active, uint8_t salt)
{
	struct talk t = { .salt = salt, .active = active };
	struct sim_thread *thread[2];

	STEP("side %d writes 1 MB and reads 1 MB, all pages cold", active);
	a->talk = b->talk = &t;
	a->side = 0;
	b->side = 1;
	thread[0] = host_thread_start(a->process, "app", app_main, a);
	thread[1] = host_thread_start(b->process, "app", app_main, b);
	udp_rig_need(thread[0] && thread[1]);
	udp_rig_need(sim_run(a->sim, 0, 0) == SIM_FINISHED);
	udp_rig_need(sim_run(b->sim, 0, 0) == SIM_FINISHED);
	sim_thread_join(thread[0]);
	sim_thread_join(thread[1]);
	EXPECT_STR(atomic_load(&t.failed) ? atomic_load(&t.failed) : "nothing",
		   "nothing");
}
