// Accesses and calls that test programs try: any trap returns to them.
//
// Needs RV32IMC and Zicsr. ABI names only. A ROM has none of this: what it expects has fixed addresses (host.S).
//
//   uint32_t rot_try_load(address, value *out)   0, or the cause of the trap that the access took
//   uint32_t rot_try_store(address, value)       likewise
//   uint32_t rot_try_call(address)               likewise; what is called has to return
//
// They change a0 and t0 to t2.

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
