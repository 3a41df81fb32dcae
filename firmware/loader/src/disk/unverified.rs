//! Payloads that are loaded without verification.

use hartlock_handoff::Entry;
use hartlock_image::{PAGE_SIZE, PayloadRecord, Reason, align_up};

use super::{Disk, Transfer};

impl Disk<'_, '_> {
    /// Copies a payload and the padding after it to memory, as [`hartlock_verify::Platform::load`]
    /// does.
    ///
    /// # Errors
    /// Reasons of the device.
    pub fn fetch(&mut self, payload: &PayloadRecord) -> Result<(), Reason> {
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let mut transfer = Transfer::new(payload, padded_size);
        transfer.finish(&mut self.device)?;
        self.push(payload, Entry { harts: self.harts.own_bit(), ..transfer.entry() });
        Ok(())
    }
}
