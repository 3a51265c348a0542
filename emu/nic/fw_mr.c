// SPDX-License-Identifier: BSD-2-Clause
/*
 * Protection domains and memory regions.
 *
 * A key is the region's number in its lowest bits and a tag above them. Number and
 * tag are drawn anew for each region, so a key tells nothing about another one, and
 * an old key does not open a new region. The tag is never 0, and so no key is.
 */
#include "nic/fw_internal.h"

#define NUMBER_BITS	(32 - __builtin_clz(FW_MRS - 1))

#define RIGHTS_ALL (FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE | \
		    FL_ACC_REMOTE_READ | FL_ACC_REMOTE_ATOMIC)

static uint32_t key_number(uint32_t key)
{
	return key & ((1u << NUMBER_BITS) - 1);
}

uint32_t fw_mr_key(const struct fw *fw, uint16_t mr)
{
	return fw->mr[mr].tag << NUMBER_BITS | mr;
}

static struct fw_mr *mr_find(struct fw *fw, uint32_t key, uint32_t slot)
{
	struct fw_mr *m;

	if (key_number(key) >= FW_MRS)
		return NULL;
	m = &fw->mr[key_number(key)];
	if (!m->used || m->tag != key >> NUMBER_BITS || m->slot != slot)
		return NULL;
	return m;
}

enum fw_mr_answer fw_mr_check(const struct fw *fw, const struct fw_range *r,
			      uint16_t *mr)
{
	const struct fw_mr *m = mr_find((struct fw *)fw, r->key, r->slot);

	if (!m || m->pd != r->pd)
		return FW_MR_KEY;
	if (!fw_mr_has(m, r->va, r->bytes))
		return FW_MR_RANGE;
	if (r->right & ~m->rights)
		return FW_MR_RIGHTS;
	if (mr)
		*mr = (uint16_t)key_number(r->key);
	return FW_MR_OK;
}

enum fw_mr_answer fw_mr_check_rights(const struct fw *fw,
				     const struct fw_range *r, uint16_t *mr)
{
	const struct fw_mr *m = mr_find((struct fw *)fw, r->key, r->slot);

	if (!m || m->pd != r->pd)
		return FW_MR_KEY;
	if (r->right & ~m->rights)
		return FW_MR_RIGHTS;
	*mr = (uint16_t)key_number(r->key);
	return FW_MR_OK;
}

uint8_t fw_mr_local_status(enum fw_mr_answer answer)
{
	static const uint8_t status[] = {
		[FW_MR_OK] = FL_ST_OK, [FW_MR_KEY] = FL_ST_LOCAL_KEY,
		[FW_MR_RANGE] = FL_ST_LOCAL_RANGE,
		[FW_MR_RIGHTS] = FL_ST_LOCAL_RIGHTS,
	};

	return status[answer];
}

uint8_t fw_mr_seen_status(enum fw_mr_answer answer)
{
	static const uint8_t status[] = {
		[FW_MR_OK] = FL_ST_OK, [FW_MR_KEY] = FL_ST_SEEN_KEY,
		[FW_MR_RANGE] = FL_ST_SEEN_RANGE,
		[FW_MR_RIGHTS] = FL_ST_SEEN_RIGHTS,
	};

	return status[answer];
}

/* A number that is free, and a tag that it had not last time. */
static uint8_t mr_draw(struct fw *fw, uint32_t *number, uint32_t *tag)
{
	uint32_t drawn, i, n = 0;

	if (fw->env.random(fw->env.ctx, &drawn))
		return FL_ST_NO_ROOM;
	for (i = 0; i < FW_MRS; i++) {
		n = (drawn + i) % FW_MRS;
		if (!fw->mr[n].used)
			break;
	}
	if (i == FW_MRS)
		return FL_ST_NO_ROOM;
	do {
		if (fw->env.random(fw->env.ctx, &drawn))
			return FL_ST_NO_ROOM;
		*tag = drawn >> NUMBER_BITS;
	} while (!*tag || *tag == fw->mr[n].tag);
	*number = n;
	return FL_ST_OK;
}

uint8_t fw_mr_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *key)
{
	uint32_t n, tag;
	uint8_t status;
	struct fw_pd *pd;
	struct fw_mr *m;

	if (c->flags & ~(uint32_t)RIGHTS_ALL)
		return FL_ST_BAD_ARGUMENT;
	if (!c->b || c->a + (c->b - 1) < c->a)
		return FL_ST_BAD_ARGUMENT;
	pd = fw_pd_find(fw, c->c, c->slot);
	if (!pd)
		return FL_ST_NO_OBJECT;
	status = mr_draw(fw, &n, &tag);
	if (status)
		return status;
	m = &fw->mr[n];
	m->used = true;
	m->tag = tag;
	m->va = c->a;
	m->bytes = c->b;
	m->rights = (uint8_t)c->flags;
	m->slot = (uint8_t)c->slot;
	m->pd = (uint16_t)c->c;
	m->active = 0;
	pd->users++;
	*key = fw_mr_key(fw, (uint16_t)n);
	return FL_ST_OK;
}

uint8_t fw_mr_destroy(struct fw *fw, const struct fl_fw_cmd *c)
{
	struct fw_mr *m = mr_find(fw, c->object, c->slot);

	if (!m)
		return FL_ST_NO_OBJECT;
	if (m->active)
		return FL_ST_BUSY;
	fw_assert(fw->pd[m->pd].users);
	fw->pd[m->pd].users--;
	m->used = false;
	return FL_ST_OK;
}

struct fw_pd *fw_pd_find(struct fw *fw, uint64_t n, uint32_t slot)
{
	if (n >= FW_PDS || !fw->pd[n].used || fw->pd[n].slot != slot)
		return NULL;
	return &fw->pd[n];
}

uint8_t fw_pd_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n)
{
	uint32_t p = fw->pd_last, i;

	for (i = 0; i < FW_PDS; i++) {
		p = (p + 1) % FW_PDS;
		if (!fw->pd[p].used)
			break;
	}
	if (i == FW_PDS)
		return FL_ST_NO_ROOM;
	fw->pd_last = (uint16_t)p;
	fw->pd[p] = (struct fw_pd){ .used = true, .slot = (uint8_t)c->slot };
	*n = p;
	return FL_ST_OK;
}

uint8_t fw_pd_destroy(struct fw *fw, const struct fl_fw_cmd *c)
{
	struct fw_pd *pd = fw_pd_find(fw, c->object, c->slot);

	if (!pd)
		return FL_ST_NO_OBJECT;
	if (pd->users)
		return FL_ST_BUSY;
	pd->used = false;
	return FL_ST_OK;
}

/*
 * After the queue pairs of the slot are gone. Tags stay, so that old keys stay
 * shut.
 */
void fw_mr_close_slot(struct fw *fw, uint32_t slot)
{
	uint32_t i;

	for (i = 0; i < FW_MRS; i++) {
		if (!fw->mr[i].used || fw->mr[i].slot != slot)
			continue;
		fw->mr[i].used = false;
		fw->mr[i].active = 0;
	}
	for (i = 0; i < FW_PDS; i++)
		if (fw->pd[i].used && fw->pd[i].slot == slot)
			fw->pd[i].used = false;
}
