//! The parts of a bundle that are read before any signature is verified: sizes and signature
//! blocks.

use hartlock_image::{
    BundleType, Head, MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE, Reason, SignatureBlocks, u32_at,
};
use hartlock_testkit::bundle::encode_block;
use hartlock_testkit::keys::{ED25519, FOREIGN};

use crate::choices::Choices;

/// Parses the first 256 bytes. The fields of an accepted head equal its bytes and are within their
/// bounds.
pub fn head(data: &[u8]) {
    let found = Head::parse(data);
    for expected in [BundleType::Boot, BundleType::System] {
        let wanted = match found {
            Ok(head) if head.bundle_type() != expected => Err(Reason::WrongBundleType),
            other => other,
        };
        // The type is checked before the sizes, so a wrong type hides the faults after it.
        let actual = Head::parse_as(data, Some(expected));
        assert!(actual == wanted || actual == Err(Reason::WrongBundleType));
    }
    let Ok(head) = found else { return };
    assert!(data.starts_with(head.bundle_type().tag()) && data.len() >= 256);
    assert_eq!(u32_at(data, 16), Some(head.signed_size() as u32));
    assert_eq!(u32_at(data, 20), Some(head.signatures_size() as u32));
    assert!((456..=MAX_SIGNED_SIZE).contains(&head.signed_size()));
    assert!((8..=MAX_SIGNATURES_SIZE).contains(&head.signatures_size()));
    assert_eq!(head.total_size() % 8, 0);
}

/// Parses a signature area of arbitrary bytes, and one that is made of blocks.
pub fn signature_blocks(data: &[u8]) {
    any_area(data);
    let mut choices = Choices::new(data);
    let mut area = Vec::new();
    let mut is_right = true;
    let count = choices.of(&[1, 2, 3, 4, 5, 0]);
    for _ in 0..count {
        let numbers = choices.of(&[ED25519, FOREIGN, (0, 0), (0, 1), (1, 1)]);
        let key_size = choices.of(&[32, 31, 33, 0, 40]);
        let signature_size = choices.of(&[64, 63, 65, 0, 57]);
        // Only Ed25519 blocks have known sizes here. Algorithm number 0 is always invalid.
        is_right &= numbers != ED25519 || (key_size, signature_size) == (32, 64);
        is_right &= numbers.0 != 0;
        area.extend(encode_block(numbers, &[0xa5; 40][..key_size], &[0x5a; 65][..signature_size]));
    }
    is_right &= count <= 4;
    assert_eq!(SignatureBlocks::parse(&area).is_ok(), is_right, "{count} blocks");
    any_area(&area);
}

/// Checks that an accepted area has only one encoding.
fn any_area(data: &[u8]) {
    let Ok(blocks) = SignatureBlocks::parse(data) else { return };
    assert!(blocks.len() <= 4 && blocks.is_empty() == data.is_empty());
    let mut encoded = Vec::new();
    for block in blocks.iter() {
        assert_ne!(block.algorithm, 0);
        if let Some(known) = block.known_algorithm() {
            assert_eq!(block.public_key.len(), known.public_key_size());
            // The size of an HSS signature with several levels is not fixed.
            let size = known.signature_size();
            assert!(size.is_none_or(|size| size == block.signature.len()));
        }
        let numbers = (block.algorithm, block.parameters);
        encoded.extend(encode_block(numbers, block.public_key, block.signature));
    }
    assert_eq!(encoded, data, "one encoding of a signature area");
}
