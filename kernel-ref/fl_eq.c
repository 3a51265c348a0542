// SPDX-License-Identifier: GPL-2.0-only
/* The card's events for the driver: the queue, and its interrupt. */
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/interrupt.h>

#include "fl_access.h"
#include "fl_dev.h"

int fl_eq_start(struct fl_dev *dev)
{
	dev->eq = dma_alloc_coherent(dev->dev,
				     FL_EQ_ENTRIES * sizeof(*dev->eq),
				     &dev->eq_dma, GFP_KERNEL);
	if (!dev->eq)
		return -ENOMEM;
	fl_nic_write64(dev, NIC_FW_BASE + NIC_FW_EQ_BASE, dev->eq_dma);
	fl_nic_write(dev, NIC_FW_BASE + NIC_FW_EQ_SIZE, FL_EQ_ENTRIES);
	return 0;
}

void fl_eq_clear(struct fl_dev *dev)
{
	fl_nic_write(dev, NIC_FW_BASE + NIC_FW_EQ_SIZE, 0);
	fl_nic_write64(dev, NIC_FW_BASE + NIC_FW_EQ_BASE, 0);
	/* Waits for the writes before it. */
	fl_nic_read(dev, NIC_FW_BASE + NIC_FW_EQ_SIZE);
}

/*
 * All slots are closed, and the firmware has nothing left to tell. One that
 * does not answer has not read that either, and may write when it wakes up.
 */
void fl_eq_stop(struct fl_dev *dev)
{
	fl_eq_clear(dev);
	if (fl_card_dead(dev) ? fl_card_silent(dev) : dev->fw_dead) {
		dev_warn(dev->dev, "the event queue stays with the firmware\n");
		return;
	}
	dma_free_coherent(dev->dev, FL_EQ_ENTRIES * sizeof(*dev->eq), dev->eq,
			  dev->eq_dma);
}

static void fl_eq_one(struct fl_dev *dev, const struct fl_eqe *e)
{
	unsigned long flags;
	struct fl_cq *cq;

	if (e->type == FL_EV_QP_ERROR) {
		dev_dbg(dev->dev, "queue pair %u: status %u\n", e->object,
			e->data);
	} else if (e->type < FL_EV_CQ || e->type > FL_EV_COUNTER) {
		dev_err_ratelimited(dev->dev, "unknown event %u\n", e->type);
		return;
	}
	spin_lock_irqsave(&dev->irq_lock, flags);
	if (e->type == FL_EV_COUNTER)
		fl_count_note(dev, e->object);
	else if (e->type != FL_EV_CQ)
		fl_event_note(dev, e);
	cq = (e->type == FL_EV_CQ || e->type == FL_EV_CQ_OVERFLOW) &&
	     e->object < dev->max_cq ? dev->cq[e->object] : NULL;
	if (cq) {
		if (e->type == FL_EV_CQ_OVERFLOW)
			cq->overflow = true;
		else
			cq->events++;
		wake_up_all(&cq->ctx->wait);
	}
	spin_unlock_irqrestore(&dev->irq_lock, flags);
}

irqreturn_t fl_irq_event(int irq, void *arg)
{
	struct fl_dev *dev = arg;
	irqreturn_t ret = IRQ_NONE;
	struct fl_eqe e, *next;
	u32 phase;

	for (;;) {
		next = &dev->eq[dev->eq_cons % FL_EQ_ENTRIES];
		phase = 1 + dev->eq_cons / FL_EQ_ENTRIES;
		if (READ_ONCE(next->phase) != phase)
			break;
		/* Pairs with the firmware's write of phase after the rest. */
		dma_rmb();
		e = *next;
		dev->eq_cons++;
		fl_eq_one(dev, &e);
		ret = IRQ_HANDLED;
	}
	if (ret == IRQ_HANDLED)
		fl_nic_write(dev, NIC_FW_BASE + NIC_FW_EQ_CONS, dev->eq_cons);
	if (fl_odp_irq(dev))
		ret = IRQ_HANDLED;
	if (fl_ring_irq(dev))
		ret = IRQ_HANDLED;
	return ret;
}
