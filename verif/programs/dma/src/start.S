// Entry, and an access that may trap. This file needs RV64I and Zicsr. Register names are those of
// the ABI.

.section .text.init, "ax"
.globl _start
_start:                               // only the boot hart arrives here
    csrw  sie, zero
    csrw  satp, zero
    la    t0, __bss_start
    la    t1, __bss_end
1:  bgeu  t0, t1, 2f
    sd    zero, 0(t0)
    addi  t0, t0, 8
    j     1b
2:  la    sp, __stacks + 0x10000
    call  dma_main
3:  wfi
    j     3b

// bool try_store(address, value) returns true if the access worked. A trap returns to the caller.
.globl try_store
try_store:
    la    t0, refused
    csrw  stvec, t0
    sd    a1, 0(a0)
    fence
    li    a0, 1
    ret

.balign 4
refused:
    li    a0, 0
    ret
