//! Tests with boots of a few instructions, in which campaigns must find the skips that turn the boot.

use super::{Boot, Plan, Progress, SLACK, run};
use crate::board::{BoardMachine, BoardStorage};
use crate::subject::FaultMachine;

/// The instruction `wfi`.
const WAIT: u32 = 0x1050_0073;
/// The instructions `j .-4` and `j .-8`.
const BACK: [u32; 2] = [0xffdf_f06f, 0xff9f_f06f];
/// The instruction `jr t0`.
const LEAVE: u32 = 0x0002_8067;

/// Makes flash in which hart 0 executes `program` with the start of memory in t0; the other harts
/// wait.
fn storage(program: &[u32]) -> BoardStorage {
    // Program: csrr a0, mhartid; beqz a0, .+8; wfi; li t0, 1; slli t0, t0, 31
    let start = [0xf140_2573, 0x0005_0463, WAIT, 0x0010_0293, 0x01f2_9293];
    let words = start.iter().chain(program);
    BoardStorage::new(words.flat_map(|it| it.to_le_bytes()).collect(), vec![])
}

/// Returns the addresses of instructions whose skip turns the boot, with the distance of the second
/// skip.
fn turned(program: &[u32], second_within: u32) -> Vec<(u32, u32)> {
    turned_of(&storage(program), second_within)
}

fn turned_of(storage: &BoardStorage, second_within: u32) -> Vec<(u32, u32)> {
    let start = BoardMachine::new(storage);
    let boot = Boot::record(&start).unwrap();
    let plan =
        Plan { positions: (0..boot.path.len()).collect(), second_within, slack: SLACK, jobs: 2 };
    let report = run(&start, &boot, &plan, &Progress::default());
    assert_eq!(report.stopped + report.turned + report.data + report.astray, report.runs);
    let turned = report.findings.iter().filter(|it| it.place.is_attacker_controlled());
    let places: Vec<_> = turned.map(|it| (it.pc & 0xff, it.distance)).collect();
    assert_eq!(places.len() as u64, report.turned);
    places
}

#[test]
fn finds_the_jump_that_keeps_a_hart_in_its_wait() {
    assert_eq!(turned(&[WAIT, BACK[0], LEAVE], 0), [(24, 0)]);
    assert_eq!(turned(&[WAIT, BACK[0], BACK[1], LEAVE], 0), []);
}

#[test]
fn finds_two_skips_that_are_not_adjacent() {
    // Program after the `wfi`: j .-4; nop; j .-12; jr t0
    let program = [WAIT, BACK[0], 0x0000_0013, 0xff5f_f06f, LEAVE];
    assert_eq!(turned(&program, 0), []);
    assert_eq!(turned(&program, 1), []);
    assert_eq!(turned(&program, 2), [(24, 2)]);
}

#[test]
fn a_pair_with_an_instruction_without_effect_is_one_skip() {
    // Program after the `wfi`: nop; j .-8; nop; jr t0
    let storage = storage(&[WAIT, 0x0000_0013, BACK[1], 0x0000_0013, LEAVE]);
    let start = BoardMachine::new(&storage);
    let boot = Boot::record(&start).unwrap();
    let positions: Vec<usize> = (0..boot.path.len()).collect();
    let report = |second_within| {
        let plan = Plan { positions: positions.clone(), second_within, slack: SLACK, jobs: 1 };
        run(&start, &boot, &plan, &Progress::default())
    };
    let (one, two) = (report(0), report(1));
    assert_eq!((one.runs, one.pruned), (positions.len() as u64, 0));
    // Each pair is run, is pruned, or ends before its second skip.
    assert!(two.pruned >= 3 && two.runs + two.pruned <= one.runs, "{two:?}");
    // A boot without the jump leaves the ROM. Each pair with the jump also has a `nop`, so it equals
    // the skip of the jump only.
    assert_eq!((one.turned, two.turned), (1, 0));
}

#[test]
fn finds_what_changes_the_hand_over_of_an_accepted_boot() {
    // Program: nop; li a2, 5; addi t1, t0, 1024; sw t0, 0(t1); jr t0
    let program = [0x0000_0013, 0x0050_0613, 0x4002_8313, 0x0053_2023, LEAVE];
    let without = storage(&program);
    let mut machine = BoardMachine::new(&without);
    machine.run(1_000);
    let accepted = storage(&program).expecting_handover(machine.handover());
    // The skip of the argument and that of the stored payload word are found. If the address is
    // skipped, the store traps.
    let found = turned_of(&accepted, 0);
    assert_eq!(found.iter().map(|it| it.0).filter(|pc| *pc >= 20).collect::<Vec<_>>(), [24, 32]);
}

#[test]
fn a_boot_that_is_not_refused_is_no_reference() {
    assert!(Boot::record(&BoardMachine::new(&storage(&[LEAVE]))).is_err());
    assert!(Boot::record(&BoardMachine::new(&storage(&[WAIT, BACK[0]]))).is_ok());
}

/// The instructions `sd t0, 8(t0)` and `ld t1, 8(t0)`.
const STORE: u32 = 0x0052_b423;
const LOAD: u32 = 0x0082_b303;

#[test]
fn a_store_that_nothing_reads_is_not_left_out() {
    let report = |program: &[u32]| {
        let storage = storage(program);
        let start = BoardMachine::new(&storage);
        let boot = Boot::record(&start).unwrap();
        let positions: Vec<usize> = (0..boot.path.len()).collect();
        let plan = Plan { positions, second_within: 0, slack: SLACK, jobs: 1 };
        let report = run(&start, &boot, &plan, &Progress::default());
        assert_eq!(report.runs + report.unread, boot.path.len() as u64);
        report.unread
    };
    assert_eq!(report(&[STORE, WAIT, BACK[0], WAIT]), 1);
    assert_eq!(report(&[STORE, LOAD, WAIT, BACK[0], WAIT]), 0);
    // The first store is overwritten by the second.
    assert_eq!(report(&[STORE, STORE, LOAD, WAIT, BACK[0], WAIT]), 1);
}
