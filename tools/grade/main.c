// SPDX-License-Identifier: BSD-2-Clause
/*
 * The grader of one lab, as a command. It is linked with the lab's tests, and with
 * none of a student's code.
 *
 *	grade run --lab DIR --out DIR [--subject FILE] [--name NAME] [--seed N]
 *		[--only NAME-PART] [--key FILE] [--alone yes]
 *		without --subject: it did not build. --alone: it is linked statically
 *	grade confine [--read FILE] [--from LIST] [--tool FOLDER] [--list FOLDER]
 *		[--write FOLDER] -- COMMAND...
 *		a compiler within walls (walls.c): what it may read, a list of that, may
 *		run, may list and may write
 *	grade export FORM RECORD		FORM: text, ktap, gradescope, csv
 *	grade verify RECORD --key FILE
 *	grade list --lab DIR			the rubric, and whether its tests are here
 *
 * Exit status: 0 all tests that are here pass, verified, or told; 1 one does not, or
 * not verified; 2 a mistake in the call, or the grader itself failed.
 */
#include "tools/grade/grade.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/streams.h"

static struct options {
	const char *lab, *out, *subject, *name, *only, *key, *alone, *file[2];
	uint64_t seed;
	unsigned int files;
} opt = { .name = "this tree", .only = "", .seed = 1 };

static int grade_usage(const char *bad)
{
	fprintf(stderr, "grade: %s\nusage: grade run --lab DIR --out DIR "
		"[--subject FILE] [--name NAME] [--seed N] [--only NAME-PART] "
		"[--key FILE] [--alone yes]\n       grade confine ... -- "
		"COMMAND...\n       grade export text|ktap|gradescope|csv "
		"RECORD\n       grade verify RECORD --key FILE\n"
		"       grade list --lab DIR\n", bad);
	return 2;
}

static int grade_options(int argc, char **argv)
{
	static const struct {
		const char *name;
		const char **to;
	} with[] = {
		{ "--lab", &opt.lab }, { "--out", &opt.out },
		{ "--subject", &opt.subject }, { "--name", &opt.name },
		{ "--only", &opt.only }, { "--key", &opt.key },
		{ "--alone", &opt.alone },
	};
	unsigned int k;
	char *end;
	int i;

	for (i = 2; i < argc; i++) {
		if (argv[i][0] != '-') {
			if (opt.files == 2)
				return grade_usage("too many words");
			opt.file[opt.files++] = argv[i];
			continue;
		}
		if (i + 1 == argc)
			return grade_usage("an option without its value");
		if (!strcmp(argv[i], "--seed")) {
			opt.seed = strtoull(argv[++i], &end, 10);
			if (*end || !*argv[i])
				return grade_usage("--seed wants a plain number");
			continue;
		}
		for (k = 0; k < sizeof(with) / sizeof(with[0]); k++)
			if (!strcmp(argv[i], with[k].name))
				break;
		if (k == sizeof(with) / sizeof(with[0]))
			return grade_usage("an unknown option");
		*with[k].to = argv[++i];
	}
	return 0;
}

/* What is in the file, whatever it is, is the secret. */
static const uint8_t *grade_key(void)
{
	static uint8_t bytes[GRADE_KEY];
	static const uint8_t nothing[GRADE_KEY];
	uint8_t text[4096];
	char hex[65];
	unsigned int i, b;
	size_t n;
	FILE *f;

	if (!opt.key)
		return NULL;
	f = fopen(opt.key, "rb");
	n = f ? fread(text, 1, sizeof(text), f) : 0;
	if (!f || ferror(f)) {
		fprintf(stderr, "grade: %s: %s\n", opt.key, strerror(errno));
		exit(2);
	}
	fclose(f);
	if (n < 16) {
		fprintf(stderr, "grade: %s: a key is a file of 16 bytes or more\n",
			opt.key);
		exit(2);
	}
	hmac(nothing, text, n, hex);
	for (i = 0; i < GRADE_KEY; i++) {
		sscanf(hex + 2 * i, "%2x", &b);
		bytes[i] = (uint8_t)b;
	}
	return bytes;
}

static int read_lab(struct grade *g)
{
	char path[1024];

	if (!opt.lab)
		return -EINVAL;
	snprintf(path, sizeof(path), "%s/lab.conf", opt.lab);
	if (conf_read(g, path))
		return -EINVAL;
	snprintf(path, sizeof(path), "%s/rubric.txt", opt.lab);
	return rubric_read(g, path);
}

/*
 * It is a line of the record, and must stay one; and no two names may become the same:
 * what is no letter is written as \x01, and a backslash twice.
 */
static bool name_work(struct grade *g, const char *name)
{
	size_t n = 0;

	for (; *name; name++) {
		if (n + 5 > sizeof(g->name))
			return false;
		if ((unsigned char)*name < ' ' || *name == 127)
			n += (size_t)sprintf(g->name + n, "\\x%02x", *name);
		else if (*name == '\\')
			n += (size_t)sprintf(g->name + n, "\\\\");
		else
			g->name[n++] = *name;
	}
	g->name[n] = 0;
	return true;
}

static int grade_run_all(struct grade *g)
{
	const uint8_t *secret = grade_key();
	char path[1024];
	unsigned int i;
	int err;

	if (!opt.lab || !opt.out)
		return grade_usage("run wants --lab and --out");
	if (read_lab(g))
		return 2;
	if (mkdir(opt.out, 0777) && errno != EEXIST) {
		fprintf(stderr, "grade: %s: %s\n", opt.out, strerror(errno));
		return 2;
	}
	if (!name_work(g, opt.name))
		return grade_usage("--name: at most 1000 bytes");
	g->seed = opt.seed;
	g->out = opt.out;
	g->subject = opt.subject;
	g->built = opt.subject;
	g->alone = opt.alone;
	err = grade_walls();
	if (err < 0) {
		fprintf(stderr, "grade: cannot try what a compiler is kept from: %s\n",
			strerror(-err));
		return 2;
	}
	g->compiled = (unsigned int)err;
	g->compiled_said = true;
	grade_run(g, opt.only);
	if (!g->tests)
		return grade_usage("--only: no test has this in its name");
	snprintf(path, sizeof(path), "%s/record", opt.out);
	err = record_write(g, path, secret);
	if (err) {
		fprintf(stderr, "grade: cannot write %s: %s\n", path, strerror(-err));
		return 2;
	}
	grade_export(g, "text", stdout);
	for (i = 0; i < g->tests; i++)
		if (g->test[i].verdict == V_GRADER)
			return 2;
	for (i = 0; i < g->tests; i++)
		if (g->test[i].verdict != V_PASS && g->test[i].verdict != V_ABSENT)
			return 1;
	return 0;
}

static int grade_list(struct grade *g)
{
	unsigned int i;

	if (read_lab(g))
		return 2;
	for (i = 0; i < g->tests; i++)
		printf("%3u %-24s %s%s\n", g->test[i].points, g->test[i].name,
		       g->test[i].hidden ? "hidden " : "",
		       judge_find(g->test[i].name) ? "" : "not here");
	return 0;
}

static int grade_work(int argc, char **argv)
{
	static struct grade g;
	bool right;

	if (argc < 2)
		return grade_usage("what shall it do?");
	if (!strcmp(argv[1], "confine"))
		return grade_confine(argc - 2, argv + 2);
	if (grade_options(argc, argv))
		return 2;
	if (!strcmp(argv[1], "run") && !opt.files)
		return grade_run_all(&g);
	if (!strcmp(argv[1], "list") && !opt.files)
		return grade_list(&g);
	if (!strcmp(argv[1], "export") && opt.files == 2) {
		if (record_read(&g, opt.file[1], NULL, &right))
			return 2;
		return grade_export(&g, opt.file[0], stdout) ?
			       grade_usage("no such form") : 0;
	}
	if (!strcmp(argv[1], "verify") && opt.files == 1 && opt.key) {
		if (record_read(&g, opt.file[0], grade_key(), &right))
			return 2;
		puts(right ? "signed with this key" :
			     "not signed with this key, or changed since");
		return right ? 0 : 1;
	}
	return grade_usage("something is missing, or too much");
}

int main(int argc, char **argv)
{
	int status;

	streams_begin();
	status = grade_work(argc, argv);
	/* A verdict that nobody can read is none: 1 would say that a test fails. */
	return streams_end("grade", 0) ? 2 : status;
}
