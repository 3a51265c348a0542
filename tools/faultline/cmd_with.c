// SPDX-License-Identifier: BSD-2-Clause
/* faultline with -- PROGRAM...: a program of rdma-core that finds boards as its devices. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faultline.h"
#include "os/os.h"
#include "os/os_emu.h"
#include "tools/faultline/options.h"

enum { OWN_ON };

#define LIBRARY	"libibverbs.so.1"

/* The folder of the library: beside this program. 0 or a message and 1. */
static int with_folder(char folder[PATH_MAX])
{
	char program[PATH_MAX], path[PATH_MAX], *slash;
	int n = os_program(program, sizeof(program));

	/* A link may lead to it. */
	slash = n || !realpath(program, path) ? NULL : strrchr(path, '/');
	if (!slash) {
		fprintf(stderr, "faultline with: this system does not say where "
			"the program is\n");
		return 1;
	}
	*slash = 0;
	if (snprintf(folder, PATH_MAX, "%.*s/verbs", PATH_MAX - 32, path) < 0)
		return 1;
	n = snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - 32, folder, LIBRARY);
	if (n > 0 && !access(path, R_OK))
		return 0;
	fprintf(stderr, "faultline with: there is no %s (make verbs; it needs "
		"libibverbs-dev)\n", path);
	return 1;
}

/* What stood there before is looked at after ours. */
static int with_path(const char *folder)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char *path;
	int err;

	if (asprintf(&path, "%s%s%s", folder, old && *old ? ":" : "",
		     old ? old : "") < 0)
		return -1;
	err = setenv("LD_LIBRARY_PATH", path, 1);
	free(path);
	return err;
}

static int with_card(const char *on)
{
	char card[FL_NAME_BYTES];
	int n;

	if (!on)
		return 0;
	n = snprintf(card, sizeof(card), "%s%s", *on == '/' ? "" : "emu:", on);
	if (n < 0 || (size_t)n >= sizeof(card)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return setenv("FAULTLINE_CARD", card, 1);
}

static int cmd_with_run(const struct command *c, int argc, char **argv)
{
	char folder[PATH_MAX], **program;
	struct options o;
	int own = 0, err;

	/* What stands behind -- is the program's affair. */
	while (own < argc && strcmp(argv[own], "--"))
		own++;
	err = options_parse(c, own, argv, &o);
	if (err)
		return err == 1 ? 0 : err;
	program = &argv[own < argc ? own + 1 : own];
	if (!*program) {
		fprintf(stderr, "faultline with: no program: faultline with "
			"--on a -- ibv_devinfo\n");
		return 2;
	}
	err = with_folder(folder);
	if (err)
		return err;
	if (with_path(folder) || with_card(o.own[OWN_ON])) {
		fprintf(stderr, "faultline with: %s\n", strerror(errno));
		return 1;
	}
	/* No child (tools/harness): what a shell wants of the program reaches it. */
	execvp(*program, program);
	err = errno;
	fprintf(stderr, "faultline with: %s: %s\n", *program, strerror(err));
	return err == ENOENT ? 127 : 126;
}

const struct command command_with = {
	.name = "with",
	.arguments = "-- PROGRAM...",
	.text = "run a program of rdma-core on boards\n"
		"It finds them as InfiniBand devices: board a (faultline board a b) is "
		"fl_a.",
	.least = 0,
	.most = 0,
	.own = { [OWN_ON] = { "--on", "NAME", "this one alone: a board's name, or a "
			      "card's path (/dev/faultline0)" } },
	.run = cmd_with_run,
};
