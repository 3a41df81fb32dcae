// void footprint_measure(void (*work)(void *argument), void *argument,
//                        uint64_t *bottom, struct taken *taken)
// where `taken` gets two words: instructions, bytes of stack.
//
// Paints the stack from its lowest word `bottom` up to the stack pointer, calls `work`, and stores how
// many instructions that retired and how many bytes below the stack pointer no longer hold the paint.
// In assembly, because nothing of a caller may be below the stack pointer at that moment.
//
// Needs RV64I and Zicntr. A word of the stack that is written with the paint itself is missed: the
// lowest one would have to be, and eight bytes are lost then.
//
//   a0  work       a1  argument      a2  bottom, aligned to 8       a3  taken
//   clobbers what a call may change; 32 bytes of stack of its own, which do not count

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
    // The first reading and the call were retired in between, too.
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
