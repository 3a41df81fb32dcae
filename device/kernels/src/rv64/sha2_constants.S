// Constants that the scalar SHA-2 kernels for plain RV64I share. The table K is that of the portable implementation
// (sha2/compression.rs), hartlock_sha256_k and hartlock_sha512_k. The symbol below is hidden, because it is internal
// to the kernels.

// Masks for the byte swap without Zbb (SHA2_SWAP_FIELDS): the lower of every two adjacent bytes, and the lower of
// every two adjacent fields of two bytes.
.pushsection .rodata.hartlock_sha2_swap_masks, "a", @progbits
.globl  hartlock_sha2_swap_masks
.hidden hartlock_sha2_swap_masks
.type   hartlock_sha2_swap_masks, @object
.balign 8
hartlock_sha2_swap_masks:
    .dword 0x00ff00ff00ff00ff
    .dword 0x0000ffff0000ffff
    .size hartlock_sha2_swap_masks, . - hartlock_sha2_swap_masks
.popsection
