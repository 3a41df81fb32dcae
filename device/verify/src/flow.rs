//! The order of verification (image format §8).

use core::hint::black_box;

use hartlock_image::{
    BundleType, HEADER_SIZE, Head, KeyRecord, List, MAX_SIGNERS, Manifest, PAGE_SIZE,
    PayloadRecord, Reason, SignatureBlock, SignatureBlocks, align_up,
};

use hartlock_kernels::Kernels;
use hartlock_kernels::signature::Comparison;

use crate::acceptance::Acceptance;
use crate::harden::{self, Checkpoint, Progress, Verdict};
use crate::{recheck, signature};

/// Access to the bundle and to memory, which each port implements.
pub trait Platform {
    /// Returns the size of the medium in bytes (of a file: its length).
    fn medium_len(&self) -> u64;

    /// Returns true if the medium must end where the bundle ends (image format §3.3), as a file must.
    fn ends_with_bundle(&self) -> bool {
        false
    }

    /// Fills `into` with the bytes of the bundle that start at `offset`. Each byte of the bundle is read only once.
    ///
    /// # Errors
    /// `MediumError` if the device fails; `Truncated` if the range exceeds the medium.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason>;

    /// Returns the hash kernels for the verification of signatures. The platform hashes payloads itself, in
    /// [`Platform::load`].
    fn kernels(&self) -> Kernels {
        Kernels::PORTABLE
    }

    /// Verifies the signature of a trusted key over the signed region by other means than this build, or returns `None`:
    /// then this build verifies it. The values are equal for a genuine signature. Boot stages join engines to their
    /// kernels instead; this is for a program that gets a verdict from others.
    fn verify_signature(&mut self, _: &SignatureBlock<'_>, _signed: &[u8]) -> Option<Comparison> {
        None
    }

    /// Returns 0 if a payload may be at its load address and begin at its entry point, otherwise the number of a reason:
    /// `OutsideMemory`, `OverlapsLiveRegion` or `WrongLoadAddress`; another number counts as `OutsideMemory`. This is asked
    /// twice for each payload, for a decision and for the verdict, in addition to the memory map of
    /// [`Acceptance::placement`], for a platform that knows more than a map says.
    fn refuses_place(&mut self, _: &PayloadRecord) -> u32 {
        0
    }

    /// Copies a payload and the padding after it to its load address, and computes the digest of the copy in memory.
    ///
    /// # Errors
    /// Only errors of the device. The caller compares the digest.
    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason>;
}

/// The result of [`Platform::load`].
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    /// Digest of the payload in memory, by the hash and the mode of its record; unused bytes at the end are zero.
    pub digest: [u8; 64],
    /// OR of the padding bytes between the payload and the next page boundary ([`bits_of`]), which is 0 in a
    /// well-formed bundle.
    pub padding: u64,
}

/// Returns the bitwise OR of all bytes: 0 exactly if all of them are zero.
pub fn bits_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |seen, byte| seen | u64::from(*byte))
}

/// A bundle whose manifest is genuine, acceptable and correctly placed. Its payloads are not checked yet.
#[derive(Debug)]
pub struct Authenticated<'a> {
    manifest: Manifest<'a>,
    signed: &'a [u8],
    /// Number of signature blocks of trusted keys; the signatures of all of them verified.
    counted: u32,
    progress: Progress,
}

/// Reads and checks everything except the payloads (§8 steps 1 to 12).
///
/// `again` holds the same requirements as `acceptance`, from a second reading, and the verdict depends on both: a boot
/// stage reads its requirements twice, so that a fault in one reading is detected by the other (boot flow §7). A caller
/// that has no second reading passes `acceptance` twice.
///
/// `metadata` receives the signed region and the signature area. They are verified and used in this buffer and are not
/// read from the medium again. The buffer need not be zeroed.
///
/// # Errors
/// The first reason that applies in the order of §8.
pub fn authenticate<'a, P: Platform>(
    platform: &mut P,
    acceptance: &Acceptance<'_>,
    again: &Acceptance<'_>,
    metadata: &'a mut [u8],
) -> Result<Authenticated<'a>, Reason> {
    let head = read_metadata(platform, acceptance.bundle_type, metadata)?;
    let metadata = metadata.get(..head.total_size()).ok_or(Reason::InternalLimit)?;
    let (signed, area) =
        metadata.split_at_checked(head.signed_size()).ok_or(Reason::InternalLimit)?;

    let blocks = SignatureBlocks::parse(area)?;
    if acceptance.trusted().any(|key| !signature::is_carried(key.algorithm, key.parameters)) {
        return Err(Reason::TrustedAlgorithmMissing);
    }

    let kernels = platform.kernels();
    let mut progress = Progress::start();
    let mut block_keys = List::<KeyRecord, MAX_SIGNERS>::new();
    let mut counted = List::<KeyRecord, MAX_SIGNERS>::new();
    for block in blocks.iter() {
        let key = signature::key_record(block);
        // The key id is compared before any code of the algorithm runs: the key and the signature of a signer that this
        // device does not trust are not parsed.
        if acceptance.trusted().any(|trusted| *trusted == key) {
            let index = counted.len() as u32;
            let sealed = match platform.verify_signature(block, signed) {
                Some(compared) => signature::sealed(&compared, index),
                None => signature::verify(&kernels, block, signed, index)?,
            };
            progress = progress.compared(sealed);
            if harden::is_different(harden::unseal(sealed, index)) {
                return Err(Reason::SignatureMismatch);
            }
            let _ = counted.push(key);
        }
        let _ = block_keys.push(key);
    }
    for _ in counted.iter() {
        progress = progress.step(Checkpoint::Signature);
    }
    acceptance.check_policy(&counted, block_keys.len())?;
    let defect = recheck::signers(again, &counted, &block_keys, signed);
    progress = progress.step(Checkpoint::Policy).compared(defect);

    let manifest = Manifest::parse(signed, &block_keys)?;
    progress = progress.step(Checkpoint::Manifest).compared(recheck::parsed(&manifest, signed));

    acceptance.check_device(&manifest)?;
    progress = progress.step(Checkpoint::Acceptance).compared(recheck::device(again, signed));

    acceptance.check_placement(&manifest)?;
    for payload in manifest.payloads.iter() {
        place_reason(platform.refuses_place(payload))?;
    }
    let mut defect = recheck::ranges(&manifest);
    for board in manifest.identities().filter_map(|identity| again.map(&identity)) {
        defect |= recheck::placement(board, &manifest);
    }
    for payload in manifest.payloads.iter() {
        defect |= u64::from(platform.refuses_place(payload));
    }
    progress = progress.step(Checkpoint::Placement).compared(defect);

    Ok(Authenticated { manifest, signed, counted: counted.len() as u32, progress })
}

/// Converts the answer of [`Platform::refuses_place`].
const fn place_reason(number: u32) -> Result<(), Reason> {
    const OVERLAPS: u32 = Reason::OverlapsLiveRegion as u32;
    const WRONG_ADDRESS: u32 = Reason::WrongLoadAddress as u32;
    match number {
        0 => Ok(()),
        OVERLAPS => Err(Reason::OverlapsLiveRegion),
        WRONG_ADDRESS => Err(Reason::WrongLoadAddress),
        _ => Err(Reason::OutsideMemory),
    }
}

/// Reads the metadata (steps 1 and 2): first the header with the sizes, then everything before the payloads.
fn read_metadata<P: Platform>(
    platform: &mut P,
    expected: Option<BundleType>,
    metadata: &mut [u8],
) -> Result<Head, Reason> {
    let (header, rest) = metadata.split_at_mut_checked(HEADER_SIZE).ok_or(Reason::InternalLimit)?;
    if platform.medium_len() < HEADER_SIZE as u64 {
        return Err(Reason::Truncated);
    }
    platform.read(0, header)?;
    let head = Head::parse_as(header, expected)?;
    if platform.medium_len() < head.total_size() as u64 {
        return Err(Reason::Truncated);
    }
    let rest =
        rest.get_mut(..head.total_size().wrapping_sub(HEADER_SIZE)).ok_or(Reason::InternalLimit)?;
    platform.read(HEADER_SIZE as u64, rest)?;
    Ok(head)
}

impl<'a> Authenticated<'a> {
    /// Returns the verified manifest.
    pub const fn manifest(&self) -> &Manifest<'a> {
        &self.manifest
    }

    /// Returns the signed region, which the caller measures.
    pub const fn signed(&self) -> &'a [u8] {
        self.signed
    }

    /// Loads every payload and compares its digest with the manifest (§8 steps 13 and 14).
    ///
    /// # Errors
    /// `Truncated`, `TrailingBytes`, `PaddingNotZero`, `PayloadDigestMismatch`, and the errors of the platform.
    pub fn load_payloads<P: Platform>(&mut self, platform: &mut P) -> Result<(), Reason> {
        if platform.medium_len() < self.manifest.bundle_size {
            return Err(Reason::Truncated);
        }
        if platform.ends_with_bundle() && platform.medium_len() != self.manifest.bundle_size {
            return Err(Reason::TrailingBytes);
        }
        let padding = self.metadata_padding(platform)?;
        self.progress = self.progress.compared(padding);
        if harden::is_different(padding) {
            return Err(Reason::PaddingNotZero);
        }
        for (index, payload) in (MAX_SIGNERS as u32..).zip(self.manifest.payloads.iter()) {
            // The address of the record is made opaque here and used for loading, comparing and marking. If a fault
            // leaves the record of the previous payload in the register, then all three use the wrong record, and the
            // mark reveals it.
            let payload = black_box(payload);
            let loaded = platform.load(payload)?;
            let sealed = harden::compare_twice(&loaded.digest, &payload.digest, index);
            let which = harden::mark(payload);
            self.progress = self.progress.step(Checkpoint::Payload).compared(sealed ^ which);
            if harden::is_different(harden::unseal(sealed, index)) {
                return Err(Reason::PayloadDigestMismatch);
            }
            self.progress = self.progress.compared(loaded.padding);
            if harden::is_different(loaded.padding) {
                return Err(Reason::PaddingNotZero);
            }
        }
        Ok(())
    }

    /// Returns the OR of the padding bytes between the signature area and the first payload.
    fn metadata_padding<P: Platform>(&self, platform: &mut P) -> Result<u64, Reason> {
        let mut at =
            (self.signed.len() as u64).saturating_add(self.manifest.signatures_size.into());
        let end = align_up(at, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let mut buffer = [0; 256];
        let mut seen = 0;
        while at < end {
            let len = end.wrapping_sub(at).min(buffer.len() as u64);
            let chunk = buffer.get_mut(..len as usize).ok_or(Reason::InternalLimit)?;
            platform.read(at, chunk)?;
            seen |= bits_of(chunk);
            at = at.wrapping_add(len);
        }
        Ok(seen)
    }

    /// Takes the first decision. The caller must confirm the verdict again before the jump.
    ///
    /// # Errors
    /// `VerdictNotConfirmed` unless every step happened exactly once and in order.
    pub fn conclude(&self) -> Result<Verdict, Reason> {
        let mut expected = Progress::start();
        for index in 0..self.counted {
            expected = expected.compared(harden::seal(index));
        }
        for _ in 0..self.counted {
            expected = expected.step(Checkpoint::Signature);
        }
        expected = expected
            .step(Checkpoint::Policy)
            .compared(0)
            .step(Checkpoint::Manifest)
            .compared(0)
            .step(Checkpoint::Acceptance)
            .compared(0)
            .step(Checkpoint::Placement)
            .compared(0)
            .compared(0);
        for (index, payload) in (MAX_SIGNERS as u32..).zip(self.manifest.payloads.iter()) {
            let equal = harden::seal(index) ^ harden::mark(payload);
            expected = expected.step(Checkpoint::Payload).compared(equal).compared(0);
        }
        let verdict = Verdict::conclude(self.progress, expected);
        if self.counted > 0 && verdict.is_accepted() {
            Ok(verdict)
        } else {
            Err(Reason::VerdictNotConfirmed)
        }
    }
}

#[cfg(test)]
mod tests;
