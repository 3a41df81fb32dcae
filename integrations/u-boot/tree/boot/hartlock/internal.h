/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verified boot of Hartlock bundles: what its files share. */

#ifndef HARTLOCK_INTERNAL_H
#define HARTLOCK_INTERNAL_H

#include <linux/types.h>
#include <blk.h>
#include "hartlock.h"

/* Reasons of spec/errors.toml that this code gives itself. */
#define HARTLOCK_OUTSIDE_PLACE		701
#define HARTLOCK_LIVE_MEMORY		702
#define HARTLOCK_FIXED_ADDRESS		703
#define HARTLOCK_MEDIUM			901
#define HARTLOCK_NO_MEDIUM		902
#define HARTLOCK_TRUST			903
#define HARTLOCK_HART_NOT_STOPPED	907
#define HARTLOCK_LIMIT			911

/* Numbers of payload types. */
#define HARTLOCK_KERNEL			16
#define HARTLOCK_INITRAMFS		17
#define HARTLOCK_SYSTEM_FDT		18

/* A medium, or a part of it, that begins with a bundle. */
struct hartlock_medium {
	struct blk_desc *desc;
	lbaint_t first;
	lbaint_t blocks;
};

/* One attempt to boot. */
struct hartlock_boot {
	struct hartlock_medium medium;
	void *memory;
	u8 *metadata;
	u8 *buffer;
	/* The first reason that a callback found. */
	u32 found;
	/* The harts that were started. */
	ulong started;
};

/* Verifies a bundle, and boots it if @enter is set. Returns a reason. */
u32 hartlock_run(const struct hartlock_medium *medium, bool enter);
/* Prints a refusal with its hint. */
void hartlock_refused(u32 reason);
/* Returns true if a bundle begins at the first block. */
bool hartlock_found(const struct hartlock_medium *medium);

/* Reads the requirements from the control tree. Returns a reason. */
u32 hartlock_trust(struct hartlock_requirements *out);

/* Decides about the place of a payload. Returns a reason. */
u32 hartlock_place(const struct hartlock_payload *payload);
/* Takes both decisions and enters the kernel. Returns only a reason. */
u32 hartlock_enter(struct hartlock_boot *boot);

/* Starts the other harts in hartlock_work(). */
void hartlock_start_harts(struct hartlock_boot *boot);
/* Stops them, and sees each of them stopped. Returns a reason. */
u32 hartlock_stop_harts(struct hartlock_boot *boot);
/* Interrupts them. */
void hartlock_wake_harts(void *context, u32 hart);
/* Returns a bit for each hart that exists. */
ulong hartlock_existing_harts(void);

#endif
