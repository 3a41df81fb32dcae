// void hartlock_ghash_rv64_zvkg(const uint8_t hash_key[16], uint8_t hash[16], const uint8_t *data, size_t len)
// void hartlock_aes_gcm_rv64_zvkg(const uint32_t (*keys)[4], size_t rounds, const uint8_t counter[16],
//                                 const uint8_t hash_key[16], uint8_t hash[16], uint8_t *text, size_t len)
//
// The first function adds data, padded with zeros to whole blocks, to a hash (GHASH, SP 800-38D §6.4). The second one
// does so with a cipher text and also decrypts it in place (GCTR, §6.5), in one pass. Need RV64I, the vector
// extension (Zve64x is enough, with VLEN >= 128), Zvkb (vrev8), Zvkned and Zvkg. Include frame_macros.S and
// aes_vector_macros.S before this file.
//
//   keys      expanded key: rounds + 1 round keys, 4-byte aligned, each in the order of its bytes
//   rounds    10, 12 or 14
//   counter   counter block of the first block of the text; its last four bytes wrap (inc_32, §6.2)
//   hash_key, hash, data, text               any alignment; hash is updated in place
//   len       any number of bytes
//
// Clobber t0-t6, a0-a7, v0-v31, vl and vtype. All vector registers are zero afterwards; the others hold no secret at
// any time. The first function has no stack. That of the second one has 8 * VLENB bytes, 128 at VLEN 128, for four
// round keys and powers of the hash key, and is zero afterwards.
//
// Constant time: no branch and no address depends on keys or data, only on the other arguments and on VLEN. The
// vector instructions on them have constant time, as aes_vector_macros.S says.
//
// With n blocks in a register group (LMUL 4, n = VLEN / 32), the loop has one sum for each place in the group, and
// multiplies all of them by H^n at once:
//
//   Y_i := (Y_i + X_i) * H^n
//
// The last whole group has H^(n-i) in place of H^n, so that the sum of all Y_i is the hash. A group with b < n blocks
// that follows starts with that sum in Y_0, and has H^(b-i). vghsh.vv computes one such line for all places.
//
//   v0              mask of the counters               v4-v7    counters of the next group
//   v8-v11          state                              v12-v15  data; before it four round keys
//   v16-v19         Y                                  v20-v23  H^n, or the powers for the last group
//   v1-v3, v24-v31  the other round keys
//
// Eleven round keys stay in registers. One load of whole registers from the stack, where each lies in as many bytes
// as a register has, brings the four others to where the data will be: a group takes 24 instructions with AES-256.

// --- powers of the hash key --------------------------------------------------------------------

// Computes H^(n-i) for each block i of \powers, and H^n for each block of \last, with the hash key in the first
// element group of \key. \numbers and \scratch are register groups. Sets SEW to 32 and LMUL to 4 for all elements,
// and changes v0, t0 and t1.
//
// The exponent n - i is one more than n - 1 - i, whose bits are those that i does not have. \last is squared from H
// to H^n, and each of its values multiplies the blocks whose exponent has the bit.
.macro GHASH_ZVKG_POWERS powers, last, key, numbers, scratch
    vsetvli t1, zero, e32, m4, ta, ma
    AES_ZVKNED_BROADCAST \last, \key
    vmv4r.v \powers, \last
    vid.v \numbers
    li    t0, .L_AES_WORDS                      // the lowest bit of i in the number of an element
.L_ghash_zvkg_power_\@:
    vand.vx \scratch, \numbers, t0
    vmseq.vi v0, \scratch, 0
    vmv4r.v \scratch, \powers
    vgmul.vv \scratch, \last
    vmerge.vvm \powers, \powers, \scratch, v0
    vmv4r.v \scratch, \last
    vgmul.vv \last, \scratch
    slli  t0, t0, 1
    bltu  t0, t1, .L_ghash_zvkg_power_\@
.endm

// --- GHASH alone -------------------------------------------------------------------------------

HARTLOCK_FUNCTION hartlock_ghash_rv64_zvkg, +zve64x, +zvkb, +zvkned, +zvkg
    AES_VECTOR_LOAD_BLOCK v16, a1
    vsetivli zero, .L_AES_BLOCK, e8, m1, ta, ma
    vle8.v v24, (a0)

    // A single block, such as that of the lengths, needs no powers.
    li    t0, .L_AES_BLOCK
    bltu  t0, a3, .L_ghash_zvkg_long
    beqz  a3, .L_ghash_zvkg_end
    vmv.v.i v12, 0
    vsetvli zero, a3, e8, m1, tu, ma
    vle8.v v12, (a2)
    vsetivli zero, .L_AES_WORDS, e32, m1, ta, ma
    vghsh.vv v16, v24, v12
    j     .L_ghash_zvkg_end

    // a4 is the length of a group, a5 the end of the whole groups, and a3 the number of bytes after it.
.L_ghash_zvkg_long:
    GHASH_ZVKG_POWERS v4, v20, v24, v8, v28
    csrr  a4, vlenb
    slli  a4, a4, 2
    AES_VECTOR_WHOLE_GROUPS a5, a2, a3, a4
    beq   a2, a5, .L_ghash_zvkg_rest
    sub   t3, a5, a4                            // the last whole group
    beq   a2, t3, .L_ghash_zvkg_last
.L_ghash_zvkg_group:
    vl4re8.v v12, (a2)
    add   a2, a2, a4
    vghsh.vv v16, v20, v12
    bne   a2, t3, .L_ghash_zvkg_group
.L_ghash_zvkg_last:
    vl4re8.v v12, (a2)
    add   a2, a2, a4
    vghsh.vv v16, v4, v12
    AES_VECTOR_FOLD v16, v8

    // t3 is the number of words of the blocks that are left.
.L_ghash_zvkg_rest:
    beqz  a3, .L_ghash_zvkg_end
    addi  t3, a3, .L_AES_BLOCK - 1
    andi  t3, t3, -.L_AES_BLOCK
    sub   t0, a4, t3
    srli  t0, t0, 2
    srli  t3, t3, 2
    vsetvli t2, zero, e32, m4, ta, ma
    vslidedown.vx v20, v4, t0
    vmv.v.i v12, 0
    vsetvli zero, a3, e8, m4, tu, ma
    vle8.v v12, (a2)
    vsetvli zero, t3, e32, m4, tu, ma
    vghsh.vv v16, v20, v12
    AES_VECTOR_FOLD v16, v8

.L_ghash_zvkg_end:
    vsetivli zero, .L_AES_BLOCK, e8, m1, ta, ma
    vse8.v v16, (a1)
    AES_VECTOR_WIPE_REGISTERS
    ret
HARTLOCK_FUNCTION_END hartlock_ghash_rv64_zvkg

// --- GHASH and GCTR ----------------------------------------------------------------------------

// Applies \step to the index of each round key, \arguments and the register of the round key.
.macro AES_GCM_ZVKG_EACH_KEY step, arguments:vararg
    .set .L_index, 0
    .irp key, v12, v13, v14, v15, v1, v2, v3, v24, v25, v26, v27, v28, v29, v30, v31
    \step .L_index, \arguments, \key
    .set .L_index, .L_index + 1
    .endr
.endm

// Loads a round key if the cipher has it.
.macro AES_GCM_ZVKG_LOAD_KEY index, rounds, key
    .if \index <= \rounds
    AES_ZVKNED_LOAD_KEY \key
    .endif
.endm

// Makes the key stream of a group in v8.
.macro AES_GCM_ZVKG_KEY_STREAM rounds
    vl4re32.v v12, (sp)
    AES_ZVKNED_NEXT_COUNTERS v8, v4, a2
    AES_GCM_ZVKG_EACH_KEY AES_ZVKNED_STEP, \rounds, v8
.endm

// The whole work after the powers for a number of rounds, and a jump to the end.
.macro AES_GCM_ZVKG rounds
    mv    t0, a0
    vsetivli zero, .L_AES_WORDS, e32, m1, ta, ma
    AES_GCM_ZVKG_EACH_KEY AES_GCM_ZVKG_LOAD_KEY, \rounds
    vs4r.v v12, (sp)
    AES_ZVKNED_FIRST_COUNTERS v4, v8, v12
    srli  a2, a7, 4                             // the number of blocks of a group

    // a0 is the end of the whole groups, t3 that of the groups before the last one, and a6 the number of bytes after
    // a0.
    AES_VECTOR_WHOLE_GROUPS a0, a5, a6, a7
    beq   a5, a0, .L_aes_gcm_zvkg_rest_\@
    sub   t3, a0, a7
    beq   a5, t3, .L_aes_gcm_zvkg_last_\@
.L_aes_gcm_zvkg_group_\@:
    AES_GCM_ZVKG_KEY_STREAM \rounds
    vl4re8.v v12, (a5)
    vghsh.vv v16, v20, v12
    vxor.vv v12, v12, v8
    vs4r.v v12, (a5)
    add   a5, a5, a7
    bne   a5, t3, .L_aes_gcm_zvkg_group_\@
    beq   a5, a0, .L_aes_gcm_zvkg_sum_\@

    // The last group takes another turn of the loop with other powers.
.L_aes_gcm_zvkg_last_\@:
    vl4re32.v v20, (t6)
    mv    t3, a0
    j     .L_aes_gcm_zvkg_group_\@
.L_aes_gcm_zvkg_sum_\@:
    AES_VECTOR_FOLD v16, v8

    // t3 is the number of words of the blocks that are left.
.L_aes_gcm_zvkg_rest_\@:
    beqz  a6, .L_aes_gcm_zvkg_end
    addi  t3, a6, .L_AES_BLOCK - 1
    andi  t3, t3, -.L_AES_BLOCK
    sub   t0, a7, t3
    srli  t0, t0, 2
    srli  t3, t3, 2
    vl4re32.v v12, (t6)
    vsetvli t2, zero, e32, m4, ta, mu
    vslidedown.vx v20, v12, t0
    vsetvli zero, t3, e32, m4, tu, mu
    AES_GCM_ZVKG_KEY_STREAM \rounds
    vsetvli t2, zero, e32, m4, ta, mu
    vmv.v.i v12, 0
    vsetvli zero, a6, e8, m4, tu, ma
    vle8.v v12, (a5)
    vsetvli zero, t3, e32, m4, tu, mu
    vghsh.vv v16, v20, v12
    vsetvli zero, a6, e8, m4, ta, ma
    vxor.vv v12, v12, v8
    vse8.v v12, (a5)
    AES_VECTOR_FOLD v16, v8
    j     .L_aes_gcm_zvkg_end
.endm

HARTLOCK_FUNCTION hartlock_aes_gcm_rv64_zvkg, +zve64x, +zvkb, +zvkned, +zvkg
    // a7 is the length of a group, sp the address of four round keys, and t6 that of the powers.
    csrr  a7, vlenb
    slli  a7, a7, 2
    slli  t0, a7, 1
    sub   sp, sp, t0
    add   t6, sp, a7
    vsetivli zero, .L_AES_BLOCK, e8, m1, ta, ma
    vle8.v v24, (a3)
    GHASH_ZVKG_POWERS v4, v20, v24, v8, v28
    vs4r.v v4, (t6)
    AES_VECTOR_LOAD_BLOCK v16, a4
    li    t0, 12
    bltu  a1, t0, .L_aes_gcm_zvkg_128
    beq   a1, t0, .L_aes_gcm_zvkg_192
    AES_GCM_ZVKG 14
.L_aes_gcm_zvkg_192:
    AES_GCM_ZVKG 12
.L_aes_gcm_zvkg_128:
    AES_GCM_ZVKG 10

.L_aes_gcm_zvkg_end:
    vsetivli zero, .L_AES_BLOCK, e8, m1, ta, ma
    vse8.v v16, (a4)
    AES_VECTOR_WIPE_REGISTERS
    vs4r.v v0, (sp)
    vs4r.v v0, (t6)
    add   sp, t6, a7
    ret
HARTLOCK_FUNCTION_END hartlock_aes_gcm_rv64_zvkg
