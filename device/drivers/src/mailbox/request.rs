//! Requests of a host to a root of trust that can access all of the host's memory (`docs/security/root-of-trust.md`,
//! "Requests of the host").
//!
//! A request is checked in a copy that the host cannot change. The code that serves it uses only the ranges that the
//! check returns.

use super::Request;
use hartlock_image::RequestReason;
use hartlock_verify::board::Region;

/// Maximum length in bytes of a record for an operation with a key (`hartlock_keystore`).
pub const MAX_RECORD_LEN: usize = TEXT_AT + MAX_TEXT_LEN + TAG_LEN;
/// Offset in bytes of the additional data and the text in a record.
pub const TEXT_AT: usize = 24;
/// Maximum length in bytes of text and additional data together.
pub const MAX_TEXT_LEN: usize = 4096;
/// Length of a GCM tag in bytes.
pub const TAG_LEN: usize = 16;
/// Length in bytes of a signature and of the modulus.
pub const SIGNATURE_LEN: usize = 256;

/// The operations that a host can request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Operation {
    /// SHA-256 (FIPS 180-4) of the input. The output is the digest.
    Sha256 = 1,
    /// Unwraps a key and stores it. The answer contains the handle of the key.
    ImportKey = 2,
    /// Erases a key.
    ReleaseKey = 3,
    /// Encrypts with AES-256 and the key of a handle.
    Encrypt = 4,
    /// Decrypts with AES-256 and the key of a handle.
    Decrypt = 5,
    /// Signs a digest with the key of a handle.
    Sign = 6,
    /// Verifies the signature of a digest with the key of a handle.
    Verify = 7,
}

/// The place for the output of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Memory or the answer, as the request selects.
    Either,
    /// The answer, which holds one word or none.
    Answer,
    /// Memory.
    Memory,
}

impl Operation {
    /// Returns the operation with this number, or `None` if there is none.
    #[must_use]
    pub const fn from_number(number: u16) -> Option<Self> {
        match number {
            1 => Some(Self::Sha256),
            2 => Some(Self::ImportKey),
            3 => Some(Self::ReleaseKey),
            4 => Some(Self::Encrypt),
            5 => Some(Self::Decrypt),
            6 => Some(Self::Sign),
            7 => Some(Self::Verify),
            _ => None,
        }
    }

    /// Returns true if the operation needs keys. Its input is a record, which is copied as a whole before it is checked
    /// (`hartlock_keystore`).
    #[must_use]
    pub const fn is_by_key(self) -> bool {
        !matches!(self, Self::Sha256)
    }

    const fn place(self) -> Place {
        match self {
            Self::Sha256 => Place::Either,
            Self::ImportKey | Self::ReleaseKey | Self::Verify => Place::Answer,
            Self::Encrypt | Self::Decrypt | Self::Sign => Place::Memory,
        }
    }

    /// Returns the number of bytes that the destination must have for an input of `length` bytes.
    const fn output_len(self, length: u64) -> u64 {
        match self {
            Self::Sha256 => 32,
            Self::Sign => SIGNATURE_LEN as u64,
            // A record contains more bytes besides the text than the tag that encryption adds.
            Self::Encrypt | Self::Decrypt => length,
            Self::ImportKey | Self::ReleaseKey | Self::Verify => 0,
        }
    }
}

/// The only flag: the output is written into the answer, and the destination is zero.
pub const INLINE: u16 = 1;

/// Status of an answer, in addition to those of [`Refusal`]: the request was permitted and could not be carried out,
/// because the engine failed, or because the host's memory refused an access or did not respond. The contents of the
/// destination are undefined then, and the next request is served.
pub const ENGINE_FAILED: u8 = 0x80;

/// The reason why a request is refused. The numbers are the status values of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    /// There is no such operation.
    UnknownOperation = 1,
    /// A flag is unknown or not permitted for the operation, or the destination is not zero although the output is
    /// written into the answer.
    UnknownFlag = 2,
    /// The input is longer than the maximum.
    TooLong = 3,
    /// Input or output is not completely in the host's memory.
    OutsideMemory = 4,
    /// Input or output overlaps memory that the host's operating system must not access, either.
    Protected = 5,
    /// The output overlaps the input.
    Overlap = 6,
    /// The key slot is empty, or an engine is missing.
    NoKeys = 7,
    /// The record is malformed.
    Malformed = 8,
    /// A wrapped key was not wrapped for this device.
    KeyNotAuthentic = 9,
    /// An unwrapped key is malformed.
    KeyMalformed = 10,
    /// All handles are in use.
    NoFreeHandle = 11,
    /// There is no key with this handle.
    UnknownHandle = 12,
    /// The key does not permit this operation.
    KeyUse = 13,
    /// The quota of operations per boot is used up.
    QuotaSpent = 14,
    /// The tag of a ciphertext is wrong.
    TextNotAuthentic = 15,
    /// The signature is wrong.
    SignatureNotAuthentic = 16,
    /// An engine or memory failed.
    Failed = ENGINE_FAILED,
}

impl Refusal {
    /// Returns the entry of this refusal in the list of reasons.
    #[must_use]
    pub const fn reason(self) -> RequestReason {
        match self {
            Self::UnknownOperation => RequestReason::UnknownOperation,
            Self::UnknownFlag => RequestReason::UnknownFlag,
            Self::TooLong => RequestReason::RequestTooLong,
            Self::OutsideMemory => RequestReason::OutsideHostMemory,
            Self::Protected => RequestReason::ProtectedMemory,
            Self::Overlap => RequestReason::OutputOverInput,
            Self::NoKeys => RequestReason::NoKeys,
            Self::Malformed => RequestReason::RecordMalformed,
            Self::KeyNotAuthentic => RequestReason::KeyNotAuthentic,
            Self::KeyMalformed => RequestReason::KeyMalformed,
            Self::NoFreeHandle => RequestReason::NoFreeHandle,
            Self::UnknownHandle => RequestReason::UnknownHandle,
            Self::KeyUse => RequestReason::KeyUse,
            Self::QuotaSpent => RequestReason::QuotaSpent,
            Self::TextNotAuthentic => RequestReason::TextNotAuthentic,
            Self::SignatureNotAuthentic => RequestReason::SignatureNotAuthentic,
            Self::Failed => RequestReason::RequestFailed,
        }
    }
}

/// Limits for the memory ranges in requests of the host.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Whole memory of the host.
    pub memory: Region,
    /// Regions of it that belong to M-mode or to the root of trust.
    pub protected: &'a [Region],
    /// Maximum length in bytes of an input without a key, because other requests have to wait.
    pub max_input: u64,
    /// True if operations with keys are available.
    pub has_keys: bool,
}

/// A request that has passed all checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permitted {
    /// Operation to carry out.
    pub operation: Operation,
    /// Range of the input, of which each byte is read once.
    pub input: Region,
    /// Range of the output, or `None` if the output is written into the answer.
    pub output: Option<Region>,
}

impl Limits<'_> {
    /// Checks a request.
    ///
    /// # Errors
    /// The first refusal that applies, in the order of their numbers.
    pub fn judge(&self, request: &Request) -> Result<Permitted, Refusal> {
        let operation = Operation::from_number(request.operation)
            .filter(|operation| self.has_keys || !operation.is_by_key())
            .ok_or(Refusal::UnknownOperation)?;
        let is_inline = request.flags == INLINE;
        let is_wrong_place = match operation.place() {
            Place::Either => false,
            Place::Answer => !is_inline,
            Place::Memory => is_inline,
        };
        if request.flags & !INLINE != 0 || is_wrong_place || is_inline && request.destination != 0 {
            return Err(Refusal::UnknownFlag);
        }
        let length = u64::from(request.length);
        let max_input = if operation.is_by_key() { MAX_RECORD_LEN as u64 } else { self.max_input };
        if length > max_input {
            return Err(Refusal::TooLong);
        }
        let input = self.range(request.source, length)?;
        let output = match is_inline {
            true => None,
            false => Some(self.range(request.destination, operation.output_len(length))?),
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

    /// Returns a range if it is inside the host's memory. The end is computed without wrapping.
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
        has_keys: true,
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
        // An empty input is valid, and so are inputs at both ends of the memory.
        assert!(LIMITS.judge(&Request { length: 0, ..GOOD }).is_ok());
        assert!(LIMITS.judge(&Request { source: 0x80ff_f000, ..GOOD }).is_ok());
    }

    #[test]
    fn each_fault_has_its_refusal() {
        let end = 0x8100_0000;
        for (request, refusal) in [
            (Request { operation: 0, ..GOOD }, Refusal::UnknownOperation),
            (Request { operation: 8, ..GOOD }, Refusal::UnknownOperation),
            (Request { flags: 2, ..GOOD }, Refusal::UnknownFlag),
            (Request { flags: INLINE, ..GOOD }, Refusal::UnknownFlag),
            (Request { length: 0x10_0001, ..GOOD }, Refusal::TooLong),
            (Request { source: 0x7fff_ffff, ..GOOD }, Refusal::OutsideMemory),
            (Request { source: end - 4095, ..GOOD }, Refusal::OutsideMemory),
            (Request { source: u64::MAX - 10, ..GOOD }, Refusal::OutsideMemory),
            // If the address were truncated to 32 bits, it would be in memory.
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

    /// Requests around every edge of the memory, with addresses that wrap, are compared with rules that are
    /// computed without wrapping: each byte that is read or written must be the host's.
    #[test]
    fn no_permitted_request_has_a_byte_that_is_closed() {
        let [memory, closed] = [LIMITS.memory, PROTECTED];
        let edges = [0, memory.start, closed.start, closed.end, memory.end, 1 << 32, u64::MAX];
        let steps = [-4097, -4096, -256, -255, -32, -31, -1, 0, 1, 32, 4096];
        let points: std::vec::Vec<u64> = edges
            .iter()
            .flat_map(|edge| steps.iter().map(|step| edge.wrapping_add_signed(*step)))
            .collect();
        let is_open = |start: u64, len: u128| {
            let (start, end) = (u128::from(start), u128::from(start) + len);
            let is_inside = u128::from(memory.start) <= start && end <= u128::from(memory.end);
            let has_closed = start < u128::from(closed.end) && u128::from(closed.start) < end;
            is_inside && (len == 0 || !has_closed)
        };
        let (mut permitted, mut refused) = (0, 0);
        for (operation, output) in
            [(1, Some(32)), (2, None), (4, Some(0)), (5, Some(0)), (6, Some(256))]
        {
            for length in [0, 1, 31, 32, 100, 4096, 0x2000, 0x10_0000, u32::MAX] {
                for source in &points {
                    for destination in &points {
                        let is_inline = output.is_none();
                        let request = Request {
                            operation,
                            flags: u16::from(is_inline),
                            source: *source,
                            destination: if is_inline { 0 } else { *destination },
                            length,
                            ..GOOD
                        };
                        if LIMITS.judge(&request).is_err() {
                            refused += 1;
                            continue;
                        }
                        permitted += 1;
                        let length = u128::from(length);
                        assert!(is_open(*source, length), "{request:x?}");
                        // Encryption and decryption write at most as much as they read.
                        let written = output.map(|len: u128| if len == 0 { length } else { len });
                        let is_harmless = written.is_none_or(|len| is_open(*destination, len));
                        assert!(is_harmless, "{request:x?}");
                    }
                }
            }
        }
        assert!(permitted > 1000 && refused > permitted, "{permitted} of {refused}");
    }

    /// The refusal is the same whatever other errors the request has.
    #[test]
    fn an_operation_that_is_not_offered_is_none() {
        let limits = Limits { has_keys: false, ..LIMITS };
        assert!(limits.judge(&GOOD).is_ok());
        for operation in 2..=7 {
            let request = Request { operation, flags: 2, source: 0, ..GOOD };
            assert_eq!(limits.judge(&request), Err(Refusal::UnknownOperation), "{operation}");
            assert_eq!(LIMITS.judge(&request), Err(Refusal::UnknownFlag), "{operation}");
        }
    }

    #[test]
    fn an_output_goes_where_its_operation_has_it() {
        assert_eq!(MAX_RECORD_LEN, 24 + 4096 + 16);
        let memory = Request { length: MAX_RECORD_LEN as u32, ..GOOD };
        let inline = Request { flags: INLINE, destination: 0, ..memory };
        for (operation, wrong, right) in [
            (Operation::ImportKey, memory, inline),
            (Operation::ReleaseKey, memory, inline),
            (Operation::Verify, memory, inline),
            (Operation::Encrypt, inline, memory),
            (Operation::Decrypt, inline, memory),
            (Operation::Sign, inline, memory),
        ] {
            let operation = operation as u16;
            let wrong = Request { operation, ..wrong };
            assert_eq!(LIMITS.judge(&wrong), Err(Refusal::UnknownFlag), "{operation}");
            let right = Request { operation, ..right };
            assert!(LIMITS.judge(&right).is_ok(), "{operation}");
            let long = Request { length: right.length + 1, ..right };
            assert_eq!(LIMITS.judge(&long), Err(Refusal::TooLong), "{operation}");
        }
    }

    #[test]
    fn an_output_has_room_for_all_of_it() {
        let request = |operation: Operation, destination| {
            LIMITS.judge(&Request { operation: operation as u16, length: 100, destination, ..GOOD })
        };
        let end = LIMITS.memory.end;
        for (operation, len) in
            [(Operation::Encrypt, 100), (Operation::Decrypt, 100), (Operation::Sign, 256)]
        {
            assert!(request(operation, end - len).is_ok());
            assert_eq!(request(operation, end - len + 1), Err(Refusal::OutsideMemory));
        }
    }

    #[test]
    fn a_status_has_a_number_of_the_list() {
        for (at, reason) in RequestReason::ALL.iter().enumerate() {
            let status =
                if *reason == RequestReason::RequestFailed { ENGINE_FAILED } else { at as u8 + 1 };
            let refusal = ALL.iter().find(|refusal| **refusal as u8 == status).unwrap();
            assert_eq!(refusal.reason(), *reason);
        }
        assert_eq!(ALL.len(), RequestReason::ALL.len());
    }

    const ALL: [Refusal; 17] = [
        Refusal::UnknownOperation,
        Refusal::UnknownFlag,
        Refusal::TooLong,
        Refusal::OutsideMemory,
        Refusal::Protected,
        Refusal::Overlap,
        Refusal::NoKeys,
        Refusal::Malformed,
        Refusal::KeyNotAuthentic,
        Refusal::KeyMalformed,
        Refusal::NoFreeHandle,
        Refusal::UnknownHandle,
        Refusal::KeyUse,
        Refusal::QuotaSpent,
        Refusal::TextNotAuthentic,
        Refusal::SignatureNotAuthentic,
        Refusal::Failed,
    ];

    #[test]
    fn ranges_that_touch_are_apart() {
        let before = Request { destination: GOOD.source - 32, ..GOOD };
        let after = Request { destination: GOOD.source + 4096, ..GOOD };
        let beside = Request { source: PROTECTED.start - 4096, ..GOOD };
        assert!([before, after, beside].iter().all(|it| LIMITS.judge(it).is_ok()));
    }
}
