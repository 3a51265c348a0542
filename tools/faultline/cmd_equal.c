// SPDX-License-Identifier: BSD-2-Clause
/* faultline equal ONE.trace OTHER.trace: did the driver do the same in both? */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/faultline/options.h"
#include "tools/scenario/words.h"
#include "tools/view/view.h"

enum { OWN_ALLOW, OWN_RULES };

#define ALLOWED 8

/* "around,ahead" -> names, in room. 0 or 2. */
static int take_allowed(const struct command *c, const char *text,
			char room[200], const char *allow[ALLOWED + 1])
{
	const char *const *names = view_equal_names();
	char *word;
	int i, n = 0;

	allow[0] = NULL;
	if (!text)
		return 0;
	if (strlen(text) >= 200)
		return options_wrong(c, "--allow", text, "names of rules");
	strcpy(room, text);
	for (word = strtok(room, ","); word; word = strtok(NULL, ",")) {
		for (i = 0; names[i] && strcmp(names[i], word); i++)
			;
		if (!names[i] || n == ALLOWED)
			return options_wrong(c, "--allow", word, "zero-page, "
					     "around, ahead, shared or failed "
					     "(faultline equal --rules says "
					     "what they are)");
		allow[n++] = names[i];
		allow[n] = NULL;
	}
	return 0;
}

static int equal_compare(struct options *o, const char *const *allow)
{
	struct view_trace t[2];
	unsigned int blocks, differ;
	int i, err;

	for (i = 0; i < 2; i++) {
		if (!view_load(o->args[i], &t[i], stderr))
			continue;
		if (i)
			view_free(&t[0]);
		return 2;
	}
	err = view_equal(stdout, &t[0], &t[1], allow, &blocks, &differ);
	for (i = 0; i < 2; i++)
		view_free(&t[i]);
	if (err) {
		fprintf(stderr, "faultline equal: %s\n", err == -EOVERFLOW ?
			"a trace has lost records; nothing can be said" :
			strerror(-err));
		return 2;
	}
	printf("%s: %u block%s, %u difference%s\n", differ ? "different" :
	       "equal", blocks, word_plural(blocks), differ,
	       word_plural(differ));
	return differ != 0;
}

static int cmd_equal_run(const struct command *c, int argc, char **argv)
{
	const char *allow[ALLOWED + 1];
	struct options o;
	char room[200];
	int err = options_parse(c, argc, argv, &o);

	if (err)
		return err == 1 ? 0 : err;
	if (o.own[OWN_RULES]) {
		view_equal_rules(stdout);
		return 0;
	}
	if (o.count != 2) {
		fputs("faultline equal: something is missing; wanted: "
		      "faultline equal [OPTION...] ONE.trace OTHER.trace\n",
		      stderr);
		return 2;
	}
	err = take_allowed(c, o.own[OWN_ALLOW], room, allow);
	if (!err)
		err = equal_compare(&o, allow);
	return err;
}

const struct command command_equal = {
	.name = "equal",
	.arguments = "ONE.trace OTHER.trace",
	.text = "say whether the driver did the same in both, block by block\n"
		"ONE is a run on the small kernel, OTHER one on Linux (faultline "
		"run --mode vm).\n"
		"Exit status 1: something differs, and both sequences are "
		"shown.",
	.least = 0,
	.most = 2,
	.own = { [OWN_ALLOW] = { "--allow", "RULE,...",
				 "differences that are expected here" },
		 [OWN_RULES] = { "--rules", NULL,
				 "print the table of differences, with "
				 "reasons" } },
	.run = cmd_equal_run,
};
