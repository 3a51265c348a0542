// SPDX-License-Identifier: GPL-2.0-only
/*
 * A card in an emulator whose SMMU Linux's arm-smmu has, as on a board: here the
 * window is the bus on which arm-smmu finds it (arm-smmu-window.h), and the card's
 * driver borrows from there (fl_shared.c). Both have their registers through the same
 * ring, in the order of their accesses, and both listen to the same vector.
 *
 * The device tree says so, by a node for the card (reg: its place on the PCI bus):
 *
 *	faultline,smmu	the node of the SMMU: "faultline,window-mmu-500", and what
 *			arm-smmu's binding asks for; reg is where it would be on a
 *			board. Nobody reads or writes there
 */
#include <linux/err.h>
#include <linux/ioport.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "arm-smmu-window.h"
#include "fl_dev.h"
#include "fl_shared.h"
#include "fl_smmu.h"
#include "fl_window.h"

#define FL_WINDOW_SMMU_IRQS	(1 + SMMU_CB_COUNT)	/* global, and each bank's */

struct fl_window_smmu {
	struct platform_device *pdev;	/* arm-smmu's */
	struct arm_smmu_reserved lent;
};

static u64 fl_shared_window_read(void *bus, u32 off, u16 size)
{
	return fl_window_read(bus, FL_WINDOW_SMMU + off, size);
}

static void fl_shared_window_write(void *bus, u32 off, u16 size, u64 value)
{
	fl_window_write(bus, FL_WINDOW_SMMU + off, size, value);
}

/*
 * Not below the card's device: arm-smmu has to wake up before it and to go to sleep
 * after it, which is what the link says that arm_smmu_reserve() makes.
 */
static struct platform_device *
fl_shared_window_device(struct fl_window *w, struct device_node *np, int irq)
{
	const struct arm_smmu_window data = {
		.bus = w,
		.read = fl_shared_window_read,
		.write = fl_shared_window_write,
	};
	struct resource res[1 + FL_WINDOW_SMMU_IRQS];
	struct platform_device_info info = {
		.fwnode = of_fwnode_handle(np),
		.name = "faultline-smmu",
		.id = w->index,
		.res = res,
		.num_res = ARRAY_SIZE(res),
		.data = &data,
		.size_data = sizeof(data),
	};
	unsigned int i;
	u64 reg[2];

	for (i = 0; i < ARRAY_SIZE(reg); i++)
		if (of_property_read_u64_index(np, "reg", i, &reg[i]))
			return ERR_PTR(-EINVAL);
	res[0] = (struct resource){
		.start = reg[0],
		.end = reg[0] + reg[1] - 1,
		.flags = IORESOURCE_MEM,
	};
	for (i = 1; i < ARRAY_SIZE(res); i++)
		res[i] = (struct resource){
			.start = irq,
			.end = irq,
			.flags = IORESOURCE_IRQ,
		};
	/* arm-smmu has probed it when this returns, since faultline.ko needs that. */
	return platform_device_register_full(&info);
}

int fl_smmu_get_window(struct device *dev, struct fl_resources *res)
{
	struct fl_window *w = res->window;
	struct device_node *np =
		of_parse_phandle(dev->of_node, "faultline,smmu", 0);
	struct fl_window_smmu *ws;
	int ret;

	if (!np)
		return dev_err_probe(dev, -ENODEV,
				     "no faultline,smmu in the device tree\n");
	ws = kzalloc(sizeof(*ws), GFP_KERNEL);
	if (!ws) {
		of_node_put(np);
		return -ENOMEM;
	}
	ws->pdev = fl_shared_window_device(w, np, res->irq_smmu);
	of_node_put(np);
	if (IS_ERR(ws->pdev)) {
		ret = dev_err_probe(dev, PTR_ERR(ws->pdev),
				    "no device for the SMMU\n");
		goto err_free;
	}
	ret = fl_shared_reserve(dev, &ws->lent);
	if (ret) {
		/* Nobody would try again: arm-smmu has refused it. */
		ret = ret == -EPROBE_DEFER ? -ENODEV : ret;
		goto err_device;
	}
	ret = fl_shared_irq(dev, &ws->lent, res->irq_smmu);
	if (ret)
		goto err_lent;
	w->smmu = ws;
	res->lent = &ws->lent;
	return 0;

err_lent:
	arm_smmu_unreserve(&ws->lent);
err_device:
	platform_device_unregister(ws->pdev);
err_free:
	kfree(ws);
	return ret;
}

void fl_smmu_put_window(struct fl_window *w)
{
	struct fl_window_smmu *ws = w->smmu;

	w->smmu = NULL;
	arm_smmu_unreserve(&ws->lent);
	platform_device_unregister(ws->pdev);
	kfree(ws);
}
