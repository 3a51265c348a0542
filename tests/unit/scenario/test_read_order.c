// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a scenario reads of a process's memory faults in one order, wherever it puts the bytes: a
 * C library copies backwards if that suits the two addresses, and a trace must not tell.
 */
#include "rig/swarm_seed.h"
#include "tools/scenario/testbed.h"

#define BYTES	(1u << 20)

struct reader {
	uint8_t *to;
	int error;
};

static void reader_script(struct testbed *w, void *arg)
{
	const struct testbed_board_config cfg = { 0 };
	struct reader *r = arg;
	struct testbed_board *a;
	struct testbed_process *p;
	struct testbed_buffer *b;

	r->error |= testbed_board_add(w, "a", &cfg, &a);
	r->error |= testbed_process_add(w, "p", a, FL_SYSTEM_PART, FL_RESOLVE_PAGE, &p);
	r->error |= testbed_buffer_add(p, "src", BYTES, NULL, &b);
	r->error |= testbed_buffer_fill(b, TESTBED_RANDOM, 1);
	r->error |= testbed_buffer_advise(b, 0, BYTES, FL_PAGEOUT);
	r->error |= testbed_buffer_read(b, 0, r->to, BYTES);
}

static void reader_run(uint8_t *to, struct digest *d)
{
	struct testbed_config cfg = { .mode = SIM_LOCKSTEP, .seed = 1,
				      .trace = digest_file(d) };
	struct reader r = { .to = to };
	char error[200] = "";
	struct testbed *w = testbed_create(&cfg, error, sizeof(error));

	EXPECT(w);
	EXPECT_EQ(testbed_run(w, reader_script, &r), 0);
	EXPECT_EQ(r.error, 0);
	testbed_destroy(w);
	fclose(cfg.trace);
}

TEST("in lockstep pages are read in one order, wherever their bytes go")
{
	static const uint32_t at[] = { 8, 256, 2048, 4080, 4095 };
	struct digest first = { 0 }, d;
	uint8_t *to = malloc(BYTES + 8192), *page;
	unsigned int i;

	EXPECT(to);
	page = to + (4096 - (uintptr_t)to % 4096);
	reader_run(page, &first);
	EXPECT_GE(first.bytes, BYTES / 4096 * 40);
	for (i = 0; i < 5; i++) {
		d = (struct digest){ 0 };
		reader_run(page + at[i], &d);
		STEP("%u bytes behind a page's begin", at[i]);
		EXPECT_EQ(d.bytes, first.bytes);
		EXPECT_EQ(d.hash, first.hash);
	}
	free(to);
}
