//! Tests of every way to transfer messages to the engines: the core pushes words, by polling and by interrupt, and DMA
//! works by interrupt. The program prints a line for each digest in the format of the other measurements, with zero for
//! cycles. Functions that the workstation does not have are compared with published examples here.

use core::fmt::Write;

use hartlock_drivers::dma::{DescriptorList, Dma, Range};
use hartlock_drivers::sha2::{self, Sha2};
use hartlock_drivers::sha3::{self, Kmac, Sha3, Sha3Function};
use hartlock_drivers::wait::{Sleeping, Wait};
use hartlock_regs::Block;
use hartlock_rot::{DMA, SCRATCHPAD, SHA2, SHA3, interrupt, sleep_until};
use hartlock_rot_bench::Console;

use crate::{Engines, Error, KEY, LIST, PATIENCE, PAYLOAD, TO_SHA2, TO_SHA3};

/// Offsets and lengths of messages: zero, one byte, lengths around a word and around a block of each function, and over
/// the end of a page.
const PLACES: [(usize, usize); 10] = [
    (0, 0),
    (3, 0),
    (7, 1),
    (5, 63),
    (1, 64),
    (2, 71),
    (6, 104),
    (4, 136),
    (4093, 6),
    (4001, 4295),
];

/// Names and functions, with the lengths of their outputs in bytes.
const SHA3_FUNCTIONS: [(&str, Sha3Function<'_>, usize); 6] = [
    ("sha3-224", Sha3Function::Sha3_224, 28),
    ("sha3-256", Sha3Function::Sha3_256, 32),
    ("sha3-384", Sha3Function::Sha3_384, 48),
    ("sha3-512", Sha3Function::Sha3_512, 64),
    // The output of SHAKE has two blocks.
    ("shake128", Sha3Function::Shake128, 200),
    ("shake256", Sha3Function::Shake256, 200),
];

/// Key of sample 1 of KMAC in SP 800-185.
const KMAC_KEY: [u8; 32] = {
    let mut key = [0x40; 32];
    let mut at = 0;
    while at < 32 {
        key[at] += at as u8;
        at += 1;
    }
    key
};
const KMAC128: [u8; 32] = [
    0xe5, 0x78, 0x0b, 0x0d, 0x3e, 0xa6, 0xf7, 0xd3, 0xa4, 0x29, 0xc5, 0x70, 0x6a, 0xa4, 0x3a, 0x00,
    0xfa, 0xdb, 0xd7, 0xd4, 0x96, 0x28, 0x83, 0x9e, 0x31, 0x87, 0x24, 0x3f, 0x45, 0x6e, 0xe1, 0x4e,
];
/// Output of TurboSHAKE128 for the empty message with the suffix 0x1f (RFC 9861 §5).
const TURBOSHAKE128: [u8; 32] = [
    0x1e, 0x41, 0x5f, 0x1c, 0x59, 0x83, 0xaf, 0xf2, 0x16, 0x92, 0x17, 0x27, 0x7d, 0x17, 0xbb, 0x53,
    0x8c, 0xd9, 0x45, 0xa3, 0x97, 0xdd, 0xec, 0x54, 0x1f, 0x1c, 0xe4, 0x1a, 0xf2, 0xc1, 0xb7, 0x4c,
];

pub fn run(engines: Engines<'_>) -> Result<(), Error> {
    let Engines { mut sha2, mut sha3, .. } = engines;
    push(&mut sha2, &mut sha3)?;
    known(&mut sha3)?;
    recover(&mut sha2, &mut sha3)?;
    // SAFETY: these are the engine's registers, whose only other driver is not used any more.
    let dma = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(DMA)) };
    // SAFETY: these are the engine's registers, whose only other driver is not used any more.
    let sha2 = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA2)) };
    // SAFETY: these are the engine's registers, whose only other driver is not used any more.
    let sha3 = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA3)) };
    let list = &raw mut LIST;
    // SAFETY: the only other user of the list is the driver that is not used any more.
    let list: &mut DescriptorList = unsafe { &mut *list };
    let offset = core::ptr::from_mut(list).addr() - SCRATCHPAD;
    let mut dma = Dma::new(dma, list, offset, Sleeping(|| sleep_until(interrupt::DMA)))?;
    let mut sha2 = Sha2::new(sha2, Sleeping(|| sleep_until(interrupt::SHA2)))?;
    let mut sha3 = Sha3::new(sha3, Sleeping(|| sleep_until(interrupt::SHA3)))?;
    push(&mut sha2, &mut sha3)?;
    known(&mut sha3)?;
    for place in PLACES {
        sha2.start_stream(sha2::Sha2Function::Sha256)?;
        sha3.start_stream(Sha3Function::Sha3_512)?;
        // The message is split into two ranges, of which the first ends at any address.
        let (offset, length) = place;
        let (at, split) = ((PAYLOAD + offset) as u32, length as u32 / 3);
        let range = |source, length| Range { source, destination: 0, length };
        let ranges = [range(at, split), range(at + split, length as u32 - split)];
        dma.start(&ranges, TO_SHA2 | TO_SHA3, false)?;
        dma.finish(PATIENCE)?;
        sha2.until_done()?;
        report("sha256", place, &sha2.digest()?);
        let mut digest = [0; 64];
        sha3.read(&mut digest)?;
        report("sha3-512", place, &digest);
    }
    Ok(())
}

/// Lets the core push each message; those of SHA-3 are pushed in two parts.
fn push<W: Wait>(sha2: &mut Sha2<W>, sha3: &mut Sha3<W>) -> Result<(), Error> {
    for place in PLACES {
        let (offset, length) = place;
        let message = core::ptr::with_exposed_provenance::<u8>(PAYLOAD + offset);
        // SAFETY: these are bytes of the payload, which nothing writes any more.
        let message = unsafe { core::slice::from_raw_parts(message, length) };
        for (name, function) in [
            ("sha256", sha2::Sha2Function::Sha256),
            ("hmac-sha256", sha2::Sha2Function::HmacSha256(&KEY)),
        ] {
            sha2.start(function)?;
            sha2.push(message);
            report(name, place, &sha2.finish()?);
        }
        for (name, function, size) in SHA3_FUNCTIONS {
            let (first, second) = message.split_at(length / 3);
            sha3.start(function)?;
            sha3.push(first);
            sha3.push(second);
            let output = &mut [0; 200][..size];
            sha3.finish(output)?;
            report(name, place, output);
        }
    }
    Ok(())
}

fn known<W: Wait>(sha3: &mut Sha3<W>) -> Result<(), Error> {
    let mut output = [0; 32];
    for _ in 0..2 {
        sha3.start(Sha3Function::Kmac128(Kmac { key: &KMAC_KEY, customization: b"" }))?;
        sha3.push(&[0, 1, 2, 3]);
        sha3.finish(&mut output)?;
        if output != KMAC128 {
            return Err(Error::Known("KMAC128"));
        }
        sha3.start(Sha3Function::TurboShake128(0x1f))?;
        sha3.finish(&mut output)?;
        if output != TURBOSHAKE128 {
            return Err(Error::Known("TurboSHAKE128"));
        }
    }
    Ok(())
}

/// Pushes a word without a message, which is an error that makes the next digest invalid, and checks that a wipe clears
/// the error.
fn recover<W: Wait>(sha2: &mut Sha2<W>, sha3: &mut Sha3<W>) -> Result<(), Error> {
    let mut digest = [0; 28];
    sha3.push(&[0; 8]);
    sha3.start(Sha3Function::Sha3_224)?;
    if sha3.finish(&mut digest) != Err(sha3::Error::Refused) {
        return Err(Error::Known("a digest of SHA-3 after an error"));
    }
    sha3.wipe()?;
    sha3.start(Sha3Function::Sha3_224)?;
    sha3.finish(&mut digest)?;
    sha2.push(&[0; 4]);
    sha2.start(sha2::Sha2Function::Sha256)?;
    if sha2.finish() != Err(sha2::Error::Refused) {
        return Err(Error::Known("a digest of SHA-2 after an error"));
    }
    sha2.wipe()?;
    sha2.start(sha2::Sha2Function::Sha256)?;
    sha2.finish()?;
    Ok(())
}

fn report(name: &str, (offset, length): (usize, usize), digest: &[u8]) {
    let _ = write!(Console, "dma {name} {length} {offset} 0 0 ");
    for byte in digest {
        let _ = write!(Console, "{byte:02x}");
    }
    let _ = writeln!(Console);
}
