// Entry of the boot hart and of the other harts, and the trap entry (boot flow §5).
//
// Needs RV64I and Zicsr; Zifencei for `fence.i`. ABI names only. CSRs are those of the mode that the
// loader runs in (device/virt/src/environment.rs); the one for scratch holds the number of the hart
// from its first instruction on.

.equ STACK_SHIFT, 16                  // 64 KiB a hart, 8 harts
.equ MAX_HARTS,   8
.equ HANDOFF_BOOT_HART, {handoff} + 40 // boot flow §3.4
.equ MSIE,        8
.equ CLINT,       {clint}             // msip of hart 0

// Paging (Sv39, RISC-V Privileged Architecture §10.3, §10.4) serves one purpose: only the code of the loader can
// be executed, and it cannot be written. Every address is mapped to itself. A page-table entry holds an address
// shifted by two bits, and V, R, W, X; A and D are set, so that no access has to set them.
.equ PAGE,        4096
.equ ENTRY_TABLE, 0x01
.equ ENTRY_CODE,  0x4b
.equ ENTRY_DATA,  0xc7
.equ GIGA_SHIFT,  30
.equ MEGA_PAGE,   2 << 20
.equ SV39,        8
.equ RAM,         {ram}
.equ LOADER,      {loader}
.equ DEVICES,     {devices}           // the last one

// Stores entries from \entry on at \place, for pages of \size bytes, until \place is \end.
.macro ENTRIES entry, place, end, size
    li    t3, \size >> 2
.L_entries_\@:
    sd    \entry, 0(\place)
    add   \entry, \entry, t3
    addi  \place, \place, 8
    bltu  \place, \end, .L_entries_\@
.endm

// Turns paging on for this hart.
.macro PROTECT
.if !{is_alone}
    la    t0, __page_tables
    srli  t0, t0, 12
    li    t1, SV39 << 60
    or    t0, t0, t1
    sfence.vma
    csrw  satp, t0
    sfence.vma
.endif
.endm

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
2:
.if !{is_alone}
    // Devices are below memory, in the first gigabyte or the first two; memory is another one, whose second
    // 2 MiB are the loader's.
    la    t0, __page_tables
    li    t2, PAGE
    add   t2, t0, t2                  // t2: level 1
    mv    t1, t0
5:  sd    zero, 0(t1)
    addi  t1, t1, 8
    bltu  t1, t2, 5b
    li    t1, ENTRY_DATA
    sd    t1, 0(t0)
.if DEVICES >> GIGA_SHIFT
    li    t1, (1 << GIGA_SHIFT) >> 2 | ENTRY_DATA
    sd    t1, 8(t0)
.endif
    srli  t1, t2, 2
    addi  t1, t1, ENTRY_TABLE
    sd    t1, (RAM >> GIGA_SHIFT) * 8(t0)
    li    t1, RAM >> 2 | ENTRY_DATA
    li    t4, PAGE
    add   t4, t2, t4                  // t4: level 0
    ENTRIES t1, t2, t4, MEGA_PAGE
    li    t2, PAGE
    sub   t2, t4, t2
    srli  t1, t4, 2
    addi  t1, t1, ENTRY_TABLE
    sd    t1, ((LOADER - RAM) / MEGA_PAGE) * 8(t2)
    li    t1, LOADER >> 2 | ENTRY_CODE
    la    t2, __text_end
    li    t0, LOADER
    sub   t2, t2, t0
    srli  t2, t2, 12 - 3              // eight bytes for each page
    add   t2, t4, t2
    ENTRIES t1, t4, t2, PAGE
    addi  t1, t1, ENTRY_DATA - ENTRY_CODE
    la    t2, __page_tables + 3 * PAGE
    ENTRIES t1, t4, t2, PAGE
    PROTECT
.endif
    la    sp, __stacks
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
    PROTECT
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
.if !{is_alone}
    sfence.vma
.endif
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
