// SPDX-License-Identifier: BSD-2-Clause
#include "tools/faultline/pictures.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

/* Graphviz is wished for, not needed: without it the .dot file remains. */
static int picture_render(const char *dot, const char *kind)
{
	char out[700], type[8];
	/* Not in the DOT: some versions then draw an SVG larger than its frame. */
	char *argv[] = { (char *)"dot", type, (char *)"-o", out, (char *)dot,
			 strcmp(kind, "png") ? NULL : (char *)"-Gdpi=110", NULL };
	size_t n = strlen(dot) - 3;	/* "dot" */
	int status;
	pid_t pid;

	snprintf(type, sizeof(type), "-T%s", kind);
	snprintf(out, sizeof(out), "%.*s%s", (int)n, dot, kind);
	if (posix_spawnp(&pid, "dot", NULL, NULL, argv, environ))
		return 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			status = 1;
			break;
		}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return 0;	/* no dot */
	if (!status)
		return 0;
	fprintf(stderr, "faultline: dot could not draw %s\n", dot);
	return 1;
}

/* -ENOENT: the trace has nothing for it, and there is no file. 1 after a message. */
static int put_one(const struct view_trace *t, const char *dir,
		   const char *name, const char *kind)
{
	char path[650];
	FILE *f;
	int err, bad;

	snprintf(path, sizeof(path), "%s/%s-%s.dot", dir, name, kind);
	f = fopen(path, "w");
	if (!f) {
		fprintf(stderr, "faultline: cannot write %s: %s\n", path,
			strerror(errno));
		return 1;
	}
	if (!strcmp(kind, "sequence"))
		err = view_sequence(f, t, 0, 0);
	else if (!strcmp(kind, "states"))
		err = view_states(f, t, -1);
	else
		err = view_walk(f, t, 0, 0);
	bad = ferror(f);
	bad |= fclose(f) != 0;
	if (!bad && err == -ENOENT) {
		remove(path);
		return err;
	}
	if (bad || err) {
		fprintf(stderr, "faultline: cannot draw %s\n", path);
		return 1;
	}
	return picture_render(path, "svg") || picture_render(path, "png");
}

int pictures_folder(const char *dir)
{
	char path[500];
	size_t i, n = strlen(dir);

	if (!n || n >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, dir, n + 1);
	for (i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i])
			continue;
		path[i] = 0;
		if (mkdir(path, 0777) && errno != EEXIST)
			return -errno;
		path[i] = i < n ? '/' : 0;
	}
	return 0;
}

int pictures_put(const struct view_trace *t, const char *dir,
		 const char *name, bool with_walk, unsigned int *missing)
{
	int err = put_one(t, dir, name, "sequence");
	unsigned int no = 0;

	if (err == -ENOENT) {
		fprintf(stderr, "faultline: no transfer is in the trace of %s\n", name);
		return 1;
	}
	if (!err)
		err = put_one(t, dir, name, "states");
	if (err == -ENOENT) {
		no |= PICTURE_NO_STATES;
		err = 0;
	}
	if (!err && with_walk)
		err = put_one(t, dir, name, "walk");
	if (err == -ENOENT) {
		no |= PICTURE_NO_WALK;
		err = 0;
	}
	if (missing)
		*missing = no;
	return err;
}
