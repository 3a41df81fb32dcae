//! Measurements of AES-256-CBC in automatic mode, of RSA with public and private exponents, and of other AES modes.

use core::cell::Cell;
use core::fmt::Write;

use hartlock_drivers::aes::{self, Aes, Direction, ModeOfOperation, Streams};
use hartlock_drivers::bignum::{self, Bignum, Blinding, PrivateKey};
use hartlock_drivers::sha2::{self, Sha2, Sha2Function};
use hartlock_drivers::wait::Polling;
use hartlock_regs::Block;
use hartlock_rot::{AES, BIGNUM, HOST_MEMORY, SHA2};
use hartlock_rot_bench::{Console, mark};

use crate::hexadecimal::print;
use crate::labels::{self, label};
use crate::operands::{
    self, AES_BLOCK_LEN, AES_KEY_LEN, EXPONENT, GCM_IV_LEN, HEADER, Key, RSA_512, RSA_1024, SIZES,
};
use crate::speed::{IS_OF_PAPER, is_left_out};

const MAX_LEN: usize = 4096;
const BLOCK_WORDS: usize = AES_BLOCK_LEN / 4;

/// A payload, which AES encrypts in place, and space for a result of RSA.
#[repr(C, align(64))]
struct CipherBuffers {
    payload: [u8; MAX_LEN],
    result: [u8; MAX_LEN],
}

static mut SCRATCHPAD: CipherBuffers =
    CipherBuffers { payload: [0; MAX_LEN], result: [0; MAX_LEN] };

impl CipherBuffers {
    fn fill(&mut self) {
        self.fill_first(MAX_LEN);
    }

    fn fill_first(&mut self, size: usize) {
        for (at, byte) in self.payload.iter_mut().enumerate().take(size) {
            *byte = operands::payload_byte(at);
        }
    }
}

/// An error, which names the engine that failed.
#[derive(Debug)]
#[expect(dead_code, reason = "printed")]
pub enum Error {
    Aes(aes::Error),
    Bignum(bignum::Error),
    Sha2(sha2::Error),
}

/// The drivers of the engines; the program has no others.
struct Engines {
    aes: Aes,
    bignum: Bignum<Polling>,
    sha2: Sha2<Polling>,
}

impl Engines {
    fn take() -> Result<Self, Error> {
        // SAFETY: these are the registers of three engines, each at its own address, and no other code uses them.
        let (aes, bignum, sha2) = unsafe {
            (
                Block::new(core::ptr::with_exposed_provenance_mut(AES)),
                Block::new(core::ptr::with_exposed_provenance_mut(BIGNUM)),
                Block::new(core::ptr::with_exposed_provenance_mut(SHA2)),
            )
        };
        Ok(Self {
            aes: Aes::new(aes).map_err(Error::Aes)?,
            bignum: Bignum::new(bignum, Polling).map_err(Error::Bignum)?,
            sha2: Sha2::new(sha2, Polling).map_err(Error::Sha2)?,
        })
    }
}

pub fn measure() -> Result<(), Error> {
    let mut engines = Engines::take()?;
    let scratchpad = &raw mut SCRATCHPAD;
    let host: *mut CipherBuffers = core::ptr::with_exposed_provenance_mut(HOST_MEMORY);
    for (memory, place) in [("scratchpad", scratchpad), ("ram", host)] {
        if is_left_out(memory) {
            continue;
        }
        // SAFETY: no other code uses this memory, and the places are used one after the other.
        let place = unsafe { &mut *place };
        place.fill();
        for size in SIZES {
            measure_aes(&mut engines, memory, place, size)?;
        }
        if !IS_OF_PAPER {
            for size in SIZES {
                measure_modes(&mut engines, memory, place, size)?;
            }
            continue;
        }
        measure_rsa(&mut engines, &RSA_512, memory, place, ["rsa-512-public", "rsa-512-private"])?;
        measure_rsa(
            &mut engines,
            &RSA_1024,
            memory,
            place,
            ["rsa-1024-public", "rsa-1024-private"],
        )?;
    }
    Ok(())
}

fn measure_aes(
    engines: &mut Engines,
    memory: &str,
    place: &mut CipherBuffers,
    size: usize,
) -> Result<(), Error> {
    let key = core::array::from_fn(operands::key_byte);
    let iv = core::array::from_fn(operands::iv_byte);
    encrypt(&mut engines.aes, &key, &iv, place, size).map_err(Error::Aes)?;
    place.fill();
    mark(1);
    let result = encrypt(&mut engines.aes, &key, &iv, place, size);
    mark(0);
    result.map_err(Error::Aes)?;
    let text = place.payload.get(..size).unwrap_or_default();
    let digest = sha256(&mut engines.sha2, text, &[]).map_err(Error::Sha2)?;
    report("aes-256-cbc", memory, size, &digest);
    place.fill();
    Ok(())
}

fn sha256(engine: &mut Sha2<Polling>, text: &[u8], tag: &[u8]) -> Result<[u8; 32], sha2::Error> {
    engine.start(Sha2Function::Sha256)?;
    engine.push(text);
    engine.push(tag);
    engine.process();
    engine.until_done()?;
    engine.digest()
}

/// The measured part of AES. The processor transfers every word, and the write of a block's last word starts the
/// engine. While the engine works, the processor stores the previous result and loads the next block.
#[inline(never)]
fn encrypt(
    engine: &mut Aes,
    key: &[u8; AES_KEY_LEN],
    iv: &[u8; AES_BLOCK_LEN],
    place: &mut CipherBuffers,
    size: usize,
) -> Result<(), aes::Error> {
    label!(labels::CONFIG);
    engine.load_key(key)?;
    engine.begin(
        ModeOfOperation::Cbc(iv),
        Direction::Encrypt,
        &[],
        size,
        None,
        Streams::default(),
    )?;
    let blocks = blocks_of(place).get(..size / AES_BLOCK_LEN).unwrap_or_default();
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return Ok(()) };
    label!(labels::WAIT);
    engine.until_input()?;
    label!(labels::CIPHER);
    engine.push_block(first.get());
    for [before, block] in blocks.array_windows() {
        label!(labels::CIPHER);
        let [first, second, third, fourth] = block.get();
        label!(labels::WAIT);
        engine.until_result()?;
        label!(labels::CIPHER);
        let result = engine.pull_block();
        engine.push_block([first, second, third, fourth]);
        before.set(result);
    }
    label!(labels::WAIT);
    engine.until_result()?;
    label!(labels::CIPHER);
    last.set(engine.pull_block());
    label!(labels::WAIT);
    engine.end()?;
    label!(labels::NONE);
    Ok(())
}

/// Measures modes that the paper does not contain, by calls of the driver, which waits for each block.
fn measure_modes(
    engines: &mut Engines,
    memory: &str,
    place: &mut CipherBuffers,
    size: usize,
) -> Result<(), Error> {
    let key = core::array::from_fn(operands::key_byte);
    let iv = core::array::from_fn(operands::iv_byte);
    let short_iv: [u8; GCM_IV_LEN] = core::array::from_fn(operands::iv_byte);
    for (name, mode) in [
        ("aes-256-ctr", ModeOfOperation::Ctr(&iv)),
        ("aes-256-gcm", ModeOfOperation::Gcm(&short_iv)),
    ] {
        let mut encrypt = |place: &mut CipherBuffers| {
            let text = place.payload.get_mut(..size).unwrap_or_default();
            by_driver(&mut engines.aes, &key, mode, text)
        };
        encrypt(place).map_err(Error::Aes)?;
        place.fill_first(size);
        mark(1);
        let result = encrypt(place);
        mark(0);
        let tag = result.map_err(Error::Aes)?;
        let text = place.payload.get(..size).unwrap_or_default();
        let tag = tag.as_ref().map_or(&[][..], |tag| tag);
        let digest = sha256(&mut engines.sha2, text, tag).map_err(Error::Sha2)?;
        report(name, memory, size, &digest);
    }
    Ok(())
}

#[inline(never)]
fn by_driver(
    engine: &mut Aes,
    key: &[u8; AES_KEY_LEN],
    mode: ModeOfOperation<'_>,
    text: &mut [u8],
) -> Result<Option<[u8; aes::TAG_LEN]>, aes::Error> {
    engine.load_key(key)?;
    match mode {
        ModeOfOperation::Gcm(iv) => engine.seal(iv, HEADER, text).map(Some),
        _ => engine.process(mode, Direction::Encrypt, text).map(|()| None),
    }
}

/// Returns the payload as blocks of words in the byte order of memory.
fn blocks_of(place: &mut CipherBuffers) -> &[Cell<[u32; BLOCK_WORDS]>] {
    // SAFETY: any sixteen bytes are four valid words. A place is aligned, so that no byte is left over.
    let blocks = unsafe { place.payload.align_to_mut().1 };
    Cell::from_mut(blocks).as_slice_of_cells()
}

fn measure_rsa<const WHOLE: usize, const HALF: usize>(
    engines: &mut Engines,
    key: &Key<WHOLE, HALF>,
    memory: &str,
    place: &mut CipherBuffers,
    [public, private]: [&str; 2],
) -> Result<(), Error> {
    let (base, result) = operands_of(place);
    power(&mut engines.bignum, key, base, result).map_err(Error::Bignum)?;
    mark(1);
    let outcome = power(&mut engines.bignum, key, base, result);
    mark(0);
    outcome.map_err(Error::Bignum)?;
    report(public, memory, WHOLE, result);
    // The ciphertext is the input of the decryption, and is stored in the place of the payload.
    let plain = *base;
    *base = *result;
    decrypt(&mut engines.bignum, key, base, result).map_err(Error::Bignum)?;
    mark(1);
    let outcome = decrypt(&mut engines.bignum, key, base, result);
    mark(0);
    outcome.map_err(Error::Bignum)?;
    report(private, memory, WHOLE, result);
    *base = plain;
    Ok(())
}

/// Returns the beginning of a payload and that of the space for its result.
fn operands_of<const LEN: usize>(place: &mut CipherBuffers) -> (&mut [u8; LEN], &mut [u8; LEN]) {
    let CipherBuffers { payload, result } = place;
    let (Some(payload), Some(result)) = (payload.first_chunk_mut(), result.first_chunk_mut())
    else {
        // A key is shorter than a place, so this does not happen.
        hartlock_rot_bench::exit(1)
    };
    (payload, result)
}

/// Returns the public exponent as a number.
fn exponent() -> u32 {
    EXPONENT.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The measured part of an encryption: writing modulus, exponent and payload to the engine, the power, and reading the
/// result. From the trace the cycles of the register accesses can be separated from the rest.
#[inline(never)]
fn power<const WHOLE: usize, const HALF: usize>(
    engine: &mut Bignum<Polling>,
    key: &Key<WHOLE, HALF>,
    base: &[u8; WHOLE],
    result: &mut [u8; WHOLE],
) -> Result<(), bignum::Error> {
    label!(labels::CONFIG);
    let outcome = engine.power(&key.n, base, exponent(), result);
    label!(labels::NONE);
    outcome
}

/// The measured part of a decryption, with the whole private key, a blinding pair, and the engine's check of the
/// result.
#[inline(never)]
fn decrypt<const WHOLE: usize, const HALF: usize>(
    engine: &mut Bignum<Polling>,
    key: &Key<WHOLE, HALF>,
    base: &[u8; WHOLE],
    result: &mut [u8; WHOLE],
) -> Result<(), bignum::Error> {
    label!(labels::CONFIG);
    let private = PrivateKey {
        modulus: &key.n,
        exponent: exponent(),
        primes: (&key.p, &key.q),
        exponents: (&key.dp, &key.dq),
        coefficient: &key.iq,
    };
    let blinding = Blinding { factor: &key.blinding, inverse: &key.unblinding };
    let outcome = engine.private(&private, &blinding, base, result);
    label!(labels::NONE);
    outcome
}

fn report(name: &str, memory: &str, size: usize, result: &[u8]) {
    let _ = write!(Console, "run {name} {memory} {size} ");
    print(result);
    let _ = writeln!(Console);
}
