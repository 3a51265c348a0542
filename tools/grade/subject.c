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

static void subject_put(const void *data, size_t n)
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

static void subject_get(void *data, size_t n)
{
	char *p = data;
	ssize_t done;

	while (n) {
		done = read(SUBJECT_FD, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(0);	/* the judge has heard enough */
		p += done;
		n -= (size_t)done;
	}
}

void subject_runaway(void)
{
	struct subject_msg m = { .op = asked, .status = SUBJECT_RUNAWAY };

	subject_put(&m, sizeof(m));
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
	subject_put(m, sizeof(*m));
	subject_put(text, bytes);
	free(text);
}

int main(void)
{
	struct subject_msg m = { .op = SUBJECT_HELLO, .status = SUBJECT_DONE,
				 .arg = { SUBJECT_MAGIC } };

	subject_put(&m, sizeof(m));
	for (;;) {
		subject_get(&m, sizeof(m));
		asked = m.op;
		if (m.op == SUBJECT_TRACE) {
			tell_trace(&m);
			continue;
		}
		m.status = SUBJECT_DONE;
		subject_answer(&m);
		subject_put(&m, sizeof(m));
	}
}
