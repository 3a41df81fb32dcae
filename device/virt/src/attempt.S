// bool attempt_m(void (*instructions)(void));
// bool attempt_s(void (*instructions)(void));
//
// Calls `instructions` and returns 1, or 0 if they trapped: in M-mode and in S-mode (RISC-V
// Privileged Architecture §3.1.7, §10.1.2). Interrupts must be off. Needs RV64I and Zicsr.
//
// What is called must leave s0 and s1 alone, as every leaf does that uses no saved register: after
// a trap the stack is found through s0, and the previous trap vector through s1.
//
//   a0  what to call, then the answer        clobber all caller-saved registers; 32 bytes of stack

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

// A trap vector in direct mode is a multiple of 4. Nothing returns from this trap: interrupts stay
// off, and the mode is the one that was left.
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
