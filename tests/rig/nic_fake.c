// SPDX-License-Identifier: BSD-2-Clause
#include "rig/nic_fake.h"

struct fake fake;

int fl_xp_start(struct fl_dev *dev, uint32_t *objects);
void fl_xp_stop(struct fl_dev *dev);
void fl_xp_ring(struct fl_dev *dev, uint64_t ring, uint32_t entries);
void fl_xp_taken(struct fl_dev *dev, uint32_t cons);
int fl_xp_load(struct fl_dev *dev, uint32_t object, uint64_t page,
	       const uint64_t *entry, uint32_t count);
int fl_xp_zap(struct fl_dev *dev, uint32_t object, uint64_t page, uint64_t count);
int fl_xp_zap_all(struct fl_dev *dev, uint32_t object);
int fl_xp_sync(struct fl_dev *dev);
void fl_xp_backup(struct fl_dev *dev, uint64_t ring, uint32_t slots, uint32_t bits);
void fl_xp_backup_taken(struct fl_dev *dev, uint32_t cons);
void fl_xp_backup_given(struct fl_dev *dev, uint32_t given);
void fl_xp_resolved(struct fl_dev *dev, const struct fl_backup *d, uint32_t code);
void fl_xp_resume(struct fl_dev *dev, uint32_t token, uint32_t code);
void fl_xp_divert(struct fl_dev *dev, uint64_t base, uint32_t slots);
void fl_xp_copied(struct fl_dev *dev, uint32_t slot, uint32_t code);

/* ---- the card ---- */

int fl_xp_start(struct fl_dev *dev, uint32_t *objects)
{
	*objects = FAKE_OBJECTS;
	fake.dev = dev;
	return 0;
}

void fl_xp_stop(struct fl_dev *dev)
{
	(void)dev;
}

/* The last one that has one: board 1 is probed after board 0. */
void fl_xp_ring(struct fl_dev *dev, uint64_t ring, uint32_t entries)
{
	if (entries) {
		fake.dev = dev;
		fake.ring = ring;
	}
	if (dev == fake.dev)
		fake.size = entries;
}

void fl_xp_taken(struct fl_dev *dev, uint32_t cons)
{
	fake_lock();
	if (dev != fake.dev || cons - fake.cons > fake.prod - fake.cons)
		fake.bad++;
	fake.cons = cons;
	fake_unlock();
}

static struct fake_page *fake_at(uint32_t object, uint64_t page)
{
	uint32_t i;

	for (i = 0; i < fake.pages; i++)
		if (fake.page[i].object == object && fake.page[i].page == page)
			return &fake.page[i];
	return NULL;
}

static void fake_put(uint32_t object, uint64_t page, uint64_t entry)
{
	struct fake_page *p = fake_at(object, page);

	if (!p && fake.pages == FAKE_PAGES) {
		fake.bad++;
		return;
	}
	if (!p)
		p = &fake.page[fake.pages++];
	*p = (struct fake_page){ object, page, entry };
}

int fl_xp_load(struct fl_dev *dev, uint32_t object, uint64_t page,
	       const uint64_t *entry, uint32_t count)
{
	uint32_t i;
	int error;

	(void)dev;
	if (fake.load_ns)
		sim_spend(fake.load_ns);
	fake_lock();
	error = fake.load_error;
	fake.load_error = 0;
	fake.loads++;
	if (!count || count > 4096 || object >= FAKE_OBJECTS)
		fake.bad++;
	fake.most = count > fake.most ? count : fake.most;
	for (i = 0; !error && i < count; i++)
		if (entry[i])
			fake_put(object, page + i, entry[i]);
	fake_unlock();
	return error;
}

static void fake_zap(uint32_t object, uint64_t page, uint64_t count)
{
	uint32_t i;

	for (i = 0; i < fake.pages; i++)
		while (i < fake.pages && fake.page[i].object == object &&
		       fake.page[i].page >= page &&
		       fake.page[i].page - page < count) {
			fake.page[i] = fake.page[--fake.pages];
			fake.unsynced++;
		}
}

int fl_xp_zap(struct fl_dev *dev, uint32_t object, uint64_t page,
	      uint64_t count)
{
	(void)dev;
	fake_lock();
	fake.zaps++;
	if (!count)
		fake.bad++;
	fake_zap(object, page, count);
	fake_unlock();
	return 0;
}

int fl_xp_zap_all(struct fl_dev *dev, uint32_t object)
{
	(void)dev;
	fake_lock();
	fake.zaps_all++;
	fake_zap(object, 0, UINT64_MAX);
	fake_unlock();
	return 0;
}

int fl_xp_sync(struct fl_dev *dev)
{
	int error;

	(void)dev;
	fake_lock();
	fake.syncs++;
	fake.unsynced = 0;
	error = fake.sync_error;
	fake.sync_error = 0;
	fake_unlock();
	return error;
}

void fl_xp_divert(struct fl_dev *dev, uint64_t base, uint32_t slots)
{
	(void)dev;
	fake.div_base = base;
	fake.div_slots = slots;
}

void fl_xp_copied(struct fl_dev *dev, uint32_t slot, uint32_t code)
{
	fake_lock();
	(void)dev;
	fake.copied++;
	fake.copied_slot = slot;
	fake.copied_code = code;
	fake_unlock();
}

void fl_xp_resume(struct fl_dev *dev, uint32_t token, uint32_t code)
{
	fake_lock();
	if (dev != fake.dev || fake.tokens == FAKE_TOKENS) {
		fake.bad++;
	} else {
		fake.token[fake.tokens].token = token;
		fake.token[fake.tokens++].code = code;
	}
	fake_unlock();
}

/* Nothing is diverted here. */
void fl_xp_backup(struct fl_dev *dev, uint64_t ring, uint32_t slots,
		  uint32_t bits)
{
	(void)dev;
	fake.bad += ring || slots || bits;
}

void fl_xp_backup_taken(struct fl_dev *dev, uint32_t cons)
{
	(void)dev;
	(void)cons;
	fake.bad++;
}

void fl_xp_backup_given(struct fl_dev *dev, uint32_t given)
{
	fl_xp_backup_taken(dev, given);
}

void fl_xp_resolved(struct fl_dev *dev, const struct fl_backup *d,
		    uint32_t code)
{
	(void)d;
	fl_xp_backup_taken(dev, code);
}

/* ---- what a test asks of it ---- */

uint64_t fake_entry(uint32_t object, const void *at)
{
	struct fake_page *p;
	uint64_t entry;

	fake_lock();
	p = fake_at(object, (uintptr_t)at / RIG_PAGE);
	entry = p ? p->entry : 0;
	fake_unlock();
	return entry;
}

int fake_answer(uint32_t token)
{
	int code = -1, n = 0;
	uint32_t i;

	fake_lock();
	for (i = 0; i < fake.tokens; i++)
		if (fake.token[i].token == token) {
			code = (int)fake.token[i].code;
			n++;
		}
	fake_unlock();
	EXPECT_LE(n, 1);
	return code;
}

bool fake_push(struct rig *r, struct fl_fault_rec rec)
{
	struct fl_fault_rec *at;
	bool room;

	fake_lock();
	room = fake.prod - fake.cons < fake.size;
	if (room) {
		at = dram_at(board_dram(r->n[1].board),
			     fake.ring + fake.prod % fake.size * sizeof(*at),
			     sizeof(*at));
		memcpy(at, &rec, offsetof(struct fl_fault_rec, phase));
		__atomic_store_n(&at->phase, 1 + fake.prod / fake.size,
				 __ATOMIC_RELEASE);
		fake.prod++;
	}
	fake_unlock();
	return room;
}

static bool fake_untaken(void)
{
	bool untaken;

	fake_lock();
	untaken = fake.prod != fake.cons;
	fake_unlock();
	return untaken;
}

void fake_ring(struct rig *r)
{
	unsigned int i = 0;

	irq_set(r->n[1].board, IRQ_NIC_EVENT, true);
	do
		sim_sleep(10000);
	while (fake_untaken() && ++i < 100000);
	irq_set(r->n[1].board, IRQ_NIC_EVENT, false);
}

int fake_miss(struct rig *r, struct fl_fault_rec rec)
{
	static uint32_t token;
	unsigned int i;

	rec.token = ++token & 0xffffff;
	EXPECT(fake_push(r, rec));
	fake_ring(r);
	for (i = 0; i < 100000 && fake_answer(rec.token) < 0; i++)
		sim_sleep(10000);
	return fake_answer(rec.token);
}
