//! Tests with small programs in place of the ROM.

use super::devices::{AccessKind, BoardDevices};
use super::{BoardMachine, BoardStorage};
use crate::hart::Bus;
use crate::subject::{End, FaultMachine, MemoryKind};

/// Makes flash in which hart 0 executes `program`, which is at byte 64, and every other hart waits.
fn storage(program: &[u32]) -> BoardStorage {
    // csrr a0, mhartid; beqz a0, .+60; wfi
    let mut rom: Vec<u8> = [0xf140_2573, 0x0205_0e63_u32, 0x1050_0073]
        .iter()
        .flat_map(|it| it.to_le_bytes())
        .collect();
    rom.resize(64, 0);
    rom.extend(program.iter().flat_map(|it| it.to_le_bytes()));
    BoardStorage::new(rom, vec![0x01; 64])
}

fn run(program: &[u32]) -> (End, u64) {
    let storage = storage(program);
    let mut machine = BoardMachine::new(&storage);
    let end = machine.run(1000);
    (end, machine.fetched_from())
}

const WAIT: u32 = 0x1050_0073;
const BACK: u32 = 0xffdf_f06f;

#[test]
fn a_hart_that_waits_for_nothing_has_stopped() {
    assert_eq!(run(&[WAIT, BACK]).0, End::Stopped);
    assert_eq!(run(&[0x0000_006f]).0, End::Endless);
}

#[test]
fn says_whose_bytes_run() {
    // Program: lui t0, ADDRESS; jr t0
    let jump = |page: u32| run(&[page << 12 | 0x2b7, 0x0002_8067]);
    let ran = |place, address| (End::Ran(place), address);
    // `lui` sign-extends, so it cannot load an address of memory (0x8000_0000 and above); flash addresses
    // are used here.
    assert_eq!(jump(0x22000), ran(MemoryKind::BundleFlash, 0x2200_0000));
    // Program: addi t0, zero, 1; slli t0, t0, 31; jr t0. It jumps to memory that was not written.
    assert_eq!(
        run(&[0x0010_0293, 0x01f2_9293, 0x0002_8067]),
        ran(MemoryKind::Prepared, 0x8000_0000)
    );
    // The same jump after a store of 1, which is `c.nop`: sw a1, 0(t0) with a1 = 1
    assert_eq!(
        run(&[0x0010_0293, 0x0010_0593, 0x01f2_9293, 0x00b2_a023, 0x0002_8067]),
        ran(MemoryKind::Payload, 0x8000_0000)
    );
    // The same at an address in ROM RAM, 1 MiB above the start of memory: lui t1, 0x100; add t0, t0, t1
    let own = [0x0010_0293, 0x0010_0593, 0x01f2_9293, 0x0010_0337, 0x0062_82b3, 0x00b2_a023];
    assert_eq!(run(&[&own[..], &[0x0002_8067]].concat()), ran(MemoryKind::Data, 0x8010_0000));
}

#[test]
fn a_fetch_of_zeros_or_of_nothing_traps() {
    // Program: la t0, .+16; csrw mtvec, t0; jr zero; …; wfi; j .-4
    let program = [0x0000_0297, 0x0102_8293, 0x3052_9073, 0x0000_0067, WAIT, BACK];
    assert_eq!(run(&program).0, End::Stopped);
}

#[test]
fn memory_protection_stops_a_fetch() {
    // Program: li t0, -1; csrw pmpaddr0, t0; li t0, 0x9b (locked, NAPOT, no execution); csrw pmpcfg0, t0
    let lock = [0xfff0_0293, 0x3b02_9073, 0x09b0_0293, 0x3a02_9073];
    let jump = [0x0010_0293, 0x01f2_9293, 0x0002_8067];
    // The ROM itself is not executable either, so the trap handler traps again, without end.
    assert_eq!(run(&[&lock[..], &jump].concat()).0, End::Endless);
}

/// Returns the end of a boot whose loader is this program, on a machine with one hart, in S-mode.
fn run_loader(program: &[u32]) -> End {
    let code: Vec<u8> = program.iter().flat_map(|it| it.to_le_bytes()).collect();
    let storage = BoardStorage::with_loader(vec![0; 64], vec![], vec![], &code);
    let mut machine = BoardMachine::with_one_hart(&storage);
    machine.enter_loader();
    machine.run(1000)
}

// Instructions li t0, 1; slli t0, t0, 31, which load the start of memory, where OpenSBI is.
const MEMORY: [u32; 2] = [0x0010_0293, 0x01f2_9293];
// Instructions la t1, .+16; csrw stvec, t1. A trap then continues after the instruction that follows
// them.
const TRAP: [u32; 3] = [0x0000_0317, 0x0103_0313, 0x1053_1073];

#[test]
fn a_loader_stops_by_a_call() {
    // Program: lui a7, 0x485; addi a7, a7, 0x34d; then li a6, FUNCTION; ecall
    let hsm = [0x0048_58b7, 0x34d8_8893];
    assert_eq!(run_loader(&[&hsm[..], &[0x0010_0813, 0x0000_0073]].concat()), End::Stopped);
    // hart_status returns; execution continues after the program, in the attacker's filler.
    let status = [&hsm[..], &[0x0020_0813, 0x0000_0073]].concat();
    assert_eq!(run_loader(&status), End::Ran(MemoryKind::Prepared));
}

#[test]
fn a_loader_is_kept_out_of_what_opensbi_closes() {
    for access in [0x0002_b303, 0x0062_b023, 0x0002_8067] {
        // Instructions: ld t1, 0(t0); sd t1, 0(t0); jr t0
        let program = [&MEMORY[..], &TRAP, &[access, WAIT, BACK]].concat();
        assert_eq!(run_loader(&program), End::Stopped, "{access:#x}");
    }
    // Instruction: csrr t0, mhartid
    let program = [&TRAP[..], &[0xf140_22f3, WAIT, BACK]].concat();
    assert_eq!(run_loader(&program), End::Stopped);
}

#[test]
fn a_loader_that_changes_its_code_is_noticed() {
    // Program: auipc t0, 0; sw zero, 0(t0)
    assert_eq!(run_loader(&[0x0000_0297, 0x0002_a023]), End::Ran(MemoryKind::ChangedCode));
    // With lui t1, 0x10; add t0, t0, t1 the store goes 64 KiB further, to the loader's data.
    let elsewhere = [0x0000_0297, 0x0001_0337, 0x0062_82b3, 0x0002_a023, WAIT, BACK];
    assert_eq!(run_loader(&elsewhere), End::Stopped);
}

#[test]
fn pages_decide_what_is_executed_and_written() {
    let storage = storage(&[]);
    let mut devices = BoardDevices::new(&storage);
    // The root table is at 0x8050_0000, followed by a table for the third gigabyte, with 2 MiB that are
    // executable and 2 MiB that are writable.
    let (root, next) = (0x8050_0000_u64, 0x8050_1000_u64);
    for address in (root..root + 0x2000).step_by(8) {
        devices.store::<8>(address, 0).unwrap();
    }
    devices.store::<8>(root + 16, next >> 2 | 1).unwrap();
    devices.store::<8>(next, 0x8000_0000 >> 2 | 0x4b).unwrap();
    devices.store::<8>(next + 8, 0x8020_0000 >> 2 | 0xc7).unwrap();
    let allowed = |devices: &BoardDevices<'_>, address| {
        [AccessKind::Read, AccessKind::Write, AccessKind::Fetch]
            .map(|it| devices.is_mapped(address, it))
    };
    assert_eq!(allowed(&devices, 0x8040_0000), [true; 3]);
    devices.set_paging(8 << 60 | root >> 12);
    assert_eq!(allowed(&devices, 0x801f_fffe), [true, false, true]);
    assert_eq!(allowed(&devices, 0x8020_0000), [true, true, false]);
    assert_eq!(allowed(&devices, 0x8040_0000), [false; 3]);
    assert_eq!(allowed(&devices, 0x1000_0000), [false; 3]);
}
