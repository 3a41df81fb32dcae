//! The SHA-2 of Linux: its two kernels, which compress whole blocks. Initial values and padding (FIPS 180-4 §5.1, §5.3) are
//! written here, because the kernel's own code around them needs the kernel.

use crate::hash::Hash;

pub const HASHES: &[(&str, Hash)] = &[
    ("sha256", sha256),
    ("sha384", |message, digest| sha512(SHA384, 48, message, digest)),
    ("sha512", |message, digest| sha512(SHA512, 64, message, digest)),
];

unsafe extern "C" {
    fn sha256_transform_zvknha_or_zvknhb_zvkb(state: *mut u32, data: *const u8, blocks: i32);
    fn sha512_transform_zvknhb_zvkb(state: *mut u64, data: *const u8, blocks: i32);
}

const SHA256: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];
const SHA384: [u64; 8] = [
    0xcbbb_9d5d_c105_9ed8,
    0x629a_292a_367c_d507,
    0x9159_015a_3070_dd17,
    0x152f_ecd8_f70e_5939,
    0x6733_2667_ffc0_0b31,
    0x8eb4_4a87_6858_1511,
    0xdb0c_2e0d_64f9_8fa7,
    0x47b5_481d_befa_4fa4,
];
const SHA512: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// Passes all blocks of a message to a compression: those of the message, and one or two with its end. `BLOCK` is the length
/// of a block, of which an eighth is for the length of the message.
fn blocks<const BLOCK: usize>(message: &[u8], mut compress: impl FnMut(&[u8])) {
    let (whole, rest) = message.split_at(message.len() / BLOCK * BLOCK);
    if !whole.is_empty() {
        compress(whole);
    }
    let mut last = [0; 2 * 128];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let len = if rest.len() < BLOCK - BLOCK / 8 { BLOCK } else { 2 * BLOCK };
    last[len - 8..len].copy_from_slice(&(8 * message.len() as u64).to_be_bytes());
    compress(&last[..len]);
}

fn sha256(message: &[u8], digest: &mut [u8; 64]) {
    let mut state = SHA256;
    blocks::<64>(message, |blocks| {
        let count = (blocks.len() / 64) as i32;
        // SAFETY: the state has eight words, and the blocks are not empty and as many as counted.
        unsafe {
            sha256_transform_zvknha_or_zvknhb_zvkb(state.as_mut_ptr(), blocks.as_ptr(), count)
        };
    });
    for (to, from) in digest.iter_mut().zip(state.iter().flat_map(|word| word.to_be_bytes())) {
        *to = from;
    }
}

fn sha512(initial: [u64; 8], len: usize, message: &[u8], digest: &mut [u8; 64]) {
    let mut state = initial;
    blocks::<128>(message, |blocks| {
        let count = (blocks.len() / 128) as i32;
        // SAFETY: the state has eight words, and the blocks are not empty and as many as counted.
        unsafe { sha512_transform_zvknhb_zvkb(state.as_mut_ptr(), blocks.as_ptr(), count) };
    });
    let bytes = state.iter().flat_map(|word| word.to_be_bytes());
    for (to, from) in digest[..len].iter_mut().zip(bytes) {
        *to = from;
    }
}
