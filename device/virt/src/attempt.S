// bool attempt_m(void (*instructions)(void));
// bool attempt_s(void (*instructions)(void));
//
// Each function calls `instructions` and returns 1, or 0 if they trapped; one works in M-mode and
// one in S-mode (RISC-V Privileged Architecture §3.1.7, §10.1.2). Interrupts must be off. This file
// needs RV64I and Zicsr.
//
// The called code must not change s0 and s1, which holds for every leaf function that uses no saved
// register: after a trap the stack pointer is restored from s0, and the previous trap vector from
// s1.
//
//   a0  the code to call, then the result     clobber all caller-saved registers; 32 bytes of stack

.macro ATTEMPT name, trap_vector
.section .text.\name, "ax", @progbits
.globl \name
.balign 4
\name:
    addi  sp, sp, -32
    sd    ra, 0(sp)
    sd    s0, 8(sp)
    sd    s1, 16(sp)
    mv    s0, sp
    la    t0, .L_trapped_\name
    csrrw s1, \trap_vector, t0
    jalr  a0
    li    a0, 1
    j     .L_done_\name

// The address of a trap vector in direct mode is a multiple of 4. The trap handler does not return
// with mret: interrupts stay off, and the mode is the one in which the trap occurred.
.balign 4
.L_trapped_\name:
    mv    sp, s0
    li    a0, 0

.L_done_\name:
    csrw  \trap_vector, s1
    ld    ra, 0(sp)
    ld    s0, 8(sp)
    ld    s1, 16(sp)
    addi  sp, sp, 32
    ret
.endm

ATTEMPT attempt_m, mtvec
ATTEMPT attempt_s, stvec
