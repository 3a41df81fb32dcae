//! The assembly files of a stage, and the prototypes that their first lines state.
//!
//! A prototype is declared even if its file is not assembled. In that case the table row is an unused constant, so
//! that no reference to the symbol remains.

use core::arch::global_asm;

global_asm!(include_str!("probe_macros.S"), include_str!("probes.S"));

#[allow(unused_macros, reason = "not every stage carries kernels")]
/// Assembles files in the given order, so that macros are defined before their use.
macro_rules! assemble {
    ($($file:literal)*) => {
        global_asm!($(include_str!(concat!($file, ".S"))),*, options(raw));
    };
}

#[cfg(feature = "scalar")]
assemble!("sha2_constants");
#[cfg(any(feature = "scalar", feature = "zbb"))]
assemble!("keccak_constants");
// The files of Keccak have a second function for ML-DSA.
#[cfg(feature = "ml-dsa")]
global_asm!(".set .L_HARTLOCK_KECCAK_SQUEEZES, 1");
#[cfg(feature = "scalar")]
assemble!("frame_macros" "sha2_macros" "sha256_rv64" "sha512_rv64" "keccak_macros" "keccak_rv64");
#[cfg(all(feature = "scalar", feature = "rsa"))]
assemble!("frame_macros" "rsa_rv64");
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
assemble!("frame_macros" "ed25519_rv64");
#[cfg(all(feature = "scalar", feature = "ml-dsa"))]
assemble!("frame_macros" "ml_dsa_rv64");
#[cfg(feature = "zbb")]
assemble!("frame_macros" "sha2_macros" "sha256_rv64_zbb" "sha512_rv64_zbb" "keccak_macros" "keccak_rv64_zbb");
#[cfg(feature = "zknh")]
assemble!("frame_macros" "sha2_macros" "sha256_rv64_zknh" "sha512_rv64_zknh");
#[cfg(any(feature = "v", feature = "zvbb"))]
assemble!("frame_macros" "lanes_macros" "sha2_lanes_macros" "sha256_rv64_lanes" "sha512_rv64_lanes");
#[cfg(any(feature = "v", feature = "zvbb"))]
assemble!("frame_macros" "lanes_macros" "keccak_lanes_macros" "keccak_rv64_lanes");
#[cfg(feature = "zvknh")]
assemble!("frame_macros" "sha2_zvknh_macros" "sha256_rv64_zvknha" "sha512_rv64_zvknhb");
#[cfg(all(feature = "aes-ctr", any(feature = "zkne", feature = "zvkned")))]
assemble!("frame_macros" "probe_macros" "aes_probes");
#[cfg(all(feature = "aes-ctr", feature = "zkne"))]
assemble!("frame_macros" "aes_key_rv64_zkne" "aes_ctr_rv64_zkne" "ghash_rv64_zbkc");
#[cfg(all(feature = "aes-ctr", feature = "zvkned"))]
assemble!("frame_macros" "aes_vector_macros" "aes_key_rv64_zvkned" "aes_ctr_rv64_zvkned" "aes_gcm_rv64_zvkg" "ghash_rv64_zvbc");
#[cfg(feature = "research")]
assemble!("frame_macros" "probe_macros" "walnut_probes");
#[cfg(feature = "research")]
assemble!("frame_macros" "walnut_macros" "walnut_rv64" "walnut_rv64_zbc");
#[cfg(feature = "research")]
assemble!("frame_macros" "walnut_macros" "walnut_vector_macros" "walnut_rv64_zvbc" "walnut_rv64_v");

/// A function that executes every instruction of an extension that a kernel uses. It preserves all state that the
/// calling convention requires.
pub(super) type Instructions = unsafe extern "C" fn();

/// A kernel that compresses `count` aligned blocks into a state.
pub(super) type Sha2One<W, const N: usize> =
    unsafe extern "C" fn(state: *mut [W; 8], blocks: *const [u8; N], count: usize);

/// A kernel that compresses `count` aligned blocks of each of `n` messages into `n` states.
pub(super) type Sha2Many<W, const N: usize> = unsafe extern "C" fn(
    states: *mut [W; 8],
    messages: *const *const [u8; N],
    count: usize,
    n: usize,
);

/// A kernel that absorbs `count` aligned blocks of `rate_words * 8` bytes into a state.
pub(super) type KeccakOne = unsafe extern "C" fn(
    state: *mut [u64; 25],
    blocks: *const u8,
    count: usize,
    rate_words: usize,
    rounds: usize,
);

/// A kernel that permutes a state `count` times and stores the first 21 lanes after each time except for the last.
#[cfg(feature = "ml-dsa")]
pub(super) type KeccakSqueeze =
    unsafe extern "C" fn(state: *mut [u64; 25], blocks: *mut [u64; 21], count: usize);

/// A kernel that absorbs `count` aligned blocks of each of `n` messages into `n` states.
pub(super) type KeccakMany = unsafe extern "C" fn(
    states: *mut [u64; 25],
    messages: *const *const u8,
    count: usize,
    n: usize,
    rate_words: usize,
    rounds: usize,
);

/// A kernel that expands the key in front of the place of its `rounds` + 1 round keys.
#[cfg(feature = "aes-ctr")]
pub(super) type AesKeySchedule = unsafe extern "C" fn(keys: *mut [u32; 4], rounds: usize);

/// A kernel that XORs the key stream of AES to `len` bytes.
#[cfg(feature = "aes-ctr")]
pub(super) type AesCtr = unsafe extern "C" fn(
    keys: *const [u32; 4],
    rounds: usize,
    counter: *const [u8; 16],
    data: *mut u8,
    len: usize,
);

/// A kernel that adds `len` bytes to a hash.
#[cfg(feature = "aes")]
pub(super) type GhashFunction = unsafe extern "C" fn(
    hash_key: *const [u8; 16],
    hash: *mut [u8; 16],
    data: *const u8,
    len: usize,
);

/// A kernel that adds `len` bytes to a hash, and XORs the key stream of AES to them.
#[cfg(feature = "aes")]
pub(super) type AesGcm = unsafe extern "C" fn(
    keys: *const [u32; 4],
    rounds: usize,
    counter: *const [u8; 16],
    hash_key: *const [u8; 16],
    hash: *mut [u8; 16],
    text: *mut u8,
    len: usize,
);

/// A kernel that multiplies a matrix by the matrices of `count` generators of WalnutDSA.
#[cfg(feature = "research")]
pub(super) type EMultiply = unsafe extern "C" fn(
    matrix: *mut [u64; 8],
    values: *const [*const u64; 8],
    word: *const u8,
    count: usize,
);

unsafe extern "C" {
    pub(super) fn hartlock_probe_zbb();
    pub(super) fn hartlock_probe_zknh();
    pub(super) fn hartlock_probe_lanes();
    pub(super) fn hartlock_probe_zvkb();
    pub(super) fn hartlock_probe_zvknha();
    pub(super) fn hartlock_probe_zvknhb();
    /// Returns the length of a vector register in bytes (CSR `vlenb`).
    pub(super) fn hartlock_vlenb() -> usize;
}

#[cfg(all(feature = "scalar", feature = "rsa"))]
unsafe extern "C" {
    pub(super) fn hartlock_rsa_rv64(
        sum: *mut u64,
        a: *const [u64; 6],
        count: usize,
        b: *const [u64; 6],
        start: *const [u64; 6],
    );
}

#[cfg(feature = "ml-dsa")]
unsafe extern "C" {
    pub(super) fn hartlock_keccak_squeeze_rv64(
        state: *mut [u64; 25],
        blocks: *mut [u64; 21],
        count: usize,
    );
    pub(super) fn hartlock_keccak_squeeze_rv64_zbb(
        state: *mut [u64; 25],
        blocks: *mut [u64; 21],
        count: usize,
    );
}

#[cfg(all(feature = "scalar", feature = "ml-dsa"))]
unsafe extern "C" {
    pub(super) fn hartlock_ml_dsa_forward_rv64(
        w: *mut [u64; 256],
        zetas: *const [[u64; 15]; 17],
        to: *mut [u32; 256],
    );
    pub(super) fn hartlock_ml_dsa_multiply_rv64(
        w: *mut [u64; 256],
        zetas: *const [[u64; 15]; 17],
        factor: *const [u32; 256],
    );
    pub(super) fn hartlock_ml_dsa_inverse_rv64(
        w: *mut [u64; 256],
        zetas: *const [[u64; 15]; 17],
        constants: *const [u64; 3],
    );
}

// These functions do not use the C calling convention; their file describes it.
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
unsafe extern "C" {
    pub(super) fn hartlock_ed25519_multiply_rv64();
    pub(super) fn hartlock_ed25519_square_rv64();
}

unsafe extern "C" {
    pub(super) fn hartlock_sha256_rv64(state: *mut [u32; 8], blocks: *const [u8; 64], count: usize);
    pub(super) fn hartlock_sha256_rv64_zbb(
        state: *mut [u32; 8],
        blocks: *const [u8; 64],
        count: usize,
    );
    pub(super) fn hartlock_sha256_rv64_zknh(
        state: *mut [u32; 8],
        blocks: *const [u8; 64],
        count: usize,
    );
    pub(super) fn hartlock_sha256_rv64_zvknha(
        state: *mut [u32; 8],
        blocks: *const [u8; 64],
        count: usize,
    );
    pub(super) fn hartlock_sha256_rv64_v(
        states: *mut [u32; 8],
        messages: *const *const [u8; 64],
        count: usize,
        n: usize,
    );
    pub(super) fn hartlock_sha256_rv64_zvbb(
        states: *mut [u32; 8],
        messages: *const *const [u8; 64],
        count: usize,
        n: usize,
    );
    pub(super) fn hartlock_sha256_rv64_zvknha_streams(
        states: *mut [u32; 8],
        messages: *const *const [u8; 64],
        count: usize,
        n: usize,
    );
    pub(super) fn hartlock_sha512_rv64(
        state: *mut [u64; 8],
        blocks: *const [u8; 128],
        count: usize,
    );
    pub(super) fn hartlock_sha512_rv64_zbb(
        state: *mut [u64; 8],
        blocks: *const [u8; 128],
        count: usize,
    );
    pub(super) fn hartlock_sha512_rv64_zknh(
        state: *mut [u64; 8],
        blocks: *const [u8; 128],
        count: usize,
    );
    pub(super) fn hartlock_sha512_rv64_zvknhb(
        state: *mut [u64; 8],
        blocks: *const [u8; 128],
        count: usize,
    );
    pub(super) fn hartlock_sha512_rv64_v(
        states: *mut [u64; 8],
        messages: *const *const [u8; 128],
        count: usize,
        n: usize,
    );
    pub(super) fn hartlock_sha512_rv64_zvbb(
        states: *mut [u64; 8],
        messages: *const *const [u8; 128],
        count: usize,
        n: usize,
    );
    pub(super) fn hartlock_sha512_rv64_zvknhb_streams(
        states: *mut [u64; 8],
        messages: *const *const [u8; 128],
        count: usize,
        n: usize,
    );
    pub(super) fn hartlock_keccak_rv64(
        state: *mut [u64; 25],
        blocks: *const u8,
        count: usize,
        rate_words: usize,
        rounds: usize,
    );
    pub(super) fn hartlock_keccak_rv64_zbb(
        state: *mut [u64; 25],
        blocks: *const u8,
        count: usize,
        rate_words: usize,
        rounds: usize,
    );
    pub(super) fn hartlock_keccak_rv64_v(
        states: *mut [u64; 25],
        messages: *const *const u8,
        count: usize,
        n: usize,
        rate_words: usize,
        rounds: usize,
    );
    pub(super) fn hartlock_keccak_rv64_zvbb(
        states: *mut [u64; 25],
        messages: *const *const u8,
        count: usize,
        n: usize,
        rate_words: usize,
        rounds: usize,
    );
}

#[cfg(feature = "aes-ctr")]
unsafe extern "C" {
    pub(super) fn hartlock_probe_zkne();
    pub(super) fn hartlock_aes_key_rv64_zkne(keys: *mut [u32; 4], rounds: usize);
    pub(super) fn hartlock_aes_ctr_rv64_zkne(
        keys: *const [u32; 4],
        rounds: usize,
        counter: *const [u8; 16],
        data: *mut u8,
        len: usize,
    );
    pub(super) fn hartlock_probe_zvkned();
    pub(super) fn hartlock_aes_key_rv64_zvkned(keys: *mut [u32; 4], rounds: usize);
    pub(super) fn hartlock_aes_ctr_rv64_zvkned(
        keys: *const [u32; 4],
        rounds: usize,
        counter: *const [u8; 16],
        data: *mut u8,
        len: usize,
    );
}

#[cfg(feature = "aes")]
unsafe extern "C" {
    pub(super) fn hartlock_probe_zkne_zbkc();
    pub(super) fn hartlock_ghash_rv64_zbkc(
        hash_key: *const [u8; 16],
        hash: *mut [u8; 16],
        data: *const u8,
        len: usize,
    );
    pub(super) fn hartlock_probe_zvkned_zvbc();
    pub(super) fn hartlock_ghash_rv64_zvbc(
        hash_key: *const [u8; 16],
        hash: *mut [u8; 16],
        data: *const u8,
        len: usize,
    );
    pub(super) fn hartlock_probe_zvkned_zvkg();
    pub(super) fn hartlock_ghash_rv64_zvkg(
        hash_key: *const [u8; 16],
        hash: *mut [u8; 16],
        data: *const u8,
        len: usize,
    );
    pub(super) fn hartlock_aes_gcm_rv64_zvkg(
        keys: *const [u32; 4],
        rounds: usize,
        counter: *const [u8; 16],
        hash_key: *const [u8; 16],
        hash: *mut [u8; 16],
        text: *mut u8,
        len: usize,
    );
}

#[cfg(feature = "research")]
unsafe extern "C" {
    pub(super) fn hartlock_probe_zbc();
    pub(super) fn hartlock_probe_zvbc();
    pub(super) fn hartlock_probe_v();
    pub(super) fn hartlock_walnut128_rv64(
        matrix: *mut [u64; 8],
        values: *const [*const u64; 8],
        word: *const u8,
        count: usize,
    );
    pub(super) fn hartlock_walnut256_rv64(
        matrix: *mut [u64; 8],
        values: *const [*const u64; 8],
        word: *const u8,
        count: usize,
    );
    pub(super) fn hartlock_walnut128_rv64_zbc(
        matrix: *mut [u64; 8],
        values: *const [*const u64; 8],
        word: *const u8,
        count: usize,
    );
    pub(super) fn hartlock_walnut256_rv64_zbc(
        matrix: *mut [u64; 8],
        values: *const [*const u64; 8],
        word: *const u8,
        count: usize,
    );
    pub(super) fn hartlock_walnut128_rv64_zvbc(
        matrix: *mut [u64; 8],
        values: *const [*const u64; 8],
        word: *const u8,
        count: usize,
    );
    pub(super) fn hartlock_walnut256_rv64_zvbc(
        matrix: *mut [u64; 8],
        values: *const [*const u64; 8],
        word: *const u8,
        count: usize,
    );
    pub(super) fn hartlock_walnut128_rv64_v(
        matrix: *mut [u64; 8],
        values: *const [*const u64; 8],
        word: *const u8,
        count: usize,
    );
    pub(super) fn hartlock_walnut256_rv64_v(
        matrix: *mut [u64; 8],
        values: *const [*const u64; 8],
        word: *const u8,
        count: usize,
    );
}
