// SPDX-License-Identifier: BSD-2-Clause
/* The record: grade.h says what it looks like. */
#include "tools/confine/confine.h"
#include "tools/grade/grade.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "tools/faultline/sha256.h"

#define LINE 1200

static const char first_line[] = "#faultline-record 1\n";

static void to_bytes(const char hex[65], uint8_t out[32])
{
	unsigned int i, b;

	for (i = 0; i < 32; i++) {
		sscanf(hex + 2 * i, "%2x", &b);
		out[i] = (uint8_t)b;
	}
}

/* RFC 2104, with SHA-256. */
void hmac(const uint8_t key[GRADE_KEY], const void *data, size_t n, char hex[65])
{
	uint8_t pad[64] = { 0 }, inner[32];
	struct sha256 s;
	unsigned int i;

	for (i = 0; i < 64; i++)
		pad[i] = (i < GRADE_KEY ? key[i] : 0) ^ 0x36;
	sha256_begin(&s);
	sha256_add(&s, pad, 64);
	sha256_add(&s, data, n);
	sha256_end(&s, hex);
	to_bytes(hex, inner);
	for (i = 0; i < 64; i++)
		pad[i] ^= 0x36 ^ 0x5c;
	sha256_begin(&s);
	sha256_add(&s, pad, 64);
	sha256_add(&s, inner, 32);
	sha256_end(&s, hex);
}

unsigned int grade_score(const struct grade *g, unsigned int *max)
{
	unsigned int i, got = 0;

	*max = 0;
	for (i = 0; i < g->tests; i++) {
		got += g->test[i].got;
		*max += g->test[i].points;
	}
	return got;
}

static const struct {
	const char *word;
	unsigned int bit;
} walls[] = {
	{ " calls", CONFINED_CALLS }, { " files", CONFINED_FILES },
	{ " names", CONFINED_NAMES },
};

static void record_put_walls(FILE *f, const char *what, unsigned int held)
{
	unsigned int i;

	fprintf(f, "%s limits", what);
	for (i = 0; i < sizeof(walls) / sizeof(walls[0]); i++)
		fputs(held & walls[i].bit ? walls[i].word : "", f);
	fputc('\n', f);
}

static unsigned int read_walls(const char *line)
{
	unsigned int i, held = 0;

	for (i = 0; i < sizeof(walls) / sizeof(walls[0]); i++)
		held |= strstr(line, walls[i].word) ? walls[i].bit : 0;
	return held;
}

/* with_ms: how long it took is told, but it is no part of what is signed. */
static void record_put(const struct grade *g, FILE *f, bool with_ms)
{
	unsigned int i, got, max;
	const char *p;

	fprintf(f, "%slab %s\nname %s\nseed %" PRIu64 "\n", first_line,
		g->lab, g->name, g->seed);
	record_put_walls(f, "confined", g->confined);
	if (g->compiled_said)
		record_put_walls(f, "compiled", g->compiled);
	fprintf(f, "build %s\n", g->built ? "ok" : "failed");
	for (i = 0; i < g->tests; i++) {
		const struct grade_test *t = &g->test[i];

		fprintf(f, "test %s\n\tgroup %s\n\tsays %s\n\tpoints %u %u\n"
			"\tverdict %s\n\thidden %d\n", t->name, t->group,
			t->says, t->got, t->points, verdict_names[t->verdict],
			t->hidden);
		if (with_ms)
			fprintf(f, "\tms %" PRIu64 "\n", t->ms);
		for (p = t->text; p && *p; p += strcspn(p, "\n"),
		     p += *p == '\n')
			fprintf(f, "\t| %.*s\n", (int)strcspn(p, "\n"), p);
	}
	got = grade_score(g, &max);
	fprintf(f, "score %u %u\n", got, max);
}

static int record_sign(const struct grade *g, const uint8_t *key, char hex[65])
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	bool lost;

	if (!f)
		return -ENOMEM;
	record_put(g, f, false);
	lost = ferror(f);
	lost = fclose(f) || lost;
	if (!lost)
		hmac(key, text, n, hex);
	free(text);
	return lost ? -ENOMEM : 0;
}

int record_write(const struct grade *g, const char *path, const uint8_t *key)
{
	char hex[65] = "none";
	FILE *f = fopen(path, "w");
	int err = 0;

	if (!f)
		return -errno;
	record_put(g, f, true);
	if (key)
		err = record_sign(g, key, hex);
	fprintf(f, "signature %s\n", hex);
	if (ferror(f))
		err = -EIO;
	if (fclose(f) && !err)
		err = -errno;
	return err;
}

static enum verdict verdict_of(const char *name)
{
	unsigned int v;

	for (v = 0; v < V_COUNT && strcmp(verdict_names[v], name); v++)
		;
	return (enum verdict)v;
}

static int add_text(struct grade_test *t, const char *line)
{
	size_t have = t->text ? strlen(t->text) : 0, n = strlen(line);
	char *more = realloc(t->text, have + n + 2);

	if (!more)
		return -ENOMEM;
	t->text = more;
	sprintf(more + have, "%s\n", line);
	return 0;
}

static int read_inside(struct grade *g, const char *line)
{
	struct grade_test *t;
	unsigned int hidden;
	char name[48];

	if (!g->tests)
		return -EINVAL;
	t = &g->test[g->tests - 1];
	if (!strncmp(line, "| ", 2))
		return add_text(t, line + 2);
	if (!strcmp(line, "|"))
		return add_text(t, "");
	if (!strncmp(line, "group ", 6))
		return snprintf(t->group, sizeof(t->group), "%s", line + 6) <
		       (int)sizeof(t->group) ? 0 : -EINVAL;
	if (!strncmp(line, "says", 4))
		return snprintf(t->says, sizeof(t->says), "%s",
				line + 4 + (line[4] == ' ')) <
		       (int)sizeof(t->says) ? 0 : -EINVAL;
	if (sscanf(line, "points %u %u", &t->got, &t->points) == 2 ||
	    sscanf(line, "ms %" SCNu64, &t->ms) == 1)
		return 0;
	if (sscanf(line, "hidden %u", &hidden) == 1) {
		t->hidden = hidden;
		return 0;
	}
	if (sscanf(line, "verdict %47s", name) != 1)
		return -EINVAL;
	t->verdict = verdict_of(name);
	return t->verdict < V_COUNT ? 0 : -EINVAL;
}

static int read_line(struct grade *g, const char *line, char hex[65])
{
	char word[65];
	unsigned int got, max;

	if (line[0] == '\t')
		return read_inside(g, line + 1);
	if (sscanf(line, "test %47s", word) == 1) {
		if (g->tests == GRADE_TESTS)
			return -EINVAL;
		memset(&g->test[g->tests], 0, sizeof(g->test[0]));
		snprintf(g->test[g->tests++].name, 48, "%.47s", word);
		return 0;
	}
	if (!strncmp(line, "name ", 5)) {
		return snprintf(g->name, sizeof(g->name), "%s", line + 5) <
		       (int)sizeof(g->name) ? 0 : -EINVAL;
	}
	if (sscanf(line, "lab %31s", g->lab) == 1 ||
	    sscanf(line, "seed %" SCNu64, &g->seed) == 1 ||
	    sscanf(line, "signature %64s", hex) == 1)
		return 0;
	if (!strncmp(line, "confined limits", 15)) {
		g->confined = read_walls(line);
		return 0;
	}
	if (!strncmp(line, "compiled limits", 15)) {
		g->compiled = read_walls(line);
		g->compiled_said = true;
		return 0;
	}
	if (sscanf(line, "build %15s", word) == 1) {
		g->built = !strcmp(word, "ok");
		return 0;
	}
	/* A sum, that anyone can make again: it must be that sum. */
	return sscanf(line, "score %u %u", &got, &max) == 2 &&
	       got == grade_score(g, &max) ? 0 : -EINVAL;
}

static int missing_lab(const char *path)
{
	fprintf(stderr, "%s: no record: there is no line \"lab NAME\"\n", path);
	return -EINVAL;
}

int record_read(struct grade *g, const char *path, const uint8_t *key,
		bool *signed_right)
{
	char line[LINE], hex[65] = "", mine[65];
	FILE *f = fopen(path, "r");
	unsigned int n = 1;
	int err = 0, broken;

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -errno;
	}
	memset(g, 0, sizeof(*g));
	if (!fgets(line, sizeof(line), f) ||
	    strcmp(line, first_line))
		err = -EINVAL;
	while (!err && fgets(line, sizeof(line), f)) {
		n++;
		line[strcspn(line, "\n")] = 0;
		err = read_line(g, line, hex);
	}
	/* A record that was read in part would be another one. */
	broken = ferror(f) ? -EIO : 0;
	fclose(f);
	if (!err && !broken && key)
		broken = record_sign(g, key, mine);
	if (broken || err == -ENOMEM) {
		err = broken ? broken : err;
		fprintf(stderr, "%s: %s\n", path, strerror(-err));
	} else if (err) {
		fprintf(stderr, "%s:%u: not a line of a record\n", path, n);
	} else if (!g->lab[0]) {
		err = missing_lab(path);
	}
	*signed_right = !err && key && !strcmp(hex, mine);
	return err;
}
