// Start-up code of a stage: vector table, stack, variables, and the end of the run.
//
//   void stage_main(void)                    of the program
//   void svu_enter(uint32_t entry)           goes to the code of the next stage; never returns
//
// This file needs RV32IMC, Zicsr and Zifencei. Register names are those of the ABI. A trap is not expected; it ends the
// run with the exit code 0x100 + its cause.

.equ BENCH_EXIT, {bench_exit}

.section .text.vectors, "ax"
// Ibex takes exceptions at entry 0 and interrupts at the other entries (Ibex reference manual, "Exceptions and
// Interrupts"). Each entry has 4 bytes, so that no instruction here may be compressed.
.option push
.option norvc
svu_vectors:
    .rept 32
    j     .L_trap
    .endr
.option pop

.section .text.init, "ax"
.globl _start
_start:                                 // at 0x80
    csrw  mie, zero
    la    t0, svu_vectors
    csrw  mtvec, t0
    la    sp, __stack_top
    la    t0, __data_image
    la    t1, __data_start
    la    t2, __data_end
.L_copy:
    bgeu  t1, t2, .L_copied
    lw    t3, 0(t0)
    sw    t3, 0(t1)
    addi  t0, t0, 4
    addi  t1, t1, 4
    j     .L_copy
.L_copied:
    la    t0, __bss_start
    la    t1, __bss_end
.L_clear:
    bgeu  t0, t1, .L_cleared
    sw    zero, 0(t0)
    addi  t0, t0, 4
    j     .L_clear
.L_cleared:
    call  stage_main
    li    a0, 0
    j     .L_end

.balign 4
.L_trap:
    csrr  a0, mcause
    ori   a0, a0, 0x100
.L_end:
    li    t0, BENCH_EXIT
    sw    a0, 0(t0)
.L_halt:
    wfi
    j     .L_halt

.globl svu_enter
svu_enter:
    fence.i                             // its code was written by stores
    jr    a0
