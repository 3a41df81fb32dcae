// Round constants of the scalar Keccak kernels. All tiers share this file.
//
// The constants are RC[0] to RC[23] of FIPS 202 §3.2.5. A permutation with fewer rounds uses the
// last ones, because the first round index of Keccak-p is 24 minus the number of rounds (§3.3,
// algorithm 7). The symbol is hidden, because it is internal to the kernels.

.pushsection .rodata.hartlock_keccak_rc, "a", @progbits
.globl  hartlock_keccak_rc
.hidden hartlock_keccak_rc
.type   hartlock_keccak_rc, @object
.balign 8
hartlock_keccak_rc:
    // rounds 0 to 3
    .dword 0x0000000000000001, 0x0000000000008082
    .dword 0x800000000000808a, 0x8000000080008000
    // rounds 4 to 7
    .dword 0x000000000000808b, 0x0000000080000001
    .dword 0x8000000080008081, 0x8000000000008009
    // rounds 8 to 11
    .dword 0x000000000000008a, 0x0000000000000088
    .dword 0x0000000080008009, 0x000000008000000a
    // rounds 12 to 15
    .dword 0x000000008000808b, 0x800000000000008b
    .dword 0x8000000000008089, 0x8000000000008003
    // rounds 16 to 19
    .dword 0x8000000000008002, 0x8000000000000080
    .dword 0x000000000000800a, 0x800000008000000a
    // rounds 20 to 23
    .dword 0x8000000080008081, 0x8000000000008080
    .dword 0x0000000080000001, 0x8000000080008008
    .size hartlock_keccak_rc, . - hartlock_keccak_rc
.popsection
