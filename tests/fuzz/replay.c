// SPDX-License-Identifier: BSD-2-Clause
/*
 * replay.c - main() of a fuzz target without libFuzzer: tries the inputs in the files, and
 * in the files of the folders, that the command line names. Any compiler can build it.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static unsigned int tried;

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
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	tried++;
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

int main(int argc, char **argv)
{
	struct stat st;
	int i, bad = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: %s FILE|FOLDER...\n", argv[0]);
		return 2;
	}
	for (i = 1; i < argc; i++)
		bad |= !stat(argv[i], &st) && S_ISDIR(st.st_mode) ?
		       replay_folder(argv[i]) : replay_file(argv[i]);
	printf("%s: %u inputs, nothing found\n", fuzz_name, tried);
	return bad;
}
