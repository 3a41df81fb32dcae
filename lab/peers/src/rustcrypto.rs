//! The hashes of RustCrypto's crates `sha2`, `sha3` and `k12`.

use sha2::Digest;

use crate::hash::Hash;

pub const HASHES: &[(&str, Hash)] = &[
    ("sha256", digest::<sha2::Sha256>),
    ("sha384", digest::<sha2::Sha384>),
    ("sha512", digest::<sha2::Sha512>),
    ("sha3-256", digest::<sha3::Sha3_256>),
    ("sha3-384", digest::<sha3::Sha3_384>),
    ("sha3-512", digest::<sha3::Sha3_512>),
    ("kt128", kt128),
];

fn digest<D: Digest>(message: &[u8], digest: &mut [u8; 64]) {
    for (to, from) in digest.iter_mut().zip(D::digest(message)) {
        *to = from;
    }
}

fn kt128(message: &[u8], digest: &mut [u8; 64]) {
    use k12::digest::{ExtendableOutput, Update, XofReader};
    let mut hash = k12::Kt128::default();
    hash.update(message);
    hash.finalize_xof().read(&mut digest[..32]);
}
