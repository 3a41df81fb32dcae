// uint64_t hartlock_attempt_s(void *context, uint32_t hart, void (*function)(uint64_t), uint64_t argument);
// uint64_t hartlock_attempt_m(void *context, uint32_t hart, void (*function)(uint64_t), uint64_t argument);
//
// Each function turns the vector unit on, calls `function(argument)` and returns ~0, or the cause of the trap; one works
// in S-mode and one in M-mode (RISC-V Privileged Architecture §3.1.6.6, §3.1.7, §10.1.2). Interrupts must be off. This file
// needs RV64I and Zicsr.
//
// The called code must not change s0 and s1, which holds for every leaf function that uses no saved register: after a
// trap the stack pointer is restored from s0, and the previous trap vector from s1.
//
//   a2  the function     a3  its argument     a0  the result
//   clobber all caller-saved registers; 32 bytes of stack

.macro HARTLOCK_ATTEMPT name, vector, status, cause
.section .text.\name, "ax", @progbits
.globl \name
.balign 4
\name:
    addi  sp, sp, -32
    sd    ra, 0(sp)
    sd    s0, 8(sp)
    sd    s1, 16(sp)
    mv    s0, sp
    // VS becomes Initial or more; a hart without vectors ignores the write.
    li    t0, 1 << 9
    csrs  \status, t0
    lla   t0, .L_trapped_\name
    csrrw s1, \vector, t0
    mv    a0, a3
    jalr  a2
    li    a0, -1
    j     .L_done_\name

// The address of a trap vector in direct mode is a multiple of 4. The trap handler does not return with mret or sret:
// interrupts stay off, and the mode is the one in which the trap occurred.
.balign 4
.L_trapped_\name:
    mv    sp, s0
    csrr  a0, \cause

.L_done_\name:
    csrw  \vector, s1
    ld    ra, 0(sp)
    ld    s0, 8(sp)
    ld    s1, 16(sp)
    addi  sp, sp, 32
    ret
.endm

HARTLOCK_ATTEMPT hartlock_attempt_m, mtvec, mstatus, mcause
HARTLOCK_ATTEMPT hartlock_attempt_s, stvec, sstatus, scause

// void hartlock_try_load(uint64_t address);    loads a byte
// void hartlock_try_store(uint64_t address);   loads a byte and stores it again
.section .text.hartlock_try_load, "ax", @progbits
.globl hartlock_try_load
hartlock_try_load:
    lbu   t0, 0(a0)
    ret

.section .text.hartlock_try_store, "ax", @progbits
.globl hartlock_try_store
hartlock_try_store:
    lbu   t0, 0(a0)
    sb    t0, 0(a0)
    ret
