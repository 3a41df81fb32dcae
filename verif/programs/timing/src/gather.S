// void timing_gather(const uint8_t *table, const uint8_t indices[16]);
//
// Loads the bytes of a table that the indices select. Needs V. It leaks the indices by the addresses of the loads, which
// is its purpose.
//
//   a0  table of 256 bytes     a1  indices     clobbers t0, v8, v9, vl, vtype

.section .text.timing_gather, "ax", @progbits
.globl timing_gather
.option push
.option arch, +v
.type timing_gather, @function
timing_gather:
    li      t0, 16
    vsetvli zero, t0, e8, m1, ta, ma
    vle8.v  v8, (a1)
    vluxei8.v v9, (a0), v8
    ret
.option pop
