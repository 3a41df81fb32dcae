use super::*;
use hartlock_handoff::{ROOT_OF_TRUST_SIZE, STATE_SIZE};
use hartlock_image::{KeyRecord, Policy};
use hartlock_maps::qemu_virt::BOARD;
use tempfile::TempDir;

struct Bench {
    folder: TempDir,
    device: Device,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let device = Device::open(&folder.path().join("device")).unwrap();
    Bench { folder, device }
}

impl Bench {
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn program(&self) {
        self.device.program_rom(&self.file("rom.bin", &[0x13]), &root()).unwrap();
    }

    fn bank_1(&self) -> Vec<u8> {
        fs::read(self.device.bundle_flash()).unwrap()
    }
}

fn trust(key_ids: &[u8]) -> TrustList {
    let key = |byte| KeyRecord { algorithm: 1, parameters: 0, key_id: [byte; 48] };
    TrustList { policy: Policy::Any, keys: key_ids.iter().copied().map(key).collect() }
}

fn secret() -> DeviceSecret {
    DeviceSecret::new([0x3c; SECRET_SIZE]).unwrap()
}

fn root() -> RootOfTrust {
    root_of_trust(trust(&[7]), &BOARD, secret()).unwrap()
}

fn state(bank: &[u8]) -> Result<(StateRecord, usize), Reason> {
    flash::state(bank, &root().state_key())
}

fn provision(bank: &mut [u8], values: &Provisioning) -> Option<StateRecord> {
    flash::provision(bank, values, &root().state_key())
}

fn floors(boot_floor: u64, system_floor: u64) -> Provisioning {
    Provisioning { boot_floor, system_floor, ..Provisioning::default() }
}

#[test]
fn the_places_are_those_of_the_specification() {
    assert_eq!(BANK_SIZE, 32 << 20);
    assert_eq!(ROM_SIZE, 128 << 10);
    assert_eq!(ROOT_OF_TRUST_AT, 0x2_0000);
    assert_eq!(BOOT_SLOT_SIZE, 16 << 20);
    assert_eq!(STATE_AT, [0x1f8_0000, 0x1fc_0000]);
}

#[test]
fn bank_0_holds_the_rom_and_its_root_of_trust() {
    let bench = bench();
    let rom = bench.file("rom.bin", &[0x13; 1000]);
    bench.device.program_rom(&rom, &root()).unwrap();
    let bank = fs::read(bench.device.rom_flash()).unwrap();
    assert_eq!(bank.len(), BANK_SIZE);
    assert_eq!(bank[..1000], [0x13; 1000]);
    assert_eq!(RootOfTrust::parse(&bank[ROOT_OF_TRUST_AT..]), Ok(root()));
    assert!(bank[1000..ROOT_OF_TRUST_AT].iter().all(|byte| *byte == 0xff));
    assert!(bank[ROOT_OF_TRUST_AT + ROOT_OF_TRUST_SIZE..].iter().all(|byte| *byte == 0xff));
}

#[test]
fn a_rom_may_fill_its_place_and_no_more() {
    let bench = bench();
    let full = bench.file("full.bin", &vec![1; ROM_SIZE]);
    bench.device.program_rom(&full, &root()).unwrap();
    let bank = fs::read(bench.device.rom_flash()).unwrap();
    assert_eq!(RootOfTrust::parse(&bank[ROOT_OF_TRUST_AT..]), Ok(root()));
    let long = bench.file("long.bin", &vec![1; ROM_SIZE + 1]);
    let error = bench.device.program_rom(&long, &root()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the ROM has 131073 bytes, but its place in the flash has only 131072"
    );
    assert_eq!(fs::read(bench.device.rom_flash()).unwrap(), bank, "the old image stays");
}

#[test]
fn a_new_boot_bundle_keeps_the_state_and_nothing_of_the_old_bundle() {
    let bench = bench();
    bench.program();
    assert!(bench.device.is_new());
    assert_eq!(bench.device.state().unwrap(), Err(Reason::CounterStoreInvalid));
    bench.device.install_boot_bundle(&bench.file("a.hlk", &[0xaa; 5000])).unwrap();
    assert_eq!(bench.device.state().unwrap(), Err(Reason::CounterStoreInvalid));
    bench.device.provision(&floors(3, 4)).unwrap();
    bench.device.install_boot_bundle(&bench.file("b.hlk", &[0xbb; 100])).unwrap();
    let bank = bench.bank_1();
    assert_eq!(bank[..100], [0xbb; 100]);
    assert!(bank[100..STATE_AT[0]].iter().all(|byte| *byte == 0xff));
    assert_eq!(bench.device.state().unwrap().unwrap().system_floor, 4);
    assert!(!bench.device.is_new());
}

#[test]
fn a_boot_bundle_larger_than_its_slot_is_an_error() {
    let bench = bench();
    let bundle = bench.file("long.hlk", &vec![1; BOOT_SLOT_SIZE + 1]);
    let error = bench.device.install_boot_bundle(&bundle).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert!(bench.device.is_new());
}

#[test]
fn provisioning_writes_the_two_copies_in_turn() {
    let bench = bench();
    bench.program();
    for sequence in 1..=4 {
        let record = bench.device.provision(&floors(sequence, 0)).unwrap();
        assert_eq!(record.sequence, sequence);
        let bank = bench.bank_1();
        let index = (sequence as usize + 1) % 2;
        assert_eq!(StateRecord::parse(&bank[STATE_AT[index]..], &root().state_key()), Some(record));
        assert_eq!(bench.device.state().unwrap(), Ok(record));
    }
}

#[test]
fn a_write_torn_at_any_byte_leaves_the_old_state_in_force_and_is_mended() {
    let mut before = flash::erased();
    let old = provision(&mut before, &floors(5, 6)).unwrap();
    let mut after = before.clone();
    let new = provision(&mut after, &floors(7, 8)).unwrap();
    let place = STATE_AT[1]..STATE_AT[1] + STATE_SIZE;
    for torn_at in 0..STATE_SIZE {
        let mut bank = before.clone();
        let copy = &mut bank[place.clone()];
        copy[..torn_at].copy_from_slice(&after[place.clone()][..torn_at]);
        if *copy == after[place.clone()] {
            continue;
        }
        assert_eq!(state(&bank), Ok((old, 0)), "torn at {torn_at}");
        assert_eq!(provision(&mut bank, &floors(7, 8)), Some(new), "torn at {torn_at}");
        assert_eq!(state(&bank), Ok((new, 1)));
    }
}

#[test]
fn the_first_copy_may_be_torn_too() {
    let mut bank = flash::erased();
    provision(&mut bank, &floors(1, 1)).unwrap();
    let second = provision(&mut bank, &floors(2, 2)).unwrap();
    bank[STATE_AT[0] + 20] ^= 1;
    assert_eq!(state(&bank), Ok((second, 1)));
    let third = provision(&mut bank, &floors(3, 3)).unwrap();
    assert_eq!(state(&bank), Ok((third, 0)));
}

#[test]
fn a_counter_at_its_end_is_an_error_and_nothing_wraps() {
    let mut bank = flash::erased();
    let mut last = provision(&mut bank, &floors(1, 1)).unwrap();
    last.sequence = u64::MAX;
    bank[STATE_AT[0]..][..STATE_SIZE].copy_from_slice(&last.encode(&root().state_key()));
    assert_eq!(provision(&mut bank, &floors(2, 2)), None);
    assert_eq!(state(&bank), Ok((last, 0)));
}

#[test]
fn an_image_of_another_size_is_left_alone() {
    let bench = bench();
    bench.program();
    fs::write(bench.device.bundle_flash(), "not flash").unwrap();
    let bundle = bench.file("a.hlk", &[1; 10]);
    for error in [
        bench.device.install_boot_bundle(&bundle).unwrap_err(),
        bench.device.provision(&floors(1, 1)).unwrap_err(),
    ] {
        assert!(matches!(error, Error::NotFlash { size: 9, .. }), "{error}");
    }
    assert_eq!(bench.bank_1(), b"not flash");
}

#[test]
fn the_disk_consists_of_whole_sectors() {
    let bench = bench();
    bench.device.install_system_bundle(&bench.file("s.hlk", &[9; 700])).unwrap();
    let disk = fs::read(bench.device.disk()).unwrap();
    assert_eq!(disk.len(), 1024);
    assert_eq!(disk[..700], [9; 700]);
    assert!(disk[700..].iter().all(|byte| *byte == 0));
}

#[test]
fn a_device_is_open_once() {
    let bench = bench();
    let folder = bench.folder.path().join("device");
    assert!(matches!(Device::open(&folder), Err(Error::DeviceInUse { .. })));
    drop(bench.device);
    Device::open(&folder).unwrap();
}

#[test]
fn a_root_of_trust_that_the_rom_would_refuse_is_not_made() {
    assert!(root_of_trust(trust(&[1, 2]), &BOARD, secret()).is_some());
    assert!(root_of_trust(trust(&[]), &BOARD, secret()).is_none());
    assert!(root_of_trust(trust(&[1, 1]), &BOARD, secret()).is_none());
    assert_eq!((root().board.as_str(), root().soc.as_str()), ("qemu-virt", "virt"));
}

#[test]
fn a_temporary_device_leaves_nothing() {
    let device = Device::temporary().unwrap();
    let folder = device.folder().to_path_buf();
    fs::write(folder.join("rom.bin"), [0x13]).unwrap();
    device.program_rom(&folder.join("rom.bin"), &root()).unwrap();
    device.provision(&floors(1, 1)).unwrap();
    assert!(folder.join("pflash1.img").exists());
    drop(device);
    assert!(!folder.exists());
}

#[test]
fn the_secret_of_a_device_is_random_and_stays() {
    let bench = bench();
    let (first, second) = (bench.device.secret().unwrap(), bench.device.secret().unwrap());
    assert_ne!(first, second);
    assert!(matches!(bench.device.provision(&floors(1, 1)), Err(Error::NoRootOfTrust)));
    bench.program();
    assert_eq!(bench.device.secret().unwrap(), secret());
    bench.device.provision(&floors(1, 1)).unwrap();
    // A record is valid only on its own device.
    let other = root_of_trust(trust(&[7]), &BOARD, first).unwrap();
    bench.device.program_rom(&bench.file("rom.bin", &[0x13]), &other).unwrap();
    assert_eq!(bench.device.state().unwrap(), Err(Reason::CounterStoreInvalid));
}
