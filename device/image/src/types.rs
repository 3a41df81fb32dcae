//! Numbers and names of the format (image format §2, §4).

use crate::Reason;
use crate::bytes::{bytes_at, is_zero, u32_at};
use hartlock_algorithm::{Algorithm, Family, HashId};

/// Payloads and the bundle itself are padded to this many bytes.
pub const PAGE_SIZE: u64 = 4096;
/// Maximum number of signers of a manifest (§4.1).
pub const MAX_SIGNERS: usize = 4;
/// Maximum number of payloads of a manifest (§4.1).
pub const MAX_PAYLOADS: usize = 8;
/// Maximum number of keys of a trust list (§4.4).
pub const MAX_TRUSTED_KEYS: usize = 8;
/// Bytes of a key id (§2.5).
pub const KEY_ID_SIZE: usize = 48;
/// Bytes of a key record (§4.2).
pub const KEY_RECORD_SIZE: usize = 64;

/// `value` rounded up to a multiple of `alignment` (a power of two), or `None` past `u64::MAX`.
#[inline]
pub const fn align_up(value: u64, alignment: u64) -> Option<u64> {
    match value.checked_add(alignment.wrapping_sub(1)) {
        Some(sum) => Some(sum & !alignment.wrapping_sub(1)),
        None => None,
    }
}

/// What a bundle is for (§2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BundleType {
    /// Verified by the ROM: OpenSBI, loader, device tree.
    Boot,
    /// Verified by the loader: kernel, initramfs, device tree.
    System,
}

impl BundleType {
    /// The tag in front of the signed bytes.
    pub const fn tag(self) -> &'static [u8; 16] {
        match self {
            BundleType::Boot => b"HARTLOCK-BOOT-v1",
            BundleType::System => b"HARTLOCK-SYST-v1",
        }
    }

    /// The type that a tag denotes.
    pub fn from_tag(tag: &[u8; 16]) -> Option<Self> {
        [BundleType::Boot, BundleType::System].into_iter().find(|kind| kind.tag() == tag)
    }

    /// `boot` or `system`.
    pub const fn name(self) -> &'static str {
        match self {
            BundleType::Boot => "boot",
            BundleType::System => "system",
        }
    }

    /// The payload types of this bundle, in their order in the bundle (§2.4).
    pub const fn payload_types(self) -> &'static [PayloadType] {
        match self {
            BundleType::Boot => &[PayloadType::Opensbi, PayloadType::Loader, PayloadType::BootFdt],
            BundleType::System => {
                &[PayloadType::Kernel, PayloadType::Initramfs, PayloadType::SystemFdt]
            }
        }
    }
}

/// How a payload's digest is formed (§6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeMode {
    /// The hash of the whole payload.
    Flat,
    /// The root over independently hashed blocks of `block_size` bytes.
    Blocks {
        /// A multiple of 1 KiB from 1 KiB to 16 MiB.
        block_size: u32,
    },
    /// ParallelHash of NIST SP 800-185 over blocks of `block_size` bytes.
    ParallelHash {
        /// As for [`TreeMode::Blocks`].
        block_size: u32,
    },
}

impl TreeMode {
    /// Smallest and largest block, and the unit, in bytes (§6.1).
    pub const BLOCK_SIZES: core::ops::RangeInclusive<u32> = 1024..=16 << 20;

    /// The mode of the fields `mode` and `block_size`.
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

    /// Whether a digest of this mode can be formed with `hash`: the table of §6.1.
    pub const fn allows(self, hash: HashId) -> bool {
        let is_shake = matches!(hash, HashId::Shake128 | HashId::Shake256);
        match self {
            TreeMode::Flat | TreeMode::Blocks { .. } => !is_shake,
            TreeMode::ParallelHash { .. } => is_shake,
        }
    }

    /// Bytes of a block, in a mode that has blocks.
    pub const fn block_size(self) -> Option<u32> {
        match self {
            TreeMode::Flat => None,
            TreeMode::Blocks { block_size } | TreeMode::ParallelHash { block_size } => {
                Some(block_size)
            }
        }
    }

    /// The fields `mode` and `block_size`.
    pub const fn fields(self) -> (u32, u32) {
        match self {
            TreeMode::Flat => (1, 0),
            TreeMode::Blocks { block_size } => (2, block_size),
            TreeMode::ParallelHash { block_size } => (3, block_size),
        }
    }

    /// `flat`, `blocks` or `parallelhash`.
    pub const fn name(self) -> &'static str {
        match self {
            TreeMode::Flat => "flat",
            TreeMode::Blocks { .. } => "blocks",
            TreeMode::ParallelHash { .. } => "parallelhash",
        }
    }
}

/// What a payload is (§2.4).
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
    /// Every type, in the order of the numbers.
    pub const ALL: [PayloadType; 6] = [
        PayloadType::Opensbi,
        PayloadType::Loader,
        PayloadType::BootFdt,
        PayloadType::Kernel,
        PayloadType::Initramfs,
        PayloadType::SystemFdt,
    ];

    /// The type with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u32 == number)
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name in files and on screens.
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

    /// Whether the payload is entered, and so has an entry point.
    pub const fn is_code(self) -> bool {
        matches!(self, PayloadType::Opensbi | PayloadType::Loader | PayloadType::Kernel)
    }

    /// Whether its bundle is useless without it.
    pub const fn is_required(self) -> bool {
        !matches!(self, PayloadType::Initramfs)
    }
}

/// Which set of trusted signers is enough (§5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// At least one trusted key signed.
    Any,
    /// Every trusted key signed.
    All,
    /// At least one classical and one post-quantum trusted key signed.
    Hybrid,
    /// Every signer is a trusted key. Only a workstation can require it: no field encodes it.
    EverySigner,
}

impl Policy {
    /// The policy with this number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Policy::Any),
            2 => Some(Policy::All),
            3 => Some(Policy::Hybrid),
            _ => None,
        }
    }

    /// Its number; 0, which no parser accepts, for the workstation's policy.
    pub const fn number(self) -> u32 {
        match self {
            Policy::Any => 1,
            Policy::All => 2,
            Policy::Hybrid => 3,
            Policy::EverySigner => 0,
        }
    }

    /// The name in files and on screens.
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
    /// A device in development.
    Development = 0,
    /// In the field.
    Production = 1,
    /// Sent back for failure analysis.
    Returned = 2,
}

impl Lifecycle {
    /// Every state, in the order of the bits.
    pub const ALL: [Lifecycle; 3] =
        [Lifecycle::Development, Lifecycle::Production, Lifecycle::Returned];
    /// The bits that a lifecycle mask may have.
    pub const MASK: u32 = 0b111;

    /// The state with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|state| *state as u32 == number)
    }

    /// The bit of a lifecycle mask.
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// The name in files and on screens.
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
    /// Checks a field.
    pub fn from_field(field: &[u8; 32]) -> Option<Self> {
        let text_len = field.iter().take_while(|byte| matches!(byte, 0x21..=0x7e)).count();
        (text_len > 0 && is_zero(field.get(text_len..)?)).then_some(Name(*field))
    }

    /// Makes a name from text.
    pub fn new(text: &str) -> Option<Self> {
        let mut field = [0; 32];
        field.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Self::from_field(&field)
    }

    /// The field as it is encoded.
    pub const fn field(&self) -> &[u8; 32] {
        &self.0
    }

    /// The text without padding.
    pub fn as_str(&self) -> &str {
        text(&self.0)
    }

    /// Whether this is the name.
    pub fn is(&self, name: &str) -> bool {
        self.0.strip_prefix(name.as_bytes()).is_some_and(is_zero)
    }
}

impl core::fmt::Debug for Name {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_str().fmt(f)
    }
}

/// What a device calls itself: board and SoC (§7.1). A pair, because a board can have one of several SoCs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Name of the board.
    pub board: Name,
    /// Name of the SoC.
    pub soc: Name,
}

/// Bytes of an identity: two names.
pub(crate) const IDENTITY_SIZE: usize = 64;

/// An identity as it is encoded.
pub type IdentityField = [u8; IDENTITY_SIZE];

impl Identity {
    /// Checks both names.
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

    /// Both names as they are encoded.
    pub fn field(&self) -> IdentityField {
        let mut field = [0; IDENTITY_SIZE];
        let (board, soc) = field.split_at_mut(32);
        board.copy_from_slice(self.board.field());
        soc.copy_from_slice(self.soc.field());
        field
    }
}

/// Text for human readers: up to 64 printable ASCII characters (§4.1).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Label([u8; 64]);

impl Label {
    /// Checks a field.
    pub fn from_field(field: &[u8; 64]) -> Option<Self> {
        let text_len = field.iter().take_while(|byte| matches!(byte, 0x20..=0x7e)).count();
        is_zero(field.get(text_len..)?).then_some(Label(*field))
    }

    /// Makes a label from text.
    pub fn new(text: &str) -> Option<Self> {
        let mut field = [0; 64];
        field.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Self::from_field(&field)
    }

    /// The field as it is encoded.
    pub const fn field(&self) -> &[u8; 64] {
        &self.0
    }

    /// The text without padding.
    pub fn as_str(&self) -> &str {
        text(&self.0)
    }
}

impl core::fmt::Debug for Label {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_str().fmt(f)
    }
}

/// The text in front of the zero padding of a checked field.
fn text(field: &[u8]) -> &str {
    let len = field.iter().take_while(|byte| **byte != 0).count();
    // The field was checked to be ASCII, so the default is never taken.
    field.get(..len).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or("")
}

/// A public key by reference: algorithm, parameters and id (§4.2).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyRecord {
    /// Number of the algorithm (§2.2); it need not be one that this version knows.
    pub algorithm: u32,
    /// Number of the parameter set.
    pub parameters: u32,
    /// Digest of algorithm, parameters and public key (§2.5).
    pub key_id: [u8; KEY_ID_SIZE],
}

impl KeyRecord {
    /// Reads a record; `None` if it is cut short or its reserved bytes are not zero.
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

    /// The algorithm, if this version of the format names it.
    pub fn known_algorithm(&self) -> Option<Algorithm> {
        Algorithm::from_numbers(self.algorithm, self.parameters)
    }

    /// Whether its algorithm is known, and of this family.
    // Out of line: several rules call it.
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

/// A short list with a fixed capacity: what `Vec` would be if a boot stage had a heap.
#[derive(Clone, Copy)]
pub struct List<T, const N: usize> {
    items: [Option<T>; N],
    len: usize,
}

impl<T: Copy, const N: usize> List<T, N> {
    /// An empty list.
    pub const fn new() -> Self {
        Self { items: [None; N], len: 0 }
    }

    /// Appends an item; `false` if the list is full.
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

    /// Items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.items.iter().flatten()
    }

    /// Items in order, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().flatten()
    }

    /// The item at `index`.
    pub fn get(&self, index: usize) -> Option<&T> {
        self.items.get(index)?.as_ref()
    }

    /// Number of items.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no item.
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
