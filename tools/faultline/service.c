// SPDX-License-Identifier: BSD-2-Clause
#include "tools/faultline/service.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/scenario/testbed.h"

int service_take_udp(struct service *s, const char *text)
{
	char spec[100], error[300];
	size_t n;

	for (; text && *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		snprintf(spec, sizeof(spec), "%.*s", (int)n, text);
		snprintf(error, sizeof(error), "at most %u links",
			 SERVICE_UDP_LINKS);
		if (s->links == SERVICE_UDP_LINKS || n >= sizeof(spec) ||
		    fabric_udp_parse(spec, &s->udp[s->links], error,
				     sizeof(error))) {
			fprintf(stderr, "faultline %s: --udp '%s': %s\n",
				s->c->name, spec, error);
			return 2;
		}
		s->links++;
	}
	return 0;
}

void service_be_patient(struct service *s)
{
	const char *const *set = s->o->sets;
	unsigned int i = 0;

	/* The user's own come after, and so have the last word. */
	s->sets[i++] = TESTBED_PATIENCE;
	while (*set)
		s->sets[i++] = *set++;
	s->sets[i] = NULL;
	s->o->cfg.sets = s->sets;
}

int service_link_udp(struct service *s, struct testbed *w)
{
	unsigned int i;
	int err;

	for (i = 0; i < s->links; i++) {
		err = fabric_udp(testbed_fabric(w), &s->udp[i]);
		if (!err)
			continue;
		fprintf(stderr, "faultline %s: --udp, link %u: %s\n",
			s->c->name, i + 1,
			err == -EEXIST ? "a board of this process or another "
			"link has that node (see --first-node)" :
			err == -ERANGE ? "boards that have a link are nodes "
			"0 to 15 (see --first-node)" :
			strerror(-err));
		return 1;
	}
	return 0;
}

bool service_said(struct service *s)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	snprintf(s->problem, sizeof(s->problem), "cannot write to standard "
		 "output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
	return false;
}

void service_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

int service_run(struct service *s, const sigset_t *set,
		void (*body)(struct testbed *w, void *arg), void *arg)
{
	char error[300];
	struct testbed *w;
	int err = options_open_outputs(s->c, s->o);

	if (err)
		return err;
	/* All threads inherit it: only the scenario thread takes these. */
	pthread_sigmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
	s->o->cfg.strangers = true;
	w = testbed_create(&s->o->cfg, error, sizeof(error));
	if (!w) {
		fprintf(stderr, "faultline %s: %s\n", s->c->name, error);
		return 1;
	}
	err = testbed_run(w, body, arg);
	if (err && !s->problem[0])
		snprintf(s->problem, sizeof(s->problem), "%s",
			 testbed_problem(w) ? testbed_problem(w) :
			 strerror(-err));
	err = s->failed;
	if (s->problem[0]) {
		fprintf(stderr, "faultline %s: %s\n", s->c->name, s->problem);
		err = 1;
	}
	testbed_destroy(w);
	return options_close_outputs(s->c, s->o) ? 1 : err;
}
