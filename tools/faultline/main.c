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

static const struct command *main_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	return NULL;
}

static int main_unknown(const char *name)
{
	const char *list[COMMANDS + 1] = { NULL }, *near;
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		list[i] = commands[i]->name;
	near = word_nearest(name, list);
	fprintf(stderr, "faultline: unknown %s '%s'",
		name[0] == '-' ? "option" : "subcommand", name);
	if (near)
		fprintf(stderr, "; did you mean '%s'?", near);
	fputs(" (see: faultline --help)\n", stderr);
	return 2;
}

/* "help" alone tells of all, "help send" is "send --help". */
static int main_run(int argc, char **argv)
{
	static char help[] = "--help";
	char *only[] = { help, NULL };
	const struct command *c;

	if (argc < 2) {
		print_help(stderr);
		return 2;
	}
	if (!strcmp(argv[1], help) || (!strcmp(argv[1], "help") && argc == 2)) {
		print_help(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "help")) {
		c = main_command(argv[2]);
		return c ? c->run(c, 1, only) : main_unknown(argv[2]);
	}
	c = main_command(argv[1]);
	return c ? c->run(c, argc - 2, argv + 2) : main_unknown(argv[1]);
}
int main(int argc, char **argv)
{
	streams_begin();
	return streams_end("faultline", main_run(argc, argv));
}
