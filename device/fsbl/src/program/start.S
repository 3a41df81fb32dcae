// Entry, trap entry and exit of the first-stage loader.
//
// This file needs RV64I, Zicsr and Zifencei, in M-mode. Register names are those of the ABI. Only one hart continues;
// any other waits for ever. The hart runs fsbl_main, and fsbl_trap with an empty stack after a trap.

.section .text.init, "ax"
.globl _start
_start:
    csrw  mie, zero
    la    t0, .L_trap
    csrw  mtvec, t0
    csrr  t0, mhartid
    bnez  t0, .L_halt
    la    t0, __bss_start
    la    t1, __bss_end
1:  bgeu  t0, t1, 2f
    sd    zero, 0(t0)
    addi  t0, t0, 8
    j     1b
2:  la    sp, __stack_top
    call  fsbl_main
.L_halt:
    wfi
    j     .L_halt

.balign 4
.L_trap:
    la    sp, __stack_top
    csrr  a0, mcause
    csrr  a1, mepc
    csrr  a2, mtval
    call  fsbl_trap
    j     .L_halt

// uint64_t fsbl_wipe_unused(void) wipes the data that returned functions have left on the stack: everything below the
// stack pointer, except for less than 64 bytes next to it. It returns the maximum number of stack bytes in use since
// the previous wipe. It changes a0 and t0 to t2.
.globl fsbl_wipe_unused
fsbl_wipe_unused:
    la    t0, __stack_start
    andi  t1, sp, -64
    // The loop finds the lowest word that is not zero. The word at the stack pointer ends the search.
    mv    a0, t0
1:  bgeu  a0, t1, 2f
    ld    t2, 0(a0)
    bnez  t2, 2f
    addi  a0, a0, 8
    j     1b
2:  la    t2, __stack_top
    sub   a0, t2, a0
3:  bgeu  t0, t1, 4f
    .irp  offset, 0, 8, 16, 24, 32, 40, 48, 56
    sd    zero, \offset(t0)
    .endr
    addi  t0, t0, 64
    j     3b
4:  ret

// fsbl_refuse(reason) wipes the stack, which may contain secrets, and reports the reason on an empty stack with
// fsbl_refused(reason).
.globl fsbl_refuse
fsbl_refuse:
    la    t0, __stack_start
    la    t1, __stack_top
1:  .irp  offset, 0, 8, 16, 24, 32, 40, 48, 56
    sd    zero, \offset(t0)
    .endr
    addi  t0, t0, 64
    bltu  t0, t1, 1b
    mv    sp, t1
    call  fsbl_refused
    j     .L_halt

// fsbl_leave(entry, handover, from) wipes variables, the stack from the address `from` on, which has contained secrets,
// and every register. Then it enters the monitor as boot loaders enter M-mode firmware, with the hart number in a0 and
// the address of the record in a1.
.globl fsbl_leave
fsbl_leave:
    la    t0, __bss_start
    la    t1, __bss_end
1:  bgeu  t0, t1, 2f
    sd    zero, 0(t0)
    addi  t0, t0, 8
    j     1b
2:  mv    t0, a2
    la    t1, __stack_top
    // Both addresses are multiples of 64 (link.ld), and not equal.
3:  .irp  offset, 0, 8, 16, 24, 32, 40, 48, 56
    sd    zero, \offset(t0)
    .endr
    addi  t0, t0, 64
    bltu  t0, t1, 3b
    fence iorw, iorw
    fence.i
    csrw  mtvec, zero
    mv    t0, a0
    li    a0, 0
    .irp register, ra, sp, gp, tp, t1, t2, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, a2, a3, a4, a5, a6, a7
    li    \register, 0
    .endr
    jr    t0
