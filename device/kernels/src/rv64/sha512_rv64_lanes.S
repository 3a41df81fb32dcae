// void hartlock_sha512_rv64_v(uint64_t (*states)[8], const uint8_t *const *messages,
//                             size_t count, size_t n)
// void hartlock_sha512_rv64_zvbb: the same with Zvkb
//
// SHA-384 and SHA-512 compression (FIPS 180-4 §6.4.2) of `count` blocks of 128 bytes of each of `n`
// messages. Both need RV64I and the vector extension (Zve64x is enough, with VLEN >= 128), and the
// second one Zvkb (vrev8, vror), which is a subset of Zvbb. Include frame_macros.S, lanes_macros.S and
// sha2_lanes_macros.S before this file.
//
//   a0  states, consecutive, 8-byte aligned, updated in place
//   a1  messages: n pointers to count * 128 bytes, 8-byte aligned, read only. Pointers may be equal.
//   a2  count; if it is 0, nothing is accessed   a3  n, 1 to VLEN / 64
//
// Clobbers t0-t3, t6, a2, a4-a6, v0-v31, vl and vtype. No stack.
// Constant time: no branch and no address depends on message or state, only on the arguments. The
// vector instructions on them are in the list of Zvkt.

.set .L_LANES_HAVE_ZVKB, 0
HARTLOCK_FUNCTION hartlock_sha512_rv64_v, +zve64x
    SHA2_LANES_KERNEL 64, SHA512, sha512_v, hartlock_sha512_k
HARTLOCK_FUNCTION_END hartlock_sha512_rv64_v

.set .L_LANES_HAVE_ZVKB, 1
HARTLOCK_FUNCTION hartlock_sha512_rv64_zvbb, +zve64x, +zvkb
    SHA2_LANES_KERNEL 64, SHA512, sha512_zvbb, hartlock_sha512_k
HARTLOCK_FUNCTION_END hartlock_sha512_rv64_zvbb
