// Entry of the boot hart and of the other harts, and the trap entry (boot flow §5).
//
// Needs RV64I and Zicsr; Zifencei for `fence.i`. ABI names only. CSRs are those of the mode that the
// loader runs in (firmware/virt/src/environment.rs); the one for scratch holds the number of the hart
// from its first instruction on.

.equ STACK_SHIFT, 16                  // 64 KiB a hart, 8 harts
.equ MAX_HARTS,   8
.equ HANDOFF_BOOT_HART, {handoff} + 40 // boot flow §3.4
.equ MSIE,        8
.equ CLINT,       {clint}             // msip of hart 0

.section .text.init, "ax"
.globl _start
_start:                               // a0: hart; a1 is ignored
    csrw  {ie}, zero
    csrw  satp, zero
    csrw  {scratch}, a0
    la    t0, trap_entry
    csrw  {tvec}, t0
    li    t0, MAX_HARTS
    bgeu  a0, t0, halt
    // One hart boots. Another one that comes here must not touch what the boot hart uses; it has
    // a separate stack to report that.
    li    t0, HANDOFF_BOOT_HART
    ld    t0, 0(t0)
    beq   a0, t0, 3f
.if {is_alone}
    // All harts come here at once, and no firmware below keeps the others until they are started.
    li    t0, MSIE
    csrw  {ie}, t0
4:  wfi
    csrr  t1, mip
    and   t1, t1, t0
    beqz  t1, 4b
    li    t1, CLINT
    slli  t2, a0, 2
    add   t1, t1, t2
    sw    zero, 0(t1)
    j     worker_entry
.endif
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
    csrw  {ie}, zero
    csrw  satp, zero
    csrw  {scratch}, a0
    la    t0, trap_entry
    csrw  {tvec}, t0
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
    csrw  {ie}, zero
    csrw  satp, zero
    csrw  {scratch}, zero
    fence rw, rw
    fence.i
    jr    a2

// No trap is expected. What the hart worked on is lost, so its stack is reset.
.balign 4
trap_entry:
    csrw  {ie}, zero
    csrr  a0, {scratch}
    la    sp, __stacks
    addi  t0, a0, 1
    slli  t0, t0, STACK_SHIFT
    add   sp, sp, t0
    csrr  a1, {cause}
    csrr  a2, {epc}
    csrr  a3, {tval}
    call  loader_trap
    j     halt
