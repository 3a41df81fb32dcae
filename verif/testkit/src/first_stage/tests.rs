use std::collections::BTreeSet;

use super::*;
use crate::expected::answer;

#[test]
fn the_library_judges_every_vector_as_expected() {
    for made in generate() {
        let answer = made.expected.options.judge(&made.image).unwrap();
        assert_eq!(answer, made.expected.answer(), "{}", made.expected.name);
    }
}

#[test]
fn each_fault_of_a_pair_has_its_reason_alone() {
    for row in order::alone() {
        let made = row.make();
        let answer = made.expected.options.judge(&made.image).unwrap();
        assert_eq!(answer, made.expected.answer(), "{}", made.expected.name);
    }
}

#[test]
fn every_code_of_the_specification_has_a_vector_and_no_other_is_given() {
    let spec = fs::read_to_string(crate::root().join("spec/first-stage.md")).unwrap();
    let stated: BTreeSet<String> =
        spec.split("**E").skip(1).map(|rest| format!("E{}", &rest[..4])).collect();
    let given: BTreeSet<String> =
        catalogue::rows().filter_map(|row| row.reason).map(|it| answer(Some(it))).collect();
    assert_eq!(stated, given);
}

#[test]
fn no_two_vectors_are_the_same() {
    let all = generate();
    for (index, one) in all.iter().enumerate() {
        for other in &all[..index] {
            assert_ne!(one.expected.name, other.expected.name);
            assert!(
                one.image != other.image || one.expected.options != other.expected.options,
                "{} and {} are the same",
                one.expected.name,
                other.expected.name
            );
        }
    }
}

#[test]
fn vectors_are_named_described_and_small() {
    let all = generate();
    for made in &all {
        let FirstStageExpected { name, description, .. } = &made.expected;
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(name.chars().all(is_name), "{name}");
        assert!(description.ends_with('.') && description.len() > 15, "{name}: {description}");
        assert!(made.image.len() <= 32 << 10, "{name}");
    }
    let size: usize = all.iter().map(|made| made.image.len()).sum();
    assert!(size < 500_000, "{size}");
}

/// Flips one bit of an image that satisfies all rules of a device.
#[test]
fn every_flipped_bit_of_an_image_is_refused() {
    let (image, draft) = build(FirstStageDraft::smallest(), &[]);
    let mut options = FirstStageOptions::of(draft.signer);
    options.of_device();
    assert_eq!(options.judge(&image).unwrap(), "accepted");
    let bits = image.len() * 8;
    let count = 500;
    for index in 0..count {
        // The step is odd, so that the bits are spread over the image and over the positions in a
        // byte.
        let bit = (index * ((bits / count) | 1)) % bits;
        let mut other = image.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        let answer = options.judge(&other).unwrap();
        assert_ne!(answer, "accepted", "bit {} of byte {}", bit % 8, bit / 8);
    }
}
