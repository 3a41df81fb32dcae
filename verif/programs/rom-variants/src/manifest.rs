//! How the stages that verify nothing read a manifest (this one, and `verif/programs/loader-variants`).

use hartlock_image::{
    BundleType, HEADER_SIZE, Head, KEY_RECORD_SIZE, KeyRecord, List, MAX_SIGNERS, Manifest, Reason,
};
use hartlock_verify::Platform;

/// Offset of the number of signers in a header (image format §4.1).
const SIGNER_COUNT_AT: usize = 52;

/// Reads all that precedes the payloads, as verification does, without checking it. Returns
/// the number of bytes, too.
///
/// # Errors
/// If it cannot be read, or does not have the form of a bundle.
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
    // The manifest names its signers, and this is not verified.
    let count = signed.get(SIGNER_COUNT_AT).copied().unwrap_or(0);
    let records = signed.get(HEADER_SIZE..).unwrap_or_default().chunks_exact(KEY_RECORD_SIZE);
    let mut signers = List::<KeyRecord, MAX_SIGNERS>::new();
    for record in records.take(count.into()) {
        let _ = signers.push(KeyRecord::parse(record).ok_or(Reason::ReservedNotZero)?);
    }
    Ok((Manifest::parse(signed, &signers)?, head.total_size() as u64))
}
