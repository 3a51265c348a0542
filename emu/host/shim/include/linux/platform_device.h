/* SPDX-License-Identifier: BSD-2-Clause */
/* platform_device.h */
#ifndef SHIM_LINUX_PLATFORM_DEVICE_H
#define SHIM_LINUX_PLATFORM_DEVICE_H

#include <linux/bits.h>
#include <linux/device.h>
#include <linux/minmax.h>
#include <linux/mod_devicetable.h>

struct resource {
	phys_addr_t start, end;
};

struct platform_device {
	struct device dev;
	struct resource resource[3];	/* the last may be empty */
	int irq[4];
};

struct platform_driver {
	int (*probe)(struct platform_device *pdev);
	void (*remove)(struct platform_device *pdev);
	void (*shutdown)(struct platform_device *pdev);
	struct device_driver driver;
};

void *devm_platform_ioremap_resource(struct platform_device *pdev,
				     unsigned int i);
void *devm_platform_get_and_ioremap_resource(struct platform_device *pdev,
					     unsigned int i,
					     struct resource **res);
#define IORESOURCE_MEM	0x200

/* NULL: there is none of this number. */
struct resource *platform_get_resource(struct platform_device *pdev,
				       unsigned int type, unsigned int i);
int platform_get_irq(struct platform_device *pdev, unsigned int i);

/* The one driver of this kernel; nobody registers it, and nobody changes it. */
extern struct platform_driver fl_platform_driver;

#endif
