//! Messages that the DMA engine reads and the [stream writer](crate::stream_writer) writes: no word of the text passes the
//! processor, and other sinks of the DMA engine (hashes) can get what is read in the same pass.
//!
//! A message is the ranges of a list, one after the other, at any addresses; its result is one range. Nothing is read twice, so
//! memory that changes meanwhile makes no difference between what is hashed and what is decrypted. A result is a result only
//! if the DMA engine, the AES engine and the writer have all said that the whole message passed, and, of GCM, that its tag
//! is right. Otherwise all three are stopped, and then the destination is overwritten.

use super::{Aes, Direction, Mode, Streams, TAG_LEN, Tag};
use crate::dma::{self, Dma, Range};
use crate::stream_writer::{self, StreamWriter};
use crate::wait::Wait;

/// Reads of the events while a message that was aborted comes to its end: the bus has to answer what is under way.
const ABORT_PATIENCE: u32 = 10_000;

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No text, or more than 4 GiB.
    Length,
    /// The destination overlaps a source, and is not the same range.
    Overlap,
    /// Of the AES engine; `NotAuthentic` if the tag is wrong.
    Aes(super::Error),
    /// Of the DMA engine.
    Dma(dma::Error),
    /// Of the writer.
    Writer(stream_writer::Error),
    /// There was an error, and the destination may still have a part of the result: an engine did not stop, or what was to
    /// overwrite it failed. It must not be used.
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

/// Where a message comes from and where its result goes.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// The text. Destinations of ranges are not used.
    pub ranges: &'a [Range],
    /// Address of the first byte of the result. It may be the source of the only range.
    pub destination: u32,
    /// Sinks of the DMA engine that get what is read as well; each has begun a message before. What they have after an error
    /// is to be thrown away.
    pub sinks: u8,
}

/// A message whose doorbell was not rung.
#[derive(Debug)]
pub struct Prepared {
    destination: u32,
    length: u32,
    is_sealed: bool,
}

/// The AES engine between the DMA engine and the writer.
pub struct Streamed<'e, 'l, D, W> {
    /// With its key.
    pub aes: &'e mut Aes,
    /// Its windows are locked.
    pub dma: &'e mut Dma<'l, D>,
    /// Its window is locked. It waits for all three.
    pub writer: &'e mut StreamWriter<W>,
    /// The AES engine, as a bit of the sinks.
    pub sink: u8,
    /// Overwrites so many bytes from an address on, and says whether it could.
    pub erase: fn(u32, u32) -> bool,
    /// The maximum number of reads of the events while a message passes.
    pub patience: u32,
}

impl<D: Wait, W: Wait> Streamed<'_, '_, D, W> {
    /// A message of all modes but GCM. CTR can begin at any block: see [`counter_at`](super::counter_at).
    ///
    /// # Errors
    /// `Length`, `Overlap`, and those of the engines.
    pub fn process(
        &mut self,
        mode: Mode<'_>,
        direction: Direction,
        route: Route<'_>,
    ) -> Result<(), Error> {
        if matches!(mode, Mode::Gcm(_)) {
            return Err(Error::Length);
        }
        let prepared = self.prepare(mode, direction, &[], None, route)?;
        self.carry_out(prepared).map(|_| ())
    }

    /// Encrypts a message of GCM, and returns its tag.
    ///
    /// # Errors
    /// As [`process`](Self::process).
    pub fn seal(
        &mut self,
        iv: &[u8],
        aad: &[u8],
        route: Route<'_>,
    ) -> Result<[u8; TAG_LEN], Error> {
        let prepared = self.prepare(Mode::Gcm(iv), Direction::Encrypt, aad, None, route)?;
        // A tag that is not there is none.
        let tag = self.carry_out(prepared)?.ok_or(super::Error::Refused)?;
        Ok(tag.to_bytes())
    }

    /// Decrypts a message of GCM. If its tag is wrong, the destination is overwritten.
    ///
    /// # Errors
    /// As [`process`](Self::process); `Aes(NotAuthentic)`.
    pub fn open(
        &mut self,
        iv: &[u8],
        aad: &[u8],
        tag: &[u8],
        route: Route<'_>,
    ) -> Result<(), Error> {
        let prepared = self.prepare(Mode::Gcm(iv), Direction::Decrypt, aad, Some(tag), route)?;
        self.carry_out(prepared).map(|_| ())
    }

    /// All of a message but the doorbell of the DMA engine: nothing is read, and nothing written. A decryption of GCM needs the
    /// tag.
    ///
    /// # Errors
    /// As [`process`](Self::process).
    pub fn prepare(
        &mut self,
        mode: Mode<'_>,
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
            // What the error says counts, and not that of the abort.
            let _ = self.aes.abort();
            return Err(error);
        }
        let is_sealed = matches!(mode, Mode::Gcm(_)) && direction == Direction::Encrypt;
        Ok(Prepared { destination: route.destination, length, is_sealed })
    }

    /// Carries a message out, and returns the tag if it is an encryption of GCM. After an error the destination is
    /// overwritten.
    ///
    /// # Errors
    /// As [`process`](Self::process).
    pub fn carry_out(&mut self, prepared: Prepared) -> Result<Option<Tag>, Error> {
        match self.pass(prepared.is_sealed) {
            Ok(tag) => Ok(tag),
            Err(error) => Err(self.give_up(&prepared, error)),
        }
    }

    #[cold]
    #[inline(never)]
    fn give_up(&mut self, prepared: &Prepared, error: Error) -> Error {
        // What is not stopped could write after the erasure.
        let is_erased = self.stop() && (self.erase)(prepared.destination, prepared.length);
        if is_erased { error } else { Error::Residue }
    }

    // Instructions from here to the result are what a message takes beside the engine's cycles.
    #[inline(always)]
    fn pass(&mut self, is_sealed: bool) -> Result<Option<Tag>, Error> {
        self.dma.ring();
        let (mut is_read, mut is_written) = (false, false);
        for _ in 0..=self.patience {
            // The writer ends last, but for a slow sink, and unless the DMA engine fails, which may leave it waiting. An error
            // of AES ends its stream.
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

    /// Ends what is under way, and says whether nothing is any more.
    fn stop(&mut self) -> bool {
        self.dma.abort();
        self.writer.abort();
        let is_aes_idle = self.aes.abort().is_ok();
        let are_idle = || self.dma.is_idle() && self.writer.is_idle();
        is_aes_idle && (0..ABORT_PATIENCE).any(|_| are_idle())
    }
}

/// The length of a message whose ranges do not overlap its destination.
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
