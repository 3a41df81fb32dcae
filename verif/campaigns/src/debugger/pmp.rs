//! Reads the PMP registers of every hart through the debug stub.

use anyhow::Result;

use super::Debugger;

const PMPCFG0: u32 = 0x3a0;
const PMPCFG2: u32 = 0x3a2;
const PMPADDR0: u32 = 0x3b0;
const ENTRIES: u32 = 16;

/// The PMP entries of one hart: configuration and address register of each.
#[derive(Debug)]
pub struct PmpTable(Vec<(u8, u64)>);

impl PmpTable {
    /// Returns the permissions of S-mode and U-mode at an address, as bit 0 read, bit 1 write, bit 2
    /// execute. They are those of the first entry that matches (Privileged Architecture §3.7.1).
    pub fn permissions(&self, address: u64) -> u8 {
        let mut below = 0;
        for (config, register) in &self.0 {
            let top = register << 2;
            let is_match = match config >> 3 & 3 {
                0 => false,
                1 => (below..top).contains(&address),
                2 => address >> 2 == *register,
                _ => {
                    // The region is a naturally aligned power of two; the trailing ones of the register
                    // give its size.
                    let order = register.trailing_ones() + 3;
                    order >= 64 || address >> order == top >> order
                }
            };
            if is_match {
                return config & 0b111;
            }
            below = top;
        }
        0
    }

    /// Returns true if the last entry forbids M-mode to execute anything that no earlier entry allows.
    /// The entry is locked, so it has been in force since the ROM set it.
    pub fn has_locked_memory(&self) -> bool {
        const LOCKED_WITHOUT_EXECUTION: u8 = 0x9b;
        self.0.last().is_some_and(|(config, register)| {
            *config == LOCKED_WITHOUT_EXECUTION && register.trailing_ones() >= 53
        })
    }
}

/// Returns the table of every hart, in the order of hart numbers.
pub fn tables(debugger: &mut Debugger) -> Result<Vec<PmpTable>> {
    let mut tables = Vec::new();
    for hart in debugger.harts()? {
        debugger.choose(&hart)?;
        let mut configs = Vec::new();
        for csr in [PMPCFG0, PMPCFG2] {
            configs.extend(debugger.csr(csr)?.to_le_bytes());
        }
        let mut table = Vec::new();
        for (index, config) in (0..ENTRIES).zip(configs) {
            table.push((config, debugger.csr(PMPADDR0 + index)?));
        }
        tables.push(PmpTable(table));
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_entry_decides() {
        let table = PmpTable(vec![
            (0b0001_1000, 0x8010_0000 >> 2 | 0x1fff), // NAPOT, 64 KiB, nothing
            (0b0001_1001, 0x8011_0000 >> 2 | 0x1ff),  // NAPOT, 4 KiB, read
            (0b0001_1111, u64::MAX >> 10),            // everything else
        ]);
        assert_eq!(table.permissions(0x8010_0000), 0);
        assert_eq!(table.permissions(0x8010_ffff), 0);
        assert_eq!(table.permissions(0x8011_0000), 1);
        assert_eq!(table.permissions(0x8011_1000), 0b111);
        assert_eq!(PmpTable(vec![]).permissions(0), 0);
    }

    #[test]
    fn a_top_of_range_entry_begins_at_the_entry_before() {
        let table = PmpTable(vec![(0, 0x1000 >> 2), (0b0000_1011, 0x2000 >> 2)]);
        assert_eq!(table.permissions(0xfff), 0);
        assert_eq!(table.permissions(0x1000), 0b011);
        assert_eq!(table.permissions(0x2000), 0);
    }
}
