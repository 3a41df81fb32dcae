//! A program that asks M-mode, on every hart, to read or write memory that is closed to S-mode: it makes every
//! SBI call that has an argument which could be an address or a mask.
//!
//! A test signs this program in place of the loader. It waits for a byte on the console, makes the calls, and prints
//! for each kind of call how often it returned what. It decides nothing: the test knows what must be refused, and
//! compares the closed memory before and after. More bytes on the console stay unread, for a call that reads it.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

mod calls;

use calls::{Call, Place, Shape};
use core::arch::global_asm;
use core::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use hartlock_handoff::Handoff;
use hartlock_virt::board::{CLINT, FW_CFG, UART, map};
use hartlock_virt::console::{self, Number};
use hartlock_virt::{hart, memory, sbi};

global_asm!(include_str!("start.S"));

unsafe extern "C" {
    fn worker_entry();
    fn try_call(arguments: *const u64, results: *mut u64) -> bool;
    fn try_load(address: u64) -> bool;
    fn try_store(address: u64) -> bool;
}

/// Closed places with their first address and the address after their last byte. OpenSBI's is the part that every
/// build fills. On boards without an IOMMU its two places are not closed.
const PLACES: [Place; 8] = [
    Place { name: "flash", start: map::FLASH.start, end: map::FLASH.end },
    Place { name: "opensbi", start: map::OPENSBI.start, end: map::OPENSBI.start + 0x4_8000 },
    Place { name: "rom-ram", start: map::ROM_RAM.start, end: map::ROM_RAM.end },
    Place { name: "handoff", start: map::HANDOFF.start, end: map::HANDOFF.end },
    Place { name: "fw-cfg", start: FW_CFG as u64, end: FW_CFG as u64 + 0x1000 },
    Place { name: "clint", start: CLINT as u64, end: CLINT as u64 + 0x1_0000 },
    Place { name: "iommu-tables", start: 0x8011_8000, end: 0x8012_0000 },
    Place { name: "iommu", start: 0x301_0000, end: 0x301_1000 },
];

impl Place {
    /// Returns true for the tables of the IOMMU on a board without one, where they are memory like any other.
    fn is_open(&self) -> bool {
        // SAFETY: the routine survives a trap.
        self.name == "iommu-tables" && unsafe { try_load(self.start) }
    }
}

/// Number of harts that a board may have.
const HARTS: usize = 8;
/// Memory that is open, at which a call may place its result.
const OPEN: u64 = map::DMA.start;
const PATTERN: u8 = 0x5a;

/// How often a kind of call returned each error number, 0 to -16, another number, or trapped.
struct Tally {
    errors: [u32; 17],
    other: u32,
    trapped: u32,
}

impl Tally {
    fn count(&mut self, result: Option<i64>) {
        let place = match result {
            None => &mut self.trapped,
            Some(error) => usize::try_from(error.wrapping_neg())
                .ok()
                .and_then(|index| self.errors.get_mut(index))
                .unwrap_or(&mut self.other),
        };
        *place += 1;
    }

    fn print(&self, hart: usize, name: &str) {
        start_line(hart, name);
        for (error, count) in self.errors.iter().enumerate().filter(|(_, count)| **count > 0) {
            field(" -", error as u64, *count);
        }
        for (text, count) in [(" other", self.other), (" trapped", self.trapped)] {
            if count > 0 {
                console::print(text);
                console::print("=");
                console::print(Number::decimal(u64::from(count)).as_str());
            }
        }
        console::print("\n");
    }
}

fn start_line(hart: usize, name: &str) {
    console::print("sbi: hart ");
    console::print(Number::decimal(hart as u64).as_str());
    console::print(" ");
    console::print(name);
}

fn field(text: &str, number: u64, count: u32) {
    console::print(text);
    console::print(Number::decimal(number).as_str());
    console::print("=");
    console::print(Number::decimal(u64::from(count)).as_str());
}

/// Makes a call. Returns its error number, or `None` if it trapped.
fn make(arguments: &[u64; 8]) -> Option<i64> {
    let mut results = [0; 2];
    // SAFETY: the routine reads and writes these two arrays and survives a trap. Nothing that M-mode may do for this
    // call concerns memory that Rust uses.
    unsafe { try_call(arguments.as_ptr(), results.as_mut_ptr()) }
        .then_some(results[0].cast_signed())
}

/// Makes the calls of a kind for all places and shapes, and prints how they went.
fn attack(hart: usize, call: &Call) {
    let mut tally = Tally { errors: [0; 17], other: 0, trapped: 0 };
    for place in PLACES.iter().filter(|place| !place.is_open()) {
        for shape in Shape::ALL {
            let mut has_succeeded = false;
            call.each(shape, place, OPEN, |arguments| {
                let result = make(arguments);
                has_succeeded |= result == Some(0);
                tally.count(result);
            });
            if has_succeeded && call.takes_memory {
                start_line(hart, call.name);
                console::line(&[" succeeded for ", place.name, " ", shape.name()]);
            }
        }
    }
    tally.print(hart, call.name);
}

/// Loads and stores every word of the first page of each closed place that serves requests: flash takes commands,
/// fw_cfg and the IOMMU read and write memory themselves.
fn attack_registers(hart: usize) {
    let mut tally = Tally { errors: [0; 17], other: 0, trapped: 0 };
    let serves = |place: &&Place| matches!(place.name, "flash" | "fw-cfg" | "clint" | "iommu");
    for place in PLACES.iter().filter(serves) {
        for address in (place.start..place.start + 4096).step_by(8) {
            // SAFETY: the routine survives a trap.
            let has_loaded = unsafe { try_load(address) };
            tally.count(has_loaded.then_some(0));
            // SAFETY: the routine survives a trap, and nothing that Rust uses is there.
            let has_stored = unsafe { try_store(address) };
            tally.count(has_stored.then_some(0));
        }
    }
    tally.print(hart, "registers");
}

fn attack_with_all(own: usize, harts: u64) {
    attack_registers(own);
    let other = (0..HARTS).rev().find(|it| *it != own && harts & (1 << it) != 0).unwrap_or(own);
    for call in &calls::all(other as u64) {
        attack(own, call);
    }
    // SAFETY: only calls of this program could have written to this memory, and they are over.
    let open = unsafe { memory::bytes(map::DMA) };
    let changed = open.iter().filter(|byte| **byte != PATTERN).count();
    start_line(own, "finished");
    console::line(&[" bytes-copied=", Number::decimal(changed as u64).as_str()]);
}

#[unsafe(no_mangle)]
extern "C" fn sbi_main(own: usize) -> ! {
    // SAFETY: this is the hand-off block of the ROM, which nothing writes to.
    let handoff = Handoff::parse(unsafe { memory::bytes(map::HANDOFF) });
    let harts = handoff.map_or(0, |handoff| handoff.harts);
    for at in (map::DMA.start..map::DMA.end).step_by(8) {
        let word: *mut u64 = core::ptr::with_exposed_provenance_mut(at as usize);
        // SAFETY: only this program uses this memory, and the address is aligned.
        unsafe { word.write_volatile(u64::from_ne_bytes([PATTERN; 8])) };
    }
    call_system_map(own, harts);
    console::line(&["sbi: ready"]);
    wait_for_byte();
    continue_with(own, harts)
}

/// Set while another hart than the boot hart only makes the call "system map".
static ONLY_SYSTEM_MAP: AtomicBool = AtomicBool::new(false);
/// What that hart was answered.
static ANSWER: AtomicI64 = AtomicI64::new(1);

/// Asks for the map of the system: by another hart, if there is one, then by this hart, the boot hart, twice. Prints the
/// error numbers.
fn call_system_map(own: usize, harts: u64) {
    let code = |result: Result<(), sbi::Error>| result.err().unwrap_or(0) as i64;
    if let Some(other) = (0..HARTS).rev().find(|it| *it != own && harts & (1 << it) != 0) {
        ONLY_SYSTEM_MAP.store(true, Ordering::SeqCst);
        let _ = sbi::hart_start(other, worker_entry as *const () as usize, 0);
        while ANSWER.load(Ordering::SeqCst) > 0 || sbi::hart_status(other) != Ok(sbi::STOPPED) {
            core::hint::spin_loop();
        }
        ONLY_SYSTEM_MAP.store(false, Ordering::SeqCst);
        print_answer("another hart", ANSWER.load(Ordering::SeqCst));
    }
    print_answer("the boot hart", code(sbi::system_map()));
    print_answer("the boot hart again", code(sbi::system_map()));
}

fn print_answer(caller: &str, error: i64) {
    let number = Number::decimal(error.unsigned_abs());
    console::line(&["sbi: system map by ", caller, ": -", number.as_str()]);
}

#[unsafe(no_mangle)]
extern "C" fn sbi_worker(own: usize, harts: usize) -> ! {
    if ONLY_SYSTEM_MAP.load(Ordering::SeqCst) {
        ANSWER.store(sbi::system_map().err().unwrap_or(0) as i64, Ordering::SeqCst);
        sbi::hart_stop();
    }
    continue_with(own, harts as u64)
}

/// Makes all calls on this hart, then hands over to the next one. All others are stopped meanwhile: a call that waits
/// for another hart waits for none.
fn continue_with(own: usize, harts: u64) -> ! {
    attack_with_all(own, harts);
    let Some(next) = (own + 1..HARTS).find(|next| harts & (1 << next) != 0) else {
        console::line(&["sbi: done"]);
        hart::halt()
    };
    if sbi::hart_start(next, worker_entry as *const () as usize, harts as usize).is_err() {
        start_line(next, "cannot be started\n");
    }
    sbi::hart_stop();
    hart::halt()
}

/// Waits for a byte from the console.
fn wait_for_byte() {
    let registers: *const u8 = core::ptr::with_exposed_provenance(UART);
    let has_byte = || {
        // SAFETY: this is the line status of the board's 16550.
        let status = unsafe { registers.wrapping_add(5).read_volatile() };
        status & 1 != 0
    };
    while !has_byte() {
        core::hint::spin_loop();
    }
    // SAFETY: this is the receive register of the same device.
    unsafe { registers.read_volatile() };
}
