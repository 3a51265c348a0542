// SPDX-License-Identifier: BSD-2-Clause
/* reproduce_netvm.c - NetVM on Myrinet: what its abstract says of WRITEs and notifications. */
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"
#include "sim/timing.h"
#include "tools/faultline/reproduce.h"

#define BEGIN(more)						\
	"profile myrinet\n" more				\
	"board a\nboard b\nlink a b\nprocess p on a\nprocess q on b\n" \
	"buffer src in p 64K fill=random\nbuffer dst in q 64K warm\n"	\
	"region src\nregion dst\nconnect p q as c depth=64\ncounter n in q\n" \
	"post first: write c src -> dst notify=n\nwait first by=polling\nawait n >= 1\n"

/* A WRITE of so many bytes whose pages are all there, from the post to its last byte. */
static int netvm_arrival(const char *begin, int bytes, double *model)
{
	char text[1200];

	snprintf(text, sizeof(text),
		 "%spost w: write c src -> dst %d\nwait w by=polling\n"
		 "expect status w ok\nprint arrival w\n", begin, bytes);
	return reproduce_print(text, "w arrival_ns", model);
}

int reproduce_netvm_write(int bytes, double *model)
{
	return netvm_arrival(BEGIN("policy netvm\n"), bytes, model);
}

/* What the look-up and the lock add to what is pinned once and for all, in per cent. */
int reproduce_netvm_pinned(int bytes, double *model)
{
	double pinned, own;

	if (netvm_arrival(BEGIN("set nv.lock = 0\nsystem pinned like=netvm before=pin\n"
				"policy pinned\n"), bytes, &pinned) ||
	    reproduce_netvm_write(bytes, &own))
		return 1;
	*model = 100 * (own / pinned - 1);
	return 0;
}

/* MB/s of many messages, as many at a time as there are. */
#define MESSAGES 32
int reproduce_netvm_rate(int unused, double *model)
{
	char text[4000];
	size_t n;
	int i;

	(void)unused;
	n = (size_t)snprintf(text, sizeof(text), "%s", BEGIN("policy netvm\n"));
	for (i = 0; i < MESSAGES; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "post w%d: write c src -> dst\n", i);
	snprintf(text + n, sizeof(text) - n,
		 "wait all by=polling\nexpect data dst = src\nprint time w%d\n",
		 MESSAGES - 1);
	if (reproduce_print(text, "time_ns", model))
		return 1;
	*model = MESSAGES * 65536.0 * 1000 / *model;
	return 0;
}

/*
 * From the last byte of a WRITE until its receiver knows, by one of the ways of `await`, which
 * begins so many ns after the post.
 */
static int netvm_noticed(const char *by, int after_ns, double *model)
{
	double noticed, arrival;
	char text[1400];

	snprintf(text, sizeof(text),
		 "%sawait n >= 1 by=%s\npost w: write c src -> dst 8 notify=n\nsleep %dns\n"
		 "await n >= 2 by=%s\nwait w by=polling\nexpect status w ok\n"
		 "print noticed w n\nprint arrival w\n",
		 BEGIN("policy netvm\n"), by, after_ns, by);
	if (reproduce_print(text, "w noticed_ns", &noticed) ||
	    reproduce_print(text, "w arrival_ns", &arrival))
		return 1;
	*model = noticed - arrival;
	return 0;
}

static const char *const ways[] = { "busy", "sleep", "handler", "queue", "semaphore" };

int reproduce_netvm_notice(int way, double *model)
{
	return netvm_noticed(ways[way], 0, model);
}

/* The mean over times at which waiting begins: who looks again and again looks in between. */
#define PHASES		8
#define PHASE_NS	50
static int netvm_noticed_mean(const char *by, double *model)
{
	double one;
	int i;

	*model = 0;
	for (i = 0; i < PHASES; i++) {
		if (netvm_noticed(by, i * PHASE_NS, &one))
			return 1;
		*model += one / PHASES;
	}
	return 0;
}

/* What an operation adds to the waiting that it is made of, in per cent. */
static int netvm_adds(const char *operation, const char *waiting, double *model)
{
	double with, alone;

	if (netvm_noticed_mean(operation, &with) || netvm_noticed_mean(waiting, &alone))
		return 1;
	*model = 100 * (with / alone - 1);
	return 0;
}

int reproduce_netvm_ops(int way, double *model)
{
	char busy[40];

	snprintf(busy, sizeof(busy), "%s-busy", ways[way]);
	return netvm_adds(busy, "busy", model);
}

int reproduce_netvm_ops_asleep(int way, double *model)
{
	return netvm_adds(ways[way], "sleep", model);
}

/*
 * Is the lock cheaper than pinning and unpinning a page, if so many of a thousand are found in
 * a cache of pinned pages? By arithmetic.
 */
int reproduce_netvm_hits(int hits, double *model)
{
	struct timing_profile t;
	char error[200];

	if (timing_load(&t, "myrinet", error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	*model = t.v[T_NV_LOCK] * 1000 <=
		 (1000 - (uint64_t)hits) * (t.v[T_MM_PIN] + t.v[T_MM_UNPIN]);
	return 0;
}
