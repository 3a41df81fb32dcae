//! HSS, and LMS, which is HSS with one level.

use core::fmt;

use crate::hash::HashId;
use crate::parameter_set::{Family, ParameterSet};

/// Levels, and the parameters of the tree at the top; the trees below state their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HssSet {
    levels: u8,
    /// LM-OTS type (RFC 8554 §4.1, SP 800-208 §4).
    ots: u8,
    /// LMS type (RFC 8554 §5.1, SP 800-208 §4).
    lms: u8,
}

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

    /// Chains of a one-time signature (RFC 8554 §4.1, SP 800-208 §4.1).
    pub const fn chains(self) -> usize {
        match self.ots {
            1 => 265,
            2 => 133,
            3 => 67,
            4 => 34,
            5 => 200,
            6 => 101,
            7 => 51,
            _ => 26,
        }
    }

    /// Bytes of a signature by the tree at the top.
    const fn lms_signature_size(self) -> usize {
        12 + self.n() * (1 + self.chains() + self.height() as usize)
    }
}

impl ParameterSet for HssSet {
    const FAMILY: Family = Family::PostQuantum;
    const FEATURE: &'static str = "lms";
    const IS_STATEFUL: bool = true;

    fn from_numbers(_: u32, parameters: u32) -> Option<Self> {
        let [lms, ots, levels, high] = parameters.to_le_bytes();
        Self::new(levels, lms, ots).filter(|_| high == 0)
    }

    fn numbers(self) -> (u32, u32) {
        (16, u32::from_le_bytes([self.lms, self.ots, self.levels, 0]))
    }

    fn public_key_size(self) -> usize {
        28 + self.n()
    }

    /// Of several levels, each signature states the parameters of the trees below.
    fn signature_size(self) -> Option<usize> {
        (self.levels == 1).then(|| 4 + self.lms_signature_size())
    }

    fn hash(self) -> HashId {
        HashId::Sha256
    }

    fn write_name(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.levels {
            1 => f.write_str("lms")?,
            levels => write!(f, "hss-l{levels}")?,
        }
        let hash = if self.n() == 32 { "sha256" } else { "sha256-192" };
        write!(f, "-{hash}-h{}-w{}", self.height(), self.w())
    }

    fn all() -> impl Iterator<Item = Self> {
        (1..=8).flat_map(|levels| {
            let pairs = (1..=8).flat_map(|ots| (5..=14).map(move |lms| (lms, ots)));
            pairs.filter_map(move |(lms, ots)| Self::new(levels, lms, ots))
        })
    }
}
