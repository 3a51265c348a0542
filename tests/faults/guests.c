// SPDX-License-Identifier: BSD-2-Clause
/*
 * guests.c - two guests at the boards of "faultline vm n0 n1" in this folder: each writes to
 * the other's memory, and goes. A guest that is cut off ends at once.
 */
#include <pthread.h>

#include "rig/window.h"

static int over[2];	/* a pipe: both have what they came for */

static void *guests_watch(void *arg)
{
	struct pollfd fd[] = { { .fd = rig.guest[0].sock }, { .fd = rig.guest[1].sock },
			       { .fd = over[0], .events = POLLIN } };

	(void)arg;
	while (poll(fd, 3, -1) <= 0)
		;
	rig_alone = !fd[2].revents;
	return NULL;
}

TEST("two guests transfer both ways")
{
	pthread_t watcher;
	unsigned int i;

	rig.folders = true;
	strcpy(rig.dir, ".");
	EXPECT_EQ(pipe(over), 0);
	for (i = 0; i < 2; i++)
		rig_connect(i);
	EXPECT_EQ(pthread_create(&watcher, NULL, guests_watch, NULL), 0);
	for (i = 0; i < 2; i++)
		rig_set_up(&rig.guest[i]);
	rig_pair(0, 1);
	rig_transfer(0, 1, 1);
	rig_transfer(1, 0, 2);
	EXPECT_EQ(write(over[1], "", 1), 1);
	EXPECT_EQ(pthread_join(watcher, NULL), 0);
	for (i = 0; i < 2; i++) {
		rig_forget(&rig.guest[i]);
		unlink(rig_path(i, "ram"));
	}
}
