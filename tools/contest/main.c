// SPDX-License-Identifier: BSD-2-Clause
/*
 * The other end of "faultline contest": what a plan is linked with. It reads a fault
 * and the state from a line, calls plan(), and writes the state and the answer there,
 * until nobody asks any more.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "faultline/plan.h"
#include "tools/contest/talk.h"

static bool talk_read(void *to, size_t n)
{
	char *p = to;
	ssize_t got;

	for (; n; p += got, n -= (size_t)got) {
		do
			got = read(CONTEST_LINE, p, n);
		while (got < 0 && errno == EINTR);
		if (got <= 0)
			return false;
	}
	return true;
}

static bool talk_write(const void *from, size_t n)
{
	const char *p = from;
	ssize_t put;

	for (; n; p += put, n -= (size_t)put) {
		do
			put = write(CONTEST_LINE, p, n);
		while (put < 0 && errno == EINTR);
		if (put <= 0)
			return false;
	}
	return true;
}

int main(void)
{
	static struct contest_question q;
	static struct contest_answer a;

	while (talk_read(&q, sizeof(q))) {
		a.state = q.state;
		memset(&a.bring, 0, sizeof(a.bring));
		plan(&q.fault, &a.state, &a.bring);
		if (!talk_write(&a, sizeof(a)))
			return 1;
	}
	return 0;
}
