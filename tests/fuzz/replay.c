// SPDX-License-Identifier: BSD-2-Clause
/*
 * replay.c - main() of a fuzz target without libFuzzer: tries the inputs in the files, and
 * in the files of the folders, that the command line names, and then, if told so, new ones
 * made out of them (mutate.h). Any compiler can build it.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "mutate.h"

#define SLOW_S	300u	/* one input; a machine with ten times as much to do passes */

static unsigned int tried;
static struct mutate known = { .longest = 4096 };

static void replay_input(const uint8_t *data, size_t n)
{
	alarm(SLOW_S);
	LLVMFuzzerTestOneInput(data, n);
	tried++;
}

static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	struct stat st;
	size_t n = 0;

	if (f && !fstat(fileno(f), &st)) {
		/* As many bytes as there are, so that a sanitizer sees one more. */
		data = malloc((size_t)st.st_size ? (size_t)st.st_size : 1);
		n = data ? fread(data, 1, (size_t)st.st_size, f) : 0;
	}
	if (!f || !data || ferror(f)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		if (f)
			fclose(f);
		free(data);
		return 2;
	}
	fclose(f);
	if (getenv("FUZZ_VERBOSE"))
		fprintf(stderr, "%s\n", path);
	replay_input(data, n);
	if (mutate_add_known(&known, data, n)) {
		fprintf(stderr, "%s: no memory\n", path);
		return 2;
	}
	return 0;
}

static int replay_folder(const char *path)
{
	char name[4096];
	struct dirent **e;
	int i, n = scandir(path, &e, NULL, alphasort), bad = n < 0 ? 2 : 0;

	if (n < 0)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, e[i]->d_name);
		if (e[i]->d_name[0] != '.')
			bad |= replay_file(name);
		free(e[i]);
	}
	if (n >= 0)
		free(e);
	return bad;
}

/* Each lies in a file while it is tried, so that it is there if that is the end. */
static int replay_new(unsigned long count, uint64_t seed, const char *path)
{
	unsigned long i;
	uint8_t *data, *exact;
	size_t n;
	FILE *f;

	for (i = 0; i < count; i++) {
		data = mutate_make(&known, seed, i, &n);
		exact = data ? realloc(data, n ? n : 1) : NULL;
		f = exact ? fopen(path, "wb") : NULL;
		if (!f || fwrite(exact, 1, n, f) != n || fclose(f)) {
			fprintf(stderr, "%s: %s\n", path, strerror(errno));
			return 2;
		}
		replay_input(exact, n);
		free(exact);
	}
	unlink(path);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "new", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' },
		{ "longest", required_argument, NULL, 'l' },
		{ "words", required_argument, NULL, 'w' },
		{ "file", required_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	const char *words = NULL, *file = NULL;
	unsigned long count = 0;
	uint64_t seed = 1;
	struct stat st;
	int bad = 0, c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'n': count = strtoul(optarg, NULL, 0); break;
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'l': known.longest = strtoul(optarg, NULL, 0); break;
		case 'w': words = optarg; break;
		case 'f': file = optarg; break;
		default: return 2;
		}
	}
	if (optind == argc || (count && !file)) {
		fprintf(stderr, "usage: %s [--new N --file INPUT-AT-WORK [--seed N] [--longest "
				"BYTES] [--words FILE]] FILE|FOLDER...\n", argv[0]);
		return 2;
	}
	for (; optind < argc; optind++)
		bad |= !stat(argv[optind], &st) && S_ISDIR(st.st_mode) ?
		       replay_folder(argv[optind]) : replay_file(argv[optind]);
	if (words && mutate_read_words(&known, words)) {
		fprintf(stderr, "%s: cannot be read\n", words);
		bad = 2;
	}
	if (!bad && count && known.knowns)
		bad = replay_new(count, seed, file);
	mutate_free(&known);
	printf("%s: %u inputs, nothing found\n", fuzz_name, tried);
	return bad;
}
