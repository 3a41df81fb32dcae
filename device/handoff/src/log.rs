//! The measurement log (boot flow §3.5).

use hartlock_image::{HashId, PayloadType, Writer, bytes_at, is_zero, u32_at, u64_at};

/// Length in bytes of the log header, and of each entry.
pub const LOG_ENTRY_SIZE: usize = 128;
/// Maximum number of entries of the log.
pub const MAX_LOG_ENTRIES: usize = 511;
const TAG: &[u8; 16] = b"HARTLOCK-MLOG-v1";

/// The boot stage that wrote an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "the variants are the names of the stages")]
pub enum Stage {
    Rom = 1,
    Loader = 2,
}

impl Stage {
    /// Returns the stage with this number, or `None` if the number is unknown.
    pub fn from_number(number: u32) -> Option<Self> {
        [Stage::Rom, Stage::Loader].into_iter().find(|stage| *stage as u32 == number)
    }

    /// Returns the name of the stage in output and files.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Rom => "rom",
            Stage::Loader => "loader",
        }
    }
}

/// The step of a boot that an entry describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Step {
    /// The time from reset, or from entry into the stage, to the first read.
    Start = 1,
    /// The manifest was read and its signatures were verified.
    Signature = 2,
    /// The bytes of a payload arrived in memory.
    Read = 3,
    /// The digest of a payload was computed.
    Hash = 4,
    /// The digests were compared and the stage decided.
    Verdict = 5,
    /// The other harts were started.
    HartsStart = 6,
    /// The other harts were stopped.
    HartsStop = 7,
    /// A hart faulted or stalled.
    HartFault = 8,
    /// The device tree was edited, memory was wiped, and the stage jumped to the next one.
    Handover = 9,
    /// The stage refused to boot.
    Refusal = 10,
    /// The work of one hart on the digest of a payload.
    HashPart = 11,
    /// A hash implementation that a hart does not use, because its known answer was wrong or its
    /// instructions trapped.
    Kernel = 12,
    /// A payload was decrypted, by all harts that took part.
    Decrypt = 13,
}

impl Step {
    const ALL: [Step; 13] = [
        Step::Start,
        Step::Signature,
        Step::Read,
        Step::Hash,
        Step::Verdict,
        Step::HartsStart,
        Step::HartsStop,
        Step::HartFault,
        Step::Handover,
        Step::Refusal,
        Step::HashPart,
        Step::Kernel,
        Step::Decrypt,
    ];

    /// Returns the step with this number, or `None` if the number is unknown.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|step| *step as u32 == number)
    }

    /// Returns the name of the step in output and files.
    pub const fn name(self) -> &'static str {
        match self {
            Step::Start => "start",
            Step::Signature => "signature",
            Step::Read => "read",
            Step::Hash => "hash",
            Step::Verdict => "verdict",
            Step::HartsStart => "harts-start",
            Step::HartsStop => "harts-stop",
            Step::HartFault => "hart-fault",
            Step::Handover => "handover",
            Step::Refusal => "refusal",
            Step::HashPart => "hash-part",
            Step::Kernel => "implementation",
            Step::Decrypt => "decrypt",
        }
    }
}

/// A log entry: one step of a boot with its measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Stage that wrote the entry.
    pub stage: Stage,
    /// Step that the entry describes.
    pub step: Step,
    /// Payload that the step worked on, if any.
    pub payload: Option<PayloadType>,
    /// Number of the hash implementation (boot flow §3.5); 0 if none.
    pub kernel: u32,
    /// Bit mask of the harts that took part (bit i = hart i).
    pub harts: u64,
    /// Number of bytes that the step processed.
    pub bytes: u64,
    /// Start and end of the step in ticks of the `time` counter.
    pub time: (u64, u64),
    /// Start and end of the step in retired instructions (`instret`) of the boot hart.
    pub instret: (u64, u64),
    /// First 48 bytes of a digest. All bytes are zero if there is none.
    pub digest: [u8; 48],
    /// Hash that computed the digest, if there is one.
    pub hash: Option<HashId>,
    /// Number of the reason code; 0 if none.
    pub reason: u32,
    /// A value that depends on the step: security version, mask of harts, or ticks (table of steps
    /// in boot flow §3.5).
    pub value: u64,
}

impl Entry {
    /// Returns an entry whose measurements are all zero.
    pub const fn new(stage: Stage, step: Step) -> Self {
        Self {
            stage,
            step,
            payload: None,
            kernel: 0,
            harts: 0,
            bytes: 0,
            time: (0, 0),
            instret: (0, 0),
            digest: [0; 48],
            hash: None,
            reason: 0,
            value: 0,
        }
    }

    /// Parses an entry. Returns `None` if a number is unknown or the slice is too short.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let payload = match u32_at(bytes, 8)? {
            0 => None,
            number => Some(PayloadType::from_number(number)?),
        };
        let hash = match u32_at(bytes, 112)? {
            0 => None,
            number => Some(HashId::from_number(number)?),
        };
        Some(Self {
            stage: Stage::from_number(u32_at(bytes, 0)?)?,
            step: Step::from_number(u32_at(bytes, 4)?)?,
            payload,
            kernel: u32_at(bytes, 12)?,
            harts: u64_at(bytes, 16)?,
            bytes: u64_at(bytes, 24)?,
            time: (u64_at(bytes, 32)?, u64_at(bytes, 40)?),
            instret: (u64_at(bytes, 48)?, u64_at(bytes, 56)?),
            digest: bytes_at(bytes, 64)?,
            hash,
            reason: u32_at(bytes, 116)?,
            value: u64_at(bytes, 120)?,
        })
    }

    /// Encodes the entry.
    pub fn encode(&self) -> [u8; LOG_ENTRY_SIZE] {
        let mut bytes = [0; LOG_ENTRY_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put_u32(self.stage as u32);
        out.put_u32(self.step as u32);
        out.put_u32(self.payload.map_or(0, |kind| kind as u32));
        out.put_u32(self.kernel);
        out.put_u64(self.harts);
        out.put_u64(self.bytes);
        out.put_u64(self.time.0);
        out.put_u64(self.time.1);
        out.put_u64(self.instret.0);
        out.put_u64(self.instret.1);
        out.put(&self.digest);
        out.put_u32(self.hash.map_or(0, |hash| hash as u32));
        out.put_u32(self.reason);
        out.put_u64(self.value);
        bytes
    }
}

/// The header of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogHeader {
    /// Frequency of the `time` counter in ticks per second.
    pub ticks_per_second: u64,
    /// Number that differs between boots.
    pub generation: u64,
}

/// A measurement log in memory to which a stage appends entries.
#[derive(Debug)]
pub struct Log<'a> {
    memory: &'a mut [u8],
    count: usize,
}

impl<'a> Log<'a> {
    /// Starts an empty log in `memory`, which should have room for the header and at least one
    /// entry.
    pub fn start(memory: &'a mut [u8], header: &LogHeader) -> Self {
        memory.fill(0);
        let mut out = Writer::new(memory);
        out.put(TAG);
        out.put_u32(0);
        out.put_u32(LOG_ENTRY_SIZE as u32);
        out.put_u64(header.ticks_per_second);
        out.put_u64(header.generation);
        Self { memory, count: 0 }
    }

    /// Returns the number of entries that fit into the memory.
    fn capacity(&self) -> usize {
        (self.memory.len() / LOG_ENTRY_SIZE).saturating_sub(1).min(MAX_LOG_ENTRIES)
    }

    /// Appends an entry. If the log is full, the entry is dropped. The last slot is reserved for a
    /// refusal.
    pub fn push(&mut self, entry: &Entry) {
        let capacity = self.capacity();
        let reserved = usize::from(entry.step != Step::Refusal);
        if self.count.wrapping_add(reserved) >= capacity {
            return;
        }
        let next = self.count.wrapping_add(1);
        let at = next.wrapping_mul(LOG_ENTRY_SIZE);
        if let Some(place) =
            self.memory.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<LOG_ENTRY_SIZE>())
        {
            *place = entry.encode();
            self.count = next;
        }
        if let Some(place) = self.memory.get_mut(16..).and_then(|rest| rest.first_chunk_mut::<4>())
        {
            *place = (self.count as u32).to_le_bytes();
        }
    }
}

/// Parses a log and returns its header and an iterator over the well-formed entries. Returns `None`
/// if the header is malformed.
///
/// A log that Linux can write to is not authenticated. Treat its entries as information, not as
/// evidence.
pub fn entries(memory: &[u8]) -> Option<(LogHeader, impl Iterator<Item = Entry> + '_)> {
    let header: [u8; LOG_ENTRY_SIZE] = bytes_at(memory, 0)?;
    let is_log = bytes_at::<16>(&header, 0)? == *TAG
        && u32_at(&header, 20)? as usize == LOG_ENTRY_SIZE
        && is_zero(header.get(40..)?);
    let count = u32_at(&header, 16)? as usize;
    if !is_log || count > MAX_LOG_ENTRIES {
        return None;
    }
    let records = memory.get(LOG_ENTRY_SIZE..)?.as_chunks::<LOG_ENTRY_SIZE>().0;
    let header =
        LogHeader { ticks_per_second: u64_at(&header, 24)?, generation: u64_at(&header, 32)? };
    Some((header, records.iter().take(count).filter_map(|record| Entry::parse(record))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    const HEADER: LogHeader = LogHeader { ticks_per_second: 10_000_000, generation: 42 };

    fn entry(value: u64) -> Entry {
        Entry {
            payload: Some(PayloadType::Kernel),
            hash: Some(HashId::Sha384),
            time: (value, value + 1),
            value,
            ..Entry::new(Stage::Loader, Step::Hash)
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut memory = vec![0xaa; 1024];
        let mut log = Log::start(&mut memory, &HEADER);
        log.push(&entry(1));
        log.push(&entry(2));
        let (header, read) = entries(&memory).unwrap();
        assert_eq!(header, HEADER);
        assert_eq!(read.collect::<Vec<_>>(), [entry(1), entry(2)]);
    }

    #[test]
    fn a_full_log_keeps_a_place_for_the_refusal() {
        let mut memory = vec![0; 5 * LOG_ENTRY_SIZE];
        let mut log = Log::start(&mut memory, &HEADER);
        for value in 0..9 {
            log.push(&entry(value));
        }
        log.push(&Entry { reason: 301, ..Entry::new(Stage::Loader, Step::Refusal) });
        log.push(&Entry::new(Stage::Loader, Step::Refusal));
        let read: Vec<_> = entries(&memory).unwrap().1.collect();
        assert_eq!(read.len(), 4);
        assert_eq!(read[2], entry(2));
        assert_eq!((read[3].step, read[3].reason), (Step::Refusal, 301));
    }

    #[test]
    fn stages_and_steps_have_names_of_their_own() {
        assert_eq!([Stage::Rom, Stage::Loader].map(Stage::name), ["rom", "loader"]);
        let mut names = Step::ALL.map(Step::name);
        assert_eq!((names[0], names[7], names[11]), ("start", "hart-fault", "implementation"));
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn a_header_has_its_tag_its_size_and_zeros() {
        let mut memory = vec![0; 1024];
        Log::start(&mut memory, &HEADER).push(&entry(1));
        assert!(entries(&memory).is_some());
        for at in [0, 15, 20, 40, LOG_ENTRY_SIZE - 1] {
            memory[at] ^= 1;
            assert!(entries(&memory).is_none(), "byte {at}");
            memory[at] ^= 1;
        }
        for (count, is_some) in [(MAX_LOG_ENTRIES, true), (MAX_LOG_ENTRIES + 1, false)] {
            memory[16..20].copy_from_slice(&(count as u32).to_le_bytes());
            assert_eq!(entries(&memory).is_some(), is_some, "{count} entries");
        }
    }

    #[test]
    fn a_foreign_or_overlong_log_is_none() {
        let mut memory = vec![0; 1024];
        assert!(entries(&memory).is_none());
        let mut log = Log::start(&mut memory, &HEADER);
        log.push(&entry(1));
        memory[16..20].copy_from_slice(&600u32.to_le_bytes());
        assert!(entries(&memory).is_none());
        assert!(entries(&memory[..100]).is_none());
    }
}
