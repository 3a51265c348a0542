// SPDX-License-Identifier: BSD-2-Clause
/* The front door: faultline SUBCOMMAND ... */
#include <stdio.h>
#include <string.h>

#include "tools/faultline/options.h"
#include "tools/scenario/words.h"
#include "tools/streams.h"

static const struct command *const commands[] = {
	&command_send, &command_run, &command_trace, &command_demo,
	&command_board, &command_vm, &command_equal, &command_reproduce,
	&command_systems, &command_compare, &command_plans, &command_contest,
	&command_with
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *f)
{
	size_t i;

	fputs("usage: faultline SUBCOMMAND [OPTION...] [ARGUMENT...]\n\n"
	      "A testbed for page faults during remote DMA.\n\n", f);
	for (i = 0; i < COMMANDS; i++) {
		fprintf(f, "  %-7s %-14s %.*s\n", commands[i]->name,
			commands[i]->arguments,
			(int)strcspn(commands[i]->text, "\n"),
			commands[i]->text);
	}
	fputs("\nfaultline SUBCOMMAND --help tells more.\n", f);
}

static int main_run(int argc, char **argv)
{
	const char *list[COMMANDS + 1], *near;
	size_t i;

	if (argc > 1 && (!strcmp(argv[1], "--help") ||
			 !strcmp(argv[1], "help"))) {
		print_help(stdout);
		return 0;
	}
	if (argc < 2) {
		print_help(stderr);
		return 2;
	}
	for (i = 0; i < COMMANDS; i++) {
		list[i] = commands[i]->name;
		if (!strcmp(argv[1], list[i]))
			return commands[i]->run(commands[i], argc - 2,
						argv + 2);
	}
	list[i] = NULL;
	near = word_nearest(argv[1], list);
	fprintf(stderr, "faultline: unknown %s '%s'",
		argv[1][0] == '-' ? "option" : "subcommand", argv[1]);
	if (near)
		fprintf(stderr, "; did you mean '%s'?", near);
	fputs(" (see: faultline --help)\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	streams_begin();
	return streams_end("faultline", main_run(argc, argv));
}
