//! Hash functions by name, each with one output length.

use hartlock_image::HashId;
use hartlock_kernels::xof::Xof;
use hartlock_kernels::{HashFamily, MAX_LANES};
use hartlock_verify::tree::{self, Hasher, SoftwareHasher};

use crate::{Engine, KernelChoice, lanes};

/// Maximum length of a digest in bytes.
pub const MAX_LEN: usize = 64;

/// A hash that a case can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the names of the standards")]
pub enum Name {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Sha512_224,
    Sha512_256,
    Sha3_224,
    Sha3_256,
    Sha3_384,
    Sha3_512,
    Shake128,
    Shake256,
    Kt128,
}

impl Name {
    const ALL: [(&'static str, Name, usize); 14] = [
        ("sha1", Name::Sha1, 20),
        ("sha224", Name::Sha224, 28),
        ("sha256", Name::Sha256, 32),
        ("sha384", Name::Sha384, 48),
        ("sha512", Name::Sha512, 64),
        ("sha512-224", Name::Sha512_224, 28),
        ("sha512-256", Name::Sha512_256, 32),
        ("sha3-224", Name::Sha3_224, 28),
        ("sha3-256", Name::Sha3_256, 32),
        ("sha3-384", Name::Sha3_384, 48),
        ("sha3-512", Name::Sha3_512, 64),
        // The output lengths of SHAKE as the hash of a signature (RFC 8702 §3.1, FIPS 204 §5.4.1).
        ("shake128", Name::Shake128, 32),
        ("shake256", Name::Shake256, 64),
        ("kt128", Name::Kt128, 32),
    ];

    /// Returns the hash with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _, _)| *known == name).map(|(_, hash, _)| hash)
    }

    /// Returns the length of a digest in bytes.
    pub fn output_len(self) -> usize {
        Self::ALL.into_iter().find(|(_, hash, _)| *hash == self).map_or(0, |(_, _, len)| len)
    }

    /// Returns the length of an input block in bytes, to which HMAC pads its key; `None` if HMAC is not
    /// defined for the hash.
    pub const fn block_len(self) -> Option<usize> {
        match self {
            Name::Sha1 | Name::Sha224 | Name::Sha256 => Some(64),
            Name::Sha384 | Name::Sha512 | Name::Sha512_224 | Name::Sha512_256 => Some(128),
            Name::Sha3_224 => Some(144),
            Name::Sha3_256 => Some(136),
            Name::Sha3_384 => Some(104),
            Name::Sha3_512 => Some(72),
            Name::Shake128 | Name::Shake256 | Name::Kt128 => None,
        }
    }

    /// Returns the hash id in bundles; `None` if payloads cannot use the hash.
    pub const fn id(self) -> Option<HashId> {
        Some(match self {
            Name::Sha256 => HashId::Sha256,
            Name::Sha384 => HashId::Sha384,
            Name::Sha512 => HashId::Sha512,
            Name::Sha3_256 => HashId::Sha3_256,
            Name::Sha3_384 => HashId::Sha3_384,
            Name::Sha3_512 => HashId::Sha3_512,
            Name::Kt128 => HashId::Kt128,
            Name::Shake128 => HashId::Shake128,
            Name::Shake256 => HashId::Shake256,
            _ => return None,
        })
    }

    /// Returns the family whose kernel computes the hash; `None` if this project has no kernel for it.
    pub(crate) const fn family(self) -> Option<HashFamily> {
        match self {
            Name::Sha256 => Some(HashFamily::Sha256),
            Name::Sha384 | Name::Sha512 => Some(HashFamily::Sha512),
            Name::Sha1 | Name::Sha224 | Name::Sha512_224 | Name::Sha512_256 => None,
            _ => Some(HashFamily::Keccak),
        }
    }
}

/// A digest, padded with zeros.
#[derive(Clone, Copy, Debug)]
pub struct Digest {
    bytes: [u8; MAX_LEN],
    len: usize,
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&self.bytes)
    }
}

impl Digest {
    /// Makes a digest of up to 64 bytes.
    pub(crate) fn of(digest: &[u8]) -> Self {
        let mut bytes = [0; MAX_LEN];
        for (to, from) in bytes.iter_mut().zip(digest) {
            *to = *from;
        }
        Self { bytes, len: digest.len().min(MAX_LEN) }
    }
}

/// Computes the digest of a message in two parts; `None` if the hash is not supported here, or if the
/// forced tier has no kernel for it.
pub fn digest(engine: &Engine, name: Name, head: &[u8], body: &[u8]) -> Option<Digest> {
    let kernel_choice = match name.family() {
        Some(family) => engine.kernel_choice(family)?,
        None => KernelChoice::Single,
    };
    match (name, name.id()) {
        // KT128 hashes the chunks of a long message in lanes, so its implementation selects the
        // kernel.
        (Name::Kt128, Some(id)) if engine.lanes.is_none() => one(engine, id, head, body),
        (_, Some(id)) if kernel_choice == KernelChoice::Lanes => {
            in_every_lane(engine, id, head, body)
        }
        (_, Some(id)) => one(engine, id, head, body),
        (Name::Sha3_224, _) if kernel_choice == KernelChoice::Single => {
            let mut hash = Xof::sha3_224(&engine.kernels);
            hash.update(head);
            hash.update(body);
            let mut digest = [0; 28];
            hash.finalize().read(&mut digest);
            Some(Digest::of(&digest))
        }
        (Name::Sha3_224, _) => None,
        _ => legacy_digest(name, head, body),
    }
}

fn one(engine: &Engine, hash: HashId, head: &[u8], body: &[u8]) -> Option<Digest> {
    let mut hasher = SoftwareHasher::with(hash, &engine.kernels);
    hasher.update(head);
    hasher.update(body);
    hasher.finalize().get(..hash.output_len()).map(Digest::of)
}

/// Hashes the same message in every lane. If the lanes disagree, the result is a digest of a wrong length.
fn in_every_lane(engine: &Engine, hash: HashId, head: &[u8], body: &[u8]) -> Option<Digest> {
    let lanes = lanes::count(engine, hash);
    let (heads, bodies) = ([head; MAX_LANES], [body; MAX_LANES]);
    let (mut first, mut is_alike): (Option<tree::Digest>, bool) = (None, true);
    let is_done = lanes::digest_many(
        engine,
        hash,
        heads.get(..lanes)?,
        bodies.get(..lanes)?,
        &mut |digest| {
            is_alike &= *first.get_or_insert(*digest) == *digest;
        },
    );
    let digest = first.filter(|_| is_done)?;
    if !is_alike {
        return Some(Digest::of(&[]));
    }
    digest.get(..hash.output_len()).map(Digest::of)
}

/// Computes the hashes that only older signatures use. They are available only on a workstation.
#[cfg(feature = "host")]
fn legacy_digest(name: Name, head: &[u8], body: &[u8]) -> Option<Digest> {
    fn by<H: sha2::Digest>(head: &[u8], body: &[u8]) -> Option<Digest> {
        Some(Digest::of(&H::new().chain_update(head).chain_update(body).finalize()))
    }
    match name {
        Name::Sha1 => by::<sha1::Sha1>(head, body),
        Name::Sha224 => by::<sha2::Sha224>(head, body),
        Name::Sha512_224 => by::<sha2::Sha512_224>(head, body),
        Name::Sha512_256 => by::<sha2::Sha512_256>(head, body),
        _ => None,
    }
}

#[cfg(not(feature = "host"))]
const fn legacy_digest(_: Name, _: &[u8], _: &[u8]) -> Option<Digest> {
    None
}

#[cfg(all(test, feature = "host"))]
mod tests {
    use super::*;

    /// Hashes in lanes, of which only the first one gives a right digest.
    fn broken(
        hash: HashId,
        heads: &[&[u8]],
        bodies: &[&[u8]],
        on_digest: &mut dyn FnMut(&tree::Digest),
    ) -> bool {
        for (index, (head, body)) in heads.iter().zip(bodies).enumerate() {
            let digest = one(&Engine::PORTABLE, hash, head, body).unwrap();
            let mut field = tree::padded(digest.as_ref());
            field[0] ^= u8::from(index > 0);
            on_digest(&field);
        }
        true
    }

    #[test]
    fn lanes_that_disagree_give_no_digest_that_could_be_right() {
        let engine = Engine { lanes: Some(broken), ..Engine::PORTABLE };
        let digest = digest(&engine, Name::Sha256, b"a", b"bc").unwrap();
        assert!(digest.as_ref().is_empty());
        let absent = Engine { lanes: Some(|_, _, _, _| false), ..Engine::PORTABLE };
        assert!(super::digest(&absent, Name::Sha256, b"a", b"bc").is_none());
    }
}
