// SPDX-License-Identifier: BSD-2-Clause
/* socket.c - sockets that are given up, and the pipe that wakes the I/O thread. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/serve_internal.h"

#define WAKE_TRIES 100

void serve_wake(struct serve *s)
{
	int tries = WAKE_TRIES;

	/* EAGAIN: it is full, so the I/O thread will wake anyway. */
	while (write(s->wake[1], "", 1) < 0 && errno != EAGAIN && --tries)
		;
	if (!tries)
		fprintf(stderr, "faultline: the boards' I/O thread cannot be woken: "
			"%s\n", strerror(errno));
}

void serve_hang_up(struct serve *s, int sock)
{
	char bytes[4096];
	ssize_t r;

	/* From now on nothing is added, so this comes to an end. */
	shutdown(sock, SHUT_RD);
	do
		r = os_receive_bytes(sock, bytes, sizeof(bytes));
	while (r > 0);
	if (r == -EBADMSG)
		keepers_discard(&s->keepers, sock);
	else
		close(sock);
}
