// void hartlock_keccak_rv64_v(uint64_t (*states)[25], const uint8_t *const *messages,
//                             size_t count, size_t n, size_t rate_words, size_t rounds)
// void hartlock_keccak_rv64_zvbb: the same with Zvkb
//
// Absorbs `count` blocks into each of `n` sponges. A block is XORed into the first `rate_words`
// words of the state, then the state is permuted by Keccak-p[1600, rounds] (FIPS 202 §3.3, §4; RFC
// 9861 §2.1 for 12 rounds). Lane i of every vector register belongs to sponge i. Both need RV64I and
// the vector extension (Zve64x is enough, with VLEN >= 128), and the second one Zvkb (vandn, vror),
// which is a subset of Zvbb. Include frame_macros.S, lanes_macros.S and keccak_lanes_macros.S before
// this file.
//
//   a0  states, consecutive, 8-byte aligned; word x + 5y of a state is A[x,y]
//   a1  messages: n pointers to count * rate_words * 8 bytes, 8-byte aligned, read only. Pointers may
//       be equal. If rate_words is 0, neither the pointers nor the bytes are read, and the states
//       are only permuted.
//   a2  count; if it is 0, nothing is accessed
//   a3  n, 1 to VLEN / 64                  a4  rate_words, 0 to 21
//   a5  rounds, even, 2 to 24: the last ones of the 24 (24 for SHA-3, 12 for TurboSHAKE and KT128)
//
// Clobbers t0-t6, a4-a7, v0-v31, vl and vtype. No stack.
// Constant time: no branch and no address depends on message or state, only on the arguments. The
// vector instructions on the state are in the list of Zvkt.

.set .L_LANES_HAVE_ZVKB, 0
HARTLOCK_FUNCTION hartlock_keccak_rv64_v, +zve64x
    KECCAK_LANES_KERNEL keccak_v
HARTLOCK_FUNCTION_END hartlock_keccak_rv64_v

.set .L_LANES_HAVE_ZVKB, 1
HARTLOCK_FUNCTION hartlock_keccak_rv64_zvbb, +zve64x, +zvkb
    KECCAK_LANES_KERNEL keccak_zvbb
HARTLOCK_FUNCTION_END hartlock_keccak_rv64_zvbb
