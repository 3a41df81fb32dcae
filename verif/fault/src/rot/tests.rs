//! Tests with small programs in place of the ROM.

use hartlock_regs::boot_sequencer::{BootSequencerState, BootSequencerWord};

use super::{RESET, RotMachine, RotStorage};
use crate::subject::{End, FaultMachine, MemoryKind, step_until};

/// The instructions `wfi` and `j .-4`.
const STOP: [u32; 2] = [0x1050_0073, 0xffdf_f06f];
/// The instruction `lui t0, 0x40002`, which loads the address of the boot sequencer.
const SEQUENCER: u32 = 0x4000_22b7;
/// The instruction `sw t1, 0(t0)`.
const DECIDE: u32 = 0x0062_a023;

/// Runs a program whose traps end in `wfi`.
fn run(program: &[u32]) -> (End, BootSequencerState) {
    let mut rom: Vec<u8> = STOP.iter().flat_map(|it| it.to_le_bytes()).collect();
    rom.resize(RESET as usize, 0);
    rom.extend(program.iter().flat_map(|it| it.to_le_bytes()));
    let storage = RotStorage::new(rom.clone(), rom.len(), vec![0x55; 100]);
    let mut machine = RotMachine::new(&storage);
    let end = step_until(&mut machine, 1000);
    (end, machine.decision().0)
}

/// Returns `lui t1` and `addi t1, t1`, which load a decision word.
fn load(word: BootSequencerWord) -> [u32; 2] {
    let word = word as u32;
    let upper = word.wrapping_add(0x800) & 0xffff_f000;
    [upper | 0x337, (word.wrapping_sub(upper) << 20) | 0x0003_0313]
}

#[test]
fn a_release_turns_the_boot_and_any_other_word_does_not() {
    let decided = |word| run(&[&[SEQUENCER][..], &load(word), &[DECIDE], &STOP].concat());
    assert_eq!(
        decided(BootSequencerWord::Release),
        (End::Ran(MemoryKind::Host), BootSequencerState::Released)
    );
    assert_eq!(decided(BootSequencerWord::Refuse), (End::Stopped, BootSequencerState::Refused));
    assert_eq!(decided(BootSequencerWord::Trap), (End::Stopped, BootSequencerState::Trapped));
    assert_eq!(decided(BootSequencerWord::Stop), (End::Stopped, BootSequencerState::Stopped));
    // Instruction: sw t0, 0(t0)
    assert_eq!(
        run(&[SEQUENCER, 0x0052_a023, STOP[0], STOP[1]]),
        (End::Stopped, BootSequencerState::Refused)
    );
}

#[test]
fn a_release_after_a_refusal_is_a_trap() {
    let [refuse, release] = [BootSequencerWord::Refuse, BootSequencerWord::Release].map(load);
    let program = [&[SEQUENCER][..], &refuse, &[DECIDE], &release, &[DECIDE]].concat();
    assert_eq!(run(&program), (End::Stopped, BootSequencerState::Refused));
}

#[test]
fn half_of_a_word_is_no_decision() {
    // Instruction: sh t1, 0(t0)
    let program = [&[SEQUENCER][..], &load(BootSequencerWord::Release), &[0x0062_9023]].concat();
    assert_eq!(run(&program), (End::Stopped, BootSequencerState::Held));
}

#[test]
fn nothing_but_the_rom_is_executed() {
    // Program: lui t0, PAGE; jr t0. The pages are in the scratchpad, in the host's memory (two), and where
    // there is no memory.
    for page in [0x1000_0000, 0x8000_0000, 0x8800_0000, 0x7000_0000] {
        assert_eq!(
            run(&[page | 0x2b7, 0x0002_8067]),
            (End::Stopped, BootSequencerState::Held),
            "{page:#x}"
        );
    }
}

#[test]
fn a_trap_in_the_handler_is_a_fault_of_the_core() {
    // Program: csrw mtvec, t0 with t0 in the scratchpad; ebreak
    let program = [0x1000_02b7, 0x3052_9073, 0x0010_0073];
    assert_eq!(run(&program), (End::Stopped, BootSequencerState::Error));
}

#[test]
fn constants_are_executed_and_told_apart() {
    // The instruction j .+0x10 jumps to `c.nop; wfi; j .-4`.
    let mut rom = vec![0; 0x100];
    rom[0x80..0x84].copy_from_slice(&0x0100_006f_u32.to_le_bytes());
    rom[0x90] = 1;
    rom[0x92..0x96].copy_from_slice(&STOP[0].to_le_bytes());
    rom[0x96..0x9a].copy_from_slice(&STOP[1].to_le_bytes());
    let run = |rom: &[u8], code_len| {
        let storage = RotStorage::new(rom.to_vec(), code_len, vec![]);
        let mut machine = RotMachine::new(&storage);
        (machine.run(100), machine.executed(), machine.ran_constants(), machine.decision().0)
    };
    assert_eq!(run(&rom, 0x84), (End::Stopped, 5, true, BootSequencerState::Held));
    assert_eq!(run(&rom, 0x100), (End::Stopped, 5, false, BootSequencerState::Held));
    // An all-zero instruction traps, and so does the handler.
    rom[0x90] = 0;
    assert_eq!(run(&rom, 0x84), (End::Stopped, 3, false, BootSequencerState::Error));
}

#[test]
fn memory_of_the_host_is_read_and_written_and_ends() {
    // Program: lui t0, PAGE; lw a0, 0(t0); addi a0, a0, 1; sw a0, 0(t0); lw a1, 0(t0); beq a0, a1, .+8;
    // ebreak; wfi; j
    let access = |page: u32| {
        let program = [
            page | 0x2b7,
            0x0002_a503,
            0x0015_0513,
            0x00a2_a023,
            0x0002_a583,
            0x00b5_0463,
            0x0010_0073,
        ];
        run(&[&program[..], &[SEQUENCER], &load(BootSequencerWord::Release), &[DECIDE]].concat()).1
    };
    for kept in [0x8000_0000, 0x8800_0000, 0x1000_0000] {
        assert_eq!(access(kept), BootSequencerState::Released, "{kept:#x}");
    }
    // The pages are in the ROM, in memory that ignores stores, and past the end of memory.
    for lost in [0, 0x8700_0000, 0x9000_0000] {
        assert_eq!(access(lost), BootSequencerState::Held, "{lost:#x}");
    }
}
