/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * folder.h - a folder under $TMPDIR (or /tmp) for sockets and traces, which goes with this
 * program however that ends. A shell, the minder, waits for the end of the program and of
 * the children that it forked since; if the folder is there then, the minder removes it.
 *
 * When the minder is killed as well, the folder stays, and the next program that makes one
 * removes it: it belongs to the same user, its name begins as all of these do, and nobody has
 * the lock on it that its makers keep for as long as one of them lives.
 */
#ifndef FL_FOLDER_H
#define FL_FOLDER_H

#include <sys/types.h>

#define FOLDER_BEGINS "faultline-run."
/* What a socket's address has room for, less the longest name in the folder. */
#define FOLDER_PATH 88

struct folder {
	char path[FOLDER_PATH];	/* "": none */
	pid_t minder;
	/*
	 * To the minder: when all who have it are gone, so are we. Numbers of processes
	 * that are written here (a line each) get a SIGTERM first, and time.
	 */
	int line;
	int lock;
};

/*
 * Before there is any thread, since signals are kept waiting until the minder knows. 0 or
 * negative errno, -ENAMETOOLONG: $TMPDIR is too long for a socket's address.
 */
int folder_make(struct folder *f);
/* 0, or -ENOTEMPTY: there was something in it (it has gone all the same). */
int folder_remove(struct folder *f);

#endif
