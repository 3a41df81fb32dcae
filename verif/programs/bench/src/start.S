// Entry and trap entry of a program without other software on the hart: the bench, and lab/peers.
//
// This file needs RV64I and Zicsr, in M-mode. Register names are those of the ABI. Only one hart continues; any other
// waits for ever. The hart runs bench_main, and bench_trap after a trap. Code of other projects may use all extensions
// of the hart: floating point and vectors are enabled, which has no effect on a hart without them.
//
// If HAS_CREW is defined, harts 1 to 3 run bench_hart after a software interrupt (RISC-V Privileged Architecture §3.1.9),
// each on a stack of 64 KiB (link.ld). Interrupts are never taken.

.equ STATUS_FLOATS_AND_VECTORS, 0x2200 // mstatus: FS = Initial, VS = Initial

.section .text.init, "ax"
.globl _start
_start:
    csrw  mie, zero
    la    t0, trap_entry
    csrw  mtvec, t0
    csrr  t0, mhartid
.ifdef HAS_CREW
    bnez  t0, .L_crew
.else
    bnez  t0, halt
.endif
    li    t0, STATUS_FLOATS_AND_VECTORS
    csrs  mstatus, t0
    la    t0, __bss_start
    la    t1, __bss_end
1:  bgeu  t0, t1, 2f
    sd    zero, 0(t0)
    addi  t0, t0, 8
    j     1b
2:  la    sp, __stack_top
    call  bench_main
halt:
    wfi
    j     halt

.ifdef HAS_CREW
.equ MSIE, 8
.equ CREW, 3
.L_crew:
    li    t1, CREW
    bgtu  t0, t1, halt
    mv    a0, t0
    la    sp, __stack_top
    slli  t0, t0, 16
    add   sp, sp, t0
    li    t0, MSIE
    csrw  mie, t0
.L_asleep:
    wfi
    csrr  t1, mip
    and   t1, t1, t0
    beqz  t1, .L_asleep
    call  bench_hart
    j     halt
.endif

// No trap is expected. A trap is reported on an empty stack, and the machine ends.
.balign 4
trap_entry:
    la    sp, __stack_top
    csrr  a0, mcause
    csrr  a1, mepc
    csrr  a2, mtval
    call  bench_trap
    j     halt
