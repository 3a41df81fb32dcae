//! The kernels that are measured, and their selection.

use core::hint::black_box;

use hartlock_kernels::aes::{AesKey, ctr, gcm};
use hartlock_kernels::kt128::Kt128;
use hartlock_kernels::sha2::{Sha256, Sha512};
use hartlock_kernels::sha3::Sha3_256;
use hartlock_kernels::{
    CipherMode, CipherTier, HashFamily, HashMany, KernelFault, Kernels, Probe, Tier,
};

use super::probes::{Probed, done};
use super::system;

/// A digest of at most 64 bytes, and zeros.
type Digest = [u8; 64];

/// Hashes several messages, and passes on each digest with the index of its message.
type Many = fn(&Kernels, &[&[u8]], &mut dyn FnMut(usize, &Digest));

/// A hash that is measured.
pub struct Hash {
    pub name: &'static str,
    pub family: HashFamily,
    pub one: fn(&Kernels, &[u8]) -> Digest,
    pub many: Many,
    /// Digest of `abc`.
    known: &'static [u8],
}

/// A cipher that is measured. Of GCM it is decryption with verification, in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    Ctr,
    Gcm,
    /// The hash of GCM alone: a message without a text.
    Ghash,
}

/// What is measured.
#[derive(Clone, Copy)]
pub enum Subject {
    One(&'static Hash, Tier),
    Lanes(&'static Hash, Tier),
    Cipher(&'static str, Cipher, usize, CipherTier),
}

// Known answers are variables and no constants, so that they are in the file once.
static SHA256: [u8; 32] = Sha256::KAT;
static SHA512: [u8; 64] = Sha512::KAT;
static SHA3_256: [u8; 32] = Sha3_256::KAT;
static KT128: [u8; 32] = Kt128::KAT;
/// SP 800-38A F.5.5, first block: key, counter, plain text and cipher text.
static CTR_KEY: [u8; 32] = *b"\x60\x3d\xeb\x10\x15\xca\x71\xbe\x2b\x73\xae\xf0\x85\x7d\x77\x81\
    \x1f\x35\x2c\x07\x3b\x61\x08\xd7\x2d\x98\x10\xa3\x09\x14\xdf\xf4";
static CTR_FIRST: [u8; 16] = *b"\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff";
static CTR_PLAIN: [u8; 16] = *b"\x6b\xc1\xbe\xe2\x2e\x40\x9f\x96\xe9\x3d\x7e\x11\x73\x93\x17\x2a";
static CTR_TEXT: [u8; 16] = *b"\x60\x1e\xc3\x13\x77\x57\x89\xa5\xb7\xa7\xf5\x04\xbb\xf3\xd2\x28";
/// GCM with AES-256, a key of zeros, an IV of 12 zeros and a block of zeros (submission of GCM to NIST, test case 14).
static GCM_TEXT: [u8; 16] = *b"\xce\xa7\x40\x3d\x4d\x60\x6b\x6e\x07\x4e\xc5\xd3\xba\xf3\x9d\x18";
static GCM_TAG: [u8; 16] = *b"\xd0\xd1\xc8\xa7\x99\x99\x6b\xf0\x26\x5b\x98\xb5\xd4\x8a\xb9\x19";

macro_rules! hashes {
    ($($name:literal, $family:ident, $hash:ty, $known:ident;)+) => {
        &[$(Hash {
            name: $name,
            family: HashFamily::$family,
            one: one::<$hash>,
            many: many::<$hash>,
            known: &$known,
        }),+]
    };
}

const HASHES: &[Hash] = hashes! {
    "sha256", Sha256, Sha256, SHA256;
    "sha512", Sha512, Sha512, SHA512;
    "sha3-256", Keccak, Sha3_256, SHA3_256;
    "kt128", Keccak, Kt128, KT128;
};

/// Ciphers: name, mode and length of the key in bytes.
const CIPHERS: [(&str, Cipher, usize); 5] = [
    ("aes-128-ctr", Cipher::Ctr, 16),
    ("aes-256-ctr", Cipher::Ctr, 32),
    ("aes-128-gcm", Cipher::Gcm, 16),
    ("aes-256-gcm", Cipher::Gcm, 32),
    ("ghash", Cipher::Ghash, 32),
];

fn padded(digest: &[u8]) -> Digest {
    let mut padded = [0; 64];
    for (to, from) in padded.iter_mut().zip(digest) {
        *to = *from;
    }
    padded
}

fn one<H: HashMany>(kernels: &Kernels, message: &[u8]) -> Digest {
    let mut hash = H::with(kernels);
    hash.update(message);
    padded(hash.finalize().as_ref())
}

fn many<H: HashMany>(
    kernels: &Kernels,
    messages: &[&[u8]],
    on_digest: &mut dyn FnMut(usize, &Digest),
) {
    let heads = [&[][..]; hartlock_kernels::MAX_LANES];
    let heads = heads.get(..messages.len()).unwrap_or_default();
    H::digest_many(kernels, heads, messages, &mut |at, digest| {
        on_digest(at, &padded(digest.as_ref()));
    });
}

impl Cipher {
    const fn mode(self) -> CipherMode {
        match self {
            Cipher::Ctr => CipherMode::Ctr,
            Cipher::Gcm | Cipher::Ghash => CipherMode::Gcm,
        }
    }
}

/// Returns all subjects, ours of every tier.
pub fn all() -> impl Iterator<Item = Subject> {
    let hashes = HASHES.iter().flat_map(|hash| {
        let one = Tier::ALL.map(|tier| Subject::One(hash, tier));
        let lanes = [Tier::V, Tier::Zvbb, Tier::Zvknh].map(|tier| Subject::Lanes(hash, tier));
        let has_tier = |subject: &Subject| match subject {
            // No kernel of Keccak needs an extension for SHA-2, and no kernel for one message V or Zvbb alone.
            Subject::One(hash, tier) => match hash.family {
                HashFamily::Keccak => matches!(tier, Tier::Portable | Tier::Rv64 | Tier::Zbb),
                _ => !matches!(tier, Tier::V | Tier::Zvbb),
            },
            Subject::Lanes(hash, tier) => hash.family != HashFamily::Keccak || *tier != Tier::Zvknh,
            Subject::Cipher(..) => true,
        };
        one.into_iter().chain(lanes).filter(has_tier)
    });
    let ciphers = CIPHERS.into_iter().flat_map(|(name, cipher, key_len)| {
        let tiers = CipherTier::ALL.into_iter();
        // Counter mode has no use for a multiplication.
        tiers
            .filter(move |tier| cipher != Cipher::Ctr || *tier != CipherTier::Zvkg)
            .map(move |tier| Subject::Cipher(name, cipher, key_len, tier))
    });
    hashes.chain(ciphers)
}

impl Subject {
    pub const fn name(self) -> &'static str {
        match self {
            Subject::One(hash, _) | Subject::Lanes(hash, _) => hash.name,
            Subject::Cipher(name, ..) => name,
        }
    }

    pub const fn tier(self) -> &'static str {
        match self {
            Subject::One(_, tier) | Subject::Lanes(_, tier) => tier.name(),
            Subject::Cipher(.., tier) => tier.name(),
        }
    }

    pub const fn form(self) -> &'static str {
        match self {
            Subject::One(..) => "one",
            Subject::Lanes(..) => "lanes",
            Subject::Cipher(_, Cipher::Ctr, ..) => "stream",
            Subject::Cipher(_, Cipher::Gcm, ..) => "decrypt-verify",
            Subject::Cipher(_, Cipher::Ghash, ..) => "hash",
        }
    }

    /// Selects the kernel of this subject. The error says why it is not used.
    pub fn select(self) -> Result<Kernels, KernelFault> {
        let mut selection = Selection { subject: self, fault: None };
        let kernels = Kernels::detect(&mut selection);
        let is_selected = match self {
            Subject::One(hash, tier) => kernels.tier(hash.family) == tier,
            Subject::Lanes(hash, tier) => {
                kernels.tier_of_many(hash.family) == tier && kernels.lanes(hash.family) > 1
            }
            Subject::Cipher(_, cipher, _, tier) => kernels.cipher_tier(cipher.mode()) == tier,
        };
        match selection.fault {
            None if is_selected => Ok(kernels),
            fault => Err(fault.unwrap_or(KernelFault::Trapped)),
        }
    }

    /// Returns true if the kernel gives the published answers.
    pub fn answers(self, kernels: &Kernels) -> bool {
        match self {
            Subject::One(hash, _) => {
                black_box(hash.known)
                    == (hash.one)(kernels, b"abc").get(..hash.known.len()).unwrap_or_default()
            }
            Subject::Lanes(hash, _) => {
                let messages = [&b"abc"[..]; hartlock_kernels::MAX_LANES];
                let lanes = messages.get(..kernels.lanes(hash.family)).unwrap_or_default();
                let mut right = 0_usize;
                (hash.many)(kernels, lanes, &mut |_, digest| {
                    let is_right = digest.get(..hash.known.len()) == Some(black_box(hash.known));
                    right += usize::from(is_right);
                });
                right == lanes.len()
            }
            Subject::Cipher(_, Cipher::Ctr, ..) => {
                let mut key = AesKey::with(kernels);
                let mut text = *black_box(&CTR_PLAIN);
                key.expand(black_box(&CTR_KEY)).is_ok()
                    && ctr::apply(&key, black_box(&CTR_FIRST), &mut text).is_ok()
                    && text == *black_box(&CTR_TEXT)
            }
            Subject::Cipher(_, Cipher::Gcm | Cipher::Ghash, ..) => {
                let mut key = AesKey::with(kernels);
                let mut text = *black_box(&GCM_TEXT);
                key.expand(&[0; 32]).is_ok()
                    && gcm::decrypt(&key, &[0; 12], &[], &mut text, black_box(&GCM_TAG)).is_ok()
                    && text == [0; 16]
            }
        }
    }
}

/// The selection of the kernel of one subject.
struct Selection {
    subject: Subject,
    fault: Option<KernelFault>,
}

// SAFETY: `Works` means that the child ended after the instructions had returned.
unsafe impl Probe for Selection {
    fn runs(&mut self, instructions: unsafe extern "C" fn()) -> bool {
        let end = system::in_child(|| {
            // SAFETY: probes use no memory, and a trap ends the child alone.
            done(|| unsafe { instructions() })
        });
        Probed::of(end) == Probed::Works
    }

    fn rejected(&mut self, family: HashFamily, tier: Tier, why: KernelFault) {
        if let Subject::One(hash, wanted) | Subject::Lanes(hash, wanted) = self.subject
            && (hash.family, wanted) == (family, tier)
        {
            self.fault = Some(why);
        }
    }

    fn is_wanted(&self, family: HashFamily, tier: Tier) -> bool {
        match self.subject {
            Subject::One(hash, wanted) => hash.family == family && tier == wanted,
            // What does not fill the lanes has another kernel, which every hart has.
            Subject::Lanes(hash, wanted) => {
                hash.family == family && (tier == wanted || tier == Tier::Rv64)
            }
            Subject::Cipher(..) => false,
        }
    }

    fn rejected_cipher(&mut self, mode: CipherMode, tier: CipherTier, why: KernelFault) {
        if let Subject::Cipher(_, cipher, _, wanted) = self.subject
            && (cipher.mode(), wanted) == (mode, tier)
        {
            self.fault = Some(why);
        }
    }

    fn is_cipher_wanted(&self, mode: CipherMode, tier: CipherTier) -> bool {
        matches!(self.subject, Subject::Cipher(_, cipher, _, wanted) if cipher.mode() == mode && wanted == tier)
    }
}
