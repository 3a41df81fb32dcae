// Vector table, entry and trap handling of programs on the root of trust.
//
// Needs RV32IMC and Zicsr, M-mode only. ABI names only.
//
//   void rot_main(void)                          of the program; returns with success
//   void rot_trap(cause, address, value)         of the program; never returns
//   uint32_t rot_try_load(address, value *out)   0, or the cause of the trap that the access took
//   uint32_t rot_try_store(address, value)       likewise
//   uint32_t rot_try_call(address)               likewise; what is called has to return
//
// A trap while `mscratch` holds an address goes on there, with the cause in a0. Elsewhere it is the end
// of the program: nothing here expects one.

.equ BENCH_EXIT, {bench_exit}

.section .text.vectors, "ax"
// Ibex takes exceptions at entry 0 and interrupts at the others (Ibex reference manual, "Exceptions and
// Interrupts"). Entries have 4 bytes, so nothing here may be compressed.
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
    li    t0, BENCH_EXIT
    sw    zero, 0(t0)
.L_halt:
    wfi
    j     .L_halt

.balign 4
trap_entry:
    csrrw t0, mscratch, zero
    beqz  t0, .L_fatal
    csrw  mepc, t0
    csrr  a0, mcause
    mret
.L_fatal:
    csrr  a0, mcause
    csrr  a1, mepc
    csrr  a2, mtval
    la    sp, __stack_top
    call  rot_trap
    j     .L_halt

.section .text.rot_try, "ax"
.globl rot_try_load
rot_try_load:
    la    t0, .L_tried
    csrw  mscratch, t0
    lw    t1, 0(a0)
    csrw  mscratch, zero
    sw    t1, 0(a1)
    li    a0, 0
.balign 4
.L_tried:
    ret

.globl rot_try_store
rot_try_store:
    la    t0, .L_tried
    csrw  mscratch, t0
    sw    a1, 0(a0)
    csrw  mscratch, zero
    li    a0, 0
    ret

.globl rot_try_call
rot_try_call:
    addi  sp, sp, -16
    sw    ra, 12(sp)
    la    t0, .L_called
    csrw  mscratch, t0
    jalr  a0
    csrw  mscratch, zero
    li    a0, 0
.balign 4
.L_called:
    lw    ra, 12(sp)
    addi  sp, sp, 16
    ret
