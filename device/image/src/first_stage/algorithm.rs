//! The algorithms of the first-stage form, and the conversion of keys and signatures between their standard encoding
//! and the form, which omits type codes (first stage §2).

use core::ops::Range;

use hartlock_algorithm::{Algorithm, HssSet, ParameterSet, SlhDsaSet};

use crate::Reason;
use crate::bytes::{Writer, is_zero};

use super::{FRONT_SIZE, KEY_AREA_SIZE, PART_ALIGNMENT};

/// Length in bytes of an index in the form, which is big-endian.
const INDEX_SIZE: usize = 8;
/// Length in bytes of the identifier I of an LMS key (RFC 8554 §5.3).
const LMS_ID_SIZE: usize = 16;

/// A signature algorithm that the first-stage form allows (§2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStageAlgorithm(Algorithm);

/// A field of a signature in its standard encoding.
enum Piece {
    /// A four-byte big-endian type code or count that follows from the parameters. The form omits it.
    Code(u32),
    /// A big-endian number below 2^`height`, with `size` bytes in the standard and eight bytes in the form.
    Index { size: usize, height: u8 },
    /// Bytes that are equal in both encodings.
    Values(usize),
}

/// The result of processing a field.
type Taken = Result<(), Reason>;

impl FirstStageAlgorithm {
    /// Length in bytes of the longest signature in its standard encoding, which is HSS with eight levels, w = 1 and h
    /// = 25.
    pub const MAX_STANDARD_SIGNATURE: usize = 4 + 8 * (12 + 32 * (1 + 265 + 25)) + 7 * 56;

    /// Returns the algorithm, or `None` if the form does not allow it.
    pub const fn of(algorithm: Algorithm) -> Option<Self> {
        let is_in_form = match algorithm {
            Algorithm::Hss(_) => true,
            Algorithm::Xmss(set) | Algorithm::XmssMt(set) => !set.is_shake(),
            Algorithm::SlhDsa(set) => matches!(set, SlhDsaSet::Sha2_128s),
            _ => false,
        };
        if is_in_form { Some(Self(algorithm)) } else { None }
    }

    /// Returns the algorithm with these numbers, or `None` if the form does not allow it.
    pub fn from_numbers(algorithm: u32, parameters: u32) -> Option<Self> {
        Algorithm::from_numbers(algorithm, parameters).and_then(Self::of)
    }

    /// Returns all algorithms that the form allows.
    pub fn all() -> impl Iterator<Item = Self> {
        Algorithm::all().filter_map(Self::of)
    }

    /// Returns the algorithm as the general type.
    pub const fn algorithm(self) -> Algorithm {
        self.0
    }

    /// Returns the length in bytes of a signature in the form (§2.2).
    pub fn signature_size(self) -> usize {
        let mut size = 0_usize;
        let _ = self.pieces(|piece| {
            let count = match piece {
                Piece::Code(_) => 0,
                Piece::Index { .. } => INDEX_SIZE,
                Piece::Values(count) => count,
            };
            size = size.saturating_add(count);
            Ok(())
        });
        size
    }

    /// Returns the offset of the signed part in the image (§3).
    pub fn signed_offset(self) -> usize {
        // The addition cannot overflow, because the longest signature has 75 kilobytes.
        FRONT_SIZE.wrapping_add(self.signature_size().next_multiple_of(PART_ALIGNMENT))
    }

    /// Returns the byte range of the signature in the image.
    pub fn signature_range(self) -> Range<usize> {
        FRONT_SIZE..FRONT_SIZE.wrapping_add(self.signature_size())
    }

    /// Returns the length in bytes of the key in the key area, without padding (§2.1).
    pub fn key_size(self) -> usize {
        self.0.public_key_size().saturating_sub(self.key_codes().len())
    }

    /// Returns the counts and type codes that the standard encoding has before the values of a key.
    fn key_codes(self) -> KeyCodes {
        match self.0 {
            Algorithm::Hss(set) => KeyCodes::new(&[
                u32::from(set.levels()),
                u32::from(set.lms_type()),
                u32::from(set.ots_type()),
            ]),
            Algorithm::Xmss(set) | Algorithm::XmssMt(set) => KeyCodes::new(&[set.oid()]),
            _ => KeyCodes::new(&[]),
        }
    }

    /// Converts a key from its standard encoding to a key area. Returns `None` if it is not a key of this algorithm.
    pub fn key_area(self, standard: &[u8]) -> Option<[u8; KEY_AREA_SIZE]> {
        let values = standard.strip_prefix(self.key_codes().as_bytes())?;
        let mut area = [0; KEY_AREA_SIZE];
        area.get_mut(..self.key_size())
            .filter(|room| room.len() == values.len())?
            .copy_from_slice(values);
        Some(area)
    }

    /// Converts the key in a key area to its standard encoding and returns its length in bytes. Returns `None` if
    /// `out` is too small.
    pub fn standard_key(self, area: &[u8; KEY_AREA_SIZE], out: &mut [u8]) -> Option<usize> {
        let mut out = Writer::new(out);
        out.put(self.key_codes().as_bytes());
        out.put(area.get(..self.key_size())?);
        out.finish()
    }

    /// Returns true if the area contains only zeros after the key.
    pub fn is_padded(self, area: &[u8; KEY_AREA_SIZE]) -> bool {
        area.get(self.key_size()..).is_some_and(is_zero)
    }

    /// Converts a signature from its standard encoding to the form and returns its length in bytes. Returns `None` if
    /// the signature does not have these parameters on every level, or if `out` is too small.
    pub fn signature_values(self, standard: &[u8], out: &mut [u8]) -> Option<usize> {
        let mut rest = standard;
        let mut out = Writer::new(out);
        let mut take = |count: usize| {
            let (now, later) = rest.split_at_checked(count).ok_or(Reason::SignatureBlockSizes)?;
            rest = later;
            Ok(now)
        };
        self.pieces(|piece| {
            match piece {
                Piece::Code(code) => {
                    if take(4)? != code.to_be_bytes() {
                        return Err(Reason::SignatureParametersDiffer);
                    }
                }
                Piece::Index { size, .. } => {
                    let index = take(size)?;
                    let zeros = INDEX_SIZE.saturating_sub(size);
                    out.put([0; INDEX_SIZE].get(..zeros).unwrap_or_default());
                    out.put(index);
                }
                Piece::Values(count) => out.put(take(count)?),
            }
            Ok(())
        })
        .ok()?;
        if rest.is_empty() { out.finish() } else { None }
    }

    /// Converts a signature from the form to its standard encoding and returns its length in bytes.
    ///
    /// # Errors
    /// `SignatureIndexOutOfRange` if an index is not below the number of leaves of its trees. `InternalLimit` if
    /// `out` is too small, or if the signature does not have the length that the algorithm requires.
    pub fn standard_signature(self, values: &[u8], out: &mut [u8]) -> Result<usize, Reason> {
        let mut rest = values;
        let mut out = Writer::new(out);
        let mut take = |count: usize| {
            let (now, later) = rest.split_at_checked(count).ok_or(Reason::InternalLimit)?;
            rest = later;
            Ok(now)
        };
        self.pieces(|piece| {
            match piece {
                Piece::Code(code) => out.put(&code.to_be_bytes()),
                Piece::Index { size, height } => {
                    let field = take(INDEX_SIZE)?;
                    let index =
                        field.first_chunk().map_or(u64::MAX, |bytes| u64::from_be_bytes(*bytes));
                    // The height is at most 60, so the shift is valid. An index below 2^height fits the index field
                    // of the standard.
                    if index >> height != 0 {
                        return Err(Reason::SignatureIndexOutOfRange);
                    }
                    let zeros = INDEX_SIZE.saturating_sub(size);
                    out.put(field.get(zeros..).unwrap_or_default());
                }
                Piece::Values(count) => out.put(take(count)?),
            }
            Ok(())
        })?;
        out.finish().filter(|_| rest.is_empty()).ok_or(Reason::InternalLimit)
    }

    /// Calls `each` for every field of a signature, in order.
    fn pieces(self, mut each: impl FnMut(Piece) -> Taken) -> Taken {
        match self.0 {
            Algorithm::Hss(set) => hss_pieces(set, &mut each),
            Algorithm::Xmss(set) | Algorithm::XmssMt(set) => {
                let size = if set.layers() == 1 { 4 } else { set.height().div_ceil(8).into() };
                let all = set.signature_size().unwrap_or(size);
                each(Piece::Index { size, height: set.height() })?;
                each(Piece::Values(all.saturating_sub(size)))
            }
            _ => each(Piece::Values(self.0.signature_size().unwrap_or(0))),
        }
    }
}

/// Calls `each` for every field of an HSS signature (RFC 8554 §6.2) whose trees have the same parameters on every
/// level.
fn hss_pieces(set: HssSet, each: &mut impl FnMut(Piece) -> Taken) -> Taken {
    let (lms, ots) = (u32::from(set.lms_type()), u32::from(set.ots_type()));
    let path = set.n().saturating_mul(set.height().into());
    let ots_values = set.n().saturating_mul(set.chains().saturating_add(1));
    let levels = set.levels();
    each(Piece::Code(u32::from(levels.saturating_sub(1))))?;
    for level in 1..=levels {
        each(Piece::Index { size: 4, height: set.height() })?;
        each(Piece::Code(ots))?;
        each(Piece::Values(ots_values))?;
        each(Piece::Code(lms))?;
        each(Piece::Values(path))?;
        if level < levels {
            each(Piece::Code(lms))?;
            each(Piece::Code(ots))?;
            each(Piece::Values(LMS_ID_SIZE.saturating_add(set.n())))?;
        }
    }
    Ok(())
}

/// Up to three big-endian integers of four bytes.
struct KeyCodes {
    bytes: [u8; 12],
    len: usize,
}

impl KeyCodes {
    fn new(codes: &[u32]) -> Self {
        let mut bytes = [0; 12];
        let (places, _) = bytes.as_chunks_mut::<4>();
        places.iter_mut().zip(codes).for_each(|(place, code)| *place = code.to_be_bytes());
        Self { bytes, len: codes.len().saturating_mul(4) }
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    const fn len(&self) -> usize {
        self.len
    }
}
