// SPDX-License-Identifier: BSD-2-Clause
/* faultline systems: the rows of the table of systems, and what their columns say. */
#include <stdio.h>
#include <string.h>

#include "tools/faultline/options.h"

/* As the rows of system.def have them, in small letters. */
#define WORD_BYTES 16

static const struct system_text {
	const char *tables, *before, *transport, *ir, *iw, *rr, *rw, *tells, *brings,
		*home, *text;
} texts[] = {
#define SYSTEM(name, tables, before, transport, ir, iw, rr, rw, tells, brings,	\
	       home, text)							\
	[FL_SYSTEM_##name] = { #tables, #before, #transport, #ir, #iw, #rr,	\
			       #rw, #tells, #brings, home, text },
#include "faultline/system.def"
};

static const char *const on_linux[FL_SYSTEMS] = {
#define SLINUX(name, text) [FL_SYSTEM_##name] = text,
#include "faultline/system.def"
};

static const struct system_value {
	const char *axis, *name, *text;
} values[] = {
#define SAXIS(axis, name, transports, text) { #axis, #name, text },
#include "faultline/system.def"
};

static const char *const heads[] = { "system", "tables", "before", "transport",
				     "IR", "IW", "RR", "RW", "tells", "brings",
				     "home" };
#define HEADS (sizeof(heads) / sizeof(heads[0]))

static void systems_put(const char *word)
{
	char low[WORD_BYTES];
	size_t i;

	for (i = 0; word[i] && i + 1 < sizeof(low); i++)
		low[i] = word[i] >= 'A' && word[i] <= 'Z' ?
				 (char)(word[i] - 'A' + 'a') : word[i];
	low[i] = 0;
	printf("%-10s", low);
}

static void systems_put_row(unsigned int n)
{
	const struct system_text *t = &texts[n];
	const char *const cells[] = { options_system_name((enum fl_system)n),
				      t->tables, t->before, t->transport, t->ir,
				      t->iw, t->rr, t->rw, t->tells, t->brings,
				      t->home };
	size_t i;

	for (i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		systems_put(cells[i]);
	putchar('\n');
}

static void systems_put_linux(void)
{
	unsigned int n;

	puts("What differs on a stock Linux kernel (run --mode vm):");
	for (n = 0; n < FL_SYSTEMS; n++)
		printf("%-10s%s\n", options_system_name((enum fl_system)n),
		       on_linux[n] ? on_linux[n] : "not run there yet");
	putchar('\n');
}

static int cmd_systems_run(const struct command *c, int argc, char **argv)
{
	struct options o;
	int err = options_parse(c, argc, argv, &o);
	unsigned int n;
	size_t i;

	if (err)
		return err == 1 ? 0 : err;
	for (n = 0; n < FL_SYSTEMS; n++)
		printf("%-10s%s\n", options_system_name((enum fl_system)n),
		       texts[n].text);
	putchar('\n');
	for (i = 0; i < HEADS; i++)
		printf("%-10s", heads[i]);
	putchar('\n');
	for (n = 0; n < FL_SYSTEMS; n++)
		systems_put_row(n);
	puts("\nA miss, where: IR what a WRITE reads at the side that posted, IW what a "
	     "READ writes there,\nRR what a READ reads at its peer, RW what a WRITE "
	     "writes there.\n");
	systems_put_linux();
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (!i || strcmp(values[i].axis, values[i - 1].axis))
			systems_put(values[i].axis);
		else
			systems_put("");
		systems_put(values[i].name);
		puts(values[i].text);
	}
	return 0;
}

const struct command command_systems = {
	.name = "systems",
	.arguments = "",
	.text = "the ways of handling missing pages that can be compared\n"
		"Their names are what --policy and the statement policy take.",
	.least = 0,
	.most = 0,
	.run = cmd_systems_run,
};
