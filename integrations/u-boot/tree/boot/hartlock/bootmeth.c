// SPDX-License-Identifier: GPL-2.0-or-later
/* The boot method: a bundle at the first block of a partition or of a device. */

#include <linux/types.h>
#include <bootflow.h>
#include <bootmeth.h>
#include <dm.h>
#include <part.h>
#include <hang.h>
#include <vsprintf.h>
#include "internal.h"

static int check(struct udevice *dev, struct bootflow_iter *iter)
{
	return bootflow_iter_check_blk(iter);
}

static int medium_of(struct bootflow *bflow, struct hartlock_medium *medium)
{
	struct disk_partition part;

	if (!bflow->blk)
		return -ENODEV;
	medium->desc = dev_get_uclass_plat(bflow->blk);
	medium->first = 0;
	medium->blocks = medium->desc->lba;
	if (bflow->part) {
		if (part_get_info(medium->desc, bflow->part, &part))
			return -ENOENT;
		medium->first = part.start;
		medium->blocks = part.size;
	}
	return 0;
}

static int read_bootflow(struct udevice *dev, struct bootflow *bflow)
{
	struct hartlock_medium medium;
	int ret = medium_of(bflow, &medium);

	if (ret)
		return ret;
	if (!hartlock_found(&medium))
		return -ENOENT;
	bflow->state = BOOTFLOWST_READY;
	return 0;
}

static int read_file(struct udevice *dev, struct bootflow *bflow, const char *path, ulong addr,
		     ulong *size)
{
	return -ENOSYS;
}

static int boot(struct udevice *dev, struct bootflow *bflow)
{
	struct hartlock_medium medium;
	int ret = medium_of(bflow, &medium);

	if (ret)
		return ret;
	hartlock_refused(hartlock_run(&medium, true));
	/* A refusal ends the boot: another medium must not decide otherwise. */
	if (IS_ENABLED(CONFIG_HARTLOCK_ONLY))
		hang();
	return -EACCES;
}

static int bind(struct udevice *dev)
{
	struct bootmeth_uc_plat *plat = dev_get_uclass_plat(dev);

	plat->desc = "Hartlock bundle";
	plat->flags = BOOTMETHF_ANY_PART;
	return 0;
}

static struct bootmeth_ops ops = {
	.check = check,
	.read_bootflow = read_bootflow,
	.read_file = read_file,
	.boot = boot,
};

static const struct udevice_id ids[] = {
	{ .compatible = "u-boot,hartlock" },
	{ }
};

U_BOOT_DRIVER(bootmeth_hartlock) = {
	.name = "bootmeth_hartlock",
	.id = UCLASS_BOOTMETH,
	.of_match = ids,
	.ops = &ops,
	.bind = bind,
};
