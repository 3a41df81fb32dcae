//! The values that the ROM hands over to OpenSBI and the loader: registers, payloads, keys and floors.

use hartlock_maps::qemu_virt as map;
use hartlock_verify::board::Region;
use sha2::{Digest, Sha384};

/// Start address of each payload, and its size in the bundles of the campaigns. The last one is the boot device
/// tree.
const PAYLOADS: [u64; 3] = [map::OPENSBI.start, map::LOADER.start, map::BOOT_FDT.start];
const PAYLOAD_SIZE: u64 = 4096;
/// The structure fw_dynamic_info, which OpenSBI reads first (boot flow §3.3).
const DYNAMIC_INFO: Region = Region::new(map::ROM_RAM.start, 48);
/// Byte ranges of the hand-off block that influence decisions (boot flow §3.4): keys, floors, names, harts.
/// Generation and log depend on time, and the digest of the boot bundle belongs to the measurements.
const DECIDING: [std::ops::Range<usize>; 4] = [0..24, 32..76, 80..160, 208..768];
const DIGEST_AT: usize = 3840;
/// Magic number of fw_dynamic_info, "OSBI".
const MAGIC: u64 = 0x4942_534f;

/// The values that were handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    /// Registers a0 to a2: hart number, address of the device tree, address of fw_dynamic_info.
    registers: [u64; 3],
    dynamic_info: Vec<u8>,
    payloads: Vec<u8>,
    deciding: Vec<u8>,
    /// True if the digest in the hand-off block is correct; otherwise the loader refuses the block.
    is_block_intact: bool,
}

impl Handover {
    /// Reads the values from the registers of the boot hart and from memory regions.
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

    /// Returns true if nothing differs that decides what runs after the ROM, or if OpenSBI or the loader refuses
    /// the difference.
    pub(super) fn is_harmless(&self, expected: &Self) -> bool {
        // Without its magic number, OpenSBI's fw_dynamic waits for ever.
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
