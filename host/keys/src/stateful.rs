//! Stateful keys, which spend a one-time key with each signature: LMS, HSS, XMSS and XMSS^MT
//! (`spec/stateful-key.md`).
//!
//! A private key consists of seeds, from which all one-time keys are derived, and the index of the next
//! one-time key. Two messages signed with the same index reveal a one-time key. Therefore the index is stored
//! in the key file, and it is raised there before a signature exists. The trees are computed again for each
//! signature: a tree of height 10 takes milliseconds, a tree of height 20 a minute or more.
//!
//! A tree above the lowest level signs the root of the tree below it with the same leaf each time. If that
//! root came out differently, for instance after a bit error, the leaf would sign two messages. Therefore the
//! file keeps a digest of each root that was signed, signing is refused if a tree comes out differently, and a
//! tree that is signed for the first time is computed twice.
//!
//! | module | content |
//! |---|---|
//! | `state` | encoding of the key file |
//! | `storage` | replacement of the key file when an index is spent |
//! | `tree` | Merkle trees, computed by all cores |
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
use sha2::{Digest, Sha256};
use state::Record;
use storage::{LockedFile, Storage};
use tree::Trees;
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
mod flips;
#[cfg(test)]
pub(super) mod refusals;
#[cfg(test)]
mod tests;

/// The maximum total height for which indexes are counted. The index of a taller key would exceed 64 bits, and
/// no signer makes that many signatures.
const MAX_HEIGHT: u32 = 62;

/// A callback that receives progress: steps done and steps in total.
pub type OnProgress<'a> = &'a mut dyn FnMut(u64, u64);

/// A stateful private key.
pub struct StatefulKey {
    algorithm: Algorithm,
    seeds: Zeroizing<Vec<u8>>,
    public: Vec<u8>,
    /// The next index at the time the key was read.
    next: u64,
    /// The digests of the signed trees at the time the key was read: those of the trees of the previous index,
    /// from the lowest level to the one below the top.
    records: Vec<Record>,
    /// The file in which the index is kept.
    path: Option<PathBuf>,
    /// True if the file may be on a file system that is not known to keep the index.
    any_file_system: bool,
}

/// The signature scheme of an algorithm.
enum StatefulScheme<'a> {
    Hss(Hss<'a>),
    Xmss(Xmss<'a>),
}

impl<'a> StatefulScheme<'a> {
    /// Returns `None` if the algorithm is not stateful.
    fn new(algorithm: Algorithm, seeds: &'a [u8]) -> Option<Self> {
        Some(match algorithm {
            Algorithm::Hss(set) => StatefulScheme::Hss(Hss::new(set, seeds)),
            Algorithm::Xmss(set) => StatefulScheme::Xmss(Xmss::new(Kind::Single, set, seeds)),
            Algorithm::XmssMt(set) => StatefulScheme::Xmss(Xmss::new(Kind::Multi, set, seeds)),
            _ => return None,
        })
    }

    fn public_key(&self, on_leaves: &mut dyn FnMut(u64)) -> Vec<u8> {
        match self {
            StatefulScheme::Hss(hss) => hss.public_key(on_leaves),
            StatefulScheme::Xmss(xmss) => xmss.public_key(on_leaves),
        }
    }

    fn trees(
        &self,
        index: u64,
        is_new: &dyn Fn(u32) -> bool,
        on_leaves: &mut dyn FnMut(u64),
    ) -> Option<Trees> {
        match self {
            StatefulScheme::Hss(hss) => hss.trees(index, is_new, on_leaves),
            StatefulScheme::Xmss(xmss) => xmss.trees(index, is_new, on_leaves),
        }
    }

    fn sign(&self, index: u64, message: &[u8], trees: &Trees) -> Vec<u8> {
        match self {
            StatefulScheme::Hss(hss) => hss.sign(index, message, trees),
            StatefulScheme::Xmss(xmss) => {
                let public = &trees.public;
                let root = &public[4..4 + (public.len() - 4) / 2];
                xmss.sign(index, message, root, trees)
            }
        }
    }
}

/// Returns the length of the seeds in bytes.
fn seeds_size(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::Hss(set) => Hss::seeds_size(set),
        Algorithm::Xmss(set) | Algorithm::XmssMt(set) => Xmss::seeds_size(set),
        _ => 0,
    }
}

/// Returns the height of one tree and the number of layers.
fn shape(algorithm: Algorithm) -> (u32, u32) {
    match algorithm {
        Algorithm::Hss(set) => (set.height().into(), set.levels().into()),
        Algorithm::Xmss(set) | Algorithm::XmssMt(set) => {
            ((set.height() / set.layers()).into(), set.layers().into())
        }
        _ => (0, 0),
    }
}

/// Returns true if the parameters in a public key are those of the algorithm.
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
    /// Generates a key from the operating system's random numbers. `on_progress` counts leaves.
    ///
    /// # Errors
    /// `NoRandomness` if there are none.
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
        let public = StatefulScheme::new(algorithm, &seeds)
            .ok_or_else(|| KeyErrorKind::UnsupportedAlgorithm(algorithm.to_string()))?
            .public_key(&mut |leaves| {
                done += leaves;
                on_progress(done, total);
            });
        let records = vec![Record::default(); shape(algorithm).1 as usize - 1];
        Ok(Self { algorithm, seeds, public, next: 0, records, path: None, any_file_system: false })
    }

    /// Decodes the content of a key file. `path` is the file that keeps the index, if there is one.
    pub(super) fn decode(bytes: &[u8], path: Option<&Path>) -> Result<Self, KeyErrorKind> {
        let key = state::decode(bytes)?;
        Ok(Self { path: path.map(Path::to_path_buf), ..key })
    }

    /// Decodes a file that must hold a stateful key.
    fn decode_file(bytes: &[u8], path: Option<&Path>) -> Result<Self, KeyErrorKind> {
        let opened = formats::open(bytes, false)?;
        match opened.encoding {
            Encoding::Stateful => Self::decode(&opened.der, path),
            _ => Err(KeyErrorKind::StateOfOtherKey),
        }
    }

    /// Encodes the key as the file with its initial state.
    pub(super) fn to_pem(&self) -> Zeroizing<String> {
        self.pem_at(self.next, &self.records)
    }

    fn pem_at(&self, next: u64, records: &[Record]) -> Zeroizing<String> {
        formats::pem(STATEFUL_LABEL, &state::encode(self, next, records))
    }

    /// Returns the algorithm of the key.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the public key as encoded in a signature block.
    pub fn public_bytes(&self) -> &[u8] {
        &self.public
    }

    /// Returns the total number of signatures that the key can make.
    pub fn capacity(&self) -> u64 {
        let (height, layers) = shape(self.algorithm);
        1 << (height * layers).min(MAX_HEIGHT)
    }

    /// Returns the number of signatures that were left when the key was read.
    pub fn left(&self) -> u64 {
        self.capacity() - self.next
    }

    /// Accepts a file system that is not known to keep the index: the caller promises that there is only one
    /// copy of the file, and that a rename is durable.
    pub(super) const fn accept_any_file_system(&mut self) {
        self.any_file_system = true;
    }

    /// Returns the name of the file system if it is not known to keep the index.
    pub(super) fn unsupported_file_system(&self) -> Option<String> {
        storage::unsupported_file_system_of(self.path.as_deref()?)
    }

    /// Returns the length of a signature in bytes.
    pub fn signature_size(&self) -> usize {
        match self.algorithm {
            Algorithm::Hss(set) => Hss::signature_size(set),
            algorithm => algorithm.signature_size().unwrap_or(0),
        }
    }

    /// Spends an index of the file, then signs with it. `on_progress` counts leaves.
    ///
    /// # Errors
    /// If no index is left or none can be spent safely. Nothing was signed then, but an index may be lost.
    pub fn sign(&self, message: &[u8], on_progress: OnProgress<'_>) -> Result<Vec<u8>, Error> {
        let Some(path) = &self.path else {
            // Without a file, the next index is unknown.
            return Err(self.refuse(KeyErrorKind::StateNotRegular));
        };
        self.sign_in(&mut LockedFile::lock(path, self.any_file_system)?, message, on_progress)
    }

    fn sign_in(
        &self,
        storage: &mut impl Storage,
        message: &[u8],
        on_progress: OnProgress<'_>,
    ) -> Result<Vec<u8>, Error> {
        let (index, trees) = self.spend(storage, |current| {
            current.trees(on_progress).map_err(|kind| self.refuse(kind))
        })?;
        let scheme = StatefulScheme::new(self.algorithm, &self.seeds);
        let signature = scheme.map(|scheme| scheme.sign(index, message, &trees));
        signature
            .filter(|signature| signature.len() == self.signature_size())
            .ok_or_else(|| self.refuse(KeyErrorKind::PublicHalfDiffers))
    }

    /// Spends the next index of the file and stores the digests of the trees that `grow` computes. After this
    /// function returns, no other call ever returns the same index.
    fn spend(
        &self,
        storage: &mut impl Storage,
        grow: impl FnOnce(&Self) -> Result<Trees, Error>,
    ) -> Result<(u64, Trees), Error> {
        let refuse = |kind| self.refuse(kind);
        let current = self.current(&storage.read()?).map_err(refuse)?;
        let index = current.next;
        if index >= self.capacity() {
            return Err(refuse(KeyErrorKind::StateExhausted));
        }
        let trees = grow(&current)?;
        let records: Vec<Record> =
            trees.signed_roots.iter().map(|signed| Sha256::digest(signed).into()).collect();
        // Computing the trees may take minutes. The state that they were computed from must still be the
        // stored one.
        let again = self.current(&storage.read()?).map_err(refuse)?;
        if (again.next, &again.records) != (index, &current.records) {
            return Err(refuse(KeyErrorKind::StateNotKept));
        }
        storage::replace(storage, self.pem_at(index + 1, &records).as_bytes())?;
        // A storage that reports success but keeps nothing is noticed here, unless it also returns the written
        // data to readers.
        match self.current(&storage.read()?) {
            Ok(kept) if kept.next > index && kept.records == records => Ok((index, trees)),
            _ => Err(refuse(KeyErrorKind::StateNotKept)),
        }
    }

    /// Decodes a file that must hold this key, and returns the key with its current state.
    fn current(&self, file: &[u8]) -> Result<Self, KeyErrorKind> {
        let current = Self::decode_file(file, None)?;
        let is_same = (current.algorithm, &current.public, &*current.seeds)
            == (self.algorithm, &self.public, &*self.seeds);
        if is_same { Ok(current) } else { Err(KeyErrorKind::StateOfOtherKey) }
    }

    /// Returns true if the tree of the next index at `layer`, counted from the bottom, differs from the tree
    /// of the previous index. It is false for the top tree, which the public key determines.
    fn is_new(&self, layer: u32) -> bool {
        let (height, layers) = shape(self.algorithm);
        // The total height can exceed the number of bits of an index.
        let number = |index: u64| index.checked_shr(height * (layer + 1)).unwrap_or(0);
        layer + 1 < layers && (self.next == 0 || number(self.next - 1) != number(self.next))
    }

    /// Computes the trees of the next index. `on_progress` counts leaves.
    ///
    /// # Errors
    /// `PublicHalfDiffers` if they do not lead to the public key, `TreeDiffers` if a tree differs from the one
    /// that was signed before or comes out differently the second time.
    fn trees(&self, on_progress: OnProgress<'_>) -> Result<Trees, KeyErrorKind> {
        let (height, layers) = shape(self.algorithm);
        let is_new = |layer| self.is_new(layer);
        let again = (0..layers).filter(|layer| is_new(*layer)).count() as u64;
        let total = (u64::from(layers) + again) << height;
        let mut done = 0;
        let trees = StatefulScheme::new(self.algorithm, &self.seeds)
            .ok_or(KeyErrorKind::PublicHalfDiffers)?
            .trees(self.next, &is_new, &mut |leaves| {
                done += leaves;
                on_progress(done, total);
            })
            .ok_or(KeyErrorKind::TreeDiffers)?;
        // A changed seed or a computing error gives another root. A signature would then be useless and would
        // reveal part of the key.
        if trees.public != self.public {
            return Err(KeyErrorKind::PublicHalfDiffers);
        }
        let is_known = trees.signed_roots.iter().zip(&self.records).zip(0..).all(
            |((signed, record), layer)| is_new(layer) || Sha256::digest(signed)[..] == record[..],
        );
        if is_known { Ok(trees) } else { Err(KeyErrorKind::TreeDiffers) }
    }

    fn refuse(&self, kind: KeyErrorKind) -> Error {
        let path = self.path.clone().unwrap_or_else(|| "-".into());
        Error::Key(KeyError { path, kind })
    }
}
