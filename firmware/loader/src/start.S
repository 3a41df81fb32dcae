// Entry of the boot hart and of the other harts, and the trap entry (boot flow §5).
//
// Needs RV64I and Zicsr; Zifencei for `fence.i`. ABI names only. sscratch holds the number of
// the hart from its first instruction on.

.equ STACK_SHIFT, 16                  // 64 KiB a hart, 8 harts
.equ MAX_HARTS,   8
.equ HANDOFF_BOOT_HART, 0x80110028    // boot flow §3.4


.section .text.init, "ax"
.globl _start
_start:                               // a0: hart, from OpenSBI; a1 is ignored
    csrw  sie, zero
    csrw  satp, zero
    csrw  sscratch, a0
    la    t0, trap_entry
    csrw  stvec, t0
    li    t0, MAX_HARTS
    bgeu  a0, t0, halt
    // One hart boots. Another one that comes here must not touch what the boot hart uses; it has
    // a stack of its own to say so.
    li    t0, HANDOFF_BOOT_HART
    ld    t0, 0(t0)
    beq   a0, t0, 3f
    la    sp, __stacks
    addi  t0, a0, 1
    slli  t0, t0, STACK_SHIFT
    add   sp, sp, t0
    call  loader_wrong_hart
    j     halt
3:  la    t0, __bss_start
    la    t1, __bss_end
1:  bgeu  t0, t1, 2f
    sd    zero, 0(t0)
    addi  t0, t0, 8
    j     1b
2:  la    sp, __stacks
    addi  t0, a0, 1
    slli  t0, t0, STACK_SHIFT
    add   sp, sp, t0
    call  loader_main
halt:
    wfi
    j     halt

// Where hart_start sends the other harts (a0: hart).
.globl worker_entry
worker_entry:
    // The loader's code was written by another hart.
    fence.i
    csrw  sie, zero
    csrw  satp, zero
    csrw  sscratch, a0
    la    t0, trap_entry
    csrw  stvec, t0
    li    t0, MAX_HARTS
    bgeu  a0, t0, halt
    la    sp, __stacks
    addi  t0, a0, 1
    slli  t0, t0, STACK_SHIFT
    add   sp, sp, t0
    call  worker_main
    j     halt

// void enter_kernel(hart, fdt, entry), never returns (a0, a1, a2).
.globl enter_kernel
enter_kernel:
    csrw  sie, zero
    csrw  satp, zero
    csrw  sscratch, zero
    fence rw, rw
    fence.i
    jr    a2

// No trap is expected. What the hart worked on is lost, so it starts its own stack again.
.balign 4
trap_entry:
    csrw  sie, zero
    csrr  a0, sscratch
    la    sp, __stacks
    addi  t0, a0, 1
    slli  t0, t0, STACK_SHIFT
    add   sp, sp, t0
    csrr  a1, scause
    csrr  a2, sepc
    csrr  a3, stval
    call  loader_trap
    j     halt
