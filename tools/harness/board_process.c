// SPDX-License-Identifier: BSD-2-Clause
#include "tools/harness/board_process.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/faultline/options.h"

#define ARGS 64

int board_process_folder(struct board_process *b, const char *const *names)
{
	unsigned int i;
	int err;

	memset(b, 0, sizeof(*b));
	b->child.line = -1;
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
 * The process that started the boards holds the other end of the line. When it ends,
 * however it does, so do they.
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

struct boards_start {
	const struct board_process *b;
	const char *const *options;
};

static int be_boards(int line, void *arg)
{
	char name[BOARD_PROCESS_NAMES][BOARD_PROCESS_PATH + 40];
	const struct boards_start *s = arg;
	const char *const *options = s->options;
	const char *word[ARGS], *path, *base;
	unsigned int i;
	int n = 0;

	for (i = 0; i < s->b->boards; i++) {
		path = s->b->device[i] + strlen("emu:");
		base = strrchr(path, '/') + 1;
		snprintf(name[i], sizeof(name[i]), "%.*s=%s",
			 (int)(strlen(base) - strlen(".sock")), base, path);
		word[n++] = name[i];
	}
	for (; options && *options && n + 1 < ARGS; options++)
		word[n++] = *options;
	word[n] = NULL;
	if (dup2(line, STDOUT_FILENO) < 0 || take_line(&line))
		return 127;
	return command_board.run(&command_board, n,
				 (char **)(uintptr_t)word);
}

int board_process_start(struct board_process *b, const char *const *options)
{
	struct boards_start s = { b, options };
	int err = child_start(&b->child, be_boards, &s);

	if (err)
		return err;
	err = wait_ready(b->child.line);
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
	int status;

	if (!b->child.pid)
		return 0;
	kill(b->child.pid, SIGTERM);
	/* Read to the end first: a full line would hold it up. */
	board_read_all(b->child.line, text, bytes);
	status = child_end(&b->child, 0);
	child_hang_up(&b->child);
	return status;
}

void board_process_clean(struct board_process *b)
{
	folder_remove(&b->folder);
}
