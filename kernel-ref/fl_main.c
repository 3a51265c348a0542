// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start and end of a card, whatever bus it was found on.
 */
#include <linux/bits.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/property.h>
#include <linux/slab.h>

#include "fl_access.h"
#include "fl_dev.h"

struct class fl_class = { .name = "faultline" };

static void fl_dev_free(struct device *entry)
{
	struct fl_dev *dev = container_of(entry, struct fl_dev, entry);

	if (entry->devt)
		unregister_chrdev_region(entry->devt, 1);
	put_device(dev->dev);
	kfree(dev->cq);
	kfree(dev);
}

static u32 fl_property(struct device *dev, const char *name, u32 value)
{
	device_property_read_u32(dev, name, &value);
	return value;
}

/* What the board's description says; all of it may be missing. */
static int fl_properties(struct fl_dev *dev)
{
	dev->index = fl_property(dev->dev, "faultline,index", dev->index);
	dev->stream_base = fl_property(dev->dev, "faultline,stream-base",
				       FL_STREAM_BASE);
	dev->system = fl_property(dev->dev, "faultline,system",
				  FL_SYSTEM_PART);
	dev->resolve = fl_property(dev->dev, "faultline,resolve",
				   FL_IOC_RESOLVE_BLOCK);
	dev->resolve_number = fl_property(dev->dev, "faultline,resolve-number",
					  0);
	dev->queue_bits = fl_property(dev->dev, "faultline,queue-bits",
				      FL_DMA_BITS);
	dev->own_plan = dev_get_platdata(dev->dev);
	/* regs.def, CTX.STREAM: 15 bits */
	if (dev->stream_base > BIT(15) - FL_SLOTS * FL_STREAM_TURNS ||
	    dev->system >= FL_SYSTEMS || dev->queue_bits < 12 ||
	    dev->queue_bits > FL_DMA_BITS ||
	    !fl_plan_known(dev, dev->resolve, dev->resolve_number))
		return -EINVAL;
	return 0;
}

/* What was built (regs.def, PARAM and LIMITS). */
static int fl_identify(struct fl_dev *dev)
{
	u32 param, limits;

	if (fl_nic_read(dev, NIC_ENG_ID) != NIC_ENG_ID_RESET ||
	    fl_nic_read(dev, NIC_FW_BASE + NIC_FW_ID) != NIC_FW_ID_RESET)
		return -ENODEV;
	param = fl_nic_read(dev, NIC_ENG_PARAM);
	dev->contexts[0] = param & NIC_ENG_PARAM_NCTX_MASK;
	dev->contexts[1] = (param & NIC_ENG_PARAM_NRXC_MASK) >>
			   NIC_ENG_PARAM_NRXC_SHIFT;
	dev->block_bytes = 1u << ((param & NIC_ENG_PARAM_BLOCK_LOG2_MASK) >>
				  NIC_ENG_PARAM_BLOCK_LOG2_SHIFT);
	if (dev->contexts[0] > NIC_CTX_COUNT ||
	    dev->contexts[1] > NIC_RXC_COUNT ||
	    param >> NIC_ENG_PARAM_VERSION_SHIFT != 1)
		return -ENODEV;
	limits = fl_nic_read(dev, NIC_FW_BASE + NIC_FW_LIMITS0);
	dev->max_qp = limits & NIC_FW_LIMITS0_QPS_MASK;
	dev->max_cq = limits >> NIC_FW_LIMITS0_CQS_SHIFT;
	limits = fl_nic_read(dev, NIC_FW_BASE + NIC_FW_LIMITS1);
	dev->max_mr = min_t(u32, limits & NIC_FW_LIMITS1_MRS_MASK, FL_MRS_MAX);
	if (limits >> NIC_FW_LIMITS1_SLOTS_SHIFT < FL_SLOTS)
		return -ENODEV;
	dev->node = fl_nic_read(dev, NIC_FW_BASE + NIC_FW_NODE);
	dev->cq = kcalloc(dev->max_cq, sizeof(*dev->cq), GFP_KERNEL);
	return dev->cq ? 0 : -ENOMEM;
}

static int fl_irqs_get(struct fl_dev *dev)
{
	int ret;

	/* arm-smmu may have requested this line too (fl_smmu.h). */
	ret = request_irq(dev->irq_smmu, fl_irq_smmu, IRQF_SHARED,
			  "faultline-smmu", dev);
	if (ret)
		return ret;
	ret = request_irq(dev->irq_fault, fl_irq_fault, 0, "faultline-fault",
			  dev);
	if (ret)
		goto err_smmu;
	ret = request_irq(dev->irq_event, fl_irq_event, 0, "faultline-event",
			  dev);
	if (ret)
		goto err_fault;
	return 0;

err_fault:
	free_irq(dev->irq_fault, dev);
err_smmu:
	free_irq(dev->irq_smmu, dev);
	return ret;
}

static void fl_irqs_put(struct fl_dev *dev)
{
	free_irq(dev->irq_event, dev);
	free_irq(dev->irq_fault, dev);
	free_irq(dev->irq_smmu, dev);
}

static void fl_card_enable(struct fl_dev *dev, bool on)
{
	fl_nic_write(dev, NIC_FW_BASE + NIC_FW_IRQ_ENABLE,
		     !on ? 0 : !dev->xp.odp ? NIC_FW_IRQ_ENABLE_EVENT :
		     NIC_FW_IRQ_ENABLE_EVENT | NIC_FW_IRQ_ENABLE_FAULT);
	fl_nic_write(dev, NIC_ENG_IRQ_ENABLE,
		     on ? NIC_ENG_IRQ_ENABLE_FAULT : 0);
	fl_nic_write(dev, NIC_ENG_CTRL, on ? NIC_ENG_CTRL_ENABLE : 0);
}

/* Everything that needs the card; undone by fl_card_stop(). */
static int fl_card_start(struct fl_dev *dev)
{
	int ret;

	ret = dma_set_mask_and_coherent(dev->dev, DMA_BIT_MASK(FL_DMA_BITS));
	if (ret)
		return ret;
	ret = dma_set_coherent_mask(dev->dev, DMA_BIT_MASK(dev->queue_bits));
	if (ret)
		return ret;
	ret = fl_smmu_reset(dev);
	if (ret)
		return ret;
	/* One item a fault; faults of different blocks go on side by side. */
	dev->wq = alloc_workqueue("faultline", WQ_UNBOUND, 0);
	if (!dev->wq)
		return -ENOMEM;
	ret = fl_eq_start(dev);
	if (ret)
		goto err_wq;
	ret = fl_xp_start(dev, &dev->xp.objects);
	if (ret)
		goto err_eq;
	ret = fl_odp_start(dev);
	if (ret)
		goto err_xp;
	fl_divert_init(dev);
	ret = fl_irqs_get(dev);
	if (ret)
		goto err_odp;
	fl_card_enable(dev, true);
	return 0;

err_odp:
	fl_odp_stop(dev);
err_xp:
	fl_xp_stop(dev);
err_eq:
	fl_eq_stop(dev);
err_wq:
	destroy_workqueue(dev->wq);
	return ret;
}

static void fl_card_stop(struct fl_dev *dev)
{
	fl_card_enable(dev, false);
	fl_smmu_off(dev);
	fl_psdma_exit(dev);
	fl_irqs_put(dev);
	/* Answers what the top halves have left. */
	destroy_workqueue(dev->wq);
	fl_divert_stop(dev);
	fl_ring_stop(dev);
	fl_odp_stop(dev);
	fl_xp_stop(dev);
	fl_eq_stop(dev);
}

/*
 * The file that processes open. It has a number of its own and is no miscdevice:
 * the kernel opens all of those under one lock, and opening ours takes as long as
 * the process's mmap lock is held (fl_ctx_bind()).
 */
static int fl_entry_add(struct fl_dev *dev)
{
	int ret;

	ret = dev_set_name(&dev->entry, "faultline%u", dev->index);
	if (ret)
		return ret;
	ret = alloc_chrdev_region(&dev->entry.devt, 0, 1, "faultline");
	if (ret)
		return ret;
	cdev_init(&dev->cdev, &fl_fops);
	dev->cdev.owner = THIS_MODULE;
	return cdev_device_add(&dev->cdev, &dev->entry);
}

int fl_probe(struct device *parent, const struct fl_resources *res)
{
	struct fl_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int ret;

	if (!dev)
		return -ENOMEM;
	device_initialize(&dev->entry);
	dev->entry.class = &fl_class;
	dev->entry.parent = parent;
	dev->entry.release = fl_dev_free;
	dev->dev = get_device(parent);
	dev->smmu = res->smmu;
	dev->nic = res->nic;
	dev->nic_pa = res->nic_pa;
	dev->window = res->window;
	dev->lent = res->lent;
	dev->irq_smmu = res->irq_smmu;
	dev->irq_fault = res->irq_fault;
	dev->irq_event = res->irq_event;
	dev->index = res->index;
	mutex_init(&dev->lock);
	INIT_LIST_HEAD(&dev->files);
	mutex_init(&dev->cmd_lock);
	spin_lock_init(&dev->irq_lock);
	fl_fault_init(dev);
	fl_ring_init(dev);
	fl_psdma_init(dev, res->psdma, res->irq_psdma);
	ret = fl_properties(dev);
	if (ret)
		goto err_put;
	ret = fl_identify(dev);
	if (ret)
		goto err_put;
	ret = fl_card_start(dev);
	if (ret)
		goto err_put;
	dev_set_drvdata(parent, dev);
	ret = fl_entry_add(dev);
	if (ret)
		goto err_stop;
	dev_info(parent, "node %u, %u+%u contexts of %u bytes\n", dev->node,
		 dev->contexts[0], dev->contexts[1], dev->block_bytes);
	return 0;

err_stop:
	fl_card_stop(dev);
err_put:
	fl_dev_put(dev);
	return ret;
}

/* Files may still be open: their calls answer -ENODEV from now on. */
void fl_remove(struct device *parent)
{
	struct fl_dev *dev = dev_get_drvdata(parent);

	cdev_device_del(&dev->cdev, &dev->entry);
	fl_life_end(dev);
	fl_card_stop(dev);
	fl_dev_put(dev);
}

/*
 * Where arm-smmu has the SMMU, it has just reset it: banks are off, and their streams
 * fault. What an access met there meanwhile nobody knows, so what was open has
 * lost its card.
 *
 * Interrupts that are messages may have got lost. Whoever sends them sends one more
 * when a register of that unit is written and its line is up (faultline/window.h);
 * so one is written of each, which changes nothing.
 */
void fl_pm_resume(struct device *parent)
{
	struct fl_dev *dev = dev_get_drvdata(parent);
	unsigned int n = dev->lent ? fl_life_cut_banks(dev) : 0;

	if (n)
		dev_warn(dev->dev,
			 "the SMMU was reset; %u files have lost the card\n", n);
	fl_cb_write(dev, 0, SMMU_CB_FSR, 0);
	fl_card_enable(dev, true);
}

/*
 * Without this the card would go on, after a kexec, through banks that walk the
 * tables of processes which are no more, and into memory that is somebody
 * else's. Processes may be at work still, so nothing here waits for one.
 */
void fl_shutdown(struct device *parent)
{
	struct fl_dev *dev = dev_get_drvdata(parent);

	fl_life_cut(dev);
	fl_card_enable(dev, false);
	fl_odp_clear(dev);
	fl_eq_clear(dev);
	fl_smmu_off(dev);
}
