//! The contents of the two flash banks, as bytes in memory.

use hartlock_handoff::payload_keys::{CLASS_KEY_STORE_SIZE, ClassKeyStore};
use hartlock_handoff::{KEY_SIZE, ROOT_OF_TRUST_SIZE, STATE_SIZE, StateRecord};
use hartlock_image::Reason;
use hartlock_maps::qemu_virt;
use hartlock_verify::board::Region;

use super::Provisioning;

/// Length of a flash bank in bytes, the only one that QEMU supports.
pub const BANK_SIZE: usize = qemu_virt::ROM_FLASH.size() as usize;
/// The offset of the root-of-trust block in bank 0.
pub const ROOT_OF_TRUST_AT: usize = offset(&qemu_virt::ROOT_OF_TRUST, &qemu_virt::ROM_FLASH);
/// Maximum length of a ROM in bytes, which ends before the root-of-trust block.
pub const ROM_SIZE: usize = ROOT_OF_TRUST_AT;
/// Maximum length of a boot bundle in bytes.
pub const BOOT_SLOT_SIZE: usize = qemu_virt::BOOT_SLOT.size() as usize;
/// The offsets of the two copies of the state record in bank 1.
pub const STATE_AT: [usize; 2] = [
    offset(&qemu_virt::STATE_COPIES[0], &qemu_virt::BUNDLE_FLASH),
    offset(&qemu_virt::STATE_COPIES[1], &qemu_virt::BUNDLE_FLASH),
];

/// The offset of the class-key store in bank 1.
pub const CLASS_KEYS_AT: usize = offset(&qemu_virt::CLASS_KEYS, &qemu_virt::BUNDLE_FLASH);

/// The key with which a device authenticates its state records.
pub(super) type Key = [u8; KEY_SIZE];

const fn offset(of: &Region, within: &Region) -> usize {
    (of.start - within.start) as usize
}

/// Returns an erased bank.
pub(super) fn erased() -> Vec<u8> {
    vec![0xff; BANK_SIZE]
}

/// Returns the content of bank 0. The caller has checked that the ROM fits.
pub(super) fn bank_0(rom: &[u8], root_of_trust: &[u8; ROOT_OF_TRUST_SIZE]) -> Vec<u8> {
    let mut bank = erased();
    bank[..rom.len()].copy_from_slice(rom);
    bank[ROOT_OF_TRUST_AT..][..ROOT_OF_TRUST_SIZE].copy_from_slice(root_of_trust);
    bank
}

/// Writes a bundle to the boot slot and erases the rest of the slot, so that nothing of a longer
/// bundle remains.
pub(super) fn install(bank: &mut [u8], bundle: &[u8]) {
    let slot = &mut bank[..BOOT_SLOT_SIZE];
    slot.fill(0xff);
    slot[..bundle.len()].copy_from_slice(bundle);
}

/// Writes the class-key store, after its sector is erased.
pub(super) fn write_class_keys(bank: &mut [u8], store: &ClassKeyStore) {
    let sector = qemu_virt::CLASS_KEYS.size() as usize;
    let place = &mut bank[CLASS_KEYS_AT..][..sector];
    place.fill(0xff);
    place[..CLASS_KEY_STORE_SIZE].copy_from_slice(&store.encode());
}

/// Returns the record in force and the index of its copy. `key` is the key of the device.
pub(super) fn state(bank: &[u8], key: &Key) -> Result<(StateRecord, usize), Reason> {
    StateRecord::choose(&bank[STATE_AT[0]..], &bank[STATE_AT[1]..], key)
}

/// Writes a record over the copy that is not in force; returns `None` if the sequence number is at
/// its maximum.
pub(super) fn provision(bank: &mut [u8], values: &Provisioning, key: &Key) -> Option<StateRecord> {
    // If no copy is valid, the first one is written, with sequence number 1.
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
    // The whole sector is erased before it is programmed, as flash requires.
    let sector = qemu_virt::STATE_COPIES[index].size() as usize;
    let place = &mut bank[STATE_AT[index]..][..sector];
    place.fill(0xff);
    place[..STATE_SIZE].copy_from_slice(&record.encode(key));
    Some(record)
}
