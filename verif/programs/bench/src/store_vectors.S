// size_t bench_store_vectors(uint8_t *to)
//
// Stores the vector registers v0-v31 one after the other, and returns the length of one in bytes. Needs the vector
// extension. Changes t0 and a0; no stack.

.option push
.option arch, +v
.section .text.bench_store_vectors, "ax", @progbits
.globl bench_store_vectors
.balign 4
bench_store_vectors:
    csrr  t0, vlenb
    slli  t0, t0, 3
    .irp group, v0, v8, v16, v24
    vs8r.v \group, (a0)
    add   a0, a0, t0
    .endr
    srli  a0, t0, 3
    ret
.option pop
