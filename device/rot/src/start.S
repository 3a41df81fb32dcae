// Vector table, entry and trap handling of programs on the root of trust.
//
// This file needs RV32IMC and Zicsr, in M-mode only. Register names are those of the ABI.
//
//   void rot_main(void)                          of the program
//
// There are two kinds of traps:
//
// * A load or store of host.S to the host's memory fails, because the bus refused it or did not respond. The host can
//   cause this. The routine returns the cause to its caller.
// * Any other trap means that this program does not behave as it was written. The boot sequencer is told to stop: the
//   host is in reset from then on, even if it was released. This code uses no stack and no data, because both may be
//   damaged. A second trap during it is a double fault, for which the hardware does the same (hw/soc/README.md). The
//   interrupt of an alert, which cannot be masked, is also such a trap; the hardware has put the host into reset
//   before.

.equ SEQUENCER, {sequencer}
.equ DECISION, 0                        // offsets are those of hw/ip/boot_sequencer/doc/registers.md
.equ REASON, 4
.equ STATUS, 8
.equ WORD_STOP, {stop}
.equ STATE_HELD, {held}
.equ STATE_ERROR, {error}
.equ UNEXPECTED_TRAP, {unexpected_trap}
.equ LOAD_ACCESS, {load_access}
.equ STORE_ACCESS, {store_access}

.section .text.vectors, "ax"
// Ibex takes exceptions at entry 0 and interrupts at the other entries (Ibex reference manual, "Exceptions and
// Interrupts"). Each entry has 4 bytes, so that no instruction here may be compressed.
.option push
.option norvc
.globl rot_vectors
rot_vectors:
    .rept 32
    j     trap_entry
    .endr
.option pop

.section .text.init, "ax"
.globl _start
_start:                                 // at 0x80
    csrw  mie, zero
    csrw  mscratch, zero
    la    t0, rot_vectors
    csrw  mtvec, t0
    la    sp, __stack_top
    la    t0, __data_image
    la    t1, __data_start
    la    t2, __data_end
.L_copy:
    bgeu  t1, t2, .L_copied
    lw    t3, 0(t0)
    sw    t3, 0(t1)
    addi  t0, t0, 4
    addi  t1, t1, 4
    j     .L_copy
.L_copied:
    la    t0, __bss_start
    la    t1, __bss_end
.L_clear:
    bgeu  t0, t1, .L_cleared
    sw    zero, 0(t0)
    addi  t0, t0, 4
    j     .L_clear
.L_cleared:
    call  rot_main
    j     rot_stop                      // a program must not return

// The handler changes t0 to t2, which the routines of host.S do not need after a trap.
.balign 4
trap_entry:
    csrr  t0, mepc
    la    t1, rot_host_begin
    la    t2, rot_host_end
    bltu  t0, t1, .L_unexpected
    bgeu  t0, t2, .L_unexpected
    csrr  t0, mtval                     // address of the access; addresses of the host's memory have bit 31 set
    bgez  t0, .L_unexpected
    csrr  t0, mcause
    li    t1, LOAD_ACCESS
    li    t2, STORE_ACCESS
    beq   t0, t1, .L_recover
    bne   t0, t2, .L_unexpected
.L_recover:
    csrw  mepc, ra                      // these routines have no stack frame and do not change ra
    mv    a0, t0
    mret
.L_unexpected:
                                        // Execution continues with rot_stop.

.globl rot_stop
rot_stop:
    csrw  mie, zero
    la    t3, .L_halt
// Puts the host into reset, then continues at the address in t3.
.globl rot_hold_host
rot_hold_host:
    li    t0, SEQUENCER
    lw    t1, STATUS(t0)
    li    t2, STATE_HELD
    bne   t1, t2, .L_is_decided         // after a decision the reason belongs to it, and writing it would be an error
    li    t1, UNEXPECTED_TRAP
    sw    t1, REASON(t0)
.L_is_decided:
    li    t2, STATE_ERROR
    beq   t1, t2, .L_is_stopped         // the hardware has stopped; a decision would be an error
    li    t1, WORD_STOP
    sw    t1, DECISION(t0)
.L_is_stopped:
    jr    t3
.L_halt:
    wfi
    j     .L_halt

// void rot_wipe_stack(void) zeroes the memory from the end of the variables to the stack pointer, which is a multiple
// of 16, and the registers that a callee need not preserve.
.globl rot_wipe_stack
rot_wipe_stack:
    la    t0, __bss_end
    addi  t1, sp, -31
.L_wipe_blocks:
    bgeu  t0, t1, .L_wipe_rest
    sw    zero, 0(t0)
    sw    zero, 4(t0)
    sw    zero, 8(t0)
    sw    zero, 12(t0)
    sw    zero, 16(t0)
    sw    zero, 20(t0)
    sw    zero, 24(t0)
    sw    zero, 28(t0)
    addi  t0, t0, 32
    j     .L_wipe_blocks
.L_wipe_rest:                           // fewer than eight words remain
    bgeu  t0, sp, .L_wipe_registers
    sw    zero, 0(t0)
    addi  t0, t0, 4
    j     .L_wipe_rest
.L_wipe_registers:
    .irp  register, t0, t1, t2, t3, t4, t5, t6, a0, a1, a2, a3, a4, a5, a6, a7
    li    \register, 0
    .endr
.globl rot_stack_is_wiped               // label for tests
rot_stack_is_wiped:
    ret
