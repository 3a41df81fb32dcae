// attempt_access(address, mode, is_store) loads a word, or stores a zero, in a lower mode, and returns mcause of the
// trap that ends the access. `mode` is the value of mstatus.MPP, at its bit position.
//
// This file needs RV64I and Zicsr, in M-mode. Register names are those of the ABI. After the access an `ecall` returns,
// so that there is a trap in any case. The routine changes only t0, t1 and mstatus.MPP; mtvec is restored.

.section .text
.globl attempt_access
.balign 4
attempt_access:
    la    t0, .L_back
    csrrw t1, mtvec, t0
    li    t0, 0x1800 // MPP
    csrc  mstatus, t0
    csrs  mstatus, a1
    la    t0, .L_load
    beqz  a2, .L_go
    la    t0, .L_store
.L_go:
    csrw  mepc, t0
    mret
.balign 4
.L_load:
    lw    t0, 0(a0)
    ecall
.balign 4
.L_store:
    sw    zero, 0(a0)
    ecall
.balign 4
.L_back:
    csrw  mtvec, t1
    csrr  a0, mcause
    ret
