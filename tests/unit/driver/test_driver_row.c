// SPDX-License-Identifier: BSD-2-Clause
/* Rows that are in no table: which of them the driver takes, and what it does then. */
#include "faultline/system_rows.h"
#include "rig/driver.h"

#define LEN	(64u * 1024)

static long row_set(struct rig_node *n, struct fl_system_row row)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_PART,
			       .resolve = FL_IOC_RESOLVE_BLOCK, .derived = 1,
			       .row = row };

	return rig_ioctl(n, FL_IOC_POLICY, &p);
}

static struct fl_query row_query(struct rig_node *n)
{
	struct fl_query q = { .size = sizeof(q) };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	return q;
}

/* Packets with sequence numbers, for which the card translates by itself. */
static bool row_packets(const struct fl_system_row *r)
{
	bool answered = r->rr == FL_VERDICT_RNR || r->rr == FL_VERDICT_DROP ||
			r->rr == FL_VERDICT_SLEEP;
	bool refused = r->rw == FL_VERDICT_RNR || r->rw == FL_VERDICT_DROP ||
		       r->rw == FL_VERDICT_SLEEP;

	return r->tables == FL_TABLES_NIC && r->before != FL_BEFORE_SNOOP &&
	       (r->ir == FL_VERDICT_PARK || r->ir == FL_VERDICT_SLEEP) &&
	       (r->iw == FL_VERDICT_REWIND || r->iw == FL_VERDICT_DROP ||
		r->iw == FL_VERDICT_SLEEP) && answered && refused &&
	       (r->tells == FL_TELLS_TOKEN || r->tells == FL_TELLS_PAGES ||
		r->tells == FL_TELLS_TABLE);
}

static bool row_datagrams(const struct fl_system_row *r)
{
	return r->tables == FL_TABLES_NIC && r->before != FL_BEFORE_SNOOP &&
	       r->ir == FL_VERDICT_PARK && r->iw == FL_VERDICT_NONE &&
	       r->rr == FL_VERDICT_NONE &&
	       ((r->rw == FL_VERDICT_DROP && r->tells == FL_TELLS_TABLE) ||
		(r->rw == FL_VERDICT_DIVERT && r->tells == FL_TELLS_RESOLVED));
}

/* Fragments, which write and nothing else. */
static bool row_fragments(const struct fl_system_row *r)
{
	return r->tables == FL_TABLES_SHADOW && r->before != FL_BEFORE_SNOOP &&
	       r->ir == FL_VERDICT_PARK && r->iw == FL_VERDICT_NONE &&
	       r->rr == FL_VERDICT_NONE && r->tells == FL_TELLS_COPIED &&
	       (r->rw == FL_VERDICT_REDIRECT || r->rw == FL_VERDICT_DROP);
}

/* In plain words, and knowing nothing of the rules: what these parts can do. */
static bool row_possible(const struct fl_system_row *r)
{
	bool stalled = r->ir == FL_VERDICT_HOLD && r->iw == FL_VERDICT_HOLD &&
		       r->rr == FL_VERDICT_HOLD && r->rw == FL_VERDICT_HOLD &&
		       r->tells == FL_TELLS_RESUME;
	bool here = r->ir == FL_VERDICT_PARK || r->ir == FL_VERDICT_ABORT;
	bool there = r->rr == FL_VERDICT_WAIT || r->rr == FL_VERDICT_DROP ||
		     r->rr == FL_VERDICT_ABORT;
	bool tried_again = r->iw == FL_VERDICT_PARK &&
			   (r->rw == FL_VERDICT_REFUSE ||
			    r->rw == FL_VERDICT_DROP) &&
			   r->tells == FL_TELLS_READY;
	bool ended = r->iw == FL_VERDICT_ABORT && r->rw == FL_VERDICT_ABORT &&
		     r->tells == FL_TELLS_STATUS;

	if (r->transport == FL_TRANSPORT_RC)
		return row_packets(r);
	if (r->transport == FL_TRANSPORT_UD)
		return row_datagrams(r);
	if (r->transport == FL_TRANSPORT_NV)
		return row_fragments(r);
	if (r->tables == FL_TABLES_NIC || r->tables == FL_TABLES_SHADOW)
		return false;
	if (r->tables == FL_TABLES_INSERTED)
		return (r->before == FL_BEFORE_PIN ||
			r->before == FL_BEFORE_CACHE) && r->ir == FL_VERDICT_FAIL &&
		       r->iw == FL_VERDICT_FAIL && r->rr == FL_VERDICT_FAIL &&
		       r->rw == FL_VERDICT_FAIL && r->tells == FL_TELLS_STATUS;
	if (r->tables == FL_TABLES_SINK)
		return r->before == FL_BEFORE_NOTHING &&
		       r->ir == FL_VERDICT_SINK && r->iw == FL_VERDICT_SINK &&
		       r->rr == FL_VERDICT_SINK && r->rw == FL_VERDICT_SINK &&
		       r->tells == FL_TELLS_NOTHING;
	return stalled || (here && there && (tried_again || ended));
}

/* The next of all combinations; false: that was the last. */
static bool row_next(struct fl_system_row *row)
{
	unsigned char *cell = (unsigned char *)row;
	unsigned int c;

	for (c = 0; c < sizeof(*row); c++) {
		if (++cell[c] < fl_system_rules.values[c])
			return true;
		cell[c] = 0;
	}
	return false;
}

/* By all tables, with all that can be done before: what there is to stall, and else. */
#define ROWS_TAKEN (2 * 5 * (1 + 2 * 3 * 2 + 2 * 3) + 3 + 4 * 2 * 3 * 3 * 3 * 3 + \
		    4 * 2 + 4 * 2)
/* There are millions of rows: of those that nobody thinks possible only some are asked for. */
#define ROWS_STEP 101u

static void every_row(struct rig *r)
{
	struct fl_system_row row = { 0 };
	struct rig_node *n = &r->n[0];
	unsigned int taken = 0, wrong = 0, i = 0;
	struct fl_query q;
	bool yes;

	rig_open(n);
	do {
		if (i++ % ROWS_STEP && !row_possible(&row) &&
		    fl_row_judge((unsigned char *)&row, &fl_system_rules).wrong)
			continue;
		yes = !row_set(n, row);
		wrong += yes != row_possible(&row);
		taken += yes;
		if (!yes)
			continue;
		q = row_query(n);
		wrong += memcmp(&q.row, &row, sizeof(row)) != 0;
		wrong += (q.doorbell == 2) != (row.before == FL_BEFORE_SNOOP);
	} while (row_next(&row));
	EXPECT_EQ(wrong, 0);
	EXPECT_EQ(taken, ROWS_TAKEN);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

TEST("of all rows the driver takes those that can be carried out, and no other")
{
	rig_run(every_row);
}

static void row_nonsense(struct rig *r)
{
	struct fl_policy p = { .size = sizeof(p),
			       .resolve = FL_IOC_RESOLVE_BLOCK, .derived = 2,
			       .row = fl_system_rows[FL_SYSTEM_DROP] };
	struct fl_system_row row = fl_system_rows[FL_SYSTEM_PART];
	struct rig_node *n = &r->n[0];
	unsigned int c, v;
	struct fl_query q;

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	STEP("a row without the word that it counts");
	p.derived = 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	p.derived = 1;
	p.quirks = FL_QUIRKS_ALL + 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	STEP("numbers that no column has");
	for (c = 0; c < sizeof(row); c++)
		for (v = fl_system_rules.values[c]; v < 256; v++) {
			memcpy(&row, &fl_system_rows[FL_SYSTEM_PART], sizeof(row));
			((uint8_t *)&row)[c] = (uint8_t)v;
			EXPECT_EQ(row_set(n, row), -EINVAL);
		}
	q = row_query(n);
	EXPECT_EQ(q.system, FL_SYSTEM_PART);
	EXPECT_EQ(q.derived, 0);
	EXPECT_MEM(&q.row, &fl_system_rows[FL_SYSTEM_PART], sizeof(q.row));
	STEP("a program of before knows nothing of rows, and is served");
	memset(&p, 0, sizeof(p));
	p.size = 16;
	p.system = FL_SYSTEM_STALL;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	EXPECT_EQ(row_query(n).row.rw, FL_VERDICT_HOLD);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

TEST("a row that is nonsense changes nothing")
{
	rig_run(row_nonsense);
}

/* Like part, but silent to WRITEs alone: what the card does, and the bank, and pins. */
static void row_at_work(struct rig *r)
{
	struct fl_system_row row = fl_system_rows[FL_SYSTEM_PART];
	int i;

	row.rw = FL_VERDICT_DROP;
	row.before = FL_BEFORE_PIN;
	for (i = 0; i < 2; i++) {
		rig_open(&r->n[i]);
		if (i)
			row.before = FL_BEFORE_NOTHING;
		EXPECT_EQ(row_set(&r->n[i], row), 0);
		rig_set_up(&r->n[i], 0);
	}
	rig_connect(r);
	EXPECT_EQ(rig_counters(&r->n[0]).pinned_pages, RIG_BYTES / RIG_PAGE);
	EXPECT_EQ(rig_counters(&r->n[1]).pinned_pages, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_GE(trace_count(r->trace, EV_FW_SILENT), 1);
	EXPECT_EQ(rig_smmu(&r->n[1], SMMU_CB_BASE(0) + SMMU_CB_SCTLR) &
		  SMMU_CB_SCTLR_CFCFG, 0);
	STEP("another one: it stalls");
	rig_close(&r->n[1]);
	rig_open(&r->n[1]);
	EXPECT_EQ(row_set(&r->n[1], fl_system_rows[FL_SYSTEM_STALL]), 0);
	EXPECT_NE(rig_smmu(&r->n[1], SMMU_CB_BASE(row_query(&r->n[1]).slot) +
			   SMMU_CB_SCTLR) & SMMU_CB_SCTLR_CFCFG, 0);
	EXPECT_EQ(host_close(r->n[1].process, r->n[1].fd), 0);
}

TEST("driver, bank and card keep to the columns of a row, whatever its number")
{
	rig_run(row_at_work);
}
