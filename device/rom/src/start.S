// Reset, parking of harts, trap entry and the last steps of the ROM (boot flow §4).
//
// This file needs RV64I, A, Zicsr, and Zifencei for `fence.i`. Register names are those of the ABI.
//
// A hart that arrives at _start can rely only on its own registers: RAM may hold data of an earlier boot, or data that
// an attacker left there before a warm reset.

// When the assembler builds a library for link-time optimisation, it does not know the extensions of the target.
.option arch, +a

.equ CLINT_MSIP,      {clint}
.equ CLINT_MTIMECMP,  {clint} + 0x4000
.equ MIP_MSIP,        8               // bit 3: machine software interrupt
.equ RAM_START,       {ram_start}
.equ RAM_END,         {ram_end}
.equ OPENSBI,         {opensbi}
.equ OPENSBI_END,     {opensbi_end}
.equ LOADER,          {loader}
.equ LOADER_END,      {loader_end}
.equ BOOT_FDT,        {boot_fdt}
.equ BOOT_FDT_END,    {boot_fdt_end}
.equ DYNAMIC_INFO,    {dynamic_info}
.equ INFO_SIZE,       64
.equ PAYLOAD_KEYS,    {payload_keys}
.equ PAYLOAD_KEYS_END, {payload_keys_end}
.equ METADATA_START,  {metadata_start}
.equ METADATA_END,    {metadata_end}

// Physical memory protection (RISC-V Privileged Architecture §3.7). Of all entries that match, the lowest decides.
// Entry 15 is locked: all memory can be read and written but not executed, also in M-mode. Entry 13 permits execution
// of the ROM code, and entry 14 permits execution of everything from the entry into OpenSBI on. Both give no access to
// S-mode, which has the access that OpenSBI grants in lower entries. OpenSBI counts the entries that it can write; it
// must not count the last one, and therefore that entry is not all ones.
//
// Until then the other entries are on and empty: each begins and ends at 0 (TOR). If n entries are on, a reset of QEMU
// turns off and unlocks the entries 0 to n - 1, whichever entries are on. With fewer than 16, a hart that is reset
// while it runs the ROM could not fetch its first instruction.
.equ PMP_ROM,         {rom_code}
.equ PMP_ALL,         (1 << 53) - 1
.equ PMP_EMPTY,       0x0808080808080808
.equ PMP_CLOSED,      0x9b08180808080808
.equ PMP_OPEN,        0x00181800 << 32       // entry 15 is locked and does not change

// Zeroes memory from one address to another; the size is a multiple of 32.
.macro ZERO from, to
    li    t0, \from
    li    t1, \to
.L_zero_\@:
    sd    zero, 0(t0)
    sd    zero, 8(t0)
    sd    zero, 16(t0)
    sd    zero, 24(t0)
    addi  t0, t0, 32
    bltu  t0, t1, .L_zero_\@
.endm

// Permits the execution of memory. This is done directly before the jump to OpenSBI.
.macro OPEN_MEMORY
    li    t0, -1
    csrw  pmpaddr14, t0
    li    t0, PMP_OPEN
    csrw  pmpcfg2, t0
    csrw  pmpcfg0, zero
.endm

.section .text.init, "ax"
.globl _start
_start:
    csrw  mie, zero
    la    t0, trap_entry
    csrw  mtvec, t0
    csrw  mscratch, zero              // no trap has occurred yet
    // Before the entry into OpenSBI, no fault can execute data of an earlier boot or of the bundle.
    .irp entry, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14
    csrw  pmpaddr\entry, zero
    .endr
    li    t0, PMP_EMPTY
    csrw  pmpcfg0, t0
    li    t0, PMP_ROM
    csrw  pmpaddr13, t0
    li    t0, PMP_ALL
    csrw  pmpaddr15, t0
    li    t0, PMP_CLOSED
    csrw  pmpcfg2, t0
    csrr  a0, mhartid
    // The register is cleared, so that only a release that is written after this counts.
    li    t0, CLINT_MTIMECMP
    slli  t1, a0, 3
    add   t0, t0, t1
    li    t1, -1
    sd    t1, 0(t0)
    bnez  a0, park

    // Hart 0 zeroes all of ROM RAM before it is used, and every load region of a payload before the bundle is read. A
    // halfword of zeros is an illegal instruction. The payload-key page may hold keys of a boot that was cut off.
    ZERO  OPENSBI, OPENSBI_END
    ZERO  LOADER, LOADER_END
    ZERO  BOOT_FDT, BOOT_FDT_END
    ZERO  PAYLOAD_KEYS, PAYLOAD_KEYS_END
    ZERO  RAM_START, RAM_END
    fence rw, rw
    la    sp, __stack_top
    call  rom_main
    // rom_main does not return.
2:  wfi
    j     2b

// A parked hart (its number is in a0) reports once, then waits for its release. It uses no stack, and after the report
// it does not access RAM.
park:
    li    t0, MIP_MSIP
    csrw  mie, t0
    li    t1, CLINT_MSIP
    slli  t2, a0, 2
    add   t1, t1, t2                  // t1: this hart's interrupt register
1:  wfi
    csrr  t2, mip
    andi  t2, t2, MIP_MSIP
    beqz  t2, 1b
    sw    zero, 0(t1)
    // The report is one bit in a word that hart 0 zeroed before it raised the interrupt.
    li    t2, 1
    sll   t2, t2, a0
    la    t3, hartlock_reported
    amoor.d.aqrl zero, t2, (t3)
    li    t2, CLINT_MSIP
    li    t3, 1
    sw    t3, 0(t2)                   // wakes hart 0
    // The release is an interrupt together with the word RELEASE in this hart's timer compare register.
    li    t2, CLINT_MTIMECMP
    slli  t3, a0, 3
    add   t2, t2, t3
    li    t4, {release}
2:  wfi
    csrr  t3, mip
    andi  t3, t3, MIP_MSIP
    beqz  t3, 2b
    ld    t3, 0(t2)
    beq   t3, t4, 3f
    sw    zero, 0(t1)                 // this is a second call to report, which was already done
    j     2b
3:  li    t3, -1
    sd    t3, 0(t2)
    csrw  mie, zero
    sw    zero, 0(t1)                 // the acknowledgement that hart 0 waits for
    OPEN_MEMORY
    li    a1, BOOT_FDT
    li    a2, DYNAMIC_INFO
    li    t0, OPENSBI
    fence rw, rw
    fence.i
    jr    t0

// void rom_handover(void) never returns. It uses only registers, because it zeroes the stack that it was called on.
.globl rom_handover
rom_handover:
    ZERO  RAM_START + INFO_SIZE, RAM_END
    ZERO  METADATA_START, METADATA_END
    csrw  mie, zero
    csrr  a0, mhartid
    li    a1, BOOT_FDT
    li    a2, DYNAMIC_INFO
    // Redundant checks of the arguments: one skipped instruction must not give OpenSBI another device tree, whose
    // domains it enforces.
    csrr  t0, mhartid
    bne   a0, t0, 1f
    li    t0, BOOT_FDT
    bne   a1, t0, 1f
    li    t0, DYNAMIC_INFO
    bne   a2, t0, 1f
    li    sp, 0
    OPEN_MEMORY
    li    t0, OPENSBI
    fence rw, rw
    fence.i
    jr    t0
1:  wfi
    j     1b

// No trap is expected. Hart 0 reports the trap once, with an empty stack: a second trap comes from that refusal and
// would repeat. The trap may come from code that uses a secret, so that variables, stack, payload-key page and every
// register that the report would save are zeroed first. Any other hart parks for ever and is missing from the report.
.balign 4
trap_entry:
    csrw  mie, zero
    csrr  t0, mhartid
    bnez  t0, 1f
    csrr  t0, mscratch
    bnez  t0, 1f
    csrwi mscratch, 1
    ZERO  RAM_START, RAM_END
    ZERO  PAYLOAD_KEYS, PAYLOAD_KEYS_END
    la    sp, __stack_top
    .irp  register, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, a3, a4, a5, a6, a7, t2, t3, t4, t5, t6
    li    \register, 0
    .endr
    csrr  a0, mcause
    csrr  a1, mepc
    csrr  a2, mtval
    call  rom_trap
1:  wfi
    j     1b
