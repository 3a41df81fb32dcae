//! What precedes the payloads of a bundle, read page by page and each page once, and a guess of what is read next.

use hartlock_image::{
    HEADER_SIZE, Head, KEY_RECORD_SIZE, MAX_SIGNERS, PAGE_SIZE, Reason, align_up,
};

use crate::medium::Board;

/// Bytes of a page. Payloads begin at multiples of it.
pub(crate) const PAGE: usize = PAGE_SIZE as usize;
/// Bytes that say where the first payload is, and more: two sectors.
pub const HEAD: usize = 1024;
/// Offset of the number of signers in the header, and of the size in a payload record (image format §4.1, §4.3).
const SIGNER_COUNT: usize = 52;
const PAYLOAD_SIZE: usize = 24;

/// A page of the storage, in a place that storage can write to.
pub struct Pages<'a> {
    page: &'a mut [u8; PAGE],
    /// Where the page is from; nothing before the first one.
    page_at: Option<u64>,
    /// Of the first payload, until it was told of.
    claim: Option<Claim>,
}

/// Whole pages of the first payload, as the header says. **Not authenticated.**
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

// The number of signers, their keys and the size in the first record.
const _: () = assert!(HEADER_SIZE + MAX_SIGNERS * KEY_RECORD_SIZE + PAYLOAD_SIZE + 8 <= HEAD);

impl Claim {
    /// Reads it from the start of the bundle. None if that says nothing of the kind.
    pub(crate) fn of(start: &[u8; HEAD]) -> Option<Self> {
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
    /// Nothing is read yet.
    pub const fn new(page: &'a mut [u8; PAGE]) -> Self {
        Self { page, page_at: None, claim: None }
    }

    /// Reads the first page before something else that takes time is done. That nothing was read is told to the one who reads it
    /// later.
    pub fn begin<B: Board>(&mut self, board: &mut B) {
        let _ = self.page(board, 0);
    }

    /// The page that begins here.
    // Out of line: it has two callers, and the instruction cache of the machine is small.
    #[inline(never)]
    pub(crate) fn page<B: Board>(&mut self, board: &mut B, at: u64) -> Result<&[u8; PAGE], Reason> {
        if self.page_at != Some(at) {
            self.page_at = None;
            if at >= board.size() {
                return Err(Reason::Truncated);
            }
            let claim = &mut self.claim;
            // Not before the last page in front of it: storage answers in order.
            let end = at.saturating_add(PAGE_SIZE);
            let mut next = |start: &[u8; HEAD]| {
                if at == 0 {
                    *claim = Claim::of(start);
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
