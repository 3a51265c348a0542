// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rubric: a text that may be edited without knowing C. A line that begins at
 * the margin is a heading; below it, indented,
 *
 *	POINTS  TEST  [after PARENT]  [hidden]
 *
 * '#' begins a comment. A parent stands above its children, and the points are
 * 100 in all. lab.conf: "word: value" lines.
 */
#include "tools/grade/grade.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE 256

struct place {
	const char *path;
	unsigned int line;
};

static int rubric_wrong(const struct place *p, const char *text,
			const char *word)
{
	fprintf(stderr, "%s:%u: %s '%s'\n", p->path, p->line, text, word);
	return -EINVAL;
}

static bool rubric_known(const struct grade *g, const char *name)
{
	unsigned int i;

	for (i = 0; i < g->tests; i++)
		if (!strcmp(g->test[i].name, name))
			return true;
	return false;
}

static bool rubric_fits(char *to, size_t room, const char *from)
{
	return snprintf(to, room, "%s", from) < (int)room;
}

static int read_test(struct grade *g, const struct place *p, char *line,
		     const char *group)
{
	struct grade_test *t = &g->test[g->tests];
	char *save, *word = strtok_r(line, " \t\n", &save), *end;

	if (g->tests == GRADE_TESTS)
		return rubric_wrong(p, "too many tests, from", word);
	if (!*group)
		return rubric_wrong(p, "no heading above", word);
	memset(t, 0, sizeof(*t));
	snprintf(t->group, sizeof(t->group), "%s", group);
	t->points = (unsigned int)strtoul(word, &end, 10);
	if (*end || end == word || !t->points || t->points > 100)
		return rubric_wrong(p, "points are a number from 1 to 100, not",
				    word);
	word = strtok_r(NULL, " \t\n", &save);
	if (!word)
		return rubric_wrong(p, "points without a test:", end);
	if (rubric_known(g, word))
		return rubric_wrong(p, "a second time:", word);
	if (!rubric_fits(t->name, sizeof(t->name), word))
		return rubric_wrong(p, "too long a name:", word);
	while ((word = strtok_r(NULL, " \t\n", &save))) {
		if (!strcmp(word, "hidden")) {
			t->hidden = true;
			continue;
		}
		if (strcmp(word, "after"))
			return rubric_wrong(p, "'after PARENT' or 'hidden', not", word);
		word = strtok_r(NULL, " \t\n", &save);
		if (!word || !rubric_known(g, word))
			return rubric_wrong(p, "the parent is no test above:",
					    word ? word : "");
		snprintf(t->parent, sizeof(t->parent), "%s", word);
	}
	g->tests++;
	return 0;
}

int rubric_read(struct grade *g, const char *path)
{
	struct place p = { path, 0 };
	char line[LINE], group[80] = "", sum[16];
	unsigned int points = 0, i;
	FILE *f = fopen(path, "r");
	int err = 0;

	if (!f)
		return rubric_wrong(&p, "cannot read the rubric:",
				    strerror(errno));
	g->tests = 0;
	while (!err && fgets(line, sizeof(line), f)) {
		p.line++;
		line[strcspn(line, "#\n")] = 0;
		for (i = (unsigned int)strlen(line); i && isspace(line[i - 1]);)
			line[--i] = 0;
		if (!i)
			continue;
		if (!isspace(line[0]))
			snprintf(group, sizeof(group), "%.79s", line);
		else
			err = read_test(g, &p, line, group);
	}
	fclose(f);
	for (i = 0; i < g->tests; i++)
		points += g->test[i].points;
	snprintf(sum, sizeof(sum), "%u", points);
	if (!err && points != 100)
		err = rubric_wrong(&p, "the points are 100 in all, not", sum);
	return err;
}

static int rubric_number(const struct place *p, const char *value,
			 unsigned int *out)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*end || end == value || !n || n > 1000000)
		return rubric_wrong(p, "a plain number, not", value);
	*out = (unsigned int)n;
	return 0;
}

int conf_read(struct grade *g, const char *path)
{
	struct place p = { path, 0 };
	FILE *f = fopen(path, "r");
	char line[LINE], *value;
	int err = 0;

	if (!f)
		return rubric_wrong(&p, "cannot read:", strerror(errno));
	g->limits = (struct grade_limits){ 10, 60, 1024, 1 };
	while (!err && fgets(line, sizeof(line), f)) {
		p.line++;
		line[strcspn(line, "\n")] = 0;
		if (!line[0] || line[0] == '#')
			continue;
		value = strchr(line, ':');
		if (!value) {
			err = rubric_wrong(&p, "wanted 'word: value', not",
					   line);
			break;
		}
		*value++ = 0;
		value += strspn(value, " \t");
		if (!strcmp(line, "cpu_s"))
			err = rubric_number(&p, value, &g->limits.cpu_s);
		else if (!strcmp(line, "wall_s"))
			err = rubric_number(&p, value, &g->limits.wall_s);
		else if (!strcmp(line, "memory_mb"))
			err = rubric_number(&p, value, &g->limits.memory_mb);
		else if (!strcmp(line, "file_mb"))
			err = rubric_number(&p, value, &g->limits.file_mb);
		else if (!strcmp(line, "lab"))
			snprintf(g->lab, sizeof(g->lab), "%.31s", value);
	}
	fclose(f);
	if (!err && !g->lab[0])
		err = rubric_wrong(&p, "no line", "lab: NAME");
	return err;
}
