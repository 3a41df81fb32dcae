//! This project's kernels and its signer, which verifies its signatures.

use hartlock_kernels::ed25519_signer::KeyPair;
use hartlock_kernels::sha3::Sha3_512;
use hartlock_kernels::{Hash, Kernels};
use hartlock_virt::kernels::{self, PrivilegeMode};

use crate::software::Software;

pub struct Ours(Kernels);

impl Ours {
    pub fn new() -> Self {
        Self(kernels::choose(PrivilegeMode::Machine).kernels)
    }
}

impl Software for Ours {
    const WHO: &str = "hartlock";

    fn digest(&self, parts: &[&[u8]]) -> [u8; 64] {
        let mut hash = Sha3_512::with(&self.0);
        parts.iter().for_each(|part| hash.update(part));
        hash.finalize()
    }

    fn public_key(&self, expanded: &[u8; 64]) -> [u8; 32] {
        KeyPair::new(expanded).map_or([0; 32], |pair| *pair.public_key())
    }

    /// Computes the key pair again like the loader, which does not rely on a stored public key.
    fn sign(&self, expanded: &[u8; 64], _: &[u8; 32], message: &[u8]) -> Option<[u8; 64]> {
        let pair = KeyPair::new(expanded).ok()?;
        pair.sign(|| Sha3_512::with(&self.0), message).ok()
    }
}
