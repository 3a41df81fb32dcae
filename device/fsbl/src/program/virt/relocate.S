// The first instructions on QEMU virt, where the ROM enters every hart at the load address of its first payload. The
// monitor has the same load address, so the loader moves to the address that it is linked for before it reads the
// monitor.
//
// This file needs RV64I, A, Zicsr and Zifencei, in M-mode. Register names are those of the ABI. The code is
// position-independent up to the jump.

// When the assembler builds a library for link-time optimisation, it does not know the extensions of the target.
.option arch, +a

.equ SECRET_CLOSED, 0x98 // pmpcfg: locked, power of two, no access, also for M-mode

.section .text.first, "ax"
.globl fsbl_first
fsbl_first:
    csrw  mie, zero
    csrr  t3, mhartid
    lla   t0, fsbl_first
    lla   t5, fsbl_left               // address in this copy, which the ROM has verified
    ld    t1, .L_linked
    ld    t2, .L_end
    beqz  t3, 1f
    ld    t2, .L_first_end            // a hart that only waits needs no more code
    // Several harts write the same bytes.
1:  ld    t4, 0(t0)
    sd    t4, 0(t1)
    addi  t0, t0, 8
    addi  t1, t1, 8
    bltu  t1, t2, 1b
    fence rw, rw
    fence.i
    ld    t0, .L_moved_at
    jr    t0

.L_moved:
    bnez  t3, 2f
    la    t0, _start
    jr    t0

    // Any other hart never runs the monitor. It closes the secret until reset, reports that it has left the load region
    // of the monitor, and waits. From then on the monitor may use that memory in any way.
2:  ld    t0, .L_secret
    csrw  pmpaddr0, t0
    li    t0, SECRET_CLOSED
    csrs  pmpcfg0, t0
    li    t1, 1
    sll   t1, t1, t3
    amoor.d.aqrl zero, t1, (t5)
3:  wfi
    j     3b

.balign 8
// Harts that have left; bit i stands for hart i. The word is zero in the payload that the ROM has verified.
.globl fsbl_left
fsbl_left:    .dword 0
.L_linked:    .dword fsbl_first
.L_end:       .dword __bss_start
.L_first_end: .dword fsbl_first_end
.L_moved_at:  .dword .L_moved
.L_secret:    .dword {secret}
.globl fsbl_first_end
fsbl_first_end:
