// void *memcpy(void *to, const void *from, size_t size);
// void *memset(void *to, int byte, size_t size);
// int memcmp(const void *a, const void *b, size_t size);
//
// These are the functions that the compiler calls for copies, fills and comparisons (ISO C17 §7.24), for the stages
// that verify. Those of the compiler's library are precompiled and call one another by `auipc t1` and `jalr t1`. If a
// fault skips the first of the two, t1 holds the caller's value, for example an address in a payload.
//
// This file needs RV64I. The functions use no stack, jump only to labels in this file and back to the caller, and
// access only the given ranges. The time of memcmp depends on the data, which is public.
//
//   a0, a1, a2  as above; a0 is returned      clobber a1-a6

.section .text.memcpy, "ax", @progbits
.globl memcpy
memcpy:
    mv    a3, a0
    add   a4, a0, a2                  // end
    xor   a5, a0, a1
    andi  a5, a5, 7
    bnez  a5, 3f                      // both are never aligned at the same time
    li    a5, 16
    bltu  a2, a5, 3f
1:  andi  a5, a3, 7                   // up to the first whole word
    beqz  a5, 2f
    lbu   a5, 0(a1)
    sb    a5, 0(a3)
    addi  a1, a1, 1
    addi  a3, a3, 1
    j     1b
2:  andi  a6, a4, -8                  // end of the whole words
.L_copy_words:
    ld    a5, 0(a1)
    sd    a5, 0(a3)
    addi  a1, a1, 8
    addi  a3, a3, 8
    bltu  a3, a6, .L_copy_words
3:  bgeu  a3, a4, 4f
    lbu   a5, 0(a1)
    sb    a5, 0(a3)
    addi  a1, a1, 1
    addi  a3, a3, 1
    j     3b
4:  ret

.section .text.memset, "ax", @progbits
.globl memset
memset:
    mv    a3, a0
    add   a4, a0, a2                  // end
    li    a5, 16
    bltu  a2, a5, 3f
    andi  a1, a1, 0xff                // copies the byte to all eight bytes
    slli  a5, a1, 8
    or    a1, a1, a5
    slli  a5, a1, 16
    or    a1, a1, a5
    slli  a5, a1, 32
    or    a1, a1, a5
1:  andi  a5, a3, 7                   // up to the first whole word
    beqz  a5, 2f
    sb    a1, 0(a3)
    addi  a3, a3, 1
    j     1b
2:  andi  a6, a4, -8                  // end of the whole words
.L_set_words:
    sd    a1, 0(a3)
    addi  a3, a3, 8
    bltu  a3, a6, .L_set_words
3:  bgeu  a3, a4, 4f
    sb    a1, 0(a3)
    addi  a3, a3, 1
    j     3b
4:  ret

.section .text.memcmp, "ax", @progbits
.globl memcmp
memcmp:
    add   a4, a0, a2                  // end
1:  bgeu  a0, a4, 2f
    lbu   a5, 0(a0)
    lbu   a3, 0(a1)
    addi  a0, a0, 1
    addi  a1, a1, 1
    beq   a5, a3, 1b
    sub   a0, a5, a3
    ret
2:  li    a0, 0
    ret
