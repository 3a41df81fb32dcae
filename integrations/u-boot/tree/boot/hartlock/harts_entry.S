/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first instructions of another hart (SBI HSM §9.1): a0 is its number,
 * a1 points to its struct hartlock_worker. The global data pointer gp, which
 * C code of U-Boot needs, comes from there. A trap ends in hartlock_hart_trapped()
 * with an empty stack, and one in there in a loop: then the boot hart refuses.
 */

	.text
	.globl	hartlock_hart_entry
	.balign	4
hartlock_hart_entry:
	csrw	sie, zero
	csrw	satp, zero
	csrw	sscratch, a1
	lla	t0, trapped
	csrw	stvec, t0
	fence.i
	ld	sp, 0(a1)
	ld	gp, 8(a1)
	call	hartlock_hart
	.balign	4
trapped:
	csrw	sie, zero
	lla	t0, lost
	csrw	stvec, t0
	csrr	a0, sscratch
	ld	sp, 0(a0)
	ld	gp, 8(a0)
	call	hartlock_hart_trapped
	.balign	4
lost:
	csrw	sie, zero
	wfi
	j	lost
