// SPDX-License-Identifier: GPL-2.0-only
/*
 * A card on the board's own bus, found through the device tree:
 *
 *	reg		two windows, the SMMU's and the card's; optional a third, of a channel
 *			of the processing system's DMA engine that no other driver has
 *	interrupts	three levels: SMMU, faults, events; and that channel's
 *	faultline,index, faultline,stream-base, faultline,system,
 *	faultline,resolve	optional, one cell each
 *	faultline,smmu	where arm-smmu has the SMMU (fl_smmu.h); the first window
 *			stands there, but is not claimed
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>

#include "fl_compat.h"
#include "fl_dev.h"
#include "fl_smmu.h"

/*
 * Neither, or both. Its stream needs a group of the SMMU, and arm-smmu lends none.
 */
static int fl_platform_psdma(struct platform_device *pdev,
			     struct fl_resources *res)
{
	if (!FL_SMMU_WHOLE || !platform_get_resource(pdev, IORESOURCE_MEM, 2))
		return 0;
	res->psdma = devm_platform_ioremap_resource(pdev, 2);
	if (IS_ERR(res->psdma))
		return PTR_ERR(res->psdma);
	res->irq_psdma = platform_get_irq(pdev, 3);
	return min(res->irq_psdma, 0);
}

static int fl_platform_probe(struct platform_device *pdev)
{
	struct fl_resources res = { 0 };
	struct resource *nic;
	int ret;

	ret = fl_smmu_get(pdev, &res);
	if (ret)
		return ret;
	res.nic = devm_platform_get_and_ioremap_resource(pdev, 1, &nic);
	if (IS_ERR(res.nic))
		return PTR_ERR(res.nic);
	res.nic_pa = nic->start;
	res.irq_smmu = platform_get_irq(pdev, 0);
	if (res.irq_smmu < 0)
		return res.irq_smmu;
	res.irq_fault = platform_get_irq(pdev, 1);
	if (res.irq_fault < 0)
		return res.irq_fault;
	res.irq_event = platform_get_irq(pdev, 2);
	if (res.irq_event < 0)
		return res.irq_event;
	ret = fl_platform_psdma(pdev, &res);
	if (ret)
		return ret;
	return fl_probe(&pdev->dev, &res);
}

static void fl_platform_remove(struct platform_device *pdev)
{
	fl_remove(&pdev->dev);
}

static void fl_platform_shutdown(struct platform_device *pdev)
{
	fl_shutdown(&pdev->dev);
}

static int fl_platform_resume(struct device *dev)
{
	fl_pm_resume(dev);
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(fl_platform_pm, NULL, fl_platform_resume);

static const struct of_device_id fl_platform_of[] = {
	{ .compatible = "faultline,nic" },
	{}
};
MODULE_DEVICE_TABLE(of, fl_platform_of);

struct platform_driver fl_platform_driver = {
	.probe = fl_platform_probe,
	.fl_platform_op_remove = fl_platform_remove,
	.shutdown = fl_platform_shutdown,
	.driver = {
		.name = "faultline",
		.of_match_table = fl_platform_of,
		.pm = pm_sleep_ptr(&fl_platform_pm),
	},
};
