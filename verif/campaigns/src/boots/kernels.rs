//! Tests which hash kernels a board uses: the best one that each hart supports, and none that
//! computes a wrong digest.

use anyhow::{Context, Result, bail, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::machine::Run;
use hartlock_handoff::{Entry, Step};
use hartlock_image::{HashId, PayloadType, TreeMode};
use hartlock_kernels::Tier;
use hartlock_maps::qemu_virt;

use super::board::{TestBoard, entries, expect_boot, loader_entry};
use super::case::Case;
use hartlock_testkit::bundle::{Draft, Edit};
use xtask::firmware;

/// QEMU CPU options for RV64GC without further extensions.
const BASE: &str = "rv64,zba=false,zbb=false,zbc=false,zbs=false";

/// Boards: a name, the extensions of their harts, and the tiers that the loader must choose for
/// SHA-384 and for SHA3-384.
const BOARDS: &[(&str, &str, Tier, Tier)] = &[
    ("rv64", "", Tier::Rv64, Tier::Rv64),
    ("zbb", ",zbb=true", Tier::Zbb, Tier::Zbb),
    ("zknh", ",zbb=true,zknh=true", Tier::Zknh, Tier::Zbb),
    ("v", ",zbb=true,v=true,vlen=256", Tier::V, Tier::V),
    ("zvbb", ",zbb=true,v=true,vlen=256,zvbb=true", Tier::Zvbb, Tier::Zvbb),
    ("zvknh", ",zbb=true,v=true,vlen=128,zvbb=true,zvknhb=true", Tier::Zvknh, Tier::Zvbb),
];

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = BOARDS
        .iter()
        .map(|board| {
            Case::new(format!("kernels/a-board-with-{}-uses-it", board.0), |bench| {
                best_is_used(bench, board)
            })
        })
        .collect();
    cases.push(Case::new("kernels/one-that-answers-wrong-is-not-used", wrong_answer));
    cases.push(Case::new("kernels/a-hart-in-lanes-loses-its-work-to-another", loses_lanes));
    cases.push(Case::new("kernels/kernel-and-initramfs-of-the-paper", sizes_of_the_paper));
    cases
}

/// Hashes the kernel with SHA-384, the initramfs with SHA3-384 and the device tree with KT128, so
/// that every hash family is used.
fn families(draft: &mut Draft) {
    let hashes = [HashId::Sha384, HashId::Sha3_384, HashId::Kt128];
    for (payload, hash) in draft.payloads.iter_mut().zip(hashes) {
        payload.hash = hash;
    }
}

fn cpu(properties: &str) -> String {
    format!("{BASE}{properties}")
}

fn best_is_used(bench: &TestBoard, board: &(&str, &str, Tier, Tier)) -> Result<()> {
    let (_, properties, sha2, sha3) = board;
    let mut setup = bench.setup(&[], &[Edit::Draft(families)])?;
    (setup.harts, setup.cpu) = (3, Some(cpu(properties)));
    let run = bench.run(&setup)?;
    expect_boot(&run)?;
    for (payload, tier) in [(PayloadType::Kernel, sha2), (PayloadType::Initramfs, sha3)] {
        let hash = loader_entry(&run, Step::Hash, Some(payload))?;
        ensure!(hash.kernel == *tier as u32, "{payload:?}: {tier:?} was expected, not {hash:?}");
        for part in parts(&run, payload)? {
            ensure!(part.kernel == *tier as u32, "{payload:?}: {part:?}");
        }
    }
    // The ROM contains kernels for its default hash only: Zknh and vector crypto.
    let rom = entries(&run)?
        .iter()
        .find(|entry| entry.stage == Stage::Rom && entry.step == Step::Hash)
        .context("the ROM hashed nothing")?;
    let expected = if matches!(sha2, Tier::Zknh | Tier::Zvknh) { *sha2 } else { Tier::Portable };
    ensure!(rom.kernel == expected as u32, "the ROM: {expected:?} was expected, not {rom:?}");
    // All higher tiers are missing, and the log says so.
    let missing = rejected(&run, Stage::Loader)?;
    let has = |tier: Tier| missing.iter().any(|entry| entry.kernel == tier as u32);
    ensure!(has(Tier::Zvknh) == (*sha2 != Tier::Zvknh), "{missing:?}");
    ensure!(has(Tier::V) != properties.contains(",v=true"), "{missing:?}");
    ensure!(!has(*sha2) && !has(*sha3), "{missing:?}");
    ensure!(missing.iter().all(|entry| entry.value == 0), "a wrong answer: {missing:?}");
    Ok(())
}

/// Returns the log entries with the part of a payload that each hart hashed.
fn parts(run: &Run, payload: PayloadType) -> Result<Vec<Entry>> {
    let is_part = |entry: &&Entry| entry.step == Step::HashPart && entry.payload == Some(payload);
    let parts: Vec<Entry> = entries(run)?.iter().filter(is_part).copied().collect();
    ensure!(!parts.is_empty(), "no hart hashed a block of the {payload:?}");
    Ok(parts)
}

/// Returns the log entries of kernels that a stage does not use.
fn rejected(run: &Run, stage: Stage) -> Result<Vec<Entry>> {
    let is_rejected = |entry: &&Entry| entry.stage == stage && entry.step == Step::Kernel;
    Ok(entries(run)?.iter().filter(is_rejected).copied().collect())
}

/// Tests a loader in which one rotation in each Zbb kernel has another distance. The board boots with
/// the RV64I kernels, and the log says why.
fn wrong_answer(bench: &TestBoard) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut loader = bench.firmware.loader.clone();
    let mut bytes = std::fs::read(&loader.bin)?;
    let kernels = ["sha256_rv64_zbb", "sha512_rv64_zbb", "keccak_rv64_zbb"];
    for kernel in kernels {
        let address = firmware::symbol(&loader.elf, &format!("hartlock_{kernel}"))?;
        let start = usize::try_from(address - qemu_virt::LOADER.start)?;
        turn_a_rotation(bytes.get_mut(start..).context("inside the loader")?)?;
    }
    loader.bin = folder.path().join("loader.bin");
    std::fs::write(&loader.bin, bytes)?;
    let mut setup = bench.setup_with(&loader, &[], &[Edit::Draft(families)])?;
    (setup.harts, setup.cpu) = (3, Some(cpu(",zbb=true")));
    let run = bench.run(&setup)?;
    expect_boot(&run)?;
    for payload in [PayloadType::Kernel, PayloadType::Initramfs] {
        let hash = loader_entry(&run, Step::Hash, Some(payload))?;
        ensure!(hash.kernel == Tier::Rv64 as u32, "{hash:?}");
    }
    let wrong = rejected(&run, Stage::Loader)?;
    let zbb = wrong.iter().find(|entry| entry.kernel == Tier::Zbb as u32);
    ensure!(zbb.is_some_and(|entry| entry.value == 0b111), "{wrong:?}");
    ensure!(run.transcript.contains("WRONG: zbb"), "the console says nothing");
    Ok(())
}

/// Changes the distance of the first `rori` or `roriw` in `code`.
fn turn_a_rotation(code: &mut [u8]) -> Result<()> {
    /// Mask of opcode, funct3 and the bits above the distance (RISC-V unprivileged ISA, Zbb).
    const MASK: u32 = 0xfc00_707f;
    const ROTATIONS: [u32; 2] = [0x6000_5013, 0x6000_501b];
    const DISTANCE: u32 = 1 << 20;
    for at in (0..code.len().min(4096)).step_by(2) {
        let Some(place) = code.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) else { break };
        let word = u32::from_le_bytes(*place);
        if ROTATIONS.contains(&(word & MASK)) {
            *place = (word ^ DISTANCE).to_le_bytes();
            return Ok(());
        }
    }
    bail!("a kernel for Zbb without a rotation")
}

/// Tests a hart that takes four blocks at once and traps: these four are hashed again, the others are
/// not.
fn loses_lanes(bench: &TestBoard) -> Result<()> {
    let loader = firmware::stage("loader-variants", &["worker-trap"])?;
    // The payload has enough blocks for every hart, even on a busy machine.
    let long = Edit::Draft(|draft: &mut Draft| {
        families(draft);
        draft.payloads[0].data.resize(8 << 20, 0);
        draft.payloads[0].memory_size = 8 << 20;
    });
    let mut setup = bench.setup_with(&loader, &[], &[long])?;
    (setup.harts, setup.cpu) = (5, Some(cpu(BOARDS[4].1)));
    let run = bench.run(&setup)?;
    expect_boot(&run)?;
    let fault = loader_entry(&run, Step::HartFault, None)?;
    ensure!(fault.value == 1 << 2, "{fault:?}");
    let hash = loader_entry(&run, Step::Hash, Some(PayloadType::Kernel))?;
    ensure!(hash.kernel == Tier::Zvbb as u32 && hash.harts & (1 << 2) == 0, "{hash:?}");
    Ok(())
}

/// Boots payloads of 29 MiB and 97 MiB on five harts with vector crypto (first paper, section VII).
fn sizes_of_the_paper(bench: &TestBoard) -> Result<()> {
    const MIB: usize = 1 << 20;
    let large = Edit::Draft(|draft: &mut Draft| {
        for (payload, size) in draft.payloads.iter_mut().zip([29 * MIB, 97 * MIB]) {
            payload.data.resize(size, 0);
            // The stub stays at the start. The bytes after it have no pattern, so that no two blocks
            // are equal.
            let from = payload.data.len().min(65_536);
            for (index, bytes) in payload.data[from..].chunks_mut(8).enumerate() {
                let word = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            }
            payload.memory_size = size as u64;
            payload.mode = TreeMode::Blocks { block_size: 80 << 10 };
        }
    });
    let mut setup = bench.setup(&[], &[large])?;
    (setup.harts, setup.cpu) = (5, Some(cpu(BOARDS[5].1)));
    let run = bench.run(&setup)?;
    expect_boot(&run)?;
    for payload in [PayloadType::Kernel, PayloadType::Initramfs] {
        let hash = loader_entry(&run, Step::Hash, Some(payload))?;
        ensure!(hash.kernel == Tier::Zvknh as u32, "{hash:?}");
        let bytes: u64 = parts(&run, payload)?.iter().map(|part| part.bytes).sum();
        ensure!(bytes == hash.bytes, "{bytes} of {} bytes were hashed by harts", hash.bytes);
    }
    Ok(())
}
