/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * app.h - the two applications of the main job as ordinary programs (send.c). All they use
 * of Faultline is faultline.h (and a clock); they tell each other their addresses
 * over a socket, and do not know what board they run on.
 */
#ifndef FL_APP_H
#define FL_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "faultline.h"

struct app_job {
	const char *device;	/* for fl_open() */
	const char *path;	/* sender: the file */
	uint64_t bytes;
	uint32_t request_bytes;	/* of one work request at most */
	bool warm, cold_source;
	enum fl_system system;
	int resolve;		/* enum fl_resolve */
	int peer;		/* socket to the other application */
};

struct app_result {
	int error;		/* negative errno of the call that failed */
	int status;		/* first completion that was no success */
	char problem[300];
	uint32_t requests;
	/* One clock for both. */
	uint64_t begin_ns, end_ns;	/* registration to deregistration */
	uint64_t post_ns, done_ns;	/* sender: first post, last completion */
	uint64_t faults, stalls;
	char sha[65];			/* receiver: of what came */
};

void app_send(const struct app_job *j, struct app_result *r);
void app_receive(const struct app_job *j, struct app_result *r);

#endif
