// SPDX-License-Identifier: BSD-2-Clause
/* Events of the device that come by themselves (ibv_get_async_event(3)). */
#include <errno.h>
#include <unistd.h>

#include "verbs.h"

/* None is raised so far; who waits, waits for the descriptor, as for any event. */
int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *event)
{
	uint64_t n;

	(void)event;
	if (read(c->async_fd, &n, sizeof(n)) != sizeof(n))
		return -1;
	errno = EIO;
	return -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}
