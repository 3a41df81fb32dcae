//! Known answers that the engine for Ed25519 has to give, with SHA3-512 in place of SHA-512: it takes digests. The key is
//! SHA3-512 of SHA-256 of "hartlock first-stage loader self test", clamped, and the message is `abc`; made by a program of its own
//! (RFC 8032 §5.1.5, §5.1.6).

use crate::engines::{EngineKind, Engines, SigningSlot};
use crate::signature::Rejection;
use crate::{EngineUse, KernelFault, Kernels};

impl Kernels {
    /// Uses the engine for Ed25519, if it makes the known key and signature, and tells that signature from others.
    ///
    /// # Errors
    /// `WrongAnswer` if one answer is wrong, or there is none: the engine is not used any more.
    pub fn use_ed25519_engine(&mut self) -> Result<(), KernelFault> {
        let engines = self.engines().ok_or(KernelFault::WrongAnswer)?;
        // An engine that does not answer is not used either.
        let is_right = is_right(engines).unwrap_or(false);
        self.add_uses(EngineKind::Ed25519, &[(EngineUse::Ed25519.bit(), Some(is_right))])
    }
}

fn is_right(engines: &dyn Engines) -> Option<bool> {
    let mut public_key = [0; 32];
    engines.load_ed25519(SigningSlot::Known, &EXPANDED, &mut public_key)?;
    let is_key = public_key == PUBLIC_KEY;
    let mut has_r = false;
    let (r, _) = SIGNATURE.split_at(32);
    let mut signature = [0; 64];
    let mut challenge = |given: &[u8; 32]| {
        has_r = given == r;
        CHALLENGE
    };
    engines.sign_ed25519(SigningSlot::Known, &NONCE, &mut challenge, &mut signature)?;
    engines.wipe(EngineKind::Ed25519);
    // It can say yes and no. A bit of the challenge is another message.
    let mut other = CHALLENGE;
    other[0] ^= 1;
    let verify = |challenge| engines.verify_ed25519(&PUBLIC_KEY, &SIGNATURE, challenge);
    let is_verified = verify(&CHALLENGE)? == Ok(());
    let is_refused = verify(&other)? == Err(Rejection::Mismatch);
    let is_right = is_key && has_r && signature == SIGNATURE;
    Some(is_right && is_verified && is_refused)
}

/// Scalar and prefix.
const EXPANDED: [u8; 64] = *b"\
      \x88\x87\x78\x0c\x4d\x37\x24\x16\xf3\xde\x49\xe6\x2b\xd5\xb5\x00\
      \x92\x82\x8c\x21\x86\x1f\x39\xea\x3a\x25\xc7\x4a\x98\x9c\x73\x78\
      \xe5\x03\x12\x82\x6d\x1e\xb6\x87\x25\x57\x27\x89\x91\x20\xa4\xef\
      \x6b\x24\xf4\x73\xa1\x8f\x4b\x8c\x66\x0e\x8c\x02\x59\xd0\x22\x28";

/// Of this key.
const PUBLIC_KEY: [u8; 32] = *b"\
      \x41\xe4\x2f\x14\xfb\x1f\x92\xf9\x28\xf1\xf6\xb4\xdc\x0d\x6a\xae\
      \x16\x77\x06\x38\xe2\x11\x2b\xf8\x57\x9d\xec\xcd\x05\xc8\xcb\x4a";

/// The digest of prefix and message.
const NONCE: [u8; 64] = *b"\
      \x43\xaf\x4e\xaf\x08\x24\xb7\xeb\x1e\x08\xc6\x75\xff\x0d\x29\xc5\
      \xb8\xea\x1c\xd0\x62\x43\x5d\xa4\x29\x6c\x09\x86\xe6\x3a\x37\xce\
      \xe0\x7a\x91\x0d\x35\x3d\x23\x9a\xae\x71\xef\xfc\x17\xe3\x2a\x1d\
      \xcc\x2a\xcf\x33\x6e\x96\xc1\x3e\x0c\x0b\x5f\x99\x6f\x9c\x3f\x60";

/// The digest of R, public key and message.
const CHALLENGE: [u8; 64] = *b"\
      \x60\x78\x65\x4c\x1f\x3d\x90\xfb\xc9\xae\xe1\x86\x91\x42\xb8\x5e\
      \x49\x62\x8e\xfe\xed\x7b\x0d\x01\xc1\x10\xbf\x4c\x3d\xfb\x6a\xdd\
      \xb7\xcb\x3f\x53\x66\xe7\x1a\xb9\xff\xe0\x06\xaa\xd1\x0d\x7a\x15\
      \xc0\xd0\xa0\x8b\x3a\xd6\x56\xd0\xd4\xc6\x8f\x5d\x04\x45\xe6\xea";

/// R and S.
const SIGNATURE: [u8; 64] = *b"\
      \x03\xf0\x90\xe8\x2b\x48\x13\x50\x8f\x4e\x17\xb6\x3a\x64\xc7\x5f\
      \xfb\x28\xff\x36\x17\x21\xb3\xca\xab\xab\x00\x2e\x08\x04\xc9\xca\
      \xa6\x65\xae\x09\x38\x74\x20\x6c\xd5\x82\x5b\x5b\xa7\x89\x9a\x24\
      \x16\x02\x0b\xce\x82\x13\x9d\x77\x7c\x21\x72\xa7\x5b\x4d\x9c\x0f";
