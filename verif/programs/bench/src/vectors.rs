//! Job 1: bundles of `spec/vectors/image`, each with the requirements of its verifier.
//!
//! An entry is a header of 128 bytes, the trusted keys, and the bundle with zeros to a multiple
//! of 8:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | bytes of the bundle |
//! | 8 | 4 | policy (image format §5.3); 0 = every signer |
//! | 12 | 4 | count of trusted keys, 0 to 8 |
//! | 16 | 4 | type: 0 = either, 1 = boot, 2 = system |
//! | 20 | 4 | lifecycle state + 1; 0 = not required |
//! | 24 | 8 | floor |
//! | 32 | 4 | 1 = the floor counts |
//! | 36 | 4 | 1 = the bundle is on a medium, 0 = it is a file (image format §3.3) |
//! | 40 | 8 | security version of the boot bundle |
//! | 48 | 4 | 1 = that version counts |
//! | 52 | 4 | profile (image format §2.2) by its place in the table, from 1; 0 = not required |
//! | 56 | 8 | zero |
//! | 64 | 32 | board; zeros = not required |
//! | 96 | 32 | SoC; zeros = not required |
//! | 128 | 64 each | key records (image format §4.2) |

use hartlock_image::{
    BundleType, KEY_RECORD_SIZE, KeyRecord, Lifecycle, List, MAX_TRUSTED_KEYS, Name, PAGE_SIZE,
    PayloadRecord, Policy, Profile, Reason, TrustList, Writer, align_up, bytes_at, is_zero, u32_at,
    u64_at,
};
use hartlock_verify::tree;
use hartlock_verify::{Acceptance, Loaded, Placement, Platform, authenticate, bits_of};

const ENTRY_SIZE: usize = 128;

/// A bundle and the requirements of its verifier.
#[derive(Clone, Copy, Debug)]
pub struct Vector<'a> {
    /// Trusted keys and signature policy.
    pub trust: TrustList,
    /// Bundle type that the device boots.
    pub bundle_type: Option<BundleType>,
    /// Board of the device.
    pub board: Option<Name>,
    /// SoC of the device.
    pub soc: Option<Name>,
    /// Minimum security version.
    pub floor: Option<u64>,
    /// Security version of the boot bundle that the device runs.
    pub boot_version: Option<u64>,
    /// Lifecycle state of the device.
    pub lifecycle: Option<Lifecycle>,
    /// Profile that the bundle must conform to.
    pub profile: Option<Profile>,
    /// True if the bundle is on a medium, which may continue after the bundle.
    pub is_on_medium: bool,
    /// The bundle.
    pub bundle: &'a [u8],
}

impl<'a> Vector<'a> {
    /// Reads the first entry of `body`, and also returns the bytes after it. Returns `None` if the
    /// entry is malformed.
    pub fn parse(body: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (entry, rest) = body.split_at_checked(ENTRY_SIZE)?;
        let field = |offset| u32_at(entry, offset);
        let name = |offset| -> Option<Option<Name>> {
            let field: [u8; 32] = bytes_at(entry, offset)?;
            if is_zero(&field) { Some(None) } else { Name::from_field(&field).map(Some) }
        };
        let policy = match field(8)? {
            0 => Policy::EverySigner,
            number => Policy::from_number(number)?,
        };
        let bundle_type = match field(16)? {
            0 => None,
            1 => Some(BundleType::Boot),
            _ => Some(BundleType::System),
        };
        let lifecycle = match field(20)?.checked_sub(1) {
            None => None,
            Some(number) => Some(Lifecycle::from_number(number)?),
        };
        let profile = match field(52)? {
            0 => None,
            number => Some(Profile::ALL.into_iter().find(|profile| *profile as u32 == number)?),
        };
        let floor = if field(32)? == 1 { Some(u64_at(entry, 24)?) } else { None };
        let boot_version = if field(48)? == 1 { Some(u64_at(entry, 40)?) } else { None };

        let keys_size = (field(12)? as usize).checked_mul(KEY_RECORD_SIZE)?;
        let (key_bytes, rest) = rest.split_at_checked(keys_size)?;
        let mut keys = List::<KeyRecord, MAX_TRUSTED_KEYS>::new();
        for record in key_bytes.chunks_exact(KEY_RECORD_SIZE) {
            if !keys.push(KeyRecord::parse(record)?) {
                return None;
            }
        }
        let size = u64_at(entry, 0)?;
        let (padded, rest) = rest.split_at_checked(align_up(size, 8)? as usize)?;
        let vector = Vector {
            trust: TrustList { policy, keys },
            bundle_type,
            board: name(64)?,
            soc: name(96)?,
            floor,
            boot_version,
            lifecycle,
            profile,
            is_on_medium: field(36)? == 1,
            bundle: padded.get(..size as usize)?,
        };
        Some((vector, rest))
    }

    /// Writes the entry. Returns `None` if it does not fit.
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        let mut out = Writer::new(out);
        let bundle_type = match self.bundle_type {
            None => 0,
            Some(BundleType::Boot) => 1,
            Some(BundleType::System) => 2,
        };
        out.put_u64(self.bundle.len() as u64);
        out.put_u32(self.trust.policy.number());
        out.put_u32(self.trust.keys.len() as u32);
        out.put_u32(bundle_type);
        out.put_u32(self.lifecycle.map_or(0, |state| (state as u32).saturating_add(1)));
        out.put_u64(self.floor.unwrap_or(0));
        out.put_u32(self.floor.is_some().into());
        out.put_u32(self.is_on_medium.into());
        out.put_u64(self.boot_version.unwrap_or(0));
        out.put_u32(self.boot_version.is_some().into());
        out.put_u32(self.profile.map_or(0, |profile| profile as u32));
        out.put_u64(0);
        out.put(&self.board.map_or([0; 32], |name| *name.field()));
        out.put(&self.soc.map_or([0; 32], |name| *name.field()));
        for key in self.trust.keys.iter() {
            out.put_u32(key.algorithm);
            out.put_u32(key.parameters);
            out.put(&key.key_id);
            out.put_u64(0);
        }
        out.put(self.bundle);
        out.pad_to(8);
        out.finish()
    }

    /// Verifies the bundle with all steps of image format §8. `metadata` is the buffer for signed
    /// region and signature area.
    ///
    /// # Errors
    /// The reason for refusing the bundle.
    pub fn judge(&self, metadata: &mut [u8]) -> Result<(), Reason> {
        let mut medium = Memory { bytes: self.bundle, is_file: !self.is_on_medium, next_unread: 0 };
        let acceptance = self.acceptance();
        let mut bundle = authenticate(&mut medium, &acceptance, &acceptance, metadata)?;
        bundle.load_payloads(&mut medium)?;
        if !bundle.conclude()?.is_confirmed() {
            return Err(Reason::VerdictNotConfirmed);
        }
        match self.profile.is_none_or(|profile| bundle.manifest().keeps_to(profile)) {
            true => Ok(()),
            false => Err(Reason::OutsideProfile),
        }
    }

    fn acceptance(&self) -> Acceptance<'static> {
        Acceptance {
            trust: self.trust,
            revoked_keys: 0,
            bundle_type: self.bundle_type,
            board: self.board,
            soc: self.soc,
            floor: self.floor,
            boot_version: self.boot_version,
            lifecycle: self.lifecycle,
            placement: Placement::ByManifest(hartlock_maps::ALL),
        }
    }
}

/// A bundle in memory, whose payloads are hashed in place.
struct Memory<'a> {
    bytes: &'a [u8],
    is_file: bool,
    next_unread: u64,
}

impl<'a> Memory<'a> {
    /// Returns bytes of the medium. Each byte may be read only once, because a second read could
    /// return other data.
    fn take(&mut self, offset: u64, len: u64) -> Result<&'a [u8], Reason> {
        if offset < self.next_unread {
            return Err(Reason::InternalLimit);
        }
        self.next_unread = offset.saturating_add(len);
        self.bytes
            .get(offset as usize..)
            .and_then(|rest| rest.get(..len as usize))
            .ok_or(Reason::Truncated)
    }
}

impl Platform for Memory<'_> {
    fn medium_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn ends_with_bundle(&self) -> bool {
        self.is_file
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        let source = self.take(offset, into.len() as u64)?;
        for (to, from) in into.iter_mut().zip(source) {
            *to = *from;
        }
        Ok(())
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let (bytes, padding) = self
            .take(payload.offset, padded_size)?
            .split_at_checked(payload.size as usize)
            .ok_or(Reason::InternalLimit)?;
        let digest = tree::digest(payload, bytes);
        Ok(Loaded { digest, padding: bits_of(padding) })
    }
}
