//! What is read before any signature is checked: sizes and signature blocks.

use hartlock_image::{
    BundleType, Head, MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE, Reason, SignatureBlocks, u32_at,
};

use crate::draft::encode_block;

/// The first 256 bytes. A head that is accepted says what its bytes say, within the bounds.
pub fn head(data: &[u8]) {
    let found = Head::parse(data);
    for expected in [BundleType::Boot, BundleType::System] {
        let wanted = match found {
            Ok(head) if head.bundle_type() != expected => Err(Reason::WrongBundleType),
            other => other,
        };
        // The type comes before the sizes, so a wrong one hides what is wrong behind it.
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

/// A signature area of any bytes. One that is accepted has no other encoding.
pub fn signature_blocks(data: &[u8]) {
    let Ok(blocks) = SignatureBlocks::parse(data) else { return };
    assert!(blocks.len() <= 4 && blocks.is_empty() == data.is_empty());
    let mut encoded = Vec::new();
    for block in blocks.iter() {
        assert_ne!(block.algorithm, 0);
        if let Some(known) = block.known_algorithm() {
            assert_eq!(block.public_key.len(), known.public_key_size());
            assert_eq!(block.signature.len(), known.signature_size());
        }
        let numbers = (block.algorithm, block.parameters);
        encoded.extend(encode_block(numbers, block.public_key, block.signature));
    }
    assert_eq!(encoded, data, "one encoding of a signature area");
}
