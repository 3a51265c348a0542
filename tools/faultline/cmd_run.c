// SPDX-License-Identifier: BSD-2-Clause
/* faultline run FILE.fl */
#include <stdio.h>
#include <unistd.h>

#include "tools/faultline/options.h"
#include "tools/scenario/runner.h"
#include "tools/scenario/words.h"

enum { OWN_VERBOSE, OWN_LANGUAGE, OWN_CHECK, OWN_BOOT };

#define BOOT	"tools/vqfdb/run"
#define JOB	"tools/vqfdb/scenario.job"

/* Where it would be missed, deep in a run, the message would be of no help. */
static int take_guests(const struct command *c, struct options *o)
{
	o->cfg.guest_script = o->own[OWN_BOOT] ? o->own[OWN_BOOT] : BOOT;
	o->cfg.guest_job = JOB;
	if (!access(o->cfg.guest_script, X_OK) && !access(JOB, R_OK))
		return 0;
	return options_wrong(c, "--boot", o->cfg.guest_script, "a program that "
			     "can be run, here where " JOB " is");
}

static int cmd_run_run(const struct command *c, int argc, char **argv)
{
	struct runner_report report;
	struct scenario *s;
	struct options o;
	int err = options_parse(c, argc, argv, &o);

	if (err)
		return err == 1 ? 0 : err;
	if (o.own[OWN_LANGUAGE]) {
		scenario_language(stdout);
		return 0;
	}
	if (!o.count) {
		fputs("faultline run: something is missing; wanted: faultline "
		"run [OPTION...] FILE.fl\n",
		      stderr);
		return 2;
	}
	s = scenario_load(o.args[0], stderr);
	if (!s)
		return 2;
	if (o.own[OWN_CHECK]) {
		printf("%s: %d statement%s, no mistakes\n", o.args[0], s->count,
		       word_plural((uint64_t)s->count));
		scenario_free(s);
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);	/* whoever waits sees progress */
	err = o.vm ? take_guests(c, &o) : 0;
	if (!err)
		err = options_open_outputs(c, &o);
	if (err) {
		scenario_free(s);
		return err;
	}
	err = scenario_run(s, &o.cfg, stdout, o.own[OWN_VERBOSE] != NULL,
			   &report);
	if (options_close_outputs(c, &o) && !err)
		err = 1;
	if (err != 2)
		printf("%s: %s: %u statement%s, %u expectation%s, %u failed; "
		"seed %llu, %llu ns, %llu event%s\n",
		       o.args[0], err ? "FAILED" : "passed", report.statements,
		       word_plural(report.statements),
		       report.expectations,
		       word_plural(report.expectations), report.failures,
		       (unsigned long long)o.cfg.seed,
		       (unsigned long long)report.time_ns,
		       (unsigned long long)report.events,
		       word_plural(report.events));
	scenario_free(s);
	return err;
}

const struct command command_run = {
	.name = "run",
	.arguments = "FILE.fl",
	.text = "run a scenario; exit status 0 only if every expectation "
	"holds\n"
		"In mode processes each process of the scenario is a forked "
		"one that attaches to\n"
		"its board over the board's socket; boards and wires are in "
		"this one.\n"
		"In mode vm each board with processes has a Linux in QEMU, and "
		"its processes are\n"
		"there (once before: make guest).\n"
		"The language is described in book/scenario.adoc.",
	.common = OPT_ALL,
	.least = 0,
	.most = 1,
	.own = { [OWN_VERBOSE] = { "--verbose", NULL,
				   "print every statement as it is done" },
		 [OWN_LANGUAGE] = { "--language", NULL,
				    "print the statements of the language" },
		 [OWN_CHECK] = { "--check", NULL,
				 "read the file, run nothing" },
		 [OWN_BOOT] = { "--boot", "PROGRAM",
				"mode vm: what boots a guest (default " BOOT
				")" } },
	.run = cmd_run_run,
};
