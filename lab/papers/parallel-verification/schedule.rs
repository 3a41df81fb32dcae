//! Computes the time for a payload from the measured costs of single blocks: it simulates the loader's
//! division of work (device/loader/src/disk.rs, device/verify/src/pool.rs) block by block.
//!
//! In turns, the boot hart polls for blocks that arrived, adds leaves to the root, and hashes a block; the
//! other harts hash the announced blocks. A cycle-accurate simulation of a hundred mebibytes would take
//! days. So the numbers for such payloads are scaled from those of eight blocks, and a complete simulation
//! of 8 MiB shows the accuracy.

/// Maximum number of blocks that are announced after the oldest missing leaf (device/verify/src/pool.rs).
const WINDOW: u64 = hartlock_verify::pool::WINDOW;

/// Costs in cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    pub harts: usize,
    /// Cycles of a whole block while all `harts` are busy.
    pub block: f64,
    /// Cycles in which the boot hart takes a leaf and adds it to the root.
    pub leaf: f64,
    /// Cycles that a payload needs once: dispatch, join, start and end of the root.
    pub fixed: f64,
}

/// The payload to be hashed.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub size: u64,
    pub block_size: u64,
    pub storage: Option<Storage>,
}

/// The storage from which a payload is read, if it is not in memory before.
#[derive(Clone, Copy, Debug)]
pub struct Storage {
    /// Rate in bytes per cycle.
    pub rate: f64,
    /// Size of a request in bytes. Data arrives only in whole requests.
    pub request_size: u64,
}

impl Work {
    fn blocks(&self) -> u64 {
        self.size.div_ceil(self.block_size)
    }

    /// Returns the size of a block as a fraction of a whole block.
    fn share(&self, block: u64) -> f64 {
        let start = block * self.block_size;
        (self.size - start).min(self.block_size) as f64 / self.block_size as f64
    }

    /// Returns the number of blocks that are in memory at this cycle.
    fn arrived(&self, cycle: f64) -> u64 {
        let Some(storage) = self.storage else { return self.blocks() };
        let delivered = (cycle * storage.rate) as u64;
        if delivered >= self.size {
            return self.blocks();
        }
        delivered / storage.request_size * storage.request_size / self.block_size
    }

    /// Returns the cycle at which the next request arrives after those that have arrived by `cycle`.
    fn next_arrival(&self, cycle: f64) -> f64 {
        let Some(storage) = self.storage else { return f64::INFINITY };
        let requests = (cycle * storage.rate) as u64 / storage.request_size + 1;
        // A small value is added, so that rounding errors do not make the request appear missing.
        (requests * storage.request_size).min(self.size) as f64 / storage.rate * (1.0 + 1e-12)
            + 1e-6
    }
}

/// Returns the cycles from the first request to the root.
pub fn cycles(costs: &Costs, work: &Work) -> f64 {
    let count = work.blocks();
    // The cycle at which each hart is free; the boot hart is the first.
    let mut free = vec![0.0_f64; costs.harts];
    let mut sleeps = vec![true; costs.harts];
    sleeps[0] = false;
    // The cycle at which the leaf of each block is available.
    let mut leaves: Vec<f64> = Vec::with_capacity(count as usize);
    let (mut announced, mut absorbed) = (0_u64, 0_u64);
    loop {
        let awake = (0..costs.harts).filter(|hart| !sleeps[*hart]);
        let hart = awake.min_by(|one, other| free[*one].total_cmp(&free[*other])).unwrap_or(0);
        let now = free[hart];
        let mut later = now;
        if hart == 0 {
            while absorbed < count
                && leaves.get(absorbed as usize).is_some_and(|leaf| *leaf <= later)
            {
                absorbed += 1;
                later += costs.leaf;
            }
            if absorbed == count {
                return later + costs.fixed;
            }
            let limit = work.arrived(later).min(absorbed + WINDOW);
            if limit > announced {
                announced = limit;
                for other in 1..costs.harts {
                    if sleeps[other] {
                        (sleeps[other], free[other]) = (false, later);
                    }
                }
            }
        }
        let next = leaves.len() as u64;
        if next < announced {
            let end = later + costs.block * work.share(next);
            leaves.push(end);
            free[hart] = end;
        } else if hart == 0 {
            // The boot hart polls; nothing happens before one of these events.
            let leaf = leaves.get(absorbed as usize).copied().unwrap_or(f64::INFINITY);
            free[0] = leaf.min(work.next_arrival(later)).max(later + 1.0);
        } else {
            sleeps[hart] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { harts: 4, block: 1000.0, leaf: 0.0, fixed: 0.0 };
    const KIB: u64 = 1024;

    fn in_memory(blocks: u64) -> Work {
        Work { size: blocks * KIB, block_size: KIB, storage: None }
    }

    #[test]
    fn harts_share_blocks_in_rounds() {
        for (blocks, rounds) in [(1, 1.0), (4, 1.0), (5, 2.0), (8, 2.0), (9, 3.0), (400, 100.0)] {
            assert_eq!(cycles(&COSTS, &in_memory(blocks)), rounds * 1000.0, "{blocks} blocks");
        }
        let half = Work { size: 4 * KIB + KIB / 2, ..in_memory(4) };
        assert_eq!(cycles(&COSTS, &half), 1500.0);
    }

    #[test]
    fn the_root_is_the_boot_harts_own_work() {
        let one = Costs { harts: 1, leaf: 10.0, fixed: 7.0, ..COSTS };
        assert_eq!(cycles(&one, &in_memory(8)), 8.0 * 1010.0 + 7.0);
        // The boot hart adds the leaves of a round before it takes the next block, so the other harts take
        // over blocks, and only the last leaves add time.
        let four = Costs { leaf: 10.0, ..COSTS };
        let taken = cycles(&four, &in_memory(400));
        assert!((100_000.0..=101_040.0).contains(&taken), "{taken}");
    }

    #[test]
    fn what_has_not_arrived_is_waited_for() {
        let storage = Storage { rate: 0.5, request_size: KIB };
        let slow = Work { storage: Some(storage), ..in_memory(100) };
        // A block needs 2048 cycles to arrive; the last one is hashed afterwards.
        let taken = cycles(&COSTS, &slow);
        assert!((taken - (100.0 * 2048.0 + 1000.0)).abs() < 1000.0, "{taken}");
        // With requests of four blocks, four harts hash the last four blocks at the same time.
        let coarse = Storage { request_size: 4 * KIB, ..storage };
        let taken = cycles(&COSTS, &Work { storage: Some(coarse), ..slow });
        assert!((taken - (100.0 * 2048.0 + 1000.0)).abs() < 1001.0, "{taken}");
        // A storage that is much faster than the harts costs one round: while the boot hart hashes the
        // first block, the next ones are not announced.
        let fast = Work { storage: Some(Storage { rate: 100.0, ..storage }), ..slow };
        let beyond = cycles(&COSTS, &fast) - cycles(&COSTS, &in_memory(100));
        assert!((900.0..=1100.0).contains(&beyond), "{beyond}");
    }
}
