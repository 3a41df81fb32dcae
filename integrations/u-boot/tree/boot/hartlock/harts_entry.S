/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first instructions of another hart (SBI HSM §9.1): a0 is its number,
 * a1 points to its struct hartlock_worker. The global data pointer gp, which
 * C code of U-Boot needs, comes from there. A trap ends in a loop: the boot
 * hart gives this hart up and then refuses.
 */

	.text
	.globl	hartlock_hart_entry
	.balign	4
hartlock_hart_entry:
	csrw	sie, zero
	csrw	satp, zero
	lla	t0, trapped
	csrw	stvec, t0
	fence.i
	ld	sp, 0(a1)
	ld	gp, 8(a1)
	call	hartlock_hart
	.balign	4
trapped:
	csrw	sie, zero
	wfi
	j	trapped
