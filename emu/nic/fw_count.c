// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event counters (NetVM): words in memory of a process, which rise when a WRITE that names
 * one is in its place. Which WRITE that is, and when, the packet unit knows (nv_count.c).
 *
 * A process reads its counter, or arms it and sleeps: then one event comes, at once if the
 * counter has risen since the process looked.
 */
#include "nic/fw_internal.h"

static struct fw_counter *counter_find(struct fw *fw, uint64_t n, uint32_t slot)
{
	struct fw_counter *c;

	if (!n || n > FW_COUNTERS)
		return NULL;
	c = &fw->counter[n - 1];
	return c->used && c->slot == slot ? c : NULL;
}

static int counter_write(struct fw *fw, const struct fw_counter *c)
{
	return fw->env.mem_publish(fw->env.ctx, c->pa + offsetof(struct fl_count, count),
				   c->count);
}

uint8_t fw_counter_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n)
{
	uint32_t k = fw->counter_last, i;

	if (!fw->env.transport[FW_TRANSPORT_NV] || c->a % sizeof(struct fl_count) ||
	    c->a + sizeof(struct fl_count) - 1 < c->a)
		return FL_ST_BAD_ARGUMENT;
	for (i = 0; i < FW_COUNTERS; i++) {
		k = (k + 1) % FW_COUNTERS;
		if (!fw->counter[k].used)
			break;
	}
	if (i == FW_COUNTERS)
		return FL_ST_NO_ROOM;
	fw->counter[k] = (struct fw_counter){
		.pa = c->a, .slot = (uint8_t)c->slot, .used = true,
	};
	if (counter_write(fw, &fw->counter[k])) {
		fw->counter[k].used = false;
		return FL_ST_BUS_ERROR;
	}
	fw->counter_last = (uint16_t)k;
	*n = k + 1;
	return FL_ST_OK;
}

static void counter_free(struct fw *fw, uint32_t k)
{
	fw->counter[k].used = false;
	fw_event_forget(fw, FL_EV_COUNTER, k);
}

uint8_t fw_counter_destroy(struct fw *fw, const struct fl_fw_cmd *c)
{
	if (!counter_find(fw, c->object, c->slot))
		return FL_ST_NO_OBJECT;
	counter_free(fw, c->object - 1);
	return FL_ST_OK;
}

void fw_counter_close_slot(struct fw *fw, uint32_t slot)
{
	uint32_t i;

	for (i = 0; i < FW_COUNTERS; i++)
		if (fw->counter[i].used && fw->counter[i].slot == slot)
			counter_free(fw, i);
}

static void counter_tell(struct fw *fw, const struct fw_counter *c)
{
	fw_event_raise(fw, FL_EV_COUNTER, (uint32_t)(c - fw->counter));
	fw->env.kick(fw->env.ctx);
}

int fw_counter_arm(struct fw *fw, uint32_t slot, uint32_t n, uint16_t seen)
{
	struct fw_counter *c = counter_find(fw, n, slot);

	if (!c)
		return -FW_EINVAL;
	c->armed = (uint16_t)c->count == seen;
	if (!c->armed)
		counter_tell(fw, c);
	return 0;
}

uint8_t fw_counter_rise(struct fw *fw, uint32_t slot, uint32_t n, bool rise,
			uint64_t cause)
{
	struct fw_counter *c = counter_find(fw, n, slot);

	if (!c)
		return FL_ST_SEEN_KEY;
	if (!rise)
		return FL_ST_OK;
	c->count++;
	c->cause = cause;
	/* Memory that fails is the driver's: nobody else is told. */
	if (counter_write(fw, c))
		return FL_ST_BUS_ERROR;
	if (c->armed) {
		c->armed = false;
		counter_tell(fw, c);
	}
	return FL_ST_OK;
}
