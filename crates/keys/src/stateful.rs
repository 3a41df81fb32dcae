//! Keys of which each signature spends a part: LMS, HSS, XMSS and XMSS^MT (`spec/stateful-key.md`).
//!
//! A private key is seeds, from which all one-time keys follow, and the index of the next one. Two
//! messages signed with one index reveal the key, so the index is in the key's file and is raised
//! there before a signature exists. Trees are grown again for each signature: one of height 10 takes
//! milliseconds, one of height 20 a minute or more.
//!
//! | module | what |
//! |---|---|
//! | `state` | bytes of the file |
//! | `storage` | spends an index |
//! | `tree` | trees, grown by all cores |
//! | `lms`, `hss` | RFC 8554, SP 800-208 §4 |
//! | `wots`, `xmss` | RFC 8391, SP 800-208 §5 |

use std::path::{Path, PathBuf};

use hartlock_image::Algorithm;
use zeroize::Zeroizing;

use super::formats::{self, Encoding, STATEFUL_LABEL};
use super::random::random;
use super::{KeyError, KeyErrorKind};
use crate::Error;
use hss::Hss;
use storage::{LockedFile, Storage};
use xmss::{Kind, Xmss};

mod hss;
mod lms;
mod state;
mod storage;
mod tree;
mod wots;
mod xmss;

#[cfg(test)]
mod campaign;
#[cfg(test)]
pub(super) mod refusals;
#[cfg(test)]
mod tests;

/// Height beyond which indexes are not counted: no signer reaches it, and they fit into 64 bits.
const MAX_HEIGHT: u32 = 62;

/// Receives progress: steps done and steps in total.
pub type OnProgress<'a> = &'a mut dyn FnMut(u64, u64);

/// A private key with a state.
pub struct StatefulKey {
    algorithm: Algorithm,
    seeds: Zeroizing<Vec<u8>>,
    public: Vec<u8>,
    /// The next index, when the key was read.
    next: u64,
    /// The file in which the index is kept.
    path: Option<PathBuf>,
}

/// The schemes that an algorithm number selects.
enum Scheme<'a> {
    Hss(Hss<'a>),
    Xmss(Xmss<'a>),
}

impl<'a> Scheme<'a> {
    /// `None` if the algorithm has no state.
    fn new(algorithm: Algorithm, seeds: &'a [u8]) -> Option<Self> {
        Some(match algorithm {
            Algorithm::Hss(set) => Scheme::Hss(Hss::new(set, seeds)),
            Algorithm::Xmss(set) => Scheme::Xmss(Xmss::new(Kind::Single, set, seeds)),
            Algorithm::XmssMt(set) => Scheme::Xmss(Xmss::new(Kind::Multi, set, seeds)),
            _ => return None,
        })
    }

    fn public_key(&self, on_leaves: &mut dyn FnMut(u64)) -> Vec<u8> {
        match self {
            Scheme::Hss(hss) => hss.public_key(on_leaves),
            Scheme::Xmss(xmss) => xmss.public_key(on_leaves),
        }
    }

    fn sign(
        &self,
        index: u64,
        message: &[u8],
        public: &[u8],
        on_leaves: &mut dyn FnMut(u64),
    ) -> (Vec<u8>, Vec<u8>) {
        match self {
            Scheme::Hss(hss) => hss.sign(index, message, on_leaves),
            Scheme::Xmss(xmss) => {
                let root = &public[4..4 + (public.len() - 4) / 2];
                xmss.sign(index, message, root, on_leaves)
            }
        }
    }
}

/// Bytes of the seeds.
fn seeds_size(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::Hss(set) => Hss::seeds_size(set),
        Algorithm::Xmss(set) | Algorithm::XmssMt(set) => Xmss::seeds_size(set),
        _ => 0,
    }
}

/// Height of one tree, and the number of layers.
fn shape(algorithm: Algorithm) -> (u32, u32) {
    match algorithm {
        Algorithm::Hss(set) => (set.height().into(), set.levels().into()),
        Algorithm::Xmss(set) | Algorithm::XmssMt(set) => {
            ((set.height() / set.layers()).into(), set.layers().into())
        }
        _ => (0, 0),
    }
}

/// Whether the parameters in a public key are those of the algorithm.
pub(super) fn is_public_key_of(algorithm: Algorithm, public: &[u8]) -> bool {
    let expected = match algorithm {
        Algorithm::Hss(set) => {
            [set.levels(), set.lms_type(), set.ots_type()].map(u32::from).to_vec()
        }
        Algorithm::Xmss(set) | Algorithm::XmssMt(set) => vec![set.oid()],
        _ => return false,
    };
    let (numbers, _) = public.as_chunks();
    public.len() == algorithm.public_key_size()
        && expected.iter().zip(numbers).all(|(number, bytes)| *number == u32::from_be_bytes(*bytes))
}

impl StatefulKey {
    /// Makes a key from the operating system's random numbers. Progress counts leaves.
    ///
    /// # Errors
    /// `NoRandomness`.
    pub fn generate(
        algorithm: Algorithm,
        on_progress: OnProgress<'_>,
    ) -> Result<Self, KeyErrorKind> {
        let mut seeds = Zeroizing::new(vec![0; seeds_size(algorithm)]);
        random(&mut seeds)?;
        Self::from_seeds(algorithm, seeds, on_progress)
    }

    fn from_seeds(
        algorithm: Algorithm,
        seeds: Zeroizing<Vec<u8>>,
        on_progress: OnProgress<'_>,
    ) -> Result<Self, KeyErrorKind> {
        let total = 1 << shape(algorithm).0;
        let mut done = 0;
        let public = Scheme::new(algorithm, &seeds)
            .ok_or_else(|| KeyErrorKind::UnsupportedAlgorithm(algorithm.to_string()))?
            .public_key(&mut |leaves| {
                done += leaves;
                on_progress(done, total);
            });
        Ok(Self { algorithm, seeds, public, next: 0, path: None })
    }

    /// Decodes the content of a file. `path` is where the index is kept, if anywhere.
    pub(super) fn decode(bytes: &[u8], path: Option<&Path>) -> Result<Self, KeyErrorKind> {
        let key = state::decode(bytes)?;
        Ok(Self { path: path.map(Path::to_path_buf), ..key })
    }

    /// Decodes a file that must hold a key with a state.
    fn decode_file(bytes: &[u8], path: Option<&Path>) -> Result<Self, KeyErrorKind> {
        let opened = formats::open(bytes, false)?;
        match opened.encoding {
            Encoding::Stateful => Self::decode(&opened.der, path),
            _ => Err(KeyErrorKind::StateOfOtherKey),
        }
    }

    /// The file with which the key begins.
    pub(super) fn to_pem(&self) -> Zeroizing<String> {
        self.pem_at(self.next)
    }

    fn pem_at(&self, next: u64) -> Zeroizing<String> {
        formats::pem(STATEFUL_LABEL, &state::encode(self, next))
    }

    /// The algorithm.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The public key as encoded in a signature block.
    pub fn public_bytes(&self) -> &[u8] {
        &self.public
    }

    /// Signatures that the key can make in all.
    pub fn capacity(&self) -> u64 {
        let (height, layers) = shape(self.algorithm);
        1 << (height * layers).min(MAX_HEIGHT)
    }

    /// Signatures that were left when the key was read.
    pub fn left(&self) -> u64 {
        self.capacity() - self.next
    }

    /// Bytes of a signature.
    pub fn signature_size(&self) -> usize {
        match self.algorithm {
            Algorithm::Hss(set) => Hss::signature_size(set),
            algorithm => algorithm.signature_size().unwrap_or(0),
        }
    }

    /// Spends an index of the file, then signs with it. Progress counts leaves.
    ///
    /// # Errors
    /// If no index is left or none can be spent safely. Then nothing was signed; an index may be lost.
    pub fn sign(&self, message: &[u8], on_progress: OnProgress<'_>) -> Result<Vec<u8>, Error> {
        let Some(path) = &self.path else {
            // Without a file the next index is unknown.
            return Err(self.refuse(KeyErrorKind::StateNotRegular));
        };
        let index = self.spend(&mut LockedFile::lock(path)?)?;
        self.sign_at(index, message, on_progress)
    }

    /// Takes the next index of the file. When it returns, no other call will ever return the same.
    fn spend(&self, storage: &mut impl Storage) -> Result<u64, Error> {
        let refuse = |kind| self.refuse(kind);
        let index = self.index_in(&storage.read()?).map_err(refuse)?;
        if index >= self.capacity() {
            return Err(refuse(KeyErrorKind::StateExhausted));
        }
        storage::replace(storage, self.pem_at(index + 1).as_bytes())?;
        // Storage that takes everything and keeps nothing is seen here, if it is honest to readers.
        match self.index_in(&storage.read()?) {
            Ok(next) if next > index => Ok(index),
            _ => Err(refuse(KeyErrorKind::StateNotKept)),
        }
    }

    /// The next index of a file that must hold this key.
    fn index_in(&self, file: &[u8]) -> Result<u64, KeyErrorKind> {
        let current = Self::decode_file(file, None)?;
        let is_same = (current.algorithm, &current.public) == (self.algorithm, &self.public);
        if is_same { Ok(current.next) } else { Err(KeyErrorKind::StateOfOtherKey) }
    }

    fn sign_at(
        &self,
        index: u64,
        message: &[u8],
        on_progress: OnProgress<'_>,
    ) -> Result<Vec<u8>, Error> {
        let refuse = || self.refuse(KeyErrorKind::PublicHalfDiffers);
        let (height, layers) = shape(self.algorithm);
        let total = u64::from(layers) << height;
        let mut done = 0;
        let scheme = Scheme::new(self.algorithm, &self.seeds).ok_or_else(refuse)?;
        let (signature, public) = scheme.sign(index, message, &self.public, &mut |leaves| {
            done += leaves;
            on_progress(done, total);
        });
        // The trees were grown on the way: a seed that changed, or a processor that miscounted, gives
        // another root, and such a signature would show a part of the key for nothing.
        if public == self.public && signature.len() == self.signature_size() {
            Ok(signature)
        } else {
            Err(refuse())
        }
    }

    fn refuse(&self, kind: KeyErrorKind) -> Error {
        let path = self.path.clone().unwrap_or_else(|| "-".into());
        Error::Key(KeyError { path, kind })
    }
}
