// SPDX-License-Identifier: BSD-2-Clause
/*
 * The walls for what builds a subject: preprocessor, compiler, assembler, linker,
 * Verilator. They read what a student wrote, and it can make them read more: so they
 * get the system's tools and headers, the files that they are given, and one folder to
 * write in. What the system itself cannot do here is told by grade_walls().
 */
#include "tools/confine/confine.h"
#include "tools/grade/grade.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "os/os_emu.h"

extern char **environ;

#define PATHS_MAX 2048

/* A bomb of macros, an endless file: of each process, and of each file. */
#define TOOLS_CPU_S 60
#define TOOLS_MEMORY ((uint64_t)4000000 << 10)
#define TOOLS_FILE ((uint64_t)100 << 20)

static struct confine_path path[PATHS_MAX] = {
	{ "/usr/bin", CONFINE_MAY_READ }, { "/bin", CONFINE_MAY_READ },
	{ "/usr/local/bin", CONFINE_MAY_READ },
	{ "/usr/include", CONFINE_MAY_READ | CONFINE_MAY_LIST },
	{ "/usr/local/include", CONFINE_MAY_READ | CONFINE_MAY_LIST },
	{ "/usr/libexec", CONFINE_MAY_READ | CONFINE_MAY_LIST },
	/* Verilator's command is in Perl. */
	{ "/usr/share/perl", CONFINE_MAY_READ }, { "/usr/share/perl5", CONFINE_MAY_READ },
	{ "/etc/perl", CONFINE_MAY_READ },
	{ "/dev/null", CONFINE_MAY_READ | CONFINE_MAY_WRITE },
	{ "/dev/urandom", CONFINE_MAY_READ },
};
static unsigned int paths = 11;

static int walls_add(const char *name, unsigned int may)
{
	if (paths == PATHS_MAX) {
		fprintf(stderr, "grade: more than %d files for a compiler\n",
			PATHS_MAX);
		return -ENOSPC;
	}
	path[paths].path = strdup(name);
	path[paths].may = may;
	return path[paths++].path ? 0 : -ENOMEM;
}

/* A list of files, one on each line. */
static int add_from(const char *list)
{
	char line[4096];
	FILE *f = fopen(list, "r");
	int err = 0;

	if (!f) {
		fprintf(stderr, "grade: %s: %s\n", list, strerror(errno));
		return -errno;
	}
	while (!err && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		err = walls_add(line, CONFINE_MAY_READ);
	}
	fclose(f);
	return err;
}

/* Of the caller's variables a compiler gets these, and its own folder for the rest. */
static void set_environment(const char *folder)
{
	static const char *const kept[] = {
		"PATH", "LD_LIBRARY_PATH", "VERILATOR_ROOT", "RTL_GEN",
	};
	static char *value[sizeof(kept) / sizeof(kept[0])];
	static char *none[] = { NULL };
	unsigned int i;

	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		value[i] = getenv(kept[i]) ? strdup(getenv(kept[i])) : NULL;
	environ = none;
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (value[i])
			setenv(kept[i], value[i], 1);
	setenv("LC_ALL", "C", 1);
	/* A cache of compiled files is another folder to write in. */
	setenv("CCACHE_DISABLE", "1", 1);
	if (folder)
		setenv("TMPDIR", folder, 1);
}

/* Where the shell would find it; NULL, and a message: nowhere. */
static char *find_program(const char *name)
{
	static char at[4096];
	const char *dir = getenv("PATH");
	size_t n;

	if (strchr(name, '/'))
		return strcpy(at, strlen(name) < sizeof(at) ? name : "");
	for (; dir && *dir; dir += n + (dir[n] == ':')) {
		n = strcspn(dir, ":");
		if (snprintf(at, sizeof(at), "%.*s/%s", (int)n, dir, name) <
		    (int)sizeof(at) && !access(at, X_OK))
			return at;
	}
	fprintf(stderr, "grade: there is no %s\n", name);
	return NULL;
}

static struct confine walls_tools(const char *program)
{
	return (struct confine){
		.kind = CONFINE_TOOLS, .program = program,
		.cpu_s = TOOLS_CPU_S, .memory_bytes = TOOLS_MEMORY,
		.file_bytes = TOOLS_FILE, .path = path, .paths = paths,
	};
}

int grade_confine(int argc, char **argv)
{
	const char *folder = NULL;
	struct confine c;
	char *program;
	int i, err = 0;

	for (i = 0; !err && i + 1 < argc && strcmp(argv[i], "--"); i += 2) {
		if (!strcmp(argv[i], "--read"))
			err = walls_add(argv[i + 1], CONFINE_MAY_READ);
		else if (!strcmp(argv[i], "--tool"))
			err = walls_add(argv[i + 1], CONFINE_MAY_READ | CONFINE_MAY_LIST);
		else if (!strcmp(argv[i], "--list"))
			err = walls_add(argv[i + 1], CONFINE_MAY_LIST);
		else if (!strcmp(argv[i], "--from"))
			err = add_from(argv[i + 1]);
		else if (!strcmp(argv[i], "--write"))
			err = walls_add(folder = argv[i + 1], CONFINE_MAY_READ |
					CONFINE_MAY_LIST | CONFINE_MAY_WRITE);
		else
			err = -EINVAL;
	}
	if (err || i + 1 >= argc) {
		fprintf(stderr, "usage: grade confine [--read FILE] [--from LIST]"
			" [--tool FOLDER] [--list FOLDER] [--write FOLDER] -- "
			"COMMAND...\n");
		return 2;
	}
	argv += i + 1;
	set_environment(folder);
	program = find_program(argv[0]);
	if (!program)
		return 127;
	os_close_from(3);
	c = walls_tools(program);
	err = confine_self(&c);
	if (err < 0) {
		fprintf(stderr, "grade: %s: cannot be confined: %s\n", argv[0],
			strerror(-err));
		return 126;
	}
	execv(program, argv);
	fprintf(stderr, "grade: %s: %s\n", program, strerror(errno));
	return 127;
}

/* Exit status of a child: the rest is errno. */
#define FAILED 128

int grade_walls(void)
{
	struct confine c = walls_tools("/bin/sh");
	int status = 0, held;
	pid_t pid = fork(), got;

	if (!pid) {
		held = confine_self(&c);
		_exit(held < 0 ? -held | FAILED : held);
	}
	if (pid < 0)
		return -errno;
	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	if (got != pid)
		return -errno;
	if (!WIFEXITED(status))
		return -ECHILD;
	status = WEXITSTATUS(status);
	return status & FAILED ? -(status & ~FAILED) : status;
}
