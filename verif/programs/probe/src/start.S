// Entry points of the probe, and accesses that may trap.
//
// This file needs RV64I and Zicsr. Register names are those of the ABI.

.equ STACK_SHIFT, 16
.equ MAX_HARTS,   8

.section .text.init, "ax"
.globl _start
_start:                               // a0: hart
    csrw  sie, zero
    csrw  satp, zero
    la    t0, __bss_start
    la    t1, __bss_end
1:  bgeu  t0, t1, 2f
    sd    zero, 0(t0)
    addi  t0, t0, 8
    j     1b
2:  la    t2, probe_main
    j     enter

.globl worker_entry
worker_entry:
    csrw  sie, zero
    csrw  satp, zero
    la    t2, probe_worker
enter:
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

// bool try_read(address), bool try_write(address) and bool try_execute(address) return true if the
// access worked. A trap goes to `refused`, which returns to the caller.
.globl try_read
try_read:
    la    t0, refused
    csrw  stvec, t0
    lw    t1, 0(a0)
    li    a0, 1
    ret

// This routine writes the value that it has read, or zero if the address cannot be read.
.globl try_write
try_write:
    mv    t3, ra
    mv    t2, a0
    call  try_read
    mv    ra, t3
    li    t1, 0
    beqz  a0, 1f
    lw    t1, 0(t2)
1:  la    t0, refused
    csrw  stvec, t0
    sw    t1, 0(t2)
    li    a0, 1
    ret

// This routine may be called only for addresses without code, because code at the address would be
// executed.
.globl try_execute
try_execute:
    la    t0, refused_execute
    csrw  stvec, t0
    mv    t4, ra
    jalr  a0
    li    a0, 1
    mv    ra, t4
    ret

.balign 4
refused:
    li    a0, 0
    ret

.balign 4
refused_execute:
    li    a0, 0
    mv    ra, t4
    ret
