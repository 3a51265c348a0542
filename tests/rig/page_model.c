// SPDX-License-Identifier: BSD-2-Clause
#include "rig/page_model.h"

#include "faultline.h"
#include "harness.h"

/* ---- steps ---- */

void model_begin(struct page_model *m)
{
	unsigned int i, k;

	*m = (struct page_model){ 0 };
	for (i = 0; i < 2; i++)
		for (k = 0; k < MODEL_PAGES; k++)
			m->step[0].prot[i][k] = FL_PROT_READ | FL_PROT_WRITE;
}

/* The state as the last step left it. */
static struct model_state *next_step(struct page_model *m)
{
	struct model_state *s;
	unsigned int k;

	test_expect(++m->now < MODEL_STEPS, __FILE__, __LINE__, "steps for the model");
	s = &m->step[m->now];
	*s = s[-1];
	s->key[0] = s->key[1];
	for (k = 0; k < MODEL_PAGES; k++)
		s->prot[0][k] = s->prot[1][k];
	return s;
}

void model_step(struct page_model *m)
{
	next_step(m);
}

void model_key(struct page_model *m, uint32_t key)
{
	next_step(m)->key[1] = key;
}

void model_protect(struct page_model *m, unsigned int page, int prot)
{
	next_step(m)->prot[1][page] = prot;
}

/* ---- deeds ---- */

uint8_t model_byte(unsigned int deed, uint32_t at)
{
	uint64_t x = (deed * 0x10001ull + at + 1) * 0x9e3779b97f4a7c15ull;

	return (uint8_t)(x >> 32 ^ x >> 56);
}

unsigned int model_post(struct page_model *m, const struct deed *d)
{
	unsigned int n = m->deeds++;

	test_expect(n < MODEL_DEEDS, __FILE__, __LINE__, "deeds for the model");
	model_step(m);
	m->deed[n] = *d;
	m->deed[n].begun = m->now;
	return n;
}

unsigned int model_store(struct page_model *m, uint32_t at, uint32_t bytes)
{
	const struct deed d = { .pair = MODEL_CPU, .at = at, .bytes = bytes };
	unsigned int n = model_post(m, &d);

	model_end(m, n, true);
	return n;
}

void model_end(struct page_model *m, unsigned int deed, bool ok)
{
	struct deed *d = &m->deed[deed];

	model_step(m);
	d->seen = m->now;
	d->end = ok ? DEED_OK : DEED_FAILED;
	if (ok)
		d->settled = m->now;
}

void model_settle(struct page_model *m, unsigned int pair)
{
	unsigned int i;

	model_step(m);
	for (i = 0; i < m->deeds; i++) {
		struct deed *d = &m->deed[i];

		if (d->pair != pair || d->settled)
			continue;
		d->settled = m->now;
		if (d->end == DEED_UNDER_WAY) {
			d->end = DEED_FAILED;
			d->seen = m->now;
		}
	}
}

/* ---- was it allowed? ---- */

static bool deed_touches(const struct deed *d, unsigned int page)
{
	return d->at < (page + 1) * HOST_PAGE && d->at + d->bytes > page * HOST_PAGE;
}

static bool page_permits(const struct model_state *s, unsigned int way, const struct deed *d,
		    unsigned int page)
{
	int need = d->read ? FL_PROT_READ : FL_PROT_WRITE;

	return s->prot[way][page] & need;
}

/* Each page at some time, since a request may come to each at another. */
bool model_allowed(const struct page_model *m, const struct deed *d)
{
	unsigned int i, page, way;
	bool key = false, rights;

	for (i = d->begun; i <= d->seen; i++)
		key |= m->step[i].key[0] == d->key || m->step[i].key[1] == d->key;
	for (page = 0; page < MODEL_PAGES; page++) {
		if (!deed_touches(d, page))
			continue;
		for (rights = false, i = d->begun; i <= d->seen; i++)
			for (way = 0; way < 2; way++)
				rights |= page_permits(&m->step[i], way, d, page);
		if (!rights)
			return false;
	}
	return key;
}

bool model_refusable(const struct page_model *m, const struct deed *d)
{
	unsigned int i, page, way, end = d->end == DEED_UNDER_WAY ? m->now : d->seen;
	bool always = true;

	for (i = d->begun; i <= end; i++)
		for (way = 0; way < 2; way++) {
			always &= m->step[i].key[way] == d->key;
			for (page = 0; page < MODEL_PAGES; page++)
				always &= !deed_touches(d, page) ||
					  page_permits(&m->step[i], way, d, page);
		}
	return !always;
}

bool model_pair_refusable(const struct page_model *m, unsigned int pair)
{
	const struct deed *d;

	for (d = m->deed; d < m->deed + m->deeds; d++)
		if (d->pair == pair && model_refusable(m, d))
			return true;
	return false;
}

/* ---- which bytes may be there? ---- */

static bool deed_writes(const struct deed *d, uint32_t at)
{
	return !d->read && d->at <= at && at < d->at + d->bytes;
}

/* All of a was over before any of b began, or b was carried out after a. */
static bool deed_comes_after(const struct deed *b, const struct deed *a)
{
	return (a->settled && a->settled < b->begun) || (a->pair == b->pair && a < b);
}

/* It is over, and well, before anybody looks. */
static bool deed_is_seen(const struct deed *d, const struct deed *reader)
{
	return d->end == DEED_OK &&
	       (!reader || d->seen < reader->begun || (d->pair == reader->pair && d < reader));
}

static bool deed_may_show(const struct page_model *m, const struct deed *reader, uint32_t at,
			  const struct deed *d)
{
	const struct deed *o;

	for (o = m->deed; o < m->deed + m->deeds; o++)
		if (o != d && deed_writes(o, at) && deed_is_seen(o, reader) &&
		    deed_comes_after(o, d))
			return false;
	return true;
}

uint32_t model_wrong(const struct page_model *m, const struct deed *reader, uint32_t at,
		     uint32_t bytes, const uint8_t *found)
{
	const struct deed *d;
	uint32_t i;
	bool right;

	for (i = 0; i < bytes; i++) {
		right = false;
		for (d = m->deed; !right && d < m->deed + m->deeds; d++)
			right = deed_writes(d, at + i) &&
				model_byte((unsigned int)(d - m->deed), at + i) == found[i] &&
				deed_may_show(m, reader, at + i, d);
		if (!right)
			return i;
	}
	return bytes;
}
