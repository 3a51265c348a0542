// SPDX-License-Identifier: BSD-2-Clause
#include "tests/faults/drive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 1000000

static void path_of(const struct drive *d, const char *name, char path[600])
{
	snprintf(path, 600, "%s/%s", d->dir, name);
}

int drive_begin(struct drive *d)
{
	const char *tmp = getenv("TMPDIR");
	struct rlimit none = { 0, 0 };
	char path[600];
	int fd;

	/* What a command leaves behind becomes a child of this program. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return -errno;
	setrlimit(RLIMIT_CORE, &none);
	snprintf(d->dir, sizeof(d->dir), "%.200s/faultline-test-XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(d->dir))
		return -errno;
	path_of(d, "tmp", path);
	if (mkdir(path, 0700))
		return -errno;
	path_of(d, "doors", path);
	if (mkdir(path, 0700))
		return -errno;
	path_of(d, "shared", path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*d->shared)))
		return -errno;
	d->shared = mmap(NULL, sizeof(*d->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);
	close(fd);
	return d->shared == MAP_FAILED ? -ENOMEM : 0;
}

/* All that is in a folder; dir itself too. */
static void remove_all(const char *dir)
{
	char path[1200];
	struct dirent *e;
	DIR *f = opendir(dir);

	while (f && (e = readdir(f))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (unlink(path))
			remove_all(path);
	}
	if (f)
		closedir(f);
	rmdir(dir);
}

void drive_end(struct drive *d)
{
	free(d->stdout_before);
	free(d->product_before);
	munmap(d->shared, sizeof(*d->shared));
	remove_all(d->dir);
}

char *drive_text(const struct drive *d, const char *name)
{
	char path[600], *text = NULL;
	size_t n = 0;
	ssize_t got;
	FILE *f;

	path_of(d, name, path);
	f = fopen(path, "r");
	got = f ? getdelim(&text, &n, 0, f) : -1;
	if (f)
		fclose(f);
	if (got >= 0)
		return text;
	free(text);
	return calloc(1, 1);
}

/* ---- a command ---- */

static void drive_redirect(const char *path, int to)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(125);
	close(fd);
}

static void be_command(struct drive *d, const char *const *argv, bool inject,
		       const char *out, const char *err)
{
	const char *program = !strcmp(argv[0], "faultline") ? d->faultline : argv[0];
	int null;

	setpgid(0, 0);
	if (chdir(d->dir))
		_exit(125);
	null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, 0))
		_exit(125);
	close(null);
	drive_redirect(out, 1);
	drive_redirect(err, 2);
	setenv("TMPDIR", "tmp", 1);
	setenv("FAULTLINE_DIR", "doors", 1);
	unsetenv("FAULTLINE_EVENT_COUNTS");
	if (d->shared->target == DRIVE_ITSELF)
		d->shared->target = getpid();
	if (inject) {
		setenv(FAULTS_ENV, "shared", 1);
		setenv("LD_PRELOAD", d->inject, 1);
	}
	execv(program, (char *const *)(uintptr_t)argv);
	_exit(126);
}

pid_t drive_start(struct drive *d, const char *const *argv, bool inject,
		  const char *out, const char *err)
{
	const char *program = !strcmp(argv[0], "faultline") ? d->faultline : argv[0];
	char path[600];
	pid_t pid;

	/* What an earlier command said is not taken for this one's. */
	path_of(d, out, path);
	unlink(path);
	if (inject)
		snprintf(d->shared->program, sizeof(d->shared->program), "%s",
			 program);
	fflush(NULL);
	pid = fork();
	if (!pid)
		be_command(d, argv, inject, out, err);
	setpgid(pid, pid);	/* it does so too: whoever comes first */
	return pid;
}

static void drive_step(unsigned int *ms)
{
	struct timespec t = { 0, STEP_NS };

	nanosleep(&t, NULL);
	++*ms;
}

bool drive_wait(struct drive *d, pid_t pid, int *status)
{
	unsigned int ms = 0;

	while (waitpid(pid, status, WNOHANG) != pid) {
		drive_step(&ms);
		if (ms < DRIVE_LIMIT_MS)
			continue;
		kill(-pid, SIGKILL);
		waitpid(pid, status, 0);
		snprintf(d->why, sizeof(d->why), "it hangs");
		return false;
	}
	return true;
}

/* Has this program no child but the one that is to live on? */
static bool drive_alone(const struct drive *d)
{
	char path[60];
	int pid, n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	while (f && fscanf(f, "%d", &pid) == 1)
		n += pid != d->beside;
	if (f)
		fclose(f);
	return f && !n;
}

bool drive_bury(struct drive *d, pid_t group)
{
	unsigned int ms = 0;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, NULL, WNOHANG);
		if (pid < 0 || drive_alone(d))
			return true;
		if (pid)
			continue;
		drive_step(&ms);
		if (ms < DRIVE_LIMIT_MS / 4)
			continue;
		kill(-group, SIGKILL);
		snprintf(d->why, sizeof(d->why), "a process is left");
		return false;
	}
}

/* ---- what must hold ---- */

static bool drive_breach(struct drive *d, const char *what, const char *detail)
{
	snprintf(d->why, sizeof(d->why), "%s%s%.400s", what,
		 *detail ? ": " : "", detail);
	return false;
}

static bool is_empty(struct drive *d, const char *folder)
{
	char path[600], name[300] = "", *err;
	struct dirent *e;
	bool said;
	DIR *f;

	path_of(d, folder, path);
	f = opendir(path);
	while (f && (e = readdir(f)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			snprintf(name, sizeof(name), "%s", e->d_name);
	if (f)
		closedir(f);
	if (!*name)
		return true;
	remove_all(path);
	mkdir(path, 0700);
	err = drive_text(d, "err");
	/* It may be that nothing else could be done; the next board takes over a lock. */
	said = strstr(err, "is left") || (strstr(name, ".lock") && d->status);
	free(err);
	if (said)
		return true;
	return d->why[0] ? false : drive_breach(d, "this file is left", name);
}

static bool left_nothing(struct drive *d)
{
	bool left = !is_empty(d, "tmp");

	/* Both: what is found goes. */
	if (!d->beside && !is_empty(d, "doors"))
		left = true;
	return !left;
}

/* Words that no message of ours has, and each of which tells of a crash. */
static bool no_crash(struct drive *d, const char *err)
{
	static const char *const words[] = { "Assertion", "corruption",
		"double free", "invalid pointer", "terminate called" };
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(err, words[i]))
			return drive_breach(d, "it crashed", err);
	return true;
}

/* Does it say what could not be done? Then a reason is in it, or what is missing. */
static bool is_said(struct drive *d, const char *out, const char *err)
{
	static const char *const words[] = { "memory", "cannot", "no thread",
		"failed", "FAILED", "did not", "could not", "no folder",
		"hung up", "as it may", "no room", "belongs to" };
	const char *reason = strerror(d->shared->error);
	unsigned int i;

	if (strstr(err, reason) || strstr(out, reason))
		return true;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(err, words[i]) || strstr(out, words[i]))
			return true;
	return drive_breach(d, "it ends otherwise, and does not say why", err);
}

/*
 * A page that cannot be written to swap stays, and a mapping that cannot be at its place is
 * elsewhere: the work is done, but other steps lead there.
 */
static bool may_differ(const struct drive *d)
{
	const struct faults *f = d->shared;

	return f->how == FAULTS_FAIL && f->error != EINTR &&
	       (f->class == FAULTS_READ || f->class == FAULTS_WRITE ||
		f->class == FAULTS_MAP);
}

static bool all_done(struct drive *d, const struct drive_job *j,
		     const char *out)
{
	char *product;
	bool same;

	if (j->exact && !may_differ(d) && strcmp(out, d->stdout_before))
		return drive_breach(d, "it ends as ever, but with other output",
				    out);
	if (j->says && !strstr(out, j->says))
		return drive_breach(d, "it ends as ever, but the output lacks", j->says);
	if (!j->product)
		return true;
	product = drive_text(d, j->product);
	same = may_differ(d) ? *product : !strcmp(product, d->product_before);
	free(product);
	return same ||
	       drive_breach(d, "it ends as ever, but the file is another",
			    j->product);
}

static bool drive_holds(struct drive *d, const struct drive_job *j)
{
	char *out = drive_text(d, "out"), *err = drive_text(d, "err");
	bool ok, signalled = d->shared->how == FAULTS_SIGNAL;

	ok = no_crash(d, err);
	if (ok && WIFSIGNALED(d->status)) {
		if (!signalled || WTERMSIG(d->status) != d->shared->signal)
			ok = drive_breach(d, strsignal(WTERMSIG(d->status)),
					  err);
	} else if (ok && j->never && WEXITSTATUS(d->status) == j->never) {
		ok = signalled ||
			drive_breach(d, "somebody else is blamed", out);
	} else if (ok && WEXITSTATUS(d->status) != j->status) {
		ok = signalled || is_said(d, out, err);
	} else if (ok && !signalled) {
		ok = all_done(d, j, out);
	}
	if (d->verbose && !d->why[0])
		printf("#   status %d: %s", WEXITSTATUS(d->status),
		       WEXITSTATUS(d->status) ? *err ? err : out : "harmless\n");
	free(out);
	free(err);
	return ok;
}

void drive_clear(struct drive *d, enum faults_how how)
{
	memset(d->shared, 0, sizeof(*d->shared));
	d->shared->how = (int)how;
}

static bool next_run(struct drive *d)
{
	static const char *const argv[] = { "faultline", "run", "--mode",
					    "processes", "tiny.fl", NULL };
	pid_t pid = drive_start(d, argv, false, "out", "err");
	int status = -1;

	if (pid > 0 && drive_wait(d, pid, &status) && drive_bury(d, pid) &&
	    !status)
		return true;
	return drive_breach(d, "the next run does not work", "");
}

/* Or it is said that it could not be taken away. */
static bool is_gone(struct drive *d, const char *name)
{
	char path[600], *err;
	bool said;

	path_of(d, name, path);
	if (access(path, F_OK))
		return true;
	unlink(path);
	err = drive_text(d, "err");
	said = strstr(err, "is left");
	free(err);
	return said || drive_breach(d, "this file is left", name);
}

bool drive_judge(struct drive *d, const struct drive_job *j)
{
	bool ok = drive_holds(d, j);

	if (j->gone)
		ok = is_gone(d, j->gone) && ok;

	/* A command that is killed cannot clean up: the next run has to. */
	if (d->shared->how == FAULTS_SIGNAL && d->shared->signal == SIGKILL)
		ok = next_run(d) && ok;
	return left_nothing(d) && ok;
}

bool drive_once(struct drive *d, const struct drive_job *j)
{
	char path[600];
	pid_t pid;

	d->why[0] = 0;
	if (j->product) {
		path_of(d, j->product, path);
		unlink(path);
	}
	pid = drive_start(d, j->argv, true, "out", "err");
	if (pid < 0)
		return drive_breach(d, "no process", strerror(errno));
	return drive_wait(d, pid, &d->status) && drive_bury(d, pid) &&
	       drive_judge(d, j);
}

bool drive_count(struct drive *d, const struct drive_job *j)
{
	drive_clear(d, FAULTS_NOTHING);
	free(d->stdout_before);
	free(d->product_before);
	d->stdout_before = d->product_before = NULL;
	d->why[0] = 0;
	/* What it says is compared with itself. */
	pid_t pid = drive_start(d, j->argv, true, "out", "err");

	if (pid < 0 || !drive_wait(d, pid, &d->status) || !drive_bury(d, pid))
		return false;
	d->stdout_before = drive_text(d, "out");
	d->product_before = drive_text(d, j->product ? j->product : "none");
	return drive_holds(d, j) && left_nothing(d) &&
	       ((WIFEXITED(d->status) && WEXITSTATUS(d->status) == j->status) ||
		drive_breach(d, "it ends otherwise without a fault", d->stdout_before));
}
