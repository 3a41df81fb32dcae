//! The description of a bundle, read from a `bundle.toml` or made from the equivalent options. An example:
//!
//! ```toml
//! type = "system"              # boot | system
//! board = "qemu-virt"          # default; or a file "board.toml", relative to bundle.toml
//! soc = "virt"                 # default
//! also_for = [{ board = "another", soc = "virt" }]   # further devices, at most seven
//! label = "Debian installer"   # optional
//! security_version = 1
//! min_boot_version = 1         # system only: minimum security version of the boot bundle
//! encrypt = "fleet.pem"        # system only: class key for which payloads are encrypted
//! lifecycle = ["development", "production"]   # default
//! bootargs = "console=ttyS0"   # system only
//! hash = "sha384"              # hash of payloads that name none
//! block_size = 81920           # block size in bytes of payloads that name none
//!
//! [[payload]]
//! type = "kernel"
//! file = "linux"               # relative to bundle.toml
//! # optional: load_address, memory_size, entry, hash, mode, block_size, encrypted
//!
//! [trust]                      # boot only: keys that may sign the system bundle
//! policy = "any"               # any | all | hybrid
//! keys = ["root.pub.pem"]
//! ```

use std::path::{Path, PathBuf};

use hartlock_image::{
    Algorithm, BundleType, Encryption, HashId, KeyRecord, Lifecycle, PayloadRecord, PayloadType,
    Policy, Profile,
};
use serde::{Deserialize, Deserializer};
use toml::de::DeTable;

use crate::Error;
use hartlock_boards::Boards;
use hartlock_files::read_small;

/// Maximum length of `bundle.toml` in bytes.
const MAX_SPEC_SIZE: usize = 1 << 20;

/// Maximum number of characters of a line that is quoted.
const MAX_LINE: usize = 300;

/// An error in the description of a bundle: it is incomplete or contradicts itself.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum SpecError {
    #[error("`{}` is not a valid description of a bundle", .path.display())]
    Toml { path: PathBuf, message: String },
    #[error("the type of the bundle is not given")]
    TypeMissing,
    #[error("the security version is not given")]
    SecurityVersionMissing,
    #[error("no load address is known for the {payload} on board `{board}`")]
    LoadAddressMissing { payload: &'static str, board: String },
    #[error("a boot bundle has no kernel command line")]
    BootargsInBoot,
    #[error("payloads of a boot bundle are not encrypted: the ROM does not decrypt")]
    EncryptionInBoot,
    #[error("the {0} is to be encrypted, and no class key is given")]
    ClassKeyMissing(&'static str),
    #[error("a system bundle has no list of trusted keys")]
    TrustInSystem,
    #[error("a boot bundle has no minimum boot version")]
    BootVersionInBoot,
    #[error("the bundle is for more than eight devices")]
    TooManyDevices,
    #[error("`{}` has two different lists of the signature algorithms that it supports", .path.display())]
    CarriedTwice { path: PathBuf },
    #[error("SOURCE_DATE_EPOCH is not a number of seconds: `{value}`")]
    SourceDateEpoch { value: String },
}

impl SpecError {
    /// Returns advice for the user, in one clause.
    pub fn hint(&self) -> String {
        match self {
            SpecError::Toml { .. } => {
                "correct the marked place; `hartlock sign --help` lists the fields"
            }
            SpecError::TypeMissing => "add `type = \"system\"` or `--type system` (or boot)",
            SpecError::SecurityVersionMissing => {
                "add `security_version = 1` or `--security-version 1`, and raise it when older \
                 bundles must not boot any more"
            }
            SpecError::LoadAddressMissing { .. } => "add `load_address` to this payload, or name the description of the board: `--board FILE.toml`",
            SpecError::EncryptionInBoot => {
                "leave `encrypt` out: a boot bundle has no secrets, its programs are public"
            }
            SpecError::ClassKeyMissing(_) => {
                "add `--encrypt` with the key of a class, or sign a new bundle of plain files"
            }
            SpecError::BootargsInBoot => "put `bootargs` into the system bundle",
            SpecError::TrustInSystem => "put `[trust]` into the boot bundle",
            SpecError::BootVersionInBoot => "put `min_boot_version` into the system bundle",
            SpecError::TooManyDevices => "sign a second bundle for the other devices",
            SpecError::CarriedTwice { .. } => "link the loader again, with one such list in it",
            SpecError::SourceDateEpoch { .. } => {
                "set it to seconds since 1970-01-01, for instance with `date +%s`, or unset it"
            }
        }
        .to_string()
    }

    /// Returns details about the error, one line each.
    pub(crate) fn context(&self) -> Vec<String> {
        match self {
            // The file may be any file that the user named, so the length of quoted lines is limited.
            SpecError::Toml { message, .. } => {
                message.lines().map(|line| line.chars().take(MAX_LINE).collect()).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The description of a bundle. Only its form is checked when it is read; the verifier checks the bundle that
/// is built from it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a description of a bundle")]
pub struct BundleSpec {
    /// Type of the bundle: boot or system.
    #[serde(default, rename = "type", deserialize_with = "bundle_type")]
    pub bundle_type: Option<BundleType>,
    /// Name of the board that the bundle is for, or the path of its description until
    /// [`BundleSpec::find_board`] is called.
    pub board: Option<String>,
    /// Name of the SoC that the bundle is for.
    pub soc: Option<String>,
    /// Further devices that the bundle is for.
    #[serde(default)]
    pub also_for: Vec<IdentitySpec>,
    /// Label, a text for people.
    pub label: Option<String>,
    /// Security version, which anti-rollback compares.
    pub security_version: Option<u64>,
    /// Minimum security version of the boot bundle with which a system bundle may boot.
    pub min_boot_version: Option<u64>,
    /// Lifecycle states in which the bundle may boot.
    #[serde(default, deserialize_with = "lifecycle")]
    pub lifecycle: Option<Vec<Lifecycle>>,
    /// Kernel command line.
    pub bootargs: Option<String>,
    /// Hash of all payloads that do not name one.
    #[serde(default, deserialize_with = "hash")]
    pub hash: Option<HashId>,
    /// Block size in bytes of all payloads in blocks that do not name one.
    pub block_size: Option<u32>,
    /// Path of the class key for which the payloads are encrypted that are not encrypted yet.
    pub encrypt: Option<PathBuf>,
    /// Profile that the bundle must conform to, else it is not signed.
    #[serde(default, deserialize_with = "profile")]
    pub profile: Option<Profile>,
    /// Payloads, in any order.
    #[serde(default, rename = "payload")]
    pub payloads: Vec<PayloadSpec>,
    /// Keys that may sign the next bundle.
    pub trust: Option<TrustSpec>,
}

/// A device, identified by board and SoC.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a device")]
pub struct IdentitySpec {
    /// Name of the board.
    pub board: String,
    /// Name of the SoC.
    pub soc: String,
}

/// The description of a payload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a payload")]
pub struct PayloadSpec {
    /// Type of the payload.
    #[serde(rename = "type", deserialize_with = "payload_type")]
    pub payload_type: PayloadType,
    /// Path of the file with the payload.
    pub file: PathBuf,
    /// Load address.
    pub load_address: Option<u64>,
    /// Size of the memory that belongs to the payload, in bytes.
    pub memory_size: Option<u64>,
    /// Address of the first instruction.
    pub entry: Option<u64>,
    /// Hash algorithm of the digest.
    #[serde(default, deserialize_with = "hash")]
    pub hash: Option<HashId>,
    /// Mode in which the digest is computed.
    pub mode: Option<ModeName>,
    /// Block size in bytes. Without `mode` it selects a mode with blocks.
    pub block_size: Option<u32>,
    /// False if the payload is not encrypted although there is a class key; true if it must be encrypted.
    pub encrypted: Option<bool>,
    /// Encryption of the payload, if the file is a bundle that contains it encrypted.
    #[serde(skip)]
    pub encryption: Option<Encryption>,
    /// Record of the payload, if the file is a bundle that contains it.
    #[serde(skip)]
    pub part: Option<PayloadRecord>,
    /// The place in the description that names the file, quoted; empty if an option names it.
    #[serde(skip)]
    pub place: Vec<String>,
}

impl PayloadSpec {
    /// Makes a payload description with defaults for all other values.
    pub const fn new(payload_type: PayloadType, file: PathBuf) -> Self {
        Self {
            payload_type,
            file,
            load_address: None,
            memory_size: None,
            entry: None,
            hash: None,
            mode: None,
            block_size: None,
            encrypted: None,
            encryption: None,
            part: None,
            place: Vec::new(),
        }
    }
}

/// A tree mode without its block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the variants are the names of the table")]
pub enum ModeName {
    Flat,
    Blocks,
    ParallelHash,
}

/// Keys that may sign the system bundle.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "trusted keys")]
pub struct TrustSpec {
    /// Policy that determines which sets of trusted signers are sufficient.
    #[serde(deserialize_with = "policy")]
    pub policy: Policy,
    /// Paths of public key files.
    pub keys: Vec<PathBuf>,
    /// Algorithms that RSA keys among them are used with: padding and hash for a key size.
    #[serde(default, deserialize_with = "algorithms")]
    pub algorithms: Vec<Algorithm>,
    /// Key records of further keys, whose files are not available.
    #[serde(skip)]
    pub records: Vec<KeyRecord>,
}

impl BundleSpec {
    /// Reads a `bundle.toml`. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is not TOML, or has unknown or malformed keys.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_small(path, MAX_SPEC_SIZE)?;
        let fail = |message| SpecError::Toml { path: path.to_path_buf(), message };
        let text = str::from_utf8(&bytes).map_err(|_| fail("it is not UTF-8 text".to_string()))?;
        // A parse error quotes lines of the file, so binary files are refused before they are parsed.
        if text.contains(|c: char| c.is_control() && !c.is_whitespace()) {
            return Err(fail("it is not a text file".to_string()).into());
        }
        let mut spec: Self =
            toml::from_str(text).map_err(|error| fail(error.to_string().trim_end().to_string()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for (number, payload) in spec.payloads.iter_mut().enumerate() {
            payload.file = folder.join(&payload.file);
            // In a description every name is that of a file.
            if hartlock_files::is_standard(&payload.file) {
                payload.file = Path::new(".").join(&payload.file);
            }
            payload.place = file_place(text, number, path);
        }
        if let Some(board) = spec.board.as_mut().filter(|board| hartlock_boards::is_file(board)) {
            *board = folder.join(&*board).display().to_string();
        }
        if let Some(key) = &mut spec.encrypt {
            *key = folder.join(&*key);
        }
        for key in spec.trust.iter_mut().flat_map(|trust| &mut trust.keys) {
            *key = folder.join(&*key);
        }
        Ok(spec)
    }

    /// Reads the description of the board, if `board` is a path, and replaces the path by the name of the
    /// board. Returns the path.
    ///
    /// # Errors
    /// Fails if the description cannot be used.
    pub fn find_board(&mut self, boards: &mut Boards) -> Result<Option<PathBuf>, Error> {
        let Some(board) = self.board.as_mut().filter(|board| hartlock_boards::is_file(board))
        else {
            return Ok(None);
        };
        let path = PathBuf::from(&*board);
        *board = boards.add(&path)?.name().to_string();
        Ok(Some(path))
    }

    /// Replaces values by those that `flags` has. A payload of the same type gets the other file and keeps
    /// its settings.
    #[must_use]
    pub fn overridden_by(mut self, flags: BundleSpec) -> Self {
        let is_encrypted = self.payloads.iter().any(|own| own.encryption.is_some());
        for mut flag in flags.payloads {
            match self.payloads.iter_mut().find(|own| own.payload_type == flag.payload_type) {
                Some(own) => {
                    own.file = flag.file;
                    own.place = Vec::new();
                    let part = own.part.take();
                    // The memory size was that of a payload of a bundle and does not fit another file.
                    if part.is_some() {
                        own.memory_size = None;
                    }
                    // What was encrypted must not become readable because a key was forgotten. Of an empty payload the
                    // others tell.
                    let was_empty = part.is_some_and(|part| part.size == 0);
                    if own.encryption.take().is_some() || (is_encrypted && was_empty) {
                        own.encrypted = Some(true);
                    }
                }
                None => {
                    if is_encrypted {
                        flag.encrypted = Some(true);
                    }
                    self.payloads.push(flag);
                }
            }
        }
        Self {
            bundle_type: flags.bundle_type.or(self.bundle_type),
            board: flags.board.or(self.board),
            soc: flags.soc.or(self.soc),
            also_for: if flags.also_for.is_empty() { self.also_for } else { flags.also_for },
            label: flags.label.or(self.label),
            security_version: flags.security_version.or(self.security_version),
            min_boot_version: flags.min_boot_version.or(self.min_boot_version),
            lifecycle: flags.lifecycle.or(self.lifecycle),
            bootargs: flags.bootargs.or(self.bootargs),
            hash: flags.hash.or(self.hash),
            block_size: flags.block_size.or(self.block_size),
            encrypt: flags.encrypt.or(self.encrypt),
            profile: flags.profile.or(self.profile),
            payloads: self.payloads,
            trust: flags.trust.or(self.trust),
        }
    }
}

/// Quotes the line that names the file of a payload, with a mark below the name.
fn file_place(text: &str, number: usize, path: &Path) -> Vec<String> {
    let span = || {
        let table = DeTable::parse(text).ok()?;
        let payloads = table.get_ref().get("payload")?.get_ref();
        Some(payloads.get(number)?.get_ref().get("file")?.span())
    };
    let Some(span) = span() else { return Vec::new() };
    let mut place = hartlock_boards::marked(text, span);
    if let Some(head) = place.first_mut() {
        *head = format!("{}, {head}", path.display());
    }
    place
}

/// Returns the creation date of a bundle in seconds since 1970-01-01: the value of SOURCE_DATE_EPOCH
/// (reproducible-builds.org), or 0 for "not stated". The clock is never read, so that the same input gives
/// the same bytes.
///
/// # Errors
/// Fails if the variable is set and is not a decimal number of seconds.
pub fn created(source_date_epoch: Option<&std::ffi::OsStr>) -> Result<u64, SpecError> {
    let Some(value) = source_date_epoch else { return Ok(0) };
    let value = value.to_string_lossy();
    value
        .bytes()
        // `parse` would also accept a sign.
        .all(|byte| byte.is_ascii_digit())
        .then(|| value.parse().ok())
        .flatten()
        .ok_or_else(|| SpecError::SourceDateEpoch { value: value.into_owned() })
}

/// Deserializes a name and returns its value. The error for an unknown name lists the valid names.
fn named<'de, D: Deserializer<'de>, T: Copy>(
    deserializer: D,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T, D::Error> {
    let name = String::deserialize(deserializer)?;
    all.iter().copied().find(|item| name_of(*item) == name).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|item| name_of(*item)).collect();
        serde::de::Error::custom(format!("unknown name `{name}`, expected {}", names.join(", ")))
    })
}

fn bundle_type<'de, D: Deserializer<'de>>(from: D) -> Result<Option<BundleType>, D::Error> {
    named(from, &[BundleType::Boot, BundleType::System], BundleType::name).map(Some)
}

fn payload_type<'de, D: Deserializer<'de>>(from: D) -> Result<PayloadType, D::Error> {
    named(from, &PayloadType::ALL, PayloadType::name)
}

fn profile<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Profile>, D::Error> {
    named(from, &Profile::ALL, Profile::name).map(Some)
}

fn hash<'de, D: Deserializer<'de>>(from: D) -> Result<Option<HashId>, D::Error> {
    named(from, &HashId::ALL, HashId::name).map(Some)
}

fn policy<'de, D: Deserializer<'de>>(from: D) -> Result<Policy, D::Error> {
    named(from, &[Policy::Any, Policy::All, Policy::Hybrid], Policy::name)
}

fn algorithms<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Algorithm>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    let known = |name: String| {
        Algorithm::from_name(&name)
            .ok_or_else(|| serde::de::Error::custom(format!("unknown algorithm `{name}`")))
    };
    names.into_iter().map(known).collect()
}

fn lifecycle<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<Lifecycle>>, D::Error> {
    struct LifecycleName(Lifecycle);
    impl<'de> Deserialize<'de> for LifecycleName {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            named(from, &Lifecycle::ALL, Lifecycle::name).map(LifecycleName)
        }
    }
    let states = Vec::<LifecycleName>::deserialize(from)?;
    Ok(Some(states.into_iter().map(|state| state.0).collect()))
}

#[cfg(test)]
mod tests;
