//! Reading of everything before the payloads of a bundle, page by page and each page once, with a prediction of the
//! next read.

use hartlock_image::{
    HEADER_SIZE, Head, KEY_RECORD_SIZE, MAX_SIGNERS, PAGE_SIZE, Reason, align_up,
};

use crate::medium::FsblBoard;

/// Size of a page in bytes. Payloads start at multiples of it.
pub(crate) const PAGE: usize = PAGE_SIZE as usize;
/// Number of bytes (two sectors) that contain at least the position and size of the first payload.
pub const HEAD: usize = 1024;
/// Offset of the number of signers in the header; the next constant is the offset of the size in a payload record
/// (image format §4.1, §4.3).
const SIGNER_COUNT: usize = 52;
const PAYLOAD_SIZE: usize = 24;

/// A page of the storage, in memory that storage can write to.
pub struct Pages<'a> {
    page: &'a mut [u8; PAGE],
    /// Offset of the page in the storage; `None` before the first read.
    page_at: Option<u64>,
    /// Range of the first payload, until it was passed to the board.
    claim: Option<PredictedRange>,
}

/// The whole pages of the first payload according to the header. **The range is not authenticated.**
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictedRange {
    /// Offset of the range in the storage, in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
}

// The number of signers, their keys and the size in the first record lie in the first bytes.
const _: () = assert!(HEADER_SIZE + MAX_SIGNERS * KEY_RECORD_SIZE + PAYLOAD_SIZE + 8 <= HEAD);

impl PredictedRange {
    /// Reads the range from the start of the bundle. Returns `None` if the bytes are not a valid header.
    pub fn of(start: &[u8; HEAD]) -> Option<Self> {
        let head = Head::parse(start).ok()?;
        let signers = u32::from_le_bytes(*start.get(SIGNER_COUNT..)?.first_chunk()?) as usize;
        if !(1..=MAX_SIGNERS).contains(&signers) {
            return None;
        }
        let record = HEADER_SIZE.wrapping_add(signers.wrapping_mul(KEY_RECORD_SIZE));
        let size = start.get(record.wrapping_add(PAYLOAD_SIZE)..)?.first_chunk()?;
        let size = align_up(u64::from_le_bytes(*size), PAGE_SIZE).filter(|size| *size > 0)?;
        Some(Self { offset: align_up(head.total_size() as u64, PAGE_SIZE)?, size })
    }
}

impl<'a> Pages<'a> {
    /// Creates the reader; no page is read yet.
    pub const fn new(page: &'a mut [u8; PAGE]) -> Self {
        Self { page, page_at: None, claim: None }
    }

    /// Reads the first page before other work that takes time. If this fails, the next read of the page returns the
    /// error.
    pub fn begin<B: FsblBoard>(&mut self, board: &mut B) {
        let _ = self.page(board, 0);
    }

    /// Returns the page at this offset and reads it if necessary.
    // The function is not inlined, because it has two callers and the instruction cache of the machine is small.
    #[inline(never)]
    pub(crate) fn page<B: FsblBoard>(
        &mut self,
        board: &mut B,
        at: u64,
    ) -> Result<&[u8; PAGE], Reason> {
        if self.page_at != Some(at) {
            self.page_at = None;
            if at >= board.size() {
                return Err(Reason::Truncated);
            }
            let claim = &mut self.claim;
            // The payload is requested only with the last page before it, because storage answers in order.
            let end = at.saturating_add(PAGE_SIZE);
            let mut next = |start: &[u8; HEAD]| {
                if at == 0 {
                    *claim = PredictedRange::of(start);
                }
                let next = claim.take_if(|claim| claim.offset <= end);
                next.map(|claim| (claim.offset, claim.size))
            };
            board.read_before(at, self.page, &mut next)?;
            self.page_at = Some(at);
        }
        Ok(self.page)
    }
}
