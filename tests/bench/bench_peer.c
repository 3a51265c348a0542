// SPDX-License-Identifier: BSD-2-Clause
#include "bench_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define LIMIT_NS	UINT64_C(8000000000)	/* of one run of a client */
#define TRIES		40			/* until the server listens */
#define TRY_NS		50000000
#define ARGS		20

extern char **environ;

static const struct {
	const char *name, *program, *package;
	/* Of ucx_perftest: its test. Of perftest: the program. */
	const char *test[PEER_FIGURES];
} peers[PEERS_AND_OURS] = {
	[PEER_LIBFABRIC] = { "libfabric shm, fi_pingpong", "fi_pingpong",
			     "libfabric-bin", { NULL, NULL, NULL } },
	[PEER_UCX_TAG] = { "UCX shm, tagged messages", "ucx_perftest",
			   "ucx-utils", { "tag_lat", "tag_lat", "tag_bw" } },
	[PEER_UCX_PUT] = { "UCX shm, put (plain stores)", "ucx_perftest",
			   "ucx-utils",
			   { "ucp_put_lat", "ucp_put_lat", "ucp_put_bw" } },
	[PEER_PINNED] = { "perftest, pinned", "ib_send_lat", "perftest",
			  { "ib_send_lat", "ib_send_lat", "ib_write_bw" } },
	[PEER_ON_DEMAND] = { "perftest, on demand", "ib_send_lat", "perftest",
			     { "ib_send_lat", "ib_send_lat", "ib_write_bw" } },
};

const char *peer_name(enum peer p)
{
	return peers[p].name;
}

const char *peer_faultline(void)
{
	const char *program = getenv("FAULTLINE");

	return program ? program : "build/faultline";
}

const char *peer_missing(enum peer p)
{
	char command[100];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1",
		 peers[p].program);
	return system(command) ? peers[p].package : NULL;
}

/* One try: texts of the numbers, and the arguments that point to them. */
struct rpc_command {
	char port[16], bytes[16], times[16];
	const char *arg[ARGS];
};

static const char *const server = NULL;
static const char *const client = "127.0.0.1";

static const char **make_perftest(const struct rpc_command *c, const char **a,
				  enum peer p, enum peer_figure f,
				  const char *to)
{
	*a++ = peer_faultline();
	*a++ = "with";
	*a++ = "--on";
	*a++ = to == server ? "b" : "a";
	*a++ = "--";
	*a++ = peers[p].test[f];
	*a++ = "-p";
	*a++ = c->port;
	*a++ = "-s";
	*a++ = c->bytes;
	*a++ = "-n";
	*a++ = "1000";
	if (p == PEER_ON_DEMAND)
		*a++ = "--odp";
	*a++ = to;
	return a;
}

static void make_command(struct rpc_command *c, enum peer p, enum peer_figure f,
			 uint32_t bytes, unsigned int port, const char *to)
{
	const unsigned int times = bytes >= 1 << 20 ? 50 :
				   bytes >= 1 << 16 ? 200 : 500;
	const char **a = c->arg;

	snprintf(c->port, sizeof(c->port), "%u", port);
	snprintf(c->bytes, sizeof(c->bytes), "%u", bytes);
	snprintf(c->times, sizeof(c->times), "%u", times);
	*a++ = "env";	/* becomes the program: its process is the same */
	*a++ = "UCX_TLS=posix";
	if (p >= PEERS) {
		a = make_perftest(c, a, p, f, to);
	} else if (p == PEER_LIBFABRIC) {
		*a++ = peers[p].program;
		*a++ = "-p";
		*a++ = "shm";
		*a++ = "-e";
		*a++ = "rdm";
		*a++ = to == server ? "-B" : "-P";
		*a++ = c->port;
		*a++ = "-S";
		*a++ = c->bytes;
		*a++ = "-I";
		*a++ = c->times;
		*a++ = to;
	} else {
		*a++ = peers[p].program;
		*a++ = "-p";
		*a++ = c->port;
		if (to != server) {
			*a++ = "-t";
			*a++ = peers[p].test[f];
			*a++ = "-s";
			*a++ = c->bytes;
			*a++ = "-n";
			*a++ = c->times;
			*a++ = "-w";
			*a++ = "100";
			*a++ = "-f";
			*a++ = "-v";
			*a++ = to;
		}
	}
	*a = NULL;
}

/* Start it with its output to fd, or nowhere. Its process, or -1. */
static pid_t peer_start(const struct rpc_command *c, int fd)
{
	posix_spawn_file_actions_t act;
	pid_t pid = -1;

	posix_spawn_file_actions_init(&act);
	posix_spawn_file_actions_addopen(&act, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&act, 2, "/dev/null", O_WRONLY, 0);
	if (fd >= 0)
		posix_spawn_file_actions_adddup2(&act, fd, 1);
	else
		posix_spawn_file_actions_addopen(&act, 1, "/dev/null",
						 O_WRONLY, 0);
	if (posix_spawnp(&pid, "env", &act, NULL,
			 (char *const *)(uintptr_t)c->arg, environ))
		pid = -1;
	posix_spawn_file_actions_destroy(&act);
	return pid;
}

static bool has_ended(pid_t pid)
{
	const struct timespec nap = { .tv_nsec = TRY_NS / 10 };
	unsigned int i;

	for (i = 0; i < 200; i++) {
		if (waitpid(pid, NULL, WNOHANG))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

/*
 * It ends by itself when it has reported, and only then removes its shared memory;
 * asked to end, it does so too.
 */
static void peer_end(pid_t pid)
{
	if (pid < 0 || has_ended(pid))
		return;
	kill(pid, SIGTERM);
	if (has_ended(pid))
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Until its end or its limit, which ends it. */
static void read_all(int fd, char *text, size_t bytes)
{
	uint64_t end_ns = bench_now_ns() + LIMIT_NS, now_ns;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t got = 0;
	ssize_t n;

	while (got + 1 < bytes && (now_ns = bench_now_ns()) < end_ns) {
		if (poll(&p, 1, (int)((end_ns - now_ns) / 1000000 + 1)) < 1)
			continue;
		n = read(fd, text + got, bytes - 1 - got);
		if (n <= 0 && (!n || errno != EINTR))
			break;
		got += n > 0 ? (size_t)n : 0;
	}
	text[got] = 0;
}

/* "bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec" */
static double parse_libfabric(const char *text)
{
	const char *line = strstr(text, "Mxfers/sec\n");
	char word[6][32];
	double us;

	if (!line || sscanf(strchr(line, '\n'),
			    "%31s %31s %31s %31s %31s %31s %lf", word[0],
			    word[1], word[2], word[3], word[4], word[5],
			    &us) != 7)
		return 0;
	return us * 1e3;
}

/*
 * "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,..." in us. The
 * percentile of a latency leaves out when others had the CPU. That of a stream
 * is only what it takes to start a message: there the average.
 */
static double parse_ucx(const char *text, enum peer_figure f)
{
	const char *line = strstr(text, "iterations,");
	double times, p50_us, average_us;

	line = line ? strchr(line, '\n') : NULL;
	if (!line || sscanf(line + 1, "%lf,%lf,%lf", &times, &p50_us,
			    &average_us) != 3)
		return 0;
	return (f == PEER_LATENCY ? p50_us : average_us) * 1e3;
}

/*
 * " #bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] ...", or
 * " #bytes #iterations BW peak[MB/sec] BW average[MB/sec] ...", in units of 2^20.
 */
static double parse_perftest(const char *text, enum peer_figure f)
{
	const char *line = strstr(text, "#iterations");
	double bytes, times, v[4];

	line = line ? strchr(line, '\n') : NULL;
	if (!line || sscanf(line + 1, "%lf %lf %lf %lf %lf %lf", &bytes, &times,
			    &v[0], &v[1], &v[2], &v[3]) <
		     (f == PEER_STREAM ? 4 : 6))
		return 0;
	if (f == PEER_STREAM)
		return v[1] > 0 ? bytes * 1e9 / (v[1] * (1 << 20)) : 0;
	return (f == PEER_LATENCY ? v[2] : v[3]) * 1e3;
}

static double run_client(const struct rpc_command *c, enum peer p,
			 enum peer_figure f)
{
	char text[4096];
	int out[2];
	pid_t pid;

	if (pipe(out))
		return 0;
	fcntl(out[0], F_SETFD, FD_CLOEXEC);
	fcntl(out[1], F_SETFD, FD_CLOEXEC);
	pid = peer_start(c, out[1]);
	close(out[1]);
	read_all(out[0], text, sizeof(text));
	close(out[0]);
	peer_end(pid);
	return p >= PEERS ? parse_perftest(text, f) :
	       p == PEER_LIBFABRIC ? parse_libfabric(text) : parse_ucx(text, f);
}

/* Beside this program. */
static void fabric_write_path(char *path, size_t bytes)
{
	ssize_t n = readlink("/proc/self/exe", path, bytes - 20);
	char *name;

	path[n < 0 ? 0 : n] = 0;
	name = strrchr(path, '/');
	strcpy(name ? name + 1 : path, "fabric_write");
}

bool peer_fabric_write_is_here(void)
{
	char path[4096];

	fabric_write_path(path, sizeof(path));
	return !access(path, X_OK);
}

double peer_fabric_write(uint32_t bytes, unsigned int depth)
{
	char path[4096], command[4200];
	double ns = 0;
	FILE *f;

	if (!peer_fabric_write_is_here())
		return 0;
	fabric_write_path(path, sizeof(path));
	snprintf(command, sizeof(command), "timeout 8 '%s' %u %u 2>/dev/null", path,
		 bytes, depth);
	f = popen(command, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%lf", &ns) != 1)
		ns = 0;
	pclose(f);
	return ns;
}

double peer_run(enum peer p, enum peer_figure f, uint32_t bytes)
{
	static unsigned int runs;
	const struct timespec nap = { .tv_nsec = TRY_NS };
	/* A port that nobody before may still hold. */
	unsigned int port = 20000 + ((unsigned int)getpid() * 64 + runs++) %
			    20000, i;
	uint64_t end_ns = bench_now_ns() + LIMIT_NS;
	struct rpc_command there, here;
	double ns = 0;
	pid_t pid;

	make_command(&there, p, f, bytes, port, server);
	make_command(&here, p, f, bytes, port, client);
	pid = peer_start(&there, -1);
	if (pid < 0)
		return 0;
	/* A client that comes before its server listens ends at once. */
	for (i = 0; i < TRIES && ns <= 0 && bench_now_ns() < end_ns; i++) {
		nanosleep(&nap, NULL);
		if (waitpid(pid, NULL, WNOHANG) == pid)
			pid = peer_start(&there, -1);
		ns = run_client(&here, p, f);
	}
	peer_end(pid);
	return ns;
}
