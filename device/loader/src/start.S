// Entry of the boot hart and of the other harts, and the trap entry (boot flow §5).
//
// This file needs RV64I, Zicsr, and Zifencei for `fence.i`. Register names are those of the ABI. The CSRs are those of
// the mode that the loader runs in (device/virt/src/environment.rs); the scratch CSR holds the hart number from the
// first instruction on.

.equ STACK_SHIFT, 16                  // 64 KiB for each of 8 harts
.equ MAX_HARTS,   8
.equ HANDOFF_BOOT_HART, {handoff} + 40 // boot flow §3.4
.equ MSIE,        8
.equ CLINT,       {clint}             // msip of hart 0

// Paging (Sv39, RISC-V Privileged Architecture §10.3, §10.4) has one purpose: only the code of the loader can be
// executed, and this code cannot be written. Every address is mapped to itself. A page-table entry holds an address
// shifted by two bits, and the bits V, R, W and X; A and D are set, so that no access has to set them.
.equ PAGE,        4096
.equ ENTRY_TABLE, 0x01
.equ ENTRY_CODE,  0x4b
.equ ENTRY_DATA,  0xc7
.equ GIGA_SHIFT,  30
.equ MEGA_PAGE,   2 << 20
.equ SV39,        8
.equ RAM,         {ram}
.equ LOADER,      {loader}
.equ DEVICES,     {devices}           // address of the last device

// Stores consecutive entries, starting with \entry, at \place until \place equals \end. A page has \size bytes.
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
    // Only one hart boots. Any other hart that arrives here must not touch the data of the boot hart; it uses a
    // separate stack to report the error.
    li    t0, HANDOFF_BOOT_HART
    ld    t0, 0(t0)
    beq   a0, t0, 3f
.if {is_alone}
    // All harts start here at once, because there is no firmware that holds the others until they are started.
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
    // Devices are below RAM, in the first gigabyte or the first two. RAM is in another gigabyte, whose second 2 MiB
    // page belongs to the loader.
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

// Entry of the other harts, to which hart_start sends them (a0: hart).
.globl worker_entry
worker_entry:
    // Another hart wrote the loader's code, so instruction fetch has to be synchronised.
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

// void enter_kernel(hart, fdt, entry), with the arguments in a0, a1, a2. The function never returns.
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

// No trap is expected. The work of the hart is lost, so its stack is reset. The trap may come from code that uses a key, so
// that the whole stack and every register that the handler would save are zeroed first.
.balign 4
trap_entry:
    csrw  {ie}, zero
    csrr  a0, {scratch}
    la    t1, __stacks
    slli  t0, a0, STACK_SHIFT
    add   t1, t1, t0
    li    t0, 1 << STACK_SHIFT
    add   sp, t1, t0
1:  sd    zero, 0(t1)
    addi  t1, t1, 8
    bltu  t1, sp, 1b
    .irp register, ra, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, a4, a5, a6, a7, t2, t3, t4, t5, t6
    li    \register, 0
    .endr
    csrr  a1, {cause}
    csrr  a2, {epc}
    csrr  a3, {tval}
    call  loader_trap
    j     halt
