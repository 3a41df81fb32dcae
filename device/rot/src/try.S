// Accesses and calls that may trap, for test programs. A trap returns to the caller.
//
// This file needs RV32IMC and Zicsr. Register names are those of the ABI. A ROM does not contain it: the ROM expects
// traps only at fixed addresses (host.S).
//
//   uint32_t rot_try_load(address, value *out)
//   uint32_t rot_try_store(address, value)
//   uint32_t rot_try_call(address); the called code has to return
//
// Each routine returns 0, or the cause of the trap.
//
// The routines change a0 and t0 to t2.

.section .text.rot_try, "ax"
.globl rot_try_load
rot_try_load:
    la    t0, .L_tried
    csrw  mscratch, t0
    lw    t1, 0(a0)
    csrw  mscratch, zero
    sw    t1, 0(a1)
    li    a0, 0
.balign 4
.L_tried:
    ret

.globl rot_try_store
rot_try_store:
    la    t0, .L_tried
    csrw  mscratch, t0
    sw    a1, 0(a0)
    csrw  mscratch, zero
    li    a0, 0
    ret

.globl rot_try_call
rot_try_call:
    addi  sp, sp, -16
    sw    ra, 12(sp)
    la    t0, .L_called
    csrw  mscratch, t0
    jalr  a0
    csrw  mscratch, zero
    li    a0, 0
.balign 4
.L_called:
    lw    ra, 12(sp)
    addi  sp, sp, 16
    ret
