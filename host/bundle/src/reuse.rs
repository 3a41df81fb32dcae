//! Reads a bundle as the description of another one, which reads the payloads from the first bundle.

use std::os::unix::fs::FileExt;
use std::path::Path;

use hartlock_boards::{Boards, KnownBoard};
use hartlock_handoff::{cpus, domain};
use hartlock_image::{
    Closing, Extensions, Head, Lifecycle, Manifest, PayloadRecord, PayloadType, Reason, TreeMode,
};

use crate::describe::{Description, parse_unverified};
use crate::encryption::Ciphers;
use crate::payload_bytes::read_verified;
use crate::spec::{BundleSpec, IdentitySpec, ModeName, PayloadSpec, TrustSpec};
use crate::{Error, boot_tree, system_tree, tree_notes};
use hartlock_files::FileError;

/// The values that a bundle was made of.
#[derive(Debug)]
pub struct Reused {
    /// Description that gives the same manifest, apart from signers and date.
    pub spec: BundleSpec,
    /// Creation date in seconds since 1970-01-01.
    pub created: u64,
    /// Content of the manifest, **not verified**: compare it with the description that a verifier returned.
    pub description: Description,
}

/// Reads the values that a bundle was made of. Nothing is verified; a build with these values refuses
/// payloads whose digests are not those in the bundle.
///
/// # Errors
/// Fails if the file cannot be read or is not a bundle.
pub fn read(path: &Path, boards: &Boards) -> Result<Reused, Error> {
    with_manifest(path, |manifest, _| Reused {
        spec: spec_of(manifest, path),
        created: manifest.created,
        description: Description::new(manifest, boards),
    })
}

/// Judges the device trees of a bundle that is **not verified**, for each known board that it names (boot flow §5.6, §6).
///
/// # Errors
/// Fails if the file cannot be read or is not a bundle, and with the rule that a tree breaks.
pub fn judge_trees(path: &Path, boards: &Boards) -> Result<(), Error> {
    with_manifest(path, |manifest, _| {
        let (file, _) = hartlock_files::open(path)?;
        let read = |offset, into: &mut [u8]| {
            file.read_exact_at(into, offset).map_err(|_| Reason::MediumError)
        };
        boot_tree::judge(manifest, boards, read)?;
        system_tree::judge(manifest, boards, &Ciphers::of(manifest, &[])?, read)
    })?
}

/// Returns the numbers of the harts that the device trees of a bundle name, which is **not verified**: a mask for each
/// tree, with the name of its payload.
///
/// # Errors
/// Fails if the file cannot be read or is not a bundle.
pub fn harts_of_trees(path: &Path) -> Result<Vec<(&'static str, u64)>, Error> {
    with_manifest(path, |manifest, _| {
        let (file, _) = hartlock_files::open(path)?;
        let trees = manifest.payloads.iter().filter(|payload| {
            matches!(payload.payload_type, PayloadType::BootFdt | PayloadType::SystemFdt)
                && manifest.extensions.encryption_of(payload.payload_type).is_none()
        });
        let harts = |payload: &PayloadRecord| {
            let read = |offset, into: &mut [u8]| {
                file.read_exact_at(into, offset).map_err(|_| Reason::MediumError)
            };
            let bytes = read_verified(payload, read).ok()?;
            let harts = match payload.payload_type {
                PayloadType::BootFdt => domain::harts(&bytes)?,
                _ => cpus::harts(&bytes)?,
            };
            Some((payload.payload_type.name(), harts))
        };
        Ok(trees.filter_map(harts).collect())
    })?
}

/// Returns a sentence for each thing in the device tree for Linux that is right, and may surprise the signer of a bundle,
/// which is **not verified**.
///
/// # Errors
/// Fails if the file cannot be read or is not a bundle.
pub fn notes_on_tree(path: &Path, board: Option<&KnownBoard>) -> Result<Vec<String>, Error> {
    with_manifest(path, |manifest, _| {
        let payload = manifest.payload(PayloadType::SystemFdt);
        let is_plain = manifest.extensions.encryption_of(PayloadType::SystemFdt).is_none();
        let Some(payload) = payload.filter(|_| is_plain) else { return Ok(Vec::new()) };
        let (file, _) = hartlock_files::open(path)?;
        let read = |offset, into: &mut [u8]| {
            file.read_exact_at(into, offset).map_err(|_| Reason::MediumError)
        };
        Ok(tree_notes::notes(&read_verified(payload, read)?, board))
    })?
}

/// Returns true if the file at `path` is a whole bundle of the type of `new`, and all its signers sign `new` as
/// well. Its owner can make it again, so that it may be replaced. Its signatures and payloads are not verified.
pub(crate) fn is_earlier_version(path: &Path, new: &Manifest<'_>) -> bool {
    with_manifest(path, |earlier, len| {
        let mut signers = earlier.signers.iter();
        let signs_again = |signer| new.signers.iter().any(|it| it == signer);
        earlier.bundle_type == new.bundle_type
            && earlier.bundle_size == len
            && signers.all(signs_again)
    })
    .unwrap_or(false)
}

/// Reads the manifest of a bundle, which is **not verified**, and passes it on with the length of the file.
fn with_manifest<T>(path: &Path, use_it: impl Fn(&Manifest<'_>, u64) -> T) -> Result<T, Error> {
    let (file, len) = hartlock_files::open(path)?;
    let at_start = |size: usize| -> Result<Vec<u8>, Error> {
        let size = size.min(usize::try_from(len).unwrap_or(usize::MAX));
        let mut bytes = vec![0; size];
        file.read_exact_at(&mut bytes, 0).map_err(|error| FileError::new("read", path, error))?;
        Ok(bytes)
    };
    let head = Head::parse(&at_start(hartlock_image::HEADER_SIZE)?)?;
    let metadata = at_start(head.total_size())?;
    if metadata.len() < head.total_size() {
        return Err(hartlock_image::Reason::Truncated.into());
    }
    let (signed, area) = metadata.split_at(head.signed_size());
    Ok(use_it(&parse_unverified(signed, area)?, len))
}

fn spec_of(manifest: &Manifest<'_>, path: &Path) -> BundleSpec {
    let Extensions { boot_version, .. } = manifest.extensions;
    let states = Lifecycle::ALL.into_iter();
    BundleSpec {
        bundle_type: Some(manifest.bundle_type),
        board: Some(manifest.identity.board.as_str().to_string()),
        soc: Some(manifest.identity.soc.as_str().to_string()),
        also_for: manifest
            .identities()
            .skip(1)
            .map(|it| IdentitySpec {
                board: it.board.as_str().to_string(),
                soc: it.soc.as_str().to_string(),
            })
            .collect(),
        label: Some(manifest.label.as_str().to_string()),
        security_version: Some(manifest.security_version),
        min_boot_version: boot_version.map(std::num::NonZeroU64::get),
        lifecycle: Some(states.filter(|it| manifest.lifecycle_mask & it.bit() != 0).collect()),
        bootargs: manifest.bootargs().map(str::to_string),
        payloads: manifest.payloads.iter().map(|it| payload_of(manifest, it, path)).collect(),
        trust: match &manifest.closing {
            Closing::Trust { list, .. } => Some(TrustSpec {
                policy: list.policy,
                keys: Vec::new(),
                algorithms: Vec::new(),
                records: list.keys.iter().copied().collect(),
            }),
            Closing::Bootargs(_) => None,
        },
        ..BundleSpec::default()
    }
}

fn payload_of(manifest: &Manifest<'_>, payload: &PayloadRecord, path: &Path) -> PayloadSpec {
    let mode = match payload.mode {
        TreeMode::Flat => ModeName::Flat,
        TreeMode::Blocks { .. } => ModeName::Blocks,
        TreeMode::ParallelHash { .. } => ModeName::ParallelHash,
    };
    PayloadSpec {
        load_address: Some(payload.load_address),
        memory_size: Some(payload.memory_size),
        entry: Some(payload.entry),
        hash: Some(payload.hash),
        mode: Some(mode),
        block_size: payload.mode.block_size(),
        encryption: manifest.extensions.encryption_of(payload.payload_type),
        part: Some(*payload),
        ..PayloadSpec::new(payload.payload_type, path.to_path_buf())
    }
}
