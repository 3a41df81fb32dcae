//! The cost of messages of many sizes for a caller that has a key and an address. The cycles include the load of the
//! key, and for a hash the read of the digest from the engine.

use core::fmt::Write;

use hartlock_drivers::aes::{self, Direction, ModeOfOperation};
use hartlock_drivers::dma::Range;
use hartlock_drivers::sha2::Sha2Function;
use hartlock_rot::cycle;
use hartlock_rot_bench::Console;

use super::{
    Cycles, Digest, Engines, Error, Hex, IV, LENGTH, PATIENCE, RESULT, TEXT, TO_SHA2, one,
};
use crate::known;

/// Sizes in bytes of the payloads of the fifth paper, and of the messages whose parts are measured.
const SIZES: [u32; 8] = [64, 128, 256, 512, 1024, 2048, 4096, LENGTH];

impl Engines {
    /// Prints a line for each size and function, with the cycles of the second of two runs.
    pub(super) fn wholes(&mut self) -> Result<(), Error> {
        let key: [u8; 32] = core::array::from_fn(|at| 255 - at as u8);
        for size in SIZES {
            for (part, function) in
                [("sha256", Sha2Function::Sha256), ("hmac-sha256", Sha2Function::HmacSha256(&key))]
            {
                self.hashed(function, size)?;
                let (cycles, digest) = self.hashed(function, size)?;
                let (all, rung) = cycles;
                let _ = writeln!(Console, "{part} {size} {all} {rung} {}", Hex(&digest));
            }
            for (part, mode) in [
                ("aes-256-cbc", ModeOfOperation::Cbc(known::AES_IV)),
                ("aes-256-ctr", ModeOfOperation::Ctr(known::AES_IV)),
                ("aes-256-gcm", ModeOfOperation::Gcm(IV)),
            ] {
                self.encrypted(mode, size)?;
                let (cycles, tag) = self.encrypted(mode, size)?;
                let more: &[u8] = if matches!(mode, ModeOfOperation::Gcm(_)) { &tag } else { &[] };
                self.report(part, RESULT, size, cycles, more)?;
            }
        }
        Ok(())
    }

    fn encrypted(
        &mut self,
        mode: ModeOfOperation<'_>,
        length: u32,
    ) -> Result<(Cycles, [u8; aes::TAG_LEN]), Error> {
        let route = one(TEXT, RESULT, length);
        let start = cycle();
        self.aes.load_key(known::AES_KEY)?;
        let loaded = cycle().wrapping_sub(start);
        let ((all, rung), tag) = self.once(mode, Direction::Encrypt, None, route.as_route(0))?;
        Ok(((loaded.wrapping_add(all), rung), tag))
    }

    #[inline(never)]
    fn hashed(
        &mut self,
        function: Sha2Function<'_>,
        length: u32,
    ) -> Result<(Cycles, Digest), Error> {
        let start = cycle();
        self.sha2.start_stream(function)?;
        self.dma.prepare(&[Range { source: TEXT, destination: 0, length }], TO_SHA2, false)?;
        let doorbell = cycle();
        self.dma.ring();
        self.dma.finish(PATIENCE)?;
        self.sha2.until_done()?;
        let digest = self.sha2.digest()?;
        let end = cycle();
        Ok(((end.wrapping_sub(start), end.wrapping_sub(doorbell)), digest))
    }
}
