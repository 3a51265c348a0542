/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job.h - the main job: two boards on one link, a file goes by RDMA WRITE from a
 * buffer of process p on board a to a buffer of process q on board b. `send` tells it as a story,
 * `demo` measures it several ways.
 */
#ifndef FL_JOB_H
#define FL_JOB_H

#include "tools/scenario/testbed_config.h"
#include "tools/view/view.h"
#include "tools/work/counts.h"

#define JOB_BYTES_MAX	(1ull << 30)
#define JOB_REQUEST_MAX	(16ull << 20)	/* bytes of one work request */

struct job_file {
	const char *path;	/* NULL: so many bytes of zeros, resident */
	uint64_t bytes, pages;
	char sha[65];
};

struct job {
	const struct job_file *file;
	struct testbed_config cfg;
	bool warm;		/* the destination is resident */
	bool cold_source;	/* the source is left on disk */
	uint32_t contexts, block_bytes;	/* of both boards; 0: as usual */
	bool udp;		/* processes: each board in one of its own, joined by UDP */
};

struct job_result {
	char sha[65];		/* of what arrived */
	bool same;
	unsigned int requests;
	unsigned int again;	/* times that the queue pair was resumed */
	int error, status;	/* of the first that failed */
	char problem[400];
	uint64_t total_ns;	/* register, page in, transfer, deregister */
	uint64_t transfer_ns;	/* first post to last completion */
	uint64_t faults, stalls, pages_in, refused, resent, blocks, wire_bytes;
	struct work_counts count;	/* not of a board that is joined by UDP */
	struct view_trace trace; /* of all events that the rings still hold */
	bool complete;		/* nothing was lost of it */
};

/* Size and SHA-256 of a regular file. 0, or -errno after a message with who in front. */
int job_file_open(struct job_file *f, const char *path, const char *who);
/* No file, but zeros: a job that is only measured. */
void job_file_zeros(struct job_file *f, uint64_t bytes);
/* 0, or 1: something is wrong (error, status, same, problem). view_free(&r->trace). */
int job_run(const struct job *j, struct job_result *r);

/* Print the rows of one block's life as numbered lines: the next number, or -ENOMEM. */
int job_story(FILE *f, const struct view_trace *t, int number,
	      const char *home, const char *peer);
/* "12.345 us", "3.210 ms" */
const char *job_time(uint64_t ns, char text[32]);

#endif
