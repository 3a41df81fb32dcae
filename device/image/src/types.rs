//! Numbers and names of the format (image format §2, §4).

use crate::Reason;
use crate::bytes::{bytes_at, is_zero, u32_at};
use hartlock_algorithm::{Algorithm, Family, HashId};

/// Alignment in bytes of payloads and of the end of the bundle.
pub const PAGE_SIZE: u64 = 4096;
/// Maximum number of signers of a manifest (§4.1).
pub const MAX_SIGNERS: usize = 4;
/// Maximum number of payloads of a manifest (§4.1).
pub const MAX_PAYLOADS: usize = 8;
/// Maximum number of keys of a trust list (§4.4).
pub const MAX_TRUSTED_KEYS: usize = 8;
/// Length of a key id in bytes (§2.5).
pub const KEY_ID_SIZE: usize = 48;
/// Length of a key record in bytes (§4.2).
pub const KEY_RECORD_SIZE: usize = 64;

/// Rounds `value` up to a multiple of `alignment`, which is a power of two. Returns `None` if the result exceeds
/// `u64::MAX`.
#[inline]
pub const fn align_up(value: u64, alignment: u64) -> Option<u64> {
    match value.checked_add(alignment.wrapping_sub(1)) {
        Some(sum) => Some(sum & !alignment.wrapping_sub(1)),
        None => None,
    }
}

/// The type of a bundle (§2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BundleType {
    /// A bundle for the ROM, with OpenSBI, loader and device tree.
    Boot,
    /// A bundle for the loader, with kernel, initramfs and device tree.
    System,
}

impl BundleType {
    /// Returns the tag at the start of the signed bytes.
    pub const fn tag(self) -> &'static [u8; 16] {
        match self {
            BundleType::Boot => b"HARTLOCK-BOOT-v1",
            BundleType::System => b"HARTLOCK-SYST-v1",
        }
    }

    /// Returns the type with this tag, or `None` if the tag is unknown.
    pub fn from_tag(tag: &[u8; 16]) -> Option<Self> {
        [BundleType::Boot, BundleType::System].into_iter().find(|kind| kind.tag() == tag)
    }

    /// Returns the name of the type: `boot` or `system`.
    pub const fn name(self) -> &'static str {
        match self {
            BundleType::Boot => "boot",
            BundleType::System => "system",
        }
    }

    /// Returns the payload types that this bundle can have, in their order in the bundle (§2.4).
    pub const fn payload_types(self) -> &'static [PayloadType] {
        match self {
            BundleType::Boot => &[PayloadType::Opensbi, PayloadType::Loader, PayloadType::BootFdt],
            BundleType::System => {
                &[PayloadType::Kernel, PayloadType::Initramfs, PayloadType::SystemFdt]
            }
        }
    }
}

/// The mode in which the digest of a payload is computed (§6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeMode {
    /// Hash of the whole payload.
    Flat,
    /// Root over independently hashed blocks of `block_size` bytes.
    Blocks {
        /// Length of a block in bytes: a multiple of 1 KiB from 1 KiB to 16 MiB.
        block_size: u32,
    },
    /// ParallelHash (NIST SP 800-185) over blocks of `block_size` bytes.
    ParallelHash {
        /// Length of a block in bytes, with the limits of [`TreeMode::Blocks`].
        block_size: u32,
    },
}

impl TreeMode {
    /// Range of block lengths in bytes. A block length is a multiple of the smallest one (§6.1).
    pub const BLOCK_SIZES: core::ops::RangeInclusive<u32> = 1024..=16 << 20;

    /// Decodes the fields `mode` and `block_size`.
    ///
    /// # Errors
    /// `ModeUnknown`, `BlockSizeNotAllowed`.
    pub fn from_fields(mode: u32, block_size: u32) -> Result<Self, Reason> {
        let is_block_size = block_size & 1023 == 0 && Self::BLOCK_SIZES.contains(&block_size);
        match mode {
            1 if block_size == 0 => Ok(TreeMode::Flat),
            2 if is_block_size => Ok(TreeMode::Blocks { block_size }),
            3 if is_block_size => Ok(TreeMode::ParallelHash { block_size }),
            1..=3 => Err(Reason::BlockSizeNotAllowed),
            _ => Err(Reason::ModeUnknown),
        }
    }

    /// Returns true if this mode can use `hash` (table of §6.1).
    pub const fn allows(self, hash: HashId) -> bool {
        let is_shake = matches!(hash, HashId::Shake128 | HashId::Shake256);
        match self {
            TreeMode::Flat | TreeMode::Blocks { .. } => !is_shake,
            TreeMode::ParallelHash { .. } => is_shake,
        }
    }

    /// Returns the length of a block in bytes, or `None` for a mode without blocks.
    pub const fn block_size(self) -> Option<u32> {
        match self {
            TreeMode::Flat => None,
            TreeMode::Blocks { block_size } | TreeMode::ParallelHash { block_size } => {
                Some(block_size)
            }
        }
    }

    /// Encodes the fields `mode` and `block_size`.
    pub const fn fields(self) -> (u32, u32) {
        match self {
            TreeMode::Flat => (1, 0),
            TreeMode::Blocks { block_size } => (2, block_size),
            TreeMode::ParallelHash { block_size } => (3, block_size),
        }
    }

    /// Returns the name of the mode: `flat`, `blocks` or `parallelhash`.
    pub const fn name(self) -> &'static str {
        match self {
            TreeMode::Flat => "flat",
            TreeMode::Blocks { .. } => "blocks",
            TreeMode::ParallelHash { .. } => "parallelhash",
        }
    }
}

/// The type of a payload (§2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
#[allow(missing_docs, reason = "the variants are the names of the table")]
pub enum PayloadType {
    Opensbi = 1,
    Loader = 2,
    BootFdt = 3,
    Kernel = 16,
    Initramfs = 17,
    SystemFdt = 18,
}

impl PayloadType {
    /// All payload types in the order of their numbers.
    pub const ALL: [PayloadType; 6] = [
        PayloadType::Opensbi,
        PayloadType::Loader,
        PayloadType::BootFdt,
        PayloadType::Kernel,
        PayloadType::Initramfs,
        PayloadType::SystemFdt,
    ];

    /// Returns the type with this number, or `None` if the number is unknown.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u32 == number)
    }

    /// Returns the type with this name, or `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name of the type in files and output.
    pub const fn name(self) -> &'static str {
        match self {
            PayloadType::Opensbi => "opensbi",
            PayloadType::Loader => "loader",
            PayloadType::BootFdt => "boot-fdt",
            PayloadType::Kernel => "kernel",
            PayloadType::Initramfs => "initramfs",
            PayloadType::SystemFdt => "system-fdt",
        }
    }

    /// Returns true if the payload is executed and therefore has an entry point.
    pub const fn is_code(self) -> bool {
        matches!(self, PayloadType::Opensbi | PayloadType::Loader | PayloadType::Kernel)
    }

    /// Returns true if a bundle must contain this payload.
    pub const fn is_required(self) -> bool {
        !matches!(self, PayloadType::Initramfs)
    }
}

/// The set of trusted signers that must have signed (§5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// At least one trusted key must have signed.
    Any,
    /// Every trusted key must have signed.
    All,
    /// At least one classical and one post-quantum trusted key must have signed.
    Hybrid,
    /// Every signer must be a trusted key. No field encodes this policy; only a workstation can require it.
    EverySigner,
}

impl Policy {
    /// Returns the policy with this number, or `None` if the number is unknown.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Policy::Any),
            2 => Some(Policy::All),
            3 => Some(Policy::Hybrid),
            _ => None,
        }
    }

    /// Returns the number of the policy. [`Policy::EverySigner`] has the number 0, which no parser accepts.
    pub const fn number(self) -> u32 {
        match self {
            Policy::Any => 1,
            Policy::All => 2,
            Policy::Hybrid => 3,
            Policy::EverySigner => 0,
        }
    }

    /// Returns the name of the policy in files and output.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Any => "any",
            Policy::All => "all",
            Policy::Hybrid => "hybrid",
            Policy::EverySigner => "every-signer",
        }
    }
}

/// The lifecycle state of a device (§7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Lifecycle {
    /// The device is in development.
    Development = 0,
    /// The device is in the field.
    Production = 1,
    /// The device was sent back for failure analysis.
    Returned = 2,
}

impl Lifecycle {
    /// All states in the order of their bits.
    pub const ALL: [Lifecycle; 3] =
        [Lifecycle::Development, Lifecycle::Production, Lifecycle::Returned];
    /// Mask of the bits that a lifecycle mask may contain.
    pub const MASK: u32 = 0b111;

    /// Returns the state with this number, or `None` if the number is unknown.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|state| *state as u32 == number)
    }

    /// Returns the bit of the state in a lifecycle mask.
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Returns the name of the state in files and output.
    pub const fn name(self) -> &'static str {
        match self {
            Lifecycle::Development => "development",
            Lifecycle::Production => "production",
            Lifecycle::Returned => "returned",
        }
    }
}

/// A board or SoC name: 1 to 32 visible ASCII characters (§4.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name([u8; 32]);

impl Name {
    /// Checks an encoded name. Returns `None` if it is not 1 to 32 visible ASCII characters followed by zeros.
    pub fn from_field(field: &[u8; 32]) -> Option<Self> {
        let text_len = field.iter().take_while(|byte| matches!(byte, 0x21..=0x7e)).count();
        (text_len > 0 && is_zero(field.get(text_len..)?)).then_some(Name(*field))
    }

    /// Makes a name from text. Returns `None` if the text is not a valid name.
    pub fn new(text: &str) -> Option<Self> {
        let mut field = [0; 32];
        field.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Self::from_field(&field)
    }

    /// Returns the encoded name, padded with zeros.
    pub const fn field(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the name as text, without padding.
    pub fn as_str(&self) -> &str {
        text(&self.0)
    }

    /// Returns true if the name equals `name`.
    pub fn is(&self, name: &str) -> bool {
        self.0.strip_prefix(name.as_bytes()).is_some_and(is_zero)
    }
}

impl core::fmt::Debug for Name {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_str().fmt(f)
    }
}

/// Board and SoC of a device (§7.1). They form a pair, because a board can have one of several SoCs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Name of the board.
    pub board: Name,
    /// Name of the SoC.
    pub soc: Name,
}

/// Length of an encoded identity in bytes.
pub(crate) const IDENTITY_SIZE: usize = 64;

/// An encoded identity.
pub type IdentityField = [u8; IDENTITY_SIZE];

impl Identity {
    /// Decodes an identity and checks both names.
    ///
    /// # Errors
    /// `BoardNameInvalid`, `SocNameInvalid`.
    pub fn from_field(field: &IdentityField) -> Result<Self, Reason> {
        let name = |offset| bytes_at::<32>(field, offset).and_then(|it| Name::from_field(&it));
        Ok(Self {
            board: name(0).ok_or(Reason::BoardNameInvalid)?,
            soc: name(32).ok_or(Reason::SocNameInvalid)?,
        })
    }

    /// Encodes both names.
    pub fn field(&self) -> IdentityField {
        let mut field = [0; IDENTITY_SIZE];
        let (board, soc) = field.split_at_mut(32);
        board.copy_from_slice(self.board.field());
        soc.copy_from_slice(self.soc.field());
        field
    }
}

/// Text for human readers of up to 64 printable ASCII characters (§4.1).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Label([u8; 64]);

impl Label {
    /// Checks an encoded label. Returns `None` if it is not printable ASCII followed by zeros.
    pub fn from_field(field: &[u8; 64]) -> Option<Self> {
        let text_len = field.iter().take_while(|byte| matches!(byte, 0x20..=0x7e)).count();
        is_zero(field.get(text_len..)?).then_some(Label(*field))
    }

    /// Makes a label from text. Returns `None` if the text is not a valid label.
    pub fn new(text: &str) -> Option<Self> {
        let mut field = [0; 64];
        field.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Self::from_field(&field)
    }

    /// Returns the encoded label, padded with zeros.
    pub const fn field(&self) -> &[u8; 64] {
        &self.0
    }

    /// Returns the label as text, without padding.
    pub fn as_str(&self) -> &str {
        text(&self.0)
    }
}

impl core::fmt::Debug for Label {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_str().fmt(f)
    }
}

/// Returns the text before the zero padding of a checked field.
fn text(field: &[u8]) -> &str {
    let len = field.iter().take_while(|byte| **byte != 0).count();
    // The field was checked to be ASCII, so the default value is never used.
    field.get(..len).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or("")
}

/// A reference to a public key: algorithm, parameters and key id (§4.2).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyRecord {
    /// Number of the algorithm (§2.2). It can be a number that this version does not know.
    pub algorithm: u32,
    /// Number of the parameter set.
    pub parameters: u32,
    /// Digest of algorithm, parameters and public key (§2.5).
    pub key_id: [u8; KEY_ID_SIZE],
}

impl KeyRecord {
    /// Parses a record. Returns `None` if it is too short or if its reserved bytes are not zero.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let reserved: [u8; 8] = bytes_at(bytes, 56)?;
        if !is_zero(&reserved) {
            return None;
        }
        Some(KeyRecord {
            algorithm: u32_at(bytes, 0)?,
            parameters: u32_at(bytes, 4)?,
            key_id: bytes_at(bytes, 8)?,
        })
    }

    /// Returns the algorithm, or `None` if this version of the format does not define it.
    pub fn known_algorithm(&self) -> Option<Algorithm> {
        Algorithm::from_numbers(self.algorithm, self.parameters)
    }

    /// Returns true if the algorithm is known and belongs to this family.
    // The function is not inlined, because several rules call it.
    #[inline(never)]
    pub fn is_of(&self, family: Family) -> bool {
        self.known_algorithm().is_some_and(|known| known.family() == family)
    }
}

impl core::fmt::Debug for KeyRecord {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "key {}/{} ", self.algorithm, self.parameters)?;
        self.key_id.iter().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A short list with a fixed capacity, which replaces `Vec` because a boot stage has no heap.
#[derive(Clone, Copy)]
pub struct List<T, const N: usize> {
    items: [Option<T>; N],
    len: usize,
}

impl<T: Copy, const N: usize> List<T, N> {
    /// Makes an empty list.
    pub const fn new() -> Self {
        Self { items: [None; N], len: 0 }
    }

    /// Appends an item. Returns `false` if the list is full.
    #[must_use]
    pub fn push(&mut self, item: T) -> bool {
        match self.items.get_mut(self.len) {
            Some(place) => {
                *place = Some(item);
                self.len = self.len.wrapping_add(1);
                true
            }
            None => false,
        }
    }

    /// Iterates over the items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.items.iter().flatten()
    }

    /// Iterates over the items in order, with mutable references.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().flatten()
    }

    /// Returns the item at `index`, or `None` past the end.
    pub fn get(&self, index: usize) -> Option<&T> {
        self.items.get(index)?.as_ref()
    }

    /// Returns the number of items.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the list has no items.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: Copy, const N: usize> Default for List<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + PartialEq, const N: usize> PartialEq for List<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl<T: Copy + core::fmt::Debug, const N: usize> core::fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Copy, const N: usize> FromIterator<T> for List<T, N> {
    /// Takes at most `N` items and drops the rest.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::new();
        for item in items {
            if !list.push(item) {
                break;
            }
        }
        list
    }
}

#[cfg(test)]
mod tests;
