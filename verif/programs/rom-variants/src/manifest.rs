//! Reading of a manifest without verification, for the unverified ROM and the unverified loader
//! (`verif/programs/loader-variants`).

use hartlock_image::{
    BundleType, HEADER_SIZE, Head, KEY_RECORD_SIZE, KeyRecord, List, MAX_SIGNERS, Manifest, Reason,
};
use hartlock_verify::Platform;

/// Offset of the number of signers in a header (image format §4.1).
const SIGNER_COUNT_AT: usize = 52;

/// Reads everything before the payloads, the same as the verifier, without checking it. Also returns the number of
/// bytes.
///
/// # Errors
/// An error if the bytes cannot be read or are not a bundle.
pub fn read_manifest<'a, P: Platform>(
    platform: &mut P,
    bundle_type: BundleType,
    metadata: &'a mut [u8],
) -> Result<(Manifest<'a>, u64), Reason> {
    let (header, rest) = metadata.split_at_mut_checked(HEADER_SIZE).ok_or(Reason::InternalLimit)?;
    platform.read(0, header)?;
    let head = Head::parse_as(header, Some(bundle_type))?;
    let rest =
        rest.get_mut(..head.total_size().wrapping_sub(HEADER_SIZE)).ok_or(Reason::InternalLimit)?;
    platform.read(HEADER_SIZE as u64, rest)?;
    let metadata: &'a [u8] = metadata;
    let signed = metadata.get(..head.signed_size()).ok_or(Reason::InternalLimit)?;
    // The signers are taken from the manifest itself, because nothing is verified.
    let count = signed.get(SIGNER_COUNT_AT).copied().unwrap_or(0);
    let records = signed.get(HEADER_SIZE..).unwrap_or_default().chunks_exact(KEY_RECORD_SIZE);
    let mut signers = List::<KeyRecord, MAX_SIGNERS>::new();
    for record in records.take(count.into()) {
        let _ = signers.push(KeyRecord::parse(record).ok_or(Reason::ReservedNotZero)?);
    }
    Ok((Manifest::parse(signed, &signers)?, head.total_size() as u64))
}
