// void hartlock_aes_key_rv64_zvkned(uint32_t (*keys)[4], size_t rounds)
//
// Key expansion of AES (FIPS 197 §5.2) in place. Needs RV64I, the vector extension (Zve32x is enough, with VLEN >=
// 128) and Zvkned. Zvkned has no instruction for keys of 192 bits. Include frame_macros.S and aes_vector_macros.S
// before this file.
//
//   a0  place of rounds + 1 round keys, 4-byte aligned, which starts with the key; every round key is written in the
//       order of its bytes
//   a1  rounds: 10 for a key of 128 bits, 14 for 256
//
// Clobbers t0, a0, v0-v31, vl and vtype. No stack. All vector registers are zero afterwards; the others hold no secret
// at any time.
//
// Constant time: no branch and no address depends on the key, only on the arguments. Zvkned takes the same time for
// all operands.
//
//   v1, v2  the last two round keys

.macro AES_KEY_ZVKNED_STORE key
    addi  a0, a0, .L_AES_BLOCK
    vse32.v \key, (a0)
.endm

HARTLOCK_FUNCTION hartlock_aes_key_rv64_zvkned, +zve64x, +zvkned
    vsetivli zero, .L_AES_WORDS, e32, m1, ta, ma
    vle32.v v1, (a0)
    li    t0, 10
    beq   a1, t0, .L_aes_key_zvkned_128
    addi  a0, a0, .L_AES_BLOCK
    vle32.v v2, (a0)
    // Each instruction replaces the older of the two round keys.
    .irp round, 2, 4, 6, 8, 10, 12, 14
    vaeskf2.vi v1, v2, \round
    AES_KEY_ZVKNED_STORE v1
    .if \round < 14
    vaeskf2.vi v2, v1, \round + 1
    AES_KEY_ZVKNED_STORE v2
    .endif
    .endr
    j     .L_aes_key_zvkned_end

.L_aes_key_zvkned_128:
    .irp round, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    vaeskf1.vi v1, v1, \round
    AES_KEY_ZVKNED_STORE v1
    .endr

.L_aes_key_zvkned_end:
    AES_VECTOR_WIPE_REGISTERS
    ret
HARTLOCK_FUNCTION_END hartlock_aes_key_rv64_zvkned
