// SPDX-License-Identifier: BSD-2-Clause
/*
 * Scenarios: what is refused is refused with file, line and column; what is accepted, its
 * lines printed again between comments, is read as the same statements.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tools/scenario/ast.h"

const char fuzz_name[] = "scenario";

static struct scenario *fuzz_scenario_parse(const char *text, char **errors)
{
	struct scenario *s;
	size_t bytes;
	FILE *f = open_memstream(errors, &bytes);

	FUZZ_EXPECT(f, "there is memory for messages");
	s = scenario_parse("a.fl", text, f);
	fclose(f);
	return s;
}

/* Every message: a.fl:LINE:COLUMN: text */
static void judge_messages(const char *errors)
{
	const char *line = errors, *end;
	unsigned int at[2];
	int n;

	FUZZ_EXPECT(*line, "a scenario is refused without a word");
	for (; *line; line = end + 1) {
		end = strchr(line, '\n');
		FUZZ_EXPECT(end, "the last message ends: '%s'", line);
		n = 0;
		sscanf(line, "a.fl:%u:%u: %n", &at[0], &at[1], &n);
		FUZZ_EXPECT(n && line + n < end && at[0] && at[1],
			    "'%.*s' says where", (int)(end - line), line);
	}
}

static bool same_arg(const struct arg *a, const struct arg *b)
{
	return a->set == b->set && a->name == b->name &&
	       a->choice == b->choice && a->number == b->number &&
	       a->end == b->end && !a->word == !b->word &&
	       (!a->word || !strcmp(a->word, b->word));
}

static bool same_statement(const struct statement *a, const struct statement *b)
{
	int i;

	if (a->verb != b->verb || a->args != b->args || a->fails != b->fails ||
	    a->options != b->options || a->other != b->other)
		return false;
	for (i = 0; i < a->args; i++)
		if (!same_arg(&a->arg[i], &b->arg[i]))
			return false;
	for (i = 0; i < a->options; i++)
		if (strcmp(a->option[i].key, b->option[i].key) ||
		    !same_arg(&a->option[i].arg, &b->option[i].arg))
			return false;
	return true;
}

static void print_and_parse(const struct scenario *s)
{
	char *text, *errors;
	struct scenario *again;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	int i;

	FUZZ_EXPECT(f, "there is memory for the text");
	for (i = 0; i < s->count; i++)
		fprintf(f, "# %d\n\n \t%s\t # \"\n", i, s->st[i].text);
	fclose(f);
	again = fuzz_scenario_parse(text, &errors);
	FUZZ_EXPECT(again, "what was accepted is accepted again: %s", errors);
	FUZZ_EXPECT(again->count == s->count, "%d statements, then %d",
		    s->count, again->count);
	for (i = 0; i < s->count; i++)
		FUZZ_EXPECT(same_statement(&s->st[i], &again->st[i]),
			    "statement %d is the same: %s", i, s->st[i].text);
	for (i = 0; i < NAME_KINDS; i++)
		FUZZ_EXPECT(s->names[i] == again->names[i],
			    "as many names of kind %d", i);
	scenario_free(again);
	free(errors);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *errors;
	struct scenario *s = fuzz_scenario_parse(text, &errors);

	if (s) {
		FUZZ_EXPECT(!*errors, "accepted, but: %s", errors);
		print_and_parse(s);
		scenario_free(s);
	} else {
		judge_messages(errors);
	}
	free(errors);
	free(text);
	return 0;
}
