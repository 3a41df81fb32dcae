//! Small programs in place of the ROM.

use super::{End, Flash, Machine, Place};

/// Flash with these instructions for every hart but the first, and others for it from byte 64 on.
pub fn flash(program: &[u32]) -> Flash {
    // csrr a0, mhartid; beqz a0, .+60; wfi
    let mut rom: Vec<u8> = [0xf140_2573, 0x0205_0e63_u32, 0x1050_0073]
        .iter()
        .flat_map(|it| it.to_le_bytes())
        .collect();
    rom.resize(64, 0);
    rom.extend(program.iter().flat_map(|it| it.to_le_bytes()));
    Flash::new(rom, vec![0x01; 64])
}

fn run(program: &[u32]) -> (End, u64) {
    let flash = flash(program);
    let mut machine = Machine::new(&flash);
    let end = machine.run(1000);
    (end, machine.fetched_from())
}

const WAIT: u32 = 0x1050_0073;
const BACK: u32 = 0xffdf_f06f;

#[test]
fn a_hart_that_waits_for_nothing_has_stopped() {
    assert_eq!(run(&[WAIT, BACK]).0, End::Stopped);
    assert_eq!(run(&[0x0000_006f]).0, End::Astray);
}

#[test]
fn says_whose_bytes_run() {
    // lui t0, ADDRESS; jr t0
    let jump = |page: u32| run(&[page << 12 | 0x2b7, 0x0002_8067]);
    let ran = |place, address| (End::Ran(place), address);
    // Sign-extended addresses are not memory: 0x8xxx_x000 needs lui and a shift, so `auipc` from flash.
    assert_eq!(jump(0x22000), ran(Place::BundleFlash, 0x2200_0000));
    // addi t0, zero, 1; slli t0, t0, 31; jr t0: what nothing has written
    assert_eq!(run(&[0x0010_0293, 0x01f2_9293, 0x0002_8067]), ran(Place::Prepared, 0x8000_0000));
    // The same after a store of 1, which is `c.nop`: sw a1, 0(t0) with a1 = 1
    assert_eq!(
        run(&[0x0010_0293, 0x0010_0593, 0x01f2_9293, 0x00b2_a023, 0x0002_8067]),
        ran(Place::Payload, 0x8000_0000)
    );
    // In ROM RAM, 1 MiB on: lui t1, 0x100; add t0, t0, t1
    let own = [0x0010_0293, 0x0010_0593, 0x01f2_9293, 0x0010_0337, 0x0062_82b3, 0x00b2_a023];
    assert_eq!(run(&[&own[..], &[0x0002_8067]].concat()), ran(Place::Data, 0x8010_0000));
}

#[test]
fn a_fetch_of_zeros_or_of_nothing_traps() {
    // la t0, .+16; csrw mtvec, t0; jr zero; …; wfi; j .-4
    let program = [0x0000_0297, 0x0102_8293, 0x3052_9073, 0x0000_0067, WAIT, BACK];
    assert_eq!(run(&program).0, End::Stopped);
}

#[test]
fn memory_protection_stops_a_fetch() {
    // li t0, -1; csrw pmpaddr0, t0; li t0, 0x9b (locked, NAPOT, no execution); csrw pmpcfg0, t0
    let lock = [0xfff0_0293, 0x3b02_9073, 0x09b0_0293, 0x3a02_9073];
    let jump = [0x0010_0293, 0x01f2_9293, 0x0002_8067];
    // Not even the ROM may be executed, so no trap handler can be: it goes on for ever.
    assert_eq!(run(&[&lock[..], &jump].concat()).0, End::Astray);
}
