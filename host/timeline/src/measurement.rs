//! Reads the measurement log (boot flow §3.5) from the memory of a machine.

use hartlock_handoff::{Entry, Handoff, LogHeader, Stage, Step, entries};
use hartlock_image::Reason;

/// The frequency of `time` in QEMU's `virt` machine, 10 MHz. It is used only if there is no log,
/// whose header states the frequency.
const TICKS_PER_SECOND: u64 = 10_000_000;

/// Returns the reason with this number, as log entries carry it.
pub fn reason_of(number: u32) -> Option<Reason> {
    Reason::ALL.iter().copied().find(|reason| *reason as u32 == number)
}

/// The place where entries were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The measurement log.
    Log,
    /// The hand-off block, because the loader has not begun a log.
    Handoff,
}

/// The measurements of the boot stages in one boot.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// The place where the entries were found.
    pub source: Source,
    /// The header of the log: ticks of `time` per second, and the number of this boot.
    pub header: LogHeader,
    /// The entries in the order of time.
    pub entries: Vec<Entry>,
}

impl Measurements {
    /// Reads the entries from the measurement log, or else from the hand-off block; returns `None`
    /// if neither holds entries.
    ///
    /// A ROM that refuses writes its own log to the place of the measurement log. If a machine
    /// stopped between ROM and loader, only the hand-off block holds entries.
    pub fn read(log: &[u8], handoff: &[u8]) -> Option<Self> {
        if let Some((header, entries)) = entries(log)
            // Ticks are divided by this value later.
            && header.ticks_per_second > 0
        {
            return Some(Self { source: Source::Log, header, entries: entries.collect() });
        }
        let handoff = Handoff::parse(handoff).ok()?;
        Some(Self {
            source: Source::Handoff,
            header: LogHeader {
                ticks_per_second: TICKS_PER_SECOND,
                generation: handoff.generation,
            },
            entries: handoff.log.iter().copied().collect(),
        })
    }

    /// Returns the stage and the reason of the refusal that ended the boot, if there is one.
    pub fn refusal(&self) -> Option<(Stage, Reason)> {
        let entry = self.entries.iter().rev().find(|entry| entry.step == Step::Refusal)?;
        // An entry with an unknown code is a refusal too.
        let reason = reason_of(entry.reason).unwrap_or(Reason::InternalLimit);
        Some((entry.stage, reason))
    }

    /// Returns true if the loader handed over to the system.
    pub fn is_handed_over(&self) -> bool {
        let is_handover =
            |entry: &Entry| (entry.stage, entry.step) == (Stage::Loader, Step::Handover);
        self.entries.iter().any(is_handover) && self.refusal().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartlock_handoff::{HANDOFF_SIZE, Log};
    use hartlock_image::{KeyRecord, Lifecycle, Name, Policy, TrustList};

    fn log(entries: &[Entry]) -> Vec<u8> {
        let mut memory = vec![0; 4096];
        let header = LogHeader { ticks_per_second: 10, generation: 3 };
        let mut log = Log::start(&mut memory, &header);
        entries.iter().for_each(|entry| log.push(entry));
        memory
    }

    fn handoff() -> [u8; HANDOFF_SIZE] {
        let key = KeyRecord { algorithm: 1, parameters: 0, key_id: [5; 48] };
        let mut block = [0; HANDOFF_SIZE];
        let handoff = Handoff {
            generation: 77,
            harts: 1,
            boot_hart: 0,
            system_floor: 0,
            boot_version: 1,
            lifecycle: Lifecycle::Development,
            trust: TrustList { policy: Policy::Any, keys: [key].into_iter().collect() },
            board: Name::new("qemu-virt").unwrap(),
            soc: Name::new("virt").unwrap(),
            boot_digest: [0; 48],
            log: [Entry::new(Stage::Rom, Step::Start)].into_iter().collect(),
        };
        handoff.encode(&mut block);
        block
    }

    #[test]
    fn the_log_comes_first_then_the_hand_off_block_then_nothing() {
        let full = log(&[Entry::new(Stage::Loader, Step::Start)]);
        let read = Measurements::read(&full, &handoff()).unwrap();
        assert_eq!((read.source, read.header.generation), (Source::Log, 3));
        let read = Measurements::read(&[0; 4096], &handoff()).unwrap();
        assert_eq!((read.source, read.header.generation), (Source::Handoff, 77));
        assert_eq!(read.entries.len(), 1);
        assert_eq!(Measurements::read(&[0; 4096], &[0; HANDOFF_SIZE]), None);
    }

    #[test]
    fn a_log_without_a_rate_is_not_used() {
        let mut memory = log(&[Entry::new(Stage::Loader, Step::Start)]);
        memory[24..32].fill(0);
        assert_eq!(Measurements::read(&memory, &[]), None);
    }

    #[test]
    fn a_refusal_after_the_handover_entry_counts() {
        let handover = Entry::new(Stage::Loader, Step::Handover);
        let read = Measurements::read(&log(&[handover]), &[]).unwrap();
        assert!(read.is_handed_over());
        let refusal = Entry { reason: 910, ..Entry::new(Stage::Loader, Step::Refusal) };
        let read = Measurements::read(&log(&[handover, refusal]), &[]).unwrap();
        assert!(!read.is_handed_over());
        assert_eq!(read.refusal().unwrap().1, Reason::VerdictNotConfirmed);
    }
}
