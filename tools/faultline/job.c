// SPDX-License-Identifier: BSD-2-Clause
#include "tools/faultline/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faultline/entries.h"
#include "host/host.h"
#include "sim/sim.h"
#include "tools/faultline/far_board.h"
#include "tools/faultline/sha256.h"
#include "tools/scenario/words.h"
#include "tools/view/rows.h"
#include "tools/work/pair.h"

/* As many requests as all that may be sent are under way at once. */
#define REQUESTS	(JOB_BYTES_MAX / JOB_REQUEST_MAX)
/* A request that a missing page ends is best small: all of it is sent again. */
#define REQUEST_ABORT	65536u
/* Tries without progress, and the time between two of them, which doubles. */
#define TRIES		100u
#define AGAIN_NS	10000u
#define AGAIN_NS_MAX	10000000u
#define CHUNK		65536
#define FRAMES_LEAST	HOST_PAGES
#define WAIT_NS		3600000000000ull
/* Of each thread: there are few, and they wait for processes more than for memory. */
#define RECORDS_PROCESSES (1u << 20)

const char *job_time(uint64_t ns, char text[32])
{
	if (ns >= 10000000)
		snprintf(text, 32, "%.3f ms", (double)ns / 1e6);
	else
		snprintf(text, 32, "%.3f us", (double)ns / 1e3);
	return text;
}

static int hash_file(struct job_file *f, int fd)
{
	static const size_t room = CHUNK;
	char *buf = malloc(room);
	struct sha256 s;
	ssize_t n = buf ? 0 : -1;

	sha256_begin(&s);
	while (buf && (n = read(fd, buf, room)) > 0) {
		sha256_add(&s, buf, (size_t)n);
		f->bytes += (uint64_t)n;
	}
	sha256_end(&s, f->sha);
	f->pages = (f->bytes + HOST_PAGE - 1) / HOST_PAGE;
	free(buf);
	return n < 0 ? -(buf ? errno : ENOMEM) : 0;
}

int job_file_open(struct job_file *f, const char *path, const char *who)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	struct stat st;

	memset(f, 0, sizeof(*f));
	f->path = path;
	if (fd < 0 || fstat(fd, &st)) {
		err = -errno;
		fprintf(stderr, "%s: cannot read %s: %s\n", who, path,
			strerror(-err));
	} else if (!S_ISREG(st.st_mode)) {
		err = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
		fprintf(stderr, "%s: %s is %s; wanted: a regular file\n", who,
			path, S_ISDIR(st.st_mode) ? "a directory" :
						    "not a regular file");
	} else if ((uint64_t)st.st_size > JOB_BYTES_MAX) {
		err = -EFBIG;
		fprintf(stderr, "%s: %s has %lld bytes; wanted: at most %llu "
		"(1 GB)\n",
			who, path, (long long)st.st_size, JOB_BYTES_MAX);
	} else {
		err = hash_file(f, fd);
		if (err)
			fprintf(stderr, "%s: cannot read %s: %s\n", who, path,
				strerror(-err));
	}
	if (fd >= 0)
		close(fd);
	return err;
}

void job_file_zeros(struct job_file *f, uint64_t bytes)
{
	static const uint8_t zeros[HOST_PAGE];
	struct sha256 s;
	uint64_t at, n;

	*f = (struct job_file){ .bytes = bytes };
	f->pages = (bytes + HOST_PAGE - 1) / HOST_PAGE;
	sha256_begin(&s);
	for (at = 0; at < bytes; at += n) {
		n = bytes - at < HOST_PAGE ? bytes - at : HOST_PAGE;
		sha256_add(&s, zeros, n);
	}
	sha256_end(&s, f->sha);
}

/* ---- what the scenario thread does ---- */

struct job_state {
	const struct job *j;
	struct job_result *r;
	struct pair pair;
	struct testbed_buffer *src, *dst;
	struct testbed_connection *conn;
	struct testbed_work *work;
	uint32_t request_bytes;
	struct work_counts start;
};

/* Room for the whole file on each side, so that nothing is evicted. */
static uint64_t job_frames(const struct job_file *f)
{
	uint64_t frames = f->pages + 4096 / HOST_FRAMES;

	return frames < FRAMES_LEAST ? FRAMES_LEAST : frames;
}

static int set_up(struct job_state *s, struct testbed *w)
{
	const struct job_file *f = s->j->file;
	struct testbed_board_config cfg = { .frames = job_frames(f),
					  .contexts = s->j->contexts,
					  .block_bytes = s->j->block_bytes };
	const struct testbed_joining join = { .depth = 256 };
	struct testbed_board_config boards[2];
	struct pair_plan plan = { s->j->cfg.resolve, s->j->cfg.resolve_number };
	struct pair_plan plans[2] = { plan, plan };
	int err;

	boards[0] = boards[1] = cfg;
	err = pair_make(&s->pair, w, boards, plans);
	if (!err)
		err = testbed_buffer_add(s->pair.p, "src", f->path ? 0 : f->bytes,
					 f->path, &s->src);
	if (!err)
		err = testbed_buffer_add(s->pair.q, "dst", f->bytes, NULL, &s->dst);
	if (!err && !s->j->cold_source)
		err = testbed_buffer_touch(s->src, 0, 0, !f->path);
	if (!err && s->j->warm)
		err = testbed_buffer_touch(s->dst, 0, 0, true);
	if (!err)
		err = testbed_connect(s->pair.p, s->pair.q, "c", &join, &s->conn);
	return err;
}

/* Requests [at, end) of the job. */
static int job_post(struct job_state *s, unsigned int at, unsigned int end)
{
	uint64_t done, n;
	struct testbed_work *k;
	int err = 0;

	for (; at < end && !err; at++) {
		done = (uint64_t)at * s->request_bytes;
		n = s->j->file->bytes - done;
		if (n > s->request_bytes)
			n = s->request_bytes;
		k = &s->work[at];
		k->name = "w";
		k->opcode = FL_WRITE;
		k->conn = s->conn;
		k->local = s->src;
		k->remote = s->dst;
		k->local_va = (uint64_t)(uintptr_t)s->src->mem + done;
		k->remote_va = (uint64_t)(uintptr_t)s->dst->mem + done;
		k->lkey = s->src->key;
		k->rkey = s->dst->key;
		k->bytes = (uint32_t)n;
		err = testbed_post_leased(s->pair.w, k);
	}
	return err;
}

/* *failed: the first that was no success, or end. */
static int job_wait(struct job_state *s, unsigned int at, unsigned int end,
		    unsigned int *failed)
{
	int err = 0;

	*failed = end;
	for (; at < end && !err; at++) {
		err = testbed_wait(s->pair.w, &s->work[at], WAIT_NS, TESTBED_BOTH);
		if (!err && s->work[at].status && *failed == end)
			*failed = at;
	}
	return err;
}

/* The same again from the one that failed on, as long as its pages were missing. */
static int job_send(struct job_state *s, unsigned int at, unsigned int end)
{
	unsigned int failed, tries = 0;
	uint64_t pause = AGAIN_NS;
	int err;

	for (;; at = failed) {
		err = job_post(s, at, end);
		if (!err)
			err = job_wait(s, at, end, &failed);
		if (err || failed == end)
			return err;
		if (failed != at) {
			tries = 0;
			pause = AGAIN_NS;
		}
		s->r->status = s->work[failed].status;
		if (s->r->status != FL_ST_FAULT_FAST || ++tries == TRIES)
			return 0;
		s->r->status = 0;
		s->r->again++;
		sim_sleep(pause);
		pause = pause < AGAIN_NS_MAX ? 2 * pause : AGAIN_NS_MAX;
		err = testbed_resume(s->conn, 0);
		if (err)
			return err;
	}
}

/*
 * How large requests are, and how many of them are under way: what is registered for each
 * has to fit into the cache of pinned regions, where there is one.
 */
static int job_sizes(struct job_state *s, unsigned int *most)
{
	struct fl_cache_counters c;
	int err = 0;

	*most = (unsigned int)REQUESTS;
	s->request_bytes = s->j->cfg.system == FL_SYSTEM_ABORT ?
				   REQUEST_ABORT : JOB_REQUEST_MAX;
	if (testbed_leases(s->pair.p))
		err = testbed_cache(s->pair.p, &c);
	if (err || !testbed_leases(s->pair.p))
		return err;
	if (c.bound < s->request_bytes)
		s->request_bytes = c.bound < HOST_PAGE ? HOST_PAGE :
				   (uint32_t)(c.bound & ~(HOST_PAGE - 1));
	if (c.bound / s->request_bytes < *most)
		*most = (unsigned int)(c.bound / s->request_bytes);
	*most = *most ? *most : 1;
	return 0;
}

static int job_send_all(struct job_state *s)
{
	uint64_t bytes = s->j->file->bytes, begin;
	unsigned int n, at, end, most;
	int err = job_sizes(s, &most);

	if (err)
		return err;
	n = (unsigned int)((bytes + s->request_bytes - 1) / s->request_bytes);
	s->work = calloc(n ? n : 1, sizeof(*s->work));
	if (!s->work)
		return -ENOMEM;
	s->r->requests = n;
	begin = sim_now(testbed_sim(s->pair.w));
	for (at = 0; at < n && !err && !s->r->status; at = end) {
		end = n - at < most ? n : at + most;
		err = job_send(s, at, end);
		if (!at && !s->r->again)
			begin = s->work[0].post_ns;
	}
	if (!err && at)
		s->r->transfer_ns = s->work[at - 1].done_ns - begin;
	return err;
}

/* From the first registration to the last deregistration: what an application pays. */
static int job_transfer(struct job_state *s)
{
	struct testbed_process *nobody[2] = { NULL, NULL };
	uint64_t start = sim_now(testbed_sim(s->pair.w));
	int err = counts_read(&s->pair, nobody, &s->start);
	bool whole = !testbed_leases(s->pair.p);

	if (!err && whole)
		err = testbed_region_add(s->src, 0, 0, 0, 0);
	if (!err && whole)
		err = testbed_region_add(s->dst, 0, 0, FL_REMOTE_WRITE, 0);
	if (!err)
		err = job_send_all(s);
	if (!err && whole)
		err = testbed_region_remove(s->dst);
	if (!err && whole)
		err = testbed_region_remove(s->src);
	s->r->total_ns = sim_now(testbed_sim(s->pair.w)) - start;
	return err;
}

static int read_counts(struct job_state *s)
{
	struct testbed_process *both[2] = { s->pair.p, s->pair.q };
	struct job_result *r = s->r;
	struct fl_fault_counters c;
	int i, err = counts_read(&s->pair, both, &r->count);

	counts_since(&r->count, &s->start);
	for (i = 0; i < 2 && !err; i++) {
		err = testbed_counters(both[i], &c);
		r->stalls += c.stalls;
	}
	r->faults = r->count.faults;
	r->pages_in = r->count.pages_in;
	r->refused = r->count.refused;
	r->resent = r->count.resent;
	r->wire_bytes = r->count.wire_bytes;
	r->blocks = trace_count(testbed_trace(s->pair.w), EV_FW_BLOCK);
	return err;
}

static int hash_destination(struct job_state *s)
{
	uint64_t at = 0, n, bytes = s->j->file->bytes;
	uint8_t *buf = malloc(CHUNK);
	struct sha256 h;
	int err = buf ? 0 : -ENOMEM;

	sha256_begin(&h);
	for (; at < bytes && !err; at += n) {
		n = bytes - at < CHUNK ? bytes - at : CHUNK;
		err = testbed_buffer_read(s->dst, at, buf, n);
		sha256_add(&h, buf, n);
	}
	sha256_end(&h, s->r->sha);
	s->r->same = !err && !strcmp(s->r->sha, s->j->file->sha);
	free(buf);
	return err;
}

static void job_script(struct testbed *w, void *arg)
{
	struct job_state *s = arg;
	uint32_t n;

	s->r->error = set_up(s, w);
	if (!s->r->error)
		s->r->error = job_transfer(s);
	if (!s->r->error)
		s->r->error = read_counts(s);
	/* Of two programs, neither has all of it. */
	if (!s->j->udp) {
		s->r->trace.r = testbed_records(w, &n, &s->r->complete);
		s->r->trace.n = s->r->trace.r ? n : 0;
		if (!s->r->error && !s->r->trace.r)
			s->r->error = -ENOMEM;
	}
	if (!s->r->error)
		s->r->error = hash_destination(s);
	if (s->r->error)
		snprintf(s->r->problem, sizeof(s->r->problem), "%s %s",
			 word_errno_name(s->r->error), testbed_why(w));
}

int job_run(const struct job *j, struct job_result *r)
{
	struct job_state *s = calloc(1, sizeof(*s));
	struct testbed_config cfg = j->cfg;
	struct far_board far;
	int err;

	memset(r, 0, sizeof(*r));
	if (!s) {
		snprintf(r->problem, sizeof(r->problem), "no memory");
		return 1;
	}
	s->j = j;
	s->r = r;
	if (cfg.processes)
		cfg.trace_records = RECORDS_PROCESSES;
	if (j->udp) {
		if (far_board_start(&far, j, job_frames(j->file), r)) {
			free(s);
			return 1;
		}
		cfg.far = &far.far;
	}
	err = pair_run(&cfg, job_script, s, r->problem, sizeof(r->problem));
	if (j->udp)
		far_board_end(&far, r);
	if (err == -EDEADLK)
		return 1;	/* threads that can never end still use s */
	free(s->work);
	free(s);
	return err || r->error || r->status || !r->same;
}

/* ---- the story ---- */

int job_story(FILE *f, const struct view_trace *t, int number,
	      const char *home, const char *peer)
{
	static const char *const who[LANES] = {
		"application", "library", "driver", "SMMU", "card", "wire",
		"card", "SMMU", "driver"
	};
	struct rows rows;
	char label[80], time[32], side[64];
	const struct row *row;
	size_t i;
	int err;

	err = rows_make(&rows, t, 0, 0);
	if (err && err != -ENOENT)
		return err;
	if (err)
		return number;
	for (i = 0; i < rows.n; i++) {
		row = &rows.row[i];
		if (i == rows.n - 1 && rows.others.blocks)
			fprintf(f, "                    ... and %u more "
			"block%s: %u refused, %u sent again\n",
				rows.others.blocks,
				word_plural(rows.others.blocks),
				rows.others.refused, rows.others.resent);
		row_label(row, label, sizeof(label));
		if (row->from == row->to)
			snprintf(side, sizeof(side), "%s %s",
				 row->from == LANE_WIRE ? "" :
				 row->from > LANE_WIRE ? peer : home,
				 who[row->from]);
		else
			snprintf(side, sizeof(side), "%s %s -> %s %s",
				 row->from > LANE_WIRE ? peer : home,
				 who[row->from],
				 row->to > LANE_WIRE ? peer : home,
				 who[row->to]);
		fprintf(f, "%3d. %14s  %-34s %s\n", number++,
			job_time(row->time_ns, time), side, label);
	}
	rows_free(&rows);
	return number;
}
