// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traces: each record that was read, printed again, is read as the same record; every view
 * of any trace ends without harm; and a trace is equal to itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tools/view/view.h"
#include "trace/trace.h"

const char fuzz_name[] = "trace";

static void print_and_parse(const struct trace_record *r)
{
	struct trace_record again;
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	int column;

	FUZZ_EXPECT(f, "there is memory for a line");
	trace_record_text(f, r);
	fclose(f);
	FUZZ_EXPECT(!trace_record_parse(text, &again, &column),
		    "the record that was printed is read again: %s", text);
	FUZZ_EXPECT(!memcmp(r, &again, sizeof(again)),
		    "it is the same record: %s", text);
	free(text);
}

static void fuzz_trace_look(const struct view_trace *t, struct fuzz *pick)
{
	struct view_filter filter = { .board = -1, .event = -1 };
	uint32_t xfer = fuzz_below(pick, 4), block = fuzz_below(pick, 3);
	unsigned int faults, blocks, differ, i;
	FILE *f = fopen("/dev/null", "w");
	int err;

	FUZZ_EXPECT(f, "there is /dev/null");
	view_text(f, t, &filter, true);
	filter = (struct view_filter){ .board = (int)fuzz_below(pick, 3) - 1,
				       .xfer = xfer, .block = block,
				       .event = -1 };
	view_text(f, t, &filter, false);
	for (i = VIEW_BOARD; i <= VIEW_BLOCK; i++) {
		view_say(f, t, (enum view_kind)i, xfer);
		view_has(t, (enum view_kind)i, xfer, block);
	}
	view_sequence(f, t, xfer, block);
	view_story(f, t, xfer, block);
	view_states(f, t, filter.board);
	faults = view_faults(t, xfer);
	FUZZ_EXPECT(faults <= t->n, "no more faults than records");
	for (i = 0; i <= faults && i < 4; i++) {
		err = view_walk(f, t, xfer, i);
		FUZZ_EXPECT(!err || err == -ENOENT || err == -ENOMEM,
			    "view_walk says %d", err);
	}
	err = view_equal(f, t, t, NULL, &blocks, &differ);
	FUZZ_EXPECT(err ? err == -EOVERFLOW && t->lost : !differ,
		    "a trace is equal to itself: %d, %u of %u differ", err,
		    err ? 0 : differ, err ? 0 : blocks);
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Which board, transfer and block: the last bytes say that as well. */
	struct fuzz pick = { data + size - (size < 3 ? size : 3), 0 };
	size_t i, bytes;
	struct view_trace t;
	char *errors;
	FILE *f = open_memstream(&errors, &bytes);
	int err;

	FUZZ_EXPECT(f, "there is memory for messages");
	pick.left = size < 3 ? size : 3;
	err = view_load(fuzz_file(data, size), &t, f);
	fclose(f);
	FUZZ_EXPECT(!err == !*errors, "a message, and only, with an error: %s",
		    errors);
	if (!err) {
		for (i = 0; i < t.n; i++)
			print_and_parse(&t.r[i]);
		fuzz_trace_look(&t, &pick);
		view_inherit(t.r, t.n);
		fuzz_trace_look(&t, &pick);
	}
	view_free(&t);
	free(errors);
	return 0;
}
