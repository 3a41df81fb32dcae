//! Functions on KECCAK-p\[1600\] with outputs of any length: SHAKE (FIPS 202 §6.2), cSHAKE (SP 800-185 §3), and also
//! SHA3-224 (FIPS 202 §6.1), whose output is shorter than those in [`crate::sha3`].
//!
//! Boot stages do not use this module, because each payload digest has a fixed length.

use crate::Kernels;
use crate::keccak::{FULL_ROUNDS, RATE_128, RATE_256, Sponge};
use crate::parallelhash::left_encode;

/// Rate of SHA3-224 in words, which is 144 bytes.
const RATE_224: usize = 18;

/// The state of a function that absorbs its message in pieces.
#[derive(Clone)]
pub struct Xof {
    sponge: Sponge,
    /// Domain separation bits and the first bit of the padding.
    suffix: u8,
}

impl Xof {
    /// Makes a state of SHAKE128.
    pub const fn shake128(kernels: &Kernels) -> Self {
        Self { sponge: Sponge::new(kernels, RATE_128, FULL_ROUNDS), suffix: 0x1f }
    }

    /// Makes a state of SHAKE256.
    pub const fn shake256(kernels: &Kernels) -> Self {
        Self { sponge: Sponge::new(kernels, RATE_256, FULL_ROUNDS), suffix: 0x1f }
    }

    /// Makes a state of SHA3-224. Its digest is the first 28 bytes of output.
    pub const fn sha3_224(kernels: &Kernels) -> Self {
        Self { sponge: Sponge::new(kernels, RATE_224, FULL_ROUNDS), suffix: 0x06 }
    }

    /// Makes a state of cSHAKE128 with function name N and customization string S.
    pub fn cshake128(kernels: &Kernels, function_name: &[u8], customization: &[u8]) -> Self {
        Self::shake128(kernels).customized(RATE_128, function_name, customization)
    }

    /// Makes a state of cSHAKE256 with function name N and customization string S.
    pub fn cshake256(kernels: &Kernels, function_name: &[u8], customization: &[u8]) -> Self {
        Self::shake256(kernels).customized(RATE_256, function_name, customization)
    }

    /// Absorbs `bytepad(encode_string(N) ‖ encode_string(S), rate)`. If both strings are empty, the function is SHAKE
    /// and absorbs nothing (SP 800-185 §3.3).
    fn customized(mut self, rate_words: usize, name: &[u8], customization: &[u8]) -> Self {
        if name.is_empty() && customization.is_empty() {
            return self;
        }
        self.update(left_encode(rate_words.wrapping_mul(8) as u64).as_ref());
        for string in [name, customization] {
            self.update_string(string);
        }
        self.sponge.pad_block();
        self.suffix = 0x04;
        self
    }

    /// Appends `data` to the message. Its length is not limited.
    pub fn update(&mut self, data: &[u8]) {
        self.sponge.absorb(data);
    }

    /// Appends `encode_string(data)` to the message, which is the length of `data` in bits, followed by `data` (SP
    /// 800-185 §2.3.2).
    pub fn update_string(&mut self, data: &[u8]) {
        self.update(left_encode((data.len() as u64).wrapping_mul(8)).as_ref());
        self.update(data);
    }

    /// Appends zeros up to the end of a block, which is the end of `bytepad` (SP 800-185 §2.3.3).
    pub fn pad_block(&mut self) {
        self.sponge.pad_block();
    }

    /// Ends the message and returns its output.
    pub fn finalize(self) -> Output {
        Output::of(self.sponge, self.suffix)
    }
}

/// The output of a function, starting at its first byte.
#[derive(Clone)]
pub struct Output(Sponge);

impl Output {
    /// Ends the message of a sponge and returns its output.
    pub(crate) fn of(mut sponge: Sponge, suffix: u8) -> Self {
        sponge.end(suffix);
        Self(sponge)
    }

    /// Fills `output` with the next bytes of output.
    pub fn read(&mut self, output: &mut [u8]) {
        self.0.squeeze(output);
    }
}
