/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h - the command line of a subcommand: the common options, its own, and the
 * rest. What is wrong is said with what would be right; exit status 2.
 */
#ifndef FL_OPTIONS_H
#define FL_OPTIONS_H

#include "tools/scenario/testbed_config.h"

#define OPTIONS_SETS 32
#define OPTIONS_OWN 8

/* Which common options a subcommand has. */
enum {
	OPT_SEED = 1, OPT_MODE = 2, OPT_PROFILE = 4, OPT_POLICY = 8,
	OPT_RESOLVE = 16, OPT_TRACE = 32, OPT_SET = 64, OPT_ENGINE = 128,
	OPT_PCAP = 256, OPT_CACHE = 512, OPT_HOOK = 1024,
	OPT_ALL = 2047,
};

struct own_option {
	const char *name;	/* with -- */
	const char *value;	/* what to call its value; NULL: none */
	const char *text;
};

struct command {
	const char *name, *arguments, *text;
	unsigned int common;
	int least, most;	/* arguments that are not options */
	struct own_option own[OPTIONS_OWN];
	int (*run)(const struct command *c, int argc, char **argv);
};

struct options {
	struct testbed_config cfg;
	bool vm;		/* --mode vm (cfg.mode: threads) */
	const char *sets[OPTIONS_SETS + 1];
	const char *trace, *pcap;	/* paths, or NULL */
	const char *own[OPTIONS_OWN];	/* value, "" for a flag, NULL: not given */
	const char *args[64];
	int count;
};

/* 0: go on; 1: --help was answered, exit 0; 2: wrong, said so, exit 2. */
int options_parse(const struct command *c, int argc, char **argv,
		  struct options *o);
void options_help(const struct command *c, FILE *f);
/* Say that value of option is wrong, and what would be right: 2. */
int options_wrong(const struct command *c, const char *option,
		  const char *value, const char *right);
/* A number of the command's own options; not given: *value stays. 0 or 2. */
int options_number(const struct options *o, const struct command *c, int own,
		   uint64_t least, uint64_t most, uint64_t *value);
/* Of a run with a link over UDP: 0, or what to exit with when it has been said what is wrong. */
int options_udp_fits(const struct command *c, const struct options *o);
/*
 * Which of n boards have a link: "a:b,b:c" in names of the boards, NULL: all with
 * each other. link is called with two of them. 0, 1 a link cannot be made, or 2.
 */
int options_links(const struct command *c, const char *text, unsigned int n,
		  const char *(*name)(void *arg, unsigned int i),
		  int (*link)(void *arg, unsigned int i, unsigned int k),
		  void *arg);
/* Open o->trace and o->pcap for writing, into cfg; 0 or 2 after a message. */
int options_open_outputs(const struct command *c, struct options *o);
/* Close them again; 0, or 1 after a message when one could not be written. */
int options_close_outputs(const struct command *c, struct options *o);
/* "part", ... */
const char *options_system_name(enum fl_system p);
const char *options_engine_name(enum engine_kind e);

extern const struct command command_send, command_run, command_trace,
	command_demo, command_board, command_vm, command_equal,
	command_reproduce, command_systems, command_plans,
	command_contest, command_compare, command_with;

#endif
