// void feed_blocks(const uint32_t *source, uint32_t *port, const uint32_t *status, uint32_t blocks)
//
// This file needs RV32IC. The routine does the work of a driver for an engine with a FIFO: it waits until the engine is
// ready, then moves a block of 64 bytes to its port, word by word.
//
//   a0  source, 64 * blocks bytes      a1  port, written 16 times a block
//   a2  status, any value but 0        a3  blocks, > 0
//   clobbers t0; no stack

.section .text.feed_blocks, "ax"
.globl feed_blocks
.balign 4
feed_blocks:
.L_wait:
    lw    t0, 0(a2)
    beqz  t0, .L_wait
    .set offset, 0
    .rept 16
    lw    t0, offset(a0)
    sw    t0, 0(a1)
    .set offset, offset + 4
    .endr
    addi  a0, a0, 64
    addi  a3, a3, -1
    bnez  a3, .L_wait
    ret

// uint32_t load_cost(const uint32_t *source) returns the cycles of 16 consecutive loads.
//
//   a0  source, 64 bytes               clobbers t0 to t2; no stack

.section .text.load_cost, "ax"
.globl load_cost
.balign 4
load_cost:
    csrr  t1, mcycle
    .set offset, 0
    .rept 16
    lw    t0, offset(a0)
    .set offset, offset + 4
    .endr
    csrr  t2, mcycle
    sub   a0, t2, t1
    ret
