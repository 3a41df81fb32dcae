//! The hand-off block from the ROM to the loader (boot flow §3.4).

use hartlock_image::{
    Lifecycle, List, Name, Reason, TrustList, Writer, bytes_at, is_zero, u32_at, u64_at,
};

use crate::block;
use crate::log::{Entry, LOG_ENTRY_SIZE};

/// Length of the block in bytes.
pub const HANDOFF_SIZE: usize = 4096;
/// Maximum number of log entries of the ROM.
pub const MAX_ROM_ENTRIES: usize = 24;
const TAG: &[u8; 16] = b"HARTLOCK-HAND-v1";
const KEYS_AT: usize = 256;
const LOG_AT: usize = 768;
const DIGEST_AT: usize = 3840;

/// The contents of the hand-off block: keys, floors and harts. It is the only source of these
/// values for the loader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handoff {
    /// Number that differs between boots.
    pub generation: u64,
    /// Bit mask of the harts that reported to the ROM (bit i = hart i).
    pub harts: u64,
    /// Number of the hart that runs the loader.
    pub boot_hart: u64,
    /// Lowest security version of a system bundle that the device accepts.
    pub system_floor: u64,
    /// Security version of the boot bundle that was verified.
    pub boot_version: u64,
    /// State of the device.
    pub lifecycle: Lifecycle,
    /// Keys and policy for the system bundle.
    pub trust: TrustList,
    /// Name of this board.
    pub board: Name,
    /// Name of this SoC.
    pub soc: Name,
    /// SHA-384 digest of the signed region of the boot bundle.
    pub boot_digest: [u8; 48],
    /// Log entries of the ROM.
    pub log: List<Entry, MAX_ROM_ENTRIES>,
}

impl Handoff {
    /// Parses the block and checks its digest.
    ///
    /// # Errors
    /// `HandoffInvalid` if the block is not well formed.
    pub fn parse(bytes: &[u8]) -> Result<Self, Reason> {
        Self::read(bytes).ok_or(Reason::HandoffInvalid)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let block = bytes.first_chunk::<HANDOFF_SIZE>()?;
        let reserved = [block.get(80..96)?, block.get(208..KEYS_AT)?];
        let is_sound = block::is_intact(block, TAG, DIGEST_AT)
            && reserved.into_iter().all(is_zero)
            && u64_at(block, 16)? == HANDOFF_SIZE as u64;
        let log_count = u32_at(block, 76)? as usize;
        if !is_sound || log_count > MAX_ROM_ENTRIES {
            return None;
        }
        let mut log = List::new();
        let records = block.get(LOG_AT..DIGEST_AT)?.as_chunks::<LOG_ENTRY_SIZE>().0;
        for (index, record) in records.iter().enumerate() {
            let is_right = match index < log_count {
                true => log.push(Entry::parse(record)?),
                false => is_zero(record),
            };
            if !is_right {
                return None;
            }
        }
        let harts = u64_at(block, 32)?;
        let boot_hart = u64_at(block, 40)?;
        let boot_bit = 1u64.checked_shl(u32::try_from(boot_hart).ok()?)?;
        if harts & boot_bit == 0 {
            return None;
        }
        Some(Self {
            generation: u64_at(block, 24)?,
            harts,
            boot_hart,
            system_floor: u64_at(block, 48)?,
            boot_version: u64_at(block, 56)?,
            lifecycle: Lifecycle::from_number(u32_at(block, 64)?)?,
            trust: block::read_trust(block, 68, 72, KEYS_AT)?,
            board: block::read_name(block, 96)?,
            soc: block::read_name(block, 128)?,
            boot_digest: bytes_at(block, 160)?,
            log,
        })
    }

    /// Encodes the block and returns its SHA-384 digest.
    pub fn encode(&self, block: &mut [u8; HANDOFF_SIZE]) -> [u8; 48] {
        block.fill(0);
        let mut out = Writer::new(block);
        out.put(TAG);
        out.put_u64(HANDOFF_SIZE as u64);
        out.put_u64(self.generation);
        out.put_u64(self.harts);
        out.put_u64(self.boot_hart);
        out.put_u64(self.system_floor);
        out.put_u64(self.boot_version);
        out.put_u32(self.lifecycle as u32);
        out.put_u32(self.trust.policy.number());
        out.put_u32(self.trust.keys.len() as u32);
        out.put_u32(self.log.len() as u32);
        out.put(&[0; 16]);
        out.put(self.board.field());
        out.put(self.soc.field());
        out.put(&self.boot_digest);
        out.put(&[0; 48]);
        block::put_keys(&mut out, &self.trust);
        for entry in self.log.iter() {
            out.put(&entry.encode());
        }
        block::seal(block, DIGEST_AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Stage, Step};
    use hartlock_image::{KeyRecord, Policy};

    fn example() -> Handoff {
        let key = KeyRecord { algorithm: 1, parameters: 0, key_id: [5; 48] };
        Handoff {
            generation: 77,
            harts: 0b11011,
            boot_hart: 0,
            system_floor: 3,
            boot_version: 9,
            lifecycle: Lifecycle::Production,
            trust: TrustList { policy: Policy::Any, keys: [key].into_iter().collect() },
            board: Name::new("qemu-virt").unwrap(),
            soc: Name::new("virt").unwrap(),
            boot_digest: [0xd1; 48],
            log: [Entry::new(Stage::Rom, Step::Start)].into_iter().collect(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut block = [0xee; HANDOFF_SIZE];
        example().encode(&mut block);
        assert_eq!(Handoff::parse(&block), Ok(example()));
    }

    #[test]
    fn refuses_every_flipped_bit() {
        let mut good = [0; HANDOFF_SIZE];
        example().encode(&mut good);
        for bit in 0..good.len() * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Handoff::parse(&bad), Err(Reason::HandoffInvalid), "bit {bit}");
        }
    }

    #[test]
    fn refuses_bytes_in_places_of_the_log_that_are_not_used() {
        let mut block = [0; HANDOFF_SIZE];
        example().encode(&mut block);
        for at in [LOG_AT + LOG_ENTRY_SIZE, DIGEST_AT - 1] {
            let mut bad = block;
            bad[at] = 1;
            block::seal(&mut bad, DIGEST_AT);
            assert_eq!(Handoff::parse(&bad), Err(Reason::HandoffInvalid), "byte {at}");
        }
    }

    #[test]
    fn takes_a_full_log_and_refuses_the_number_of_a_longer_one() {
        let entry = Entry::new(Stage::Rom, Step::Start);
        let full = Handoff { log: [entry; MAX_ROM_ENTRIES].into_iter().collect(), ..example() };
        let mut block = [0; HANDOFF_SIZE];
        full.encode(&mut block);
        assert_eq!(Handoff::parse(&block), Ok(full));
        for count in [MAX_ROM_ENTRIES as u32 + 1, MAX_ROM_ENTRIES as u32 + 2, u32::MAX] {
            block[76..80].copy_from_slice(&count.to_le_bytes());
            block::seal(&mut block, DIGEST_AT);
            assert_eq!(Handoff::parse(&block), Err(Reason::HandoffInvalid), "{count} entries");
        }
    }

    #[test]
    fn refuses_a_boot_hart_that_did_not_report() {
        let mut block = [0; HANDOFF_SIZE];
        for boot_hart in [2, 63, 64, u64::MAX] {
            Handoff { boot_hart, ..example() }.encode(&mut block);
            assert_eq!(Handoff::parse(&block), Err(Reason::HandoffInvalid), "hart {boot_hart}");
        }
    }
}
