use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

use hartlock_algorithm::Algorithm;
use proptest::prelude::*;

use super::*;
use crate::tests::{Vector, code};

fn named(name: &str) -> FirstStageAlgorithm {
    FirstStageAlgorithm::of(Algorithm::from_name(name).unwrap()).unwrap()
}

/// Returns a well-formed image of the algorithm. The signature consists of zeros.
fn image(algorithm: FirstStageAlgorithm, code: &[u8]) -> Vec<u8> {
    let header = FirstStageHeader {
        algorithm,
        code_size: code.len() as u64,
        security_version: 7,
        lifecycle_mask: 3,
        board: *Name::new("board").unwrap().field(),
        soc: *Name::new("soc").unwrap().field(),
        next_key: None,
    };
    let mut image = encode_front(algorithm, &[0; KEY_AREA_SIZE]).to_vec();
    image.resize(algorithm.signed_offset(), 0);
    image.extend(header.encode());
    image.extend(code);
    image
}

fn parse(image: &[u8]) -> Result<FirstStageHeader, Reason> {
    let parsed = Image::parse(Front::parse(image)?, image, None)?;
    FirstStageHeader::parse(parsed.signed, parsed.front.algorithm())
}

#[test]
fn sizes_are_those_of_the_specification() {
    for (name, size, signed_at) in [
        ("xmss-sha2-10-256", 2504, 2688),
        ("xmss-sha2-10-192", 1496, 1664),
        ("lms-sha256-h10-w4", 2504, 2688),
        ("hss-l2-sha256-h10-w4", 5056, 5184),
        ("slh-dsa-sha2-128s", 7856, 8000),
    ] {
        let algorithm = named(name);
        assert_eq!(algorithm.signature_size(), size, "{name}");
        assert_eq!(algorithm.signed_offset(), signed_at, "{name}");
    }
}

#[test]
fn the_form_has_the_algorithms_of_the_table_and_no_others() {
    let count = |number| {
        let is_it = |it: &FirstStageAlgorithm| it.algorithm().numbers().0 == number;
        FirstStageAlgorithm::all().filter(is_it).count()
    };
    assert_eq!([16, 17, 18, 20].map(count), [8 * 40, 6, 16, 1]);
    assert_eq!(FirstStageAlgorithm::all().count(), 8 * 40 + 6 + 16 + 1);
    for name in ["ed25519", "ml-dsa-65", "xmss-shake256-10-256", "slh-dsa-sha2-128f"] {
        assert_eq!(FirstStageAlgorithm::of(Algorithm::from_name(name).unwrap()), None, "{name}");
    }
}

#[test]
fn every_key_fits_its_area_and_every_signature_the_room() {
    for algorithm in FirstStageAlgorithm::all() {
        let standard = algorithm.algorithm();
        assert!(algorithm.key_size() <= KEY_AREA_SIZE, "{standard}");
        assert!(algorithm.signed_offset().is_multiple_of(64), "{standard}");
        assert!(algorithm.signature_size().is_multiple_of(8), "{standard}");
        let values = vec![0; algorithm.signature_size()];
        let mut room = vec![0xff; FirstStageAlgorithm::MAX_STANDARD_SIGNATURE];
        let size = algorithm.standard_signature(&values, &mut room).unwrap();
        assert!(standard.signature_size().is_none_or(|it| it == size), "{standard}");
        let mut back = vec![0xff; values.len()];
        assert_eq!(algorithm.signature_values(&room[..size], &mut back), Some(values.len()));
        assert_eq!(back, values, "{standard}");
    }
    let longest = FirstStageAlgorithm::from_numbers(16, 0x0008_0109).unwrap();
    let values = vec![0; longest.signature_size()];
    let mut room = vec![0; FirstStageAlgorithm::MAX_STANDARD_SIGNATURE];
    assert_eq!(longest.standard_signature(&values, &mut room), Ok(room.len()));
}

#[test]
fn keys_come_back_as_they_were() {
    for algorithm in FirstStageAlgorithm::all() {
        let mut area = [0; KEY_AREA_SIZE];
        area[..algorithm.key_size()].fill(0xa5);
        let mut standard = [0; KEY_AREA_SIZE + 12];
        let size = algorithm.standard_key(&area, &mut standard).unwrap();
        assert_eq!(size, algorithm.algorithm().public_key_size());
        assert_eq!(algorithm.key_area(&standard[..size]), Some(area));
        assert_eq!(algorithm.key_area(&standard[..size - 1]), None);
        assert_eq!(algorithm.key_area(&standard[..=size]), None);
        // This changes a code, so that the key belongs to another parameter set.
        if size > algorithm.key_size() {
            standard[size - algorithm.key_size() - 1] ^= 1;
            assert_eq!(algorithm.key_area(&standard[..size]), None);
        }
    }
}

#[test]
fn a_signature_with_other_type_codes_has_no_values() {
    let algorithm = named("hss-l2-sha256-h5-w8");
    let values = vec![0; algorithm.signature_size()];
    let mut room = vec![0; FirstStageAlgorithm::MAX_STANDARD_SIGNATURE];
    let size = algorithm.standard_signature(&values, &mut room).unwrap();
    let ots_size = 4 + 32 * (1 + 34);
    // The offsets are those of the level count, of the LM-OTS and LMS types of the top-level tree,
    // and of both types of the key below it.
    let lower_key = 4 + 4 + ots_size + 4 + 5 * 32;
    for at in [3, 11, 4 + 4 + ots_size + 3, lower_key + 3, lower_key + 7] {
        let mut other = room[..size].to_vec();
        other[at] ^= 1;
        let mut back = vec![0; values.len()];
        assert_eq!(algorithm.signature_values(&other, &mut back), None, "byte {at}");
    }
}

#[test]
fn an_index_is_below_the_leaves_of_its_trees() {
    for (name, at, height) in [
        ("xmss-sha2-10-256", 0, 10),
        ("xmssmt-sha2-60-12-256", 0, 60),
        ("xmssmt-sha2-20-2-192", 0, 20),
        ("lms-sha256-h5-w8", 0, 5),
        ("hss-l2-sha256-h5-w8", 8 + 32 * (1 + 34 + 5) + 16 + 32, 5),
    ] {
        let algorithm = named(name);
        let mut values = vec![0; algorithm.signature_size()];
        let mut room = vec![0; FirstStageAlgorithm::MAX_STANDARD_SIGNATURE];
        let mut with = |index: u64| {
            values[at..at + 8].copy_from_slice(&index.to_be_bytes());
            algorithm.standard_signature(&values, &mut room).err()
        };
        assert_eq!(with((1 << height) - 1), None, "{name}");
        assert_eq!(with(1 << height), Some(Reason::SignatureIndexOutOfRange), "{name}");
        assert_eq!(with(1 << 63), Some(Reason::SignatureIndexOutOfRange), "{name}");
    }
}

#[test]
fn what_is_encoded_is_parsed() {
    for name in ["xmss-sha2-10-256", "lms-sha256-192-h5-w8", "slh-dsa-sha2-128s"] {
        let image = image(named(name), &[0x13; 128]);
        let header = parse(&image).unwrap();
        assert_eq!(header.code_size, 128);
        assert_eq!(header.board_name().unwrap().as_str(), "board");
        let next_key = Some(NextKey { algorithm: named("xmss-sha2-20-192"), digest: [9; 32] });
        let other = FirstStageHeader { next_key, ..header };
        assert_eq!(FirstStageHeader::parse(&other.encode(), header.algorithm), Ok(other));
    }
}

#[test]
fn every_byte_outside_of_values_is_fixed() {
    let algorithm = named("lms-sha256-h5-w8");
    let image = image(algorithm, &[0; 64]);
    let signed_at = algorithm.signed_offset();
    let is_value = |at: usize| {
        (64..64 + algorithm.key_size()).contains(&at)
            || algorithm.signature_range().contains(&at)
            // Other rules check the version, the lifecycle, the names, and the next key with its
            // digest.
            || (signed_at + 32..signed_at + 44).contains(&at)
            || (signed_at + 64..signed_at + 136).contains(&at)
            || (signed_at + 160..signed_at + 192).contains(&at)
            || at >= signed_at + 256
    };
    for at in (0..image.len()).filter(|at| !is_value(*at)) {
        for bit in 0..8 {
            let mut other = image.clone();
            other[at] ^= 1 << bit;
            assert!(parse(&other).is_err(), "bit {bit} of byte {at} is free");
        }
    }
}

#[test]
fn each_vector_with_a_fault_of_form_is_refused_for_it_and_the_others_are_parsed() {
    let mut refused = BTreeSet::new();
    for vector in Vector::all("first-stage", "hlf") {
        let capacity = vector.option("capacity").as_u64();
        let found = code(&Front::parse(&vector.bytes).and_then(|front| {
            let image = Image::parse(front, &vector.bytes, capacity)?;
            assert_eq!(image.code().len() + FIRST_STAGE_HEADER_SIZE, image.signed.len());
            assert!(vector.code() != "E0803" || image.trailing > 0, "{}", vector.name());
            let header = FirstStageHeader::parse(image.signed, image.front.algorithm())?;
            // A device compares names as bytes, and does not check their form.
            if !vector.code().starts_with("E06") {
                header.board_name()?;
                header.soc_name()?;
            }
            Ok(())
        }));
        // The rest is found by the key and its signature, which come before the header, or by requirements.
        match vector.code().get(..3).unwrap_or("") {
            "E03" => continue,
            "E01" | "E02" | "E04" => assert_eq!(found, vector.code(), "{}", vector.name()),
            _ => assert_eq!(found, "", "{}", vector.name()),
        }
        refused.insert(found);
    }
    assert!(refused.len() >= 10, "{refused:?}");
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut image = image(named("lms-sha256-h5-w8"), &[0; 64]);
        let at = image.len().saturating_sub(bytes.len());
        image.truncate(at);
        image.extend(&bytes);
        let _ = parse(&image);
        let _ = parse(&bytes);
        let tagged = [FIRST_STAGE_TAG.as_slice(), &bytes].concat();
        let _ = parse(&tagged);
    }

    #[test]
    fn an_image_that_ends_anywhere_is_truncated(end in 0_usize..2048) {
        let image = image(named("lms-sha256-h5-w8"), &[0; 64]);
        let end = end.min(image.len() - 1);
        prop_assert_eq!(parse(&image[..end]), Err(Reason::Truncated));
    }
}
