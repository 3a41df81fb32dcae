//! Finds out why a stage refused, if its reason has several causes: the command knows the root keys, the state of the
//! device and both bundles.

use std::path::Path;

use hartlock_boards::Boards;
use hartlock_bundle::Error;
use hartlock_bundle::build::rom_statement;
use hartlock_bundle::describe::{Description, Key};
use hartlock_bundle::inspect::{inspect_file, other_than_rom};
use hartlock_bundle::reuse::judge_trees;
use hartlock_emulator::Stage;
use hartlock_emulator::images::Provisioning;
use hartlock_image::{Algorithm, BundleType, KeyRecord, Reason};
use hartlock_keys::PublicKey;

use super::args::BootArgs;
use crate::board;
use crate::failure::Failure;

/// What is known about the cause of a refusal.
#[derive(Debug, Default)]
pub(super) struct RefusalCause {
    /// Details, one line each.
    pub(super) lines: Vec<String>,
    /// Advice for this cause; `None` if the advice for the reason fits.
    pub(super) hint: Option<String>,
}

impl RefusalCause {
    fn of(line: String, hint: impl Into<String>) -> Option<Self> {
        Some(Self { lines: vec![line], hint: Some(hint.into()) })
    }
}

/// A root key of the device, in the order of the options.
struct RootKey<'a> {
    path: &'a Path,
    record: KeyRecord,
}

/// Returns the cause of a refusal by a stage. The bundles are not verified here: what they say explains the refusal,
/// and proves nothing.
pub(super) fn find(
    args: &BootArgs,
    reason: Reason,
    stage: Stage,
    state: Option<&Provisioning>,
) -> Option<RefusalCause> {
    let bundle = match stage {
        Stage::Rom => &args.boot_bundle,
        Stage::Loader => &args.system,
    };
    match (reason, stage) {
        (Reason::WrongBundleType, _) => {
            let found = manifest(bundle)?.bundle_type;
            let (option, wanted) = match stage {
                Stage::Rom => ("--boot-bundle", "boot"),
                Stage::Loader => ("--system", "system"),
            };
            RefusalCause::of(
                format!("it is a {found} bundle"),
                format!("give a {wanted} bundle with `{option}`"),
            )
        }
        (Reason::NoTrustedSigner, Stage::Rom) => {
            untrusted_by_rom(&manifest(bundle)?.signers, &root_keys(args), state?.revoked_keys)
        }
        (Reason::NoTrustedSigner, Stage::Loader) => {
            let trust = manifest(&args.boot_bundle)?.trust?;
            RefusalCause::of(
                format!(
                    "signed by {}; the boot bundle trusts {}",
                    names(&manifest(bundle)?.signers),
                    names(&trust.keys)
                ),
                "sign the system bundle with a key that the boot bundle trusts, or the boot bundle with `--trust` \
                 of its signer",
            )
        }
        (Reason::TrustedAlgorithmMissing, Stage::Rom) => {
            let carried = args.rom().ok().and_then(|rom| rom_statement(&rom).ok().flatten());
            without_algorithm(&root_keys(args), carried)
        }
        (Reason::HartNotStarted | Reason::MemoryReachable, Stage::Loader) => {
            device_tree(args, &args.boot_bundle, "boot")
        }
        (Reason::DeviceTreeUnusable, Stage::Loader) => device_tree(args, &args.system, "system"),
        _ => None,
    }
}

/// Refuses bundles that were given for each other. A single bundle of the wrong type is left to the device.
pub(super) fn check_swapped(args: &BootArgs) -> Result<(), Failure> {
    let is = |path: &Path, wanted: BundleType| {
        manifest(path).is_some_and(|manifest| manifest.bundle_type == wanted.name())
    };
    if !is(&args.boot_bundle, BundleType::System) || !is(&args.system, BundleType::Boot) {
        return Ok(());
    }
    let line = "`--boot-bundle` names a system bundle, and `--system` a boot bundle".to_owned();
    Err(Failure::refused(Reason::WrongBundleType, vec![line])
        .with_hint("swap the files of `--boot-bundle` and `--system`")
        .and_undecided())
}

/// Refuses a text that Linux prints with its command line: it would be seen before anything has booted.
pub(super) fn check_until(args: &BootArgs) -> Result<(), Failure> {
    let Some(text) = args.until.as_deref().filter(|text| !text.is_empty()) else { return Ok(()) };
    let bootargs = manifest(&args.system).and_then(|manifest| manifest.bootargs);
    if bootargs.is_none_or(|bootargs| !bootargs.contains(text)) {
        return Ok(());
    }
    Err(Failure::undecided(
        format!(
            "the text `{text}` of `--until` is in the kernel command line, which Linux prints when it starts"
        ),
        "wait for a text that only your system prints",
    ))
}

fn manifest(bundle: &Path) -> Option<Description> {
    inspect_file(bundle, &Boards::default()).ok()?.manifest
}

fn root_keys(args: &BootArgs) -> Vec<RootKey<'_>> {
    let read = |path| PublicKey::read_for(path, &args.algorithms).map(|key| key.record());
    let keys = args.root_keys.iter();
    keys.filter_map(|path| Some(RootKey { path, record: read(path).ok()? })).collect()
}

fn untrusted_by_rom(signers: &[Key], roots: &[RootKey<'_>], revoked: u32) -> Option<RefusalCause> {
    let is_revoked = |index: usize| {
        let bit = u32::try_from(index).ok().and_then(|index| 1u32.checked_shl(index));
        bit.is_some_and(|bit| revoked & bit != 0)
    };
    let listed = signers.iter().find_map(|signer| {
        let index = roots.iter().position(|root| Key::from(&root.record) == *signer)?;
        is_revoked(index).then_some((index, signer))
    });
    if let Some((index, signer)) = listed {
        return RefusalCause::of(
            format!(
                "signed by {}, which is root key {index} and is revoked in the state of the device",
                names(std::slice::from_ref(signer))
            ),
            "sign with a root key that is not revoked: no revocation is taken back",
        );
    }
    let own: Vec<_> = roots.iter().map(|root| Key::from(&root.record)).collect();
    let paths: Vec<_> = roots.iter().map(|root| root.path.display().to_string()).collect();
    RefusalCause::of(
        format!("signed by {}; the root keys are {}", names(signers), names(&own)),
        format!("sign the boot bundle with the private half of {}", paths.join(" or ")),
    )
}

/// Refuses a file that is no ROM, which a device would enter without a word, and root keys whose algorithms the ROM states
/// that it lacks: it would refuse every boot bundle.
pub(super) fn check_rom(args: &BootArgs, rom: &Path) -> Result<(), Failure> {
    if let Some(name) = other_than_rom(rom)? {
        return Err(Failure::undecided(
            format!("`{}` is {name}, and no ROM", rom.display()),
            "give a ROM as a flat binary, such as the `rom.bin` that `cargo xtask firmware` writes",
        ));
    }
    let Some(carried) = rom_statement(rom)? else { return Ok(()) };
    let Some(cause) = without_algorithm(&root_keys(args), Some(carried)) else { return Ok(()) };
    let failure = Failure::refused(Reason::TrustedAlgorithmMissing, cause.lines).and_undecided();
    Err(match cause.hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    })
}

/// Names the root keys that a ROM cannot use. A ROM without a statement of its algorithms may be one with Ed25519 alone,
/// as the default one is.
fn without_algorithm(roots: &[RootKey<'_>], stated: Option<u64>) -> Option<RefusalCause> {
    let is_missing = |root: &&RootKey<'_>| match stated {
        Some(carried) => {
            1u64.checked_shl(root.record.algorithm).is_none_or(|bit| carried & bit == 0)
        }
        None => root.record.known_algorithm() != Some(Algorithm::Ed25519),
    };
    let missing: Vec<_> = roots.iter().filter(is_missing).collect();
    let lines = missing.iter().map(|root| {
        let key = Key::from(&root.record);
        format!("{} of {}", key.algorithm, root.path.display())
    });
    let mut features: Vec<_> =
        missing.iter().filter_map(|root| feature(&Key::from(&root.record).algorithm)).collect();
    features.sort_unstable();
    features.dedup();
    if features.is_empty() {
        return None;
    }
    let options: Vec<_> = features.iter().map(|feature| format!("--with {feature}")).collect();
    Some(RefusalCause {
        lines: lines.collect(),
        hint: Some(format!(
            "build a ROM that has it, with `cargo xtask firmware {}`, and give that one with `--rom`",
            options.join(" ")
        )),
    })
}

/// Returns the feature of the ROM for an algorithm.
fn feature(algorithm: &str) -> Option<&'static str> {
    const FEATURES: [(&str, &str); 8] = [
        ("ed25519", "ed25519"),
        ("ecdsa", "ecdsa"),
        ("rsa", "rsa"),
        ("ml-dsa", "ml-dsa"),
        ("slh-dsa", "slh-dsa"),
        ("lms", "lms"),
        ("hss", "lms"),
        ("xmss", "xmss"),
    ];
    FEATURES.iter().find(|(name, _)| algorithm.starts_with(name)).map(|(_, feature)| *feature)
}

/// Judges the device tree of a bundle: that for OpenSBI, by which harts start and memory is closed, or that for Linux.
fn device_tree(args: &BootArgs, bundle: &Path, name: &str) -> Option<RefusalCause> {
    let boards = board::boards(args.board.file()).ok()?;
    let Err(Error::Refused(refusal)) = judge_trees(bundle, &boards) else { return None };
    let is_of_tree = matches!(refusal.reason, Reason::MemoryNotClosed | Reason::DeviceTreeUnusable);
    let lines = refusal.context.iter().map(|line| format!("the {name} device tree: {line}"));
    is_of_tree
        .then(|| RefusalCause { lines: lines.collect(), hint: Some(refusal.hint().to_owned()) })
}

fn names(keys: &[Key]) -> String {
    let names: Vec<_> =
        keys.iter().map(|key| format!("{} {}…", key.algorithm, key.short_id())).collect();
    names.join(", ")
}
