/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse.h - a file whose READ or FLUSH is never answered: a FUSE file system of the
 * test's own, spoken by hand over /dev/fuse, mounted where nobody else sees it. As
 * root, or in a user namespace where there are some.
 */
#ifndef FL_RIG_FUSE_H
#define FL_RIG_FUSE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define FUSE_FILE_BYTES	(4u << 20)

struct fuse_test {
	uint32_t stuck;		/* opcode that is never answered */
	int arrived;		/* a byte is written there when it comes */
	char dir[100];		/* mount point */
	pid_t server;		/* killed: all that waits for it goes on; shared */
	int dev;
};

/*
 * For a process that was forked for it: an open file of the file system, or -1.
 * t->server has to be killed at the end.
 */
int fuse_open(struct fuse_test *t);

/* Is there such a thing here? Tried in a child, since it leaves the namespace. */
bool fuse_possible(void);

#endif
