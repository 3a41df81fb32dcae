//! What precedes the payloads of a bundle, read page by page and each page once, and a guess of what is read next.

use hartlock_image::{
    HEADER_SIZE, Head, KEY_RECORD_SIZE, MAX_SIGNERS, PAGE_SIZE, Reason, align_up,
};

use crate::medium::Board;

/// Bytes of a page. Payloads begin at multiples of it.
pub(crate) const PAGE: usize = PAGE_SIZE as usize;
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

impl Claim {
    /// Reads it from the first page. None if the page says nothing of the kind.
    pub(crate) fn of(page: &[u8; PAGE]) -> Option<Self> {
        let head = Head::parse(page).ok()?;
        let signers = u32::from_le_bytes(*page.get(SIGNER_COUNT..)?.first_chunk()?) as usize;
        if !(1..=MAX_SIGNERS).contains(&signers) {
            return None;
        }
        let record = HEADER_SIZE.wrapping_add(signers.wrapping_mul(KEY_RECORD_SIZE));
        let size = page.get(record.wrapping_add(PAYLOAD_SIZE)..)?.first_chunk()?;
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
    pub(crate) fn page<B: Board>(&mut self, board: &mut B, at: u64) -> Result<&[u8; PAGE], Reason> {
        if self.page_at != Some(at) {
            self.page_at = None;
            if at >= board.size() {
                return Err(Reason::Truncated);
            }
            board.read(at, self.page)?;
            self.page_at = Some(at);
            if at == 0 {
                self.claim = Claim::of(self.page);
            }
            // Not before the last page in front of it: storage answers in order.
            let end = at.saturating_add(PAGE_SIZE);
            if let Some(claim) = self.claim.take_if(|claim| claim.offset <= end) {
                board.read_ahead(claim.offset, None, claim.size);
            }
        }
        Ok(self.page)
    }
}
