// SPDX-License-Identifier: BSD-2-Clause
/* The subject's side of the talk with the judge: subject.h. */
#include "tools/grade/subject.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/trace.h"

static uint32_t asked;

/* Read, and not yet answered; answered, and not yet written. */
static struct {
	struct subject_msg in[SUBJECT_ASKED], out[SUBJECT_ASKED];
	unsigned int first, end, answers;
} talk;

static void subject_write(const void *data, size_t n)
{
	const char *p = data;
	ssize_t done;

	while (n) {
		done = write(SUBJECT_FD, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(3);
		p += done;
		n -= (size_t)done;
	}
}

static void subject_flush(void)
{
	subject_write(talk.out, talk.answers * sizeof(talk.out[0]));
	talk.answers = 0;
}

/* The judge reads when it has asked all that it has to ask. */
static void subject_put(const struct subject_msg *m)
{
	talk.out[talk.answers++] = *m;
	if (talk.answers == SUBJECT_ASKED)
		subject_flush();
}

/* As many as have come, and the whole of the last one. */
static void subject_read(void)
{
	size_t n = 0;
	ssize_t done;

	subject_flush();
	do {
		done = read(SUBJECT_FD, (char *)talk.in + n, sizeof(talk.in) - n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(0);	/* the judge has heard enough */
		n += (size_t)done;
	} while (n % sizeof(talk.in[0]));
	talk.first = 0;
	talk.end = (unsigned int)(n / sizeof(talk.in[0]));
}

static struct subject_msg subject_get(void)
{
	if (talk.first == talk.end)
		subject_read();
	return talk.in[talk.first++];
}

void subject_runaway(void)
{
	struct subject_msg m = { .op = asked, .status = SUBJECT_RUNAWAY };

	subject_put(&m);
	subject_flush();
	_exit(0);
}

/* The newest records, as many as there is room for in the text. */
static void tell_trace(struct subject_msg *m)
{
	static struct trace_record record[2048];
	uint32_t n = 0, i;
	size_t bytes = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &bytes);

	if (subject_trace())
		n = trace_snapshot(subject_trace(), record,
				   sizeof(record) / sizeof(record[0]));
	if (f) {
		trace_header_text(f);
		for (i = 0; i < n; i++)
			trace_record_text(f, &record[i]);
		fclose(f);
	}
	if (bytes > SUBJECT_TRACE_MAX)
		bytes = 0;
	m->status = SUBJECT_DONE;
	m->arg[0] = bytes;
	subject_put(m);
	subject_flush();
	subject_write(text, bytes);
	free(text);
}

int main(void)
{
	struct subject_msg m = { .op = SUBJECT_HELLO, .status = SUBJECT_DONE,
				 .arg = { SUBJECT_MAGIC } };

	subject_put(&m);
	for (;;) {
		m = subject_get();
		asked = m.op;
		if (m.op == SUBJECT_TRACE) {
			tell_trace(&m);
			continue;
		}
		m.status = SUBJECT_DONE;
		subject_answer(&m);
		subject_put(&m);
	}
}
