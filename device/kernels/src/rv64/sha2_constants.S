// What the scalar SHA-2 kernels of plain RV64I share. K is the table of the portable form (sha2.rs):
// hartlock_sha256_k and hartlock_sha512_k. The symbol is hidden: it is no interface.

// Byte order without Zbb, for SHA2_SWAP_FIELDS: the lower of every two neighbouring bytes, and the
// lower of every two neighbouring fields of two bytes.
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
