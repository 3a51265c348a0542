// SPDX-License-Identifier: BSD-2-Clause
/*
 * Timing profiles: what is accepted has values within their bounds, and written again it
 * gives the same values; what is refused says where. Each line is tried as --set as well.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sim/sim.h"
#include "sim/timing.h"

const char fuzz_name[] = "profile";

#define MOST 1000000000000ull

static void judge_values(const struct timing_profile *p)
{
	uint64_t cell = p->v[T_LINK_CELL];
	int i;

	for (i = 0; i < T_COUNT; i++) {
		FUZZ_EXPECT(p->v[i] <= MOST, "%s is at most 10^12",
			    timing_name(i));
		FUZZ_EXPECT(timing_key(timing_name(i)) == i, "%s is a key",
			    timing_name(i));
	}
	FUZZ_EXPECT(cell >= 64 && cell <= 4096 && !(cell & (cell - 1)),
		    "link.cell is a power of two from 64 to 4096");
	FUZZ_EXPECT(p->v[T_LINK_MBPS] && p->v[T_FW_TIMEOUT],
		    "nothing is divided by 0");
}

static void write_and_load(const struct timing_profile *p)
{
	struct timing_profile again;
	char *text, error[500];
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	int i, err;

	FUZZ_EXPECT(f, "there is memory for a profile");
	for (i = 0; i < T_COUNT; i++)
		fprintf(f, "%s = %llu # again\n", timing_name(i),
			(unsigned long long)p->v[i]);
	fclose(f);
	err = timing_load(&again, fuzz_file(text, bytes), error, sizeof(error));
	FUZZ_EXPECT(!err, "a profile that was written is read: %s", error);
	FUZZ_EXPECT(!memcmp(p->v, again.v, sizeof(p->v)),
		    "it has the same values");
	timing_free(&again);
	free(text);
}

static void set_lines(char *text)
{
	struct timing_profile p;
	char *line, *save, error[500];
	int err;

	timing_defaults(&p);
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		error[0] = 0;
		err = timing_set(&p, line, error, sizeof(error));
		FUZZ_EXPECT(!err == !error[0], "'%s': %d, '%s'", line, err,
			    error);
	}
	judge_values(&p);
	timing_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct timing_profile p;
	char error[500] = "", *text;
	int err = timing_load(&p, fuzz_file(data, size), error, sizeof(error));

	if (err) {
		FUZZ_EXPECT(error[0], "refused without a word");
	} else {
		judge_values(&p);
		write_and_load(&p);
		timing_free(&p);
	}
	text = fuzz_text(data, size);
	set_lines(text);
	free(text);
	return 0;
}
