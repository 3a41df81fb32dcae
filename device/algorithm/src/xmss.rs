//! XMSS and XMSS^MT parameter sets.

use core::fmt;

use crate::hash::HashId;
use crate::parameter_set::{Family, ParameterSet};

/// A parameter set, identified by its number in the XMSS or XMSS^MT registry (RFC 8391 §8, SP 800-208 §5). XMSS has
/// one layer of trees, XMSS^MT has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct XmssSet {
    oid: u8,
    /// Total height of all layers.
    height: u8,
    /// Number of tree layers.
    layers: u8,
    /// True for SHAKE256, false for SHA-256.
    is_shake: bool,
    /// Length of a node in bytes, 32 or 24.
    n: u8,
}

impl XmssSet {
    /// Returns the XMSS set with this registry number, or `None` if SP 800-208 does not approve one.
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

    /// Returns the XMSS^MT set with this registry number, or `None` if SP 800-208 does not approve one.
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

    /// Returns the number of the set in its registry.
    pub const fn oid(self) -> u32 {
        self.oid as u32
    }

    /// Returns the total height of all layers.
    pub const fn height(self) -> u8 {
        self.height
    }

    /// Returns the number of tree layers, which is 1 in XMSS.
    pub const fn layers(self) -> u8 {
        self.layers
    }

    /// Returns true if the set hashes with SHAKE256, false if with SHA-256.
    pub const fn is_shake(self) -> bool {
        self.is_shake
    }

    /// Returns the length of a node in bytes, 32 or 24.
    pub const fn n(self) -> usize {
        self.n as usize
    }

    /// Returns the length of a signature in bytes, where the index has `index_size` bytes (RFC 8391 §4.1.8, §4.2.3).
    const fn size_with_index(self, index_size: usize) -> usize {
        let n = self.n as usize;
        // Number of Winternitz chains in a one-time signature (RFC 8391 §3.1.1, SP 800-208 §5).
        let len = if n == 32 { 67 } else { 51 };
        index_size + n * (1 + self.layers as usize * len + self.height as usize)
    }
}

impl ParameterSet for XmssSet {
    const FAMILY: Family = Family::PostQuantum;
    const FEATURE: &'static str = "xmss";
    const IS_STATEFUL: bool = true;

    fn from_numbers(algorithm: u32, parameters: u32) -> Option<Self> {
        if algorithm == 17 { Self::single(parameters) } else { Self::multi(parameters) }
    }

    fn numbers(self) -> (u32, u32) {
        (if self.layers == 1 { 17 } else { 18 }, self.oid())
    }

    fn public_key_size(self) -> usize {
        4 + 2 * self.n()
    }

    /// Returns the length of a signature in bytes. The index has four bytes in XMSS. In XMSS^MT it has the minimum
    /// number of bytes that hold `height` bits.
    fn signature_size(self) -> Option<usize> {
        let is_single = self.layers == 1;
        let index_size = if is_single { 4 } else { usize::from(self.height.div_ceil(8)) };
        Some(self.size_with_index(index_size))
    }

    fn hash(self) -> HashId {
        if self.is_shake { HashId::Shake256 } else { HashId::Sha256 }
    }

    fn write_name(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, layers, n, .. } = self;
        let scheme = if layers == 1 { "xmss" } else { "xmssmt" };
        write!(f, "{scheme}-{}-{height}", if self.is_shake { "shake256" } else { "sha2" })?;
        if layers > 1 {
            write!(f, "-{layers}")?;
        }
        write!(f, "-{}", u32::from(n) * 8)
    }

    fn all() -> impl Iterator<Item = Self> {
        (1..=21).filter_map(Self::single).chain((1..=0x38).filter_map(Self::multi))
    }
}
