// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subject as a process: in a session of its own, with nothing of ours but one
 * socket, in an empty folder, confined as far as the system can (os.h). What it
 * prints goes into a pipe that nobody reads before its end: the first 64 KB or so
 * are kept, and the rest costs neither time nor disk.
 *
 * It is slow, not hung, until it has used the CPU time of lab.conf; the clock on
 * the wall is only for one that sleeps. Threads have no limit that a system could
 * keep for one process alone, so they are counted while it is waited for: those that
 * a subject can make until then are few beside those that a machine has. So is the
 * memory behind descriptors, which no address shows.
 */
#include "tools/confine/confine.h"
#include "tools/grade/grade.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "os/os_emu.h"

#define PATHS		1024
#define THREADS		64
#define LOOK_MS		20	/* how often they are counted */
#define REPORT_FD	(SUBJECT_FD + 1)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1	/* it wants all addresses, and files below /proc */
#else
#define SANITIZED 0
#endif

struct start {
	char subject[PATHS], folder[PATHS];
	struct confine confine;
	int fd, report, said;
};

static _Noreturn void talk_child(const struct start *s)
{
	static char *const env[] = { "ASAN_OPTIONS=detect_leaks=0", NULL };
	char *const argv[] = { "subject", NULL };
	int null = open("/dev/null", O_RDONLY), held, fd, report, out;

	/* Out of the way of the numbers that they are about to have. */
	fd = fcntl(s->fd, F_DUPFD, 10);
	report = fcntl(s->report, F_DUPFD_CLOEXEC, 11);
	out = fcntl(s->said, F_DUPFD_CLOEXEC, 12);
	if (setsid() < 0 || out < 0 || null < 0 || fd < 0 || report < 0 ||
	    chdir(s->folder) || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(out, 2) < 0 || dup2(fd, SUBJECT_FD) < 0 ||
	    dup2(report, REPORT_FD) < 0 ||
	    fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC))
		_exit(126);
	os_close_from(REPORT_FD + 1);
	os_end_with_parent();
	held = SANITIZED ? 0 : confine_self(&s->confine);
	if (write(REPORT_FD, &held, sizeof(held)) != sizeof(held) || held < 0)
		_exit(126);
	confine_exec(s->subject, argv, env);
	_exit(127);
}

/* The path without what exec() may not need to look up. */
static bool path_absolute(const char *path, char out[PATHS])
{
	char *whole = realpath(path, NULL);
	bool fits = whole && strlen(whole) < PATHS;

	if (fits)
		strcpy(out, whole);
	free(whole);
	return fits;
}

static bool talk_prepare(struct start *s, const struct grade *g)
{
	char out[PATHS];

	if (!path_absolute(g->subject, s->subject) ||
	    !path_absolute(g->out, out))
		return false;
	if (snprintf(s->folder, PATHS, "%s/empty", out) >= PATHS)
		return false;
	s->confine = (struct confine){
		.kind = g->alone ? CONFINE_ALONE : CONFINE_LOADED,
		.program = s->subject, .cpu_s = g->limits.cpu_s,
		.memory_bytes = (uint64_t)g->limits.memory_mb << 20,
		.file_bytes = (uint64_t)g->limits.file_mb << 20,
	};
	return !mkdir(s->folder, 0555) || errno == EEXIST;
}

/* What no limit of the system counts: true, and why, when it is too much. */
static bool talk_greedy(struct talk *t)
{
	if (confine_threads(t->pid) > THREADS)
		snprintf(t->why, sizeof(t->why), "it has more than %d threads",
			 THREADS);
	else if (confine_nameless_bytes(t->pid) >> 20 > t->file_mb)
		snprintf(t->why, sizeof(t->why), "its files hold more than %u MB",
			 t->file_mb);
	else
		return false;
	return true;
}

/*
 * How many of n bytes came. Fewer: the subject is dead, has let the judge wait for too
 * long, one time or all together, or is greedy.
 */
static size_t talk_hear(struct talk *t, void *data, size_t n)
{
	const size_t wanted = n;
	uint64_t now_ns = os_now_ns(), last_ns = now_ns;
	struct pollfd p = { .fd = t->fd, .events = POLLIN };
	char *to = data;
	ssize_t got = 1;

	while (n && got > 0) {
		t->waited_ns += now_ns - last_ns;
		last_ns = now_ns;
		if (t->waited_ns >= t->wall_ns)
			break;
		if (now_ns >= t->look_ns) {
			if (talk_greedy(t))
				break;
			t->look_ns = now_ns + LOOK_MS * 1000000;
		}
		if (poll(&p, 1, LOOK_MS) > 0) {
			got = read(t->fd, to, n);
			if (got < 0 && errno == EINTR) {
				got = 1;
			} else if (got > 0) {
				to += got;
				n -= (size_t)got;
			} else if (got < 0 && errno != ECONNRESET) {
				t->broken = errno;
			}
		}
		now_ns = os_now_ns();
	}
	t->waited_ns += now_ns - last_ns;
	return wanted - n;
}

/* Where the report of a sanitizer begins, which has file and line at its top. */
static char *report_in(char *text)
{
	static const char *const begins[] = { "ERROR: AddressSanitizer",
					      " runtime error: " };
	char *at = NULL;
	unsigned int i;

	for (i = 0; i < sizeof(begins) / sizeof(begins[0]) && !at; i++)
		at = strstr(text, begins[i]);
	while (at && at > text && at[-1] != '\n')
		at--;
	return at;
}

/*
 * Printed by the subject, what fits: a report from its top, else the end of it;
 * without what a terminal would obey.
 */
static void read_said(struct talk *t)
{
	static char all[64 * 1024 + 1];		/* a pipe holds no more */
	size_t n = 0, room = sizeof(t->said) - 1, i;
	char *from;
	ssize_t got;

	while ((got = read(t->said_fd, all + n, sizeof(all) - 1 - n)) > 0)
		n += (size_t)got;
	for (i = 0; i < n; i++)
		if ((all[i] < ' ' && all[i] != '\n') || all[i] > '~')
			all[i] = '?';
	all[n] = 0;
	from = report_in(all);
	if (!from)
		from = all + (n > room ? n - room : 0);
	n -= (size_t)(from - all);
	memcpy(t->said, from, n < room ? n : room);
	t->said[n < room ? n : room] = 0;
}

/* It does not answer: why? */
static enum verdict talk_died(struct talk *t)
{
	bool ended = false, much = talk_greedy(t);
	int status = 0, i, sig;

	/* A process that has closed its socket needs a moment to be dead. */
	for (i = 0; i < 200 && !ended && !much; i++) {
		ended = waitpid(t->pid, &status, WNOHANG) == t->pid;
		if (!ended && poll(NULL, 0, 5) < 0)
			continue;
		much = talk_greedy(t);
	}
	if (!ended) {
		kill(-t->pid, SIGKILL);
		kill(t->pid, SIGKILL);
		waitpid(t->pid, &status, 0);
	}
	t->pid = -1;
	read_said(t);
	if (t->broken) {
		snprintf(t->why, sizeof(t->why), "the judge cannot talk to it: %s",
			 strerror(t->broken));
		return V_GRADER;
	}
	if (much)
		return V_CRASHED;
	if (!ended) {
		snprintf(t->why, sizeof(t->why), "it was waited for, %u s in all",
			 (unsigned int)(t->wall_ns / 1000000000));
		return V_HUNG;
	}
	sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (sig == SIGXCPU || sig == SIGKILL) {
		snprintf(t->why, sizeof(t->why),
			 "it used all the CPU time there is for a test");
		return V_HUNG;
	}
	if (sig)
		snprintf(t->why, sizeof(t->why), "signal %d (%s)%s", sig,
			 strsignal(sig), sig == SIGILL || sig == SIGTRAP ?
			 ": most likely an index past the end of its array" : "");
	else
		snprintf(t->why, sizeof(t->why), "it ended by itself, status %d",
			 WEXITSTATUS(status));
	return V_CRASHED;
}

enum verdict talk_start(struct talk *t, const struct grade *g)
{
	static struct start s;
	int pair[2], report[2], said[2], held = -1;
	struct subject_msg hello = { 0 };

	memset(t, 0, sizeof(*t));
	t->wall_ns = (uint64_t)g->limits.wall_s * 1000000000;
	t->file_mb = g->limits.file_mb;
	if (!talk_prepare(&s, g) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    pipe(report) || pipe(said) || fcntl(said[0], F_SETFL, O_NONBLOCK) ||
	    fcntl(said[1], F_SETFL, O_NONBLOCK)) {
		snprintf(t->why, sizeof(t->why), "%s: %s", g->subject,
			 strerror(errno));
		return V_GRADER;
	}
	s.fd = pair[1];
	s.report = report[1];
	s.said = said[1];
	t->said_fd = said[0];
	signal(SIGPIPE, SIG_IGN);
	t->pid = fork();
	if (!t->pid)
		talk_child(&s);
	close(pair[1]);
	close(report[1]);
	close(said[1]);
	t->fd = pair[0];
	if (t->pid < 0 || read(report[0], &held, sizeof(held)) != sizeof(held) ||
	    held < 0) {
		snprintf(t->why, sizeof(t->why), "no process for the subject");
		return V_GRADER;
	}
	close(report[0]);
	t->confined = (unsigned int)held;
	if (talk_hear(t, &hello, sizeof(hello)) == sizeof(hello) &&
	    hello.arg[0] == SUBJECT_MAGIC)
		return V_PASS;
	return talk_died(t) == V_GRADER ? V_GRADER : V_NO_START;
}

static enum verdict talk_send(struct talk *t, const void *data, size_t n)
{
	const char *p = data;
	enum verdict v;
	ssize_t done;
	bool full;

	while (n) {
		/* A subject that answers has read everything before: there is room. */
		done = send(t->fd, p, n, MSG_DONTWAIT);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			full = done < 0 && errno == EAGAIN;
			if (!full && errno != EPIPE && errno != ECONNRESET)
				t->broken = errno;
			v = talk_died(t);
			if (full && v == V_HUNG)
				snprintf(t->why, sizeof(t->why),
					 "it does not read what it answers");
			return v;
		}
		p += done;
		n -= (size_t)done;
	}
	return V_PASS;
}

static enum verdict talk_check(struct talk *t, const struct subject_msg *m, uint32_t op)
{
	if (m->status == SUBJECT_RUNAWAY) {
		snprintf(t->why, sizeof(t->why),
			 "it went on and on, and did not come to rest");
		return V_HUNG;
	}
	if (m->status != SUBJECT_DONE || m->op != op) {
		snprintf(t->why, sizeof(t->why),
			 "an answer that the subject cannot have given");
		return V_CRASHED;
	}
	return V_PASS;
}

enum verdict talk_ask(struct talk *t, struct subject_msg *m, unsigned int n)
{
	enum verdict v = talk_send(t, m, n * sizeof(*m));
	uint32_t op[SUBJECT_ASKED];
	unsigned int i, answers;

	if (v != V_PASS)
		return v;
	for (i = 0; i < n; i++)
		op[i] = m[i].op;
	answers = (unsigned int)(talk_hear(t, m, n * sizeof(*m)) / sizeof(*m));
	for (i = 0; i < answers && v == V_PASS; i++)
		v = talk_check(t, &m[i], op[i]);
	return v == V_PASS && answers < n ? talk_died(t) : v;
}

bool talk_trace(struct talk *t, char *text, size_t room)
{
	struct subject_msg m = { .op = SUBJECT_TRACE };

	if (t->pid <= 0 || talk_ask(t, &m, 1) != V_PASS || !m.arg[0] ||
	    m.arg[0] >= room || talk_hear(t, text, m.arg[0]) != m.arg[0])
		return false;
	text[m.arg[0]] = 0;
	return true;
}

void talk_end(struct talk *t)
{
	if (t->pid > 0) {
		close(t->fd);
		kill(-t->pid, SIGKILL);
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
		if (!t->said[0])
			read_said(t);
	}
	t->pid = -1;
}
