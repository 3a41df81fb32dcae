//! Functions on KECCAK-p\[1600\] with outputs of any length: SHAKE (FIPS 202 §6.2), cSHAKE (SP 800-185
//! §3), and SHA3-224, whose output is shorter than that of any hash in [`crate::sha3`] (FIPS 202 §6.1).
//!
//! No boot stage needs one: payload digests have one length each.

use crate::Kernels;
use crate::keccak::{FULL_ROUNDS, RATE_128, RATE_256, Sponge};
use crate::parallelhash::left_encode;

/// Words of the rate of SHA3-224: 144 bytes.
const RATE_224: usize = 18;

/// A function that takes its message in pieces.
#[derive(Clone)]
pub struct Xof {
    sponge: Sponge,
    /// The domain's bits and the first bit of the padding.
    suffix: u8,
}

impl Xof {
    /// SHAKE128.
    pub const fn shake128(kernels: &Kernels) -> Self {
        Self { sponge: Sponge::new(kernels, RATE_128, FULL_ROUNDS), suffix: 0x1f }
    }

    /// SHAKE256.
    pub const fn shake256(kernels: &Kernels) -> Self {
        Self { sponge: Sponge::new(kernels, RATE_256, FULL_ROUNDS), suffix: 0x1f }
    }

    /// SHA3-224, if 28 bytes are taken.
    pub const fn sha3_224(kernels: &Kernels) -> Self {
        Self { sponge: Sponge::new(kernels, RATE_224, FULL_ROUNDS), suffix: 0x06 }
    }

    /// cSHAKE128 with function name N and customization string S.
    pub fn cshake128(kernels: &Kernels, function_name: &[u8], customization: &[u8]) -> Self {
        Self::shake128(kernels).customized(RATE_128, function_name, customization)
    }

    /// cSHAKE256 with function name N and customization string S.
    pub fn cshake256(kernels: &Kernels, function_name: &[u8], customization: &[u8]) -> Self {
        Self::shake256(kernels).customized(RATE_256, function_name, customization)
    }

    /// Starts with `bytepad(encode_string(N) ‖ encode_string(S), rate)`, unless both are empty: then
    /// it is SHAKE (SP 800-185 §3.3).
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

    /// Appends `data`, of any length, to the message.
    pub fn update(&mut self, data: &[u8]) {
        self.sponge.absorb(data);
    }

    /// Appends `encode_string(data)` (SP 800-185 §2.3.2): its length in bits, and it.
    pub fn update_string(&mut self, data: &[u8]) {
        self.update(left_encode((data.len() as u64).wrapping_mul(8)).as_ref());
        self.update(data);
    }

    /// Appends zeros up to the end of a block: the end of `bytepad` (SP 800-185 §2.3.3).
    pub fn pad_block(&mut self) {
        self.sponge.pad_block();
    }

    /// Ends the message.
    pub fn finalize(self) -> Output {
        Output::of(self.sponge, self.suffix)
    }
}

/// The output, from its first byte on.
#[derive(Clone)]
pub struct Output(Sponge);

impl Output {
    /// Ends the message of a sponge.
    pub(crate) fn of(mut sponge: Sponge, suffix: u8) -> Self {
        sponge.end(suffix);
        Self(sponge)
    }

    /// Fills `output` with the next bytes.
    pub fn read(&mut self, output: &mut [u8]) {
        self.0.squeeze(output);
    }
}
