//! SHA3-256, SHA3-384 and SHA3-512, and the extendable-output functions SHAKE128 and SHAKE256 with
//! one fixed output length each (FIPS 202).

pub use crate::keccak::permutation::ROUND_CONSTANTS;
use crate::keccak::{self, FULL_ROUNDS, RATE_128, RATE_256, Sponge, first};
use crate::{Hash, HashMany, Kernels};

// A suffix holds the domain separation bits, starting at the least significant bit, followed by the
// first bit of the padding: 01 and 1 for SHA-3, 1111 and 1 for SHAKE (§6.1, §6.2, §B.2).

macro_rules! sha3_hash {
    (
        $(#[$doc:meta])*
        $name:ident, $rate_words:expr, $output_len:literal, $suffix:literal, $kat:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Sponge);

        impl $name {
            /// The digest of `abc`, as published with the standard.
            pub const KAT: [u8; $output_len] = $kat;

            /// Runs the known-answer test: true if the digest of `abc` is [`Self::KAT`].
            pub fn self_test() -> bool {
                crate::hash::digest_of_abc::<Self>() == Self::KAT
            }
        }

        impl Hash for $name {
            const OUTPUT_LEN: usize = $output_len;
            type Output = [u8; $output_len];

            fn with(kernels: &Kernels) -> Self {
                Self(Sponge::new(kernels, $rate_words, FULL_ROUNDS))
            }

            fn update(&mut self, data: &[u8]) {
                self.0.absorb(data);
            }

            fn finalize(self) -> Self::Output {
                first(self.0.finalize($suffix))
            }
        }

        impl HashMany for $name {
            fn lanes(kernels: &Kernels) -> usize {
                kernels.keccak.lanes()
            }

            fn digest_many(
                kernels: &Kernels,
                heads: &[&[u8]],
                bodies: &[&[u8]],
                on_digest: &mut dyn FnMut(usize, Self::Output),
            ) {
                const RATE: usize = 8 * $rate_words;
                let on = &mut |index, output| on_digest(index, first(output));
                keccak::digest_many::<RATE>(kernels, FULL_ROUNDS, $suffix, heads, bodies, on);
            }
        }
    };
}

sha3_hash! {
    /// SHA3-256 (FIPS 202 §6.1): rate 136 bytes, 32-byte digest.
    Sha3_256, RATE_256, 32, 0x06,
    *b"\x3a\x98\x5d\xa7\x4f\xe2\x25\xb2\x04\x5c\x17\x2d\x6b\xd3\x90\xbd\
       \x85\x5f\x08\x6e\x3e\x9d\x52\x5b\x46\xbf\xe2\x45\x11\x43\x15\x32"
}

sha3_hash! {
    /// SHA3-384 (FIPS 202 §6.1): rate 104 bytes, 48-byte digest.
    Sha3_384, 13, 48, 0x06,
    *b"\xec\x01\x49\x82\x88\x51\x6f\xc9\x26\x45\x9f\x58\xe2\xc6\xad\x8d\
       \xf9\xb4\x73\xcb\x0f\xc0\x8c\x25\x96\xda\x7c\xf0\xe4\x9b\xe4\xb2\
       \x98\xd8\x8c\xea\x92\x7a\xc7\xf5\x39\xf1\xed\xf2\x28\x37\x6d\x25"
}

sha3_hash! {
    /// SHA3-512 (FIPS 202 §6.1): rate 72 bytes, 64-byte digest.
    Sha3_512, 9, 64, 0x06,
    *b"\xb7\x51\x85\x0b\x1a\x57\x16\x8a\x56\x93\xcd\x92\x4b\x6b\x09\x6e\
       \x08\xf6\x21\x82\x74\x44\xf7\x0d\x88\x4f\x5d\x02\x40\xd2\x71\x2e\
       \x10\xe1\x16\xe9\x19\x2a\xf3\xc9\x1a\x7e\xc5\x76\x47\xe3\x93\x40\
       \x57\x34\x0b\x4c\xf4\x08\xd5\xa5\x65\x92\xf8\x27\x4e\xec\x53\xf0"
}

sha3_hash! {
    /// SHAKE128 with 256 bits of output (FIPS 202 §6.2): rate 168 bytes.
    Shake128, RATE_128, 32, 0x1f,
    *b"\x58\x81\x09\x2d\xd8\x18\xbf\x5c\xf8\xa3\xdd\xb7\x93\xfb\xcb\xa7\
       \x40\x97\xd5\xc5\x26\xa6\xd3\x5f\x97\xb8\x33\x51\x94\x0f\x2c\xc8"
}

sha3_hash! {
    /// SHAKE256 with 512 bits of output (FIPS 202 §6.2): rate 136 bytes.
    Shake256, RATE_256, 64, 0x1f,
    *b"\x48\x33\x66\x60\x13\x60\xa8\x77\x1c\x68\x63\x08\x0c\xc4\x11\x4d\
       \x8d\xb4\x45\x30\xf8\xf1\xe1\xee\x4f\x94\xea\x37\xe7\x8b\x57\x39\
       \xd5\xa1\x5b\xef\x18\x6a\x53\x86\xc7\x57\x44\xc0\x52\x7e\x1f\xaa\
       \x9f\x87\x26\xe4\x62\xa1\x2a\x4f\xeb\x06\xbd\x88\x01\xe7\x51\xe4"
}
