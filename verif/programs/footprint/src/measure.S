// void footprint_measure(void (*work)(void *argument), void *argument,
//                        uint64_t *bottom, struct taken *taken)
// `taken` receives two words: instructions, and bytes of stack.
//
// The routine fills the stack with a pattern from its lowest word `bottom` up to the stack pointer, calls `work`, and
// stores the number of instructions that it retired and the number of bytes below the stack pointer that do not hold
// the pattern any more. It is written in assembly, because no data of a caller may be below the stack pointer at that
// moment.
//
// This file needs RV64I and Zicntr. A stack word that is overwritten with the pattern itself is not detected. This
// matters only for the lowest word, and the error is eight bytes then.
//
//   a0  work       a1  argument      a2  bottom, aligned to 8       a3  taken
//   clobbers caller-saved registers; uses 32 bytes of stack, which are not counted

.section .text.footprint_measure, "ax"
.globl footprint_measure
footprint_measure:
    addi  sp, sp, -32
    sd    ra, 24(sp)
    sd    s0, 16(sp)
    sd    s1, 8(sp)
    sd    s2, 0(sp)
    mv    s0, a2
    mv    s1, a3
    mv    t1, a0
    mv    a0, a1
    li    t0, 0x5ca1ab1e0ddba115
    mv    t2, s0
.L_paint:
    bgeu  t2, sp, .L_work
    sd    t0, 0(t2)
    addi  t2, t2, 8
    j     .L_paint
.L_work:
    rdinstret s2
    jalr  t1
    rdinstret t2
    sub   t2, t2, s2
    // The first read of the counter and the call were also retired in between.
    addi  t2, t2, -2
    sd    t2, 0(s1)
    li    t0, 0x5ca1ab1e0ddba115
.L_look:
    bgeu  s0, sp, .L_done
    ld    t1, 0(s0)
    bne   t1, t0, .L_done
    addi  s0, s0, 8
    j     .L_look
.L_done:
    sub   t1, sp, s0
    sd    t1, 8(s1)
    ld    s2, 0(sp)
    ld    s1, 8(sp)
    ld    s0, 16(sp)
    ld    ra, 24(sp)
    addi  sp, sp, 32
    ret
