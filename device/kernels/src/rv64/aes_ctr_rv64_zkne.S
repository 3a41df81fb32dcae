// void hartlock_aes_ctr_rv64_zkne(const uint32_t (*keys)[4], size_t rounds, const uint8_t counter[16], uint8_t *data,
//                                 size_t len)
//
// AES in counter mode (SP 800-38A §6.5) in place, with the incrementing function inc_32 (SP 800-38D §6.2), which
// wraps in the last four bytes of the counter block. Needs RV64I, Zbkb (pack, rev8) and Zkne. Include frame_macros.S
// before this file.
//
//   a0  expanded key: rounds + 1 round keys, 8-byte aligned, each in the order of its bytes
//   a1  rounds: 10, 12 or 14               a2  first counter block, 8-byte aligned
//   a3  data, 8-byte aligned               a4  len, a multiple of 64; if it is 0, only the keys and the counter are read
//
// Clobbers t0-t6 and a1-a7. All of them hold nothing secret afterwards, and neither does the stack of 48 bytes, which
// has the registers of the caller.
//
// Constant time: no branch and no address depends on key, counter or data, only on the arguments a0-a4. The
// instructions on them are in the list of Zkt.
//
// Four blocks share each load of a round key. A round of a block has two instructions aes64esm, one for each half,
// and two additions of the round key: 294 instructions for 64 bytes with AES-256.
//
//   a5 a6, a7 t0, t1 t2, t3 t4   low and high half of each block      t5     scratch
//   t6, s0                       the round key
//   a1                           address from which the last round key has a fixed offset
//   a2, s4                       counter, and the four bytes before it as a number
//   s1, s2                       low half of the counter blocks with the first round key, high half of that key
//   s3                           address of the third round for this number of rounds
//
// The low halves of the four counter blocks are equal until the first round.

.set .L_AES_ZKNE_BLOCKS, 4
.set .L_AES_ZKNE_KEY, 16
.set .L_AES_ZKNE_KEY_SHIFT, 4
.set .L_AES_ZKNE_MAX_ROUNDS, 14
// A round has two loads, and four instructions for each block.
.set .L_AES_ZKNE_ROUND_BYTES, 4 * (2 + 4 * .L_AES_ZKNE_BLOCKS)
.set .L_AES_ZKNE_FRAME, 48

// Applies \instruction to a register and its place in the frame.
.macro AES_ZKNE_EACH_SAVED instruction
    \instruction s0, 0(sp)
    \instruction s1, 8(sp)
    \instruction s2, 16(sp)
    \instruction s3, 24(sp)
    \instruction s4, 32(sp)
.endm

// Applies \macro to the halves of each block, and to the number of the block.
.macro AES_ZKNE_EACH_BLOCK macro
    \macro a5, a6, 0
    \macro a7, t0, 1
    \macro t1, t2, 2
    \macro t3, t4, 3
.endm

// Makes the high half of a counter block, with the first round key.
.macro AES_ZKNE_COUNTER low, high, number
    addiw \high, a2, \number
    pack  \high, \high, s4
    rev8  \high, \high
    xor   \high, \high, s2
.endm

// Computes the first round, whose low half is in s1.
.macro AES_ZKNE_FIRST_ROUND low, high, number
    aes64esm \low, s1, \high
    aes64esm \high, \high, s1
    xor   \low, \low, t6
    xor   \high, \high, s0
.endm

// Computes another round with \instruction (FIPS 197 §5.1).
.macro AES_ZKNE_ROUND_WITH instruction, low, high
    \instruction t5, \low, \high
    \instruction \high, \high, \low
    xor   \low, t5, t6
    xor   \high, \high, s0
.endm
.macro AES_ZKNE_ROUND low, high, number
    AES_ZKNE_ROUND_WITH aes64esm, \low, \high
.endm
.macro AES_ZKNE_LAST_ROUND low, high, number
    AES_ZKNE_ROUND_WITH aes64es, \low, \high
.endm

.macro AES_ZKNE_LOAD_KEY offset, keys
    ld    t6, (\offset) * .L_AES_ZKNE_KEY(\keys)
    ld    s0, (\offset) * .L_AES_ZKNE_KEY + 8(\keys)
.endm

// XORs a block to the data.
.macro AES_ZKNE_XOR low, high, number
    ld    t5, (\number) * 16(a3)
    ld    t6, (\number) * 16 + 8(a3)
    xor   \low, \low, t5
    xor   \high, \high, t6
    sd    \low, (\number) * 16(a3)
    sd    \high, (\number) * 16 + 8(a3)
.endm

HARTLOCK_FUNCTION hartlock_aes_ctr_rv64_zkne, +zbkb, +zkne
    // All rounds must have the same size, and the linker must not change them.
    .option norvc
    .option norelax
    addi  sp, sp, -.L_AES_ZKNE_FRAME
    AES_ZKNE_EACH_SAVED sd

    // Fewer rounds skip the first ones of the code. The distance from the last round key stays the same.
    li    t0, .L_AES_ZKNE_MAX_ROUNDS
    sub   t0, t0, a1
    slli  t1, t0, .L_AES_ZKNE_KEY_SHIFT
    sub   a1, a0, t1
    li    t1, .L_AES_ZKNE_ROUND_BYTES
    lla   s3, .L_aes_zkne_rounds
    beqz  t0, .L_aes_zkne_start
.L_aes_zkne_skip:
    add   s3, s3, t1
    addi  t0, t0, -1
    bnez  t0, .L_aes_zkne_skip

.L_aes_zkne_start:
    ld    s1, (a2)
    ld    t0, 8(a2)
    rev8  t0, t0
    srli  s4, t0, 32
    mv    a2, t0
    ld    t1, (a0)
    ld    s2, 8(a0)
    xor   s1, s1, t1
    add   a4, a4, a3
    beq   a3, a4, .L_aes_zkne_end
.L_aes_zkne_blocks:
    AES_ZKNE_EACH_BLOCK AES_ZKNE_COUNTER
    addiw a2, a2, .L_AES_ZKNE_BLOCKS
    AES_ZKNE_LOAD_KEY 1, a0
    AES_ZKNE_EACH_BLOCK AES_ZKNE_FIRST_ROUND
    jr    s3
.L_aes_zkne_rounds:
    .set .L_round, 2
    .rept .L_AES_ZKNE_MAX_ROUNDS - 2
    AES_ZKNE_LOAD_KEY .L_round, a1
    AES_ZKNE_EACH_BLOCK AES_ZKNE_ROUND
    .set .L_round, .L_round + 1
    .endr
    AES_ZKNE_LOAD_KEY .L_AES_ZKNE_MAX_ROUNDS, a1
    AES_ZKNE_EACH_BLOCK AES_ZKNE_LAST_ROUND
    AES_ZKNE_EACH_BLOCK AES_ZKNE_XOR
    addi  a3, a3, .L_AES_ZKNE_BLOCKS * 16
    bne   a3, a4, .L_aes_zkne_blocks
.L_aes_zkne_end:
    AES_ZKNE_EACH_SAVED ld
    .irp reg, a2, a5, a6, a7, t0, t1, t2, t3, t4, t5, t6
    li    \reg, 0
    .endr
    addi  sp, sp, .L_AES_ZKNE_FRAME
    ret
HARTLOCK_FUNCTION_END hartlock_aes_ctr_rv64_zkne
