// SPDX-License-Identifier: BSD-2-Clause
#include "tools/faultline/board_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/faultline/options.h"

#define ARGS 64

int board_process_folder(struct board_process *b, const char *const *names)
{
	unsigned int i;
	int err;

	memset(b, 0, sizeof(*b));
	b->said = -1;
	err = folder_make(&b->folder);
	if (err)
		return err;
	for (i = 0; names[i] && i < BOARD_PROCESS_NAMES; i++)
		snprintf(b->device[i], sizeof(b->device[i]),
			 "emu:%s/%.30s.sock", b->folder.path,
			 names[i]);
	b->boards = i;
	return 0;
}

/* It says "ready" when its listeners are open. */
static int wait_ready(int fd)
{
	char text[4000];
	size_t got = 0;
	ssize_t n;

	while (got + 1 < sizeof(text)) {
		n = read(fd, text + got, sizeof(text) - 1 - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
		text[got] = 0;
		if (strstr(text, "\nready"))
			return 0;
	}
	return -EIO;
}

/*
 * Who started the boards holds the other end of the line. When it ends, however it
 * does, so do they.
 */
static void *hold_line(void *line)
{
	char byte;

	while (read(*(int *)line, &byte, 1) < 0 && errno == EINTR)
		;
	kill(getpid(), SIGTERM);
	return NULL;
}

static int take_line(int *line)
{
	pthread_t thread;
	sigset_t set;

	/* For this thread and the one that holds: `board` waits for it. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return pthread_create(&thread, NULL, hold_line, line);
}

static void be_board(const struct board_process *b, const char *const *options,
		     int out, int line)
{
	char name[BOARD_PROCESS_NAMES][BOARD_PROCESS_PATH + 40];
	const char *arg[ARGS], *path, *base;
	unsigned int i;
	int n = 0, err;

	for (i = 0; i < b->boards; i++) {
		path = b->device[i] + strlen("emu:");
		base = strrchr(path, '/') + 1;
		snprintf(name[i], sizeof(name[i]), "%.*s=%s",
			 (int)(strlen(base) - strlen(".sock")), base, path);
		arg[n++] = name[i];
	}
	for (; options && *options && n + 1 < ARGS; options++)
		arg[n++] = *options;
	arg[n] = NULL;
	if (dup2(out, STDOUT_FILENO) < 0 || take_line(&line))
		_exit(127);
	close(out);
	err = command_board.run(&command_board, n, (char **)(uintptr_t)arg);
	fflush(NULL);
	_exit(err);
}

int board_process_start(struct board_process *b, const char *const *options)
{
	int out[2], line[2], err;

	if (pipe(out))
		return -errno;
	if (pipe(line)) {
		err = -errno;
		close(out[0]);
		close(out[1]);
		return err;
	}
	fflush(NULL);
	/* What another program inherits would hold the line for ever. */
	b->pid = fcntl(out[0], F_SETFD, FD_CLOEXEC) ||
		 fcntl(line[1], F_SETFD, FD_CLOEXEC) ? -1 : fork();
	if (!b->pid) {
		close(out[0]);
		close(line[1]);
		be_board(b, options, out[1], line[0]);
	}
	err = b->pid < 0 ? -errno : 0;
	close(out[1]);
	close(line[0]);
	b->line = line[1];
	if (!err)
		err = wait_ready(out[0]);
	b->said = out[0];
	if (err)
		board_process_end(b, NULL, 0);
	return err;
}

static void board_read_all(int fd, char *text, size_t bytes)
{
	char rest[256];
	size_t got = 0;
	ssize_t n = 1;

	while (n > 0) {
		if (got + 1 < bytes)
			n = read(fd, text + got, bytes - 1 - got);
		else
			n = read(fd, rest, sizeof(rest));
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0 && got + 1 < bytes)
			got += (size_t)n;
	}
	if (bytes)
		text[got] = 0;
}

int board_process_end(struct board_process *b, char *text, size_t bytes)
{
	int status = 0;

	if (b->pid > 0) {
		kill(b->pid, SIGTERM);
		/* Read to the end first: a full pipe would hold it up. */
		board_read_all(b->said, text, bytes);
		while (waitpid(b->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (b->said >= 0) {
		close(b->said);
		close(b->line);
	}
	b->said = -1;
	b->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void board_process_clean(struct board_process *b)
{
	folder_remove(&b->folder);
}
