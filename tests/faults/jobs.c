// SPDX-License-Identifier: BSD-2-Clause
/*
 * jobs.c - each call that a command makes of the C library fails once.
 *
 *	jobs [--most N] [--signals] [--verbose] [--only NAME-PART;...] [--class NAME]
 *		FAULTLINE INJECT.so PAIR GUESTS GRADE LAB SUBJECT
 *
 * A job is a command. It runs once without a fault; then once for each place in the
 * program that calls the C library, and the first call from there fails (with --most: the
 * first N calls, each in a run of its own); calls that read and write are also cut short and
 * interrupted. What must hold each time: drive.h. --signals: instead, a signal comes before
 * such a call, to the command or to all of its processes.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/faults/drive.h"

static const struct {
	const char *name;
	int error;
} classes[] = {
#define X(id, name, error) { name, error },
	FAULTS_CLASSES(X)
#undef X
};

static struct options {
	bool signals, verbose;
	uint64_t most;		/* calls of one place that fail */
	const char *only, *class;
	const char *pair, *guests, *grade, *lab, *subject;
} opt;

#define SMALL "small.fl"
#define PASSED "passed: "
/* Test of the lab that the subject passes, and whose record the exports are of. */
#define ONE_TEST "none_there"
/* Words of a job's line that jobs_options() has. */
#define PAIR "(pair)"
#define GUESTS "(guests)"
#define GRADE "(grade)"
#define LAB "(lab)"
#define SUBJECT "(subject)"
static struct drive_job jobs[] = {
	{ .name = "run, lockstep", .argv = { "faultline", "run", SMALL, "--trace",
	  "out.trace" }, .says = PASSED, .exact = true, .product = "out.trace" },
	{ .name = "run, threads", .argv = { "faultline", "run", SMALL, "--mode",
	  "threads" }, .says = PASSED },
	{ .name = "run, processes", .argv = { "faultline", "run", SMALL, "--mode",
	  "processes" }, .says = PASSED },
	{ .name = "run --check", .argv = { "faultline", "run", SMALL, "--check" },
	  .says = "no mistakes", .exact = true },
	{ .name = "run --language", .argv = { "faultline", "run", "--language" },
	  .exact = true },
	{ .name = "help", .argv = { "faultline", "--help" }, .exact = true },
	{ .name = "help of a command", .argv = { "faultline", "trace", "--help" },
	  .exact = true },
	{ .name = "trace, text", .argv = { "faultline", "trace", "small.trace" },
	  .exact = true },
	{ .name = "trace, story", .argv = { "faultline", "trace", "small.trace",
	  "--story" }, .exact = true },
	{ .name = "trace, sequence", .argv = { "faultline", "trace", "small.trace",
	  "--dot", "sequence" }, .exact = true },
	{ .name = "trace, states", .argv = { "faultline", "trace", "small.trace",
	  "--dot", "states" }, .exact = true },
	{ .name = "trace, walk", .argv = { "faultline", "trace", "small.trace",
	  "--dot", "walk" }, .exact = true },
	{ .name = "equal", .argv = { "faultline", "equal", "small.trace",
	  "small.trace" }, .says = "equal: ", .exact = true },
	{ .name = "send, lockstep", .argv = { "faultline", "send", "file" },
	  .says = "the two are equal", .exact = true },
	{ .name = "send, threads", .argv = { "faultline", "send", "file", "--mode",
	  "threads" }, .says = "the two are equal" },
	{ .name = "send, processes", .argv = { "faultline", "send", "file", "--mode",
	  "processes" }, .says = "the two are equal" },
	{ .name = "send, processes, trace", .argv = { "faultline", "send", "file",
	  "--mode", "processes", "--trace", "out.trace" },
	  .says = "the two are equal" },
	{ .name = "send, UDP", .argv = { "faultline", "send", "file", "--mode",
	  "processes", "--udp" }, .says = "the two are equal" },
	{ .name = "demo", .argv = { "faultline", "demo", "file", "--out", "demo" },
	  .says = "All seven arrived", .exact = true,
	  .product = "demo/table.txt" },
	{ .name = "attach", .argv = { PAIR, "emu:a" },
	  .says = "every byte is right", .attaches = true },
	{ .name = "boards", .argv = { "faultline", "board", "a", "b" },
	  .says = "ready", .visitor = { PAIR, "emu:a" } },
	{ .name = "vm", .argv = { "faultline", "vm", "--stay", "n0", "n1" },
	  .says = "ready", .visitor = { GUESTS }, .gone = "n0/card" },
	{ .name = "reproduce", .argv = { "faultline", "reproduce", "hops" },
	  .exact = true },
	{ .name = "grade list", .argv = { GRADE, "list", "--lab", LAB },
	  .exact = true },
	/* The grader must not blame the work for a fault of the machine. */
	{ .name = "grade run", .argv = { GRADE, "run", "--lab", LAB, "--out", "graded",
	  "--subject", SUBJECT, "--only", ONE_TEST }, .says = "score 3 of 3",
	  .exact = true, .never = 1 },
	{ .name = "grade run, not built", .argv = { GRADE, "run", "--lab", LAB, "--out",
	  "graded" }, .says = "score 0 of ", .exact = true, .product = "graded/record",
	  .status = 1 },
	{ .name = "grade export text", .argv = { GRADE, "export", "text",
	  "signed/record" }, .exact = true },
	{ .name = "grade export ktap", .argv = { GRADE, "export", "ktap",
	  "signed/record" }, .exact = true },
	{ .name = "grade export gradescope", .argv = { GRADE, "export", "gradescope",
	  "signed/record" }, .exact = true },
	{ .name = "grade export csv", .argv = { GRADE, "export", "csv",
	  "signed/record" }, .exact = true },
	{ .name = "grade verify", .argv = { GRADE, "verify", "signed/record", "--key",
	  "file" }, .says = "signed with this key\n", .exact = true, .never = 1 },
};
#define JOBS (sizeof(jobs) / sizeof(jobs[0]))

static const char scenario[] =
	"board a frames=64 swap=128\n"
	"board b frames=64 swap=128\n"
	"link a b\n"
	"process p on a\n"
	"process q on b\n"
	"buffer src in p 320K fill=random seed=3\n"
	"buffer dst in q 320K cold\n"
	"region src\n"
	"region dst\n"
	"connect p q as c\n"
	"repeat 2\n"
	"	post w1: write c src -> dst\n"
	"	wait w1\n"
	"end\n"
	"expect status w1 ok\n"
	"expect data dst = src\n";

/* ---- the folder ---- */

static int jobs_put(const struct drive *d, const char *name, const char *text,
		    size_t n)
{
	char path[600];
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "%s/%s", d->dir, name);
	f = fopen(path, "w");
	if (!f)
		return -errno;
	err = fwrite(text, 1, n, f) != n;
	return fclose(f) || err ? -EIO : 0;
}

/* Graphviz takes seconds for pictures of which nothing is compared here. */
static int put_dot(const struct drive *d)
{
	static const char script[] = "#!/bin/sh\n: >\"$3\"\n";
	const char *path = getenv("PATH");
	char first[5000];

	snprintf(first, sizeof(first), "%s/bin", d->dir);
	if (mkdir(first, 0777) ||
	    jobs_put(d, "bin/dot", script, sizeof(script) - 1))
		return -EIO;
	snprintf(first, sizeof(first), "%s/bin/dot", d->dir);
	if (chmod(first, 0777))
		return -errno;
	snprintf(first, sizeof(first), "%s/bin:%s", d->dir, path ? path : "/bin");
	return setenv("PATH", first, 1) ? -errno : 0;
}

static void fill_in(const char **argv, unsigned int n)
{
	const struct {
		const char *word, *is;
	} in[] = { { PAIR, opt.pair }, { GUESTS, opt.guests }, { GRADE, opt.grade },
		   { LAB, opt.lab }, { SUBJECT, opt.subject } };
	unsigned int i, k;

	for (i = 0; i < n && argv[i]; i++)
		for (k = 0; k < sizeof(in) / sizeof(in[0]); k++)
			if (!strcmp(argv[i], in[k].word))
				argv[i] = in[k].is;
}

static int jobs_prepare(struct drive *d)
{
	const char *const trace[] = { "faultline", "run", SMALL, "--trace",
				      "small.trace", NULL };
	const char *const record[] = { opt.grade, "run", "--lab", opt.lab, "--out",
				       "signed", "--subject", opt.subject, "--only",
				       ONE_TEST, "--key", "file", NULL };
	char file[20000];
	int status = 0;
	size_t i;
	pid_t pid;

	for (i = 0; i < sizeof(file); i++)
		file[i] = (char)(i * 13 + i / 251);
	if (jobs_put(d, SMALL, scenario, sizeof(scenario) - 1) ||
	    jobs_put(d, "tiny.fl", "board a\n", 8) ||
	    jobs_put(d, "file", file, sizeof(file)) || put_dot(d))
		return -EIO;
	pid = drive_start(d, trace, false, "out", "err");
	if (pid < 0 || !drive_wait(d, pid, &status) || status)
		return -EIO;
	pid = drive_start(d, record, false, "out", "err");
	if (pid < 0 || !drive_wait(d, pid, &status) || status)
		return -EIO;
	for (i = 0; i < JOBS; i++) {
		fill_in(jobs[i].argv, DRIVE_ARGS);
		fill_in(jobs[i].visitor, 2);
	}
	return 0;
}

/* ---- boards beside, and boards as the job ---- */

static bool is_ready(struct drive *d, const char *out)
{
	char *text = drive_text(d, out);
	bool ready = strstr(text, "\nready") != NULL;

	free(text);
	return ready;
}

/* Until it is ready, or has ended. */
static bool wait_ready(struct drive *d, pid_t pid, const char *out, int *status)
{
	struct timespec t = { 0, 1000000 };
	unsigned int ms;

	for (ms = 0; ms < DRIVE_LIMIT_MS; ms++) {
		if (is_ready(d, out))
			return true;
		if (waitpid(pid, status, WNOHANG) == pid)
			return false;
		nanosleep(&t, NULL);
	}
	*status = -1;
	return false;
}

static bool boards_begin(struct drive *d)
{
	static const char *const argv[] = { "faultline", "board", "a", "b", NULL };
	int status;

	d->beside = drive_start(d, argv, false, "boards.out", "boards.err");
	return d->beside > 0 &&
	       wait_ready(d, d->beside, "boards.out", &status);
}

static void boards_end(struct drive *d)
{
	int status;

	if (d->beside > 0) {
		kill(d->beside, SIGTERM);
		drive_wait(d, d->beside, &status);
	}
	d->beside = 0;
}

/* ---- what fails ---- */

struct counts {
	unsigned int made, refused, harmless, unmet, wrong;
};

static void say_where(const struct drive *d, uint64_t key)
{
	char command[1000], line[300];
	FILE *f;

	snprintf(command, sizeof(command), "addr2line -s -f -i -e %s 0x%llx "
		 "2>/dev/null | paste -sd ' '", d->shared->program,
		 (unsigned long long)faults_key_offset(key) - 1);
	f = popen(command, "r");
	if (f && fgets(line, sizeof(line), f))
		printf("#     at %s", line);
	if (f)
		pclose(f);
}

static void set_fault(struct drive *d, int class, enum faults_how how,
		      int error, uint64_t site, uint64_t nth)
{
	char program[sizeof(d->shared->program)];

	memcpy(program, d->shared->program, sizeof(program));
	drive_clear(d, how);
	memcpy(d->shared->program, program, sizeof(program));
	d->shared->class = class;
	d->shared->error = error;
	d->shared->site = site;
	d->shared->nth = nth;
}

/*
 * Boards that turned a visitor away may be on their way out, with an error. Only then is
 * there anything to wait for.
 */
static bool serve_ends(pid_t pid, int *status)
{
	struct timespec t = { 0, 1000000 };
	unsigned int ms;

	for (ms = 0; ms < DRIVE_LIMIT_MS; ms++) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		nanosleep(&t, NULL);
	}
	return false;
}

/* The boards live on while others come; the fault may end them at their start alone. */
static bool serve_once(struct drive *d, const struct drive_job *j)
{
	int status = 0, end = 0, i;
	bool ok = true, ready;
	pid_t pid, p;

	d->why[0] = 0;
	pid = drive_start(d, j->argv, true, "out", "err");
	ready = wait_ready(d, pid, "out", &end);
	/* The last of three may be the one that is met by the fault. */
	for (i = 0; ready && (i < 3 || (i == 3 && status)); i++) {
		p = drive_start(d, j->visitor, false, "visitor.out", "visitor.err");
		drive_wait(d, p, &status);
	}
	if (opt.signals)
		status = 0;
	/* It may end, since it cannot say that it is ready. */
	if (ready && status && serve_ends(pid, &end))
		ready = false;
	if (ready && status) {
		char *err = drive_text(d, "visitor.err"), *out = drive_text(d, "visitor.out");

		snprintf(d->why, sizeof(d->why), "who comes next is not served: "
			 "%.250s%.250s", err, out);
		free(err);
		free(out);
		ok = false;
	}
	if (ready) {
		kill(pid, SIGTERM);
		ok = drive_wait(d, pid, &end) && ok;
	}
	d->status = end;
	return ok;
}

static bool jobs_once(struct drive *d, const struct drive_job *j)
{
	if (*j->visitor)
		return serve_once(d, j) && drive_judge(d, j);
	return drive_once(d, j);
}

static void tell_wrong(struct drive *d, int class, enum faults_how how,
		       int error, uint64_t site, uint64_t nth)
{
	printf("# %s, call %llu, %s: %s\n", classes[class].name,
	       (unsigned long long)nth, how == FAULTS_SHORT ? "cut short" :
	       how == FAULTS_SIGNAL ? strsignal(d->shared->signal) :
	       strerror(error), d->why);
	if (site)
		say_where(d, site);
	fflush(stdout);
}

static void fail_one(struct drive *d, const struct drive_job *j,
		     struct counts *c, int class, enum faults_how how,
		     int error, uint64_t site, uint64_t nth)
{
	set_fault(d, class, how, error, site, nth);
	if (opt.verbose) {
		printf("# %s, call %llu: %s\n", classes[class].name,
		       (unsigned long long)nth, strerror(error));
		if (site)
			say_where(d, site);
	}
	d->verbose = opt.verbose;
	c->made++;
	if (!jobs_once(d, j)) {
		c->wrong++;
		tell_wrong(d, class, how, error, site, nth);
	} else if (!d->shared->hit) {
		c->unmet++;
	} else if (d->status) {
		c->refused++;
	} else {
		c->harmless++;
	}
}

static void signal_one(struct drive *d, const struct drive_job *j,
		       struct counts *c, int class, uint64_t site, uint64_t nth,
		       int sig, int target)
{
	/* Sockets of boards that were killed are for the next ones: test_serve_death.c. */
	if (*j->visitor && sig == SIGKILL)
		return;
	set_fault(d, class, FAULTS_SIGNAL, 0, site, nth);
	d->shared->signal = sig;
	d->shared->target = target;
	c->made++;
	if (!jobs_once(d, j)) {
		c->wrong++;
		tell_wrong(d, class, FAULTS_SIGNAL, 0, site, nth);
	} else if (!d->shared->hit) {
		c->unmet++;
	} else {
		c->refused++;
	}
}

/* A terminal sends to all of a group, kill(1) to one. */
static void signal_call(struct drive *d, const struct drive_job *j,
			struct counts *c, int class, uint64_t site, uint64_t nth)
{
	signal_one(d, j, c, class, site, nth, SIGINT, 0);
	signal_one(d, j, c, class, site, nth, SIGKILL, 0);
	if (opt.most == 1)
		return;
	signal_one(d, j, c, class, site, nth, SIGTERM, DRIVE_ITSELF);
	signal_one(d, j, c, class, site, nth, SIGHUP, 0);
	signal_one(d, j, c, class, site, nth, SIGKILL, DRIVE_ITSELF);
}

/* What may go wrong with one call. */
static void fail_call(struct drive *d, const struct drive_job *j,
		      struct counts *c, int class, uint64_t site, uint64_t nth)
{
	if (opt.signals) {
		/* Between two calls that change nothing outside, one moment is as another. */
		if (class != FAULTS_MEMORY && class != FAULTS_PRINT)
			signal_call(d, j, c, class, site, nth);
		return;
	}
	fail_one(d, j, c, class, FAULTS_FAIL, classes[class].error, site, nth);
	if (class > FAULTS_WRITE)
		return;
	fail_one(d, j, c, class, FAULTS_FAIL, EINTR, site, nth);
	fail_one(d, j, c, class, FAULTS_SHORT, EIO, site, nth);
}

static int by_key(const void *a, const void *b)
{
	const struct faults_site *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void fail_sites(struct drive *d, const struct drive_job *j,
		       struct counts *c)
{
	static struct faults_site at[FAULTS_SITES];
	uint64_t k;
	size_t i;
	int class;

	memcpy(at, d->shared->at, sizeof(at));
	qsort(at, FAULTS_SITES, sizeof(at[0]), by_key);
	for (i = 0; i < FAULTS_SITES; i++) {
		class = faults_key_class(at[i].key);
		if (!at[i].key || (opt.class &&
				   strcmp(opt.class, classes[class].name)))
			continue;
		for (k = 1; k <= ((at[i].calls < opt.most ? at[i].calls : opt.most)); k++)
			fail_call(d, j, c, class, at[i].key, k);
	}
}

static bool run_job(struct drive *d, const struct drive_job *j)
{
	struct counts c = { 0 };
	bool ok = true;

	if (j->attaches)
		ok = boards_begin(d);
	if (*j->visitor) {
		drive_clear(d, FAULTS_NOTHING);
		ok = jobs_once(d, j);
	} else {
		ok = ok && drive_count(d, j);
	}
	if (ok)
		fail_sites(d, j, &c);
	else
		printf("# without a fault: %s\n", d->why);
	boards_end(d);
	if (opt.signals)
		printf("# %u signals, %u of them at calls that were not made "
		       "again\n", c.made, c.unmet);
	else
		printf("# %u calls failed: %u times the command says so, %u times "
		       "it does no harm, %u calls were not made again\n",
		       c.made, c.refused, c.harmless, c.unmet);
	return ok && !c.wrong;
}

static const char *jobs_absolute(const char *path)
{
	char *p = realpath(path, NULL);

	if (!p) {
		fprintf(stderr, "jobs: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	return p;
}

static void jobs_options(int argc, char **argv, struct drive *d)
{
	int i;

	opt.most = 1;
	for (i = 1; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--most") && i + 1 < argc)
			opt.most = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--signals"))
			opt.signals = true;
		else if (!strcmp(argv[i], "--verbose"))
			opt.verbose = true;
		else if (!strcmp(argv[i], "--only") && i + 1 < argc)
			opt.only = argv[++i];
		else if (!strcmp(argv[i], "--class") && i + 1 < argc)
			opt.class = argv[++i];
	}
	if (argc - i != 7) {
		fputs("usage: jobs [--most N] [--signals] [--verbose] [--only "
		      "NAME-PART;...] [--class NAME] FAULTLINE INJECT.so PAIR GUESTS "
		      "GRADE LAB SUBJECT\n",
		      stderr);
		exit(2);
	}
	d->faultline = jobs_absolute(argv[i]);
	d->inject = jobs_absolute(argv[i + 1]);
	opt.pair = jobs_absolute(argv[i + 2]);
	opt.guests = jobs_absolute(argv[i + 3]);
	opt.grade = jobs_absolute(argv[i + 4]);
	opt.lab = jobs_absolute(argv[i + 5]);
	opt.subject = jobs_absolute(argv[i + 6]);
}

static bool is_wanted(const char *name)
{
	const char *part = opt.only;
	char word[80];
	size_t n;

	while (part && *part) {
		n = strcspn(part, ";");
		snprintf(word, sizeof(word), "%.*s", (int)n, part);
		if (strstr(name, word))
			return true;
		part += n + (part[n] == ';');
	}
	return !opt.only;
}

int main(int argc, char **argv)
{
	static struct drive d;
	unsigned int i, n = 0, bad = 0;

	jobs_options(argc, argv, &d);
	if (drive_begin(&d) || jobs_prepare(&d)) {
		fprintf(stderr, "jobs: cannot prepare %s: %s\n", d.dir, d.why);
		return 2;
	}
	for (i = 0; i < JOBS; i++) {
		if (!is_wanted(jobs[i].name))
			continue;
		if (run_job(&d, &jobs[i])) {
			printf("ok %u - %s\n", ++n, jobs[i].name);
		} else {
			printf("not ok %u - %s\n", ++n, jobs[i].name);
			bad++;
		}
		fflush(stdout);
	}
	printf("1..%u\n", n);
	drive_end(&d);
	return bad != 0;
}
