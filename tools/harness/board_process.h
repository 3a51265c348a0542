/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * board_process.h - boards in a process of their own, for a program that wants to
 * attach to them: `faultline board` in a child, with its sockets in a fresh folder.
 */
#ifndef FL_BOARD_PROCESS_H
#define FL_BOARD_PROCESS_H

#include <stddef.h>

#include "tools/harness/child.h"
#include "tools/harness/folder.h"

#define BOARD_PROCESS_NAMES 4
#define BOARD_PROCESS_PATH 216

struct board_process {
	struct child child;	/* its line is standard output there */
	struct folder folder;
	unsigned int boards;
	/* For fl_open(): "emu:PATH"; the path begins 4 further on. */
	char device[BOARD_PROCESS_NAMES][BOARD_PROCESS_PATH];
};

/*
 * A folder for the sockets of these boards (names NULL at the end): folder_make().
 * The caller has no other thread. 0 or negative errno.
 */
int board_process_folder(struct board_process *b, const char *const *names);
/*
 * Start the boards with these options of `faultline board` (NULL at the end; or
 * NULL) and wait until they are ready. May be called again after the end. The
 * caller has no other thread. 0 or negative errno; then nothing runs.
 */
int board_process_start(struct board_process *b, const char *const *options);
/* SIGTERM, and its exit status, or -signal. text: what it said at the end. */
int board_process_end(struct board_process *b, char *text, size_t bytes);
/* Remove the folder and all that is in it. */
void board_process_clean(struct board_process *b);

#endif
