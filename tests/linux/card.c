// SPDX-License-Identifier: BSD-2-Clause
/*
 * card - what jobs need of a process:
 *
 *	card wait	sleep on a completion queue until the card is gone: exit 0
 *	card poll	the same, and look at it again and again instead
 *	card hole	take an index of the doorbell ring, and be killed before the
 *			entry is written (a card behind a window alone)
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faultline/uapi.h"
#include "faultline/window.h"
#include "lib/faultline.h"

#define WAIT_NS 60000000000ull

static int card_fail(const char *what, int error)
{
	fprintf(stderr, "card: %s: %s\n", what, fl_strerror(error));
	return 1;
}

static int wait_until_gone(bool poll)
{
	struct fl_completion done;
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	int error = fl_open(NULL, &dev);

	if (error)
		return card_fail("fl_open", error);
	error = fl_create_cq(dev, 4, &cq);
	if (error)
		return card_fail("fl_create_cq", error);
	printf("waiting\n");
	fflush(stdout);
	do
		error = poll ? fl_poll(cq, &done, 1) :
			       fl_wait(cq, &done, 1, WAIT_NS);
	while (poll && !error);
	if (error != -ENODEV)
		return card_fail("what came, where -ENODEV is right", error);
	error = fl_alloc_pd(dev, &pd);
	if (error != -ENODEV)
		return card_fail("fl_alloc_pd, where -ENODEV is right", error);
	/* It cannot destroy what is gone, but it gives back what is ours. */
	error = fl_close(dev);
	if (error != -ENODEV)
		return card_fail("fl_close, where -ENODEV is right", error);
	printf("the card is gone\n");
	return 0;
}

static int leave_hole(void)
{
	struct fl_query q = { .size = sizeof(q) };
	struct fl_window_doorbell *d;
	int fd = open("/dev/faultline0", O_RDWR);

	if (fd < 0 || ioctl(fd, FL_IOC_QUERY, &q))
		return card_fail("/dev/faultline0", -errno);
	if (q.doorbell != FL_DOORBELL_WINDOW) {
		fprintf(stderr, "card: this card has no window\n");
		return 1;
	}
	d = mmap(NULL, 2 * FL_WINDOW_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		 fd, FL_MMAP_DOORBELL);
	if (d == MAP_FAILED)
		return card_fail("mmap", -errno);
	atomic_fetch_add((_Atomic uint32_t *)&d->tail, 1);
	raise(SIGKILL);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "wait"))
		return wait_until_gone(false);
	if (argc == 2 && !strcmp(argv[1], "poll"))
		return wait_until_gone(true);
	if (argc == 2 && !strcmp(argv[1], "hole"))
		return leave_hole();
	fprintf(stderr, "card: wait, poll or hole is wanted\n");
	return 2;
}
