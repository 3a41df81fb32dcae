//! Contents of the two flash banks, as bytes in memory.

use hartlock_handoff::{KEY_SIZE, ROOT_OF_TRUST_SIZE, STATE_SIZE, StateRecord};
use hartlock_image::Reason;
use hartlock_verify::board::{Region, qemu_virt};

use super::Provisioning;

/// Bytes of a flash bank; QEMU takes no other size.
pub const BANK_SIZE: usize = qemu_virt::ROM_FLASH.size() as usize;
/// The root-of-trust block in bank 0.
pub const ROOT_OF_TRUST_AT: usize = offset(&qemu_virt::ROOT_OF_TRUST, &qemu_virt::ROM_FLASH);
/// Bytes that a ROM may have: it ends where the root-of-trust block begins.
pub const ROM_SIZE: usize = ROOT_OF_TRUST_AT;
/// Bytes that a boot bundle may have.
pub const BOOT_SLOT_SIZE: usize = qemu_virt::BOOT_SLOT.size() as usize;
/// The two copies of the state record in bank 1.
pub const STATE_AT: [usize; 2] = [
    offset(&qemu_virt::STATE_COPIES[0], &qemu_virt::BUNDLE_FLASH),
    offset(&qemu_virt::STATE_COPIES[1], &qemu_virt::BUNDLE_FLASH),
];

/// The key of a device for its state records.
pub(super) type Key = [u8; KEY_SIZE];

const fn offset(of: &Region, within: &Region) -> usize {
    (of.start - within.start) as usize
}

/// A bank as it leaves the factory.
pub(super) fn erased() -> Vec<u8> {
    vec![0xff; BANK_SIZE]
}

/// Bank 0. The caller has checked that the ROM fits.
pub(super) fn bank_0(rom: &[u8], root_of_trust: &[u8; ROOT_OF_TRUST_SIZE]) -> Vec<u8> {
    let mut bank = erased();
    bank[..rom.len()].copy_from_slice(rom);
    bank[ROOT_OF_TRUST_AT..][..ROOT_OF_TRUST_SIZE].copy_from_slice(root_of_trust);
    bank
}

/// Programs the boot slot and erases the rest of it, so that nothing of a longer bundle stays.
pub(super) fn install(bank: &mut [u8], bundle: &[u8]) {
    let slot = &mut bank[..BOOT_SLOT_SIZE];
    slot.fill(0xff);
    slot[..bundle.len()].copy_from_slice(bundle);
}

/// The record in force and its index, for the device whose key this is.
pub(super) fn state(bank: &[u8], key: &Key) -> Result<(StateRecord, usize), Reason> {
    StateRecord::choose(&bank[STATE_AT[0]..], &bank[STATE_AT[1]..], key)
}

/// Writes the copy that is not in force. `None` if the sequence cannot grow.
pub(super) fn provision(bank: &mut [u8], values: &Provisioning, key: &Key) -> Option<StateRecord> {
    // Without any intact copy both places are free, and counting starts.
    let (sequence, index) = match state(bank, key) {
        Ok((record, index)) => (record.sequence, 1 - index),
        Err(_) => (0, 0),
    };
    let record = StateRecord {
        sequence: sequence.checked_add(1)?,
        boot_floor: values.boot_floor,
        system_floor: values.system_floor,
        lifecycle: values.lifecycle,
        revoked_keys: values.revoked_keys,
    };
    // The whole sector is erased before it is programmed, as flash must be.
    let sector = qemu_virt::STATE_COPIES[index].size() as usize;
    let place = &mut bank[STATE_AT[index]..][..sector];
    place.fill(0xff);
    place[..STATE_SIZE].copy_from_slice(&record.encode(key));
    Some(record)
}
