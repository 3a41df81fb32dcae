//! What a host may request from a root of trust that can reach all of its memory (SECURITY.md, "Requests of the
//! host").
//!
//! A request is checked in a copy that the host can no longer change. The code that serves it uses the
//! ranges that the check returns and nothing else of the request.

use super::Request;
use hartlock_verify::board::Region;

/// The operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Operation {
    /// SHA-256 (FIPS 180-4) of the input. The output is the digest.
    Sha256 = 1,
}

impl Operation {
    const fn from_number(number: u16) -> Option<Self> {
        match number {
            1 => Some(Self::Sha256),
            _ => None,
        }
    }

    /// Bytes of the output.
    pub const fn output_len(self) -> u64 {
        match self {
            Self::Sha256 => 32,
        }
    }
}

/// The only flag: the output goes into the answer, and the destination is zero.
pub const INLINE: u16 = 1;

/// Status of an answer beside those of [`Refusal`]: the request was permitted and could not be carried out. The engine
/// failed, or the host's memory refused an access or did not answer. Where the output goes is undefined then, and the
/// next request is served.
pub const ENGINE_FAILED: u8 = 0x80;

/// Why a request is not served. The numbers are those of the answer's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    /// There is no such operation.
    UnknownOperation = 1,
    /// An unknown flag, or an address that is not used.
    UnknownFlag = 2,
    /// More input than is served at once.
    TooLong = 3,
    /// Input or output are not in the host's memory, in whole or in part.
    OutsideMemory = 4,
    /// Input or output touch memory that the host's operating system must not reach, either.
    Protected = 5,
    /// The output would change the input.
    Overlap = 6,
}

/// Memory of the host, as far as requests are about it.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// All of it.
    pub memory: Region,
    /// The part of it that belongs to M-mode, or to the root of trust.
    pub protected: &'a [Region],
    /// Maximum number of bytes of an input: other requests wait meanwhile.
    pub max_input: u64,
}

/// A request that passed all checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permitted {
    /// What to do.
    pub operation: Operation,
    /// What to read, each byte once.
    pub input: Region,
    /// Where to write; `None`: into the answer.
    pub output: Option<Region>,
}

impl Limits<'_> {
    /// Checks a request.
    ///
    /// # Errors
    /// The first refusal in the order of their numbers.
    pub fn judge(&self, request: &Request) -> Result<Permitted, Refusal> {
        let operation =
            Operation::from_number(request.operation).ok_or(Refusal::UnknownOperation)?;
        let is_inline = request.flags == INLINE;
        if request.flags & !INLINE != 0 || is_inline && request.destination != 0 {
            return Err(Refusal::UnknownFlag);
        }
        let length = u64::from(request.length);
        if length > self.max_input {
            return Err(Refusal::TooLong);
        }
        let input = self.range(request.source, length)?;
        let output = match is_inline {
            true => None,
            false => Some(self.range(request.destination, operation.output_len())?),
        };
        for range in [Some(input), output].into_iter().flatten() {
            if self.protected.iter().any(|protected| protected.overlaps(&range)) {
                return Err(Refusal::Protected);
            }
        }
        if output.is_some_and(|output| output.overlaps(&input)) {
            return Err(Refusal::Overlap);
        }
        Ok(Permitted { operation, input, output })
    }

    /// A range of the memory. The end is computed without wrapping.
    fn range(&self, start: u64, len: u64) -> Result<Region, Refusal> {
        let end = start.checked_add(len).ok_or(Refusal::OutsideMemory)?;
        let range = Region { start, end };
        if self.memory.contains(&range) { Ok(range) } else { Err(Refusal::OutsideMemory) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROTECTED: Region = Region::new(0x8010_0000, 0x1000);
    const LIMITS: Limits<'_> = Limits {
        memory: Region::new(0x8000_0000, 0x100_0000),
        protected: &[PROTECTED],
        max_input: 0x10_0000,
    };
    const GOOD: Request = Request {
        operation: Operation::Sha256 as u16,
        flags: 0,
        id: 1,
        source: 0x8020_0000,
        destination: 0x8030_0000,
        length: 4096,
    };

    #[test]
    fn a_good_request_is_served_as_it_is() {
        let permitted = LIMITS.judge(&GOOD).unwrap();
        assert_eq!(permitted.input, Region::new(0x8020_0000, 4096));
        assert_eq!(permitted.output, Some(Region::new(0x8030_0000, 32)));
        let inline = Request { flags: INLINE, destination: 0, ..GOOD };
        assert_eq!(LIMITS.judge(&inline).unwrap().output, None);
        // Nothing is an input, too, and the ends of memory are memory.
        assert!(LIMITS.judge(&Request { length: 0, ..GOOD }).is_ok());
        assert!(LIMITS.judge(&Request { source: 0x80ff_f000, ..GOOD }).is_ok());
    }

    #[test]
    fn each_fault_has_its_refusal() {
        let end = 0x8100_0000;
        for (request, refusal) in [
            (Request { operation: 0, ..GOOD }, Refusal::UnknownOperation),
            (Request { operation: 2, ..GOOD }, Refusal::UnknownOperation),
            (Request { flags: 2, ..GOOD }, Refusal::UnknownFlag),
            (Request { flags: INLINE, ..GOOD }, Refusal::UnknownFlag),
            (Request { length: 0x10_0001, ..GOOD }, Refusal::TooLong),
            (Request { source: 0x7fff_ffff, ..GOOD }, Refusal::OutsideMemory),
            (Request { source: end - 4095, ..GOOD }, Refusal::OutsideMemory),
            (Request { source: u64::MAX - 10, ..GOOD }, Refusal::OutsideMemory),
            // Truncated to 32 bits, the address would be in memory.
            (Request { source: 0x1_8020_0000, ..GOOD }, Refusal::OutsideMemory),
            (Request { destination: end - 31, ..GOOD }, Refusal::OutsideMemory),
            (Request { destination: 0, ..GOOD }, Refusal::OutsideMemory),
            (Request { destination: u64::MAX, ..GOOD }, Refusal::OutsideMemory),
            (Request { source: PROTECTED.start - 4095, ..GOOD }, Refusal::Protected),
            (Request { source: PROTECTED.end - 1, ..GOOD }, Refusal::Protected),
            (Request { source: PROTECTED.start - 1, length: 0x2000, ..GOOD }, Refusal::Protected),
            (Request { destination: PROTECTED.start - 31, ..GOOD }, Refusal::Protected),
            (Request { destination: PROTECTED.end - 1, ..GOOD }, Refusal::Protected),
            (Request { destination: GOOD.source - 31, ..GOOD }, Refusal::Overlap),
            (Request { destination: GOOD.source + 4095, ..GOOD }, Refusal::Overlap),
        ] {
            assert_eq!(LIMITS.judge(&request), Err(refusal), "{request:x?}");
        }
    }

    #[test]
    fn ranges_that_touch_are_apart() {
        let before = Request { destination: GOOD.source - 32, ..GOOD };
        let after = Request { destination: GOOD.source + 4096, ..GOOD };
        let beside = Request { source: PROTECTED.start - 4096, ..GOOD };
        assert!([before, after, beside].iter().all(|it| LIMITS.judge(it).is_ok()));
    }
}
