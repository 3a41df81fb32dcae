//! This project's forms: the portable one, or the kernels of the hart.

use hartlock_kernels::aes::{AesKey, ctr, gcm};
use hartlock_kernels::{CipherTier, Kernels};
use hartlock_virt::kernels::{PrivilegeMode, choose_cipher_only};

use crate::{Peer, Prepared};

pub const PEER: Peer = Peer { name: "hartlock", with_key };

static mut KERNELS: Kernels = Kernels::PORTABLE;

/// Selects the kernels of the highest tier of GCM that this hart has, and returns it.
pub fn choose() -> CipherTier {
    let mut best = CipherTier::Portable;
    for tier in CipherTier::ALL {
        let (kernels, _) = choose_cipher_only(PrivilegeMode::Machine, tier);
        if kernels.cipher_tier(hartlock_kernels::CipherMode::Gcm) == tier {
            // SAFETY: there is one hart, and no reference to the variable exists.
            unsafe { KERNELS = kernels };
            best = tier;
        }
    }
    best
}

fn with_key(_: CipherTier, key: &[u8; 32], work: &mut dyn FnMut(&dyn Prepared)) {
    // SAFETY: the variable is not written while the program counts.
    let mut expanded = AesKey::with(unsafe { &*(&raw const KERNELS) });
    if expanded.expand(key).is_ok() {
        work(&expanded);
    }
}

impl Prepared for AesKey {
    fn gcm(&self, iv: &[u8; 12], text: &mut [u8], tag: &[u8; 16]) -> bool {
        gcm::decrypt(self, iv, &[], text, tag).is_ok()
    }

    fn ctr(&self, counter: &[u8; 16], text: &mut [u8]) -> bool {
        ctr::apply(self, counter, text).is_ok()
    }

    fn ghash(&self, iv: &[u8; 12], data: &[u8]) -> Option<[u8; 16]> {
        gcm::tag(self, iv, data, &[]).ok()
    }
}
