// SPDX-License-Identifier: BSD-2-Clause
/*
 * send - the main job on a real Linux, with a card at /dev/faultline0: what `faultline
 * send` does on boards of the emulator, by two applications (app.c), as two processes
 * here, or one here and one on the machine at the other end of PORT.
 *
 *	send [OPTION...] FILE		two processes, both on this card
 *	send [OPTION...] --to PORT FILE	the sender
 *	send [OPTION...] --from PORT	the receiver
 *
 * PORT: what both can read and write, such as a serial line. Options: --device PATH,
 * --policy SYSTEM, --resolve page|block|transfer, --warm, --cold-source,
 * --request BYTES, --times N. Exit status 0: the receiver has every byte.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/faultline.h"
#include "tests/linux/app.h"
#include "tools/faultline/sha256.h"

#define REQUEST_BYTES (16u << 20)	/* as tools/faultline/job.h */
#define CHUNK 65536

/* What the receiver must know before it begins. */
struct rpc_command {
	uint64_t bytes;
	char sha[65];
};

struct options {
	struct app_job job;
	const char *to, *from;
	unsigned int times;
};

static int send_usage(const char *what, const char *wanted)
{
	fprintf(stderr, "send: %s: wanted: %s (see the head of send.c)\n", what,
		wanted);
	return 2;
}

static int take_word(struct options *o, const char *name)
{
	static const char *const flags[] = { "--warm", "--cold-source" };
	bool *const flag[] = { &o->job.warm, &o->job.cold_source };
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (!strcmp(name, flags[i])) {
			*flag[i] = true;
			return 1;
		}
	return 0;
}

static int take_number(const char *text, uint32_t least, uint32_t most,
		       uint32_t *value)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 0);

	if (*end || end == text || n < least || n > most)
		return -1;
	*value = (uint32_t)n;
	return 0;
}

/* Its place in the list; -1: it is not in it. */
static int take_name(const char *value, const char *const *list)
{
	int i;

	for (i = 0; list[i]; i++)
		if (!strcmp(value, list[i]))
			return i;
	return -1;
}

static int take_value(struct options *o, const char *name, const char *value)
{
	static const char *const systems[] = { FL_SYSTEM_NAMES, NULL };
	/* As enum fl_resolve. */
	static const char *const resolves[] = { "page", "block", "transfer",
						NULL };
	int i;

	if (!value)
		return send_usage(name, "a value behind it");
	if (!strcmp(name, "--device")) {
		o->job.device = value;
	} else if (!strcmp(name, "--to")) {
		o->to = value;
	} else if (!strcmp(name, "--from")) {
		o->from = value;
	} else if (!strcmp(name, "--request")) {
		if (take_number(value, 1, 1u << 30, &o->job.request_bytes))
			return send_usage(name, "bytes, up to 1 GB");
	} else if (!strcmp(name, "--times")) {
		if (take_number(value, 1, 1000000, &o->times))
			return send_usage(name, "1 to 1000000");
	} else if (!strcmp(name, "--policy")) {
		i = take_name(value, systems);
		if (i < 0)
			return send_usage(name, FL_SYSTEM_WORDS);
		o->job.system = (enum fl_system)i;
	} else if (!strcmp(name, "--resolve")) {
		i = take_name(value, resolves);
		if (i < 0)
			return send_usage(name, "page, block or transfer");
		o->job.resolve = i;
	} else {
		return send_usage(name, "an option");
	}
	return 0;
}

static int take_options(struct options *o, int argc, char **argv)
{
	int i, err = 0;

	for (i = 1; i < argc && !strncmp(argv[i], "--", 2) && !err; i++)
		if (!take_word(o, argv[i])) {
			err = take_value(o, argv[i], argv[i + 1]);
			i++;
		}
	if (err)
		return err;
	if (o->to && o->from)
		return send_usage("--to and --from", "one of them");
	if (argc - i != (o->from ? 0 : 1))
		return send_usage("FILE",
				  o->from ? "none behind --from" : "one");
	o->job.path = argv[i];
	return 0;
}

static int look_at_file(const char *path, struct rpc_command *order)
{
	static uint8_t chunk[CHUNK];
	struct sha256 h;
	size_t n;
	FILE *f = fopen(path, "r");
	int bad;

	if (!f) {
		fprintf(stderr, "send: %s: %s\n", path, strerror(errno));
		return 1;
	}
	sha256_begin(&h);
	while ((n = fread(chunk, 1, sizeof(chunk), f))) {
		sha256_add(&h, chunk, n);
		order->bytes += n;
	}
	sha256_end(&h, order->sha);
	bad = ferror(f);
	fclose(f);
	if (!bad && order->bytes)
		return 0;
	fprintf(stderr, "send: %s: %s\n", path,
		bad ? strerror(EIO) : "the file is empty");
	return 1;
}

static int send_failed(const char *who, const struct app_result *r)
{
	if (r->error)
		fprintf(stderr, "send: %s: %s\n", who, r->problem);
	else if (r->status)
		fprintf(stderr, "send: %s: %s\n", who,
			fl_status_string(r->status));
	return r->error || r->status;
}

static int be_sender(struct app_job *job, int peer)
{
	struct app_result r = { 0 };
	struct rpc_command order = { 0 };

	if (look_at_file(job->path, &order))
		return 1;
	job->peer = peer;
	job->bytes = order.bytes;
	if (write(peer, &order, sizeof(order)) != (ssize_t)sizeof(order)) {
		fprintf(stderr, "send: the receiver does not listen\n");
		return 1;
	}
	app_send(job, &r);
	if (send_failed("sender", &r))
		return 1;
	printf("sent %llu bytes in %u request%s, %llu faults, %llu stalls, "
	       "%.3f ms\n",
	       (unsigned long long)job->bytes, r.requests,
	       r.requests == 1 ? "" : "s",
	       (unsigned long long)r.faults, (unsigned long long)r.stalls,
	       (double)(r.done_ns - r.post_ns) / 1e6);
	return 0;
}

static int be_receiver(struct app_job *job, int peer)
{
	struct app_result r = { 0 };
	struct rpc_command order;
	size_t got = 0;
	ssize_t n = 1;
	bool same;

	for (; got < sizeof(order) && n > 0; got += n > 0 ? (size_t)n : 0)
		n = read(peer, (char *)&order + got, sizeof(order) - got);
	if (got < sizeof(order)) {
		fprintf(stderr, "send: the sender has gone\n");
		return 1;
	}
	job->peer = peer;
	job->bytes = order.bytes;
	app_receive(job, &r);
	if (send_failed("receiver", &r))
		return 1;
	order.sha[sizeof(order.sha) - 1] = 0;
	same = !strcmp(r.sha, order.sha);
	printf("received %llu bytes, %llu faults, %llu stalls, SHA-256 %s, %s\n",
	       (unsigned long long)job->bytes, (unsigned long long)r.faults,
	       (unsigned long long)r.stalls, r.sha,
	       same ? "the same" : "NOT what was sent");
	return !same;
}

static int both_here(struct app_job *job)
{
	int pair[2], status = 0, err;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
		perror("send: socketpair");
		return 1;
	}
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		perror("send: fork");
		return 1;
	}
	if (!pid) {
		close(pair[0]);
		err = be_receiver(job, pair[1]);
		fflush(NULL);
		_exit(err);
	}
	close(pair[1]);
	err = be_sender(job, pair[0]);
	close(pair[0]);
	if (waitpid(pid, &status, 0) != pid)
		status = 1;
	return err || status;
}

static int one_here(const struct options *o, struct app_job *job)
{
	int peer = open(o->to ? o->to : o->from, O_RDWR | O_NOCTTY), err;

	if (peer < 0) {
		fprintf(stderr, "send: %s: %s\n", o->to ? o->to : o->from,
			strerror(errno));
		return 1;
	}
	err = o->to ? be_sender(job, peer) : be_receiver(job, peer);
	close(peer);
	return err;
}

int main(int argc, char **argv)
{
	struct options o = {
		.job = { .request_bytes = REQUEST_BYTES,
			 .resolve = FL_RESOLVE_BLOCK },
		.times = 1,
	};
	struct app_job job;
	int err = take_options(&o, argc, argv);
	unsigned int i;

	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < o.times && !err; i++) {
		job = o.job;
		err = o.to || o.from ? one_here(&o, &job) : both_here(&job);
	}
	return err;
}
