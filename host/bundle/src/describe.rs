//! Descriptions of manifests that own their data and can be printed.

use std::num::NonZeroU64;

use hartlock_boards::{Boards, KnownBoard};
use hartlock_image::{
    Algorithm, Closing, KeyRecord, Lifecycle, List, MAX_SIGNERS, Manifest, PayloadRecord, Reason,
    SignatureBlocks,
};

use serde::{Serialize, Serializer};

/// The content of a manifest. Whether it was verified depends on the function that returns it. In JSON, what is not stated is
/// `null`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// Type of the bundle: `boot` or `system`.
    #[serde(rename = "type")]
    pub bundle_type: &'static str,
    /// Name of the board that the bundle is for.
    pub board: String,
    /// Name of the SoC that the bundle is for.
    pub soc: String,
    /// Further devices that the bundle is for.
    pub also_for: Vec<Device>,
    /// Protection of the board against devices that access memory themselves, if the board is known.
    pub devices: Option<&'static str>,
    /// Label, a text for people.
    #[serde(serialize_with = "stated_text")]
    pub label: String,
    /// Security version, which anti-rollback compares.
    pub security_version: u64,
    /// For a system bundle, the minimum security version of the boot bundle with which it boots.
    pub min_boot_version: Option<u64>,
    /// Lifecycle states in which the bundle may boot.
    pub lifecycle: Vec<&'static str>,
    /// Creation date in seconds since 1970-01-01; 0 if it is not stated.
    #[serde(serialize_with = "stated")]
    pub created: u64,
    /// Size of the bundle in bytes.
    pub bundle_size: u64,
    /// Profiles that the bundle conforms to (image format §2.2).
    pub profiles: Vec<&'static str>,
    /// Keys of the signers, in order.
    pub signers: Vec<Key>,
    /// Payloads, in order.
    pub payloads: Vec<Payload>,
    /// For a boot bundle, the keys that may sign the system bundle.
    pub trust: Option<Trust>,
    /// For a system bundle, the kernel command line; empty if it is not stated.
    #[serde(serialize_with = "stated_option")]
    pub bootargs: Option<String>,
}

/// A device, identified by board and SoC.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields are the two names")]
pub struct Device {
    pub board: String,
    pub soc: String,
}

/// A public key that is identified by its key id.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Key {
    /// Name of the algorithm, or its numbers if it is unknown.
    pub algorithm: String,
    /// Key id (image format §2.5) in hexadecimal.
    pub key_id: String,
    /// Where the private key is printed, if everybody has it.
    pub published: Option<&'static str>,
}

impl Key {
    /// Returns the first 16 digits of the key id, which are enough to tell keys apart on a screen. They are
    /// not enough to trust a key: another key with the same 64 bits can be found by a search.
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
        Self { algorithm, key_id: hex(&record.key_id), published: hartlock_keys::published(record) }
    }
}

/// The description of a payload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Payload {
    /// Type of the payload.
    #[serde(rename = "type")]
    pub payload_type: &'static str,
    /// Offset of the payload in the bundle, in bytes.
    pub offset: u64,
    /// Size in bytes, without padding.
    pub size: u64,
    /// Load address.
    #[serde(serialize_with = "address")]
    pub load_address: u64,
    /// Size of the memory that belongs to the payload, in bytes.
    pub memory_size: u64,
    /// Address of the first instruction; 0 for data.
    #[serde(serialize_with = "entry")]
    pub entry: u64,
    /// Name of the hash.
    pub hash: &'static str,
    /// True if the hash is approved by NIST.
    pub is_nist_approved: bool,
    /// Mode of the digest: `flat`, `blocks` or `parallelhash`.
    pub mode: &'static str,
    /// Block size in bytes; 0 in mode `flat`.
    #[serde(serialize_with = "stated")]
    pub block_size: u32,
    /// Number of blocks that are hashed independently: 1 in mode `flat`, 0 if the payload is empty.
    pub block_count: u64,
    /// Digest in hexadecimal.
    pub digest: String,
    /// Encryption of the payload, whose digest is then that of the cipher text.
    pub encryption: Option<PayloadEncryption>,
    /// Digest that other tools print, if the caller asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain: Option<ToolDigest>,
}

/// The encryption of a payload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PayloadEncryption {
    /// Name of the cipher.
    pub cipher: &'static str,
    /// Id of the class key in hexadecimal.
    pub class: String,
}

/// The digest that `sha256sum`, `sha384sum` or `sha512sum` prints for the file of a payload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolDigest {
    /// Name of the tool that prints it.
    pub tool: &'static str,
    /// Digest in hexadecimal.
    pub digest: String,
}

impl Payload {
    fn new(manifest: &Manifest<'_>, record: &PayloadRecord) -> Self {
        let encryption = manifest.extensions.encryption_of(record.payload_type);
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
            encryption: encryption
                .map(|it| PayloadEncryption { cipher: "aes-256-ctr", class: hex(&it.class_id) }),
            plain: None,
        }
    }
}

/// The keys that may sign the next bundle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trust {
    /// Name of the policy, which determines which sets of signers are sufficient.
    pub policy: &'static str,
    /// Signature algorithms that the next stage supports. Numbers without a name are left out.
    pub carried: Vec<&'static str>,
    /// Trusted keys.
    pub keys: Vec<Key>,
}

impl Description {
    /// Describes a manifest, with the properties of its board if that is known.
    pub fn new(manifest: &Manifest<'_>, boards: &Boards) -> Self {
        Self {
            bundle_type: manifest.bundle_type.name(),
            board: manifest.identity.board.as_str().to_string(),
            soc: manifest.identity.soc.as_str().to_string(),
            devices: boards.by_name(manifest.identity.board.as_str()).map(KnownBoard::devices),
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
            payloads: manifest.payloads.iter().map(|it| Payload::new(manifest, it)).collect(),
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

/// Returns what boots with a bundle, in words, one line each: what a signer who sees no payload can compare.
pub fn in_words(description: &Description) -> Vec<String> {
    let Description { bundle_type, board, soc, security_version, .. } = description;
    let mut lines = vec![format!(
        "{bundle_type} bundle for {board} ({soc}), security version {security_version}"
    )];
    let others = &description.also_for;
    lines.extend(others.iter().map(|it| format!("also for {} ({})", it.board, it.soc)));
    lines.push(format!("lifecycle {}", description.lifecycle.join(", ")));
    if !description.label.is_empty() {
        lines.push(format!("label {}", description.label));
    }
    lines.extend(
        description.min_boot_version.map(|it| format!("boot bundle of version {it} or later")),
    );
    for payload in &description.payloads {
        let Payload { payload_type, size, mode, hash, digest, load_address, .. } = payload;
        let cipher = if payload.encryption.is_some() { ", encrypted" } else { "" };
        lines.push(format!(
            "{payload_type} at {load_address:#x}, {size} bytes{cipher}, {hash} ({mode}) {digest}"
        ));
    }
    if let Some(trust) = &description.trust {
        let keys = trust.keys.iter().map(|key| format!("{} {}", key.algorithm, key.key_id));
        lines.push(format!("trusts, {}: {}", trust.policy, keys.collect::<Vec<_>>().join(", ")));
    }
    lines.extend(description.bootargs.as_ref().map(|it| format!("bootargs {it}")));
    lines
}

/// Returns the names of the algorithms in a bit mask (image format §4.4).
pub fn carried_names(carried: u64) -> Vec<&'static str> {
    (0..u64::BITS)
        .filter(|number| carried >> number & 1 == 1)
        .filter_map(Algorithm::scheme_name)
        .collect()
}

/// Returns the names of the states in a lifecycle mask.
pub fn lifecycle_names(mask: u32) -> Vec<&'static str> {
    Lifecycle::ALL
        .into_iter()
        .filter(|state| mask & state.bit() != 0)
        .map(Lifecycle::name)
        .collect()
}

/// Returns the key records of signature blocks, in order.
pub(crate) fn block_keys(blocks: &SignatureBlocks<'_>) -> List<KeyRecord, MAX_SIGNERS> {
    blocks.iter().map(hartlock_verify::key_record).collect()
}

/// Parses a manifest whose signatures are **not verified**: for display, never for a decision.
///
/// # Errors
/// Returns the first reason for which the manifest or the signature blocks are malformed (image format §4 and
/// §5.1).
pub(crate) fn parse_unverified<'a>(signed: &'a [u8], area: &[u8]) -> Result<Manifest<'a>, Reason> {
    Manifest::parse(signed, &block_keys(&SignatureBlocks::parse(area)?))
}

/// Returns bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Serializes a number, of which 0 means that it is not stated.
pub(crate) fn stated<T: Serialize + PartialEq + Default, S: Serializer>(
    number: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Some(number).filter(|it| **it != T::default()).serialize(serializer)
}

/// Serializes a text that is not stated if it is empty.
pub(crate) fn stated_text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    Some(text).filter(|text| !text.is_empty()).serialize(serializer)
}

fn stated_option<S: Serializer>(text: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
    stated_text(text.as_deref().unwrap_or_default(), to)
}

/// Serializes the entry of code; data has none.
fn entry<S: Serializer>(entry: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    if *entry == 0 { serializer.serialize_none() } else { address(entry, serializer) }
}

/// Serializes an address as hexadecimal text, as addresses are written everywhere else.
fn address<S: Serializer>(address: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{address:#x}"))
}
