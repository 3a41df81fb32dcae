// Accesses to the host's memory that survive a bus error.
//
// This file needs RV32IMC. Register names are those of the ABI. The control flow is constant: no branch depends on the
// data that is read.
//
//   uint32_t rot_host_copy(uint8_t *to, const uint8_t *from, uint32_t count)
//   uint32_t rot_host_clear(uint8_t *to, uint32_t count)
//   uint32_t rot_host_feed(uint32_t *port, const uint32_t *from, uint32_t words)
//
// Each routine returns 0, or the cause of the trap. The port of rot_host_feed has eight equivalent registers.
//
// Each byte of `from` is read once and each byte of `to` is written once, in words where both have the same alignment.
// After an error an unknown part of `to` has been written. These routines do not handle errors of the port, which is
// not memory of the host. They change a0 to a7 and t0 to t6 and use no stack. The trap handler (start.S) knows the
// addresses between the two labels. It changes t0 to t2 and returns to the address in ra; therefore the routines call
// no other function.

.section .text.rot_host, "ax"
.globl rot_host_begin
rot_host_begin:

.globl rot_host_copy
rot_host_copy:
    xor   t0, a0, a1
    andi  t0, t0, 3
    bnez  t0, .L_copy_bytes             // the two sides never reach a word boundary together
.L_copy_head:
    andi  t0, a0, 3
    beqz  t0, .L_copy_blocks
    beqz  a2, .L_done
    lbu   t0, 0(a1)
    sb    t0, 0(a0)
    addi  a0, a0, 1
    addi  a1, a1, 1
    addi  a2, a2, -1
    j     .L_copy_head
.L_copy_blocks:
    li    t6, 32
    bltu  a2, t6, .L_copy_rest
.L_copy_block:
    lw    a3, 0(a1)
    lw    a4, 4(a1)
    lw    a5, 8(a1)
    lw    a6, 12(a1)
    lw    a7, 16(a1)
    lw    t3, 20(a1)
    lw    t4, 24(a1)
    lw    t5, 28(a1)
    sw    a3, 0(a0)
    sw    a4, 4(a0)
    sw    a5, 8(a0)
    sw    a6, 12(a0)
    sw    a7, 16(a0)
    sw    t3, 20(a0)
    sw    t4, 24(a0)
    sw    t5, 28(a0)
    addi  a0, a0, 32
    addi  a1, a1, 32
    addi  a2, a2, -32
    bgeu  a2, t6, .L_copy_block
.L_copy_rest:
    li    t6, 4
.L_copy_word:
    bltu  a2, t6, .L_copy_bytes
    lw    t0, 0(a1)
    sw    t0, 0(a0)
    addi  a0, a0, 4
    addi  a1, a1, 4
    addi  a2, a2, -4
    j     .L_copy_word
.L_copy_bytes:
    beqz  a2, .L_done
    lbu   t0, 0(a1)
    sb    t0, 0(a0)
    addi  a0, a0, 1
    addi  a1, a1, 1
    addi  a2, a2, -1
    j     .L_copy_bytes

.globl rot_host_clear
rot_host_clear:
    andi  t0, a0, 3
    beqz  t0, .L_clear_blocks
    beqz  a1, .L_done
    sb    zero, 0(a0)
    addi  a0, a0, 1
    addi  a1, a1, -1
    j     rot_host_clear
.L_clear_blocks:
    li    t6, 16
    bltu  a1, t6, .L_clear_bytes
    sw    zero, 0(a0)
    sw    zero, 4(a0)
    sw    zero, 8(a0)
    sw    zero, 12(a0)
    addi  a0, a0, 16
    addi  a1, a1, -16
    j     .L_clear_blocks
.L_clear_bytes:
    beqz  a1, .L_done
    sb    zero, 0(a0)
    addi  a0, a0, 1
    addi  a1, a1, -1
    j     .L_clear_bytes

.globl rot_host_feed
rot_host_feed:
    li    t6, 8
    bltu  a2, t6, .L_feed_rest
.L_feed_block:
    lw    a3, 0(a1)
    lw    a4, 4(a1)
    lw    a5, 8(a1)
    lw    a6, 12(a1)
    lw    a7, 16(a1)
    lw    t3, 20(a1)
    lw    t4, 24(a1)
    lw    t5, 28(a1)
    sw    a3, 0(a0)
    sw    a4, 4(a0)
    sw    a5, 8(a0)
    sw    a6, 12(a0)
    sw    a7, 16(a0)
    sw    t3, 20(a0)
    sw    t4, 24(a0)
    sw    t5, 28(a0)
    addi  a1, a1, 32
    addi  a2, a2, -8
    bgeu  a2, t6, .L_feed_block
.L_feed_rest:
    beqz  a2, .L_done
    lw    a3, 0(a1)
    sw    a3, 0(a0)
    addi  a1, a1, 4
    addi  a2, a2, -1
    j     .L_feed_rest

.L_done:
    li    a0, 0
    ret

.globl rot_host_end
rot_host_end:
