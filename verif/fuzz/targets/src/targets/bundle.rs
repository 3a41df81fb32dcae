//! A whole bundle that is signed with test keys, so that the fuzzer gets past the signature check.
//!
//! Rules: a correct bundle is accepted; an accepted bundle has the properties of `facts.rs`; a changed bit in a
//! covered byte makes it refused; check and redundant check never differ (`medium.rs`); the command, which reads
//! files, gives the same answer as the boot stages.

use std::path::Path;

use hartlock_boards::Boards;
use hartlock_bundle::inspect::{Part, inspect_file};
use hartlock_bundle::verify::{Expectation, verify_open_file};
use hartlock_bundle::{Error, Refusal};
use hartlock_image::first_stage::FIRST_STAGE_TAG;
use hartlock_image::{Algorithm, Policy, Reason, u32_at};
use hartlock_keys::PublicKey;
use hartlock_testkit::bundle::encode_block;
use hartlock_testkit::keys::ED25519;
use hartlock_verify::Statement;

use super::manifest::change;
use crate::choices::Choices;
use crate::draft::{Draft, block};
use crate::facts;
use crate::files::Temporary;
use crate::keys::KEYS;
use crate::medium::judge;
use crate::options::Options;

/// A bundle and the options of its verifier.
pub struct BundleCase {
    pub file: Vec<u8>,
    pub options: Options,
    /// True if the bundle and the options have no fault.
    pub is_right: bool,
    /// Number of bytes at the start of the file that a signature or a digest covers, or that must be zero.
    bound: usize,
}

impl BundleCase {
    pub fn new(choices: &mut Choices<'_>) -> Self {
        let draft = Draft::new(choices);
        let options = Options::new(choices, &draft);
        let (mut region, offsets) = draft.encode();
        let mut is_right = !draft.has_fault && !options.has_fault;
        // Changes of the signed region are made before signing, so that they reach the checks of the manifest.
        // Other changes are made after signing.
        for _ in 0..choices.of(&[0, 0, 0, 1, 2]) {
            is_right = false;
            change(choices, &mut region);
        }
        let mut blocks = draft.sign(&region);
        for _ in 0..choices.of(&[0, 0, 0, 1, 2]) {
            is_right = false;
            change_blocks(choices, &mut blocks, &region);
        }
        let mut file = draft.assemble(&region, &blocks.concat(), &offsets);
        let bound = file.len();
        for _ in 0..choices.of(&[0, 0, 0, 1, 2]) {
            is_right = false;
            change_file(choices, &mut file);
        }
        if options.is_medium && choices.rarely(2) {
            // Bytes after the bundle on a medium do not belong to it.
            file.extend(choices.bytes(64));
        }
        Self { file, options, is_right, bound }
    }
}

fn change_blocks(choices: &mut Choices<'_>, blocks: &mut Vec<Vec<u8>>, region: &[u8]) {
    let index = choices.below(blocks.len().max(1));
    let Some(chosen) = blocks.get(index) else { return };
    match choices.below(8) {
        0 => drop(blocks.remove(index)),
        1 => blocks.insert(index, chosen.clone()),
        2 => blocks.rotate_left(1),
        3 => blocks[index] = block(choices.below(KEYS.len()), region),
        4 => blocks[index] = encode_block(ED25519, choices.bytes(40), choices.bytes(72)),
        5 => {
            let at = choices.below(chosen.len().max(1));
            if let Some(byte) = blocks[index].get_mut(at) {
                *byte = choices.byte();
            }
        }
        6 => {
            // The change is in the top byte of S, which is above the group order from 0x10 on.
            if let Some(byte) = blocks[index].last_mut() {
                *byte |= choices.byte();
            }
        }
        _ => blocks.push(choices.bytes(48).to_vec()),
    }
}

fn change_file(choices: &mut Choices<'_>, file: &mut Vec<u8>) {
    let at = choices.below(file.len().max(1));
    match choices.below(5) {
        0 => file.truncate(at),
        1 => file.extend(choices.bytes(16)),
        2 => file.resize(file.len() + 4096, 0),
        3 => {
            if let Some(byte) = file.get_mut(at) {
                *byte = choices.byte();
            }
        }
        _ => {
            if let Some(byte) = file.get_mut(at) {
                *byte ^= 1 << choices.below(8);
            }
        }
    }
}

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let case = BundleCase::new(&mut choices);
    let acceptance = case.options.acceptance();
    let answer = judge(&case.file, &acceptance, case.options.is_medium);
    if case.is_right {
        assert_eq!(answer, Ok(()), "a right bundle is refused");
    }
    if answer.is_ok() {
        facts::check_accepted(&case.file, &case.options);
        one_bit_is_enough(&mut choices, &case);
    }
    the_command_agrees(&case, answer);
}

/// Checks that a change of any bit makes an accepted bundle refused. Exceptions are signatures of algorithms that
/// the verifier does not support, and of keys that it does not trust, which it does not verify (image format §5.3).
fn one_bit_is_enough(choices: &mut Choices<'_>, case: &BundleCase) {
    let has_foreign = case.file.windows(9).any(|part| part == b"not known");
    let len = case.file.len().min(case.bound);
    let (at, bit) = (choices.below(len.max(1)), choices.below(8));
    let is_in_signatures = signature_area(&case.file).is_some_and(|area| area.contains(&at));
    let has_other = KEYS.iter().any(|key| {
        let is_trusted = case.options.keys.contains(&key.record);
        !is_trusted && case.file.windows(48).any(|part| part == key.record.key_id)
    });
    if has_foreign || case.options.is_medium || (is_in_signatures && has_other) {
        return;
    }
    let mut changed = case.file.clone();
    changed[at] ^= 1 << bit;
    let answer = judge(&changed, &case.options.acceptance(), false);
    assert!(answer.is_err(), "bit {bit} of byte {at} changes nothing");
}

/// Returns the range of the signature area, which follows the signed region, from the two sizes in the header.
fn signature_area(file: &[u8]) -> Option<std::ops::Range<usize>> {
    let [start, size] = [16, 20].map(|at| u32_at(file, at).map(|size| size as usize));
    Some(start?..start? + size?)
}

fn ed25519(bytes: &[u8]) -> PublicKey {
    PublicKey::from_bytes(Algorithm::Ed25519, bytes).expect("a key")
}

/// Checks that `hartlock verify` gives the same answer. The command supports only one policy, and files without
/// trailing bytes.
fn the_command_agrees(case: &BundleCase, answer: Result<(), Reason>) {
    let options = &case.options;
    let pairs = options.keys.iter().map(|key| KEYS.iter().find(|known| known.record == *key));
    let Some(pairs) = pairs.collect::<Option<Vec<_>>>() else { return };
    if options.policy != Policy::EverySigner || options.is_medium || options.revoked_keys != 0 {
        return;
    }
    let expectation = Expectation {
        keys: pairs.iter().map(|key| ed25519(&key.public)).collect(),
        bundle_type: options.bundle_type,
        board: options.board,
        soc: options.soc,
        floor: options.floor,
        boot_version: options.boot_version,
        lifecycle: options.lifecycle,
        profile: None,
        boards: Boards::default(),
        contents: false,
        class_keys: Vec::new(),
        is_any_type: false,
    };
    let Temporary { file, len } = Temporary::of(&case.file);
    let path = Path::new("bundle");
    let said = verify_open_file(file, len, path, &expectation, &mut |_, _| {});
    let said = match said {
        Ok(_) => Ok(()),
        Err(Error::Refused(Refusal { reason, .. })) => Err(reason),
        Err(other) => panic!("the command cannot decide: {other}"),
    };
    assert_eq!(said, answer, "the command and the boot stages differ");
}

/// Runs `hartlock inspect` on arbitrary bytes. It must show every byte and must not report a malformed file as
/// well-formed.
pub fn inspect(data: &[u8]) {
    let mut choices = Choices::new(data);
    let bytes = if choices.rarely(2) {
        choices.rest().to_vec()
    } else {
        BundleCase::new(&mut choices).file
    };
    let file = Temporary::of(&bytes);
    let inspection =
        inspect_file(Path::new(&file.path()), &Boards::default()).expect("a file that can be read");
    assert_eq!(inspection.file_size, file.len);
    let is_first_stage = bytes.starts_with(FIRST_STAGE_TAG);
    assert_eq!(inspection.first_stage.is_some(), is_first_stage);
    assert_eq!(inspection.header.is_some(), bytes.len() >= 256 && !is_first_stage);
    let fields = &inspection.fields;
    let mut end = 0;
    for field in fields {
        assert!(field.offset == end && field.size > 0, "every byte in one field");
        end = field.end();
    }
    assert_eq!(end, file.len);
    if inspection.carried.is_some() {
        let is_statement = |part: &[u8]| part == Statement::ROM || part == Statement::LOADER;
        assert!(bytes.windows(16).step_by(8).any(is_statement), "a stage without a statement");
        assert!(!bytes.starts_with(b"HARTLOCK-"), "a stage and a bundle");
        assert!(inspection.reason.is_none() && inspection.manifest.is_none());
    } else if inspection.reason.is_none() && !is_first_stage {
        let manifest = inspection.manifest.as_ref().expect("well-formed, and without a manifest");
        assert_eq!(manifest.bundle_size, file.len, "well-formed, and of another size");
        for field in fields.iter().filter(|field| field.part == Part::Padding) {
            let padding = &bytes[field.offset as usize..field.end() as usize];
            assert!(padding.iter().all(|byte| *byte == 0), "well-formed, and with padding");
        }
    }
    // The texts are checked directly, because `Debug` would escape them again.
    let header = inspection.header.iter().flat_map(|it| [&it.tag, &it.board, &it.soc, &it.label]);
    let manifest = inspection.manifest.iter().flat_map(|it| [&it.board, &it.soc, &it.label]);
    let bootargs = inspection.manifest.iter().filter_map(|it| it.bootargs.as_ref());
    let place = inspection.place.iter().filter_map(|it| it.value.as_ref());
    let values = fields.iter().map(|field| &field.value);
    for text in header.chain(manifest).chain(bootargs).chain(place).chain(values) {
        let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        assert!(is_plain, "a terminal would obey it: {text:?}");
    }
}
