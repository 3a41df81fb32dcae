//! Messages that the DMA engine reads and the [stream writer](crate::stream_writer) writes. The processor transfers no
//! word of the text, and other sinks of the DMA engine, such as hashes, can receive the same data in the same pass.
//!
//! A message consists of the ranges of a list, one after the other, at any addresses; its result is one range. Each
//! byte is read only once, so that the hashed data and the decrypted data are the same even if memory changes during
//! the operation. A result is valid only if the DMA engine, the AES engine and the writer have all confirmed that the
//! whole message has passed and, for GCM, that the tag is right. Otherwise all three are stopped, and then the
//! destination is overwritten.

use super::{Aes, Direction, ModeOfOperation, Streams, TAG_LEN, Tag};
use crate::dma::{self, Dma, Range};
use crate::stream_writer::{self, StreamWriter};
use crate::wait::Wait;

/// Maximum number of reads of the events after an abort. The bus has to complete the accesses in progress.
const ABORT_PATIENCE: u32 = 10_000;

/// The reason why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The text is empty or longer than 4 GiB.
    Length,
    /// The destination overlaps a source and is not the same range.
    Overlap,
    /// An error of the AES engine; `NotAuthentic` if the tag is wrong.
    Aes(super::Error),
    /// An error of the DMA engine.
    Dma(dma::Error),
    /// An error of the stream writer.
    Writer(stream_writer::Error),
    /// There was an error, and the destination may still contain a part of the result, because an engine did not stop
    /// or the overwriting failed. The destination must not be used.
    Residue,
}

impl From<super::Error> for Error {
    fn from(error: super::Error) -> Self {
        Self::Aes(error)
    }
}

impl From<dma::Error> for Error {
    fn from(error: dma::Error) -> Self {
        Self::Dma(error)
    }
}

impl From<stream_writer::Error> for Error {
    fn from(error: stream_writer::Error) -> Self {
        Self::Writer(error)
    }
}

/// The source of a message and the destination of its result.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// Ranges of the text. The destinations in these ranges are not used.
    pub ranges: &'a [Range],
    /// Address of the first byte of the result. If there is only one range, this may be its source.
    pub destination: u32,
    /// Mask of the other DMA sinks that receive the same data. Each of them has begun a message before. Their results
    /// have to be discarded after an error.
    pub sinks: u8,
}

/// A message that is ready to be started.
#[derive(Debug)]
pub struct Prepared {
    destination: u32,
    length: u32,
    is_sealed: bool,
}

/// The AES engine between the DMA engine and the stream writer.
pub struct StreamedAes<'e, 'l, D, W> {
    /// AES engine with a loaded key.
    pub aes: &'e mut Aes,
    /// DMA engine with locked windows.
    pub dma: &'e mut Dma<'l, D>,
    /// Stream writer with a locked window. Its method of waiting is used for all three.
    pub writer: &'e mut StreamWriter<W>,
    /// Mask of the AES engine in the DMA sinks.
    pub sink: u8,
    /// Function that overwrites memory, given an address and a length in bytes. It returns false if this fails.
    pub erase: fn(u32, u32) -> bool,
    /// Maximum number of reads of the events while a message passes.
    pub patience: u32,
}

impl<D: Wait, W: Wait> StreamedAes<'_, '_, D, W> {
    /// Processes a message in any mode except GCM. CTR can begin at any block: see [`counter_at`](super::counter_at).
    ///
    /// # Errors
    /// `Length`, `Overlap`, and the errors of the engines.
    pub fn process(
        &mut self,
        mode: ModeOfOperation<'_>,
        direction: Direction,
        route: Route<'_>,
    ) -> Result<(), Error> {
        if matches!(mode, ModeOfOperation::Gcm(_)) {
            return Err(Error::Length);
        }
        let prepared = self.prepare(mode, direction, &[], None, route)?;
        self.carry_out(prepared).map(|_| ())
    }

    /// Encrypts a GCM message, and returns its tag.
    ///
    /// # Errors
    /// The same as those of [`process`](Self::process).
    pub fn seal(
        &mut self,
        iv: &[u8],
        aad: &[u8],
        route: Route<'_>,
    ) -> Result<[u8; TAG_LEN], Error> {
        let prepared =
            self.prepare(ModeOfOperation::Gcm(iv), Direction::Encrypt, aad, None, route)?;
        // A missing tag is an error.
        let tag = self.carry_out(prepared)?.ok_or(super::Error::Refused)?;
        Ok(tag.to_bytes())
    }

    /// Decrypts a GCM message. If its tag is wrong, the destination is overwritten.
    ///
    /// # Errors
    /// The same as those of [`process`](Self::process), and `Aes(NotAuthentic)`.
    pub fn open(
        &mut self,
        iv: &[u8],
        aad: &[u8],
        tag: &[u8],
        route: Route<'_>,
    ) -> Result<(), Error> {
        let prepared =
            self.prepare(ModeOfOperation::Gcm(iv), Direction::Decrypt, aad, Some(tag), route)?;
        self.carry_out(prepared).map(|_| ())
    }

    /// Prepares a message up to the doorbell of the DMA engine; no text is read and no result is written. The
    /// decryption of a GCM message needs the tag.
    ///
    /// # Errors
    /// The same as those of [`process`](Self::process).
    pub fn prepare(
        &mut self,
        mode: ModeOfOperation<'_>,
        direction: Direction,
        aad: &[u8],
        tag: Option<&[u8]>,
        route: Route<'_>,
    ) -> Result<Prepared, Error> {
        let length = judge(&route)?;
        let streams = Streams { input: true, output: true };
        self.dma.prepare(route.ranges, route.sinks | self.sink, false)?;
        let begun = self.aes.begin(mode, direction, aad, length as usize, tag, streams);
        let started = begun
            .map_err(Error::from)
            .and_then(|()| Ok(self.writer.start(route.destination, length)?));
        if let Err(error) = started {
            // The first error is returned, and the result of the abort is ignored.
            let _ = self.aes.abort();
            return Err(error);
        }
        let is_sealed = matches!(mode, ModeOfOperation::Gcm(_)) && direction == Direction::Encrypt;
        Ok(Prepared { destination: route.destination, length, is_sealed })
    }

    /// Carries out a message, and returns the tag if it encrypts with GCM. After an error the destination is
    /// overwritten.
    ///
    /// # Errors
    /// The same as those of [`process`](Self::process).
    pub fn carry_out(&mut self, prepared: Prepared) -> Result<Option<Tag>, Error> {
        match self.pass(prepared.is_sealed) {
            Ok(tag) => Ok(tag),
            Err(error) => Err(self.give_up(&prepared, error)),
        }
    }

    #[cold]
    #[inline(never)]
    fn give_up(&mut self, prepared: &Prepared, error: Error) -> Error {
        // An engine that is not stopped could write after the destination was overwritten.
        let is_erased = self.stop() && (self.erase)(prepared.destination, prepared.length);
        if is_erased { error } else { Error::Residue }
    }

    // The instructions from here to the result add to the time of each message, besides the cycles of the engine.
    #[inline(always)]
    fn pass(&mut self, is_sealed: bool) -> Result<Option<Tag>, Error> {
        self.dma.ring();
        let (mut is_read, mut is_written) = (false, false);
        for _ in 0..=self.patience {
            // The writer ends last, except when another sink is slow, or when the DMA engine fails and the writer may
            // wait for ever. After an error of the AES engine its stream ends.
            if is_written || self.writer.has_event() || self.dma.has_error() {
                is_read = is_read || self.dma.poll_inlined()?.is_some();
                is_written = is_written || self.writer.poll_inlined()?.is_some();
                if is_read && is_written {
                    self.aes.end()?;
                    return if is_sealed { Ok(Some(self.aes.sealed()?)) } else { Ok(None) };
                }
            }
            self.writer.wait();
        }
        Err(Error::Dma(dma::Error::Silent))
    }

    /// Aborts all operations. Returns true if all three engines are idle.
    fn stop(&mut self) -> bool {
        self.dma.abort();
        self.writer.abort();
        let is_aes_idle = self.aes.abort().is_ok();
        let are_idle = || self.dma.is_idle() && self.writer.is_idle();
        is_aes_idle && (0..ABORT_PATIENCE).any(|_| are_idle())
    }
}

/// Returns the length of a message whose ranges do not overlap its destination.
fn judge(route: &Route<'_>) -> Result<u32, Error> {
    let sum = route.ranges.iter().try_fold(0_u32, |sum, range| sum.checked_add(range.length));
    let length = sum.filter(|length| *length != 0).ok_or(Error::Length)?;
    let to = u64::from(route.destination);
    let is_apart = |range: &Range| {
        let from = u64::from(range.source);
        range.length == 0 || from + u64::from(range.length) <= to || to + u64::from(length) <= from
    };
    // Every byte is read before its result is written, so a range can be its own destination.
    let is_in_place = match route.ranges {
        [one] => one.source == route.destination,
        _ => false,
    };
    if is_in_place || route.ranges.iter().all(is_apart) { Ok(length) } else { Err(Error::Overlap) }
}

#[cfg(test)]
mod tests;
