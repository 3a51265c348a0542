/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * service.h - a subcommand that serves boards to others until a signal ends it: its
 * testbed, its links over UDP, and how it says what went wrong.
 */
#ifndef FL_SERVICE_H
#define FL_SERVICE_H

#include <signal.h>

#include "fabric/fabric.h"
#include "tools/faultline/options.h"

struct testbed;

#define SERVICE_UDP_LINKS 8
#define SERVICE_UDP_HELP \
	{ "--udp", "LOCAL[:PORT]/PEER[:PORT]/NODES,...", \
	  "links over UDP to boards of other processes; NODES (N or N-M) are " \
	  "theirs" }

struct service {
	const struct command *c;
	struct options *o;
	struct fabric_udp_config udp[SERVICE_UDP_LINKS];
	unsigned int links;
	const char *sets[OPTIONS_SETS + 2];
	int failed;		/* said so; the exit status */
	char problem[300];	/* "": none */
};

/* The links of "SPEC[,SPEC...]", or NULL: none; 0, or 2 after a message. */
int service_take_udp(struct service *s, const char *text);
/* Wait longer for answers, unless the user's own --set says otherwise. */
void service_be_patient(struct service *s);
/* Make the links; 0, or 1 after a message. */
int service_link_udp(struct service *s, struct testbed *w);
/* All that was printed is on its way; false: not so, and why is in s->problem. */
bool service_said(struct service *s);
/* The signals that end a service: INT, TERM, HUP. */
void service_signals(sigset_t *set);
/*
 * From now on the program has SERVICE_END_S seconds to end. Then these paths are
 * unlinked, a sentence says so, and it ends with status 1, whatever holds it up.
 */
#define SERVICE_END_S	5u
#define SERVICE_PATHS	32u
void service_end_by(const char *const *path, unsigned int paths,
		    unsigned int seconds);
/*
 * Run body(testbed, arg) in a testbed of s->o->cfg. It may set s->failed and s->problem,
 * and take the signals of set by sigwait: no thread gets them otherwise. Returns
 * the exit status.
 */
int service_run(struct service *s, const sigset_t *set,
		void (*body)(struct testbed *w, void *arg), void *arg);

#endif
