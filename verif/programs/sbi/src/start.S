// Entry points of the program, and an SBI call that may trap.
//
// This file needs RV64I and Zicsr. Register names are those of the ABI.

.equ STACK_SHIFT, 16
.equ MAX_HARTS,   8
.equ SSI,         2                   // supervisor software interrupt, in sie and sip

.section .text.init, "ax"
.globl _start
_start:                               // a0: hart
    csrw  satp, zero
    la    t0, __bss_start
    la    t1, __bss_end
1:  bgeu  t0, t1, 2f
    sd    zero, 0(t0)
    addi  t0, t0, 8
    j     1b
2:  la    t2, sbi_main
    j     enter

.globl worker_entry
worker_entry:
    csrw  satp, zero
    la    t2, sbi_worker
enter:
    // An interrupt is always pending and never taken, so a hart that is suspended wakes at once.
    csrci sstatus, 2
    csrwi sie, SSI
    csrsi sip, SSI
    li    t0, MAX_HARTS
    bgeu  a0, t0, halt
    la    sp, __stacks
    addi  t0, a0, 1
    slli  t0, t0, STACK_SHIFT
    add   sp, sp, t0
    jalr  t2
halt:
    wfi
    j     halt

// bool try_call(const uint64_t arguments[8], uint64_t results[2])
//
// Makes an SBI call with a0 to a7 from `arguments`, and stores a0 and a1 after it. Returns false if the call
// trapped instead of returning. The other registers are kept by the calling convention (SBI v2.0 §3).
.globl try_call
try_call:
    la    t0, trapped
    csrw  stvec, t0
    mv    t5, a1
    mv    t6, a0
    ld    a0, 0(t6)
    ld    a1, 8(t6)
    ld    a2, 16(t6)
    ld    a3, 24(t6)
    ld    a4, 32(t6)
    ld    a5, 40(t6)
    ld    a6, 48(t6)
    ld    a7, 56(t6)
    ecall
    sd    a0, 0(t5)
    sd    a1, 8(t5)
    csrsi sip, SSI
    li    a0, 1
    ret

.balign 4
trapped:
    csrsi sip, SSI
    li    a0, 0
    ret

// bool try_load(uint64_t address) returns true if a load does not trap.
.globl try_load
try_load:
    la    t0, trapped
    csrw  stvec, t0
    ld    t1, 0(a0)
    li    a0, 1
    ret

// bool try_store(uint64_t address) returns true if a store of zero does not trap.
.globl try_store
try_store:
    la    t0, trapped
    csrw  stvec, t0
    sd    zero, 0(a0)
    li    a0, 1
    ret
