// void hartlock_aes_key_rv64_zkne(uint32_t (*keys)[4], size_t rounds)
//
// Key expansion of AES (FIPS 197 §5.2) in place, for the encryption. Needs RV64I and Zkne. Include frame_macros.S
// before this file.
//
//   a0  place of rounds + 1 round keys, 8-byte aligned, which starts with the key; every round key is written in the
//       order of its bytes
//   a1  rounds: 10 for a key of 128 bits, 12 for 192, 14 for 256
//
// Clobbers t0-t4. They are zero afterwards. No stack.
//
// Constant time: no branch and no address depends on the key, only on the arguments. aes64ks1i and aes64ks2 are in the
// list of Zkt.
//
//   t0-t3  the last two, three or four halves of round keys, as many as the key has
//   t4     the substituted word

// Computes \next from its predecessor and from the half as long before as the key is, and stores it.
.macro AES_KEY_ZKNE_NEXT next, before
    aes64ks2 \next, \before, \next
    sd    \next, .L_place(a0)
    .set .L_place, .L_place + 8
.endm

HARTLOCK_FUNCTION hartlock_aes_key_rv64_zkne, +zkne
    ld    t0, 0(a0)
    ld    t1, 8(a0)
    li    t4, 12
    bltu  a1, t4, .L_aes_key_zkne_128
    ld    t2, 16(a0)
    beq   a1, t4, .L_aes_key_zkne_192
    ld    t3, 24(a0)
    .set .L_place, 32
    // Immediates up to 9 select a constant and a rotation; 10 is a substitution alone.
    .irp constant, 0, 1, 2, 3, 4, 5, 6
    aes64ks1i t4, t3, \constant
    AES_KEY_ZKNE_NEXT t0, t4
    AES_KEY_ZKNE_NEXT t1, t0
    .if \constant < 6
    aes64ks1i t4, t1, 10
    AES_KEY_ZKNE_NEXT t2, t4
    AES_KEY_ZKNE_NEXT t3, t2
    .endif
    .endr
    j     .L_aes_key_zkne_end

.L_aes_key_zkne_192:
    .set .L_place, 24
    .irp constant, 0, 1, 2, 3, 4, 5, 6, 7
    aes64ks1i t4, t2, \constant
    AES_KEY_ZKNE_NEXT t0, t4
    AES_KEY_ZKNE_NEXT t1, t0
    .if \constant < 7
    AES_KEY_ZKNE_NEXT t2, t1
    .endif
    .endr
    j     .L_aes_key_zkne_end

.L_aes_key_zkne_128:
    .set .L_place, 16
    .irp constant, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
    aes64ks1i t4, t1, \constant
    AES_KEY_ZKNE_NEXT t0, t4
    AES_KEY_ZKNE_NEXT t1, t0
    .endr

.L_aes_key_zkne_end:
    .irp reg, t0, t1, t2, t3, t4
    li    \reg, 0
    .endr
    ret
HARTLOCK_FUNCTION_END hartlock_aes_key_rv64_zkne
