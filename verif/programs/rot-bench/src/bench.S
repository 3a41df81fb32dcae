// Traps of test programs: vectors before those of device/rot/src/start.S, and accesses and calls that may trap.
//
// This file needs RV32IMC and Zicsr. Register names are those of the ABI. A ROM does not contain it: the ROM expects
// traps only at fixed addresses (host.S).
//
//   void rot_bench_catch(void)
//   void rot_trap(cause, address, value)         of lib.rs; never returns
//
// A trap of the routines of host.S goes on to the vectors of start.S. A trap while `mscratch` holds an address continues
// at that address, with the cause in a0. For any other trap the host is put into reset, and the run ends.
//
//   uint32_t rot_try_load(address, value *out)
//   uint32_t rot_try_store(address, value)
//   uint32_t rot_try_call(address); the called code has to return
//
// Each routine returns 0, or the cause of the trap.
//
// The routines change a0 and t0 to t2.

.section .text.rot_try, "ax"
.balign 256                             // the alignment of `mtvec` (Ibex reference manual, "Exceptions and Interrupts")
.option push
.option norvc
rot_bench_vectors:
    .rept 32
    j     .L_trap
    .endr
.option pop
.L_trap:                                // changes t0 to t2, like the handler of start.S
    csrr  t0, mepc
    la    t1, rot_host_begin
    la    t2, rot_host_end
    bltu  t0, t1, .L_not_of_host
    bgeu  t0, t2, .L_not_of_host
    la    t0, rot_vectors
    jr    t0
.L_not_of_host:
    csrrw t0, mscratch, zero
    beqz  t0, .L_unexpected_here
    csrw  mepc, t0
    csrr  a0, mcause
    mret
.L_unexpected_here:
    csrw  mie, zero
    la    t3, .L_report
    la    t0, rot_hold_host
    jr    t0
.L_report:
    csrr  a0, mcause
    csrr  a1, mepc
    csrr  a2, mtval
    la    sp, __stack_top
    call  rot_trap

.globl rot_bench_catch
rot_bench_catch:
    la    t0, rot_bench_vectors
    csrw  mtvec, t0
    ret

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
