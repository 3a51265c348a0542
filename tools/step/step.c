// SPDX-License-Identifier: BSD-2-Clause
/*
 * step.c - a device stepping: other single sources for the same device.
 *
 *	step SEED ROOT OUT	reads the *.def and profiles under ROOT, writes
 *				those of this stepping under OUT, same paths
 *
 * A seed, 1 to 999999, changes what does not matter for learning, so that the
 * numbers of last year's course do not fit:
 *	regs.def	where the registers lie on the pages ENG, CTX, RXC, FW and XP;
 *			ID stays in front, arrays where they are
 *	entries.def	order of the members in each entry; codes of operations,
 *			statuses (0, WAIT and STALE stay), events and commands;
 *			bits of flags in a work request
 *	wire.def	opcodes, in the manufacturer's range, whose low four bits
 *			still are those of the operation for a block's
 *	device.def	the number of the stepping, limits, and one erratum
 *	timing.def	the firmware's timers and tries, in the profiles too
 * What Arm's and InfiniBand's manuals say stays. Each group draws its own numbers
 * from the seed, so that a row more in one does not change another. The result
 * goes through tools/gen, which checks it as it checks the original.
 */
#include "step.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/streams.h"

#define SEED_MAX 999999

uint64_t step_seed;

void step_bad(const char *fmt, ...)
{
	va_list ap;

	fputs("stepping: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* splitmix64, begun with the seed and the group's name. */
struct draw step_draw(const char *group)
{
	struct draw d = { step_seed * 0x9E3779B97F4A7C15ull };

	for (; *group; group++)
		d.state = (d.state ^ (unsigned char)*group) * 0x100000001B3ull;
	return d;
}

unsigned int step_below(struct draw *d, unsigned int n)
{
	uint64_t z = d->state += 0x9E3779B97F4A7C15ull;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return (unsigned int)((z ^ z >> 31) % n);
}

/* Where argument n of MACRO(a, "b, c", ...) begins and ends; false: no such. */
static bool find_arg(const char *line, int n, size_t *begin, size_t *end)
{
	const char *p = strchr(line, '(');
	bool quoted = false;
	int depth = 0, at = 0;
	const char *from;

	if (!p)
		return false;
	for (from = ++p; *p; p++) {
		if (*p == '"' && p[-1] != '\\')
			quoted = !quoted;
		if (quoted)
			continue;
		depth += *p == '(';
		if ((*p == ',' && !depth) || (*p == ')' && !depth--)) {
			if (at++ == n)
				break;
			from = p + 1;
			if (*p == ')')
				return false;
		}
	}
	if (!*p)
		return false;
	while (from < p && isspace((unsigned char)*from))
		from++;
	while (p > from && isspace((unsigned char)p[-1]))
		p--;
	*begin = (size_t)(from - line);
	*end = (size_t)(p - line);
	return true;
}

bool line_is(const struct line *l, const char *macro)
{
	size_t n = strlen(macro);

	return !strncmp(l->text, macro, n) && l->text[n] == '(';
}

const char *line_arg(const struct line *l, int n, char buf[WORD_BYTES])
{
	size_t begin, end;

	if (!find_arg(l->text, n, &begin, &end) || end - begin >= WORD_BYTES)
		step_bad("cannot read: %s", l->text);
	memcpy(buf, l->text + begin, end - begin);
	buf[end - begin] = 0;
	return buf;
}

bool line_has(const struct line *l, int n, const char *word)
{
	char buf[WORD_BYTES];

	return !strcmp(line_arg(l, n, buf), word);
}

long line_number(const struct line *l, int n)
{
	char buf[WORD_BYTES], *end;
	long v = strtol(line_arg(l, n, buf), &end, 0);

	if (end == buf || *end)
		step_bad("'%s' is no number in: %s", buf, l->text);
	return v;
}

void line_set(struct line *l, int n, const char *fmt, long value)
{
	char number[32];
	size_t begin, end, len, rest = strlen(l->text);
	char *text;

	if (!find_arg(l->text, n, &begin, &end))
		step_bad("cannot change: %s", l->text);
	snprintf(number, sizeof(number), fmt, value);
	len = strlen(number);
	text = malloc(rest + len + 1);
	if (!text)
		step_bad("no memory");
	memcpy(text, l->text, begin);
	memcpy(text + begin, number, len);
	strcpy(text + begin + len, l->text + end);
	free(l->text);
	l->text = text;
}

static FILE *open_or_end(const char *path, const char *mode)
{
	FILE *f = fopen(path, mode);

	if (!f)
		step_bad("%s: %s", path, strerror(errno));
	return f;
}

static void step_read_file(struct file *f, const char *root, const char *path)
{
	char buf[4096];
	FILE *in;

	snprintf(buf, sizeof(buf), "%s/%s", root, path);
	in = open_or_end(buf, "r");
	f->lines = 0;
	while (fgets(buf, sizeof(buf), in)) {
		if (f->lines == LINES_MAX)
			step_bad("%s has too many lines", path);
		f->line[f->lines].text = strdup(buf);
		if (!f->line[f->lines++].text)
			step_bad("no memory");
	}
	fclose(in);
}

static void write_file(struct file *f, const char *out, const char *path)
{
	char full[4096], *p;
	FILE *to;
	size_t i;

	snprintf(full, sizeof(full), "%s/%s", out, path);
	for (p = full + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(full, 0777) && errno != EEXIST)
			step_bad("%s: %s", full, strerror(errno));
		*p = '/';
	}
	to = open_or_end(full, "w");
	for (i = 0; i < f->lines; i++) {
		fputs(f->line[i].text, to);
		free(f->line[i].text);
	}
	if (ferror(to) | fclose(to))
		step_bad("%s: %s", full, strerror(errno));
}

#define CONTRACT "kernel-ref/include/faultline/"

static const struct {
	const char *path;
	void (*step)(struct file *f);
} sources[] = {
	{ CONTRACT "regs.def", step_regs },
	{ CONTRACT "entries.def", step_entries },
	{ CONTRACT "wire.def", step_wire },
	{ CONTRACT "device.def", step_device },
	{ "emu/sim/timing.def", step_timing },
	{ "emu/sim/profiles/ideal.profile", step_profile },
	{ "emu/sim/profiles/qfdb.profile", step_profile },
	{ "emu/sim/profiles/pm.profile", step_profile },
	{ "emu/sim/profiles/connectx.profile", step_profile },
	{ "emu/sim/profiles/myrinet.profile", step_profile },
	{ "emu/sim/profiles/ethernet.profile", step_profile },
};

int main(int argc, char **argv)
{
	static struct file file;
	char *end;
	size_t i;

	streams_begin();
	if (argc != 4)
		step_bad("usage: step SEED ROOT OUT");
	step_seed = strtoull(argv[1], &end, 10);
	if (!isdigit((unsigned char)*argv[1]) || *end || !step_seed ||
	    step_seed > SEED_MAX)
		step_bad("'%s' is no number from 1 to %d", argv[1], SEED_MAX);
	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		step_read_file(&file, argv[2], sources[i].path);
		sources[i].step(&file);
		write_file(&file, argv[3], sources[i].path);
	}
	return 0;
}
