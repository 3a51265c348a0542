// SPDX-License-Identifier: GPL-2.0-only
/*
 * A card in an emulator, found as QEMU's ivshmem-doorbell device: BAR 0 holds
 * the bell, BAR 2 the window (faultline/window.h), and the interrupt lines are
 * MSI-X vectors.
 */
#include <linux/errno.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/irq.h>
#include <linux/jump_label.h>
#include <linux/pci.h>
#include <linux/pm.h>
#include <linux/slab.h>

#include "fl_access.h"
#include "fl_dev.h"
#include "fl_smmu.h"
#include "fl_window.h"

#define FL_BAR_BELL	0
#define FL_BAR_WINDOW	2

/* Nothing on this bus says which card is which: by the order they are found. */
static DEFINE_IDA(fl_pci_cards);

struct fl_pci {
	struct fl_window window;
	struct resource rest;	/* of the page that BAR 0 begins */
};

/*
 * A process maps the whole page of BAR 0, which is smaller: nobody else's
 * registers may come to lie in the rest.
 */
static int fl_pci_claim_rest(struct pci_dev *pdev, struct fl_pci *fp)
{
	struct resource *bell = &pdev->resource[FL_BAR_BELL];

	fp->rest = (struct resource){
		.name = "faultline",
		.start = bell->end + 1,
		.end = bell->start + PAGE_SIZE - 1,
		.flags = bell->flags,
	};
	if (!IS_ALIGNED(bell->start, PAGE_SIZE) ||
	    (fp->rest.start <= fp->rest.end &&
	     request_resource(bell->parent, &fp->rest))) {
		dev_err(&pdev->dev,
			"%pR shares its page; wanted: pci=resource_alignment=pci:%04x:%04x\n",
			bell, FL_WINDOW_PCI_VENDOR, FL_WINDOW_PCI_DEVICE);
		return -EBUSY;
	}
	return 0;
}

static void fl_pci_release_rest(struct fl_pci *fp)
{
	if (fp->rest.parent)
		release_resource(&fp->rest);
}

static int fl_pci_map(struct pci_dev *pdev, struct fl_pci *fp)
{
	struct fl_window *w = &fp->window;
	int ret;

	if (pci_resource_len(pdev, FL_BAR_WINDOW) != FL_WINDOW_BYTES) {
		dev_err(&pdev->dev, "BAR 2 has %llu bytes; Faultline's %u\n",
			(u64)pci_resource_len(pdev, FL_BAR_WINDOW),
			FL_WINDOW_BYTES);
		return -ENODEV;
	}
	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	ret = pcim_iomap_regions(pdev, BIT(FL_BAR_BELL) | BIT(FL_BAR_WINDOW),
				 "faultline");
	if (ret)
		return ret;
	w->dev = &pdev->dev;
	w->bell = pcim_iomap_table(pdev)[FL_BAR_BELL];
	w->base = pcim_iomap_table(pdev)[FL_BAR_WINDOW];
	w->bell_pa = pci_resource_start(pdev, FL_BAR_BELL);
	w->base_pa = pci_resource_start(pdev, FL_BAR_WINDOW);
	return fl_window_start(w);
}

static int fl_pci_irqs(struct pci_dev *pdev, struct fl_resources *res)
{
	int irq[FL_WINDOW_VECTORS], i, ret;

	ret = pci_alloc_irq_vectors(pdev, FL_WINDOW_VECTORS, FL_WINDOW_VECTORS,
				    PCI_IRQ_MSIX);
	if (ret < 0) {
		dev_err(&pdev->dev, "no MSI-X (%d); wanted: vectors=%u\n", ret,
			FL_WINDOW_VECTORS);
		return ret;
	}
	for (i = 0; i < FL_WINDOW_VECTORS; i++) {
		irq[i] = pci_irq_vector(pdev, i);
		/*
		 * A process with the doorbell can cause interrupts for nothing.
		 * However many, the kernel must not turn the vector off.
		 */
		irq_set_status_flags(irq[i], IRQ_IS_POLLED);
	}
	res->irq_smmu = irq[FL_WINDOW_IRQ_SMMU];
	res->irq_fault = irq[FL_WINDOW_IRQ_FAULT];
	res->irq_event = irq[FL_WINDOW_IRQ_EVENT];
	/* Without it QEMU drops the messages. */
	pci_set_master(pdev);
	return 0;
}

static void fl_pci_irqs_free(struct pci_dev *pdev)
{
	pci_clear_master(pdev);
	pci_free_irq_vectors(pdev);
}

static int fl_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct fl_resources res = { 0 };
	struct fl_dev *card;
	struct fl_pci *fp;
	int ret;

	fp = devm_kzalloc(&pdev->dev, sizeof(*fp), GFP_KERNEL);
	if (!fp)
		return -ENOMEM;
	ret = fl_pci_map(pdev, fp);
	if (ret)
		return ret;
	ret = fl_pci_claim_rest(pdev, fp);
	if (ret)
		return ret;
	fp->window.index = ida_alloc(&fl_pci_cards, GFP_KERNEL);
	if (fp->window.index < 0) {
		ret = fp->window.index;
		goto err_rest;
	}
	ret = fl_pci_irqs(pdev, &res);
	if (ret)
		goto err_index;
	ret = fl_notes_start(&fp->window);
	if (ret)
		goto err_irqs;
	static_branch_inc(&fl_windows);
	res.window = &fp->window;
	res.index = fp->window.index;
	ret = fl_smmu_get_window(&pdev->dev, &res);
	if (ret)
		goto err_notes;
	ret = fl_probe(&pdev->dev, &res);
	if (ret)
		goto err_smmu;
	card = pci_get_drvdata(pdev);
	fl_dev_get(card);
	WRITE_ONCE(fp->window.card, card);
	fl_window_watch(&fp->window);
	return 0;

err_smmu:
	fl_smmu_put_window(&fp->window);
err_notes:
	static_branch_dec(&fl_windows);
	fl_notes_stop(&fp->window);
	fl_window_stop(&fp->window);
err_irqs:
	fl_pci_irqs_free(pdev);
err_index:
	ida_free(&fl_pci_cards, fp->window.index);
err_rest:
	fl_pci_release_rest(fp);
	return ret;
}

static void fl_pci_remove(struct pci_dev *pdev)
{
	struct fl_dev *card = pci_get_drvdata(pdev);
	struct fl_window *w = card->window;
	struct fl_pci *fp = container_of(w, struct fl_pci, window);

	fl_remove(&pdev->dev);
	fl_smmu_put_window(w);
	static_branch_dec(&fl_windows);
	fl_notes_stop(w);
	fl_window_stop(w);
	/* Not before: the window may have died, and been telling it. */
	fl_dev_put(card);
	fl_pci_irqs_free(pdev);
	ida_free(&fl_pci_cards, fp->window.index);
	fl_pci_release_rest(fp);
}

static void fl_pci_shutdown(struct pci_dev *pdev)
{
	struct fl_dev *card = pci_get_drvdata(pdev);

	fl_shutdown(&pdev->dev);
	fl_window_stop(card->window);
	pci_clear_master(pdev);
}

/*
 * The card goes on while the machine sleeps: with these, even if nothing is to do
 * before, the PCI core leaves it on, and it may access memory and interrupt.
 */
static int fl_pci_resume(struct device *dev)
{
	fl_pm_resume(dev);
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(fl_pci_pm, NULL, fl_pci_resume);

static const struct pci_device_id fl_pci_ids[] = {
	{ PCI_DEVICE(FL_WINDOW_PCI_VENDOR, FL_WINDOW_PCI_DEVICE) },
	{}
};
MODULE_DEVICE_TABLE(pci, fl_pci_ids);

static struct pci_driver fl_pci_driver = {
	.name = "faultline",
	.id_table = fl_pci_ids,
	.probe = fl_pci_probe,
	.remove = fl_pci_remove,
	.shutdown = fl_pci_shutdown,
	.driver.pm = pm_sleep_ptr(&fl_pci_pm),
};

int fl_pci_register(void)
{
	return pci_register_driver(&fl_pci_driver);
}

void fl_pci_unregister(void)
{
	pci_unregister_driver(&fl_pci_driver);
}
