// Reset, parking of harts, trap entry and the last steps of the ROM (boot flow §4).
//
// Needs RV64I, M, A and Zicsr; Zifencei for `fence.i`. ABI names only.
//
// Every hart arrives at _start with nothing to rely on but its own registers: RAM may hold what
// an earlier boot, or an attacker before a warm reset, left there.

.equ CLINT_MSIP,      {clint}
.equ CLINT_MTIMECMP,  {clint} + 0x4000
.equ MIP_MSIP,        8               // bit 3: machine software interrupt
.equ OPENSBI,         {opensbi}
.equ BOOT_FDT,        {boot_fdt}
.equ DYNAMIC_INFO,    {dynamic_info}
.equ INFO_SIZE,       64
.equ METADATA_START,  {metadata_start}
.equ METADATA_END,    {metadata_end}

.section .text.init, "ax"
.globl _start
_start:
    csrw  mie, zero
    la    t0, trap_entry
    csrw  mtvec, t0
    csrw  mscratch, zero              // no trap yet
    csrr  a0, mhartid
    // Only a release that is written from now on counts.
    li    t0, CLINT_MTIMECMP
    slli  t1, a0, 3
    add   t0, t0, t1
    li    t1, -1
    sd    t1, 0(t0)
    bnez  a0, park

    // Hart 0: all of ROM RAM is zeroed before anything in it is used.
    la    t0, __ram_start
    la    t1, __ram_end
1:  sd    zero, 0(t0)
    addi  t0, t0, 8
    bltu  t0, t1, 1b
    fence rw, rw
    la    sp, __stack_top
    call  rom_main
    // rom_main does not return.
2:  wfi
    j     2b

// A parked hart (a0 = its number) reports once, then waits for its release. It uses no stack, and
// after the report no RAM at all.
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
    // The report: one bit in a word that hart 0 zeroed before it raised the interrupt.
    li    t2, 1
    sll   t2, t2, a0
    la    t3, hartlock_reported
    amoor.d.aqrl zero, t2, (t3)
    li    t2, CLINT_MSIP
    li    t3, 1
    sw    t3, 0(t2)                   // wakes hart 0
    // The release: an interrupt, and the word RELEASE in this hart's timer compare register.
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
    sw    zero, 0(t1)                 // a second call to report: already done
    j     2b
3:  li    t3, -1
    sd    t3, 0(t2)
    csrw  mie, zero
    sw    zero, 0(t1)                 // the acknowledgement that hart 0 waits for
    li    a1, BOOT_FDT
    li    a2, DYNAMIC_INFO
    li    t0, OPENSBI
    fence rw, rw
    fence.i
    jr    t0

// void rom_handover(void), never returns. Registers only: it wipes the stack it was called on.
.globl rom_handover
rom_handover:
    la    t0, __ram_start
    addi  t0, t0, INFO_SIZE
    la    t1, __ram_end
1:  sd    zero, 0(t0)
    addi  t0, t0, 8
    bltu  t0, t1, 1b
    li    t0, METADATA_START
    li    t1, METADATA_END
2:  sd    zero, 0(t0)
    addi  t0, t0, 8
    bltu  t0, t1, 2b
    csrw  mie, zero
    csrr  a0, mhartid
    li    a1, BOOT_FDT
    li    a2, DYNAMIC_INFO
    li    t0, OPENSBI
    li    sp, 0
    fence rw, rw
    fence.i
    jr    t0

// No trap is expected. Hart 0 says so on a fresh stack, once: a second trap comes out of that
// refusal, and would come again. Another hart parks for ever, and is missing from the report.
.balign 4
trap_entry:
    csrw  mie, zero
    csrr  t0, mhartid
    bnez  t0, 1f
    csrr  t0, mscratch
    bnez  t0, 1f
    csrwi mscratch, 1
    la    sp, __stack_top
    csrr  a0, mcause
    csrr  a1, mepc
    csrr  a2, mtval
    call  rom_trap
1:  wfi
    j     1b
