//! Verifies a bundle file with the verifier that the boot stages run.

use std::num::NonZeroU64;
use std::path::Path;

use hartlock_boards::Boards;
use hartlock_image::first_stage::FIRST_STAGE_TAG;
use hartlock_image::{
    BundleType, Head, Identity, KeyRecord, Lifecycle, List, MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE,
    MAX_TRUSTED_KEYS, Manifest, Name, Policy, Profile, Reason, TrustList,
};
use hartlock_verify::board::Board;
use hartlock_verify::{Acceptance, Authenticated, Placement, Platform, authenticate};

use crate::build::judge_contents;
use crate::describe::{Description, Key, lifecycle_names, parse_unverified};
use crate::encryption::Ciphers;
use crate::platform::{FilePlatform, Filling};
use crate::units::grouped;
use crate::{Error, OnProgress, Refusal, content, refusal_detail};
use hartlock_files::FileError;
use hartlock_keys::{ClassKey, PublicKey};

/// The requirements for a bundle. A property that is `None` is not checked.
#[derive(Clone, Debug, Default)]
pub struct Expectation {
    /// Public keys of the signers. The key of every signer of the bundle must be among them.
    pub keys: Vec<PublicKey>,
    /// Required type of the bundle.
    pub bundle_type: Option<BundleType>,
    /// Board that the bundle must be for.
    pub board: Option<Name>,
    /// SoC that the bundle must be for.
    pub soc: Option<Name>,
    /// Minimum security version.
    pub floor: Option<u64>,
    /// Security version of the boot bundle that a system bundle must be compatible with.
    pub boot_version: Option<u64>,
    /// Lifecycle state in which the bundle must be allowed to boot.
    pub lifecycle: Option<Lifecycle>,
    /// Profile that the bundle must conform to (image format §2.2).
    pub profile: Option<Profile>,
    /// Boards whose memory maps are known. Load addresses for any other board are checked for their form only
    /// (image format §8 step 12).
    pub boards: Boards,
    /// True if it is checked, too, whether what consumes the payloads can use them: whether the device tree for OpenSBI
    /// protects the device (boot flow §5.6), and Linux can use its own (boot flow §6), for each known board; and whether
    /// the content of each payload has the right type (command §2).
    pub contents: bool,
    /// Class keys with which encrypted payloads are decrypted, so that their contents are checked. Without any they are not.
    pub class_keys: Vec<ClassKey>,
    /// True if the content of payloads may be of another type than the payload. It counts with `contents` alone.
    pub is_any_type: bool,
}

impl Expectation {
    /// Maximum number of keys.
    pub const MAX_KEYS: usize = MAX_TRUSTED_KEYS;

    fn trust(&self) -> Result<TrustList, Reason> {
        let mut keys = List::<KeyRecord, MAX_TRUSTED_KEYS>::new();
        for key in self.keys.iter().map(PublicKey::record) {
            // A key that is given twice counts once.
            if !keys.iter().any(|earlier| *earlier == key) && !keys.push(key) {
                return Err(Reason::TrustedKeyCountOutOfRange);
            }
        }
        Ok(TrustList { policy: Policy::EverySigner, keys })
    }

    /// Returns the given key that has the signer's public key but belongs to another scheme: padding and hash
    /// are part of the key id.
    fn in_other_scheme(&self, signer: &KeyRecord) -> Option<&PublicKey> {
        let KeyRecord { algorithm, parameters, key_id } = *signer;
        self.keys.iter().find(|key| {
            key.record() != *signer
                && hartlock_verify::key_id(algorithm, parameters, key.as_bytes()) == key_id
        })
    }

    fn acceptance<'a>(&self, maps: &'a [Board<'a>]) -> Result<Acceptance<'a>, Reason> {
        Ok(Acceptance {
            trust: self.trust()?,
            revoked_keys: 0,
            bundle_type: self.bundle_type,
            board: self.board,
            soc: self.soc,
            floor: self.floor,
            boot_version: self.boot_version,
            lifecycle: self.lifecycle,
            placement: Placement::ByManifest(maps),
        })
    }
}

/// Verifies a bundle file: signatures, manifest, the requirements of `expectation`, placement on the board
/// that the manifest names, and every payload (image format §8). Returns a description of the verified
/// manifest.
///
/// # Errors
/// Returns [`Error::Refused`] if the bundle is refused, [`Error::File`] if nothing could be decided.
pub fn verify_file(
    path: &Path,
    expectation: &Expectation,
    on_progress: OnProgress<'_>,
) -> Result<Description, Error> {
    let (file, len) = hartlock_files::open(path)?;
    verify_open_file(file, len, path, expectation, on_progress)
}

/// Same as [`verify_file`], except that the file may be a dump of flash, which goes on after the bundle with one repeated
/// byte, 0xff or 0. Returns what it goes on with, too.
///
/// # Errors
/// Same as [`verify_file`].
pub fn verify_padded_file(
    path: &Path,
    expectation: &Expectation,
    on_progress: OnProgress<'_>,
) -> Result<(Description, Option<Filling>), Error> {
    let (file, len) = hartlock_files::open(path)?;
    verify_opened(file, len, path, expectation, true, on_progress)
}

/// Same as [`verify_file`], except that the file is already open. `path` is used in messages only.
///
/// # Errors
/// Same as [`verify_file`].
pub fn verify_open_file(
    file: std::fs::File,
    len: u64,
    path: &Path,
    expectation: &Expectation,
    on_progress: OnProgress<'_>,
) -> Result<Description, Error> {
    verify_opened(file, len, path, expectation, false, on_progress)
        .map(|(description, _)| description)
}

fn verify_opened(
    file: std::fs::File,
    len: u64,
    path: &Path,
    expectation: &Expectation,
    may_be_longer: bool,
    on_progress: OnProgress<'_>,
) -> Result<(Description, Option<Filling>), Error> {
    let mut metadata = vec![0; MAX_SIGNED_SIZE + MAX_SIGNATURES_SIZE];
    let total = std::cell::Cell::new(0);
    let mut report = |done| on_progress(done, total.get());
    let mut platform = FilePlatform::new(file, len, &mut report);
    platform.may_be_longer = may_be_longer;
    let verdict = decide(&mut platform, path, expectation, &mut metadata, |bytes| total.set(bytes));
    verdict.map_err(|error| match (platform.take_failure(), error) {
        (Some(failure), _) => FileError::new("read", path, failure).into(),
        (None, Error::Refused(refusal)) if refusal.context.is_empty() => {
            let reason = refusal.reason;
            let context = context(reason, expectation, &metadata, &platform);
            let hint = hint(reason, expectation, &metadata);
            Error::Refused(Refusal { reason, context, hint })
        }
        (None, error) => error,
    })
}

/// Does all steps of image format §8, then those of the workstation.
fn decide(
    platform: &mut FilePlatform<'_>,
    path: &Path,
    expectation: &Expectation,
    metadata: &mut [u8],
    on_total: impl FnOnce(u64),
) -> Result<(Description, Option<Filling>), Error> {
    let maps = expectation.boards.maps();
    let acceptance = expectation.acceptance(&maps)?;
    let mut bundle: Authenticated<'_> = authenticate(platform, &acceptance, &acceptance, metadata)?;
    on_total(bundle.manifest().payloads.iter().map(|payload| payload.size).sum());
    bundle.load_payloads(platform)?;
    let verdict = bundle.conclude()?;
    // A workstation has no jump that the redundant check of the verdict protects, but its decision must be
    // the same as that of a device.
    if !verdict.is_confirmed() {
        return Err(Reason::VerdictNotConfirmed.into());
    }
    if expectation.profile.is_some_and(|profile| !bundle.manifest().keeps_to(profile)) {
        return Err(Reason::OutsideProfile.into());
    }
    if expectation.contents {
        let (manifest, boards) = (bundle.manifest(), &expectation.boards);
        let ciphers = Ciphers::of(manifest, &expectation.class_keys)?;
        let read = |offset, into: &mut [u8]| platform.read(offset, into);
        judge_contents(manifest, (path, expectation.is_any_type), boards, &ciphers, read)?;
    }
    let filling = platform.filling(bundle.manifest().bundle_size)?;
    Ok((Description::new(bundle.manifest(), &expectation.boards), filling))
}

/// Returns details about a refusal, one line each.
fn context(
    reason: Reason,
    expectation: &Expectation,
    metadata: &[u8],
    platform: &FilePlatform<'_>,
) -> Vec<String> {
    let file_len = grouped(platform.medium_len());
    // The bytes in `metadata` may be unverified and malformed.
    let Ok(head) = Head::parse(metadata) else {
        return match reason {
            Reason::Truncated => vec![format!("the file has {file_len} bytes")],
            Reason::UnknownTag if metadata.starts_with(FIRST_STAGE_TAG) => {
                vec!["the file is a first stage, not a bundle".to_string()]
            }
            Reason::UnknownTag => content::name_of(metadata)
                .map(|name| format!("the file is {name}"))
                .into_iter()
                .collect(),
            _ => Vec::new(),
        };
    };
    let (signed, area) = metadata[..head.total_size()].split_at(head.signed_size());
    match (reason, parse_unverified(signed, area)) {
        (Reason::WrongBundleType, _) => {
            vec![format!("the file is a {} bundle", head.bundle_type().name())]
        }
        (Reason::Truncated, Ok(manifest)) => {
            vec![format!("the file has {file_len} bytes of {}", grouped(manifest.bundle_size))]
        }
        (Reason::Truncated, Err(_)) => vec![format!(
            "the file has {file_len} bytes, and its first part alone {}",
            grouped(head.total_size() as u64)
        )],
        (_, Ok(manifest)) => context_of_manifest(reason, expectation, &manifest, platform),
        (_, Err(_)) => Vec::new(),
    }
}

/// Returns advice for this case of a reason, if more is known than the general advice for the reason.
fn hint(reason: Reason, expectation: &Expectation, metadata: &[u8]) -> Option<String> {
    if reason == Reason::UnknownTag && metadata.starts_with(FIRST_STAGE_TAG) {
        return Some("Verify it with `hartlock verify --form first-stage`.".to_string());
    }
    if reason == Reason::UnknownTag && content::name_of(metadata).is_some() {
        return Some("Give a bundle: `hartlock sign` makes one of such files.".to_string());
    }
    let head = Head::parse(metadata).ok()?;
    if reason == Reason::WrongBundleType {
        let name = head.bundle_type().name();
        return Some(format!("Ask for `--type {name}`, or give the bundle of the other type."));
    }
    let (signed, area) = metadata[..head.total_size()].split_at(head.signed_size());
    let manifest = parse_unverified(signed, area).ok()?;
    match reason {
        Reason::SignerWithoutKey => manifest.signers.iter().find_map(|signer| {
            expectation.in_other_scheme(signer)?;
            let algorithm = Key::from(signer).algorithm;
            Some(format!(
                "if the key is meant for that scheme, add `--algorithm {algorithm}`; if its file has a \
                 line `# algorithm:`, correct that line"
            ))
        }),
        _ => {
            refusal_detail::find(reason, &manifest, &expectation.boards).map(|detail| detail.remedy)
        }
    }
}

fn context_of_manifest(
    reason: Reason,
    expectation: &Expectation,
    manifest: &Manifest<'_>,
    platform: &FilePlatform<'_>,
) -> Vec<String> {
    let one = |text: String| vec![text];
    match reason {
        Reason::SignerWithoutKey => manifest
            .signers
            .iter()
            .filter(|signer| !expectation.keys.iter().any(|key| key.record() == **signer))
            .map(|signer| {
                let Key { algorithm, key_id, .. } = Key::from(signer);
                match expectation.in_other_scheme(signer) {
                    Some(key) => format!(
                        "the same key with another scheme: it signed with {algorithm}, and is given for {}",
                        key.algorithm()
                    ),
                    None => format!("no key for signer {algorithm} {key_id}"),
                }
            })
            .collect(),
        Reason::OutsideProfile => expectation
            .profile
            .map_or_else(Vec::new, |profile| crate::profile::outside(manifest, profile)),
        Reason::WrongBoard => one(names("board", manifest, |it| it.board, expectation.board)),
        Reason::WrongSoc => one(names("SoC", manifest, |it| it.soc, expectation.soc)),
        Reason::BootVersionTooOld => one(format!(
            "it needs boot version {}, not {}",
            manifest.extensions.boot_version.map_or(0, NonZeroU64::get),
            expectation.boot_version.unwrap_or(0)
        )),
        Reason::RollbackBelowFloor => one(format!(
            "security version {}, floor {}",
            manifest.security_version,
            expectation.floor.unwrap_or(0)
        )),
        Reason::LifecycleNotAllowed => one(format!(
            "signed for {}, not for {}",
            lifecycle_names(manifest.lifecycle_mask).join(", "),
            expectation.lifecycle.map_or("", Lifecycle::name)
        )),
        Reason::BootargsTooLong
        | Reason::OutsideMemory
        | Reason::OverlapsLiveRegion
        | Reason::WrongLoadAddress => {
            refusal_detail::find(reason, manifest, &expectation.boards)
                .map(|detail| detail.what)
                .into_iter()
                .collect()
        }
        Reason::PayloadDigestMismatch | Reason::PaddingNotZero => match platform.loading() {
            Some(payload_type) => one(format!("payload {}", payload_type.name())),
            None => one("after the signature area".to_string()),
        },
        Reason::TrailingBytes => one(format!(
            "the bundle ends at {}, the file at {}",
            grouped(manifest.bundle_size),
            grouped(platform.medium_len())
        )),
        _ => Vec::new(),
    }
}

fn names(
    what: &str,
    manifest: &Manifest<'_>,
    name_of: impl Fn(Identity) -> Name,
    wanted: Option<Name>,
) -> String {
    let mut names: Vec<Name> = Vec::new();
    for name in manifest.identities().map(name_of) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let actual = names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ");
    let wanted = wanted.map_or(String::new(), |name| format!(", not {}", name.as_str()));
    format!("signed for {what} {actual}{wanted}")
}
