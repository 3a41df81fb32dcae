//! System calls of Linux on riscv64, and the start of the program. All memory that the kernel writes is borrowed here.

use core::arch::{asm, global_asm};
use core::ffi::{CStr, c_char};
use core::fmt::{self, Write};

global_asm!(
    ".pushsection .text.init, \"ax\", @progbits",
    ".globl _start",
    "_start:",
    // The psABI lets a program assume nothing but the stack pointer.
    "mv a0, sp",
    "andi sp, sp, -16",
    "call {start}",
    ".popsection",
    start = sym start,
);

/// Numbers of system calls (include/uapi/asm-generic/unistd.h of Linux).
mod number {
    pub const DUP3: usize = 24;
    pub const OPENAT: usize = 56;
    pub const CLOSE: usize = 57;
    pub const PIPE2: usize = 59;
    pub const READ: usize = 63;
    pub const WRITE: usize = 64;
    pub const PPOLL: usize = 73;
    pub const EXIT_GROUP: usize = 94;
    pub const SETITIMER: usize = 103;
    pub const CLOCK_GETTIME: usize = 113;
    pub const SCHED_SETAFFINITY: usize = 122;
    pub const KILL: usize = 129;
    pub const UNAME: usize = 160;
    pub const GETCPU: usize = 168;
    pub const CLONE: usize = 220;
    pub const EXECVE: usize = 221;
    pub const MMAP: usize = 222;
    pub const PERF_EVENT_OPEN: usize = 241;
    pub const WAIT4: usize = 260;
    pub const PRLIMIT64: usize = 261;
}

const SIGKILL: usize = 9;
const SIGCHLD: usize = 17;
/// The folder that relative paths start at.
const AT_FDCWD: usize = -100_isize as usize;

/// Does a system call. The result is an error number if it is negative.
///
/// # Safety
///
/// Every address among the arguments must be valid for what the call does with it.
unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result;
    // SAFETY: the caller vouches for the arguments. Linux changes no register but a0.
    unsafe {
        asm!(
            "ecall",
            inlateout("a0") a => result, in("a1") b, in("a2") c, in("a3") d, in("a4") e, in("a5") f,
            in("a7") number, options(nostack),
        );
    }
    result
}

/// The stack as Linux hands it to a new program: argument count, arguments, 0, environment, 0.
pub struct Stack {
    start: *const usize,
}

impl Stack {
    fn count(&self) -> usize {
        // SAFETY: Linux has written the count.
        unsafe { *self.start }
    }

    /// Returns the arguments; the first one is the name of the program.
    pub fn arguments(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count()).map(|at| {
            // SAFETY: there are as many pointers after the count.
            let text = unsafe { *self.start.wrapping_add(at.wrapping_add(1)) } as *const c_char;
            // SAFETY: each points to a text that ends with a zero, and stays.
            unsafe { CStr::from_ptr(text) }.to_bytes()
        })
    }

    /// Returns the address of the environment, for a program that is started.
    fn environment(&self) -> usize {
        self.start.wrapping_add(self.count().wrapping_add(2)) as usize
    }
}

extern "C" fn start(stack: *const usize) -> ! {
    exit(super::run(Stack { start: stack }))
}

/// Ends this process.
pub fn exit(code: i32) -> ! {
    loop {
        // SAFETY: no argument is an address.
        unsafe { call(number::EXIT_GROUP, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let _ = writeln!({ Output::ERROR }, "{info}");
    exit(2)
}

/// A file that is written to.
pub struct Output(usize);

impl Output {
    pub const STANDARD: Self = Self(1);
    pub const ERROR: Self = Self(2);

    /// Writes a text. Returns false if not all of it could be written.
    pub fn text(&self, text: &str) -> bool {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let arguments = [self.0, rest.as_ptr() as usize, rest.len(), 0, 0, 0];
            // SAFETY: Linux reads as many bytes as the text has.
            let written = unsafe { call(number::WRITE, arguments) };
            match usize::try_from(written).ok().filter(|len| *len > 0) {
                Some(len) => rest = rest.get(len..).unwrap_or_default(),
                None => return false,
            }
        }
        true
    }
}

impl Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text(text) { Ok(()) } else { Err(fmt::Error) }
    }
}

/// An open file, which is closed when it is dropped.
pub struct File(usize);

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: no argument is an address.
        unsafe { call(number::CLOSE, [self.0, 0, 0, 0, 0, 0]) };
    }
}

impl File {
    pub fn open(path: &CStr) -> Option<Self> {
        /// O_CLOEXEC of Linux.
        const CLOSE_ON_EXEC: usize = 0o2_000_000;
        let arguments = [AT_FDCWD, path.as_ptr() as usize, CLOSE_ON_EXEC, 0, 0, 0];
        // SAFETY: Linux reads the path up to its zero.
        let file = unsafe { call(number::OPENAT, arguments) };
        usize::try_from(file).ok().map(Self)
    }

    /// Reads once; `None` at the end of the file and after an error.
    fn read_once(&self, to: &mut [u8]) -> Option<usize> {
        let arguments = [self.0, to.as_mut_ptr() as usize, to.len(), 0, 0, 0];
        // SAFETY: Linux writes at most as many bytes as are borrowed here.
        let len = unsafe { call(number::READ, arguments) };
        usize::try_from(len).ok().filter(|len| *len > 0)
    }

    /// Reads up to the end or until the buffer is full.
    fn read<'a>(&self, to: &'a mut [u8]) -> &'a [u8] {
        let mut at = 0_usize;
        while let Some(len) = to.get_mut(at..).and_then(|rest| self.read_once(rest)) {
            at = at.wrapping_add(len);
        }
        to.get(..at).unwrap_or_default()
    }
}

/// Reads a file into a buffer; nothing if there is none.
pub fn read<'a>(path: &CStr, to: &'a mut [u8]) -> Option<&'a [u8]> {
    File::open(path).map(|file| file.read(to))
}

/// Reads the fields of `uname`: the name of the system, release, version and machine.
pub fn uname(to: &mut [[u8; 65]; 6]) -> [&[u8]; 4] {
    // SAFETY: `struct utsname` of Linux is six fields of 65 bytes.
    unsafe { call(number::UNAME, [to.as_mut_ptr() as usize, 0, 0, 0, 0, 0]) };
    let text = |field: &'_ [u8; 65]| field.iter().position(|byte| *byte == 0).unwrap_or(0);
    let [system, _, release, version, machine, _] = &*to;
    [system, release, version, machine].map(|field| field.get(..text(field)).unwrap_or_default())
}

/// Makes this process stay on a processor, or on the one where it is. Returns its number.
pub fn stay_on(cpu: Option<usize>) -> Option<usize> {
    let mut here = 0_u32;
    // SAFETY: Linux writes the number of the processor; the other addresses may be null.
    unsafe { call(number::GETCPU, [&raw mut here as usize, 0, 0, 0, 0, 0]) };
    let cpu = cpu.unwrap_or(here as usize);
    let mut mask = [0_u64; 16];
    *mask.get_mut(cpu / 64)? |= 1 << (cpu % 64);
    let arguments = [0, size_of_val(&mask), mask.as_ptr() as usize, 0, 0, 0];
    // SAFETY: Linux reads the mask.
    let result = unsafe { call(number::SCHED_SETAFFINITY, arguments) };
    (result >= 0).then_some(cpu)
}

/// Returns the monotonic clock in nanoseconds.
pub fn now() -> u64 {
    const CLOCK_MONOTONIC: usize = 1;
    let mut time = [0_u64; 2];
    // SAFETY: Linux writes seconds and nanoseconds.
    unsafe {
        call(number::CLOCK_GETTIME, [CLOCK_MONOTONIC, time.as_mut_ptr() as usize, 0, 0, 0, 0])
    };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

/// How a child process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// A child process.
struct Child(usize);

impl Child {
    /// Makes a copy of this process that does `work` and ends with its result as exit code.
    fn fork(work: impl FnOnce() -> i32) -> Option<Self> {
        // SAFETY: the child has a copy of all memory, and goes on with the same stack.
        let id = unsafe { call(number::CLONE, [SIGCHLD, 0, 0, 0, 0, 0]) };
        if id == 0 {
            // A trap that was expected leaves no file behind.
            const RLIMIT_CORE: usize = 4;
            let none = [0_u64; 2];
            let arguments = [0, RLIMIT_CORE, none.as_ptr() as usize, 0, 0, 0];
            // SAFETY: Linux reads two numbers.
            unsafe { call(number::PRLIMIT64, arguments) };
            exit(work());
        }
        usize::try_from(id).ok().map(Self)
    }

    fn kill(&self) {
        // SAFETY: no argument is an address. The child was not waited for, so that its number is still its own.
        unsafe { call(number::KILL, [self.0, SIGKILL, 0, 0, 0, 0]) };
    }

    fn wait(self) -> Option<End> {
        let mut status = 0_i32;
        // SAFETY: Linux writes the status.
        let id = unsafe { call(number::WAIT4, [self.0, &raw mut status as usize, 0, 0, 0, 0]) };
        let is_it = usize::try_from(id) == Ok(self.0);
        let end = match status & 0x7f {
            0 => End::Code(status >> 8 & 0xff),
            signal => End::Signal(signal),
        };
        is_it.then_some(end)
    }
}

/// Does something in a child process, and returns how that ended; `None` if Linux makes no process. After a minute it
/// ends by SIGALRM.
pub fn in_child(work: impl FnOnce() -> i32) -> Option<End> {
    const SECONDS: u64 = 60;
    let child = Child::fork(|| {
        let timer = [0, 0, SECONDS, 0];
        // SAFETY: Linux reads an interval and a time, of seconds and microseconds each.
        unsafe { call(number::SETITIMER, [0, timer.as_ptr() as usize, 0, 0, 0, 0]) };
        work()
    });
    child?.wait()
}

/// Returns memory of zeros that this process shares with its children; it is never freed.
pub fn shared(len: usize) -> Option<&'static mut [u8]> {
    const READ_WRITE: usize = 1 | 2;
    const SHARED_ANONYMOUS: usize = 0x01 | 0x20;
    let arguments = [0, len, READ_WRITE, SHARED_ANONYMOUS, usize::MAX, 0];
    // SAFETY: a new mapping changes no memory that is in use.
    let start = usize::try_from(unsafe { call(number::MMAP, arguments) }).ok()?;
    // SAFETY: the kernel has mapped as many bytes, and this is the only reference of this process.
    Some(unsafe { core::slice::from_raw_parts_mut(start as *mut u8, len) })
}

/// A value that a child sets and its parent reads after the child's end.
pub struct FromChild<T>(*mut T);

impl<T: Copy> FromChild<T> {
    /// Makes a place for a value.
    pub fn new(value: T) -> Option<Self> {
        let room = shared(size_of::<T>())?;
        let place = Self(room.as_mut_ptr().cast());
        place.set(value);
        Some(place)
    }

    /// Stores the value.
    pub fn set(&self, value: T) {
        // SAFETY: the pages of this place are its own, and the child and its parent never access them at once.
        unsafe { self.0.write_volatile(value) }
    }

    /// Returns the value that was stored last.
    pub fn get(&self) -> T {
        // SAFETY: the argument of `set` applies, and a whole value was stored.
        unsafe { self.0.read_volatile() }
    }
}

/// Runs a program with at most eleven words, and returns the beginning of what it prints on its standard output; `None`
/// if it fails, prints too much or takes longer than `limit` seconds. Its standard error output is closed.
pub fn output_of<'a>(
    words: &[&CStr],
    stack: &Stack,
    limit: u64,
    to: &'a mut [u8],
) -> Option<&'a [u8]> {
    let mut ends = [0_u32; 2];
    // SAFETY: Linux writes two numbers of files.
    let result = unsafe { call(number::PIPE2, [ends.as_mut_ptr() as usize, 0, 0, 0, 0, 0]) };
    if result < 0 {
        return None;
    }
    let [from, into] = ends.map(|end| File(end as usize));
    let child = Child::fork(|| execute(words, stack, &into))?;
    drop(into);
    let deadline = now().saturating_add(limit.saturating_mul(1_000_000_000));
    let mut at = 0_usize;
    let is_whole = loop {
        let left = deadline.saturating_sub(now());
        let Some(rest) = to.get_mut(at..).filter(|rest| !rest.is_empty()) else { break false };
        if left == 0 || !is_readable(&from, left) {
            break false;
        }
        match from.read_once(rest) {
            Some(len) => at = at.wrapping_add(len),
            None => break true,
        }
    };
    if !is_whole {
        child.kill();
    }
    let end = child.wait();
    (is_whole && end == Some(End::Code(0))).then(|| to.get(..at).unwrap_or_default())
}

/// Replaces this process by another program. Returns only if that fails.
fn execute(words: &[&CStr], stack: &Stack, output: &File) -> i32 {
    let mut list = [0_usize; 12];
    for (to, word) in list.iter_mut().take(11).zip(words) {
        *to = word.as_ptr() as usize;
    }
    // SAFETY: no argument is an address.
    unsafe { call(number::DUP3, [output.0, 1, 0, 0, 0, 0]) };
    drop(File(2));
    let arguments = [list[0], list.as_ptr() as usize, stack.environment(), 0, 0, 0];
    // SAFETY: Linux reads texts and lists up to their zeros.
    unsafe { call(number::EXECVE, arguments) };
    127
}

/// Waits at most so many nanoseconds for something to read, or for the end of the file.
fn is_readable(file: &File, nanoseconds: u64) -> bool {
    const POLLIN: u64 = 1;
    let mut poll = file.0 as u64 | POLLIN << 32;
    let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
    let arguments = [&raw mut poll as usize, 1, time.as_ptr() as usize, 0, 0, 0];
    // SAFETY: Linux reads the time, and reads and writes one entry of 8 bytes.
    let ready = unsafe { call(number::PPOLL, arguments) };
    ready > 0
}

/// An event that the processor counts for this process, in user mode only.
pub struct Counter(File);

impl Counter {
    /// Starts to count event `config` of the type PERF_TYPE_HARDWARE; `None` if Linux or the machine refuses.
    pub fn open(config: u64) -> Option<Self> {
        /// Length of `struct perf_event_attr` in its first version.
        const LEN: u64 = 64;
        /// `pinned` (an error instead of a share of a counter), `exclude_kernel` and `exclude_hv`.
        const USER_ONLY: u64 = 1 << 2 | 1 << 5 | 1 << 6;
        /// The time for which the event was enabled, and for which it was counted.
        const TIMES: u64 = 1 | 2;
        let attributes = [LEN << 32, config, 0, 0, TIMES, USER_ONLY, 0, 0];
        let arguments = [attributes.as_ptr() as usize, 0, usize::MAX, usize::MAX, 0, 0];
        // SAFETY: Linux reads as many bytes as the structure says.
        let file = unsafe { call(number::PERF_EVENT_OPEN, arguments) };
        let counter = Self(File(usize::try_from(file).ok()?));
        counter.read()?;
        // Some machines accept an event that they never count.
        (0..100_000_u32).for_each(|number| {
            core::hint::black_box(number);
        });
        counter.read().filter(|count| *count > 0)?;
        Some(counter)
    }

    /// Returns the count; `None` if the event was not counted all the time.
    pub fn read(&self) -> Option<u64> {
        let mut bytes = [0; 24];
        let len = self.0.read_once(&mut bytes)?;
        let ([count, enabled, running], []) = bytes.as_chunks::<8>() else { return None };
        let is_whole = len == size_of_val(&bytes) && enabled == running;
        is_whole.then(|| u64::from_le_bytes(*count))
    }
}
