//! The order of verification (image format §8).

use hartlock_image::{
    BundleType, Family, HEADER_SIZE, Head, KeyRecord, Lifecycle, List, MAX_SIGNERS, Manifest, Name,
    PAGE_SIZE, PayloadRecord, Policy, Reason, SignatureBlocks, TrustList, align_up, is_zero,
};

use crate::board::Board;
use crate::harden::{Progress, Step, Verdict, difference};
use crate::signature;

/// What a port provides: where bundle bytes come from and where payloads go.
pub trait Platform {
    /// Bytes that the medium holds (of a file: its length).
    fn medium_len(&self) -> u64;

    /// Whether the medium must end where the bundle ends (image format §3.3): true for a file.
    fn ends_with_bundle(&self) -> bool {
        false
    }

    /// Fills `into` with the bytes of the bundle from `offset` on. Every byte is asked for once.
    ///
    /// # Errors
    /// `MediumError` if the device fails; `Truncated` past the end of the medium.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason>;

    /// Brings a payload and the padding behind it to the memory it will be used from, and
    /// digests that memory.
    ///
    /// # Errors
    /// Reasons of the device only: the caller compares the digest.
    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason>;
}

/// What [`Platform::load`] found in memory.
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    /// Digest by the hash and mode of the record, zero padded.
    pub digest: [u8; 64],
    /// Whether the bytes between the payload and the next page boundary are zero.
    pub padding_is_zero: bool,
}

/// What a verifier believes in, and what it insists on. `None` asks for nothing, which only a
/// workstation may do; a boot stage uses [`Acceptance::of_device`].
#[derive(Clone, Copy, Debug)]
pub struct Acceptance<'a> {
    /// Keys and policy.
    pub trust: TrustList,
    /// Type that is booted here.
    pub bundle_type: Option<BundleType>,
    /// Name of this board.
    pub board: Option<Name>,
    /// Name of this SoC.
    pub soc: Option<Name>,
    /// Lowest security version that boots.
    pub floor: Option<u64>,
    /// State of this device.
    pub lifecycle: Option<Lifecycle>,
    /// Memory map.
    pub placement: Placement<'a>,
}

/// Which memory map placement is checked against (image format §8 step 11).
#[derive(Clone, Copy, Debug)]
pub enum Placement<'a> {
    /// The map of this board.
    Board(&'a Board),
    /// The map of the board that the manifest names, if this crate knows it.
    ByManifest,
}

impl<'a> Acceptance<'a> {
    /// Insists on everything.
    pub const fn of_device(
        bundle_type: BundleType,
        trust: TrustList,
        identity: (Name, Name),
        floor: u64,
        lifecycle: Lifecycle,
        board: &'a Board,
    ) -> Self {
        Self {
            trust,
            bundle_type: Some(bundle_type),
            board: Some(identity.0),
            soc: Some(identity.1),
            floor: Some(floor),
            lifecycle: Some(lifecycle),
            placement: Placement::Board(board),
        }
    }
}

/// A bundle whose manifest is genuine, acceptable and placed; its payloads are not checked yet.
#[derive(Debug)]
pub struct Authenticated<'a> {
    manifest: Manifest<'a>,
    signed: &'a [u8],
    /// Blocks whose signature verified, and how many of them are by trusted keys.
    verified: u32,
    counted: u32,
    progress: Progress,
}

/// Reads and checks everything but the payloads (§8 steps 1 to 11).
///
/// `metadata` receives signed region and signature area and is what they are verified and used
/// from; the medium is not asked for them again. It need not be zero.
///
/// # Errors
/// The first reason in the order of §8.
pub fn authenticate<'a, P: Platform>(
    platform: &mut P,
    acceptance: &Acceptance<'_>,
    metadata: &'a mut [u8],
) -> Result<Authenticated<'a>, Reason> {
    let head = read_metadata(platform, acceptance.bundle_type, metadata)?;
    let metadata = metadata.get(..head.total_size()).ok_or(Reason::InternalLimit)?;
    let (signed, area) =
        metadata.split_at_checked(head.signed_size()).ok_or(Reason::InternalLimit)?;

    let blocks = SignatureBlocks::parse(area)?;
    let has_uncarried_key = acceptance
        .trust
        .keys
        .iter()
        .any(|key| !signature::is_carried(key.algorithm, key.parameters));
    if has_uncarried_key {
        return Err(Reason::TrustedAlgorithmMissing);
    }

    let mut progress = Progress::start();
    let mut block_keys = List::<KeyRecord, MAX_SIGNERS>::new();
    let mut counted = List::<KeyRecord, MAX_SIGNERS>::new();
    let mut verified = 0u32;
    for block in blocks.iter() {
        let key = signature::key_record(block);
        if let Some(difference) = signature::verify(block, signed)? {
            progress = progress.compared(difference);
            if difference != 0 {
                return Err(Reason::SignatureMismatch);
            }
            if acceptance.trust.keys.iter().any(|trusted| *trusted == key) {
                let _ = counted.push(key);
            }
            verified = verified.wrapping_add(1);
        }
        let _ = block_keys.push(key);
    }
    for _ in counted.iter() {
        progress = progress.step(Step::Signature);
    }
    check_policy(&acceptance.trust, &counted, block_keys.len())?;
    progress = progress.step(Step::Policy);

    let manifest = Manifest::parse(signed, &block_keys)?;
    progress = progress.step(Step::Manifest);

    check_acceptance(acceptance, &manifest)?;
    progress = progress.step(Step::Acceptance);

    check_placement(acceptance, &manifest)?;
    progress = progress.step(Step::Placement);

    Ok(Authenticated { manifest, signed, verified, counted: counted.len() as u32, progress })
}

/// Steps 1 and 2: the sizes, then everything in front of the payloads.
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

/// Step 5: are those who signed enough (§5.3)?
fn check_policy(
    trust: &TrustList,
    counted: &List<KeyRecord, MAX_SIGNERS>,
    block_count: usize,
) -> Result<(), Reason> {
    if trust.policy == Policy::EverySigner {
        let is_every = counted.len() == block_count && block_count > 0;
        return if is_every { Ok(()) } else { Err(Reason::SignerWithoutKey) };
    }
    if counted.is_empty() {
        return Err(Reason::NoTrustedSigner);
    }
    match trust.policy {
        Policy::Any | Policy::EverySigner => Ok(()),
        Policy::All => {
            let is_counted = |trusted: &KeyRecord| counted.iter().any(|key| key == trusted);
            let is_every = trust.keys.iter().all(is_counted);
            if is_every { Ok(()) } else { Err(Reason::PolicyAllNotMet) }
        }
        Policy::Hybrid => {
            let has = |family: Family| {
                counted
                    .iter()
                    .any(|key| key.known_algorithm().is_some_and(|known| known.family() == family))
            };
            let is_hybrid = has(Family::Classical) && has(Family::PostQuantum);
            if is_hybrid { Ok(()) } else { Err(Reason::PolicyHybridNotMet) }
        }
    }
}

/// Step 10: is the bundle for this device (§7)?
fn check_acceptance(acceptance: &Acceptance<'_>, manifest: &Manifest<'_>) -> Result<(), Reason> {
    if acceptance.board.is_some_and(|board| board != manifest.board) {
        return Err(Reason::WrongBoard);
    }
    if acceptance.soc.is_some_and(|soc| soc != manifest.soc) {
        return Err(Reason::WrongSoc);
    }
    if acceptance.floor.is_some_and(|floor| manifest.security_version < floor) {
        return Err(Reason::RollbackBelowFloor);
    }
    if acceptance.lifecycle.is_some_and(|state| manifest.lifecycle_mask & state.bit() == 0) {
        return Err(Reason::LifecycleNotAllowed);
    }
    Ok(())
}

/// Step 11: does every payload go where the board has room for it (boot flow §2)?
fn check_placement(acceptance: &Acceptance<'_>, manifest: &Manifest<'_>) -> Result<(), Reason> {
    let board = match acceptance.placement {
        Placement::Board(board) => board,
        Placement::ByManifest => match Board::by_name(manifest.board.as_str()) {
            Some(board) => board,
            None => return Ok(()),
        },
    };
    manifest.payloads.iter().try_for_each(|payload| board.check(manifest.bundle_type, payload))
}

impl<'a> Authenticated<'a> {
    /// The genuine manifest.
    pub const fn manifest(&self) -> &Manifest<'a> {
        &self.manifest
    }

    /// The signed region, for its measurement.
    pub const fn signed(&self) -> &'a [u8] {
        self.signed
    }

    /// Loads every payload and compares its digest (§8 steps 12 and 13).
    ///
    /// # Errors
    /// `Truncated`, `TrailingBytes`, `PaddingNotZero`, `PayloadDigestMismatch`, and the reasons
    /// of the platform.
    pub fn load_payloads<P: Platform>(&mut self, platform: &mut P) -> Result<(), Reason> {
        if platform.medium_len() < self.manifest.bundle_size {
            return Err(Reason::Truncated);
        }
        if platform.ends_with_bundle() && platform.medium_len() != self.manifest.bundle_size {
            return Err(Reason::TrailingBytes);
        }
        self.check_metadata_padding(platform)?;
        for payload in self.manifest.payloads.iter() {
            let loaded = platform.load(payload)?;
            let difference = difference(&loaded.digest, &payload.digest);
            self.progress = self.progress.step(Step::Payload).compared(difference);
            if difference != 0 {
                return Err(Reason::PayloadDigestMismatch);
            }
            if !loaded.padding_is_zero {
                return Err(Reason::PaddingNotZero);
            }
        }
        Ok(())
    }

    /// The bytes between the signature area and the first payload.
    fn check_metadata_padding<P: Platform>(&self, platform: &mut P) -> Result<(), Reason> {
        let mut at =
            (self.signed.len() as u64).saturating_add(self.manifest.signatures_size.into());
        let end = align_up(at, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let mut buffer = [0; 256];
        while at < end {
            let len = end.wrapping_sub(at).min(buffer.len() as u64);
            let chunk = buffer.get_mut(..len as usize).ok_or(Reason::InternalLimit)?;
            platform.read(at, chunk)?;
            if !is_zero(chunk) {
                return Err(Reason::PaddingNotZero);
            }
            at = at.wrapping_add(len);
        }
        Ok(())
    }

    /// The first decision. The verdict is to be confirmed again before the jump.
    ///
    /// # Errors
    /// `VerdictNotConfirmed` if the steps did not all happen, once each, in order.
    pub fn conclude(&self) -> Result<Verdict, Reason> {
        let mut expected = Progress::start();
        for _ in 0..self.verified {
            expected = expected.compared(0);
        }
        for _ in 0..self.counted {
            expected = expected.step(Step::Signature);
        }
        expected = expected
            .step(Step::Policy)
            .step(Step::Manifest)
            .step(Step::Acceptance)
            .step(Step::Placement);
        for _ in self.manifest.payloads.iter() {
            expected = expected.step(Step::Payload).compared(0);
        }
        let verdict = Verdict::conclude(self.progress, expected);
        if self.counted > 0 && verdict.is_accepted() {
            Ok(verdict)
        } else {
            Err(Reason::VerdictNotConfirmed)
        }
    }
}
