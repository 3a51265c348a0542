// SPDX-License-Identifier: BSD-2-Clause
/*
 * Works: names and keys, what they ask for, and runs of each under every system, judged by
 * plain arrays.
 */
#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/entries.h"
#include "faultline/system_rows.h"
#include "host/host.h"
#include "tools/faultline/compare.h"
#include "tools/work/work_state.h"

static struct work work_of(const char *name, const char *keys)
{
	char room[WORK_ROOM], word[100];
	struct work k;
	size_t n;

	EXPECT(!work_choose(&k, name, room));
	for (; *keys; keys += n + (keys[n] == ' ')) {
		n = strcspn(keys, " ");
		snprintf(word, sizeof(word), "%.*s", (int)n, keys);
		EXPECT(!work_set(&k, word, room));
	}
	EXPECT(!work_check(&k, room));
	return k;
}

static struct work_result work_measure(const struct work *k, enum fl_system system,
				       enum work_hazard h,
				       const char *const *sets)
{
	struct work_run run = { .work = k, .hazard = h };
	struct work_result r;

	run.cfg.seed = test_seed();
	run.cfg.system = system;
	run.cfg.resolve = FL_RESOLVE_BLOCK;
	run.cfg.trace_records = 4096;
	run.cfg.sets = sets;
	if (h == WORK_DIES) {
		run.hazard = WORK_PLAIN;
		work_run(&run, &r);
		run.plain_ns = r.transfer_ns;
		run.hazard = h;
	}
	work_run(&run, &r);
	return r;
}

/* ---- names and keys ---- */

TEST("keys are taken, and what is wrong is answered with what is right")
{
	struct work k = work_of(NULL, "bytes=64K count=3 cold=25% side=both depth=2");
	char room[WORK_ROOM], title[WORK_TITLE];

	EXPECT_EQ(k.kind, WORK_WRITE);
	EXPECT_EQ(k.bytes, 65536);
	EXPECT_EQ(k.count, 3);
	EXPECT_EQ(k.depth, 2);
	EXPECT_EQ(k.cold_ppm, 250000);
	EXPECT_EQ(k.side, WORK_BOTH_SIDES);
	work_title(&k, title);
	EXPECT(!strcmp(title, "3 WRITEs of 64 KB, 25% of both sides cold"));
	EXPECT(strstr(work_choose(&k, "wirte", room), "did you mean 'write'"));
	EXPECT(!work_choose(&k, "pingpong", room));
	EXPECT(strstr(work_set(&k, "depth=2", room), "bytes=, count="));
	EXPECT(strstr(work_set(&k, "cout=2", room), "did you mean 'count='"));
	EXPECT(strstr(work_set(&k, "count=129", room), "to 128"));
	EXPECT(work_set(&k, "count=0", room));
	EXPECT(work_set(&k, "count=", room));
	EXPECT(work_set(&k, "count", room));
	EXPECT(work_set(&k, "bytes=16M+1", room));
	EXPECT(work_set(&k, "bytes=0", room));
	EXPECT(work_set(&k, "cold=101%", room));
	EXPECT(work_set(&k, "side=left", room));
	EXPECT(!work_choose(&k, "read", room));
	EXPECT(!work_set(&k, "bytes=16M", room));
	EXPECT(!work_set(&k, "count=5", room));
	EXPECT(strstr(work_check(&k, room), "64M"));
}

TEST("every work has a name and a text, and its requests fit into its buffers")
{
	static struct work_op op[WORK_MOST_OPS];
	struct work_sizes s;
	struct work k;
	char room[WORK_ROOM];
	unsigned int kind, n, i;
	int me;

	for (kind = 0; work_name(kind); kind++) {
		EXPECT(work_text(kind) && work_keys(kind));
		EXPECT(!work_choose(&k, work_name(kind), room));
		EXPECT_EQ(k.kind, kind);
		n = work_ops(&k, 7, op);
		EXPECT_EQ(!n, kind == WORK_STREAM);
		if (!n)
			continue;
		EXPECT_LE(n, WORK_MOST_OPS);
		EXPECT(op[n - 1].last);
		work_sizes(op, n, &s);
		for (i = 0; i < n; i++) {
			me = op[i].back;
			EXPECT_LE(op[i].local_at + op[i].bytes,
				  op[i].read ? s.in[me] : s.out[me]);
			EXPECT_LE(op[i].at + op[i].bytes,
				  op[i].remote == WORK_IN ? s.in[!me] : s.out[!me]);
		}
	}
	EXPECT_EQ(kind, WORK_PATTERNS + 6);
}

/* ---- runs ---- */

static bool work_reads(const struct work *k)
{
	static struct work_op op[WORK_MOST_OPS];
	unsigned int n = work_ops(k, 7, op), i;

	for (i = 0; i < n; i++)
		if (op[i].read)
			return true;
	return false;
}

/* A system may give up where a page is missing; where none is, it may not. */
static struct work_result work_everywhere(const struct work *k, enum fl_system system)
{
	struct work_result r = work_measure(k, system, WORK_PLAIN, NULL);

	if (fl_system_rows[system].transport == FL_TRANSPORT_NV && work_reads(k))
		EXPECT_EQ(r.end, WORK_NOT_HERE);
	else
		EXPECT(r.end == WORK_OK || (k->cold_ppm && r.end == WORK_ERROR));
	if (r.end != WORK_OK)
		return r;
	EXPECT(r.transfer_ns && r.transfer_ns <= r.total_ns);
	EXPECT_LE(r.p50_ns, r.p99_ns);
	EXPECT_LE(r.asked_bytes, r.count.payload_bytes);
	return r;
}

/*
 * Where each step takes longer (sanitizers, a look at everything after each event), a fifth of
 * the pairs, or a fifteenth: each work, and each system, is among them.
 */
static bool work_is_left_out(unsigned int kind, unsigned int system)
{
#ifdef __SANITIZE_ADDRESS__
	bool slow = true;
#else
	bool slow = getenv("FAULTLINE_CHECKS");
#endif

	return slow && (kind + system) % (test_is_short() ? 15 : 5);
}

TEST("each work goes through under each system, and the same each time")
{
	unsigned int kind, system;
	char room[WORK_ROOM];
	struct work_result r, again;
	struct work k;

	for (kind = 0; work_name(kind); kind++)
		for (system = 0; system < FL_SYSTEMS; system++) {
			STEP("%s, system %u", work_name(kind), system);
			EXPECT(!work_choose(&k, work_name(kind), room));
			if (!work_goes(&k, (enum fl_system)system) ||
			    work_is_left_out(kind, system))
				continue;
			r = work_everywhere(&k, (enum fl_system)system);
			again = work_measure(&k, (enum fl_system)system, WORK_PLAIN, NULL);
			EXPECT_EQ(memcmp(&r, &again, sizeof(r)), 0);
			EXPECT(!work_set(&k, "cold=0%", room));
			work_everywhere(&k, (enum fl_system)system);
		}
}

TEST("figures of a megabyte are those that can be counted by hand")
{
	struct work k = work_of("write", ""), warm = work_of("write", "cold=0%");
	struct work half = work_of("write", "cold=50%"), src;
	const uint64_t pages = (1u << 20) / HOST_PAGE;
	struct work_result r;

	r = work_measure(&k, FL_SYSTEM_PIN, WORK_PLAIN, NULL);
	EXPECT_EQ(r.count.faults, 0);
	EXPECT_EQ(r.count.pages_in, pages);
	EXPECT_EQ(r.count.pinned_peak, 2 * pages);
	EXPECT_EQ(r.count.payload_bytes, 1u << 20);
	EXPECT_EQ(r.count.wire_bytes, 1u << 20);
	EXPECT_EQ(r.p50_ns, r.p99_ns);
	STEP("a fault a block, and each block twice");
	r = work_measure(&k, FL_SYSTEM_PART, WORK_PLAIN, NULL);
	EXPECT_EQ(r.count.faults, 64);
	EXPECT_EQ(r.count.resent, 64);
	EXPECT_EQ(r.count.payload_bytes, 2u << 20);
	EXPECT_EQ(r.count.pages_in, pages);
	EXPECT_EQ(r.count.pinned_peak, 0);
	EXPECT_GE(r.count.cpu_work_ns, 1000 * pages);
	STEP("nothing is missing");
	r = work_measure(&warm, FL_SYSTEM_PART, WORK_PLAIN, NULL);
	EXPECT_EQ(r.count.faults, 0);
	EXPECT_EQ(r.count.pages_in, 0);
	EXPECT_EQ(r.count.irqs[IRQ_NIC_FAULT], 0);
	EXPECT_EQ(r.count.cpu_work_ns, 0);
	STEP("half of the pages, and the source's from swap");
	r = work_measure(&half, FL_SYSTEM_PART, WORK_PLAIN, NULL);
	EXPECT_EQ(r.count.pages_in, pages / 2);
	src = work_of("write", "side=source");
	r = work_measure(&src, FL_SYSTEM_PART, WORK_PLAIN, NULL);
	EXPECT_EQ(r.count.pages_in, pages);
	EXPECT_GE(r.total_ns, 10 * 100000);
	STEP("silence instead of REFUSED");
	r = work_measure(&k, FL_SYSTEM_DROP, WORK_PLAIN, NULL);
	EXPECT_EQ(r.count.refused, 0);
	EXPECT_GE(r.count.dropped, 64);
}

TEST("hazards end in one of the known ways, and never in silence")
{
	struct work k = work_of("write", "bytes=256K");
	struct work_result r;
	unsigned int system;
	int h;

	for (system = 0; system < FL_SYSTEMS; system++)
		for (h = work_goes(&k, (enum fl_system)system) ? WORK_PLAIN + 1 :
								 WORK_HAZARDS;
		     h < WORK_HAZARDS; h++) {
			if (test_is_short() && (system + (unsigned int)h) % 4)
				continue;
			STEP("%s, system %u", work_hazard_names[h], system);
			r = work_measure(&k, (enum fl_system)system,
					 (enum work_hazard)h, NULL);
			EXPECT(r.end != WORK_BROKEN && r.end != WORK_HANG);
			EXPECT(r.end != WORK_ERROR || r.error || r.status);
			/* A dead peer, a right taken away: somebody must say so. */
			if (h == WORK_DIES || h == WORK_RIGHTS)
				EXPECT(r.end != WORK_OK);
		}
	r = work_measure(&k, FL_SYSTEM_PIN, WORK_PRESSURE, NULL);
	EXPECT_EQ(r.end, WORK_NO_START);
	k = work_of("write", "bytes=4K");
	r = work_measure(&k, FL_SYSTEM_PIN, WORK_PRESSURE, NULL);
	EXPECT_EQ(r.end, WORK_TOO_SMALL);
}

TEST("what never ends is found at a bound of virtual time")
{
	/* A page takes longer than the wait, and then than the whole run may. */
	static const char *const late[] = { "mm.minor=20000000000", NULL };
	struct work k = work_of("write", "bytes=4K");
	struct work_result r = work_measure(&k, FL_SYSTEM_PART, WORK_PLAIN, late);

	EXPECT_EQ(r.end, WORK_HANG);
	r = work_measure(&k, FL_SYSTEM_PIN, WORK_PLAIN, late);
	EXPECT_EQ(r.end, WORK_OK);
}

/* ---- the judge ---- */

struct judged {
	struct work work;
	struct work_run run;
	struct work_result r;
	struct work_state s;
	int right, wrong, mixed, strange, rights;
};

/* The CPU of q puts there what the card should have. */
static void judge_script(struct testbed *w, void *arg)
{
	static const struct testbed_board_config board[2];
	static const struct pair_plan plan[2];
	struct judged *j = arg;
	struct work_state *s = &j->s;
	struct testbed_buffer *in;
	int err = pair_make(&s->pair, w, board, plan);

	if (!err)
		err = work_data_make(s);
	if (err)
		return;
	in = s->buffer[1][WORK_IN];
	work_data_apply(s);
	testbed_buffer_fill(in, TESTBED_RANDOM, j->run.cfg.seed);
	j->right = work_data_check(s);
	j->run.hazard = WORK_RIGHTS;
	j->rights = work_data_check(s);
	j->run.hazard = WORK_PLAIN;
	/* A page is zeros again, as if it had never come. */
	testbed_buffer_advise(in, 3 * HOST_PAGE, HOST_PAGE, FL_DONTNEED);
	j->wrong = work_data_check(s);
	s->failed = true;
	j->mixed = work_data_check(s);
	testbed_buffer_store(in, 5 * HOST_PAGE, 1000, 99);
	j->strange = work_data_check(s);
}

TEST("the judge tells right bytes from missing, mixed and strange ones")
{
	struct judged *j = calloc(1, sizeof(*j));
	char problem[300];

	j->work = work_of("write", "bytes=64K");
	if (HOST_PAGE > 4096)
		j->work.bytes = 16 * HOST_PAGE;
	j->run = (struct work_run){ .work = &j->work };
	j->run.cfg.seed = test_seed();
	j->run.cfg.trace_records = 4096;
	j->s.run = &j->run;
	j->s.r = &j->r;
	j->s.n = work_ops(&j->work, 1, j->s.op);
	work_sizes(j->s.op, j->s.n, &j->s.size);
	EXPECT_EQ(pair_run(&j->run.cfg, judge_script, j, problem, sizeof(problem)), 0);
	EXPECT_EQ(j->right, 0);
	EXPECT_EQ(j->wrong, -EBADMSG);
	EXPECT_EQ(j->mixed, 0);
	EXPECT_EQ(j->strange, -EBADMSG);
	EXPECT_EQ(j->rights, -EBADMSG);
	work_data_free(&j->s);
	free(j);
}

TEST("a cell says how it ended, or how much slower it was")
{
	struct compare_row row = { .name = "part" };
	char cell[COMPARE_CELL];
	int h;

	row.r.total_ns = 1000;
	row.hazard[WORK_LOSS].total_ns = 1049;
	compare_cell(&row, WORK_LOSS, cell);
	EXPECT(!strcmp(cell, "ok"));
	row.hazard[WORK_LOSS].total_ns = 3240;
	compare_cell(&row, WORK_LOSS, cell);
	EXPECT(!strcmp(cell, "x3.2"));
	row.hazard[WORK_LOSS].total_ns = 250400;
	compare_cell(&row, WORK_LOSS, cell);
	EXPECT(!strcmp(cell, "x250"));
	STEP("the work after the remap is compared with the one before it");
	row.hazard[WORK_REMAP].round_ns[0] = 500;
	row.hazard[WORK_REMAP].round_ns[1] = 1000;
	row.hazard[WORK_REMAP].total_ns = 9000;
	compare_cell(&row, WORK_REMAP, cell);
	EXPECT(!strcmp(cell, "x2.0"));
	for (h = WORK_PLAIN + 1; h < WORK_HAZARDS; h++)
		row.hazard[h].end = WORK_ERROR;
	row.hazard[WORK_DIES].status = FL_ST_NO_ANSWER;
	compare_cell(&row, WORK_DIES, cell);
	EXPECT(!strcmp(cell, "error no-answer"));
	row.hazard[WORK_RIGHTS].error = -EFAULT;
	compare_cell(&row, WORK_RIGHTS, cell);
	EXPECT(!strcmp(cell, "error EFAULT"));
	row.hazard[WORK_LOSS].end = WORK_WRONG;
	compare_cell(&row, WORK_LOSS, cell);
	EXPECT(!strcmp(cell, "WRONG DATA"));
	row.hazard[WORK_LOSS].end = WORK_HANG;
	compare_cell(&row, WORK_LOSS, cell);
	EXPECT(!strcmp(cell, "HANG"));
}
