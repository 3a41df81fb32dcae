//! The state record with floors, lifecycle and revoked root keys (boot flow §3.2).

use hartlock_image::{Lifecycle, Reason, Writer, bytes_at, is_zero, u32_at, u64_at};

use crate::secret::{self, KEY_SIZE};

/// Length of a state record in bytes.
pub const STATE_SIZE: usize = 128;
const TAG: &[u8; 16] = b"HARTLOCK-STAT-v1";
const TAG_AT: usize = 64;

/// The values that a device keeps from boot to boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRecord {
    /// Sequence number, at least 1. It grows with every write.
    pub sequence: u64,
    /// Lowest security version of a boot bundle that the device accepts.
    pub boot_floor: u64,
    /// Lowest security version of a system bundle that the device accepts.
    pub system_floor: u64,
    /// Lifecycle state of the device.
    pub lifecycle: Lifecycle,
    /// Bit mask of revoked keys. Bit i revokes key i of the root-of-trust block.
    pub revoked_keys: u32,
}

impl StateRecord {
    /// Parses one copy. Returns `None` if the copy is not well formed, or if its tag does not verify under `key`.
    pub fn parse(bytes: &[u8], key: &[u8; KEY_SIZE]) -> Option<Self> {
        let block: [u8; STATE_SIZE] = bytes_at(bytes, 0)?;
        let (content, rest) = block.split_at_checked(TAG_AT)?;
        let (tag, padding) = rest.split_first_chunk()?;
        let is_authentic = secret::is_same(tag, &secret::hmac(key, &[content]));
        if !is_authentic || bytes_at::<16>(content, 0) != Some(*TAG) {
            return None;
        }
        if !is_zero(content.get(48..)?) || !is_zero(padding) {
            return None;
        }
        Self::fields(&block).filter(|record| record.sequence > 0)
    }

    /// Reads the fields of a copy that [`StateRecord::parse`] has accepted. Redundant checks use this second reading.
    #[inline(never)]
    pub fn fields(block: &[u8]) -> Option<Self> {
        Some(Self {
            sequence: u64_at(block, 16)?,
            boot_floor: u64_at(block, 24)?,
            system_floor: u64_at(block, 32)?,
            lifecycle: Lifecycle::from_number(u32_at(block, 40)?)?,
            revoked_keys: u32_at(block, 44)?,
        })
    }

    /// Returns the valid copy with the higher sequence number, and its index.
    ///
    /// # Errors
    /// `CounterStoreInvalid` if neither copy is valid.
    pub fn choose(
        first: &[u8],
        second: &[u8],
        key: &[u8; KEY_SIZE],
    ) -> Result<(Self, usize), Reason> {
        match (Self::parse(first, key), Self::parse(second, key)) {
            (Some(first), Some(second)) if second.sequence > first.sequence => Ok((second, 1)),
            (Some(first), _) => Ok((first, 0)),
            (None, Some(second)) => Ok((second, 1)),
            (None, None) => Err(Reason::CounterStoreInvalid),
        }
    }

    /// Encodes the record with a tag under `key`.
    pub fn encode(&self, key: &[u8; KEY_SIZE]) -> [u8; STATE_SIZE] {
        let mut bytes = [0; STATE_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put(TAG);
        out.put_u64(self.sequence);
        out.put_u64(self.boot_floor);
        out.put_u64(self.system_floor);
        out.put_u32(self.lifecycle as u32);
        out.put_u32(self.revoked_keys);
        if let Some((content, rest)) = bytes.split_at_mut_checked(TAG_AT)
            && let Some(place) = rest.first_chunk_mut()
        {
            *place = secret::hmac(key, &[content]);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; KEY_SIZE] = [0x42; KEY_SIZE];

    fn record(sequence: u64) -> StateRecord {
        StateRecord {
            sequence,
            boot_floor: 3,
            system_floor: 7,
            lifecycle: Lifecycle::Production,
            revoked_keys: 0b10,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(StateRecord::parse(&record(1).encode(&KEY), &KEY), Some(record(1)));
        assert_eq!(
            StateRecord::parse(&record(0).encode(&KEY), &KEY),
            None,
            "sequence 0 is never written"
        );
    }

    #[test]
    fn the_higher_sequence_counts_and_a_torn_copy_does_not() {
        let (old, new) = (record(4).encode(&KEY), record(5).encode(&KEY));
        assert_eq!(StateRecord::choose(&old, &new, &KEY), Ok((record(5), 1)));
        assert_eq!(StateRecord::choose(&new, &old, &KEY), Ok((record(5), 0)));
        assert_eq!(StateRecord::choose(&new, &new, &KEY), Ok((record(5), 0)));
        for torn_at in 0..STATE_SIZE {
            let mut torn = [0xff; STATE_SIZE];
            torn[..torn_at].copy_from_slice(&new[..torn_at]);
            if torn[..] != new[..] {
                assert_eq!(StateRecord::choose(&old, &torn, &KEY), Ok((record(4), 0)), "{torn_at}");
            }
        }
        let erased = [0xff; STATE_SIZE];
        assert_eq!(StateRecord::choose(&erased, &[0; 128], &KEY), Err(Reason::CounterStoreInvalid));
    }

    #[test]
    fn refuses_every_flipped_bit() {
        let good = record(9).encode(&KEY);
        for bit in 0..good.len() * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(StateRecord::parse(&bad, &KEY), None, "bit {bit}");
        }
    }

    #[test]
    fn refuses_a_record_of_another_device() {
        let bytes = record(9).encode(&[0x43; KEY_SIZE]);
        assert_eq!(StateRecord::parse(&bytes, &KEY), None);
        // This record is made without a key, as an attacker can do it: it has a digest in place of the tag.
        let mut bytes = record(9).encode(&KEY);
        crate::block::seal(&mut bytes, TAG_AT);
        assert_eq!(StateRecord::parse(&bytes, &KEY), None);
    }
}
