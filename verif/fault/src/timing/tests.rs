use super::*;

const START: u64 = 0x8000_0000;
const NOP: u32 = 0x13;
const RET: u32 = 0x8067;
/// Registers: return address, two temporary ones, and the number of the run.
const RA: u32 = 1;
const T0: u32 = 5;
const T1: u32 = 6;
const S0: u32 = 8;

fn jal(rd: u32, offset: i32) -> u32 {
    let offset = offset as u32;
    (offset >> 20 & 1) << 31
        | (offset >> 1 & 0x3ff) << 21
        | (offset >> 11 & 1) << 20
        | offset & 0xf_f000
        | rd << 7
        | 0x6f
}

fn addi(rd: u32, rs1: u32, immediate: u32) -> u32 {
    immediate << 20 | rs1 << 15 | rd << 7 | 0x13
}

/// Runs a program of two runs, in which `s0` is 0 and 1 and which consist of these instructions.
fn runs_of(body: &[u32]) -> Runs {
    let len = body.len() as u32;
    let mut code = vec![jal(0, 0x14), RET, RET, RET, RET];
    let call =
        |code: &mut Vec<u32>, target: i32| code.push(jal(RA, target - 4 * code.len() as i32));
    call(&mut code, 4);
    code.push(addi(S0, 0, 0));
    call(&mut code, 8);
    code.extend(body);
    call(&mut code, 16);
    code.push(addi(S0, S0, 1));
    code.push(addi(T0, 0, 2));
    // bne s0, t0, back to the call of `begin`
    let back = (-4 * (len as i32 + 4)) as u32;
    let (high, low) = (
        (back >> 12 & 1) << 31 | (back >> 5 & 0x3f) << 25,
        (back >> 1 & 15) << 8 | (back >> 11 & 1) << 7,
    );
    code.push(high | T0 << 20 | S0 << 15 | 1 << 12 | low | 0x63);
    // lui t0, 0x100; sw x0, 0(t0): the machine ends.
    code.extend([0x100 << 12 | T0 << 7 | 0x37, T0 << 15 | 2 << 12 | 0x23]);
    let image: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let program = Program {
        image: &image,
        start: START,
        subject: START + 4,
        begin: START + 8,
        begin_confined: START + 12,
        end: START + 16,
        confined: vec![],
    };
    let (all, _) = observe(&program).unwrap();
    let [runs] = all.try_into().unwrap();
    assert_eq!(runs.count, 2);
    runs
}

#[test]
fn sees_an_address_a_branch_and_a_division_that_depend_on_the_secret() {
    assert_eq!(runs_of(&[NOP, NOP]).difference, None);
    // auipc t0, 0; add t0, t0, s0; lb t1, 0(t0)
    let load = [T0 << 7 | 0x17, S0 << 20 | T0 << 15 | T0 << 7 | 0x33, T0 << 15 | T1 << 7 | 0x03];
    let difference = runs_of(&load).difference.unwrap();
    assert_eq!(difference.first, Seen::Load(START + 0x20, 1));
    assert_eq!(difference.other, Seen::Load(START + 0x21, 1));
    // beq s0, zero, +8
    let branch = [S0 << 15 | 4 << 8 | 0x63, NOP, NOP];
    let difference = runs_of(&branch).difference.unwrap();
    assert_eq!((difference.run, difference.pc), (1, START + 0x20));
    assert_eq!(difference.first, Seen::Instruction(START + 0x28));
    assert_eq!(difference.other, Seen::Instruction(START + 0x24));
    // divu t1, zero, s0, whose result is the same
    let division = [1 << 25 | S0 << 20 | 5 << 12 | T1 << 7 | 0x33];
    let difference = runs_of(&division).difference.unwrap();
    assert_eq!((difference.first, difference.other), (Seen::Division(0, 0), Seen::Division(0, 1)));
    // The same of public values: divu t1, t0, t0
    let public = [addi(T0, 0, 9), 1 << 25 | T0 << 20 | T0 << 15 | 5 << 12 | T1 << 7 | 0x33];
    assert_eq!(runs_of(&public).difference, None);
}

#[test]
fn counts_what_the_first_run_does() {
    // auipc t0, 0; lb t1, 0(t0)
    let runs = runs_of(&[T0 << 7 | 0x17, T0 << 15 | T1 << 7 | 0x03]);
    // The marks and the call of `end` are seen as well.
    assert_eq!((runs.instructions, runs.accesses), (4, 1));
}
