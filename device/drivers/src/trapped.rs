//! Memory whose accesses a model of a device sees, for tests on Linux on x86-64.
//!
//! The memory is protected. An access raises SIGSEGV, whose handler permits it for one instruction. Then SIGTRAP follows,
//! whose handler protects the memory again. So the driver under test needs nothing for its tests, and the model sees
//! each access, in order.

use core::cell::{Cell, RefCell};
use core::ffi::c_int;
use core::ptr::null_mut;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::Once;
use std::vec::Vec;

use libc::{
    PROT_NONE, PROT_READ, PROT_WRITE, REG_EFL, REG_ERR, SIG_DFL, SIGSEGV, SIGTRAP, siginfo_t,
    ucontext_t,
};

/// An access to a register, by its offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterAccess {
    /// The register is read next: what the model writes to it now is what the driver gets.
    Read(usize),
    /// The register was written.
    Write(usize),
}

/// What a device does at an access. It must not panic, because it is called by a handler of a signal.
type Model<'a> = dyn FnMut(RegisterAccess, &mut [u32]) + 'a;

struct Trap<'a> {
    base: *mut u32,
    words: usize,
    access: RegisterAccess,
    model: &'a mut Model<'a>,
}

std::thread_local! {
    static TRAP: Cell<*mut Trap<'static>> = const { Cell::new(null_mut()) };
}

/// Calls `act` with the address of registers, and `model` at each access to them. The registers are zero at first.
pub fn with_registers<T>(
    words: usize,
    mut model: impl FnMut(RegisterAccess, &mut [u32]),
    act: impl FnOnce(*mut u32) -> T,
) -> T {
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(|| {
        handle(SIGSEGV, before as *const () as usize);
        handle(SIGTRAP, after as *const () as usize);
    });
    let words = words.next_multiple_of(PAGE / 4);
    let layout = Layout::from_size_align(words * 4, PAGE).unwrap();
    // SAFETY: the size is not zero.
    let base = unsafe { alloc_zeroed(layout) }.cast::<u32>();
    assert!(!base.is_null());
    let mut trap = Trap { base, words, access: RegisterAccess::Read(0), model: &mut model };
    TRAP.set((&raw mut trap).cast());
    protect(&trap, PROT_NONE);
    let result = act(base);
    protect(&trap, READ_WRITE);
    TRAP.set(null_mut());
    // SAFETY: it was allocated with this layout.
    unsafe { dealloc(base.cast(), layout) };
    result
}

/// Calls `act` with the address of the registers of a device, whose model is `access`, and returns its result with the
/// device as it is afterwards.
pub fn with_device<D, T>(
    words: usize,
    device: D,
    access: impl Fn(&mut D, RegisterAccess, &mut [u32]),
    act: impl FnOnce(*mut u32, &RefCell<D>) -> T,
) -> (T, D) {
    let device = RefCell::new(device);
    let model = |at: RegisterAccess, words: &mut [u32]| access(&mut device.borrow_mut(), at, words);
    let result = with_registers(words, model, |base| act(base, &device));
    (result, device.into_inner())
}

/// Calls `act` with the address of registers that keep what is written, and have these words at first. Returns its
/// result, and the writes that it made: the offset in bytes, and the word that is there afterwards.
pub fn writes_to<T>(
    words: &[(usize, u32)],
    act: impl FnOnce(*mut u32) -> T,
) -> (T, Vec<(usize, u32)>) {
    let mut writes = Vec::new();
    let mut first = words;
    let model = |access: RegisterAccess, registers: &mut [u32]| {
        if let RegisterAccess::Write(at) = access {
            writes.push((at, registers[at / 4] >> (at % 4 * 8)));
        }
        // A write before the first read is kept.
        for (at, word) in core::mem::take(&mut first) {
            if access != RegisterAccess::Write(*at) {
                registers[at / 4] = *word;
            }
        }
    };
    let result = with_registers(PAGE / 4, model, act);
    (result, writes)
}

const PAGE: usize = 4096;
const READ_WRITE: c_int = PROT_READ | PROT_WRITE;
/// Flag of the processor that raises SIGTRAP after one instruction.
const SINGLE_STEP: i64 = 1 << 8;
/// Bit of the error code of a page fault by a write.
const BY_WRITE: i64 = 1 << 1;

fn handle(signal: c_int, handler: usize) {
    // SAFETY: all zeros are a value of this structure of C.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    (action.sa_sigaction, action.sa_flags) = (handler, libc::SA_SIGINFO);
    // SAFETY: the handler has the type that the flag asks for, or is the default.
    assert_eq!(unsafe { libc::sigaction(signal, &raw const action, null_mut()) }, 0);
}

fn protect(trap: &Trap<'_>, protection: c_int) {
    // SAFETY: the pages were allocated for the registers and hold nothing else.
    assert_eq!(unsafe { libc::mprotect(trap.base.cast(), trap.words * 4, protection) }, 0);
}

/// Returns a register of the instruction that raised a signal.
fn register(context: *mut ucontext_t, index: c_int) -> &'static mut i64 {
    // SAFETY: the kernel made the structure for this handler, which alone uses it.
    let context = unsafe { &mut *context };
    &mut context.uc_mcontext.gregs[index as usize]
}

fn tell(trap: &mut Trap<'_>) {
    // SAFETY: the registers are allocated and not protected here, and the driver has no references to them.
    let registers = unsafe { core::slice::from_raw_parts_mut(trap.base, trap.words) };
    (trap.model)(trap.access, registers);
}

extern "C" fn before(_: c_int, info: *mut siginfo_t, context: *mut ucontext_t) {
    // SAFETY: the pointer is null or that of the trap of this thread, which exists as long as its memory is protected.
    let trap = unsafe { TRAP.get().as_mut() };
    // SAFETY: the kernel made the structure for this handler.
    let info = unsafe { &*info };
    // SAFETY: a SIGSEGV has an address.
    let address = unsafe { info.si_addr() }.addr();
    let trap = trap.filter(|it| (it.base.addr()..it.base.addr() + it.words * 4).contains(&address));
    let Some(trap) = trap else {
        // It is a fault of the test, which ends at its repetition.
        return handle(SIGSEGV, SIG_DFL);
    };
    protect(trap, READ_WRITE);
    let at = address - trap.base.addr();
    trap.access = match *register(context, REG_ERR) & BY_WRITE {
        0 => RegisterAccess::Read(at),
        _ => RegisterAccess::Write(at),
    };
    if matches!(trap.access, RegisterAccess::Read(_)) {
        tell(trap);
    }
    *register(context, REG_EFL) |= SINGLE_STEP;
}

extern "C" fn after(_: c_int, _: *mut siginfo_t, context: *mut ucontext_t) {
    // SAFETY: the same argument as in `before` applies.
    if let Some(trap) = unsafe { TRAP.get().as_mut() } {
        if matches!(trap.access, RegisterAccess::Write(_)) {
            tell(trap);
        }
        protect(trap, PROT_NONE);
    }
    *register(context, REG_EFL) &= !SINGLE_STEP;
}

#[test]
fn a_model_sees_each_access_in_order() {
    let mut seen = Vec::new();
    let model = |access: RegisterAccess, registers: &mut [u32]| {
        seen.push(access);
        match access {
            RegisterAccess::Read(_) => registers[2] += 1,
            RegisterAccess::Write(at) => registers[2] = registers[at / 4] * 10,
        }
    };
    let read = with_registers(4, model, |base| {
        // SAFETY: both are words of the registers.
        unsafe { base.wrapping_add(1).write_volatile(7) };
        // SAFETY: the same argument applies.
        let read = || unsafe { base.wrapping_add(2).read_volatile() };
        [read(), read()]
    });
    assert_eq!(read, [71, 72]);
    assert_eq!(seen, [RegisterAccess::Write(4), RegisterAccess::Read(8), RegisterAccess::Read(8)]);
}
