//! Verifies every vector of a pack through the functions of `hartlock.h`, on the board `qemu-virt`, in M-mode on one hart
//! without other software, with the best kernels of the hart. The pack is that of `verif/campaigns/c-library/vectors.c`, and
//! so are the lines on the console: the number of a vector, and its code by a medium that reads on request and by one that
//! reads by itself. At the end it prints how much stack the calls have used.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::{asm, global_asm};
use core::ffi::c_void;
use core::ptr;

use hartlock_capi::calls::{
    hartlock_authenticate, hartlock_begin, hartlock_confirm, hartlock_decide, hartlock_load,
    hartlock_stop,
};
use hartlock_capi::types::{
    Attempted, CallerPayload, CallerPlatform, CallerRequirements, HARTLOCK_MEMORY_SIZE,
    HARTLOCK_METADATA_SIZE, HARTLOCK_VERSION,
};
use hartlock_virt::board::map;
use hartlock_virt::{clock, console, machine};

global_asm!(include_str!("../../bench/src/start.S"));

unsafe extern "C" {
    fn hartlock_attempt_m(
        context: *mut c_void,
        hart: u32,
        function: Attempted,
        argument: u64,
    ) -> u64;
}

/// Address of the pack, far after the program (link.ld of the bench).
const PACK: u64 = map::RAM.start + (256 << 20);
/// Memory for payloads, after the pack, and its size.
const PAYLOADS: u64 = PACK + (64 << 20);
const PAYLOADS_SIZE: u64 = 128 << 20;
/// Bytes below the stack pointer that are painted before the first call. The stack has 256 KiB.
const PAINTED: usize = 128 << 10;
const PAINT: u64 = 0x5041_494e_5450_4149;

#[repr(align(64))]
struct Aligned<const N: usize>([u8; N]);

static mut MEMORY: Aligned<HARTLOCK_MEMORY_SIZE> = Aligned([0; HARTLOCK_MEMORY_SIZE]);
static mut METADATA: Aligned<HARTLOCK_METADATA_SIZE> = Aligned([0; HARTLOCK_METADATA_SIZE]);
static mut BUFFER: Aligned<8192> = Aligned([0; 8192]);

/// A vector, and the payloads of the boot that is running.
struct BoardBoot {
    bundle: *const u8,
    bundle_size: u64,
    requirements: *const u8,
    answers: *const u8,
    answer_count: u32,
    /// Physical addresses of payloads, and where they are.
    places: [(u64, u64); 8],
    place_count: usize,
    /// First free byte of the memory for payloads.
    free: u64,
    polls: u32,
}

/// Returns the number at an address and moves the address behind it.
fn number(at: &mut *const u8) -> u32 {
    // SAFETY: the pack has as many numbers as it says.
    let value = unsafe { at.cast::<u32>().read_unaligned() };
    *at = at.wrapping_add(4);
    value
}

unsafe fn boot_of<'a>(context: *mut c_void) -> &'a mut BoardBoot {
    // SAFETY: the context is that of the platform below, and calls come one after the other.
    unsafe { &mut *context.cast() }
}

unsafe extern "C" fn read(
    context: *mut c_void,
    _: u32,
    offset: u64,
    into: *mut u8,
    length: usize,
) -> i64 {
    // SAFETY: see there.
    let boot = unsafe { boot_of(context) };
    if offset.saturating_add(length as u64) > boot.bundle_size {
        return -1;
    }
    // SAFETY: the range is inside of the bundle, and the library gives a place of this length.
    unsafe { ptr::copy(boot.bundle.wrapping_add(offset as usize), into, length) };
    length as i64
}

unsafe extern "C" fn read_start(
    context: *mut c_void,
    hart: u32,
    offset: u64,
    into: *mut u8,
    length: usize,
) -> i32 {
    // SAFETY: the arguments are those of `read`.
    let count = unsafe { read(context, hart, offset, into, length) };
    if count == length as i64 { 0 } else { -1 }
}

unsafe extern "C" fn read_poll(context: *mut c_void, _: u32) -> i32 {
    // SAFETY: see there.
    let boot = unsafe { boot_of(context) };
    boot.polls = boot.polls.wrapping_add(1);
    (boot.polls % 2 == 0).into()
}

unsafe extern "C" fn require(
    context: *mut c_void,
    _: u32,
    _: u32,
    requirements: *mut CallerRequirements,
) -> i32 {
    // SAFETY: see there.
    let boot = unsafe { boot_of(context) };
    // SAFETY: the pack has the structure as bytes, and the library gives a place for it.
    unsafe {
        ptr::copy(boot.requirements, requirements.cast(), size_of::<CallerRequirements>());
    }
    0
}

unsafe extern "C" fn may_load(context: *mut c_void, _: u32, payload: *const CallerPayload) -> u32 {
    // SAFETY: see there.
    let boot = unsafe { boot_of(context) };
    // SAFETY: the library gives a payload.
    let payload_type = unsafe { (*payload).payload_type };
    let mut at = boot.answers;
    for _ in 0..boot.answer_count {
        let (of, code) = (number(&mut at), number(&mut at));
        if of == payload_type {
            return code;
        }
    }
    0
}

unsafe extern "C" fn ticks(_: *mut c_void, _: u32) -> u64 {
    clock::ticks()
}

unsafe extern "C" fn map_memory(
    context: *mut c_void,
    _: u32,
    address: u64,
    size: u64,
) -> *mut c_void {
    // SAFETY: see there.
    let boot = unsafe { boot_of(context) };
    let known = boot.places.iter().take(boot.place_count).find(|place| place.0 == address);
    if let Some((_, place)) = known {
        return *place as *mut c_void;
    }
    let end = boot.free.saturating_add(size);
    let place = boot.places.get_mut(boot.place_count);
    let (Some(place), true) = (place, end <= PAYLOADS + PAYLOADS_SIZE) else {
        // It is never used: no board permits such a place.
        return PAYLOADS as *mut c_void;
    };
    *place = (address, boot.free);
    boot.place_count = boot.place_count.wrapping_add(1);
    boot.free = end.next_multiple_of(4096);
    place.1 as *mut c_void
}

/// Verifies a bundle and returns the code.
fn verified(boot: &mut BoardBoot, reads_by_itself: bool) -> u32 {
    let memory = (&raw mut MEMORY).cast::<c_void>();
    let platform = CallerPlatform {
        version: HARTLOCK_VERSION,
        size: size_of::<CallerPlatform>() as u32,
        context: ptr::from_mut(boot).cast(),
        medium_size: boot.bundle_size,
        ticks_per_second: clock::TICKS_PER_SECOND,
        buffer: (&raw mut BUFFER).cast(),
        buffer_size: size_of::<Aligned<8192>>(),
        metadata: (&raw mut METADATA).cast(),
        metadata_size: HARTLOCK_METADATA_SIZE,
        closed: ptr::null(),
        closed_count: 0,
        read: Some(read),
        require: Some(require),
        may_load: Some(may_load),
        ticks: Some(ticks),
        read_start: reads_by_itself.then_some(read_start as _),
        read_poll: reads_by_itself.then_some(read_poll as _),
        map: Some(map_memory),
        wake: None,
        attempt: Some(hartlock_attempt_m),
        verify_signature: None,
        unwrap: None,
    };
    // SAFETY: the memory is for this call alone, and the platform keeps to the specification.
    let mut code = unsafe { hartlock_begin(memory, HARTLOCK_MEMORY_SIZE, &raw const platform, 0) };
    for call in
        [hartlock_authenticate, hartlock_load, hartlock_stop, hartlock_decide, hartlock_confirm]
    {
        if code == 0 {
            // SAFETY: the memory was prepared.
            code = unsafe { call(memory) };
        }
    }
    code
}

/// Fills the stack below this function.
#[inline(never)]
fn paint() -> *mut u64 {
    let sp: usize;
    // SAFETY: the instruction reads a register.
    unsafe { asm!("mv {}, sp", out(reg) sp, options(nomem, nostack)) };
    let lowest = (sp - PAINTED) as *mut u64;
    for index in 0..PAINTED / 8 - 32 {
        // SAFETY: the memory is a part of the stack that no function uses now.
        unsafe { lowest.wrapping_add(index).write_volatile(PAINT) };
    }
    lowest
}

/// Returns how many bytes were used below the function that painted.
fn used(lowest: *mut u64) -> usize {
    // SAFETY: the memory is a part of the stack.
    let is_painted =
        |index: &usize| unsafe { lowest.wrapping_add(*index).read_volatile() } == PAINT;
    PAINTED - 8 * (0..PAINTED / 8).take_while(is_painted).count()
}

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    let mut at = PACK as *const u8;
    let lowest = paint();
    for index in 0..number(&mut at) {
        let answer_count = number(&mut at);
        let answers = at;
        let requirements = at.wrapping_add(answer_count as usize * 8);
        at = requirements.wrapping_add(size_of::<CallerRequirements>());
        let bundle_size = number(&mut at);
        let mut boot = BoardBoot {
            bundle: at,
            bundle_size: bundle_size.into(),
            requirements,
            answers,
            answer_count,
            places: [(0, 0); 8],
            place_count: 0,
            free: PAYLOADS,
            polls: 0,
        };
        at = at.wrapping_add(bundle_size as usize);
        let by_request = verified(&mut boot, false);
        let by_itself = verified(&mut boot, true);
        let numbers = [index, by_request, by_itself].map(|it| console::Number::decimal(it.into()));
        let [index, by_request, by_itself] = numbers.each_ref().map(console::Number::as_str);
        console::line(&["vector ", index, " ", by_request, " ", by_itself]);
    }
    console::line(&["done"]);
    console::line(&["stack ", console::Number::decimal(used(lowest) as u64).as_str()]);
    machine::end(0)
}

/// Handles a trap; called by start.S with an empty stack.
#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(console::Number::hex);
    let [cause, pc, value] = text.each_ref().map(console::Number::as_str);
    console::line(&["trap: mcause 0x", cause, " mepc 0x", pc, " mtval 0x", value]);
    machine::end(1)
}
