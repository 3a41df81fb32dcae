// The first instructions on QEMU virt, where the ROM enters every hart at the place of its first payload. That is the place
// of the monitor as well, so the loader moves to where it is linked before it reads one.
//
// Needs RV64I, A, Zicsr and Zifencei, M-mode. ABI names only. Position-independent up to the jump.

// The assembler is not told what the target has when it makes a library for link-time optimisation.
.option arch, +a

.equ SECRET_CLOSED, 0x98 // pmpcfg: locked, a power of two, no access, for M-mode as well

.section .text.first, "ax"
.globl fsbl_first
fsbl_first:
    csrw  mie, zero
    csrr  t3, mhartid
    lla   t0, fsbl_first
    lla   t5, fsbl_left               // of this copy, the verified one
    ld    t1, .L_linked
    ld    t2, .L_end
    beqz  t3, 1f
    ld    t2, .L_first_end            // a hart that only waits needs no more
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

    // Any other hart never runs the monitor. It gives up the secret until reset, says that it has left the place of the
    // monitor, and waits: memory may be the monitor's from then on, whatever it does with it.
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
// Harts that have left, bit i = hart i; zero in the payload that the ROM has verified.
.globl fsbl_left
fsbl_left:    .dword 0
.L_linked:    .dword fsbl_first
.L_end:       .dword __bss_start
.L_first_end: .dword fsbl_first_end
.L_moved_at:  .dword .L_moved
.L_secret:    .dword {secret}
.globl fsbl_first_end
fsbl_first_end:
