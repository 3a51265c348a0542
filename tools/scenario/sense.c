// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a line says that cannot be meant: options that contradict each other or that nothing
 * would look at, and numbers that no board has. A line that is to fail may say what it likes.
 */
#include <string.h>

#include "faultline/uapi.h"
#include "tools/scenario/parser.h"
#include "tools/scenario/testbed.h"

static bool refuse_at(struct parser *p, const struct place *at,
		      const char *word, const char *right)
{
	p->mistakes++;
	fprintf(p->errors, "%s:%d:%d: '%s' stands here; wanted: %s\n",
		p->s->file, at->line, at->column, word, right);
	return false;
}

static bool refuse_option(struct parser *p, const struct statement *st,
			  const char *key, const char *right)
{
	const struct arg *a = statement_option(st, key);

	return refuse_at(p, &a->at, a->word ? a->word : key, right);
}

static bool statement_has(const struct statement *st, const char *key)
{
	return statement_option(st, key) != NULL;
}

static bool sense_buffer(struct parser *p, const struct statement *st)
{
	const struct arg *fill = statement_option(st, "fill");
	const struct arg *size = &st->arg[3];

	if (statement_has(st, "file") && size->set)
		return refuse_at(p, &size->at, size->word, "no size with "
				 "file=\"PATH\": it is that of the file");
	if (!statement_has(st, "file") && !size->set)
		return refuse_at(p, &st->at, "buffer", "a size or "
				 "file=\"PATH\" after the process");
	if (size->set && !size->number)
		return refuse_at(p, &size->at, size->word,
				 "a size of at least one byte");
	if (statement_has(st, "seed") &&
	    (!fill || fill->choice == TESTBED_ZERO))
		return refuse_option(p, st, "seed",
				     "seed=N with fill=random or fill=pattern");
	if (statement_has(st, "cold") && (fill || statement_has(st, "warm")))
		return refuse_option(p, st, "cold", "no 'cold' with fill= or "
				     "warm, which bring all pages in");
	return true;
}

static bool sense_inject(struct parser *p, const struct statement *st)
{
	if (statement_has(st, "off") && st->options > 1)
		return refuse_option(p, st, "off", "'off' alone: it ends all "
				     "that is injected");
	if (statement_has(st, "share") && !statement_has(st, "late"))
		return refuse_option(p, st, "share",
				     "share=SHARE with late=TIME");
	if (!st->options)
		return refuse_at(p, &st->at, "inject", "what to inject: loss=, "
				 "duplicate=, damage=, late= or off");
	return true;
}

static bool sense_number(struct parser *p, const struct arg *a,
			 uint64_t least, uint64_t most)
{
	char right[80];

	if (a->number >= least && a->number <= most)
		return true;
	snprintf(right, sizeof(right), "a number from %llu to %llu",
		 (unsigned long long)least, (unsigned long long)most);
	return refuse_at(p, &a->at, a->word, right);
}

static bool sense_await(struct parser *p, const struct statement *st)
{
	const struct arg *op = &st->arg[1];

	if (op->choice != CMP_GE && op->choice != CMP_GT && op->choice != CMP_EQ)
		return refuse_at(p, &op->at, op->word,
				 ">=, > or ==: a counter only rises");
	return sense_number(p, &st->arg[2], 0, 1u << 30);
}

static bool sense_limits(struct parser *p, const struct statement *st)
{
	static const struct {
		enum verb verb;
		const char *key;
		uint64_t least, most;
	} limit[] = {
		{ V_BOARD, "frames", 1, UINT32_MAX },
		{ V_BOARD, "contexts", 1, UINT8_MAX },
		{ V_BOARD, "receive", 1, UINT8_MAX },
		{ V_BOARD, "block", 1, UINT32_MAX },
		{ V_BOARD, "tlb", 1, UINT32_MAX },
		{ V_REGION, "domain", 0, RPC_DOMAINS - 1 },
		{ V_CONNECT, "domain", 0, RPC_DOMAINS - 1 },
		{ V_CONNECT, "depth", 1, UINT16_MAX },
		{ V_CONNECT, "timeout", 0, 31 },
		{ V_CONNECT, "retry", 0, 7 },
		{ V_CONNECT, "rnr", 0, 31 },
		{ V_CONNECT, "rnr_retry", 0, 7 },
		{ V_CONNECT, "reads", 1, 16 },
		{ V_CONNECT, "psn", 0, 0xFFFFFF },
		{ V_CONNECT, "inline", 0, FL_INLINE_BYTES },
		{ V_POST, "imm", 0, UINT32_MAX },
		{ V_SEND, "imm", 0, UINT32_MAX },
		{ V_RECEIVE, "n", 1, UINT16_MAX },
	};
	const struct arg *a;
	size_t i;

	for (i = 0; i < sizeof(limit) / sizeof(limit[0]); i++) {
		a = limit[i].verb == st->verb ?
			    statement_option(st, limit[i].key) : NULL;
		if (a && !sense_number(p, a, limit[i].least, limit[i].most))
			return false;
	}
	if (st->verb == V_DROP)
		return sense_number(p, &st->arg[4], 0, UINT32_MAX);
	if (st->verb == V_REPEAT)
		return sense_number(p, &st->arg[0], 0, UINT32_MAX);
	return true;
}

static bool sense_post(struct parser *p, const struct statement *st)
{
	static const char *const carried[] = { "imm", "solicited", "inline" };
	const struct arg *size = &st->arg[7];
	int i;

	if (size->set && size->number > UINT32_MAX)
		return refuse_at(p, &size->at, size->word, "a size below 4G");
	if ((st->arg[2].choice == 0) != (st->arg[5].choice == 0))
		return refuse_at(p, &st->arg[5].at, st->arg[5].word,
				 st->arg[2].choice == 0 ?
				 "'->': a write goes LOCAL -> REMOTE" :
				 "'<-': a read goes LOCAL <- REMOTE");
	if (statement_has(st, "from") && statement_has(st, "local"))
		return refuse_option(p, st, "from",
				     "from= or local=, not both");
	if (statement_has(st, "at") && statement_has(st, "remote"))
		return refuse_option(p, st, "at", "at= or remote=, not both");
	for (i = 0; i < 3; i++)
		if (st->arg[2].choice && statement_has(st, carried[i]))
			return refuse_option(p, st, carried[i], "imm=, "
					     "solicited and inline with a write: "
					     "a read carries nothing there");
	if (statement_has(st, "solicited") && !statement_has(st, "imm"))
		return refuse_option(p, st, "solicited", "imm=N with "
				     "solicited: else nobody hears of it");
	return sense_limits(p, st);
}

/* choice 3: a buffer */
static bool sense_data(struct parser *p, const struct statement *st)
{
	if (statement_has(st, "seed") && (st->arg[3].choice == 3 ||
					  st->arg[3].choice == TESTBED_ZERO))
		return refuse_option(p, st, "seed",
				     "seed=N with random or pattern");
	return true;
}

/* The backup ring's, which are bounds of the driver (uapi.h). */
static bool sense_ring(struct parser *p, const struct statement *st)
{
	const struct arg *slots = statement_option(st, "slots");
	const struct arg *bits = statement_option(st, "bm");

	if ((slots || bits) &&
	    parser_row(p, &st->arg[0])->rw != FL_VERDICT_DIVERT)
		return refuse_option(p, st, slots ? "slots" : "bm",
				     "slots= and bm= with backup, or with a "
				     "system that has rw=divert");
	if (slots && (slots->number < 2 || slots->number > FL_BACKUP_SLOTS_MAX ||
		      slots->number & (slots->number - 1)))
		return refuse_option(p, st, "slots", "a power of two from 2 to "
				     "1024: slots of the backup ring");
	if (bits && (!bits->number || bits->number > FL_BACKUP_BITS_MAX))
		return refuse_option(p, st, "bm", "a number from 1 to 256: what "
				     "the ring may hold of one queue pair");
	return true;
}

/* What is said of a cache, or of looking afterwards, goes with systems that do so. */
static bool sense_policy(struct parser *p, const struct statement *st)
{
	const struct arg *cache = statement_option(st, "cache");
	const char *key = cache ? "cache" : "hook";

	if (statement_has(st, key) &&
	    !testbed_row_caches(parser_row(p, &st->arg[0])))
		return refuse_option(p, st, key, "cache= and hook= with pincache, or "
				     "with a system that has before=cache");
	if (statement_has(st, "verify") &&
	    parser_row(p, &st->arg[0])->tables != FL_TABLES_SINK)
		return refuse_option(p, st, "verify", "verify= with npr, or with a "
				     "system that has tables=sink");
	if (statement_has(st, "quirk") &&
	    parser_row(p, &st->arg[0])->transport != FL_TRANSPORT_RC)
		return refuse_option(p, st, "quirk", "quirk= with a system whose "
				     "transport is rc: packets, as npf");
	if (cache && !cache->number)
		return refuse_option(p, st, "cache", "a size of at least one byte: "
				     "what is in use counts, too");
	return sense_ring(p, st);
}

/* A packet's payload, as InfiniBand has it. */
static bool sense_mtu(struct parser *p, const struct statement *st)
{
	const struct arg *a = statement_option(st, "mtu");

	if (!a || (a->number >= 256 && a->number <= 4096 &&
		   !(a->number & (a->number - 1))))
		return true;
	return refuse_at(p, &a->at, a->word, "256, 512, 1024, 2048 or 4096");
}

static bool sense_atomic(struct parser *p, const struct statement *st)
{
	if (st->arg[2].choice == 0 && statement_has(st, "compare"))
		return refuse_option(p, st, "compare", "compare= with swap, not "
				     "with add");
	if (st->arg[2].choice == 1 &&
	    !(statement_has(st, "compare") && statement_has(st, "value")))
		return refuse_at(p, &st->arg[2].at, "swap", "compare=N and "
				 "value=N behind a swap");
	return true;
}

bool parser_sense(struct parser *p, const struct statement *st)
{
	if (st->verb == V_SYSTEM)
		return parser_derive(p, st);
	if (st->fails)
		return true;
	switch (st->verb) {
	case V_POLICY:
		return sense_policy(p, st);
	case V_BUFFER:
		return sense_buffer(p, st);
	case V_INJECT:
		return sense_inject(p, st);
	case V_AWAIT:
		return sense_await(p, st);
	case V_POST:
		return sense_post(p, st);
	case V_ATOMIC:
		return sense_atomic(p, st);
	case V_CONNECT:
		return sense_mtu(p, st) && sense_limits(p, st);
	case V_EXPECT_DATA:
		return sense_data(p, st);
	default:
		return sense_limits(p, st);
	}
}
