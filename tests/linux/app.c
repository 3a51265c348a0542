// SPDX-License-Identifier: BSD-2-Clause
#include "tests/linux/app.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "faultline/entries.h"
#include "faultline/system_rows.h"
#include "lib/faultline.h"
#include "lib/os/os.h"
#include "tools/faultline/sha256.h"

#define DEPTH	256u
#define WAIT_NS	120000000000ull
#define PAGE	4096u
/* System abort: as in job.c, requests that are best small, and how often one is tried. */
#define REQUEST_ABORT	65536u
#define UNDER_WAY	64u
#define TRIES		1000u

/* What one tells the other. */
struct hello {
	struct fl_address address;
	uint64_t va;
	uint32_t rkey, error;
};

struct app {
	const struct app_job *j;
	struct app_result *r;
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_qp *qp;
	struct fl_mr *mr;
	uint8_t *mem;
	struct hello peer;
};

/* The first thing that went wrong. */
static int app_fail(struct app *a, const char *what, int error)
{
	if (error && !a->r->error) {
		a->r->error = error;
		snprintf(a->r->problem, sizeof(a->r->problem), "%s: %s", what,
			 what[0] == 'o' && *fl_open_error() ? fl_open_error() :
			 fl_strerror(error));
	}
	return error;
}

/* A serial line waits for ever when nobody is at its other end, so ask first. */
static int app_tell(struct app *a, const void *buf, size_t n)
{
	struct pollfd p = { .fd = a->j->peer, .events = POLLOUT };
	const char *from = buf;
	ssize_t r;

	while (n) {
		if (poll(&p, 1, -1) < 0 && errno == EINTR)
			continue;
		if (p.revents & (POLLHUP | POLLERR))
			break;
		r = write(a->j->peer, from, n);
		if (r < 0 && errno != EINTR)
			break;
		from += r > 0 ? r : 0;
		n -= r > 0 ? (size_t)r : 0;
	}
	return n ? app_fail(a, "telling the other application", -EPIPE) : 0;
}

static int app_hear(struct app *a, void *buf, size_t n)
{
	size_t got = 0;
	ssize_t r = 1;

	while (got < n && r) {
		r = read(a->j->peer, (char *)buf + got, n - got);
		if (r < 0 && errno != EINTR)
			break;
		got += r > 0 ? (size_t)r : 0;
	}
	return got == n ? 0 :
	       app_fail(a, "the other application has gone", -EPIPE);
}

/* What is registered fits. */
static int app_cache(struct app *a)
{
	const struct app_job *j = a->j;
	uint64_t bytes = j->bytes > FL_CACHE_BYTES - PAGE ? j->bytes + PAGE :
							    FL_CACHE_BYTES;

	if (fl_system_rows[j->system].before != FL_BEFORE_CACHE)
		return 0;
	return app_fail(a, "fl_set_cache", fl_set_cache(a->dev, bytes, true));
}

static int open_all(struct app *a)
{
	const struct app_job *j = a->j;

	if (app_fail(a, "opening the board", fl_open(j->device, &a->dev)))
		return -1;
	if (app_fail(a, "fl_set_policy",
		     fl_set_policy(a->dev, j->system, FL_RESOLVE_BLOCK)) ||
	    app_fail(a, "fl_set_resolve",
		     fl_set_resolve(a->dev, (enum fl_resolve)j->resolve, 0)) ||
	    app_cache(a) ||
	    app_fail(a, "fl_alloc_pd", fl_alloc_pd(a->dev, &a->pd)) ||
	    app_fail(a, "fl_create_cq", fl_create_cq(a->dev, DEPTH, &a->cq)) ||
	    app_fail(a, "fl_create_qp",
		     fl_create_qp(a->pd, a->cq, DEPTH, &a->qp)))
		return -1;
	return 0;
}

static void touch_all(struct app *a, bool write)
{
	volatile uint8_t *p = a->mem;
	uint64_t at;

	for (at = 0; at < a->j->bytes; at += PAGE)
		if (write)
			p[at] = 0;
		else
			(void)p[at];
}

/*
 * Each waits until the other has connected: a queue pair that is not connected
 * refuses what comes.
 */
static int connect_both(struct app *a)
{
	char done = 1;
	struct hello me = { .va = (uintptr_t)a->mem,
			    .rkey = a->mr ? fl_mr_key(a->mr) : 0 };

	if (app_fail(a, "fl_qp_address", fl_qp_address(a->qp, &me.address)) ||
	    app_tell(a, &me, sizeof(me)) ||
	    app_hear(a, &a->peer, sizeof(a->peer)) ||
	    app_fail(a, "fl_connect", fl_connect(a->qp, &a->peer.address)) ||
	    app_tell(a, &done, 1) || app_hear(a, &done, 1))
		return -1;
	return 0;
}

static void app_close_all(struct app *a)
{
	struct fl_fault_counters c;

	if (!a->dev)
		return;
	if (!a->r->error && !app_fail(a, "fl_query_counters",
				      fl_query_counters(a->dev, &c))) {
		a->r->faults = c.faults;
		a->r->stalls = c.stalls;
	}
	app_fail(a, "fl_close", fl_close(a->dev));
}

static int register_all(struct app *a, unsigned int access, bool for_write)
{
	const struct app_job *j = a->j;

	a->r->begin_ns = os_now_ns();
	if (app_fail(a, "fl_reg_mr", fl_reg_mr(a->pd, a->mem, j->bytes, access,
					       &a->mr)))
		return -1;
	/* What is sent the library brings in; what is received, only this side can. */
	if (for_write && fl_system_rows[j->system].before == FL_BEFORE_PREFAULT &&
	    app_fail(a, "fl_prefetch",
		     fl_prefetch(a->mr, a->mem, j->bytes, true)))
		return -1;
	return 0;
}

static int app_deregister(struct app *a)
{
	int error = app_fail(a, "fl_dereg_mr", fl_dereg_mr(a->mr));

	a->r->end_ns = os_now_ns();
	return error;
}

/* ---- the sender ---- */

/* Requests [at, end). */
static int app_post(struct app *a, uint32_t at, uint32_t end, uint32_t most)
{
	uint64_t done, n;
	int error;

	for (; at < end; at++) {
		done = (uint64_t)at * most;
		n = a->j->bytes - done < most ? a->j->bytes - done : most;
		error = fl_post_write(a->qp, at, a->mr, a->mem + done,
				      (uint32_t)n, a->peer.va + done,
				      a->peer.rkey);
		if (app_fail(a, "fl_post_write", error))
			return error;
	}
	return 0;
}

/* *failed: the first that was no success, or end. Completions come in order. */
static int app_wait(struct app *a, uint32_t at, uint32_t end, uint32_t *failed)
{
	struct fl_completion c;
	int n;

	*failed = end;
	for (; at < end; at++) {
		n = fl_wait(a->cq, &c, 1, WAIT_NS);
		if (n < 1)
			return app_fail(a, "fl_wait", n);
		if (!c.status || *failed != end)
			continue;
		*failed = at;
		a->r->status = c.status;
	}
	return 0;
}

static int app_send_some(struct app *a, uint32_t at, uint32_t end, uint32_t most)
{
	uint32_t failed, tries = 0;

	for (;; at = failed) {
		if (app_post(a, at, end, most) || app_wait(a, at, end, &failed))
			return -1;
		if (failed != at)
			tries = 0;
		if (failed == end || a->r->status != FL_ST_FAULT_FAST ||
		    ++tries == TRIES)
			return 0;
		/* Its pages are on their way. */
		a->r->status = 0;
		poll(NULL, 0, 1);
		if (app_fail(a, "fl_resume", fl_resume(a->qp)))
			return -1;
	}
}

static int app_send_all(struct app *a)
{
	uint32_t most = a->j->request_bytes, at, end, n;

	if (a->j->system == FL_SYSTEM_ABORT && most > REQUEST_ABORT)
		most = REQUEST_ABORT;
	n = (uint32_t)((a->j->bytes + most - 1) / most);
	a->r->requests = n;
	a->r->post_ns = os_now_ns();
	for (at = 0; at < n && !a->r->status; at = end) {
		end = n - at < UNDER_WAY ? n : at + UNDER_WAY;
		if (app_send_some(a, at, end, most))
			return -1;
	}
	a->r->done_ns = os_now_ns();
	return 0;
}

void app_send(const struct app_job *j, struct app_result *r)
{
	struct app a = { .j = j, .r = r };
	size_t bytes;

	if (!open_all(&a)) {
		a.mem = fl_map_file(a.dev, j->path, &bytes);
		if (!a.mem)
			app_fail(&a, "fl_map_file", -errno);
		else if (bytes != j->bytes)
			app_fail(&a, "the file has changed meanwhile", -EIO);
		else if (!j->cold_source)
			touch_all(&a, false);
		/* The receiver's region is there before ours is made. */
		if (!r->error && !connect_both(&a) &&
		    !register_all(&a, 0, false) && !app_send_all(&a))
			app_deregister(&a);
		app_tell(&a, &r->error, sizeof(r->error));
	}
	app_close_all(&a);
}

/* ---- the receiver ---- */

void app_receive(const struct app_job *j, struct app_result *r)
{
	struct app a = { .j = j, .r = r };
	struct sha256 h;
	int sent;

	if (!open_all(&a)) {
		a.mem = fl_alloc(a.dev, j->bytes);
		if (!a.mem)
			app_fail(&a, "fl_alloc", -errno);
		else if (j->warm)
			touch_all(&a, true);
		if (!r->error && !register_all(&a, FL_REMOTE_WRITE, true) &&
		    !connect_both(&a) && !app_hear(&a, &sent, sizeof(sent)) &&
		    !sent && !app_deregister(&a)) {
			sha256_begin(&h);
			sha256_add(&h, a.mem, j->bytes);
			sha256_end(&h, r->sha);
		}
	}
	app_close_all(&a);
}
