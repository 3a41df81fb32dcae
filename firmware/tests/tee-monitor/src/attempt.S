// attempt_load(address): loads a word in S-mode and returns mcause of the trap that ends it. attempt_load_m(address): the same
// in M-mode, and 0 if nothing traps.
//
// Needs RV64I, Zicsr, M-mode. ABI names only. After the load in S-mode an `ecall` comes back, so there is a trap in any case.
// Changes t0 and t1 and mstatus.MPP only; mtvec is as before.

.section .text
.globl attempt_load
.balign 4
attempt_load:
    la    t0, .L_back
    csrrw t1, mtvec, t0
    li    t0, 0x1800 // MPP
    csrc  mstatus, t0
    li    t0, 0x0800 // S-mode
    csrs  mstatus, t0
    la    t0, .L_load
    csrw  mepc, t0
    mret
.balign 4
.L_load:
    lw    t0, 0(a0)
    ecall
.balign 4
.L_back:
    csrw  mtvec, t1
    csrr  a0, mcause
    ret

.globl attempt_load_m
.balign 4
attempt_load_m:
    la    t0, .L_back
    csrrw t1, mtvec, t0
    lw    t0, 0(a0)
    csrw  mtvec, t1
    li    a0, 0
    ret
