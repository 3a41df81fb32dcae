//! Tests that every byte of a bundle is in one field, and that a fault is reported at the changed field. The
//! bundles are the test vectors of the specification, which another program makes.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hartlock_boards::Boards;
use hartlock_bundle::inspect::{Check, Field, Inspection, Obstacle, Part, inspect_file};
use hartlock_image::{Policy, Reason};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/image")
}

/// Returns the name of each vector, its inspection, and its entry in `expected.json`.
fn vectors() -> Vec<(String, Inspection, Value)> {
    let expected = fs::read(folder().join("expected.json")).unwrap();
    let expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
    assert!(expected.len() > 200, "{}", expected.len());
    expected
        .into_iter()
        .map(|expected| {
            let name = expected["name"].as_str().unwrap().to_owned();
            let inspection =
                inspect_file(&folder().join(format!("{name}.hlk")), &Boards::default()).unwrap();
            (name, inspection, expected)
        })
        .collect()
}

fn reason(expected: &Value) -> Option<Reason> {
    let code = expected["reason"].as_str()?;
    let number = code[1..].parse::<u16>().unwrap();
    Reason::ALL.iter().copied().find(|reason| *reason as u16 == number)
}

/// Returns true if a reason is about the form of a bundle: the groups 01, 02, 04 and 05, and the bytes
/// between and after payloads.
fn is_of_the_form(reason: Reason) -> bool {
    matches!(reason as u16 / 100, 1 | 2 | 4 | 5) && reason != Reason::WrongBundleType
        || matches!(reason, Reason::PaddingNotZero | Reason::TrailingBytes)
}

#[track_caller]
fn assert_tiles(name: &str, inspection: &Inspection) {
    let mut at = 0;
    for field in &inspection.fields {
        assert_eq!(field.offset, at, "{name}: a gap or an overlap at {field:?}");
        assert!(field.size > 0, "{name}: {field:?}");
        at += field.size;
    }
    assert_eq!(at, inspection.file_size, "{name}: the fields do not end with the file");
}

#[test]
fn fields_tile_every_vector() {
    let mut complete = 0;
    for (name, inspection, _) in vectors() {
        assert_tiles(&name, &inspection);
        let has_rest = inspection.fields.iter().any(|field| field.part == Part::Unparsed);
        if inspection.reason.is_none() {
            assert!(!has_rest, "{name}: bytes of a well-formed bundle have no name");
            complete += 1;
        }
        if has_rest {
            assert!(inspection.reason.is_some(), "{name}");
        }
    }
    assert!(complete > 60, "{complete}");
}

#[test]
fn fields_have_the_values_of_the_walk_through() {
    let inspection =
        inspect_file(&folder().join("minimal_system.hlk"), &Boards::default()).unwrap();
    let value = |part: Part, name: &str| {
        let field = inspection.fields.iter().find(|it| it.part == part && it.name == name);
        field.map(|field| (field.offset, field.value.as_str())).unwrap()
    };
    // The values are those of the example in image format §9.
    assert_eq!(value(Part::Header, "signed_size"), (0x10, "600 (0x258)"));
    assert_eq!(value(Part::Header, "bundle_size"), (0x18, "12288 (0x3000)"));
    assert_eq!(value(Part::Header, "lifecycle_mask"), (0x30, "development, production"));
    assert_eq!(value(Part::Header, "label"), (0x80, "\"test vector\""));
    assert_eq!(value(Part::Signer(0), "algorithm"), (0x100, "1 (ed25519)"));
    assert_eq!(value(Part::CommandLine, "bootargs"), (0x248, "\"console=ttyS0\""));
    assert_eq!(value(Part::SignatureBlock(0), "public_key_size"), (0x260, "32 (0x20)"));
    assert_eq!(value(Part::SignatureBlock(0), "public key").0, 0x268);
    assert_eq!(value(Part::SignatureBlock(0), "signature").0, 0x288);
    assert_eq!(value(Part::Payload(0), "payload"), (0x1000, "kernel"));
    assert_eq!(value(Part::Padding, "padding"), (0x2c8, "zero"));
    let kernel = &inspection.fields.iter().find(|it| it.value == "16 (kernel)").unwrap();
    assert_eq!(kernel.offset, 0x140);
}

/// Returns true if the size of the signature in this vector is wrong because of the signature's content.
fn follows_from_content(name: &str) -> bool {
    name.starts_with("hss_one_byte")
}

#[test]
fn reasons_of_the_form_are_those_of_the_vectors_and_have_a_place() {
    for (name, inspection, expected) in vectors() {
        // This vector is not a bundle, but a well-formed first stage.
        if inspection.first_stage.is_some() {
            assert_eq!(
                (name.as_str(), reason(&expected)),
                ("first_stage", Some(Reason::UnknownTag))
            );
            continue;
        }
        let is_medium = expected["options"]["medium"] == true;
        // In these vectors a verifier fails before it checks the form: the bundle was changed after signing,
        // or a signer that the policy requires is missing. The size of an HSS signature is found wrong when
        // it is verified.
        let is_forged = matches!(name.as_str(), "signed_tag_changed" | "hybrid_stripped")
            || follows_from_content(&name);
        let expected = reason(&expected).filter(|reason| is_of_the_form(*reason));
        let is_cut_off = is_medium && inspection.reason == Some(Reason::TrailingBytes);
        if !(is_forged || is_cut_off) {
            assert_eq!(inspection.reason, expected, "{name}");
        }
        assert_eq!(inspection.place.is_some(), inspection.reason.is_some(), "{name}");
        if let Some(place) = inspection.place {
            assert!(place.offset + place.size <= inspection.file_size, "{name}: {place:?}");
        }
    }
}

#[test]
fn signatures_and_prospects_are_those_of_the_vectors() {
    for (name, inspection, expected) in vectors() {
        if inspection.signatures.is_empty() {
            continue;
        }
        let reason = reason(&expected);
        let failure = inspection.signatures.iter().find_map(|signature| match signature.check {
            Check::Fails(reason) => Some(reason),
            _ => None,
        });
        let is_about_signature = |reason: &Reason| {
            matches!(*reason as u16, 301..=303 | 308..=310) || follows_from_content(&name)
        };
        // A verifier does not check the signature of a key that it does not trust (image format §5.2).
        if name.starts_with("untrusted_") {
            assert!(failure.is_some() && reason.is_none(), "{name}");
        } else {
            assert_eq!(failure, reason.filter(is_about_signature), "{name}");
        }

        let obstacle = |policy: Policy| {
            let policy_outcomes = inspection.policy_outcomes();
            policy_outcomes.iter().find(|it| it.policy == policy).unwrap().obstacle
        };
        let policy = match expected["options"]["policy"].as_str().unwrap() {
            "any" => Policy::Any,
            "all" => Policy::All,
            "hybrid" => Policy::Hybrid,
            _ => continue,
        };
        // An accepted bundle has trusted keys that satisfy the policy. Otherwise the reason is that of the
        // verifier.
        if expected["verdict"] == "accepted" {
            assert_eq!(obstacle(policy), None, "{name}");
        }
        if let Some(obstacle) = obstacle(policy) {
            // If a signature fails, the verifier's reason depends on whether the key is trusted.
            let is_open = failure.is_some() && reason.is_some();
            assert!(is_open || Some(obstacle.reason()) == reason, "{name}: {obstacle:?}");
        }
        if reason == Some(Reason::PolicyHybridNotMet) {
            assert!(matches!(obstacle(policy), Some(Obstacle::Lacks(_))), "{name}");
        }
    }
}

/// Returns changes of the bytes before the payloads: an offset and the new value of the byte.
fn changes(bundle: &[u8]) -> impl Iterator<Item = (u64, u8)> {
    let size = |at: usize| u32::from_le_bytes(bundle[at..at + 4].try_into().unwrap()) as usize;
    bundle[..size(16) + size(20)].iter().zip(0..).flat_map(|(byte, at)| {
        let values = [0x00, 0x01, 0x07, 0x80, 0xff].into_iter();
        values.filter(move |value| value != byte).map(move |value| (at, value))
    })
}

/// Returns true if a rule compares this field with others, so that the fault is reported at another field.
fn is_compared(reason: Reason, changed: &Field) -> bool {
    match changed.name {
        // All fields after these sizes are moved.
        "signed_size" | "signatures_size" => true,
        "signer_count" | "payload_count" | "extensions_size" | "key_count" | "length" => {
            reason == Reason::SignedSizeMismatch
        }
        "algorithm" if matches!(changed.part, Part::TrustedKey(_)) => {
            reason == Reason::TrustedKeyNotCarried
        }
        "hash" => reason == Reason::DigestPadding,
        "size" => matches!(reason, Reason::LoadRangeForm | Reason::PaddingNotZero),
        "load_address" => reason == Reason::EntryOutsidePayload,
        "memory_size" => reason == Reason::LoadRangesOverlap,
        _ => matches!(changed.part, Part::Signer(_)) && reason == Reason::SignerMismatch,
    }
}

#[test]
fn a_fault_stands_where_a_byte_was_changed() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for name in ["minimal_system", "minimal_boot"] {
        let path = folder().join(format!("{name}.hlk"));
        let good = inspect_file(&path, &Boards::default()).unwrap();
        let bundle = fs::read(path).unwrap();
        fs::write(file.path(), &bundle).unwrap();
        let mut exact = 0;
        for (at, value) in changes(&bundle) {
            file.as_file().write_all_at(&[value], at).unwrap();
            let inspection = inspect_file(file.path(), &Boards::default()).unwrap();
            file.as_file().write_all_at(&bundle[at as usize..][..1], at).unwrap();
            assert_tiles(name, &inspection);
            let Some(reason) = inspection.reason else { continue };
            let place = inspection.place.unwrap_or_else(|| panic!("{name} {at:#x} {reason:?}"));
            if (place.offset..place.offset + place.size.max(1)).contains(&at) {
                exact += 1;
                continue;
            }
            let field = good.fields.iter().find(|it| (it.offset..it.end()).contains(&at)).unwrap();
            assert!(is_compared(reason, field), "{name} {at:#x} {reason:?}: {place:x?} {field:?}");
        }
        assert!(exact > 1500, "{name} {exact}");
    }
}
