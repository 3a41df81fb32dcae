//! Job 4: comparison of the kernels of AES with the portable form on the hart, and counts of their instructions.

/// Bytes of a counted text.
pub const COUNTED_LEN: usize = 64 << 10;
/// Lengths of the compared texts in bytes: around one block, and around one and two groups of blocks for every vector
/// register from 128 to 1024 bits, which take 64 to 512 bytes.
pub const LENGTHS: [usize; 41] = [
    0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 79, 80, 81, 127, 128, 129, 160,
    191, 192, 193, 255, 256, 257, 300, 511, 512, 513, 1000, 1023, 1024, 1025, 1535, 1600, 2213,
];
/// Numbers of blocks before the last four bytes of the counter wrap; 0 if they do not.
pub const BEFORE_WRAP: [u32; 8] = [0, 1, 2, 3, 5, 6, 18, 67];
/// Sizes of keys in bytes.
pub const KEY_SIZES: [usize; 3] = [16, 24, 32];
/// Number of comparisons of a tier in a mode.
pub const CASES: usize = KEY_SIZES.len() * LENGTHS.len() * BEFORE_WRAP.len();
