// SPDX-License-Identifier: BSD-2-Clause
#include "rig/oracle.h"

struct oracle *o;
uint32_t a, b, t, back, q1, q2, loose;
uint8_t found[BYTES];

static void rig_end(void *arg)
{
	(void)arg;
	oracle_destroy(o);
}

void rig_fill(uint32_t area, uint8_t value)
{
	memset(found, value, BYTES);
	oracle_store(o, area, 0, found, BYTES);
}

void rig_start(void)
{
	o = oracle_create();
	test_cleanup(rig_end, NULL);
	a = oracle_area(o, "a", BYTES);
	b = oracle_area(o, "b", BYTES);
	t = oracle_area(o, "t", BYTES);
	back = oracle_area(o, "back", BYTES);
	q1 = oracle_pair(o, "q1", ORACLE_POSTED);
	q2 = oracle_pair(o, "q2", ORACLE_POSTED);
	loose = oracle_pair(o, "loose", ORACLE_RELAXED);
	rig_fill(a, 0xa0);
	rig_fill(b, 0xb0);
	rig_fill(t, 0x10);
}

uint64_t rig_post(const char *name, uint32_t pair, uint32_t from, uint32_t to,
		  uint64_t at, uint64_t n)
{
	struct oracle_work w = { .name = name, .pair = pair, .from = from,
				 .to = to, .from_at = at, .to_at = at,
				 .bytes = n };

	STEP("%s: WRITE of %d bytes at %d", name, (int)n, (int)at);
	return oracle_post(o, &w);
}

uint64_t rig_fetch(const char *name, uint32_t pair, uint32_t from, uint32_t to,
		   uint64_t at, uint64_t n)
{
	struct oracle_work w = { .name = name, .pair = pair, .from = from,
				 .to = to, .from_at = at, .to_at = at,
				 .bytes = n, .read = true };

	STEP("%s: READ of %d bytes at %d", name, (int)n, (int)at);
	return oracle_post(o, &w);
}

bool rig_look(uint32_t area, uint64_t at, uint64_t n, uint8_t value)
{
	memset(found, value, BYTES);
	return oracle_look(o, area, at, found, n);
}

void rig_good(bool held)
{
	test_expect(held && !oracle_problem(o), __FILE__, __LINE__,
		    "it passes: %s", oracle_problem(o) ? oracle_problem(o) :
							  "");
}

void rig_breach(bool held, const char *words)
{
	test_expect(!held && oracle_problem(o), __FILE__, __LINE__,
		    "a breach is seen");
	test_expect(strstr(oracle_problem(o), words), __FILE__, __LINE__,
		    "\"%s\" says \"%s\"", oracle_problem(o), words);
}
