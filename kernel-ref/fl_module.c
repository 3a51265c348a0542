// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: on which buses a card may be found.
 */
#include <linux/module.h>
#include <linux/platform_device.h>

#include "fl_dev.h"
#include "fl_window.h"

static int __init fl_init(void)
{
	int ret = class_register(&fl_class);

	if (ret)
		return ret;
	ret = platform_driver_register(&fl_platform_driver);
	if (ret)
		goto err_class;
	ret = fl_pci_register();
	if (ret)
		goto err_platform;
	return 0;

err_platform:
	platform_driver_unregister(&fl_platform_driver);
err_class:
	class_unregister(&fl_class);
	return ret;
}

static void __exit fl_exit(void)
{
	fl_pci_unregister();
	platform_driver_unregister(&fl_platform_driver);
	class_unregister(&fl_class);
}

module_init(fl_init);
module_exit(fl_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Faultline: page faults during remote DMA");
