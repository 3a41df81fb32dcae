// Entry and trap entry of a program without other software on the hart: the bench, and lab/peers.
//
// This file needs RV64I and Zicsr, in M-mode. Register names are those of the ABI. Only one hart continues; any other
// waits for ever. The hart runs bench_main, and bench_trap after a trap. Code of other projects may use all extensions
// of the hart: floating point and vectors are enabled, which has no effect on a hart without them.

.equ STATUS_FLOATS_AND_VECTORS, 0x2200 // mstatus: FS = Initial, VS = Initial

.section .text.init, "ax"
.globl _start
_start:
    csrw  mie, zero
    la    t0, trap_entry
    csrw  mtvec, t0
    csrr  t0, mhartid
    bnez  t0, halt
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

// No trap is expected. A trap is reported on an empty stack, and the machine ends.
.balign 4
trap_entry:
    la    sp, __stack_top
    csrr  a0, mcause
    csrr  a1, mepc
    csrr  a2, mtval
    call  bench_trap
    j     halt
