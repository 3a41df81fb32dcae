//! Physical memory protection of M-mode (RISC-V Privileged Architecture §3.7). Of all entries that match,
//! the one with the lowest number decides, and it restricts M-mode only if it is locked. An access that no
//! entry matches succeeds.

const ENTRIES: usize = 16;
const LOCKED: u8 = 0x80;
const TOR: u8 = 1;
const NA4: u8 = 2;
const NAPOT: u8 = 3;

/// Bits of a configuration that allow an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PmpAccess {
    /// A load.
    Read = 1,
    /// A store.
    Write = 2,
    /// An instruction fetch.
    Execute = 4,
}

/// The PMP entries of a hart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pmp {
    configurations: [u8; ENTRIES],
    addresses: [u64; ENTRIES],
    restricts_data: bool,
}

impl Pmp {
    /// Returns eight configuration bytes, from entry `8 * half` on.
    pub fn configuration(&self, half: usize) -> u64 {
        let bytes = self.configurations.as_chunks::<8>().0;
        bytes.get(half).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Writes eight configuration bytes; those that are locked keep their value.
    pub fn configure(&mut self, half: usize, value: u64) {
        let places = self.configurations.iter_mut().skip(8 * half);
        for (place, byte) in places.zip(value.to_le_bytes()) {
            if *place & LOCKED == 0 {
                *place = byte & 0x9f;
            }
        }
        let is_restricted = |byte: &u8| byte & LOCKED != 0 && byte & 3 != 3;
        self.restricts_data = self.configurations.iter().any(is_restricted);
    }

    /// Returns the address register of an entry.
    pub fn address(&self, entry: usize) -> u64 {
        self.addresses[entry % ENTRIES]
    }

    /// Writes the address register of an entry, unless the entry is locked or is the lower bound of a
    /// locked range.
    pub fn set_address(&mut self, entry: usize, value: u64) {
        let configuration = |entry: usize| self.configurations.get(entry).copied().unwrap_or(0);
        let bounds_locked = |byte: u8| byte & LOCKED != 0 && byte >> 3 & 3 == TOR;
        if configuration(entry) & LOCKED == 0 && !bounds_locked(configuration(entry + 1)) {
            self.addresses[entry % ENTRIES] = value & ((1 << 54) - 1);
        }
    }

    /// Returns true if an entry can make a load or store fail.
    pub fn restricts_data(&self) -> bool {
        self.restricts_data
    }

    /// Returns true if M-mode may execute the instruction at this address.
    pub fn is_executable(&self, address: u64) -> bool {
        self.allows(address, PmpAccess::Execute)
    }

    /// Returns true if M-mode may make this access. Only the first byte of the access is checked.
    pub fn allows(&self, address: u64, access: PmpAccess) -> bool {
        let matching = (0..ENTRIES).find(|entry| self.matches(*entry, address));
        let Some(configuration) = matching.map(|entry| self.configurations[entry]) else {
            return true;
        };
        configuration & LOCKED == 0 || configuration & access as u8 != 0
    }

    fn matches(&self, entry: usize, address: u64) -> bool {
        let word = address >> 2;
        let end = self.addresses[entry];
        match self.configurations[entry] >> 3 & 3 {
            TOR => {
                let start = entry.checked_sub(1).map_or(0, |below| self.addresses[below]);
                (start..end).contains(&word)
            }
            NA4 => word == end,
            NAPOT => {
                // The lowest 0 of the register and the 1s below it encode the size of the range.
                let inside = end ^ end.wrapping_add(1);
                (word ^ end) & !inside == 0
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_entry_binds_and_one_before_it_lifts_it() {
        let mut pmp = Pmp::default();
        assert!(pmp.is_executable(0x8000_0000));
        // Entry 15 matches all memory, is locked, and forbids execution. Entry 14 matches 64 KiB of that
        // memory.
        pmp.set_address(15, u64::MAX);
        pmp.set_address(14, 0x8000_0000 >> 2 | 0x1fff);
        pmp.configure(1, 0x9b << 56 | 0x18 << 48);
        assert!(pmp.is_executable(0x8000_fffe));
        assert!(!pmp.is_executable(0x8001_0000));
        assert!(pmp.allows(0x8001_0000, PmpAccess::Write));
        // A locked entry cannot be changed back.
        pmp.configure(1, 0);
        pmp.set_address(15, 0);
        assert!(!pmp.is_executable(0x8000_0000));
    }

    #[test]
    fn ranges_end_where_the_next_one_starts() {
        let mut pmp = Pmp::default();
        pmp.set_address(0, 0x1000 >> 2);
        pmp.set_address(1, 0x2000 >> 2);
        pmp.configure(0, u64::from(LOCKED | TOR << 3) << 8);
        assert!(pmp.restricts_data());
        let is_allowed = |address| pmp.allows(address, PmpAccess::Read);
        assert!(is_allowed(0xffc) && !is_allowed(0x1000) && !is_allowed(0x1ffc));
        assert!(is_allowed(0x2000));
        // The address register of the lower bound of a locked range is also locked.
        pmp.set_address(0, 0);
        assert_eq!(pmp.address(0), 0x1000 >> 2);
    }
}
