//! Answers a stream of lines. Lines are read, answered and written in batches of bounded size, so that the
//! memory does not grow with the number of lines.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::Engine;
use crate::host::line::{MAX_LINE_LEN, ParsedCase, Reply, Verdict, parse, too_long};
use crate::host::reply;

/// Maximum number of bytes that the cases of a batch and their answers hold before the last line of the
/// batch is read. A batch ends with the line that reaches this limit.
const MAX_HELD: u64 = 48 << 20;
/// Number of bytes that each line takes in addition to its text and its output: the case, the answer, and
/// the allocations of both.
const HELD_BY_EACH: u64 = 512;
/// Maximum memory of [`run`] with [`Threads`] in bytes, for any input: a batch, which ends with a line of
/// [`MAX_LINE_LEN`] bytes with its text, its values and its answer.
pub const MAX_MEMORY: u64 = 144 << 20;

/// A backend that answers batches of cases in order.
pub trait Backend {
    /// The error of a batch that could not be answered.
    type Error;

    /// Returns the maximum number of bytes of lines in a batch.
    fn batch_size(&self) -> usize;

    /// Returns true if available lines should wait until a batch is full, because starting takes longer
    /// than answering them.
    fn is_slow_to_start(&self) -> bool {
        false
    }

    /// Answers the cases: returns one reply for each, in order.
    ///
    /// # Errors
    /// If the backend cannot answer, for a reason that does not belong to a case.
    fn answer(&mut self, cases: &[ParsedCase]) -> Result<Vec<Reply>, Self::Error>;
}

/// A backend that answers on the threads of this machine.
#[derive(Debug)]
pub struct Threads {
    /// The engine that answers.
    pub engine: Engine,
    /// Number of threads.
    pub count: usize,
}

impl Backend for Threads {
    type Error = std::convert::Infallible;

    fn batch_size(&self) -> usize {
        8 << 20
    }

    fn answer(&mut self, cases: &[ParsedCase]) -> Result<Vec<Reply>, Self::Error> {
        if self.count < 2 || cases.len() < 2 {
            return Ok(cases.iter().map(|case| reply(&self.engine, case)).collect());
        }
        // The cost of cases differs by a factor of a thousand, so each thread takes the next case when
        // it is free.
        let next = AtomicUsize::new(0);
        let mut replies: Vec<(usize, Reply)> = thread::scope(|scope| {
            let work = || {
                let mut done = Vec::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { return done };
                    done.push((index, reply(&self.engine, case)));
                }
            };
            let others: Vec<_> = (1..self.count).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                match other.join() {
                    Ok(done) => all.extend(done),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        });
        replies.sort_unstable_by_key(|(index, _)| *index);
        Ok(replies.into_iter().map(|(_, reply)| reply).collect())
    }
}

/// The number of lines with each result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The counts in the order of [`Verdict`].
    counts: [u64; 5],
}

impl Tally {
    /// Returns the number of all lines.
    pub fn lines(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of lines with this result.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.counts[verdict as usize]
    }
}

/// The reason why a stream was not answered to its end.
#[derive(Debug)]
pub enum Error<E> {
    /// The input cannot be read.
    Input(io::Error),
    /// The output cannot be written.
    Output(io::Error),
    /// The backend cannot answer.
    Backend(E),
}

/// Answers every line of `input`, in order. `on_progress` receives the number of input bytes that were
/// answered.
///
/// # Errors
/// If a line cannot be read, answered or written. The answers before it are written.
pub fn run<B: Backend>(
    backend: &mut B,
    input: &mut BufReader<impl Read>,
    output: &mut impl Write,
    mut on_progress: impl FnMut(u64),
) -> Result<Tally, Error<B::Error>> {
    let mut tally = Tally::default();
    let mut done = 0;
    loop {
        let batch = Batch::read(backend, input).map_err(Error::Input)?;
        if batch.lines.is_empty() {
            output.flush().map_err(Error::Output)?;
            return Ok(tally);
        }
        let replies = backend.answer(&batch.cases).map_err(Error::Backend)?;
        let mut replies = replies.into_iter();
        for line in batch.lines {
            let reply = match line {
                Some(reply) => *reply,
                None => replies.next().unwrap_or_else(|| Reply::error("", "there is no answer")),
            };
            tally.counts[reply.result as usize] += 1;
            writeln!(output, "{}", reply.to_json()).map_err(Error::Output)?;
        }
        output.flush().map_err(Error::Output)?;
        done += batch.size;
        on_progress(done);
    }
}

/// A batch of lines that are answered together.
#[derive(Default)]
struct Batch {
    cases: Vec<ParsedCase>,
    /// The answer of each line that could not be read, or `None` if the line is the next case of `cases`.
    lines: Vec<Option<Box<Reply>>>,
    /// Number of bytes of input.
    size: u64,
    /// Number of bytes of memory, including those of the answers to come.
    held: u64,
}

impl Batch {
    fn read<B: Backend>(backend: &B, input: &mut BufReader<impl Read>) -> io::Result<Self> {
        let mut batch = Self::default();
        let mut line = Vec::new();
        while batch.size < backend.batch_size() as u64 && batch.held < MAX_HELD {
            line.clear();
            let size = read_line(input, &mut line)?;
            if size == 0 {
                break;
            }
            batch.size += size;
            let parsed = if line.len() > MAX_LINE_LEN { Err(too_long()) } else { parse(&line) };
            batch.held += HELD_BY_EACH;
            match parsed {
                Ok(case) => {
                    batch.held += case.held();
                    batch.cases.push(case);
                    batch.lines.push(None);
                }
                Err(reply) => {
                    batch.held += reply.id.len() as u64;
                    batch.lines.push(Some(reply));
                }
            }
            // The process at the other end of a pipe may wait for these answers before it sends another
            // line.
            if !backend.is_slow_to_start() && !input.buffer().contains(&b'\n') {
                break;
            }
        }
        Ok(batch)
    }
}

/// Reads a line without its end. At most a little more than [`MAX_LINE_LEN`] bytes are kept, and the rest
/// is skipped. Returns the number of bytes that were consumed.
fn read_line(input: &mut BufReader<impl Read>, line: &mut Vec<u8>) -> io::Result<u64> {
    let size = input.by_ref().take(MAX_LINE_LEN as u64 + 2).read_until(b'\n', line)? as u64;
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(size);
    }
    if line.len() <= MAX_LINE_LEN {
        return Ok(size);
    }
    Ok(size + input.skip_until(b'\n')? as u64)
}

#[cfg(test)]
mod tests;
