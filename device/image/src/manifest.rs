//! The manifest (image format §4), which is parsed after its signatures were verified.

use crate::Reason;
use crate::bytes::{bytes_at, is_zero, u32_at, u64_at};
use crate::extension::{Extensions, MAX_EXTENSIONS_SIZE};
use crate::head::{HEADER_SIZE, Head};
use crate::payload::{PAYLOAD_RECORD_SIZE, PayloadRecord};
use crate::types::{
    BundleType, IDENTITY_SIZE, Identity, KEY_RECORD_SIZE, KeyRecord, Label, Lifecycle, List,
    MAX_PAYLOADS, MAX_SIGNERS, MAX_TRUSTED_KEYS, PAGE_SIZE, Policy, align_up,
};
use hartlock_algorithm::Family;

/// Longest kernel command line, in bytes: `COMMAND_LINE_SIZE` of Linux on RISC-V without its zero (§4.5).
pub const MAX_BOOTARGS: usize = 1023;

/// Keys and policy that authorize the next stage (§4.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrustList {
    /// Set of signers that the policy requires.
    pub policy: Policy,
    /// One to eight keys with different key ids.
    pub keys: List<KeyRecord, MAX_TRUSTED_KEYS>,
}

impl TrustList {
    /// Returns true if a stage can use every key. Bit i of `carried` is set if the stage supports the algorithm with
    /// number i (§4.4).
    pub fn is_usable_with(&self, carried: u64) -> bool {
        let is_carried =
            |key: &KeyRecord| carried.checked_shr(key.algorithm).is_some_and(|bits| bits & 1 == 1);
        self.keys.iter().all(is_carried)
    }

    /// Returns true if a bundle can exist that meets the policy (§4.4).
    pub fn is_satisfiable(&self) -> bool {
        let has = |family| self.keys.iter().any(|key| key.is_of(family));
        match self.policy {
            Policy::All => self.keys.len() <= MAX_SIGNERS,
            Policy::Hybrid => has(Family::Classical) && has(Family::PostQuantum),
            Policy::Any | Policy::EverySigner => true,
        }
    }
}

/// A kernel command line of printable ASCII characters (§4.5).
pub type Bootargs<'a> = &'a [u8];

/// The closing section of a manifest, which depends on the bundle type.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one manifest a stage, and no heap to box it"
)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Closing<'a> {
    /// The closing section of a boot bundle: the keys that may sign the system bundle.
    Trust {
        /// Keys and policy.
        list: TrustList,
        /// Bit mask of the algorithms that the loader supports with all their parameters. Bit i is the algorithm with
        /// number i of §2.2.
        carried: u64,
    },
    /// The closing section of a system bundle: the kernel command line.
    Bootargs(Bootargs<'a>),
}

/// An authenticated and well-formed manifest.
///
/// The manifest does not prove that the bundle is for this device, that it is new enough, or that a payload matches
/// its record (image format §6, §7).
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest<'a> {
    /// Type of the bundle.
    pub bundle_type: BundleType,
    /// Length of the signature area in bytes.
    pub signatures_size: u32,
    /// Length of the bundle in bytes.
    pub bundle_size: u64,
    /// Security version for anti-rollback.
    pub security_version: u64,
    /// Time of creation in seconds since 1970-01-01; 0 if not stated.
    pub created: u64,
    /// Bit mask of the lifecycle states in which the bundle may boot.
    pub lifecycle_mask: u32,
    /// Board and SoC that the bundle is for. The extensions can name others.
    pub identity: Identity,
    /// Text for human readers.
    pub label: Label,
    /// Keys that sign the bundle, in order.
    pub signers: List<KeyRecord, MAX_SIGNERS>,
    /// Payloads of the bundle, in order.
    pub payloads: List<PayloadRecord, MAX_PAYLOADS>,
    /// Optional records.
    pub extensions: Extensions<'a>,
    /// Section that depends on the bundle type.
    pub closing: Closing<'a>,
}

impl<'a> Manifest<'a> {
    /// Parses the signed region (§8 steps 6 to 10). Call this function only after the signatures over exactly these
    /// bytes were verified.
    ///
    /// `block_keys` has the algorithm, parameters and key id of each signature block, in order.
    ///
    /// # Errors
    /// The reasons of image format §4, and those of §5.2 that compare signature blocks with signers.
    pub fn parse(
        signed: &'a [u8],
        block_keys: &List<KeyRecord, MAX_SIGNERS>,
    ) -> Result<Self, Reason> {
        let head = Head::parse(signed)?;
        let bundle_type = head.bundle_type();
        let field32 = |offset| u32_at(signed, offset).ok_or(Reason::Truncated);
        let field64 = |offset| u64_at(signed, offset).ok_or(Reason::Truncated);

        let lifecycle_mask = field32(48)?;
        if lifecycle_mask == 0 || lifecycle_mask & !Lifecycle::MASK != 0 {
            return Err(Reason::LifecycleMaskInvalid);
        }
        let signer_count = field32(52)? as usize;
        if !(1..=MAX_SIGNERS).contains(&signer_count) {
            return Err(Reason::SignerCountOutOfRange);
        }
        let payload_count = field32(56)? as usize;
        if !(1..=MAX_PAYLOADS).contains(&payload_count) {
            return Err(Reason::PayloadCountOutOfRange);
        }
        let identity_field = bytes_at::<IDENTITY_SIZE>(signed, 64).ok_or(Reason::Truncated)?;
        let identity = Identity::from_field(&identity_field)?;
        let label = bytes_at::<64>(signed, 128)
            .and_then(|field| Label::from_field(&field))
            .ok_or(Reason::LabelInvalid)?;
        if !signed.get(192..HEADER_SIZE).is_some_and(is_zero) {
            return Err(Reason::ReservedNotZero);
        }
        let extensions_size = field32(60)? as usize;
        if extensions_size > MAX_EXTENSIONS_SIZE || !extensions_size.is_multiple_of(8) {
            return Err(Reason::ExtensionsSizeOutOfRange);
        }

        // The counts are at most 4 and 8, and the extensions have at most 2,048 bytes, so the following sums do not
        // overflow.
        let payloads_start = HEADER_SIZE.wrapping_add(signer_count.wrapping_mul(KEY_RECORD_SIZE));
        let extensions_start =
            payloads_start.wrapping_add(payload_count.wrapping_mul(PAYLOAD_RECORD_SIZE));
        let closing_start = extensions_start.wrapping_add(extensions_size);
        let closing_bytes = signed.get(closing_start..).ok_or(Reason::SignedSizeMismatch)?;
        let closing_size = closing_size(closing_bytes, bundle_type)?;
        if closing_bytes.len() != closing_size || signed.len() != head.signed_size() {
            return Err(Reason::SignedSizeMismatch);
        }

        let signer_bytes = signed.get(HEADER_SIZE..payloads_start).unwrap_or(&[]);
        let signers = parse_keys(signer_bytes, Reason::DuplicateSigner)?;
        compare_with_blocks(&signers, block_keys)?;

        let payload_bytes = signed.get(payloads_start..extensions_start).unwrap_or(&[]);
        let bundle_size = field64(24)?;
        let payloads =
            parse_payloads(payload_bytes, bundle_type, head.total_size() as u64, bundle_size)?;
        let extension_bytes = signed.get(extensions_start..closing_start).unwrap_or(&[]);
        let extensions =
            Extensions::parse(extension_bytes, bundle_type, &identity_field, &payloads)?;

        Ok(Self {
            bundle_type,
            signatures_size: field32(20)?,
            bundle_size,
            security_version: field64(32)?,
            created: field64(40)?,
            lifecycle_mask,
            identity,
            label,
            signers,
            payloads,
            extensions,
            closing: parse_closing(closing_bytes, bundle_type)?,
        })
    }

    /// Returns all devices that the bundle is for.
    pub fn identities(&self) -> impl Iterator<Item = Identity> + Clone + use<'a> {
        let others = self.extensions.identities.iter();
        // The fields were checked before, so `filter_map` drops none.
        core::iter::once(self.identity)
            .chain(others.filter_map(|field| Identity::from_field(field).ok()))
    }

    /// Returns the payload of this type, if the bundle has one.
    pub fn payload(&self, payload_type: crate::PayloadType) -> Option<&PayloadRecord> {
        self.payloads.iter().find(|payload| payload.payload_type == payload_type)
    }

    /// Returns the trust list of a boot bundle, or `None` for a system bundle.
    pub const fn trust(&self) -> Option<&TrustList> {
        match &self.closing {
            Closing::Trust { list, .. } => Some(list),
            Closing::Bootargs(_) => None,
        }
    }

    /// Returns the command line of a system bundle, or `None` for a boot bundle.
    pub fn bootargs(&self) -> Option<&'a str> {
        match self.closing {
            // The bytes were checked to be ASCII. The conversion to text is here, so that a stage that does not need
            // text does not contain the conversion.
            Closing::Bootargs(bootargs) => core::str::from_utf8(bootargs).ok(),
            Closing::Trust { .. } => None,
        }
    }
}

/// Returns the length in bytes that the closing section states for itself, after the checks of §8 step 6.
fn closing_size(closing: &[u8], bundle_type: BundleType) -> Result<usize, Reason> {
    let field = |offset| u32_at(closing, offset).ok_or(Reason::SignedSizeMismatch);
    match bundle_type {
        BundleType::Boot => {
            Policy::from_number(field(0)?).ok_or(Reason::PolicyUnknown)?;
            let key_count = field(4)? as usize;
            if !(1..=MAX_TRUSTED_KEYS).contains(&key_count) {
                return Err(Reason::TrustedKeyCountOutOfRange);
            }
            Ok(key_count.wrapping_mul(KEY_RECORD_SIZE).wrapping_add(16))
        }
        BundleType::System => {
            let len = field(0)? as usize;
            if len > MAX_BOOTARGS {
                return Err(Reason::BootargsTooLong);
            }
            Ok((len.wrapping_add(7) & !7).wrapping_add(8))
        }
    }
}

/// Parses key records. Returns the error `duplicate` if a key id occurs twice.
fn parse_keys<const N: usize>(
    bytes: &[u8],
    duplicate: Reason,
) -> Result<List<KeyRecord, N>, Reason> {
    let mut keys = List::<KeyRecord, N>::new();
    for record in bytes.chunks_exact(KEY_RECORD_SIZE) {
        let key = KeyRecord::parse(record).ok_or(Reason::ReservedNotZero)?;
        if keys.iter().any(|earlier| earlier.key_id == key.key_id) {
            return Err(duplicate);
        }
        if !keys.push(key) {
            return Err(Reason::InternalLimit);
        }
    }
    Ok(keys)
}

/// Checks that the signature blocks have exactly the keys of the signers, in the same order (§5.2).
fn compare_with_blocks(
    signers: &List<KeyRecord, MAX_SIGNERS>,
    block_keys: &List<KeyRecord, MAX_SIGNERS>,
) -> Result<(), Reason> {
    if block_keys.len() < signers.len() {
        return Err(Reason::SignatureBlockMissing);
    }
    if block_keys.len() > signers.len() {
        return Err(Reason::SignatureBlockExtra);
    }
    if signers.iter().ne(block_keys.iter()) {
        return Err(Reason::SignerMismatch);
    }
    Ok(())
}

/// Parses the payload records (§8 step 8). `end` is the offset of the end of the signature area.
fn parse_payloads(
    bytes: &[u8],
    bundle_type: BundleType,
    mut end: u64,
    bundle_size: u64,
) -> Result<List<PayloadRecord, MAX_PAYLOADS>, Reason> {
    let mut payloads = List::<PayloadRecord, MAX_PAYLOADS>::new();
    for record in bytes.as_chunks::<PAYLOAD_RECORD_SIZE>().0 {
        let payload = PayloadRecord::parse(record, bundle_type, payloads.iter(), end)?;
        // The sum does not saturate: the offset is bounded by the preceding sizes, and the size by 2^40.
        end = payload.offset.saturating_add(payload.size);
        if !payloads.push(payload) {
            return Err(Reason::InternalLimit);
        }
    }
    let is_present = |kind| payloads.iter().any(|payload| payload.payload_type == kind);
    if bundle_type.payload_types().iter().any(|kind| kind.is_required() && !is_present(*kind)) {
        return Err(Reason::PayloadMissing);
    }
    if align_up(end, PAGE_SIZE) != Some(bundle_size) {
        return Err(Reason::BundleSizeMismatch);
    }
    Ok(payloads)
}

/// Parses the closing section, whose length was checked before (§8 step 10).
fn parse_closing(closing: &[u8], bundle_type: BundleType) -> Result<Closing<'_>, Reason> {
    let field = |offset| u32_at(closing, offset).ok_or(Reason::SignedSizeMismatch);
    match bundle_type {
        BundleType::Boot => {
            let carried = u64_at(closing, 8).ok_or(Reason::SignedSizeMismatch)?;
            let list = TrustList {
                policy: Policy::from_number(field(0)?).ok_or(Reason::PolicyUnknown)?,
                keys: parse_keys(closing.get(16..).unwrap_or(&[]), Reason::DuplicateTrustedKey)?,
            };
            if !list.is_satisfiable() {
                return Err(Reason::PolicyUnsatisfiable);
            }
            if !list.is_usable_with(carried) {
                return Err(Reason::TrustedKeyNotCarried);
            }
            Ok(Closing::Trust { list, carried })
        }
        BundleType::System => {
            if field(4)? != 0 {
                return Err(Reason::ReservedNotZero);
            }
            let (bootargs, padding) = closing
                .get(8..)
                .and_then(|rest| rest.split_at_checked(u32_at(closing, 0)? as usize))
                .ok_or(Reason::SignedSizeMismatch)?;
            if !bootargs.iter().all(|byte| matches!(byte, 0x20..=0x7e)) {
                return Err(Reason::BootargsInvalid);
            }
            if !is_zero(padding) {
                return Err(Reason::BootargsPadding);
            }
            Ok(Closing::Bootargs(bootargs))
        }
    }
}
