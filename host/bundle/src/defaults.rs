//! Default values of `bundle.toml`.

use hartlock_boards::{Boards, KnownBoard};
use hartlock_image::{
    HashId, Lifecycle, PAGE_SIZE, PayloadRecord, PayloadType, align_up, bytes_at, u64_at,
};

/// The default hash: the fastest NIST-approved hash on 64-bit cores without hash instructions (image format
/// §2.3).
pub(crate) const HASH: HashId = HashId::Sha384;
/// The default hash of mode `parallelhash`, which is defined for SHAKE128 and SHAKE256 only: the stronger
/// one.
pub(crate) const PARALLELHASH: HashId = HashId::Shake256;
/// The default block size in bytes: 80 KiB.
pub(crate) const BLOCK_SIZE: u32 = 81_920;
/// The default lifecycle states. A returned device is not among them, because it may have been opened: it
/// boots only bundles that were explicitly signed for it.
pub const LIFECYCLE: [Lifecycle; 2] = [Lifecycle::Development, Lifecycle::Production];

/// Number of bytes of a kernel image that [`memory_size`] reads.
pub(crate) const IMAGE_HEADER_SIZE: usize = 64;

/// Returns true if the payload is hashed in blocks by default. Small payloads do not become faster with
/// several harts, and those of a boot bundle are hashed by one hart.
pub(crate) const fn is_in_blocks(payload_type: PayloadType) -> bool {
    matches!(payload_type, PayloadType::Kernel | PayloadType::Initramfs)
}

/// Returns the default memory size in bytes of a payload of `size` bytes that begins with `start`, or `None`
/// if it exceeds 64 bits. Values that the board does not state are those of the default board.
pub(crate) fn memory_size(
    boards: &Boards,
    board: &str,
    payload_type: PayloadType,
    size: u64,
    start: &[u8],
) -> Option<u64> {
    // Firmware needs memory for zero-initialised data, heap and stacks, and OpenSBI edits its device tree in
    // place. The header of a kernel states how much memory it needs.
    let least = match payload_type {
        PayloadType::Kernel => kernel_image_size(start).unwrap_or(0),
        other => {
            let least = |board: &KnownBoard| board.least_memory(other);
            let own = boards.by_name(board).and_then(least);
            own.or(boards.default_board().and_then(least)).unwrap_or(0)
        }
    };
    align_up(size.max(least), PAGE_SIZE)
}

/// Moves payloads whose load address is a default one behind those that they would overlap, in the order of their addresses.
/// `is_default` tells which they are, in the order of `payloads`, and `alignment` that of a payload type. A payload that
/// does not fit behind the others keeps its address, and a verifier says what is wrong with it.
pub(crate) fn arrange(
    payloads: &mut [PayloadRecord],
    is_default: &[bool],
    alignment: impl Fn(PayloadType) -> u64,
) {
    let mut order: Vec<_> = (0..payloads.len()).filter(|index| is_default[*index]).collect();
    order.sort_by_key(|index| payloads[*index].load_address);
    let mut placed: Vec<_> = (0..payloads.len()).filter(|index| !is_default[*index]).collect();
    for index in order {
        let payload = &payloads[index];
        let size = payload.memory_size;
        let mut start = payload.load_address;
        while let Some(other) = placed.iter().map(|other| &payloads[*other]).find(|other| {
            start < other.memory_end() && other.load_address < start.saturating_add(size)
        }) {
            let Some(next) = align_up(other.memory_end(), alignment(payload.payload_type)) else {
                break;
            };
            start = next;
        }
        if start.checked_add(size).is_some() {
            let payload = &mut payloads[index];
            if payload.entry == payload.load_address {
                payload.entry = start;
            }
            payload.load_address = start;
        }
        placed.push(index);
    }
}

/// Returns `image_size` from the header of a RISC-V Linux image (Linux, `riscv/boot-image-header.rst`). It
/// includes the memory past the end of the file that the kernel clears and uses before it knows of other
/// memory.
fn kernel_image_size(start: &[u8]) -> Option<u64> {
    let magic2: [u8; 4] = bytes_at(start, 0x38)?;
    if &magic2 == b"RSC\x05" { u64_at(start, 16) } else { None }
}

#[cfg(test)]
mod tests {
    use hartlock_image::TreeMode;

    use super::*;

    fn memory_size(payload_type: PayloadType, size: u64, start: &[u8]) -> Option<u64> {
        super::memory_size(&Boards::default(), "other", payload_type, size, start)
    }

    fn kernel(image_size: u64, magic: &[u8; 4]) -> [u8; IMAGE_HEADER_SIZE] {
        let mut start = [0; IMAGE_HEADER_SIZE];
        start[16..24].copy_from_slice(&image_size.to_le_bytes());
        start[0x38..0x3c].copy_from_slice(magic);
        start
    }

    const MIB: u64 = 1 << 20;

    fn record(payload_type: PayloadType, load_address: u64, memory_size: u64) -> PayloadRecord {
        PayloadRecord {
            payload_type,
            hash: HASH,
            mode: TreeMode::Flat,
            offset: 0,
            size: 1,
            load_address,
            memory_size,
            entry: if payload_type.is_code() { load_address } else { 0 },
            digest: [0; 64],
        }
    }

    /// Arranges kernel, initramfs and device tree of these sizes, and returns their addresses.
    fn arranged(sizes: [u64; 3], own: [Option<u64>; 3]) -> [u64; 3] {
        let types = [PayloadType::Kernel, PayloadType::Initramfs, PayloadType::SystemFdt];
        let defaults = [0x8200_0000, 0x8800_0000, 0x8600_0000];
        let mut records: Vec<_> = (0..3)
            .map(|it| record(types[it], own[it].unwrap_or(defaults[it]), sizes[it]))
            .collect();
        let alignment = |it| if it == PayloadType::Kernel { 2 * MIB } else { PAGE_SIZE };
        arrange(&mut records, &own.map(|it| it.is_none()), alignment);
        assert_eq!(records[0].entry, records[0].load_address);
        [0, 1, 2].map(|it| records[it].load_address)
    }

    #[test]
    fn default_places_follow_one_another_by_size() {
        let none = [None; 3];
        let usual = [0x8200_0000, 0x8800_0000, 0x8600_0000];
        assert_eq!(arranged([64 * MIB, 40 * MIB, 0x1000], none), usual);
        // The tree moves behind the kernel, and the initramfs only if it has to.
        let large = [0x8200_0000, 0x8800_0000, 0x8660_0000];
        assert_eq!(arranged([70 * MIB, 40 * MIB, 0x1000], none), large);
        let larger = [0x8200_0000, 0x8c00_1000, 0x8c00_0000];
        assert_eq!(arranged([160 * MIB, 40 * MIB, 0x1000], none), larger);
        // What has an address keeps it.
        let own = [Some(0x8500_0000), None, None];
        assert_eq!(arranged([70 * MIB, 1, 1], own), [0x8500_0000, 0x8960_1000, 0x8960_0000]);
        let own = [None, Some(0x8200_0000), None];
        assert_eq!(arranged([MIB, MIB, 1], own), [0x8220_0000, 0x8200_0000, 0x8600_0000]);
        // Nothing is behind the last address.
        let own = [Some(0x8600_0000), None, None];
        assert_eq!(
            arranged([u64::MAX - 0x8600_0000, 1, 1], own),
            [0x8600_0000, 0x8800_0000, 0x8600_0000]
        );
    }

    #[test]
    fn a_kernel_gets_the_memory_that_its_header_asks_for() {
        let start = kernel(0x12_3456, b"RSC\x05");
        assert_eq!(memory_size(PayloadType::Kernel, 1000, &start), Some(0x12_4000));
        assert_eq!(memory_size(PayloadType::Kernel, 0x20_0001, &start), Some(0x20_1000));
        assert_eq!(memory_size(PayloadType::Initramfs, 1000, &start), Some(0x1000));
    }

    #[test]
    fn a_kernel_without_header_gets_its_size() {
        let start = kernel(0x12_3456, b"ARM\x64");
        assert_eq!(memory_size(PayloadType::Kernel, 1000, &start), Some(0x1000));
        assert_eq!(memory_size(PayloadType::Kernel, 20, &start[..20]), Some(0x1000));
        assert_eq!(memory_size(PayloadType::Kernel, 20, &kernel(u64::MAX, b"RSC\x05")), None);
    }

    #[test]
    fn firmware_gets_room_to_work_in() {
        for (payload_type, least) in [
            (PayloadType::Opensbi, 0x8_0000),
            (PayloadType::Loader, 0x20_0000),
            (PayloadType::BootFdt, 0x2_0000),
            (PayloadType::SystemFdt, 0x1000),
        ] {
            assert_eq!(memory_size(payload_type, 10, &[]), Some(least));
            assert_eq!(memory_size(payload_type, least + 1, &[]), Some(least + 0x1000));
        }
    }
}
