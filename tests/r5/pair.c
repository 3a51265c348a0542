// SPDX-License-Identifier: BSD-2-Clause
/* Two firmwares side by side. */
#include "pair.h"

#include "board.h"

static struct pair *pair_of(struct rig *r)
{
	return r->on_go_arg;
}

/* ---- the firmware in this process ---- */

static int near_reg_read(struct engine *engine, uint32_t off, unsigned int size, uint64_t *value)
{
	struct rig *r = (struct rig *)engine;

	if (off == NIC_ENG_BASE + NIC_ENG_EVT_POP && r->evt_in == r->evt_out) {
		*value = 0;
		return 0;
	}
	return rig_reg_read(engine, off, size, value);
}

static int near_reg_write(struct engine *engine, uint32_t off, unsigned int size, uint64_t value)
{
	card_log_write(&pair_of((struct rig *)engine)->log, off, value);
	return rig_reg_write(engine, off, size, value);
}

static int near_draw(void *arg, uint32_t *value)
{
	struct pair *p = pair_of(arg);

	/* fw_mr.c draws a number and a tag. */
	EXPECT(p->drawn / 2 < p->keys);
	*value = p->key[p->drawn++ / 2];
	return 0;
}

static int near_write(struct rig *r, uint32_t off, uint64_t value)
{
	struct pair *p = pair_of(r);

	EXPECT(p->head - p->tail < CARD_QUEUE);
	p->queue[p->head % CARD_QUEUE].off = off;
	p->queue[p->head++ % CARD_QUEUE].value = (uint32_t)value;
	return 0;
}

/* As main.c: one write that waits, one step. False: neither. */
static bool near_turn(struct rig *r)
{
	struct pair *p = pair_of(r);
	bool did = p->head != p->tail;
	const char *wrong;

	if (did) {
		fw_reg_write(r->fw, p->queue[p->tail % CARD_QUEUE].off, 4,
			     p->queue[p->tail % CARD_QUEUE].value);
		p->tail++;
	}
	did |= fw_step(r->fw, r->now, r->costs);
	wrong = fw_check(r->fw);
	if (wrong || r->misuse)
		STEP("%s", wrong ? wrong : r->misuse);
	EXPECT(!wrong && !r->misuse);
	return did;
}

static void near_run(struct rig *r)
{
	while (near_turn(r))
		;
}

static uint64_t near_read(struct rig *r, uint32_t off, unsigned int size)
{
	struct pair *p = pair_of(r);
	uint64_t value = 0;

	while (p->head != p->tail)
		near_turn(r);
	EXPECT_EQ(fw_reg_read(r->fw, off, size, &value), 0);
	return value;
}

static struct rig *near_start(struct pair *p)
{
	static const struct rig_far near = { near_write, near_read, near_run };
	struct rig *r = calloc(1, sizeof(*r));
	struct fw_env env;

	test_cleanup(rig_free, r);
	r->contexts = p->far->rig->contexts;
	r->mem = calloc(1, RIG_MEM);
	r->fw_mem = aligned_alloc(64, (fw_size() + 63) / 64 * 64);
	r->on_go_arg = p;
	r->far = &near;
	env = rig_env(r);
	env.reg_read = near_reg_read;
	env.reg_write = near_reg_write;
	env.random = near_draw;
	/* rtl/zu/r5/main.c */
	r->cfg = (struct fw_config){
		.timeout_ns = 1000000, .fault_timeout_ns = 20000000, .tries = 7,
		.refusals = 1000, .waiting_share = 4, .busy_ns = 10000, .reach = 1u << 31,
	};
	r->fw = fw_init(r->fw_mem, &r->cfg, &env);
	EXPECT(r->fw);
	return r;
}

/* ---- both ---- */

struct pair *pair_start(const char *image)
{
	struct pair *p = calloc(1, sizeof(*p));

	test_cleanup(free, p);
	p->far = card_start(image, true);
	p->near = near_start(p);
	while (!p->far->open && !p->far->ended)
		card_run(p->far, 1);
	EXPECT(p->far->open);
	return p;
}

static void compare_writes(const struct pair *p)
{
	const struct card_log *far = &p->far->log, *near = &p->log;
	uint32_t i, n = far->writes < near->writes ? far->writes : near->writes;

	for (i = 0; i < n; i++) {
		const struct card_write *f = &far->write[i], *h = &near->write[i];

		if (f->off == h->off && f->value == h->value)
			continue;
		STEP("write %u of the engine: the R5 0x%x at 0x%x, here 0x%x at 0x%x", i,
		     (unsigned int)f->value, f->off, (unsigned int)h->value, h->off);
		EXPECT(!"the same writes to the engine");
	}
	EXPECT_EQ(far->writes, near->writes);
}

static void compare_memory(const struct pair *p)
{
	const uint8_t *far = p->far->rig->mem, *near = p->near->mem;
	uint32_t i;

	for (i = PAIR_FIRST; i < RIG_MEM && far[i] == near[i]; i++)
		;
	if (i < RIG_MEM)
		STEP("memory at 0x%x: the R5 0x%02x, here 0x%02x", i, far[i], near[i]);
	EXPECT_EQ(i, RIG_MEM);
}

static void compare_page(const struct pair *p)
{
	uint32_t i;

	for (i = 0; i < CARD_WORDS; i++) {
		uint64_t value = 0;

		fw_reg_read(p->near->fw, NIC_FW_BASE + 4 * i, 4, &value);
		if (p->far->words[i] != value)
			STEP("page FW, 0x%x", 4 * i);
		EXPECT_EQ(p->far->words[i], value);
	}
	EXPECT_EQ(p->far->rig->line, p->near->line);
}

void pair_run(struct pair *p, pair_script *script, void *arg)
{
	script(p, p->far->rig, arg);
	rig_run(p->far->rig);
	if (p->far->ended)
		STEP("the firmware on the R5 has ended");
	EXPECT(!p->far->ended);
	script(p, p->near, arg);
	rig_run(p->near);
	compare_writes(p);
	compare_memory(p);
	compare_page(p);
}

void pair_key(struct pair *p, const struct rig *r, uint32_t key)
{
	if (!pair_is_far(p, r))
		return;
	EXPECT(p->keys < PAIR_KEYS);
	p->key[p->keys++] = key;
}

void pair_wait(struct pair *p, struct rig *r, uint64_t ns)
{
	if (pair_is_far(p, r))
		p->far->cycles += (uint32_t)(ns / R5_CYCLE_NS);
	else
		r->now += ns;
	rig_run(r);
}
