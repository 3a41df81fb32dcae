//! In these tests plain memory replaces the registers of all three engines. It contains the outcome of a message from
//! the beginning.

use core::cell::{Cell, RefCell};

use hartlock_regs::aes::AesRegisters;
use hartlock_regs::dma::{DmaCause, DmaRegisters};
use hartlock_regs::stream_writer::{StreamWriterCause, StreamWriterRegisters};

use super::*;
use crate::aes;
use crate::dma::DescriptorList;
use crate::wait::Polling;

const WORDS: usize = 40;
const ABORT: u32 = 2;
const RING: u32 = 1;

struct FakeRegisters([Cell<u32>; WORDS]);

impl FakeRegisters {
    /// Returns registers with the given values, as pairs of word offset and value.
    fn new(words: &[(usize, u32)]) -> FakeRegisters {
        let fake = FakeRegisters([const { Cell::new(0) }; WORDS]);
        words.iter().for_each(|(at, value)| fake.set(*at, *value));
        fake
    }

    fn base(&self) -> *mut u32 {
        self.0.as_ptr().cast::<u32>().cast_mut()
    }

    fn set(&self, at: usize, value: u32) {
        self.0.iter().skip(at).take(1).for_each(|cell| cell.set(value));
    }

    fn get(&self, at: usize) -> u32 {
        self.0.iter().skip(at).map(Cell::get).next().unwrap_or_default()
    }
}

/// Engines that have already completed every operation.
struct Engines {
    aes: FakeRegisters,
    dma: FakeRegisters,
    writer: FakeRegisters,
}

// These are offsets in words.
const AES_COMMAND: usize = 3;
const AES_STATUS: usize = 4;
const AES_TAG: usize = 28;
const DMA_CONTROL: usize = 2;
const DMA_COMMAND: usize = 5;
const DMA_STATUS: usize = 6;
const DMA_INTERRUPT: usize = 8;
const WRITER_DESTINATION: usize = 1;
const WRITER_LENGTH: usize = 2;
const WRITER_COMMAND: usize = 3;
const WRITER_STATUS: usize = 4;
const WRITER_CAUSE: usize = 5;
const WRITER_INTERRUPT: usize = 6;

const DONE: u32 = 1;
const FAILURE: u32 = 2;
const MATCHES: u32 = 1 << 4;
/// Status bits: idle, and free for a block.
const READY: u32 = 7;

std::thread_local! {
    /// Ranges that were overwritten, as pairs of address and length.
    static ERASED: RefCell<std::vec::Vec<(u32, u32)>> = const { RefCell::new(std::vec::Vec::new()) };
}

fn erase(address: u32, length: u32) -> bool {
    ERASED.with_borrow_mut(|erased| erased.push((address, length)));
    true
}

fn erased() -> std::vec::Vec<(u32, u32)> {
    ERASED.take()
}

impl Engines {
    fn done() -> Engines {
        Engines {
            aes: FakeRegisters::new(&[(0, 0x6165_7331), (AES_STATUS, READY)]),
            dma: FakeRegisters::new(&[
                (0, 0x646d_6100),
                (1, 16 << 16),
                (DMA_STATUS, 1),
                (DMA_INTERRUPT, DONE),
            ]),
            writer: FakeRegisters::new(&[
                (0, 0x7374_7277),
                (WRITER_STATUS, 1),
                (WRITER_INTERRUPT, DONE),
            ]),
        }
    }

    fn with<T>(
        &self,
        erase: fn(u32, u32) -> bool,
        action: impl FnOnce(&mut StreamedAes<'_, '_, Polling, Polling>) -> T,
    ) -> T {
        let mut list = DescriptorList::EMPTY;
        // SAFETY: each file has a word for each register, in cells that may be written through a shared reference, and
        // outlives the drivers.
        let aes = unsafe { AesRegisters::new(self.aes.base()) };
        // SAFETY: the same argument applies to this file.
        let dma = unsafe { DmaRegisters::new(self.dma.base()) };
        // SAFETY: the same argument applies to this file.
        let writer = unsafe { StreamWriterRegisters::new(self.writer.base()) };
        let mut aes = aes::Aes::new(aes).unwrap();
        aes.load_key(&[0; 32]).unwrap();
        let mut dma = Dma::new(dma, &mut list, 0, Polling).unwrap();
        let mut writer = StreamWriter::new(writer, Polling).unwrap();
        action(&mut StreamedAes {
            aes: &mut aes,
            dma: &mut dma,
            writer: &mut writer,
            sink: 4,
            erase,
            patience: 10,
        })
    }
}

/// A function that makes an engine fail.
type Change = fn(&Engines);

const RANGES: &[Range] = &[
    Range { source: 0x8000_0ffd, destination: 0, length: 5000 },
    Range { source: 0x8000_4001, destination: 0, length: 11 },
];
const ROUTE: Route<'_> = Route { ranges: RANGES, destination: 0x8001_0003, sinks: 1 };
const COUNTER: ModeOfOperation<'_> = ModeOfOperation::Ctr(&[1; 16]);

#[test]
fn passes_a_message_of_ranges_at_any_offset() {
    let engines = Engines::done();
    engines
        .with(erase, |engine| engine.process(COUNTER, Direction::Encrypt, ROUTE))
        .expect("the message passes");
    assert_eq!((engines.dma.get(DMA_CONTROL), engines.dma.get(DMA_COMMAND)), (5, RING));
    assert_eq!(engines.writer.get(WRITER_DESTINATION), 0x8001_0003);
    assert_eq!((engines.writer.get(WRITER_LENGTH), engines.writer.get(WRITER_COMMAND)), (5011, 1));
    assert_eq!(erased(), []);
}

#[test]
fn refuses_routes_before_anything_starts() {
    let engines = Engines::done();
    let one = |source, length| [Range { source, destination: 0, length }];
    let refused = |ranges: &[Range], destination| {
        let route = Route { ranges, destination, sinks: 0 };
        let result = engines.with(erase, |it| it.process(COUNTER, Direction::Encrypt, route));
        (result, engines.dma.get(DMA_COMMAND), engines.writer.get(WRITER_COMMAND))
    };
    let with = |error| (Err(error), 0, 0);
    assert_eq!(refused(&[], 0x100), with(Error::Length));
    assert_eq!(refused(&one(0x100, 0), 0x200), with(Error::Length));
    let long = [one(0, u32::MAX), one(0, 1)].concat();
    assert_eq!(refused(&long, 0x200), with(Error::Length));
    for destination in [0xf1, 0x101, 0x10f] {
        assert_eq!(refused(&one(0x100, 16), destination), with(Error::Overlap), "{destination:#x}");
    }
    let both = [one(0x100, 16), one(0x120, 16)].concat();
    assert_eq!(refused(&both, 0x100), with(Error::Overlap), "in place is for one range");
    let gcm = Route { ranges: RANGES, destination: 0x8001_0000, sinks: 0 };
    let result = engines
        .with(erase, |it| it.process(ModeOfOperation::Gcm(&[0; 12]), Direction::Encrypt, gcm));
    assert_eq!(result, Err(Error::Length), "GCM has a tag");
    assert_eq!(erased(), []);
    for destination in [0x100, 0xf0, 0x110] {
        assert_eq!(refused(&one(0x100, 16), destination), (Ok(()), 1, 1), "{destination:#x}");
    }
}

#[test]
fn an_error_of_each_engine_stops_all_and_overwrites_the_result() {
    let fails: [(Change, Error); 4] = [
        (
            |it| it.dma.set(DMA_INTERRUPT, FAILURE),
            Error::Dma(dma::Error::Refused { cause: DmaCause::None, index: 0 }),
        ),
        // The failing DMA engine leaves the writer waiting.
        (
            |it| {
                it.dma.set(DMA_INTERRUPT, FAILURE);
                it.writer.set(WRITER_INTERRUPT, 0);
            },
            Error::Dma(dma::Error::Refused { cause: DmaCause::None, index: 0 }),
        ),
        // One of the engines never ends.
        (|it| it.writer.set(WRITER_INTERRUPT, 0), Error::Dma(dma::Error::Silent)),
        (|it| it.dma.set(DMA_INTERRUPT, 0), Error::Dma(dma::Error::Silent)),
    ];
    for (fail, error) in fails {
        let engines = Engines::done();
        fail(&engines);
        let result = engines.with(erase, |it| it.process(COUNTER, Direction::Encrypt, ROUTE));
        assert_eq!(result, Err(error));
        assert_eq!(engines.dma.get(DMA_COMMAND), ABORT);
        assert_eq!(
            (engines.writer.get(WRITER_COMMAND), engines.aes.get(AES_COMMAND)),
            (ABORT, ABORT)
        );
        assert_eq!(erased(), [(0x8001_0003, 5011)]);
    }
}

#[test]
fn a_range_that_the_writer_refuses_is_not_overwritten() {
    let engines = Engines::done();
    let window = StreamWriterCause::Window;
    let refused = Err(Error::Writer(stream_writer::Error::Refused(window)));
    engines.writer.set(WRITER_INTERRUPT, FAILURE);
    engines.writer.set(WRITER_CAUSE, window as u32);
    let result = engines.with(erase, |it| it.process(COUNTER, Direction::Encrypt, ROUTE));
    assert_eq!(
        (result, engines.dma.get(DMA_COMMAND), engines.aes.get(AES_COMMAND)),
        (refused, 0, ABORT)
    );
    assert_eq!(erased(), []);
    // A failure after the stream has begun is handled differently.
    let stream = StreamWriterCause::Stream;
    let result = engines.with(erase, |it| {
        engines.writer.set(WRITER_CAUSE, stream as u32);
        it.pass(false)
    });
    assert_eq!(result, Err(Error::Writer(stream_writer::Error::Refused(stream))));
}

#[test]
fn a_tag_has_its_bytes_in_order() {
    let engines = Engines::done();
    (0..4)
        .for_each(|word| engines.aes.set(AES_TAG + word, 0x0302_0100 + 0x0404_0404 * word as u32));
    let tag = engines.with(erase, |it| it.seal(&[1; 12], b"more", ROUTE));
    assert_eq!(tag, Ok([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]));
}

#[test]
fn a_wrong_tag_leaves_no_text() {
    let engines = Engines::done();
    let open = || engines.with(erase, |it| it.open(&[1; 12], b"more", &[2; 16], ROUTE));
    // A tag is wrong unless the engine confirms that it is right.
    assert_eq!(open(), Err(Error::Aes(aes::Error::NotAuthentic)));
    assert_eq!(erased(), [(0x8001_0003, 5011)]);
    engines.aes.set(AES_STATUS, READY | MATCHES);
    assert_eq!(open(), Ok(()));
    assert_eq!(erased(), []);
    // An error before any byte was written leaves the destination unchanged.
    engines.writer.set(WRITER_STATUS, 0);
    assert_eq!(open(), Err(Error::Writer(stream_writer::Error::Busy)));
    assert_eq!(erased(), []);
}

#[test]
fn what_cannot_be_overwritten_is_told() {
    let engines = Engines::done();
    let open = |erase: fn(u32, u32) -> bool| {
        engines.with(erase, |it| it.open(&[1; 12], &[], &[2; 16], ROUTE))
    };
    assert_eq!(open(|_, _| false), Err(Error::Residue));
    // A writer that does not stop could write later.
    let result = engines.with(erase, |it| {
        it.prepare(COUNTER, Direction::Encrypt, &[], None, ROUTE).unwrap();
        engines.writer.set(WRITER_STATUS, 0);
        it.stop()
    });
    assert!(!result);
}

#[test]
fn each_engine_has_to_stop() {
    // Of all combinations, only three idle engines have stopped.
    for idle in 0..8_u32 {
        let engines = Engines::done();
        let is_stopped = engines.with(erase, |it| {
            engines.aes.set(AES_STATUS, idle & 1);
            engines.dma.set(DMA_STATUS, idle >> 1 & 1);
            engines.writer.set(WRITER_STATUS, idle >> 2);
            it.stop()
        });
        assert_eq!(is_stopped, idle == 7, "{idle}");
    }
}

#[test]
fn only_an_encryption_with_gcm_has_a_tag() {
    let engines = Engines::done();
    let gcm = ModeOfOperation::Gcm(&[1; 12]);
    for (mode, direction, tag, is_sealed) in [
        (gcm, Direction::Encrypt, None, true),
        (gcm, Direction::Decrypt, Some(&[2; 16][..]), false),
        (COUNTER, Direction::Encrypt, None, false),
        (COUNTER, Direction::Decrypt, None, false),
    ] {
        engines.aes.set(AES_STATUS, READY | MATCHES);
        engines.with(erase, |it| {
            let prepared = it.prepare(mode, direction, &[], tag, ROUTE).unwrap();
            assert_eq!(prepared.is_sealed, is_sealed);
            assert_eq!(it.carry_out(prepared).unwrap().is_some(), is_sealed);
        });
    }
}

#[test]
fn ranges_without_bytes_are_anywhere() {
    let one = |source, length| Range { source, destination: 0, length };
    let judged = |ranges: &[Range]| judge(&Route { ranges, destination: 0x1000, sinks: 0 });
    assert_eq!(judged(&[one(0x1004, 0), one(0x2000, 16)]), Ok(16));
    assert_eq!(judged(&[one(0x1004, 1), one(0x2000, 16)]), Err(Error::Overlap));
    // The end of the address space is no place to wrap.
    let end = Route { ranges: &[one(u32::MAX - 7, 8)], destination: 0, sinks: 0 };
    assert_eq!(judge(&end), Ok(8));
}

#[test]
fn the_engine_is_a_sink_whether_the_caller_names_it_or_not() {
    let engines = Engines::done();
    for sinks in [1, 5] {
        let route = Route { sinks, ..ROUTE };
        let result = engines.with(erase, |it| it.process(COUNTER, Direction::Encrypt, route));
        assert_eq!((result, engines.dma.get(DMA_CONTROL)), (Ok(()), 5));
    }
}
