// attempt_access(address, mode, is_store): loads a word, or stores a zero, in a lower mode, and returns mcause of the trap that
// ends it. `mode` is mstatus.MPP in its place.
//
// Needs RV64I, Zicsr, M-mode. ABI names only. After the access an `ecall` comes back, so there is a trap in any case. Changes
// t0 and t1 and mstatus.MPP only; mtvec is as before.

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
