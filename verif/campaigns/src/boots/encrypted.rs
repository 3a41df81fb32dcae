//! Boots with encrypted payloads (image format §7.6): which class keys boot them, and what of keys and plain text is in
//! memory after a boot and after a refusal.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use aes::Aes256;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::{CLASS_KEYS_AT, Device};
use hartlock_emulator::machine::{Machine, Outcome, Run, Stop};
use hartlock_handoff::{DeviceSecret, RootOfTrust, Step};
use hartlock_image::{PayloadType, Reason, TreeMode};
use hartlock_kernels::CipherTier;
use hartlock_keys::ClassKey;
use hartlock_maps::qemu_virt;
use hartlock_testkit::bundle::{Draft, Edit, fake_class_key, fake_content_key};
use hartlock_testkit::leaks::Leaks;
use xtask::firmware;

use super::board::{Setup, TestBoard, expect_boot, expect_refusal, loader_entry};
use super::case::Case;
use super::harts::{expect_lost_work, expect_reset, faulty, with_boot_hart};
use super::traps::{ILLEGAL, wait_for_the_stop};
use super::wiped::{GuestMemory, remove};

/// Number of the class for which the bundles are encrypted.
const CLASS: u8 = 1;

/// Bytes of an initramfs that several harts decrypt.
const LARGE: usize = 8 << 20;

/// Boards: a name, the extensions of their harts, and the implementation of AES that the loader must choose.
const BOARDS: &[(&str, &str, CipherTier)] = &[
    ("rv64", "rv64,zba=false,zbb=false,zbc=false,zbs=false", CipherTier::Portable),
    ("zkne", "rv64,zkne=true,zbkb=true,zbkc=true", CipherTier::Zkne),
    ("zvkned", "rv64,v=true,vlen=256,zvbb=true,zvkned=true", CipherTier::Zvkned),
];

/// Boards with the most that decryption may take there, in instructions a byte: by vectors of 128, 256 and 512 bits, and by
/// scalar instructions. Without any instruction for AES it is shown what it takes.
const COSTS: &[(&str, &str, f64)] = &[
    ("vectors-of-128-bits", "rv64,v=true,vlen=128,zvbb=true,zvkned=true", 0.40),
    ("vectors-of-256-bits", "rv64,v=true,vlen=256,zvbb=true,zvkned=true", 0.20),
    ("vectors-of-512-bits", "rv64,v=true,vlen=512,zvbb=true,zvkned=true", 0.10),
    ("zkne", "rv64,zkne=true,zbkb=true", 5.0),
    ("no-crypto", "rv64,zba=false,zbb=false,zbc=false,zbs=false", f64::INFINITY),
];

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = BOARDS
        .iter()
        .map(|(name, cpu, tier)| {
            Case::new(format!("encrypted/harts-with-{name}-decrypt"), move |bench| {
                // With fewer blocks the fastest kernel is through before another hart of a busy workstation runs.
                let large = Edit::Draft(|draft| draft.payloads[1].resize(LARGE));
                let mut setup = encrypted_with(bench, &[large])?;
                setup.cpu = Some((*cpu).to_owned());
                setup.harts = 4;
                expect_decrypted(&bench.run(&setup)?, *tier)
            })
        })
        .collect();
    cases.extend(COSTS.iter().map(|(name, cpu, bound)| {
        Case::new(format!("encrypted/cost-with-{name}"), move |bench| {
            let (decryption, _) = costs(bench, cpu)?;
            ensure!(decryption <= *bound, "{decryption:.3} instructions a byte, more than {bound}");
            Ok(())
        })
    }));
    // A storage that delivers as fast as the harts hash takes as long as their hashing.
    cases.extend([128, 256, 512].map(|vlen| {
        Case::new(
            format!("encrypted/cost-is-below-reading-with-vectors-of-{vlen}-bits"),
            move |bench| {
                let cpu = format!("rv64,v=true,vlen={vlen},zvbb=true,zvkned=true,zvknhb=true");
                let (decryption, hash) = costs(bench, &cpu)?;
                ensure!(
                    decryption < hash,
                    "decryption {decryption:.3}, hash {hash:.3} instructions a byte"
                );
                Ok(())
            },
        )
    }));
    cases.extend([
        Case::new("encrypted/without-a-class-key-is-refused", |bench| {
            refused_with(bench, &[], Reason::ClassKeyMissing)
        }),
        Case::new("encrypted/with-another-class-key-is-refused", |bench| {
            refused_with(bench, &[2, 3, 4, 5], Reason::ClassKeyMissing)
        }),
        Case::new("encrypted/with-the-second-of-two-class-keys-boots", |bench| {
            let class_keys = [2, CLASS].map(fake_class_key).to_vec();
            expect_boot(&bench.run(&Setup { class_keys, ..encrypted(bench)? })?)
        }),
        Case::new("encrypted/a-content-key-of-another-class-is-refused", |bench| {
            let wrong = Edit::Draft(|draft| {
                let key = fake_content_key(PayloadType::SystemFdt);
                let wrapped = fake_class_key(2).wrap(&key);
                draft.encryption[2][24..].copy_from_slice(&wrapped);
            });
            refused(bench, encrypted_with(bench, &[wrong])?, Reason::ContentKeyInvalid)
        }),
        Case::new("encrypted/a-store-of-another-device-is-refused", |bench| {
            let mut setup = encrypted(bench)?;
            let other = DeviceSecret::new([0xfb; 32]).context("a secret")?;
            let own = setup.root.clone();
            setup.root = RootOfTrust { secret: other, ..own.clone() };
            refused_on(bench, &mut setup, Reason::PayloadKeysInvalid, |device| {
                let copy = device.bundle_flash();
                let store = fs::read(&copy)?.split_off(CLASS_KEYS_AT);
                let other = Device::temporary()?;
                bench.install(&other, &Setup { root: own, ..encrypted(bench)? })?;
                let own = fs::read(other.bundle_flash())?.split_off(CLASS_KEYS_AT);
                ensure!(store[..384] != own[..384], "two devices have the same store");
                write_store(device, &own[..384])
            })
        }),
        Case::new("encrypted/a-damaged-store-is-refused", |bench| {
            refused_on(bench, &mut encrypted(bench)?, Reason::PayloadKeysInvalid, damage_store)
        }),
        Case::new("encrypted/a-damaged-store-boots-what-is-not-encrypted", |bench| {
            let setup = bench.setup(&[], &[])?;
            let device = Device::temporary()?;
            bench.install(&device, &setup)?;
            damage_store(&device)?;
            let machine = bench.start_on(&device, &setup, &[])?;
            expect_boot(&bench.finish(machine, None))
        }),
        Case::new("encrypted/a-decryption-that-is-skipped-is-refused", |bench| {
            let mut setup = encrypted(bench)?;
            setup.boot = boot_with(bench, |elf| skip(elf, &["decryption", "begin"]))?;
            refused(bench, setup, Reason::VerdictNotConfirmed)
        }),
        Case::new("encrypted/a-hart-that-traps-loses-its-work-to-another", |bench| {
            lost_work(bench, "worker-trap")
        }),
        Case::new("encrypted/a-hart-that-stalls-loses-its-work-to-another", |bench| {
            lost_work(bench, "worker-stall")
        }),
        Case::new("encrypted/keys-are-gone-when-the-kernel-runs", |bench| {
            let (run, found) = searched(bench, &encrypted(bench)?, &keys(bench)?, &[])?;
            expect_boot(&run)?;
            ensure!(found.is_empty(), "{found:?}");
            Ok(())
        }),
        Case::new("encrypted/linux-boots", |bench| {
            let run = bench.run(&bench.encrypted_linux("none", fake_class_key(CLASS))?)?;
            loader_entry(&run, Step::Decrypt, Some(PayloadType::Kernel))?;
            expect_boot(&run)
        }),
        Case::new("encrypted/keys-and-plain-text-are-gone-after-a-refusal", |bench| {
            let found = after_refusal(bench, None)?;
            ensure!(found.is_empty(), "{found:?}");
            Ok(())
        }),
        Case::new("encrypted/keys-and-plain-text-are-gone-before-a-reset", |bench| {
            let mut setup = faulty(bench, "worker-never-stops", |draft| {
                draft.payloads[1].data = plain_initramfs();
                draft.encrypt(CLASS);
            })?;
            setup.class_keys = vec![fake_class_key(CLASS)];
            let (run, found) = searched(bench, &setup, &leaks_with_plain_text(bench)?, &[])?;
            expect_reset(&run, Reason::HartNotStopped)?;
            ensure!(found.is_empty(), "{found:?}");
            Ok(())
        }),
        // Without the functions something has to be found: the search sees what they are for.
        Case::new("encrypted/a-loader-that-wipes-nothing-after-a-refusal-is-caught", |bench| {
            let found = after_refusal(bench, Some(&["hartlock_loader", "decryption", "forget"]))?;
            let has = |what: &str| found.iter().any(|(name, _)| name.contains(what));
            ensure!(has("initramfs") && has("content key"), "{found:?}");
            Ok(())
        }),
        Case::new("encrypted/a-loader-that-wipes-no-key-is-caught", |bench| {
            let mut setup = encrypted(bench)?;
            setup.boot = boot_without(bench, &["hartlock_loader", "decryption", "forget_keys"])?;
            let (run, found) = searched(bench, &setup, &keys(bench)?, &[])?;
            expect_boot(&run)?;
            ensure!(!found.is_empty(), "nothing is found");
            Ok(())
        }),
        Case::new("encrypted/a-device-tree-that-is-refused-late-leaves-no-copy", |bench| {
            // What the command line permits is compared with the tree when the edited copy of it is complete.
            let limit = Edit::Draft(|draft| draft.bootargs = "mem=1M".into());
            let (run, memory) = stopped(bench, &encrypted_with(bench, &[limit])?)?;
            expect_refusal(&run, Stage::Loader, Reason::DeviceTreeUnusable)?;
            let copy = qemu_virt::LINUX_FDT;
            let start = usize::try_from(copy.start - qemu_virt::RAM.start)?;
            let copy = &memory[start..start + usize::try_from(copy.size())?];
            ensure!(copy.iter().all(|byte| *byte == 0), "a copy of the tree is left");
            Ok(())
        }),
        // The first trap is that of the boot, when all payloads are decrypted, and the second one that of its refusal.
        Case::new("encrypted/a-trap-in-a-refusal-leaves-no-key-and-no-plain-text", |bench| {
            let found = after_trap(bench, &["loader", "harts", "Harts", "stop"])?;
            ensure!(found.is_empty(), "{found:?}");
            Ok(())
        }),
        Case::new("encrypted/a-trap-in-the-use-of-a-key-leaves-none", |bench| {
            let found = after_trap(bench, &["aes", "bitsliced", "substitute"])?;
            ensure!(found.is_empty(), "{found:?}");
            Ok(())
        }),
        Case::new("encrypted/a-rom-that-traps-twice-leaves-no-key", |bench| {
            let mut setup = encrypted(bench)?;
            let mut elf = fs::read(&bench.firmware.rom.elf)?;
            // The page is written before the first function is called, and the second one makes the text about its trap.
            trap_in(&mut elf, &["hartlock_rom", "write_handoff"])?;
            trap_in(&mut elf, &["console", "Number", "as_str"])?;
            setup.rom = firmware::flat_binary_of(&elf)?;
            let device = Device::temporary()?;
            bench.install(&device, &setup)?;
            let memory = GuestMemory::of(&device)?;
            let mut machine = bench.start_on(&device, &setup, &memory.options())?;
            wait_for_the_halt(&mut machine)?;
            let run = machine.finish(Stop::Found, &mut |_| ());
            let is_early = !run.transcript.contains("hartlock: ROM");
            ensure!(!is_early && !run.transcript.contains("refused"), "{}", run.transcript);
            let found = keys(bench)?.found_in(&memory.read()?);
            ensure!(found.is_empty(), "{found:?}");
            Ok(())
        }),
        Case::new("encrypted/another-boot-hart-leaves-no-key", |bench| {
            let mut draft = bench.boot_draft(&bench.firmware.loader)?;
            draft.payloads.get_mut(2).context("the device tree")?.data = with_boot_hart(bench, 1)?;
            let boot = hartlock_testkit::bundle::build(draft, &[]).0;
            let (run, memory) = stopped(bench, &Setup { boot, ..encrypted(bench)? })?;
            let (stage, reason) = (Stage::Loader, Reason::WrongBootHart);
            ensure!(run.outcome == Outcome::Refused { stage, reason }, "{:?}", run.outcome);
            let found = keys(bench)?.found_in(&memory);
            ensure!(found.is_empty(), "{found:?}");
            Ok(())
        }),
        Case::new("encrypted/a-rom-that-refuses-leaves-no-key", |bench| {
            let mut setup = encrypted(bench)?;
            *setup.boot.get_mut(3 << 12).context("inside of the bundle")? ^= 1;
            // The page holds keys of a boot that was cut off.
            let page = [0xa5_u8; 4096];
            let file = tempfile::NamedTempFile::new()?;
            fs::write(file.path(), page)?;
            let at = qemu_virt::PAYLOAD_KEYS.start;
            let option = format!("loader,file={},addr={at:#x},force-raw=on", file.path().display());
            let mut leaks = keys(bench)?;
            leaks.add("the page of an earlier boot", &[0xa5, 1, 0xa5, 2, 0xa5, 3, 0xa5, 4]);
            let (run, bytes) = with_memory(bench, &setup, &["-device".to_owned(), option])?;
            expect_refusal(&run, Stage::Rom, Reason::PayloadDigestMismatch)?;
            let start = usize::try_from(at - qemu_virt::RAM.start)?;
            ensure!(bytes[start..start + 4096] == [0; 4096], "the page is not zero");
            let found = leaks.found_in(&bytes);
            ensure!(found.is_empty(), "{found:?}");
            Ok(())
        }),
    ]);
    cases
}

/// Returns what decryption and hash of a payload of 4 MiB in blocks of 80 KiB take on one hart, in instructions a byte.
fn costs(bench: &TestBoard, cpu: &str) -> Result<(f64, f64)> {
    let edit = Edit::Draft(|draft| {
        draft.payloads[1].resize(4 << 20);
        draft.payloads[1].use_blocks(80 << 10);
        draft.encrypt(CLASS);
    });
    let mut setup = bench.setup(&[], &[edit])?;
    setup.class_keys = vec![fake_class_key(CLASS)];
    (setup.harts, setup.is_counted) = (1, true);
    setup.cpu = Some(cpu.to_owned());
    let run = bench.run(&setup)?;
    expect_boot(&run)?;
    // The clock of the board counts instructions, one a nanosecond.
    let log = run.measurements.as_ref().context("there is no log")?;
    let of_a_tick = 1_000_000_000 / log.header.ticks_per_second;
    let cost = |step| {
        let entry = loader_entry(&run, step, Some(PayloadType::Initramfs))?;
        anyhow::Ok((entry.value * of_a_tick) as f64 / entry.bytes as f64)
    };
    let (decryption, hash) = (cost(Step::Decrypt)?, cost(Step::HashPart)?);
    println!("    decryption {decryption:.3}, hash {hash:.3} instructions a byte");
    Ok((decryption, hash))
}

/// Encrypts all payloads, of which each has another mode, and gives the initramfs bytes that are nowhere else.
fn encrypt(draft: &mut Draft) {
    draft.payloads[1].data = plain_initramfs();
    draft.payloads[1].mode = TreeMode::Blocks { block_size: 4096 };
    draft.encrypt(CLASS);
}

fn plain_initramfs() -> Vec<u8> {
    let mut state = 0x0123_4567_89ab_cdef_u64;
    let words = (0..40_000).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.take(300_001).collect()
}

/// Makes a working device with an encrypted system bundle and the key of its class.
fn encrypted(bench: &TestBoard) -> Result<Setup> {
    encrypted_with(bench, &[])
}

fn encrypted_with(bench: &TestBoard, more: &[Edit]) -> Result<Setup> {
    let edits: Vec<_> = [Edit::Draft(encrypt)].into_iter().chain(more.iter().copied()).collect();
    Ok(Setup { class_keys: vec![fake_class_key(CLASS)], ..bench.setup(&[], &edits)? })
}

/// Checks that the kernel ran, and that all payloads were decrypted by this implementation, those in blocks by several
/// harts.
fn expect_decrypted(run: &Run, tier: CipherTier) -> Result<()> {
    expect_boot(run)?;
    for payload in [PayloadType::Kernel, PayloadType::Initramfs, PayloadType::SystemFdt] {
        let entry = loader_entry(run, Step::Decrypt, Some(payload))?;
        ensure!(entry.kernel == tier as u32 && entry.harts != 0, "{entry:?}");
    }
    let initramfs = loader_entry(run, Step::Decrypt, Some(PayloadType::Initramfs))?;
    ensure!(initramfs.harts.count_ones() > 1 && initramfs.bytes == LARGE as u64, "{initramfs:?}");
    Ok(())
}

fn refused(bench: &TestBoard, setup: Setup, reason: Reason) -> Result<()> {
    expect_refusal(&bench.run(&setup)?, Stage::Loader, reason)
}

fn refused_with(bench: &TestBoard, classes: &[u8], reason: Reason) -> Result<()> {
    let class_keys: Vec<ClassKey> = classes.iter().copied().map(fake_class_key).collect();
    refused(bench, Setup { class_keys, ..encrypted(bench)? }, reason)
}

/// Checks that the loader refuses on a device that was changed after it was provisioned.
fn refused_on(
    bench: &TestBoard,
    setup: &mut Setup,
    reason: Reason,
    change: impl FnOnce(&Device) -> Result<()>,
) -> Result<()> {
    let device = Device::temporary()?;
    bench.install(&device, setup)?;
    change(&device)?;
    let machine = bench.start_on(&device, setup, &[])?;
    expect_refusal(&bench.finish(machine, None), Stage::Loader, reason)
}

fn write_store(device: &Device, store: &[u8]) -> Result<()> {
    let mut bank = fs::read(device.bundle_flash())?;
    bank[CLASS_KEYS_AT..][..store.len()].copy_from_slice(store);
    Ok(fs::write(device.bundle_flash(), bank)?)
}

/// Changes one bit of the class-key store.
fn damage_store(device: &Device) -> Result<()> {
    let byte = fs::read(device.bundle_flash())?[CLASS_KEYS_AT + 40] ^ 1;
    let mut bank = fs::read(device.bundle_flash())?;
    bank[CLASS_KEYS_AT + 40] = byte;
    Ok(fs::write(device.bundle_flash(), bank)?)
}

/// Checks that blocks of a lost hart are decrypted once: otherwise the tree of the kernel's last stage would be noise.
fn lost_work(bench: &TestBoard, feature: &str) -> Result<()> {
    let mut setup = faulty(bench, feature, |draft| draft.encrypt(CLASS))?;
    setup.class_keys = vec![fake_class_key(CLASS)];
    let (run, memory) = with_memory(bench, &setup, &[])?;
    expect_lost_work(&run)?;
    let plain = faulty_initramfs(bench)?;
    let start = usize::try_from(0x8800_0000 - qemu_virt::RAM.start)?;
    ensure!(memory[start..start + plain.len()] == plain, "the initramfs is not the plain text");
    Ok(())
}

/// Returns the plain text of the initramfs of a device with a faulty hart.
fn faulty_initramfs(bench: &TestBoard) -> Result<Vec<u8>> {
    let mut draft = bench.system_draft()?;
    draft.payloads[1].resize(6 << 20);
    Ok(draft.payloads[1].data.clone())
}

/// Returns the keys that must not stay: secret and derived key of the device, class key, content keys, and the round
/// keys of each.
fn keys(bench: &TestBoard) -> Result<Leaks> {
    let root = bench.setup(&[], &[])?.root;
    let mut leaks = Leaks::default();
    leaks.add_state_key(root.secret.bytes(), &root.state_key());
    let payload_key = root.payload_key();
    leaks.add_hmac_key("key for payloads", &*payload_key);
    add_cipher_key(&mut leaks, "key for payloads", payload_key.first_chunk().context("48 bytes")?);
    add_cipher_key(&mut leaks, "class key", fake_class_key(CLASS).bytes());
    for payload in [PayloadType::Kernel, PayloadType::Initramfs, PayloadType::SystemFdt] {
        let name = format!("content key of the {}", payload.name());
        add_cipher_key(&mut leaks, &name, fake_content_key(payload).bytes());
    }
    Ok(leaks)
}

/// Returns the same with the plain text of the initramfs.
fn leaks_with_plain_text(bench: &TestBoard) -> Result<Leaks> {
    let mut leaks = keys(bench)?;
    leaks.add("plain text of the initramfs", &plain_initramfs());
    Ok(leaks)
}

/// Adds a key of AES-256 and the first block of its stream.
fn add_cipher_key(leaks: &mut Leaks, name: &str, key: &[u8; 32]) {
    leaks.add(name, key);
    let mut block = [0; 16].into();
    Aes256::new(key.into()).encrypt_block(&mut block);
    leaks.add(&format!("{name}, stream"), &block);
}

/// Boots a device, and returns its memory at the end.
fn with_memory(bench: &TestBoard, setup: &Setup, more: &[String]) -> Result<(Run, Vec<u8>)> {
    let device = Device::temporary()?;
    bench.install(&device, setup)?;
    let memory = GuestMemory::of(&device)?;
    let options = [&memory.options()[..], more].concat();
    let machine = bench.start_on(&device, setup, &options)?;
    let run = bench.finish(machine, setup.until);
    Ok((run, memory.read()?))
}

/// Boots a device, and searches its memory.
fn searched(
    bench: &TestBoard,
    setup: &Setup,
    leaks: &Leaks,
    more: &[String],
) -> Result<(Run, Vec<(String, usize)>)> {
    let (run, bytes) = with_memory(bench, setup, more)?;
    Ok((run, leaks.found_in(&bytes)))
}

/// Boots a device until every hart is stopped after a refusal, and returns its memory.
fn stopped(bench: &TestBoard, setup: &Setup) -> Result<(Run, Vec<u8>)> {
    let device = Device::temporary()?;
    bench.install(&device, setup)?;
    let memory = GuestMemory::of(&device)?;
    let mut machine = bench.start_on(&device, setup, &memory.options())?;
    let stop = bench.wait(&mut machine, None);
    wait_for_the_stop(&mut machine, setup)?;
    let run = machine.finish(stop, &mut |_| ());
    Ok((run, memory.read()?))
}

/// Makes a boot bundle whose loader lacks a function.
fn boot_without(bench: &TestBoard, function: &[&str]) -> Result<Vec<u8>> {
    boot_with(bench, |elf| remove(elf, function))
}

/// Makes a boot bundle whose loader was changed.
fn boot_with(bench: &TestBoard, change: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Vec<u8>> {
    let mut elf = fs::read(&bench.firmware.loader.elf)?;
    change(&mut elf)?;
    let mut draft = bench.boot_draft(&bench.firmware.loader)?;
    let payload = draft.payloads.get_mut(1).context("the loader")?;
    payload.data = firmware::flat_binary_of(&elf)?;
    Ok(hartlock_testkit::bundle::build(draft, &[]).0)
}

/// Refuses a bundle at its last payload, when the others are decrypted, and returns what is left of keys and plain text.
fn after_refusal(bench: &TestBoard, removed: Option<&[&str]>) -> Result<Vec<(String, usize)>> {
    let mut setup = encrypted(bench)?;
    if let Some(function) = removed {
        setup.boot = boot_without(bench, function)?;
    }
    let system = setup.system.as_mut().context("there is a disk")?;
    let last = system.len() - 4096;
    *system.get_mut(last).context("inside of the device tree")? ^= 1;
    let (run, found) = searched(bench, &setup, &leaks_with_plain_text(bench)?, &[])?;
    expect_refusal(&run, Stage::Loader, Reason::PayloadDigestMismatch)?;
    Ok(found)
}

/// Boots a loader that traps in a function, on harts without an instruction for AES, and returns what is left of keys and
/// plain text.
fn after_trap(bench: &TestBoard, function: &[&str]) -> Result<Vec<(String, usize)>> {
    let mut setup = encrypted(bench)?;
    setup.boot = boot_with(bench, |elf| trap_in(elf, function))?;
    setup.cpu = Some(BOARDS[0].1.to_owned());
    setup.harts = 3;
    let mut leaks = keys(bench)?;
    leaks.add("plain text of the initramfs", &plain_initramfs());
    let (run, memory) = stopped(bench, &setup)?;
    let (stage, reason) = (Stage::Loader, Reason::UnexpectedTrap);
    ensure!(run.outcome == Outcome::Refused { stage, reason }, "{:?}", run.outcome);
    Ok(leaks.found_in(&memory))
}

/// Makes a function return `Ok(false)` at once: `li a0, 0; li a1, 0; ret`.
fn skip(elf: &mut [u8], function: &[&str]) -> Result<()> {
    let at = firmware::function_in_file(elf, function)?;
    let code = [0x4501_u16, 0x4581, 0x8082].map(u16::to_le_bytes).concat();
    elf.get_mut(at..at + code.len()).context("inside of the file")?.copy_from_slice(&code);
    Ok(())
}

/// Makes a function of a stage trap.
fn trap_in(elf: &mut [u8], function: &[&str]) -> Result<()> {
    let at = firmware::function_in_file(elf, function)?;
    elf.get_mut(at..at + 4).context("inside of the file")?.copy_from_slice(&ILLEGAL);
    Ok(())
}

/// Waits until hart 0 stays where it is, for longer than the ROM waits for other harts.
fn wait_for_the_halt(machine: &mut Machine) -> Result<()> {
    const STAY: Duration = Duration::from_secs(3);
    let end = Instant::now() + Duration::from_secs(60);
    let (mut pc, mut since) = (0, Instant::now());
    while since.elapsed() < STAY {
        ensure!(Instant::now() < end, "hart 0 does not halt");
        let now = machine.harts().iter().find(|hart| hart.hart == 0).map_or(0, |hart| hart.pc);
        if now != pc {
            (pc, since) = (now, Instant::now());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
