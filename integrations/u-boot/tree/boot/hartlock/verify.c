// SPDX-License-Identifier: GPL-2.0-or-later
/* Verifies a bundle on a block device with the C library of Hartlock. */

#include <linux/types.h>
#include <blk.h>
#include <bootstd.h>
#include <event.h>
#include <hang.h>
#include <linux/sizes.h>
#include <malloc.h>
#include <memalign.h>
#include <time.h>
#include <vsprintf.h>
#include <asm/global_data.h>
#include "internal.h"

DECLARE_GLOBAL_DATA_PTR;

#define BUFFER_SIZE	SZ_1M
#define TAG		"HARTLOCK-"

static int64_t read_medium(void *context, u32 hart, u64 offset, u8 *into, size_t length)
{
	struct hartlock_boot *boot = context;
	struct hartlock_medium *medium = &boot->medium;
	u64 size = medium->desc->blksz, first = offset / size, count = DIV_ROUND_UP(length, size);

	/* The last block of a medium may be read as a whole: the buffer has room for it. */
	if (offset % size || first > medium->blocks || count > medium->blocks - first)
		return -1;
	if (blk_dread(medium->desc, medium->first + first, count, into) != count)
		return -1;
	return length;
}

static int32_t require(void *context, u32 hart, u32 reading, struct hartlock_requirements *out)
{
	struct hartlock_boot *boot = context;
	u32 reason = hartlock_trust(out);

	if (reason && !boot->found)
		boot->found = reason;
	return reason;
}

static u32 may_load(void *context, u32 hart, const struct hartlock_payload *payload)
{
	return hartlock_place(payload);
}

static u64 ticks(void *context, u32 hart)
{
	return get_ticks();
}

/* Runs the steps up to the digests of all payloads. */
static u32 verified(struct hartlock_boot *boot)
{
	struct hartlock_medium *medium = &boot->medium;
	struct hartlock_platform platform = {
		.version = HARTLOCK_VERSION,
		.size = sizeof(platform),
		.context = boot,
		.medium_size = (u64)medium->blocks * medium->desc->blksz,
		.ticks_per_second = get_tbclk(),
		.buffer = boot->buffer,
		.buffer_size = BUFFER_SIZE,
		.metadata = boot->metadata,
		.metadata_size = HARTLOCK_METADATA_SIZE,
		.read = read_medium,
		.require = require,
		.may_load = may_load,
		.ticks = ticks,
		.wake = hartlock_wake_harts,
		.attempt = hartlock_attempt_s,
	};
	u32 reason, stopped;

	if (!boot->memory || !boot->metadata || !boot->buffer)
		return HARTLOCK_LIMIT;
	/* Reads are aligned to sectors of the library. */
	if (!medium->blocks || HARTLOCK_SECTOR_SIZE % medium->desc->blksz)
		return HARTLOCK_MEDIUM;
	reason = hartlock_begin(boot->memory, HARTLOCK_MEMORY_SIZE, &platform, gd->arch.boot_hart);
	if (reason)
		return reason;
	hartlock_start_harts(boot);
	reason = hartlock_authenticate(boot->memory);
	if (!reason)
		reason = hartlock_load(boot->memory);
	stopped = hartlock_stop_harts(boot);
	if (reason == 1505 && boot->found)
		reason = boot->found;
	return reason ? reason : stopped;
}

bool hartlock_found(const struct hartlock_medium *medium)
{
	u8 *block = malloc_cache_aligned(medium->desc->blksz);
	bool is_bundle = block && medium->blocks &&
		blk_dread(medium->desc, medium->first, 1, block) == 1 &&
		!memcmp(block, TAG, strlen(TAG));

	free(block);
	return is_bundle;
}

u32 hartlock_run(const struct hartlock_medium *medium, bool enter)
{
	struct hartlock_boot boot = { .medium = *medium };
	u32 reason;

	boot.memory = memalign(HARTLOCK_MEMORY_ALIGNMENT, HARTLOCK_MEMORY_SIZE);
	boot.metadata = memalign(ARCH_DMA_MINALIGN, HARTLOCK_METADATA_SIZE);
	boot.buffer = memalign(ARCH_DMA_MINALIGN, BUFFER_SIZE);
	reason = verified(&boot);
	if (!reason && enter)
		reason = hartlock_enter(&boot);
	else if (!reason)
		reason = hartlock_decide(boot.memory);
	/* A hart that did not stop may still use the memory. */
	if (reason != HARTLOCK_HART_NOT_STOPPED) {
		free(boot.memory);
		free(boot.metadata);
		free(boot.buffer);
	}
	return reason;
}

void hartlock_refused(u32 reason)
{
	char text[200];

	hartlock_title(reason, text, sizeof(text));
	printf("hartlock: u-boot refused: E%04u %s\n", reason, text);
	if (hartlock_hint(reason, text, sizeof(text)))
		printf("hartlock: hint: %s\n", text);
}

#if IS_ENABLED(CONFIG_HARTLOCK_ONLY)
/* Takes the place of the main loop, and never returns to it. */
static int boot_only(void)
{
	bootstd_prog_boot();
	/* No medium has a bundle. */
	hartlock_refused(HARTLOCK_NO_MEDIUM);
	hang();
}
EVENT_SPY_SIMPLE(EVT_MAIN_LOOP, boot_only);
#else
static int say_unlocked(void)
{
	printf("hartlock: u-boot is unlocked: it also boots what nobody verified\n");
	return 0;
}
EVENT_SPY_SIMPLE(EVT_MAIN_LOOP, say_unlocked);
#endif
