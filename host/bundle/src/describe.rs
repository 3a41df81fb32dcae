//! What a manifest says, in a form that owns its data and can be printed.

use std::num::NonZeroU64;

use hartlock_boards::{Boards, Known};
use hartlock_image::{
    Algorithm, Closing, KeyRecord, Lifecycle, List, MAX_SIGNERS, Manifest, PayloadRecord, Reason,
    SignatureBlocks,
};

use serde::{Serialize, Serializer};

/// A manifest. The function that returns it says whether it was verified.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// `boot` or `system`.
    #[serde(rename = "type")]
    pub bundle_type: &'static str,
    /// Board that the bundle is for.
    pub board: String,
    /// SoC that the bundle is for.
    pub soc: String,
    /// Further devices that the bundle is for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_for: Vec<Device>,
    /// What the board guarantees against devices that read and write memory, if it is known here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<&'static str>,
    /// Text for people.
    pub label: String,
    /// Anti-rollback counter.
    pub security_version: u64,
    /// Of a system bundle: lowest security version of the boot bundle with which it boots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_boot_version: Option<u64>,
    /// States in which the bundle may boot.
    pub lifecycle: Vec<&'static str>,
    /// Seconds since 1970-01-01; 0 = not stated.
    pub created: u64,
    /// Bytes of the bundle.
    pub bundle_size: u64,
    /// Profiles that it keeps to (image format §2.2).
    pub profiles: Vec<&'static str>,
    /// Who signs, in order.
    pub signers: Vec<Key>,
    /// What the bundle carries, in order.
    pub payloads: Vec<Payload>,
    /// Of a boot bundle: who may sign the system bundle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Of a system bundle: the kernel's command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootargs: Option<String>,
}

/// A device by the names of its board and SoC.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields are the two names")]
pub struct Device {
    pub board: String,
    pub soc: String,
}

/// A public key by reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Key {
    /// Name of the algorithm, or its numbers if it is not known.
    pub algorithm: String,
    /// Key id (image format §2.5) in hexadecimal.
    pub key_id: String,
}

impl Key {
    /// Enough of the key id to tell keys apart on a screen. Not enough to trust one by: 64 bits
    /// can be matched by a search.
    pub fn short_id(&self) -> &str {
        self.key_id.get(..16).unwrap_or(&self.key_id)
    }
}

impl From<&KeyRecord> for Key {
    fn from(record: &KeyRecord) -> Self {
        let algorithm = match record.known_algorithm() {
            Some(known) => known.to_string(),
            None => format!("{}/{}", record.algorithm, record.parameters),
        };
        Self { algorithm, key_id: hex(&record.key_id) }
    }
}

/// One payload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Payload {
    /// What it is.
    #[serde(rename = "type")]
    pub payload_type: &'static str,
    /// First byte in the bundle.
    pub offset: u64,
    /// Bytes without padding.
    pub size: u64,
    /// First byte in memory.
    #[serde(serialize_with = "address")]
    pub load_address: u64,
    /// Bytes of memory that belong to it.
    pub memory_size: u64,
    /// First instruction; 0 for data.
    #[serde(serialize_with = "address")]
    pub entry: u64,
    /// Name of the hash.
    pub hash: &'static str,
    /// Whether NIST has approved it.
    pub is_nist_approved: bool,
    /// `flat`, `blocks` or `parallelhash`.
    pub mode: &'static str,
    /// Bytes of a block; 0 in mode `flat`.
    pub block_size: u32,
    /// Blocks that are hashed independently: 1 in mode `flat`, 0 if the payload is empty.
    pub block_count: u64,
    /// Digest in hexadecimal.
    pub digest: String,
    /// What other tools print, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain: Option<Plain>,
}

/// A digest that `sha256sum`, `sha384sum` or `sha512sum` gives for the payload's file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plain {
    /// The tool that prints it.
    pub tool: &'static str,
    /// In hexadecimal.
    pub digest: String,
}

impl From<&PayloadRecord> for Payload {
    fn from(record: &PayloadRecord) -> Self {
        Self {
            payload_type: record.payload_type.name(),
            offset: record.offset,
            size: record.size,
            load_address: record.load_address,
            memory_size: record.memory_size,
            entry: record.entry,
            hash: record.hash.name(),
            is_nist_approved: record.hash.is_nist_approved(),
            mode: record.mode.name(),
            block_size: record.mode.block_size().unwrap_or(0),
            block_count: record.block_count(),
            digest: hex(record.digest()),
            plain: None,
        }
    }
}

/// Who may sign the next bundle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trust {
    /// Which set of signers is enough.
    pub policy: &'static str,
    /// Algorithms that the next stage carries. Numbers without a name are left out.
    pub carried: Vec<&'static str>,
    /// The keys.
    pub keys: Vec<Key>,
}

impl Description {
    /// What a manifest says, and what is known about its board.
    pub fn new(manifest: &Manifest<'_>, boards: &Boards) -> Self {
        Self {
            bundle_type: manifest.bundle_type.name(),
            board: manifest.identity.board.as_str().to_string(),
            soc: manifest.identity.soc.as_str().to_string(),
            devices: boards.by_name(manifest.identity.board.as_str()).map(Known::devices),
            also_for: manifest
                .identities()
                .skip(1)
                .map(|identity| Device {
                    board: identity.board.as_str().to_string(),
                    soc: identity.soc.as_str().to_string(),
                })
                .collect(),
            label: manifest.label.as_str().to_string(),
            security_version: manifest.security_version,
            min_boot_version: manifest.extensions.boot_version.map(NonZeroU64::get),
            lifecycle: lifecycle_names(manifest.lifecycle_mask),
            created: manifest.created,
            bundle_size: manifest.bundle_size,
            profiles: crate::profile::kept_by(manifest),
            signers: manifest.signers.iter().map(Key::from).collect(),
            payloads: manifest.payloads.iter().map(Payload::from).collect(),
            trust: match &manifest.closing {
                Closing::Trust { list, carried } => Some(Trust {
                    policy: list.policy.name(),
                    carried: carried_names(*carried),
                    keys: list.keys.iter().map(Key::from).collect(),
                }),
                Closing::Bootargs(_) => None,
            },
            bootargs: manifest.bootargs().map(str::to_string),
        }
    }
}

/// Names of the algorithms in a set of them (image format §4.4).
pub fn carried_names(carried: u64) -> Vec<&'static str> {
    (0..u64::BITS)
        .filter(|number| carried >> number & 1 == 1)
        .filter_map(Algorithm::scheme_name)
        .collect()
}

/// Names of the states in a lifecycle mask.
pub fn lifecycle_names(mask: u32) -> Vec<&'static str> {
    Lifecycle::ALL
        .into_iter()
        .filter(|state| mask & state.bit() != 0)
        .map(Lifecycle::name)
        .collect()
}

/// Key records of signature blocks, in order.
pub(crate) fn block_keys(blocks: &SignatureBlocks<'_>) -> List<KeyRecord, MAX_SIGNERS> {
    blocks.iter().map(hartlock_verify::key_record).collect()
}

/// Reads a manifest whose signatures are **not verified**: for display, never for a decision.
///
/// # Errors
/// The first reason of image format §5.1 and §4.
pub(crate) fn parse_unverified<'a>(signed: &'a [u8], area: &[u8]) -> Result<Manifest<'a>, Reason> {
    Manifest::parse(signed, &block_keys(&SignatureBlocks::parse(area)?))
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Addresses are read by people and are hexadecimal everywhere else too.
fn address<S: Serializer>(address: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{address:#x}"))
}
