//! What the ROM passes on to OpenSBI and the loader: which memory, which keys, which floors.

use hartlock_verify::board::{Region, qemu_virt as map};
use sha2::{Digest, Sha384};

/// Where each payload starts, and as much of it as a bundle of a campaign has. The boot device tree is the last.
const PAYLOADS: [u64; 3] = [map::OPENSBI.start, map::LOADER.start, map::BOOT_FDT.start];
const PAYLOAD_SIZE: u64 = 4096;
/// What OpenSBI reads first (boot flow §3.3).
const DYNAMIC_INFO: Region = Region::new(map::ROM_RAM.start, 48);
/// The parts of the hand-off block that decide (boot flow §3.4): keys, floors, names, harts. Generation and log
/// differ with time, and the digest of the boot bundle is part of the measurements.
const DECIDING: [std::ops::Range<usize>; 4] = [0..24, 32..76, 80..160, 208..768];
const DIGEST_AT: usize = 3840;
/// Of the information for OpenSBI, "OSBI".
const MAGIC: u64 = 0x4942_534f;

/// What was passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    /// a0 to a2: hart, device tree, information for OpenSBI.
    registers: [u64; 3],
    dynamic_info: Vec<u8>,
    payloads: Vec<u8>,
    deciding: Vec<u8>,
    /// A loader refuses a block whose digest differs.
    is_block_intact: bool,
}

impl Handover {
    /// By the registers of the boot hart, and memory by regions.
    pub(super) fn of<'a>(x: &[u64; 32], memory: impl Fn(Region) -> &'a [u8]) -> Self {
        let block = memory(map::HANDOFF);
        let payload = |start| memory(Region::new(start, PAYLOAD_SIZE));
        Self {
            registers: [x[10], x[11], x[12]],
            dynamic_info: memory(DYNAMIC_INFO).to_vec(),
            payloads: PAYLOADS.map(payload).concat(),
            deciding: DECIDING.map(|part| &block[part]).concat(),
            is_block_intact: Sha384::digest(&block[..DIGEST_AT])[..] == block[DIGEST_AT..][..48],
        }
    }

    /// Whether nothing differs that decides what runs after the ROM, or OpenSBI or the loader refuses what does.
    pub(super) fn is_harmless(&self, expected: &Self) -> bool {
        // fw_dynamic waits for ever without its magic number.
        let has_magic = self.dynamic_info.starts_with(&MAGIC.to_le_bytes());
        if !has_magic && expected.dynamic_info.starts_with(&MAGIC.to_le_bytes()) {
            return true;
        }
        let is_refused = !self.is_block_intact;
        self == expected
            || is_refused
                && Self {
                    deciding: expected.deciding.clone(),
                    is_block_intact: true,
                    ..self.clone()
                } == *expected
    }
}
