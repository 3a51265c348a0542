// SPDX-License-Identifier: BSD-2-Clause
#include "tools/faultline/plan_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"
#include "os/os_emu.h"
#include "tools/confine/confine.h"
#include "tools/contest/talk.h"

#define BUILD_CPU_S	60
#define BUILD_MEMORY	((uint64_t)4000 << 20)
#define BUILD_FILE	((uint64_t)100 << 20)
#define RUN_CPU_S	10	/* of one pattern */
#define RUN_MEMORY	((uint64_t)512 << 20)
#define RUN_FILE	((uint64_t)1 << 20)	/* of what it says, in a file */
#define ANSWER_MS	5000	/* by the wall, for one that sleeps */
#define PATHS		3400

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* ---- compiling ---- */

/* Where the shell would find it; false: nowhere. */
static bool program_find(const char *name, char path[PATHS])
{
	const char *dir = getenv("PATH");
	size_t n;

	for (; dir && *dir; dir += n + (dir[n] == ':')) {
		n = strcspn(dir, ":");
		if (snprintf(path, PATHS, "%.*s/%s", (int)n, dir, name) <
		    PATHS && !access(path, X_OK))
			return true;
	}
	return false;
}

struct compiler {
	const struct plan_program *p;
	const char *path;
};

static int be_compiler(int line, void *compiler)
{
	const struct compiler *of = compiler;
	const struct plan_program *p = of->p;
	char include[PATHS], root[PATHS], contest[PATHS], entry[PATHS];
	char *const argv[] = {
		"cc", "-std=gnu11", "-O1", "-g", "-Wall", include, root,
		"-o", (char *)p->program, (char *)p->source, entry, NULL
	};
	const struct confine_path paths[] = {
		{ "/usr/bin", CONFINE_MAY_READ }, { "/bin", CONFINE_MAY_READ },
		{ "/usr/local/bin", CONFINE_MAY_READ },
		{ "/usr/include", CONFINE_MAY_READ | CONFINE_MAY_LIST },
		{ "/usr/local/include", CONFINE_MAY_READ | CONFINE_MAY_LIST },
		{ "/usr/libexec", CONFINE_MAY_READ | CONFINE_MAY_LIST },
		{ "/dev/null", CONFINE_MAY_READ | CONFINE_MAY_WRITE },
		{ "/dev/urandom", CONFINE_MAY_READ },
		{ p->source, CONFINE_MAY_READ },
		{ contest, CONFINE_MAY_READ | CONFINE_MAY_LIST },
		{ include + 2, CONFINE_MAY_READ | CONFINE_MAY_LIST },
		{ p->folder.path, CONFINE_MAY_READ | CONFINE_MAY_LIST | CONFINE_MAY_WRITE },
	};
	struct confine c = {
		.kind = CONFINE_TOOLS, .program = of->path,
		.cpu_s = BUILD_CPU_S, .memory_bytes = BUILD_MEMORY,
		.file_bytes = BUILD_FILE, .path = paths,
		.paths = sizeof(paths) / sizeof(paths[0]),
	};

	snprintf(include, PATHS, "-I%s/kernel-ref/include", p->tree);
	snprintf(root, PATHS, "-I%s", p->tree);
	snprintf(contest, PATHS, "%s/tools/contest", p->tree);
	snprintf(entry, PATHS, "%s/tools/contest/main.c", p->tree);
	(void)line;
	setenv("TMPDIR", p->folder.path, 1);
	setenv("CCACHE_DISABLE", "1", 1);
	setenv("LC_ALL", "C", 1);
	os_close_from(3);
	os_end_with_parent();
	if (!SANITIZED && confine_self(&c) < 0)
		return 126;
	execv(of->path, argv);
	return 127;
}

static int build_failed(struct plan_program *p, int exit_status,
			const char *what)
{
	fprintf(stderr, "faultline contest: %s: %s\n", p->source, what);
	folder_remove(&p->folder);
	return exit_status;
}

/* Both are found before anything is made. */
static int build_find(const struct plan_program *p, char cc[PATHS])
{
	char header[PATHS];

	snprintf(header, sizeof(header), "%s/kernel-ref/include/faultline/plan.h",
		 p->tree);
	if (access(p->source, R_OK)) {
		fprintf(stderr, "faultline contest: cannot read %s: %s\n",
			p->source, strerror(errno));
		return 2;
	}
	if (access(header, R_OK)) {
		fprintf(stderr, "faultline contest: there is no %s; wanted: "
			"--tree FOLDER, where the sources of Faultline are\n",
			header);
		return 2;
	}
	if (program_find("cc", cc))
		return 0;
	fprintf(stderr, "faultline contest: there is no C compiler (cc) on the "
		"PATH\n");
	return 2;
}

static void plan_program_ask(void *arg, const struct fl_plan_fault *fault,
			     struct fl_plan_state *state,
			     struct fl_plan_bring *bring);

int plan_program_build(struct plan_program *p, const char *source,
		       const char *tree)
{
	char cc[PATHS], *real;
	struct compiler of = { p, cc };
	struct child child;
	int err;

	memset(p, 0, sizeof(*p));
	p->own = (struct fl_plan_own){ plan_program_ask, p };
	p->source = source;
	p->held = -1;
	/* Not by a name that leads elsewhere: the walls are told of real paths. */
	real = realpath(tree, NULL);
	snprintf(p->tree, sizeof(p->tree), "%s", real ? real : tree);
	free(real);
	err = build_find(p, cc);
	if (err)
		return err;
	err = folder_make(&p->folder);
	if (err) {
		fprintf(stderr, "faultline contest: no folder in $TMPDIR: %s\n",
			strerror(-err));
		return 2;
	}
	snprintf(p->program, sizeof(p->program), "%s/plan", p->folder.path);
	err = child_start(&child, be_compiler, &of);
	if (err)
		return build_failed(p, 2, strerror(-err));
	err = child_end(&child, 0);
	child_hang_up(&child);
	if (err < 0)
		return build_failed(p, 1, "the compiler took more than it may");
	if (err == 126)
		return build_failed(p, 2, "the compiler cannot be confined");
	if (err)
		return build_failed(p, 1, "it does not compile");
	/* The walls keep a linker from saying so itself. */
	if (chmod(p->program, 0700))
		return build_failed(p, 2, strerror(errno));
	return 0;
}

void plan_program_free(struct plan_program *p)
{
	folder_remove(&p->folder);
}

/* ---- running ---- */

static int be_program(int line, void *program)
{
	static char *const env[] = { NULL };
	char *const argv[] = { "plan", NULL };
	const struct plan_program *p = program;
	struct confine c = {
		.kind = CONFINE_LOADED, .program = p->program,
		.cpu_s = RUN_CPU_S, .memory_bytes = RUN_MEMORY,
		.file_bytes = RUN_FILE,
	};
	int null, held;

	line = fcntl(line, F_DUPFD, 10);
	null = open("/dev/null", O_RDONLY);
	/* What it prints is for who wrote it, and is no answer. */
	if (null < 0 || line < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0 ||
	    dup2(line, CONTEST_LINE) < 0)
		return 126;
	os_close_from(CONTEST_LINE + 1);
	os_end_with_parent();
	held = SANITIZED ? 0 : confine_self(&c);
	if (write(CONTEST_LINE, &held, sizeof(held)) != sizeof(held) ||
	    held < 0)
		return 126;
	if (SANITIZED)
		execve(p->program, argv, env);
	else
		confine_exec(p->program, argv, env);
	return 127;
}

int plan_program_start(struct plan_program *p)
{
	int err;

	p->problem[0] = 0;
	p->asked = 0;
	err = child_start(&p->child, be_program, p);
	/* One that is dead is found by its answer. */
	if (err || os_receive_all(p->child.line, &p->held, sizeof(p->held),
				  NULL, NULL, -1))
		p->held = -1;
	return err;
}

static void program_died(struct plan_program *p)
{
	int status = child_end(&p->child, 0);
	char words[CHILD_WORDS];

	if (status == -SIGXCPU || status == -SIGKILL)
		snprintf(p->problem, sizeof(p->problem), "plan() used up %d s "
			 "of CPU at fault %llu", RUN_CPU_S,
			 (unsigned long long)p->asked);
	else if (status < 0)
		snprintf(p->problem, sizeof(p->problem), "plan() crashed at "
			 "fault %llu: %s", (unsigned long long)p->asked,
			 child_words(status, words));
	else
		snprintf(p->problem, sizeof(p->problem), "the program ended by "
			 "itself at fault %llu, with %s",
			 (unsigned long long)p->asked,
			 child_words(status, words));
}

static void program_late(struct plan_program *p)
{
	child_end(&p->child, SIGKILL);
	snprintf(p->problem, sizeof(p->problem), "plan() gave no answer within "
		 "%d s at fault %llu", ANSWER_MS / 1000,
		 (unsigned long long)p->asked);
}

static bool program_hear(struct plan_program *p, void *to, size_t n)
{
	struct pollfd fd = { .fd = p->child.line, .events = POLLIN };
	char *at = to;
	ssize_t got;
	int ready;

	while (n) {
		do
			ready = poll(&fd, 1, ANSWER_MS);
		while (ready < 0 && errno == EINTR);
		if (!ready) {
			program_late(p);
			return false;
		}
		got = os_receive(p->child.line, at, n, NULL, NULL);
		if (got <= 0) {
			program_died(p);
			return false;
		}
		at += got;
		n -= (size_t)got;
	}
	return true;
}

static bool program_say(struct plan_program *p, const void *from, size_t n)
{
	if (!os_send_all(p->child.line, from, n, NULL, 0, -1))
		return true;
	program_died(p);
	return false;
}

static void plan_program_ask(void *arg, const struct fl_plan_fault *fault,
			     struct fl_plan_state *state,
			     struct fl_plan_bring *bring)
{
	struct plan_program *p = arg;
	struct contest_question q = { *fault, *state };
	struct contest_answer a;

	p->asked += p->child.pid != 0;
	if (!p->child.pid || !program_say(p, &q, sizeof(q)) ||
	    !program_hear(p, &a, sizeof(a))) {
		bring->now = fault->block;
		return;
	}
	*state = a.state;
	*bring = a.bring;
}

void plan_program_stop(struct plan_program *p)
{
	child_end(&p->child, SIGKILL);
	child_hang_up(&p->child);
}
