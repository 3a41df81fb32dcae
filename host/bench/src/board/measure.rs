//! Measurements of kernels, each in a child process, so that a kernel that traps or hangs costs its own row alone.

use core::hint::black_box;

use hartlock_bench::statistics::MAX_SAMPLES;
use hartlock_kernels::aes::{AesKey, ctr, gcm};
use hartlock_kernels::{KernelFault, Kernels, MAX_LANES};

use super::arguments::Arguments;
use super::kernels::{self, Cipher, Subject};
use super::report::Report;
use super::system::{self, Counter, End, FromChild};

/// Longest message in bytes.
pub const MAX_LEN: usize = 64 << 10;
/// Distance of two messages beyond their length. At a power of two, all lanes would share a few lines of a cache.
const GAP: usize = 320;

/// What became of a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Its answers were right, and it was measured.
    Measured,
    /// The hart or this kind of hash has no such kernel.
    Absent,
    /// An answer was wrong.
    Wrong,
    /// It ended by a signal, or took too long.
    Died,
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Status::Measured => "measured",
            Status::Absent => "absent",
            Status::Wrong => "wrong",
            Status::Died => "died",
        }
    }
}

/// The result for a kernel.
#[derive(Clone, Copy)]
pub struct Record {
    pub status: Status,
    /// Bytes of all messages of one run.
    pub bytes: usize,
    /// Number of messages of one run.
    pub messages: usize,
    /// Runs of a sample.
    pub repeats: u64,
    pub samples: usize,
    pub nanoseconds: [u64; MAX_SAMPLES],
    pub cycles: Option<[u64; MAX_SAMPLES]>,
    pub instructions: Option<[u64; MAX_SAMPLES]>,
}

impl Record {
    const fn without_samples(status: Status) -> Self {
        Self {
            status,
            bytes: 0,
            messages: 0,
            repeats: 0,
            samples: 0,
            nanoseconds: [0; MAX_SAMPLES],
            cycles: None,
            instructions: None,
        }
    }
}

/// Measures every kernel. Returns `None` if there is no memory, else whether all answers were right.
pub fn all(report: &mut Report, arguments: &Arguments) -> Option<bool> {
    let room = system::shared(MAX_LANES * (MAX_LEN + GAP))?;
    fill(room);
    let result = FromChild::new(Record::without_samples(Status::Died))?;
    let mut is_right = true;
    for subject in kernels::all() {
        result.set(Record::without_samples(Status::Died));
        let end = system::in_child(|| {
            result.set(measure(subject, arguments, room));
            0
        });
        let mut record = result.get();
        if end != Some(End::Code(0)) {
            record = Record::without_samples(Status::Died);
        }
        is_right &= matches!(record.status, Status::Measured | Status::Absent);
        report.kernel(subject, &record);
    }
    Some(is_right)
}

fn fill(room: &mut [u8]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for word in room.as_chunks_mut::<8>().0 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *word = state.to_le_bytes();
    }
}

fn measure(subject: Subject, arguments: &Arguments, room: &mut [u8]) -> Record {
    let kernels = match subject.select() {
        Ok(kernels) => kernels,
        Err(KernelFault::Trapped) => return Record::without_samples(Status::Absent),
        Err(KernelFault::WrongAnswer) => return Record::without_samples(Status::Wrong),
    };
    let is_known = subject.answers(&kernels);
    let len = arguments.message_len();
    let measured = match subject {
        _ if !is_known => None,
        Subject::One(hash, _) => {
            let message = room.get(..len).unwrap_or_default();
            let digest = || (hash.one)(&kernels, black_box(message));
            (digest() == (hash.one)(&Kernels::PORTABLE, message)).then(|| {
                samples(arguments, || {
                    black_box(digest());
                })
            })
        }
        Subject::Lanes(hash, _) => {
            let count = kernels.lanes(hash.family).min(MAX_LANES);
            let mut messages: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
            for (message, bytes) in messages.iter_mut().zip(room.chunks(len + GAP)) {
                *message = bytes.get(..len).unwrap_or_default();
            }
            let messages = messages.get(..count).unwrap_or_default();
            let mut right = 0_usize;
            (hash.many)(&kernels, messages, &mut |at, digest| {
                let message = messages.get(at).copied().unwrap_or_default();
                right += usize::from((hash.one)(&Kernels::PORTABLE, message) == *digest);
            });
            (right == count).then(|| {
                let record = samples(arguments, || {
                    (hash.many)(&kernels, black_box(messages), &mut |_, digest| {
                        black_box(digest);
                    });
                });
                Record { messages: count, ..record }
            })
        }
        Subject::Cipher(_, cipher, key_len, _) => {
            measure_cipher(arguments, &kernels, cipher, key_len, room)
        }
    };
    match measured {
        Some(record) => {
            let messages = record.messages.max(1);
            Record { messages, bytes: len.saturating_mul(messages), ..record }
        }
        None => Record::without_samples(Status::Wrong),
    }
}

/// Compares a cipher with its portable form, then measures it; `None` if an answer is wrong.
fn measure_cipher(
    arguments: &Arguments,
    kernels: &Kernels,
    cipher: Cipher,
    key_len: usize,
    room: &mut [u8],
) -> Option<Record> {
    const IV: [u8; 12] = [7; 12];
    const FIRST: [u8; 16] = [9; 16];
    let bytes = [0x5a; 32];
    let (mut key, mut portable) = (AesKey::with(kernels), AesKey::EMPTY);
    key.expand(bytes.get(..key_len)?).ok()?;
    portable.expand(bytes.get(..key_len)?).ok()?;
    let len = arguments.message_len();
    let (text, rest) = room.split_at_mut_checked(len)?;
    let copy = rest.get_mut(..len)?;
    copy.copy_from_slice(text);
    match cipher {
        Cipher::Ctr => {
            ctr::apply(&portable, &FIRST, copy).ok()?;
            ctr::apply(&key, &FIRST, text).ok()?;
            if text != copy {
                return None;
            }
            Some(samples(arguments, || {
                let _ = black_box(ctr::apply(&key, &FIRST, black_box(text)));
            }))
        }
        Cipher::Gcm => {
            // What is decrypted is a cipher text again, whose decryption is the first one: each has its tag.
            let first = gcm::tag(&portable, &IV, &[], copy).ok()?;
            gcm::decrypt(&portable, &IV, &[], copy, &first).ok()?;
            let second = gcm::tag(&portable, &IV, &[], copy).ok()?;
            gcm::decrypt(&key, &IV, &[], text, &first).ok()?;
            if text != copy {
                return None;
            }
            let mut tags = [second, first];
            let mut is_authentic = true;
            let record = samples(arguments, || {
                is_authentic &= gcm::decrypt(&key, &IV, &[], black_box(text), &tags[0]).is_ok();
                tags.swap(0, 1);
            });
            is_authentic.then_some(record)
        }
        Cipher::Ghash => {
            let wanted = gcm::tag(&portable, &IV, text, &[]).ok()?;
            if gcm::tag(&key, &IV, text, &[]).ok()? != wanted {
                return None;
            }
            Some(samples(arguments, || {
                let _ = black_box(gcm::tag(&key, &IV, black_box(text), &[]));
            }))
        }
    }
}

/// Runs something as often as a sample takes its minimum time, and takes samples of that.
fn samples(arguments: &Arguments, mut run: impl FnMut()) -> Record {
    let mut repeats = 1_u64;
    loop {
        let start = system::now();
        (0..repeats).for_each(|_| run());
        if system::now().saturating_sub(start) >= arguments.sample_time() || repeats > 1 << 20 {
            break;
        }
        repeats *= 2;
    }
    let mut record = Record::without_samples(Status::Measured);
    (record.repeats, record.samples) = (repeats, arguments.samples());
    // Numbers of events in perf_event_open(2).
    let [mut cycles, mut instructions] = [0, 1].map(Counted::new);
    for at in 0..record.samples {
        let start = system::now();
        cycles.start();
        instructions.start();
        (0..repeats).for_each(|_| run());
        instructions.end(at);
        cycles.end(at);
        let taken = system::now().saturating_sub(start);
        if let Some(place) = record.nanoseconds.get_mut(at) {
            *place = taken;
        }
    }
    record.cycles = cycles.samples();
    record.instructions = instructions.samples();
    record
}

/// The samples of an event; none if it could not be counted in each of them.
struct Counted {
    counter: Option<Counter>,
    before: Option<u64>,
    samples: [u64; MAX_SAMPLES],
}

impl Counted {
    fn new(event: u64) -> Self {
        Self { counter: Counter::open(event), before: None, samples: [0; MAX_SAMPLES] }
    }

    fn start(&mut self) {
        self.before = self.counter.as_ref().and_then(Counter::read);
    }

    fn end(&mut self, at: usize) {
        let after = self.counter.as_ref().and_then(Counter::read);
        let taken = after.zip(self.before).map(|(after, before)| after.saturating_sub(before));
        match (taken.filter(|taken| *taken > 0), self.samples.get_mut(at)) {
            (Some(taken), Some(place)) => *place = taken,
            _ => self.counter = None,
        }
    }

    fn samples(&self) -> Option<[u64; MAX_SAMPLES]> {
        self.counter.is_some().then_some(self.samples)
    }
}
