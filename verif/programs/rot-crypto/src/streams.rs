//! AES between DMA and the stream writer, where the core transfers no word of a text. The program prints a line for
//! each message, and the workstation checks the results:
//!
//! ```text
//! <part> <bytes> <cycles> <cycles from the doorbell> <SHA-256 of the result> <tag, or SHA-256 of the text that was hashed meanwhile>
//! ```
//!
//! The cycles are those of the second of two runs, with the text in the last-level cache. The first number counts from
//! the call of the driver to its result, and the second from the doorbell of the DMA engine; the key was loaded before.
//! Byte i of the text is i mod 251. Messages of many sizes follow, whose cycles include the load of the key
//! (`streams/whole.rs`). The last line lists the refusals that were right.

use core::fmt::Write;

use hartlock_drivers::aes::streamed::{Error as StreamError, Route, StreamedAes};
use hartlock_drivers::aes::{self, Aes, Direction, ModeOfOperation};
use hartlock_drivers::dma::{self, DescriptorList, Dma, Range, Window};
use hartlock_drivers::sha2::{self, Sha2};
use hartlock_drivers::stream_writer::{self, StreamWriter};
use hartlock_drivers::wait::Polling;
use hartlock_regs::Block;
use hartlock_regs::dma::DmaCause;
use hartlock_regs::stream_writer::StreamWriterCause;
use hartlock_rot::host::{self, BusError};
use hartlock_rot::{AES, DMA, HOST_MEMORY, SCRATCHPAD, SHA2, STREAM_WRITER, cycle};
use hartlock_rot_bench::Console;

use crate::known;

mod whole;

/// Length in bytes of a text; the next constant is that of a long one.
const LENGTH: u32 = 16384;
const LONG: u32 = 65536;
/// Length in bytes of messages that are refused, whose destination the core inspects.
const SHORT: u32 = 1000;
/// Number of bytes of the text that the core writes. The DMA engine copies them to fill the rest.
const PERIODS: u32 = 8 * 251;
/// Start of the memory for messages: two MiB of the host's memory, after its program.
const TEXT: u32 = HOST_MEMORY as u32 + (16 << 20);
/// Start of the memory for results: the second of these MiB. The next constant is an address above all of the host's
/// memory, at which there is no bus subordinate.
const RESULT: u32 = TEXT + (1 << 20);
const NOWHERE: u32 = 0xf000_0000;
/// Maximum number of reads of the events, which is more than any message takes.
const PATIENCE: u32 = 100_000;
/// Bits of the DMA sinks (hw/soc/top/rot_registers.sv).
const TO_SHA2: u8 = 1 << 0;
const TO_AES: u8 = 1 << 2;
const AAD: &[u8] = b"header";
const IV: &[u8; 12] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

static mut LIST: DescriptorList = DescriptorList::EMPTY;

/// The reason why the program stopped.
#[derive(Debug)]
#[expect(dead_code, reason = "errors are printed")]
pub enum Error {
    Stream(StreamError),
    Aes(aes::Error),
    Dma(dma::Error),
    Writer(stream_writer::Error),
    Sha2(sha2::Error),
    Bus(BusError),
    /// A message that has to be refused was not refused, or with another error.
    Allowed(&'static str, Result<(), StreamError>),
    /// A refused message left bytes of its result.
    Residue(&'static str),
}

macro_rules! from {
    ($($variant:ident($error:ty)),*) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

from!(
    Stream(StreamError),
    Aes(aes::Error),
    Dma(dma::Error),
    Writer(stream_writer::Error),
    Sha2(sha2::Error),
    Bus(BusError)
);

type Digest = [u8; 32];
/// Cycles of the whole message, and cycles from the doorbell on.
type Cycles = (u32, u32);

struct Engines {
    aes: Aes,
    dma: Dma<'static, Polling>,
    writer: StreamWriter<Polling>,
    sha2: Sha2<Polling>,
}

pub fn run() -> Result<(), Error> {
    let mut engines = engines()?;
    engines.write_text()?;
    let ctr = ModeOfOperation::Ctr(known::AES_IV);
    for (part, mode, to) in [
        ("ctr", ctr, RESULT),
        ("ctr-unaligned", ctr, RESULT + 5),
        ("cbc", ModeOfOperation::Cbc(known::AES_IV), RESULT),
        ("ecb", ModeOfOperation::Ecb, RESULT),
    ] {
        let route = one(TEXT, to, LENGTH);
        let (cycles, _) = engines.twice(mode, Direction::Encrypt, None, route.as_route(0))?;
        engines.report(part, to, LENGTH, cycles, &[])?;
    }
    for (part, mode) in [("ctr-long", ctr), ("gcm-long", ModeOfOperation::Gcm(IV))] {
        let route = one(TEXT, RESULT, LONG);
        let (cycles, tag) = engines.twice(mode, Direction::Encrypt, None, route.as_route(0))?;
        engines.report(part, RESULT, LONG, cycles, &tag)?;
    }
    engines.gcm()?;
    engines.in_place()?;
    engines.refusals()?;
    engines.wholes()?;
    let _ = writeln!(Console, "refusals right");
    Ok(())
}

fn engines() -> Result<Engines, Error> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let aes = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(AES)) };
    // SAFETY: these are the engine's registers, of which this is the only user.
    let dma = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(DMA)) };
    // SAFETY: these are the writer's registers, of which this is the only user.
    let writer = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(STREAM_WRITER)) };
    // SAFETY: these are the engine's registers, of which this is the only user.
    let sha2 = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA2)) };
    let list = &raw mut LIST;
    // SAFETY: no other code names the list.
    let list = unsafe { &mut *list };
    let offset = core::ptr::from_mut(list).addr() - SCRATCHPAD;
    let mut engines = Engines {
        aes: Aes::new(aes)?,
        dma: Dma::new(dma, list, offset, Polling)?,
        writer: StreamWriter::new(writer, Polling)?,
        sha2: Sha2::new(sha2, Polling)?,
    };
    engines.aes.load_key(known::AES_KEY)?;
    let page = |address: u32| address >> 12;
    let source = Window { first: page(TEXT), last: page(RESULT) + 0xff };
    engines.dma.lock(source, Window { last: page(RESULT) - 1, ..source })?;
    engines.writer.lock(Window { first: page(RESULT), last: page(u32::MAX) })?;
    Ok(engines)
}

/// A message that consists of one range, and its destination.
struct One([Range; 1], u32);

const fn one(source: u32, destination: u32, length: u32) -> One {
    One([Range { source, destination: 0, length }], destination)
}

impl One {
    const fn as_route(&self, sinks: u8) -> Route<'_> {
        Route { ranges: &self.0, destination: self.1, sinks }
    }
}

fn erase(address: u32, length: u32) -> bool {
    host::clear(address.into(), length as usize).is_ok()
}

impl Engines {
    fn streamed(&mut self) -> StreamedAes<'_, 'static, Polling, Polling> {
        StreamedAes {
            aes: &mut self.aes,
            dma: &mut self.dma,
            writer: &mut self.writer,
            sink: TO_AES,
            erase,
            patience: PATIENCE,
        }
    }

    /// Writes the text. The core writes the beginning, and DMA copies it to fill the rest.
    fn write_text(&mut self) -> Result<(), Error> {
        let mut period = [0; 251];
        period.iter_mut().zip(0..).for_each(|(byte, value)| *byte = value);
        for at in (0..PERIODS).step_by(period.len()) {
            host::write((TEXT + at).into(), &period)?;
        }
        const COPIES: usize = (LONG / PERIODS) as usize;
        let mut number = 0;
        let copies: [Range; COPIES] = core::array::from_fn(|_| {
            number += PERIODS;
            Range { source: TEXT, destination: TEXT + number, length: PERIODS }
        });
        self.dma.start(&copies, 0, true)?;
        Ok(self.dma.finish(PATIENCE)?)
    }

    /// Runs a message twice. Returns the cycles of the second run, and the tag if there is one.
    fn twice(
        &mut self,
        mode: ModeOfOperation<'_>,
        direction: Direction,
        tag: Option<&[u8]>,
        route: Route<'_>,
    ) -> Result<(Cycles, [u8; aes::TAG_LEN]), Error> {
        self.once(mode, direction, tag, route)?;
        self.once(mode, direction, tag, route)
    }

    fn once(
        &mut self,
        mode: ModeOfOperation<'_>,
        direction: Direction,
        tag: Option<&[u8]>,
        route: Route<'_>,
    ) -> Result<(Cycles, [u8; aes::TAG_LEN]), Error> {
        let aad = if matches!(mode, ModeOfOperation::Gcm(_)) { AAD } else { &[] };
        let mut streamed = self.streamed();
        let start = cycle();
        let prepared = streamed.prepare(mode, direction, aad, tag, route)?;
        let doorbell = cycle();
        let sealed = streamed.carry_out(prepared)?;
        let end = cycle();
        let cycles = (end.wrapping_sub(start), end.wrapping_sub(doorbell));
        Ok((cycles, sealed.unwrap_or_default().to_bytes()))
    }

    /// Computes SHA-256 of memory by DMA.
    fn digest_of(&mut self, source: u32, length: u32) -> Result<Digest, Error> {
        self.sha2.start_stream(sha2::Sha2Function::Sha256)?;
        self.dma.start(&[Range { source, destination: 0, length }], TO_SHA2, false)?;
        self.dma.finish(PATIENCE)?;
        self.sha2.until_done()?;
        Ok(self.sha2.digest()?)
    }

    /// Prints the line of a message.
    fn report(
        &mut self,
        part: &str,
        at: u32,
        length: u32,
        cycles: Cycles,
        more: &[u8],
    ) -> Result<(), Error> {
        let digest = self.digest_of(at, length)?;
        let _ = write!(Console, "{part} {length} {} {} {}", cycles.0, cycles.1, Hex(&digest));
        let _ = writeln!(Console, "{}{}", if more.is_empty() { "" } else { " " }, Hex(more));
        Ok(())
    }

    /// Encrypts and decrypts a message, and decrypts it again while the same read also hashes the ciphertext.
    fn gcm(&mut self) -> Result<(), Error> {
        let seal = one(TEXT, RESULT, LENGTH);
        let mode = ModeOfOperation::Gcm(IV);
        let (cycles, tag) = self.twice(mode, Direction::Encrypt, None, seal.as_route(0))?;
        self.report("gcm", RESULT, LENGTH, cycles, &tag)?;

        let plain = RESULT + (LENGTH << 1);
        let open = one(RESULT, plain, LENGTH);
        let (cycles, _) = self.twice(mode, Direction::Decrypt, Some(&tag), open.as_route(0))?;
        self.report("gcm-open", plain, LENGTH, cycles, &[])?;

        erase(plain, LENGTH);
        self.sha2.start_stream(sha2::Sha2Function::Sha256)?;
        let (cycles, _) =
            self.once(mode, Direction::Decrypt, Some(&tag), open.as_route(TO_SHA2))?;
        self.sha2.until_done()?;
        let measured = self.sha2.digest()?;
        self.report("gcm-measured", plain, LENGTH, cycles, &measured)?;

        // The cases are a wrong tag and a changed byte. No byte of the text may be left.
        let seal = one(TEXT, RESULT, SHORT);
        let open = one(RESULT, plain, SHORT);
        let (_, tag) = self.once(mode, Direction::Encrypt, None, seal.as_route(0))?;
        let mut wrong = tag;
        wrong[15] ^= 1;
        self.is_refused(
            "tag",
            open.as_route(0),
            StreamError::Aes(aes::Error::NotAuthentic),
            |it, route| it.open(IV, AAD, &wrong, route),
        )?;
        host::write((RESULT + 100).into(), &[0])?;
        self.is_refused(
            "text",
            open.as_route(0),
            StreamError::Aes(aes::Error::NotAuthentic),
            |it, route| it.open(IV, AAD, &tag, route),
        )
    }

    /// Encrypts a range to its own address, at any alignment and without whole blocks.
    fn in_place(&mut self) -> Result<(), Error> {
        let (at, length) = (RESULT + 3, 1001);
        host::copy(at.into(), TEXT.into(), length as usize)?;
        let route = one(at, at, length);
        // CTR encryption and decryption are the same operation.
        let mode = ModeOfOperation::Ctr(known::AES_IV);
        let (cycles, _) = self.twice(mode, Direction::Encrypt, None, route.as_route(0))?;
        self.report("ctr-in-place", at, length, cycles, &[])
    }

    fn refusals(&mut self) -> Result<(), Error> {
        use StreamError::{Dma, Length, Overlap, Writer};
        let source = dma::Error::Refused { cause: DmaCause::Source, index: 0 };
        let start = dma::Error::Refused { cause: DmaCause::Start, index: 0 };
        let window = stream_writer::Error::Refused(StreamWriterCause::Window);
        let cases: [(&'static str, One, u8, StreamError); 6] = [
            ("source", one(TEXT - 16, RESULT, 64), 0, Dma(source)),
            ("sink", one(TEXT, RESULT, 64), 1 << 3, Dma(start)),
            ("window", one(TEXT, RESULT - 16, 64), 0, Writer(window)),
            ("below", one(TEXT, SCRATCHPAD as u32, 64), 0, Writer(window)),
            ("overlap", one(RESULT, RESULT + 1, 64), 0, Overlap),
            ("length", one(TEXT, RESULT, 0), 0, Length),
        ];
        for (name, message, sinks, error) in cases {
            self.is_refused(name, message.as_route(sinks), error, |it, route| {
                it.process(ModeOfOperation::Ecb, Direction::Encrypt, route)
            })?;
        }
        // There is no bus subordinate at this address, so the destination cannot be overwritten, either.
        let route = one(TEXT, NOWHERE, 64);
        let result =
            self.streamed().process(ModeOfOperation::Ecb, Direction::Encrypt, route.as_route(0));
        if result != Err(StreamError::Residue) {
            return Err(Error::Allowed("nowhere", result));
        }
        // The engines have to work after all of these errors.
        let route = one(TEXT, RESULT, LENGTH);
        let mode = ModeOfOperation::Ctr(known::AES_IV);
        let (cycles, _) = self.twice(mode, Direction::Encrypt, None, route.as_route(0))?;
        self.report("ctr-again", RESULT, LENGTH, cycles, &[])
    }

    /// Checks that a message is refused, and that every byte of its destination is zero, if the destination can be
    /// written.
    fn is_refused(
        &mut self,
        name: &'static str,
        route: Route<'_>,
        error: StreamError,
        run: impl FnOnce(
            &mut StreamedAes<'_, 'static, Polling, Polling>,
            Route<'_>,
        ) -> Result<(), StreamError>,
    ) -> Result<(), Error> {
        let result = run(&mut self.streamed(), route);
        if result != Err(error) {
            return Err(Error::Allowed(name, result));
        }
        if matches!(error, StreamError::Aes(_) | StreamError::Dma(_)) {
            let length = route.ranges.iter().map(|range| range.length).sum();
            let mut part = [1; 8];
            for at in (0..length).step_by(part.len()) {
                host::read((route.destination + at).into(), &mut part)?;
                if part != [0; 8] {
                    return Err(Error::Residue(name));
                }
            }
        }
        Ok(())
    }
}

struct Hex<'a>(&'a [u8]);

impl core::fmt::Display for Hex<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}
