// SPDX-License-Identifier: BSD-2-Clause
/* faultline send FILE: the main job, told as a story. */
#include <stdio.h>
#include <string.h>

#include "tools/faultline/job.h"
#include "tools/faultline/options.h"
#include "tools/scenario/words.h"

enum { OWN_WARM, OWN_COLD_SOURCE, OWN_UDP };

static void tell_start(const struct job *j, const char *mode)
{
	const struct testbed_config *c = &j->cfg;
	char resolve[WORD_ROOM];

	word_resolve_name((int)c->resolve, c->resolve_number, resolve);
	printf("profile %s, seed %llu, mode %s, policy %s, resolve %s\n",
	       c->profile ? c->profile : "ideal", (unsigned long long)c->seed,
	       mode,
	       options_system_name(c->system), resolve);
	printf("  1. boards a and b are joined by a link; process p runs on "
	"a, q on b\n");
	printf("  2. p maps %s: %llu byte%s, %llu page%s, %s\n", j->file->path,
	       (unsigned long long)j->file->bytes,
	       word_plural(j->file->bytes),
	       (unsigned long long)j->file->pages,
	       word_plural(j->file->pages),
	       j->cold_source ? "left on disk" : "all resident");
	printf("  3. q has a buffer of that size, %s\n",
	       j->warm ? "all resident" : "none of its pages there");
}

static void tell_end(const struct job *j, const struct job_result *r, int n)
{
	char a[32], b[32];

	printf("%3d. %u work request%s, %llu block%s: %s from the first post "
	"to the last completion\n",
	       n, r->requests, word_plural(r->requests),
	       (unsigned long long)r->blocks, word_plural(r->blocks),
	       job_time(r->transfer_ns, a));
	if (r->again)
		printf("     %u time%s a page was missing at once: the queue pair was "
		       "resumed, and the rest sent again\n",
		       r->again, word_plural(r->again));
	printf("%3d. with registering and paging in: %s, %.0f MB/s\n", n + 1,
	       job_time(r->total_ns, b),
	       r->total_ns ? (double)j->file->bytes * 1e3 /
			     (double)r->total_ns : 0.0);
	printf("%3d. faults %llu (held %llu), pages brought in %llu, blocks "
	"refused %llu, sent again %llu, bytes on the wire %llu\n",
	       n + 2, (unsigned long long)r->faults,
	       (unsigned long long)r->stalls,
	       (unsigned long long)r->pages_in,
	       (unsigned long long)r->refused, (unsigned long long)r->resent,
	       (unsigned long long)r->wire_bytes);
	printf("%3d. SHA-256 of the file      %s\n", n + 3, j->file->sha);
	printf("     SHA-256 of what came   %s\n", r->sha);
}

static int cmd_send_run(const struct command *c, int argc, char **argv)
{
	struct job_file file;
	struct job_result r;
	struct options o;
	struct job j;
	int n, err = options_parse(c, argc, argv, &o);

	if (err)
		return err == 1 ? 0 : err;
	if (job_file_open(&file, o.args[0], "faultline send"))
		return 1;
	if (!file.bytes) {
		printf("%s is empty: an RDMA WRITE moves at least 1 byte "
		"(length 0 is refused with EINVAL), so there is nothing to "
		"send; both sides hold the same 0 bytes\n",
		       file.path);
		return 0;
	}
	if (o.own[OWN_UDP] && (!o.cfg.processes || o.trace)) {
		fprintf(stderr, "faultline send: --udp goes with --mode "
			"processes, and without --trace (two processes write "
			"two traces: faultline board --trace)\n");
		return 2;
	}
	if (o.own[OWN_UDP])
		err = options_udp_fits(c, &o);
	err = err ? err : options_open_outputs(c, &o);
	if (err)
		return err;
	j = (struct job){ .file = &file,
			  .cfg = o.cfg,
			  .warm = o.own[OWN_WARM] != NULL,
			  .cold_source = o.own[OWN_COLD_SOURCE] != NULL,
			  .udp = o.own[OWN_UDP] != NULL };
	tell_start(&j, o.cfg.processes ? "processes (wall time)" :
		       j.cfg.mode == SIM_LOCKSTEP ? "lockstep (virtual time)" :
						    "threads (wall time)");
	/* Nothing is done that cannot be told; and a child must not inherit it. */
	if (fflush(stdout))
		return 1;
	err = job_run(&j, &r);
	n = r.complete ? job_story(stdout, &r.trace, 4, "a", "b") : 4;
	if (n < 0) {
		snprintf(r.problem, sizeof(r.problem), "the story cannot be "
			 "told: %s", strerror(-n));
		err = n = 1;
	}
	if (!r.complete && r.trace.n)
		printf("     (too many events to tell one block's life; "
		"--trace OUT keeps them all)\n");
	if (!r.error && !r.status)
		tell_end(&j, &r, n);
	view_free(&r.trace);
	if (options_close_outputs(c, &o))
		err = 1;
	if (r.status)
		printf("the transfer ended with status %s\n",
		       word_status_name(r.status));
	if (r.problem[0])
		printf("something is wrong: %s\n", r.problem);
	printf(err ? "FAILED\n" : "the two are equal\n");
	return err;
}

const struct command command_send = {
	.name = "send",
	.arguments = "FILE",
	.text = "send FILE by RDMA WRITE from board a to board b, and tell "
	"what happened\n"
		"The destination's pages are not there, unless --warm is "
		"given. Exit status 0 when\n"
		"what arrived is equal by SHA-256. An empty FILE is "
		"explained, and is no error.",
	.common = OPT_ALL,
	.least = 1,
	.most = 1,
	.own = { [OWN_WARM] = { "--warm", NULL,
				"make the destination resident first" },
		 [OWN_COLD_SOURCE] = { "--cold-source", NULL,
				       "do not read the file into memory first"
				       },
		 [OWN_UDP] = { "--udp", NULL, "--mode processes: each board in "
			       "a process of its own, joined by UDP" } },
	.run = cmd_send_run,
};
