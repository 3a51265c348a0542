/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp.h - two sites, joined by UDP. A site is all that a process has: a
 * scheduler in threads mode, a fabric, one board with kernel and driver, one
 * application. Both are in the test's process and share nothing but what
 * struct talk holds: what applications of two machines tell each other by mail.
 */
#ifndef FL_RIG_UDP_H
#define FL_RIG_UDP_H

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "board/board.h"
#include "fabric/fabric.h"
#include "faultline.h"
#include "faultline/entries.h"
#include "faultline/uapi.h"
#include "harness.h"
#include "host/host.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "trace/trace.h"

#define LOOPBACK	0x7F000001u

/* One side of what they tell each other; step: what holds by now. */
struct told {
	struct fl_address at;
	uint64_t destination, source;
	uint32_t destination_key, source_key;
	atomic_int step;
};

struct talk {
	struct told side[2];
	uint8_t salt;			/* of the patterns */
	int active;			/* which side posts */
	_Atomic(const char *) failed;
};

struct site {
	uint8_t node;
	enum sim_drive drive;		/* these two are kept by site_fabric() */
	uint32_t frames;
	struct timing_profile timing;
	struct trace *trace;
	struct sim *sim;
	struct fabric *fabric;
	struct board *board;
	struct host_kernel *kernel;
	struct host_process *process;
	struct talk *talk;
	int side;
};

#define WANT(t, cond)                                                         \
	do {                                                                  \
		const char *none_ = NULL;                                     \
		if (!(cond))                                                  \
			atomic_compare_exchange_strong(&(t)->failed, &none_,  \
						       #cond);                \
	} while (0)

void site_end(struct site *s);

static inline void site_cleanup(void *s)
{
	site_end(s);
}

/* What has no test of its own elsewhere may abort: it is set-up. */
void udp_rig_need(bool good);

void site_fabric(struct site *s, uint8_t node, enum sim_mode mode,
		 uint64_t timeout_ns);
void site_board(struct site *s);

/* A UDP port of the loopback that nobody has now. */
uint16_t free_port(void);

/* ---- an application ---- */

struct app {
	struct site *s;
	struct talk *t;
	struct told *me, *you;
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_qp *qp;
	uint8_t *source, *destination;
	struct fl_mr *source_mr, *destination_mr;
};

bool app_make(struct app *a);

/* The status of the one request, negative when the call failed. */
int udp_rig_complete(struct app *a);

/* One WRITE and one READ of 1 MB between the two, `active` posts. */
void udp_rig_transfer(struct site *a, struct site *b, int active, uint8_t salt);

#endif
