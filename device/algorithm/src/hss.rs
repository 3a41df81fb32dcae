//! HSS and LMS. LMS is HSS with one level.

use core::fmt;

use crate::hash::HashId;
use crate::parameter_set::{Family, ParameterSet};

/// Number of levels, and the parameters of the top-level tree. Each signature states the parameters
/// of the lower trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HssSet {
    levels: u8,
    /// LM-OTS type (RFC 8554 §4.1, SP 800-208 §4).
    ots: u8,
    /// LMS type (RFC 8554 §5.1, SP 800-208 §4).
    lms: u8,
}

impl HssSet {
    /// Returns the parameter set of a key with one to eight levels. Returns `None` if the number of
    /// levels is out of range, or if the LMS and LM-OTS types are not a pair with equal node
    /// lengths.
    pub const fn new(levels: u8, lms: u8, ots: u8) -> Option<Self> {
        // The tree and its one-time signatures use nodes of the same length (SP 800-208 §4).
        let is_pair = matches!((lms, ots), (5..=9, 1..=4) | (10..=14, 5..=8));
        if is_pair && levels >= 1 && levels <= 8 { Some(Self { levels, ots, lms }) } else { None }
    }

    /// Returns the number of tree levels, 1 to 8.
    pub const fn levels(self) -> u8 {
        self.levels
    }

    /// Returns the LMS type of the top-level tree.
    pub const fn lms_type(self) -> u8 {
        self.lms
    }

    /// Returns the LM-OTS type of the top-level tree.
    pub const fn ots_type(self) -> u8 {
        self.ots
    }

    /// Returns the length of a node in bytes, 32 or 24.
    pub const fn n(self) -> usize {
        if self.lms < 10 { 32 } else { 24 }
    }

    /// Returns the height of the top-level tree.
    pub const fn height(self) -> u8 {
        5 * if self.lms < 10 { self.lms - 4 } else { self.lms - 9 }
    }

    /// Returns the Winternitz parameter of the top-level tree: number of bits per digit.
    pub const fn w(self) -> u8 {
        1 << if self.ots < 5 { self.ots - 1 } else { self.ots - 5 }
    }

    /// Returns the number of Winternitz chains in a one-time signature (RFC 8554 §4.1, SP 800-208
    /// §4.1).
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

    /// Returns the length of a signature of the top-level tree in bytes.
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

    /// Returns `None` for several levels, because each signature states the parameters of the lower
    /// trees, which determine the length.
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
