// Entry of every hart, and the trap entry.
//
// This file needs RV64I and Zicsr, in M-mode. Register names are those of the ABI. Hart 0 prepares memory and runs
// smoke_main. The others wait for a software interrupt (RISC-V Privileged Architecture §3.1.9) before they access any
// memory, and then run smoke_hart. Each hart has a stack of 64 KiB (link.ld); interrupts are never taken.

.equ MSIE, 8

.section .text.init, "ax"
.globl _start
_start:
    csrw  mie, zero
    la    t0, trap_entry
    csrw  mtvec, t0
    csrr  a0, mhartid
    la    sp, __stacks + 65536
    slli  t0, a0, 16
    add   sp, sp, t0
    bnez  a0, .L_wait
    la    t0, __bss_start
    la    t1, __bss_end
.L_clear:
    bgeu  t0, t1, .L_cleared
    sd    zero, 0(t0)
    addi  t0, t0, 8
    j     .L_clear
.L_cleared:
    call  smoke_main
    j     .L_halt

.L_wait:
    li    t0, MSIE
    csrw  mie, t0
.L_wait_again:
    wfi
    csrr  t1, mip
    and   t1, t1, t0
    beqz  t1, .L_wait_again
    call  smoke_hart
.L_halt:
    wfi
    j     .L_halt

// No trap is expected. A trap is reported on an empty stack, and the machine ends.
.balign 4
trap_entry:
    csrr  a0, mcause
    csrr  a1, mepc
    csrr  a2, mtval
    csrr  a3, mhartid
    la    sp, __stacks + 65536
    slli  t0, a3, 16
    add   sp, sp, t0
    call  smoke_trap
    j     .L_halt
