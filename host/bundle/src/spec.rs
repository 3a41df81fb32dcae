//! Specification of a bundle: `bundle.toml`, or the equivalent flags.
//!
//! ```toml
//! type = "system"              # boot | system
//! board = "qemu-virt"          # default; or a description: "board.toml", relative to bundle.toml
//! soc = "virt"                 # default
//! also_for = [{ board = "another", soc = "virt" }]   # further devices, at most seven
//! label = "Debian installer"   # optional
//! security_version = 1
//! min_boot_version = 1         # system only: of the boot bundle with which it works
//! lifecycle = ["development", "production"]   # default
//! bootargs = "console=ttyS0"   # system only
//! hash = "sha384"              # default of all payloads
//! block_size = 81920           # default of all payloads in blocks
//!
//! [[payload]]
//! type = "kernel"
//! file = "linux"               # relative to bundle.toml
//! # load_address, memory_size, entry, hash, mode, block_size
//!
//! [trust]                      # boot only: who may sign the system bundle
//! policy = "any"               # any | all | hybrid
//! keys = ["root.pub.pem"]
//! ```

use std::path::{Path, PathBuf};

use hartlock_image::{
    Algorithm, BundleType, HashId, KeyRecord, Lifecycle, PayloadRecord, PayloadType, Policy,
    Profile,
};
use serde::{Deserialize, Deserializer};

use crate::Error;
use hartlock_boards::Boards;
use hartlock_files::read_small;

/// Longest `bundle.toml`.
const MAX_SPEC_SIZE: usize = 1 << 20;

/// Characters of a line that is quoted.
const MAX_LINE: usize = 300;

/// The description of a bundle is incomplete or contradicts itself.
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
    #[error("a system bundle has no list of trusted keys")]
    TrustInSystem,
    #[error("a boot bundle needs no boot version")]
    BootVersionInBoot,
    #[error("the bundle is for more than eight devices")]
    TooManyDevices,
    #[error("`{}` says twice, and differently, which signature algorithms it carries", .path.display())]
    CarriedTwice { path: PathBuf },
    #[error("SOURCE_DATE_EPOCH is not a number of seconds: `{value}`")]
    SourceDateEpoch { value: String },
}

impl SpecError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            SpecError::Toml { .. } => {
                "correct the marked place; `hartlock sign --help` lists the keys"
            }
            SpecError::TypeMissing => "add `type = \"system\"` or `--type system` (or boot)",
            SpecError::SecurityVersionMissing => {
                "add `security_version = 1` or `--security-version 1`, and raise it when older \
                 bundles must not boot any more"
            }
            SpecError::LoadAddressMissing { .. } => "add `load_address` to this payload, or name the description of the board: `--board FILE.toml`",
            SpecError::BootargsInBoot => "put `bootargs` into the system bundle",
            SpecError::TrustInSystem => "put `[trust]` into the boot bundle",
            SpecError::BootVersionInBoot => "put `min_boot_version` into the system bundle",
            SpecError::TooManyDevices => "sign another bundle for the others",
            SpecError::CarriedTwice { .. } => "link the loader again, with one statement in it",
            SpecError::SourceDateEpoch { .. } => {
                "set it to seconds since 1970-01-01, for instance with `date +%s`, or unset it"
            }
        }
        .to_string()
    }

    /// Details, a line each.
    pub(crate) fn context(&self) -> Vec<String> {
        match self {
            // A line of a file that is something else may be very long.
            SpecError::Toml { message, .. } => {
                message.lines().map(|line| line.chars().take(MAX_LINE).collect()).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The description of a bundle. Only its form is checked here: the verifier judges the result.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleSpec {
    /// Boot or system.
    #[serde(default, rename = "type", deserialize_with = "bundle_type")]
    pub bundle_type: Option<BundleType>,
    /// Board that the bundle is for, or the file of its description until [`BundleSpec::find_board`].
    pub board: Option<String>,
    /// SoC that the bundle is for.
    pub soc: Option<String>,
    /// Further devices that it is for.
    #[serde(default)]
    pub also_for: Vec<IdentitySpec>,
    /// Text for people.
    pub label: Option<String>,
    /// Anti-rollback counter.
    pub security_version: Option<u64>,
    /// Lowest security version of the boot bundle with which a system bundle works.
    pub min_boot_version: Option<u64>,
    /// States in which the bundle may boot.
    #[serde(default, deserialize_with = "lifecycle")]
    pub lifecycle: Option<Vec<Lifecycle>>,
    /// Command line of the kernel.
    pub bootargs: Option<String>,
    /// Hash of all payloads that do not name one.
    #[serde(default, deserialize_with = "hash")]
    pub hash: Option<HashId>,
    /// Block size of all payloads in blocks that do not name one.
    pub block_size: Option<u32>,
    /// Profile that the bundle keeps to, or is not signed.
    #[serde(default, deserialize_with = "profile")]
    pub profile: Option<Profile>,
    /// What the bundle carries, in any order.
    #[serde(default, rename = "payload")]
    pub payloads: Vec<PayloadSpec>,
    /// Who may sign the next bundle.
    pub trust: Option<TrustSpec>,
}

/// A device by board and SoC.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentitySpec {
    /// Name of the board.
    pub board: String,
    /// Name of the SoC.
    pub soc: String,
}

/// One payload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayloadSpec {
    /// What it is.
    #[serde(rename = "type", deserialize_with = "payload_type")]
    pub payload_type: PayloadType,
    /// Where its bytes are.
    pub file: PathBuf,
    /// First byte in memory.
    pub load_address: Option<u64>,
    /// Bytes of memory that belong to it.
    pub memory_size: Option<u64>,
    /// First instruction.
    pub entry: Option<u64>,
    /// Hash of its digest.
    #[serde(default, deserialize_with = "hash")]
    pub hash: Option<HashId>,
    /// How the digest is formed.
    pub mode: Option<ModeName>,
    /// Bytes of a block. Without `mode` it selects a mode with blocks.
    pub block_size: Option<u32>,
    /// It is a part of the file, which is a bundle.
    #[serde(skip)]
    pub part: Option<PayloadRecord>,
}

impl PayloadSpec {
    /// A payload with defaults for everything else.
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
            part: None,
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

/// Who may sign the system bundle.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustSpec {
    /// Which set of signers is enough.
    #[serde(deserialize_with = "policy")]
    pub policy: Policy,
    /// Public key files.
    pub keys: Vec<PathBuf>,
    /// How RSA keys among them are used: padding and hash for keys of a size.
    #[serde(default, deserialize_with = "algorithms")]
    pub algorithms: Vec<Algorithm>,
    /// Further keys, of which the files are not at hand.
    #[serde(skip)]
    pub records: Vec<KeyRecord>,
}

impl BundleSpec {
    /// Reads a `bundle.toml`. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// If it cannot be read, is not TOML, or has unknown or malformed keys.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_small(path, MAX_SPEC_SIZE)?;
        let fail = |message| SpecError::Toml { path: path.to_path_buf(), message };
        let text = str::from_utf8(&bytes).map_err(|_| fail("it is not UTF-8 text".to_string()))?;
        // Whatever else it is, its lines would be shown.
        if text.contains(|c: char| c.is_control() && !c.is_whitespace()) {
            return Err(fail("it is no text".to_string()).into());
        }
        let mut spec: Self =
            toml::from_str(text).map_err(|error| fail(error.to_string().trim_end().to_string()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for payload in &mut spec.payloads {
            payload.file = folder.join(&payload.file);
        }
        if let Some(board) = spec.board.as_mut().filter(|board| hartlock_boards::is_file(board)) {
            *board = folder.join(&*board).display().to_string();
        }
        for key in spec.trust.iter_mut().flat_map(|trust| &mut trust.keys) {
            *key = folder.join(&*key);
        }
        Ok(spec)
    }

    /// Reads the description of the board, if one is named in the place of a name, which is here from then on.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn find_board(&mut self, boards: &mut Boards) -> Result<Option<PathBuf>, Error> {
        let Some(board) = self.board.as_mut().filter(|board| hartlock_boards::is_file(board))
        else {
            return Ok(None);
        };
        let path = PathBuf::from(&*board);
        *board = boards.add(&path)?.name().to_string();
        Ok(Some(path))
    }

    /// Lets `flags` override these values. A payload of the same type keeps its settings and
    /// gets another file.
    #[must_use]
    pub fn overridden_by(mut self, flags: BundleSpec) -> Self {
        for flag in flags.payloads {
            match self.payloads.iter_mut().find(|own| own.payload_type == flag.payload_type) {
                Some(own) => {
                    own.file = flag.file;
                    // What was needed for the payload of a bundle says nothing about another file.
                    if own.part.take().is_some() {
                        own.memory_size = None;
                    }
                }
                None => self.payloads.push(flag),
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
            profile: flags.profile.or(self.profile),
            payloads: self.payloads,
            trust: flags.trust.or(self.trust),
        }
    }
}

/// When the bundle says it was made: SOURCE_DATE_EPOCH (reproducible-builds.org), or 0 for not
/// stated. The clock is never read, so that the same input gives the same bytes.
///
/// # Errors
/// If the variable is set and is not a decimal number of seconds.
pub fn created(source_date_epoch: Option<&std::ffi::OsStr>) -> Result<u64, SpecError> {
    let Some(value) = source_date_epoch else { return Ok(0) };
    let value = value.to_string_lossy();
    value
        .bytes()
        // `parse` takes a sign too.
        .all(|byte| byte.is_ascii_digit())
        .then(|| value.parse().ok())
        .flatten()
        .ok_or_else(|| SpecError::SourceDateEpoch { value: value.into_owned() })
}

/// Finds the value of a name, and lists the right names if it is not among them.
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
    struct State(Lifecycle);
    impl<'de> Deserialize<'de> for State {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            named(from, &Lifecycle::ALL, Lifecycle::name).map(State)
        }
    }
    let states = Vec::<State>::deserialize(from)?;
    Ok(Some(states.into_iter().map(|state| state.0).collect()))
}

#[cfg(test)]
mod tests;
