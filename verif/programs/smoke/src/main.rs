//! The first program on the cycle-accurate machine. Hart 0 lets the storage deliver the medium (`lib.rs`), wakes the
//! other harts, lets all of them hash, and compares every digest.
//!
//! The program prints the cost in cycles on the console:
//!
//! ```text
//! smoke: harts <count>
//! smoke: wake <cycles>
//! smoke: storage <bytes> <cycles>
//! smoke: one sha3-384|sha384 <bytes> <cycles> <instructions>
//! smoke: all sha3-384 <bytes> <cycles>
//! ```
//!
//! Marks tell the machine the beginning and the end of each of these steps (`hw/README.md`).

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

mod crew;

use core::arch::global_asm;
use core::hint::black_box;

use hartlock_drivers::axi_guard::{AxiGuard, Error, PageRange, RANGES};
use hartlock_kernels::sha2::Sha384;
use hartlock_kernels::sha3::Sha3_384;
use hartlock_kernels::{Hash, HashFamily, Kernels, Tier};
use hartlock_smoke::{BLOCKS, Digest, Header, SECTOR_SIZE};
use hartlock_verify::board::Region;
use hartlock_virt::board::{self, map};
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{self, PrivilegeMode};
use hartlock_virt::soc::{self, Storage};
use hartlock_virt::{clock, machine, memory};

use crew::Job;

global_asm!(include_str!("start.S"));

/// Memory for the medium, far after the program (link.ld), and its maximum size.
const HEADER: Region = Region::new(map::RAM.start + (16 << 20), SECTOR_SIZE as u64);
const DATA: u64 = map::RAM.start + (32 << 20);
const MAX_DATA_SIZE: u64 = 16 << 20;
/// Number of bytes that are hashed before a measurement, so that the code is in the caches.
const WARM_UP: usize = 1024;

// These are tags of marks. A mark begins a step of the program and ends the previous one.
const MARK_WAKE: u64 = 1;
const MARK_STORAGE: u64 = 2;
const MARK_ONE_SHA3_384: u64 = 3;
const MARK_ONE_SHA384: u64 = 4;
const MARK_ALL: u64 = 5;
const MARK_NOTHING: u64 = 0;

/// The entry of hart 0, while no other hart runs.
#[unsafe(no_mangle)]
extern "C" fn smoke_main() -> ! {
    report("harts", "", &[soc::harts() as u64]);
    let choice = kernels::choose(PrivilegeMode::Machine);
    kernels::print(&choice);
    if choice.kernels.tier(HashFamily::Keccak) != Tier::Rv64 {
        fail("the kernels are not those of the base instruction set");
    }
    wake();
    open_port();
    let mut storage = Storage::new();
    refuse(&mut storage);
    deliver(&mut storage, 0, &[HEADER]);
    // SAFETY: the storage has written this memory, and no other code uses it.
    let header = unsafe { memory::bytes(HEADER) };
    let Some(header) = Header::parse(header) else { fail("the medium is not ours") };
    let size = header.block_len.saturating_mul(BLOCKS as u64);
    if size > MAX_DATA_SIZE {
        fail("the blocks do not fit");
    }
    let region = Region::new(DATA, size);
    // SAFETY: no other code uses this memory yet.
    fill_caches(unsafe { memory::bytes_mut(region) });
    let blocks: [Region; BLOCKS] = core::array::from_fn(|index| {
        let offset = header.block_len.saturating_mul(index as u64);
        Region::new(DATA.saturating_add(offset), header.block_len)
    });
    soc::mark(MARK_STORAGE);
    let start = soc::cycles();
    deliver(&mut storage, 1, &blocks);
    let cycles = soc::cycles().saturating_sub(start);
    soc::mark(MARK_NOTHING);
    report("storage", "", &[size, cycles]);
    // SAFETY: the storage has written this memory, and no other code uses it.
    let data = unsafe { memory::bytes(region) };

    one::<Sha3_384>("sha3-384", MARK_ONE_SHA3_384, &choice.kernels, data, &header.sha3_384);
    one::<Sha384>("sha384", MARK_ONE_SHA384, &choice.kernels, data, &header.sha384);
    all(&choice.kernels, data, &header);
    console::line(&["smoke: done"]);
    machine::end(0)
}

/// The entry of any other hart, when it is woken for the first time.
#[unsafe(no_mangle)]
extern "C" fn smoke_hart(hart: usize) -> ! {
    crew::serve(hart)
}

/// Handles a trap; called by start.S with an empty stack.
#[unsafe(no_mangle)]
extern "C" fn smoke_trap(cause: u64, pc: u64, value: u64, hart: u64) -> ! {
    let text = [hart, cause, pc, value].map(Number::hex);
    let [hart, cause, pc, value] = text.each_ref().map(Number::as_str);
    console::line(&["smoke: hart ", hart, " trapped: 0x", cause, " 0x", pc, " 0x", value]);
    machine::end(1)
}

/// Wakes all harts once to select kernels, and once for an empty job, which is measured.
fn wake() {
    crew::run(&Kernels::PORTABLE, Job::Choose);
    soc::mark(MARK_WAKE);
    let start = clock::ticks();
    crew::run(&Kernels::PORTABLE, Job::Nothing);
    let cycles = clock::ticks().saturating_sub(start);
    soc::mark(MARK_NOTHING);
    report("wake", "", &[cycles]);
}

/// Permits the storage to access all memory if there is a guard in front of it, which is closed after reset.
fn open_port() {
    let guard = core::ptr::with_exposed_provenance_mut(board::AXI_GUARD);
    // SAFETY: these are the guard's registers, which only this program uses; without a guard they read as zero.
    match unsafe { AxiGuard::close(guard, &[PageRange::NONE; RANGES]) } {
        Ok(_) | Err(Error::NotThere) => {}
        Err(Error::Locked | Error::Failed) => fail("the guard does not open"),
    }
}

/// Checks that the storage refuses to write to forbidden addresses and to read sectors that it does not have.
fn refuse(storage: &mut Storage) {
    const UNALIGNED: Region = Region::new(HEADER.start + 8, SECTOR_SIZE as u64);
    const NO_MEMORY: Region = Region::new(map::RAM.start - SECTOR_SIZE as u64, SECTOR_SIZE as u64);
    for (sector, into) in [(0, UNALIGNED), (0, NO_MEMORY), (1 << 40, HEADER)] {
        // SAFETY: the request is refused; otherwise it writes to unused memory.
        if unsafe { storage.start(sector, into) } {
            fail("the storage does not refuse");
        }
    }
}

/// Fills the data cache with lines that the storage will write. Reads after the transfer have to return the delivered
/// data.
fn fill_caches(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().step_by(64) {
        *byte = 0xa5;
    }
    black_box(bytes);
}

/// Lets the storage deliver consecutive sectors, with one request for each region, and waits.
fn deliver(storage: &mut Storage, mut sector: u64, regions: &[Region]) {
    for into in regions {
        // SAFETY: no code uses this memory until the request has ended.
        if !unsafe { storage.start(sector, *into) } {
            fail("the storage refused");
        }
        sector = sector.saturating_add(into.size() / soc::SECTOR_SIZE);
    }
    while storage.pending() > 0 {}
}

/// Computes one hash over all data on this hart.
fn one<H: Hash<Output = Digest>>(
    name: &str,
    mark: u64,
    kernels: &Kernels,
    data: &[u8],
    expected: &Digest,
) {
    let digest = |data: &[u8]| {
        let mut hash = H::with(black_box(kernels));
        hash.update(data);
        hash.finalize()
    };
    black_box(digest(data.get(..WARM_UP).unwrap_or_default()));
    soc::mark(mark);
    let (cycles, instructions) = (clock::ticks(), clock::retired());
    let found = digest(data);
    let instructions = clock::retired().saturating_sub(instructions);
    let cycles = clock::ticks().saturating_sub(cycles);
    soc::mark(MARK_NOTHING);
    if found != *expected {
        fail("a digest is wrong");
    }
    report("one ", name, &[data.len() as u64, cycles, instructions]);
}

/// Computes a hash over each block, on all harts.
fn all(kernels: &Kernels, data: &[u8], header: &Header) {
    let block_len = header.block_len as usize;
    crew::run(kernels, Job::Hash { start: data.as_ptr().addr(), block_len: WARM_UP / BLOCKS });
    soc::mark(MARK_ALL);
    let start = clock::ticks();
    crew::run(kernels, Job::Hash { start: data.as_ptr().addr(), block_len });
    let cycles = clock::ticks().saturating_sub(start);
    soc::mark(MARK_NOTHING);
    if !crew::digests_are(&header.blocks) {
        fail("the digest of a block is wrong");
    }
    report("all ", "sha3-384", &[data.len() as u64, cycles]);
}

fn report(what: &str, which: &str, numbers: &[u64]) {
    console::print("smoke: ");
    console::print(what);
    console::print(which);
    for number in numbers {
        console::print(" ");
        console::print(Number::decimal(*number).as_str());
    }
    console::print("\n");
}

fn fail(why: &str) -> ! {
    console::line(&["smoke: ", why]);
    machine::end(1)
}
