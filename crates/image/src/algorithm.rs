//! Signature algorithms that this version of the format names (image format §2.2).
//!
//! An [`Algorithm`] is a pair of numbers that stands in the table of the specification, and nothing
//! else can be made into one. Sizes follow from the numbers; who verifies is another crate.

use core::fmt;

use crate::types::HashId;

/// Whether a quantum computer would break the algorithm (§2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Rests on factoring or discrete logarithms.
    Classical,
    /// Rests on hashes or lattices.
    PostQuantum,
}

/// A signature algorithm with its parameters (§2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Ed25519, RFC 8032 §5.1.
    Ed25519,
    /// RSASSA-PSS or RSASSA-PKCS1-v1_5, RFC 8017 §8, with the exponent 65537.
    Rsa {
        /// How the digest becomes a number.
        padding: RsaPadding,
        /// Bits of the modulus: 2048, 3072 or 4096.
        modulus_bits: u16,
        /// SHA-256, SHA-384 or SHA-512; of the mask, too, and the salt is as long as its output.
        hash: HashId,
    },
    /// ECDSA, FIPS 186-5 §6.
    Ecdsa(Curve),
    /// HSS, RFC 8554 §6, with SHA-256; LMS is HSS with one level.
    Hss(HssSet),
    /// XMSS, RFC 8391 §4.1, in a set that SP 800-208 approves.
    Xmss(XmssSet),
    /// XMSS^MT, RFC 8391 §4.2, in a set that SP 800-208 approves.
    XmssMt(XmssSet),
    /// ML-DSA, FIPS 204, pure with an empty context.
    MlDsa(MlDsaSet),
    /// SLH-DSA, FIPS 205, pure with an empty context.
    SlhDsa(SlhDsaSet),
}

/// How RSA makes a number of a digest (RFC 8017 §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the names of the standard")]
pub enum RsaPadding {
    Pss,
    Pkcs1,
}

/// A curve of SP 800-186 and the hash that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Curve {
    /// P-256 with SHA-256.
    P256 = 1,
    /// P-384 with SHA-384.
    P384 = 2,
}

/// Levels, and what the tree at the top is; the trees below say themselves what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HssSet {
    levels: u8,
    /// LM-OTS type (RFC 8554 §4.1, SP 800-208 §4).
    ots: u8,
    /// LMS type (RFC 8554 §5.1, SP 800-208 §4).
    lms: u8,
}

/// A set by its number in the registry of XMSS or of XMSS^MT (RFC 8391 §8, SP 800-208 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct XmssSet {
    oid: u8,
    /// Height of all trees together.
    height: u8,
    /// Layers of trees.
    layers: u8,
    /// SHAKE256 instead of SHA-256.
    is_shake: bool,
    /// Bytes of a node: 32 or 24.
    n: u8,
}

/// A parameter set of FIPS 204 §4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the names of the standard")]
pub enum MlDsaSet {
    MlDsa44 = 44,
    MlDsa65 = 65,
    MlDsa87 = 87,
}

/// A parameter set of FIPS 205 §11, numbered as in its table 2 from 1 to 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlhDsaSet(u8);

impl HssSet {
    /// The parameters of a key with one to eight levels.
    pub const fn new(levels: u8, lms: u8, ots: u8) -> Option<Self> {
        // Tree and one-time signature have nodes of the same length (SP 800-208 §4).
        let is_pair = matches!((lms, ots), (5..=9, 1..=4) | (10..=14, 5..=8));
        if is_pair && levels >= 1 && levels <= 8 { Some(Self { levels, ots, lms }) } else { None }
    }

    /// Levels of trees, 1 to 8.
    pub const fn levels(self) -> u8 {
        self.levels
    }

    /// LMS type of the tree at the top.
    pub const fn lms_type(self) -> u8 {
        self.lms
    }

    /// LM-OTS type of the tree at the top.
    pub const fn ots_type(self) -> u8 {
        self.ots
    }

    /// Bytes of a node: 32 or 24.
    pub const fn n(self) -> usize {
        if self.lms < 10 { 32 } else { 24 }
    }

    /// Height of the tree at the top.
    pub const fn height(self) -> u8 {
        5 * if self.lms < 10 { self.lms - 4 } else { self.lms - 9 }
    }

    /// Winternitz parameter of the tree at the top: bits of a digit.
    pub const fn w(self) -> u8 {
        1 << if self.ots < 5 { self.ots - 1 } else { self.ots - 5 }
    }

    /// Bytes of a signature by the tree at the top.
    const fn lms_signature_size(self) -> usize {
        // Chains of a one-time signature (RFC 8554 §4.1, SP 800-208 §4.1).
        let p = match self.ots {
            1 => 265,
            2 => 133,
            3 => 67,
            4 => 34,
            5 => 200,
            6 => 101,
            7 => 51,
            _ => 26,
        };
        12 + self.n() * (1 + p + self.height() as usize)
    }
}

impl XmssSet {
    /// A set of XMSS.
    pub const fn single(oid: u32) -> Option<Self> {
        let (first, is_shake, n) = match oid {
            1..=3 => (1, false, 32),
            13..=15 => (13, false, 24),
            16..=18 => (16, true, 32),
            19..=21 => (19, true, 24),
            _ => return None,
        };
        let height = match oid - first {
            0 => 10,
            1 => 16,
            _ => 20,
        };
        Some(Self { oid: oid as u8, height, layers: 1, is_shake, n })
    }

    /// A set of XMSS^MT.
    pub const fn multi(oid: u32) -> Option<Self> {
        let (first, is_shake, n) = match oid {
            0x01..=0x08 => (0x01, false, 32),
            0x21..=0x28 => (0x21, false, 24),
            0x29..=0x30 => (0x29, true, 32),
            0x31..=0x38 => (0x31, true, 24),
            _ => return None,
        };
        let (height, layers) = match oid - first {
            0 => (20, 2),
            1 => (20, 4),
            2 => (40, 2),
            3 => (40, 4),
            4 => (40, 8),
            5 => (60, 3),
            6 => (60, 6),
            _ => (60, 12),
        };
        Some(Self { oid: oid as u8, height, layers, is_shake, n })
    }

    /// Number in its registry.
    pub const fn oid(self) -> u32 {
        self.oid as u32
    }

    /// Height of all trees together.
    pub const fn height(self) -> u8 {
        self.height
    }

    /// Layers of trees: 1 in XMSS.
    pub const fn layers(self) -> u8 {
        self.layers
    }

    /// Whether it hashes with SHAKE256 and not with SHA-256.
    pub const fn is_shake(self) -> bool {
        self.is_shake
    }

    /// Bytes of a node: 32 or 24.
    pub const fn n(self) -> usize {
        self.n as usize
    }

    /// Bytes of a signature whose index has `index_size` bytes (RFC 8391 §4.1.8, §4.2.3).
    const fn signature_size(self, index_size: usize) -> usize {
        let n = self.n as usize;
        // Chains of a one-time signature (RFC 8391 §3.1.1, SP 800-208 §5).
        let len = if n == 32 { 67 } else { 51 };
        index_size + n * (1 + self.layers as usize * len + self.height as usize)
    }
}

impl MlDsaSet {
    /// Every set.
    pub const ALL: [Self; 3] = [Self::MlDsa44, Self::MlDsa65, Self::MlDsa87];
}

impl SlhDsaSet {
    /// The set with this number.
    pub const fn new(number: u32) -> Option<Self> {
        if matches!(number, 1..=12) { Some(Self(number as u8)) } else { None }
    }

    /// Its number: odd ones hash with SHA-2, even ones with SHAKE.
    pub const fn number(self) -> u32 {
        self.0 as u32
    }

    /// Bytes of a node: 16, 24 or 32.
    pub const fn n(self) -> usize {
        16 + 8 * ((self.0 - 1) >> 2) as usize
    }

    /// Whether signatures are small and signing is slow, and not the other way round.
    pub const fn is_small(self) -> bool {
        (self.0 - 1) & 2 == 0
    }

    /// Whether it hashes with SHAKE256 and not with SHA-2.
    pub const fn is_shake(self) -> bool {
        self.0 & 1 == 0
    }
}

impl Algorithm {
    /// The algorithm behind the numbers of a key record or signature block.
    pub const fn from_numbers(algorithm: u32, parameters: u32) -> Option<Self> {
        Some(match algorithm {
            1 if parameters == 0 => Algorithm::Ed25519,
            2 | 3 => {
                let padding = if algorithm == 2 { RsaPadding::Pss } else { RsaPadding::Pkcs1 };
                let modulus_bits = match parameters >> 16 {
                    bits @ (2048 | 3072 | 4096) => bits as u16,
                    _ => return None,
                };
                let hash = match parameters & 0xffff {
                    1 => HashId::Sha256,
                    2 => HashId::Sha384,
                    3 => HashId::Sha512,
                    _ => return None,
                };
                Algorithm::Rsa { padding, modulus_bits, hash }
            }
            4 => Algorithm::Ecdsa(match parameters {
                1 => Curve::P256,
                2 => Curve::P384,
                _ => return None,
            }),
            16 => {
                let [lms, ots, levels, high] = parameters.to_le_bytes();
                match HssSet::new(levels, lms, ots) {
                    Some(set) if high == 0 => Algorithm::Hss(set),
                    _ => return None,
                }
            }
            17 => match XmssSet::single(parameters) {
                Some(set) => Algorithm::Xmss(set),
                None => return None,
            },
            18 => match XmssSet::multi(parameters) {
                Some(set) => Algorithm::XmssMt(set),
                None => return None,
            },
            19 => Algorithm::MlDsa(match parameters {
                44 => MlDsaSet::MlDsa44,
                65 => MlDsaSet::MlDsa65,
                87 => MlDsaSet::MlDsa87,
                _ => return None,
            }),
            20 => match SlhDsaSet::new(parameters) {
                Some(set) => Algorithm::SlhDsa(set),
                None => return None,
            },
            _ => return None,
        })
    }

    /// Its `(algorithm, parameters)` numbers.
    pub const fn numbers(self) -> (u32, u32) {
        match self {
            Algorithm::Ed25519 => (1, 0),
            Algorithm::Rsa { padding, modulus_bits, hash } => {
                let algorithm = match padding {
                    RsaPadding::Pss => 2,
                    RsaPadding::Pkcs1 => 3,
                };
                (algorithm, (modulus_bits as u32) << 16 | hash as u32)
            }
            Algorithm::Ecdsa(curve) => (4, curve as u32),
            Algorithm::Hss(HssSet { levels, ots, lms }) => {
                (16, u32::from_le_bytes([lms, ots, levels, 0]))
            }
            Algorithm::Xmss(set) => (17, set.oid()),
            Algorithm::XmssMt(set) => (18, set.oid()),
            Algorithm::MlDsa(set) => (19, set as u32),
            Algorithm::SlhDsa(set) => (20, set.number()),
        }
    }

    /// Bytes of a public key.
    pub const fn public_key_size(self) -> usize {
        match self {
            Algorithm::Ed25519 => 32,
            // RSAPublicKey in DER: a modulus with its top bit set, and 65537, behind their headers.
            Algorithm::Rsa { modulus_bits, .. } => modulus_bits as usize / 8 + 14,
            Algorithm::Ecdsa(Curve::P256) => 65,
            Algorithm::Ecdsa(Curve::P384) => 97,
            Algorithm::Hss(set) => 28 + set.n(),
            Algorithm::Xmss(set) | Algorithm::XmssMt(set) => 4 + 2 * set.n as usize,
            Algorithm::MlDsa(MlDsaSet::MlDsa44) => 1312,
            Algorithm::MlDsa(MlDsaSet::MlDsa65) => 1952,
            Algorithm::MlDsa(MlDsaSet::MlDsa87) => 2592,
            Algorithm::SlhDsa(set) => 2 * set.n(),
        }
    }

    /// Bytes of a signature; `None` if they follow from the signature itself: HSS of several levels.
    pub const fn signature_size(self) -> Option<usize> {
        Some(match self {
            Algorithm::Ed25519 => 64,
            Algorithm::Rsa { modulus_bits, .. } => modulus_bits as usize / 8,
            Algorithm::Ecdsa(Curve::P256) => 64,
            Algorithm::Ecdsa(Curve::P384) => 96,
            Algorithm::Hss(set) if set.levels == 1 => 4 + set.lms_signature_size(),
            Algorithm::Hss(_) => return None,
            Algorithm::Xmss(set) => set.signature_size(4),
            Algorithm::XmssMt(set) => set.signature_size(set.height.div_ceil(8) as usize),
            Algorithm::MlDsa(MlDsaSet::MlDsa44) => 2420,
            Algorithm::MlDsa(MlDsaSet::MlDsa65) => 3309,
            Algorithm::MlDsa(MlDsaSet::MlDsa87) => 4627,
            Algorithm::SlhDsa(set) => match (set.n(), set.is_small()) {
                (16, true) => 7856,
                (16, false) => 17088,
                (24, true) => 16224,
                (24, false) => 35664,
                (_, true) => 29792,
                (_, false) => 49856,
            },
        })
    }

    /// Classical or post-quantum.
    pub const fn family(self) -> Family {
        match self {
            Algorithm::Ed25519 | Algorithm::Rsa { .. } | Algorithm::Ecdsa(_) => Family::Classical,
            Algorithm::Hss(_)
            | Algorithm::Xmss(_)
            | Algorithm::XmssMt(_)
            | Algorithm::MlDsa(_)
            | Algorithm::SlhDsa(_) => Family::PostQuantum,
        }
    }

    /// Whether each signature spends a one-time key, so that a private key has a state.
    pub const fn is_stateful(self) -> bool {
        matches!(self, Algorithm::Hss(_) | Algorithm::Xmss(_) | Algorithm::XmssMt(_))
    }

    /// What a number stands for, whatever its parameters.
    pub const fn scheme_name(algorithm: u32) -> Option<&'static str> {
        Some(match algorithm {
            1 => "ed25519",
            2 => "rsa-pss",
            3 => "rsa-pkcs1",
            4 => "ecdsa",
            16 => "lms",
            17 => "xmss",
            18 => "xmssmt",
            19 => "ml-dsa",
            20 => "slh-dsa",
            _ => return None,
        })
    }

    /// Every algorithm, in the order of the numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        let rsa = |size: u32| (1..=3).map(move |hash| size << 16 | hash);
        let rsa = move || [2048, 3072, 4096].into_iter().flat_map(rsa);
        let hss = (1..=8).flat_map(|levels| {
            let pairs = (1..=8).flat_map(|ots| (5..=14).map(move |lms| [lms, ots]));
            pairs.map(move |[lms, ots]| u32::from_le_bytes([lms, ots, levels, 0]))
        });
        let pairs = [(1, 0)]
            .into_iter()
            .chain(rsa().map(|parameters| (2, parameters)))
            .chain(rsa().map(|parameters| (3, parameters)))
            .chain([(4, 1), (4, 2)])
            .chain(hss.map(|parameters| (16, parameters)))
            .chain((1..=21).map(|oid| (17, oid)))
            .chain((1..=0x38).map(|oid| (18, oid)))
            .chain([(19, 44), (19, 65), (19, 87)])
            .chain((1..=12).map(|number| (20, number)));
        pairs.filter_map(|(algorithm, parameters)| Self::from_numbers(algorithm, parameters))
    }

    /// The algorithm whose [`Display`](fmt::Display) form this is.
    pub fn from_name(name: &str) -> Option<Self> {
        /// Compares what is written with a text, and keeps nothing.
        struct Rest<'a>(Option<&'a str>);
        impl fmt::Write for Rest<'_> {
            fn write_str(&mut self, part: &str) -> fmt::Result {
                self.0 = self.0.and_then(|rest| rest.strip_prefix(part));
                self.0.map(|_| ()).ok_or(fmt::Error)
            }
        }
        Self::all().find(|algorithm| {
            let mut rest = Rest(Some(name));
            fmt::write(&mut rest, format_args!("{algorithm}")).is_ok() && rest.0 == Some("")
        })
    }
}

/// The name in files, on screens and on command lines: that of the standard in small letters, with
/// hyphens.
impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Algorithm::Ed25519 => f.write_str("ed25519"),
            Algorithm::Rsa { padding, modulus_bits, hash } => {
                let padding = match padding {
                    RsaPadding::Pss => "pss",
                    RsaPadding::Pkcs1 => "pkcs1",
                };
                write!(f, "rsa-{padding}-{modulus_bits}-{}", hash.name())
            }
            Algorithm::Ecdsa(Curve::P256) => f.write_str("ecdsa-p256"),
            Algorithm::Ecdsa(Curve::P384) => f.write_str("ecdsa-p384"),
            Algorithm::Hss(set) => {
                match set.levels {
                    1 => f.write_str("lms")?,
                    levels => write!(f, "hss-l{levels}")?,
                }
                let hash = if set.n() == 32 { "sha256" } else { "sha256-192" };
                write!(f, "-{hash}-h{}-w{}", set.height(), set.w())
            }
            Algorithm::Xmss(set) => write!(f, "xmss-{set}"),
            Algorithm::XmssMt(set) => write!(f, "xmssmt-{set}"),
            Algorithm::MlDsa(set) => write!(f, "ml-dsa-{}", set as u32),
            Algorithm::SlhDsa(set) => {
                let hash = if set.is_shake() { "shake" } else { "sha2" };
                let form = if set.is_small() { "s" } else { "f" };
                write!(f, "slh-dsa-{hash}-{}{form}", set.n() * 8)
            }
        }
    }
}

impl fmt::Display for XmssSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, layers, n, .. } = *self;
        write!(f, "{}-{height}", if self.is_shake { "shake256" } else { "sha2" })?;
        if layers > 1 {
            write!(f, "-{layers}")?;
        }
        write!(f, "-{}", u32::from(n) * 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::string::ToString;

    #[test]
    fn every_algorithm_has_its_own_numbers_and_its_own_name() {
        let all: std::vec::Vec<_> = Algorithm::all().collect();
        // 1 + 9 + 9 + 2, 8 levels of two times 5 by 4, 12, 32, 3, 12.
        assert_eq!(all.len(), 21 + 8 * 40 + 12 + 32 + 3 + 12);
        let mut names = BTreeSet::new();
        for algorithm in &all {
            let (number, parameters) = algorithm.numbers();
            assert_eq!(Algorithm::from_numbers(number, parameters), Some(*algorithm));
            assert!(names.insert(algorithm.to_string()), "{algorithm} names two");
            assert_eq!(Algorithm::from_name(&algorithm.to_string()), Some(*algorithm));
        }
        assert_eq!(Algorithm::from_name("ml-dsa-8"), None);
        assert_eq!(Algorithm::from_name("ml-dsa-877"), None);
    }

    #[test]
    fn numbers_outside_of_the_table_are_nobodys() {
        let outside = [
            (0, 0),
            (1, 1),
            (2, 3072 << 16),
            (2, 1024 << 16 | 1),
            (3, 3072 << 16 | 4),
            (4, 0),
            (4, 3),
            (5, 0),
            (16, 0x0001_0105 | 1 << 24),
            (16, 0x0000_0105),
            (16, 0x0009_0105),
            (16, 0x0001_0505),
            (17, 0),
            (17, 4),
            (17, 22),
            (18, 9),
            (18, 0x39),
            (19, 0),
            (20, 0),
            (20, 13),
            (21, 0),
        ];
        for (algorithm, parameters) in outside {
            assert_eq!(
                Algorithm::from_numbers(algorithm, parameters),
                None,
                "{algorithm} {parameters}"
            );
        }
    }

    /// Sizes that the standards state: RFC 8554 and 8391 examples, FIPS 204 table 2, FIPS 205 table 2.
    #[test]
    fn sizes_are_those_of_the_standards() {
        for (name, public_key, signature) in [
            ("ed25519", 32, 64),
            ("rsa-pss-3072-sha384", 398, 384),
            ("ecdsa-p384", 97, 96),
            ("lms-sha256-h10-w4", 60, 4 + 2508),
            ("lms-sha256-192-h5-w8", 52, 4 + 780),
            ("xmss-sha2-10-256", 68, 2500),
            ("xmss-sha2-20-192", 52, 1732),
            ("xmssmt-sha2-60-12-256", 68, 27688),
            ("xmssmt-shake256-20-2-192", 52, 2955),
            ("ml-dsa-87", 2592, 4627),
            ("slh-dsa-sha2-128s", 32, 7856),
            ("slh-dsa-shake-256f", 64, 49856),
        ] {
            let algorithm = Algorithm::from_name(name).unwrap();
            assert_eq!(algorithm.public_key_size(), public_key, "{name}");
            assert_eq!(algorithm.signature_size(), Some(signature), "{name}");
        }
        assert_eq!(Algorithm::from_name("hss-l2-sha256-h5-w8").unwrap().signature_size(), None);
    }
}
