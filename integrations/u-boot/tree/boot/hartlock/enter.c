// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that payloads may have, and the way into the kernel. */

#include <linux/types.h>
#include <cpu_func.h>
#include <dm/root.h>
#include <fdt_support.h>
#include <init.h>
#include <linux/libfdt.h>
#include <linux/sizes.h>
#include <malloc.h>
#include <memalign.h>
#include <vsprintf.h>
#include <asm/global_data.h>
#include "internal.h"

DECLARE_GLOBAL_DATA_PTR;

/* Room for the edits, beside the command line. */
#define EDITS_SIZE	SZ_4K

static bool overlaps(u64 start, u64 end, u64 other, u64 other_end)
{
	return start < other_end && other < end;
}

/* Returns true if @start to @end is a part of one bank of memory. */
static bool is_memory(u64 start, u64 end)
{
	int bank;

	for (bank = 0; bank < CONFIG_NR_DRAM_BANKS; bank++) {
		u64 first = gd->bd->bi_dram[bank].start;

		if (start >= first && end <= first + gd->bd->bi_dram[bank].size)
			return true;
	}
	return false;
}

/* Returns true if the control tree reserves a part of the range. */
static bool is_reserved(u64 start, u64 end)
{
	const void *fdt = gd->fdt_blob;
	int parent = fdt_path_offset(fdt, "/reserved-memory"), node, index;
	fdt_addr_t address;
	fdt_size_t size;
	u64 from, length;

	for (index = 0; index < fdt_num_mem_rsv(fdt); index++) {
		if (fdt_get_mem_rsv(fdt, index, &from, &length) ||
		    overlaps(start, end, from, from + length))
			return true;
	}
	if (parent < 0)
		return false;
	fdt_for_each_subnode(node, fdt, parent) {
		address = fdtdec_get_addr_size_auto_parent(fdt, parent, node, "reg", 0, &size,
							   false);
		if (address != FDT_ADDR_T_NONE && overlaps(start, end, address, address + size))
			return true;
	}
	return false;
}

u32 hartlock_place(const struct hartlock_payload *payload)
{
	u64 start = payload->address, end = start + payload->memory_size;
	u64 own = gd->start_addr_sp - CONFIG_STACK_SIZE, tree = (ulong)gd->fdt_blob;

	/*
	 * Live are the monitor, below the address at which this program was
	 * entered; stack, heap, global data and code, from the end of the
	 * stack on; and the control tree.
	 */
	if (end < start || overlaps(start, end, 0, CONFIG_TEXT_BASE) ||
	    overlaps(start, end, own, gd->ram_top) ||
	    overlaps(start, end, tree, tree + fdt_totalsize(gd->fdt_blob)) ||
	    is_reserved(start, end))
		return HARTLOCK_LIVE_MEMORY;
	if (!is_memory(start, end))
		return HARTLOCK_OUTSIDE_PLACE;
	if (payload->payload_type == HARTLOCK_KERNEL &&
	    (start % SZ_2M || payload->entry != start))
		return HARTLOCK_FIXED_ADDRESS;
	return 0;
}

/* Writes the tree for the kernel. It is in memory of this program, which the kernel keeps free until it has read it. */
static u32 write_tree(struct hartlock_boot *boot, void **out)
{
	struct hartlock_reservation monitor = {
		.name = "hartlock-opensbi",
		.address = gd->ram_base,
		.size = CONFIG_TEXT_BASE - gd->ram_base,
	};
	struct hartlock_payload tree;
	const char *bootargs;
	size_t length;
	u32 reason = hartlock_payload(boot->memory, HARTLOCK_SYSTEM_FDT, &tree);

	if (!reason)
		reason = hartlock_bootargs(boot->memory, &bootargs, &length);
	if (reason)
		return reason;
	length += tree.size + EDITS_SIZE;
	*out = memalign(SZ_4K, length);
	if (!*out)
		return HARTLOCK_LIMIT;
	return hartlock_tree(boot->memory, hartlock_existing_harts(), &monitor, 1, *out, length,
			     &length);
}

/* The same as beside bootm, which is not in each build. */
__weak void board_quiesce_devices(void)
{
}

u32 hartlock_enter(struct hartlock_boot *boot)
{
	struct hartlock_payload kernel;
	void *tree;
	u32 reason;

	/* From here on no device writes to memory. */
	board_quiesce_devices();
	dm_remove_devices_active();
	reason = hartlock_decide(boot->memory);
	if (!reason)
		reason = hartlock_payload(boot->memory, HARTLOCK_KERNEL, &kernel);
	if (!reason)
		reason = write_tree(boot, &tree);
	if (reason)
		return reason;
	printf("hartlock: u-boot verified the system bundle, entering\n");
	cleanup_before_linux();
	reason = hartlock_confirm(boot->memory);
	if (!reason)
		((void (*)(ulong hart, void *tree))kernel.entry)(gd->arch.boot_hart, tree);
	return reason;
}
