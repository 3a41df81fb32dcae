// uint64_t try_access(uint64_t address, bool is_store);
//
// Loads a byte and, if is_store, stores it again. Returns the cause of the trap, or ~0 if there was none (RISC-V
// Privileged Architecture §10.1.2, §10.1.8). Interrupts must be off. This file needs RV64I and Zicsr.
//
//   a0  address, then the result     a1  is_store     clobbers t0-t2; no stack

.section .text.try_access, "ax", @progbits
.globl try_access
.balign 4
try_access:
    la    t0, .L_trapped
    csrrw t1, stvec, t0
    lbu   t2, 0(a0)
    beqz  a1, .L_none
    sb    t2, 0(a0)
.L_none:
    csrw  stvec, t1
    li    a0, -1
    ret

// The handler does not return with sret: the mode is the one in which the trap occurred, and interrupts stay off.
.balign 4
.L_trapped:
    csrw  stvec, t1
    csrr  a0, scause
    ret
