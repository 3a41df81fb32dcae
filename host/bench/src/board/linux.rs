//! The system calls of Linux on riscv64 that the program needs.

use core::arch::asm;
use core::ffi::CStr;
use core::ops::ControlFlow;

const DUP3: usize = 24;
const OPENAT: usize = 56;
const CLOSE: usize = 57;
const PIPE2: usize = 59;
const READ: usize = 63;
const WRITE: usize = 64;
const PPOLL: usize = 73;
const EXIT_GROUP: usize = 94;
const SETITIMER: usize = 103;
const CLOCK_GETTIME: usize = 113;
const SCHED_SETAFFINITY: usize = 122;
const KILL: usize = 129;
const UNAME: usize = 160;
const GETCPU: usize = 168;
const CLONE: usize = 220;
const EXECVE: usize = 221;
const MMAP: usize = 222;
const PERF_EVENT_OPEN: usize = 241;
const WAIT4: usize = 260;
const PRLIMIT64: usize = 261;

const AT_FDCWD: usize = -100_isize as usize;
const O_WRONLY: usize = 1;
const O_CLOEXEC: usize = 0o2_000_000;
const SIGCHLD: usize = 17;
const SIGKILL: usize = 9;
const CLOCK_MONOTONIC: usize = 1;
const PROT_READ_WRITE: usize = 3;
const MAP_SHARED_ANONYMOUS: usize = 0x21;
const RLIMIT_CORE: usize = 4;
const POLLIN: u64 = 1;
const NANOSECONDS: u64 = 1_000_000_000;

/// Makes a system call.
///
/// # Safety
/// The kernel may read and write whatever the arguments refer to.
unsafe fn call(number: usize, args: [usize; 6]) -> Result<usize, usize> {
    let result: usize;
    // SAFETY: this is Linux's calling convention; the caller vouches for the rest.
    unsafe {
        asm!(
            "ecall",
            in("a7") number,
            inlateout("a0") args[0] => result,
            in("a1") args[1], in("a2") args[2], in("a3") args[3], in("a4") args[4],
            in("a5") args[5],
            // The kernel may discard vector registers in a system call.
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
            out("v6") _, out("v7") _, out("v8") _, out("v9") _, out("v10") _, out("v11") _,
            out("v12") _, out("v13") _, out("v14") _, out("v15") _, out("v16") _, out("v17") _,
            out("v18") _, out("v19") _, out("v20") _, out("v21") _, out("v22") _, out("v23") _,
            out("v24") _, out("v25") _, out("v26") _, out("v27") _, out("v28") _, out("v29") _,
            out("v30") _, out("v31") _,
        );
    }
    // Errors are the numbers from -4095 to -1.
    if result > usize::MAX - 4095 { Err(result.wrapping_neg()) } else { Ok(result) }
}

/// Ends the process.
pub fn exit(code: usize) -> ! {
    // SAFETY: the call refers to no memory.
    let _ = unsafe { call(EXIT_GROUP, [code, 0, 0, 0, 0, 0]) };
    loop {
        core::hint::spin_loop();
    }
}

/// An open file, which is closed when it is dropped.
pub struct File(usize);

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: this file has no other owner.
        let _ = unsafe { call(CLOSE, [self.0, 0, 0, 0, 0, 0]) };
    }
}

impl File {
    fn open(path: &CStr, flags: usize) -> Option<Self> {
        let args = [AT_FDCWD, path.as_ptr().addr(), flags | O_CLOEXEC, 0, 0, 0];
        // SAFETY: the kernel reads the path up to its zero.
        unsafe { call(OPENAT, args) }.ok().map(Self)
    }

    /// Reads once; 0 is the end of the file.
    pub fn read(&self, into: &mut [u8]) -> Option<usize> {
        // SAFETY: the kernel writes at most as many bytes as the slice has.
        unsafe { call(READ, [self.0, into.as_mut_ptr().addr(), into.len(), 0, 0, 0]) }.ok()
    }
}

/// Writes everything to standard output (1) or the error stream (2). Returns false if that fails.
pub fn write(stream: usize, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the kernel reads as many bytes as the slice has.
        let written =
            unsafe { call(WRITE, [stream, bytes.as_ptr().addr(), bytes.len(), 0, 0, 0]) };
        match written.ok().and_then(|count| bytes.get(count..)) {
            Some(rest) if rest.len() < bytes.len() => bytes = rest,
            _ => return false,
        }
    }
    true
}

/// Reads a file as far as there is room, and returns what was read; `None` if it cannot be opened.
pub fn read_file<'a>(path: &CStr, room: &'a mut [u8]) -> Option<&'a [u8]> {
    let file = File::open(path, 0)?;
    let mut len = 0;
    while let Some(free) = room.get_mut(len..).filter(|free| !free.is_empty()) {
        match file.read(free) {
            Some(0) | None => break,
            Some(count) => len += count,
        }
    }
    room.get(..len)
}

/// Nanoseconds of the monotonic clock.
pub fn now() -> u64 {
    let mut time = [0_u64; 2];
    // SAFETY: the kernel writes two words, seconds and nanoseconds.
    let _ = unsafe {
        call(CLOCK_GETTIME, [CLOCK_MONOTONIC, time.as_mut_ptr().addr(), 0, 0, 0, 0])
    };
    time[0].wrapping_mul(NANOSECONDS).wrapping_add(time[1])
}

/// Allocates zeros that the process shares with its children, and never frees them.
pub fn shared(len: usize) -> Option<&'static mut [u8]> {
    let args = [0, len, PROT_READ_WRITE, MAP_SHARED_ANONYMOUS, usize::MAX, 0];
    // SAFETY: a new mapping changes no other memory.
    let start = unsafe { call(MMAP, args) }.ok()?;
    let start: *mut u8 = core::ptr::with_exposed_provenance_mut(start);
    // SAFETY: the kernel has mapped this many bytes, to which there is no other reference in this process.
    Some(unsafe { core::slice::from_raw_parts_mut(start, len) })
}

/// Six names of the system, each of 65 bytes.
type Names = [[u8; 65]; 6];

/// Returns release and version of the kernel.
pub fn kernel(names: &mut Names) -> [&[u8]; 2] {
    // SAFETY: the kernel writes at most as many bytes as the names have.
    let _ = unsafe { call(UNAME, [names.as_mut_ptr().addr(), 0, 0, 0, 0, 0]) };
    let [_, _, release, version, ..] = &*names;
    [release, version].map(|name| name.split(|byte| *byte == 0).next().unwrap_or_default())
}

/// Returns the number of the hart, as Linux counts them.
pub fn cpu() -> u32 {
    let mut cpu = 0_u32;
    // SAFETY: the kernel writes the number.
    let _ = unsafe { call(GETCPU, [(&raw mut cpu).addr(), 0, 0, 0, 0, 0]) };
    cpu
}

/// Keeps this process on one hart. Returns false if there is no such hart, or the process may not use it.
pub fn stay_on(cpu: u32) -> bool {
    let mut mask = [0_u64; 16];
    let Some(word) = mask.get_mut((cpu / 64) as usize) else { return false };
    *word = 1 << (cpu % 64);
    // SAFETY: the kernel reads the mask.
    let set = unsafe { call(SCHED_SETAFFINITY, [0, 128, mask.as_ptr().addr(), 0, 0, 0]) };
    set.is_ok() && self::cpu() == cpu
}

/// Forbids core files, also of children: a probe that traps would leave one.
pub fn forbid_core_files() {
    let limit = [0_u64; 2];
    // SAFETY: the kernel reads the two limits.
    let _ = unsafe { call(PRLIMIT64, [0, RLIMIT_CORE, limit.as_ptr().addr(), 0, 0, 0]) };
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this code.
    Code(u8),
    /// By this signal.
    Signal(u8),
    /// It was not started.
    NotStarted,
}

/// Starts a copy of this process. It returns `None` in the copy, else the child's number.
fn fork() -> Option<Option<usize>> {
    // SAFETY: without flags, the child has a copy of all memory, like its parent's.
    match unsafe { call(CLONE, [SIGCHLD, 0, 0, 0, 0, 0]) } {
        Ok(0) => Some(None),
        Ok(child) => Some(Some(child)),
        Err(_) => None,
    }
}

fn wait(child: usize) -> End {
    let mut status = 0_u32;
    loop {
        // SAFETY: the kernel writes the status.
        match unsafe { call(WAIT4, [child, (&raw mut status).addr(), 0, 0, 0, 0]) } {
            Ok(_) => break,
            Err(4) => {}
            Err(_) => return End::NotStarted,
        }
    }
    match status & 0x7f {
        0 => End::Code((status >> 8) as u8),
        signal => End::Signal(signal as u8),
    }
}

/// Runs a function in a child, which is ended by a signal after so many seconds.
pub fn in_child(seconds: u64, function: impl FnOnce()) -> End {
    match fork() {
        None => End::NotStarted,
        Some(Some(child)) => wait(child),
        Some(None) => {
            let timer = [0, 0, seconds, 0];
            // SAFETY: the kernel reads the four words, and ends this process by SIGALRM.
            let _ = unsafe { call(SETITIMER, [0, timer.as_ptr().addr(), 0, 0, 0, 0]) };
            function();
            exit(0)
        }
    }
}

/// Runs a program and stores the beginning of its standard output. It is ended if it takes longer than so many
/// seconds. `arguments` and `environment` end with a null pointer.
pub fn output<'a>(
    path: &CStr,
    arguments: &[*const u8],
    environment: *const *const u8,
    seconds: u64,
    room: &'a mut [u8],
) -> (End, &'a [u8]) {
    let mut ends = [0_u32; 2];
    // SAFETY: the kernel writes two numbers.
    if unsafe { call(PIPE2, [ends.as_mut_ptr().addr(), O_CLOEXEC, 0, 0, 0, 0]) }.is_err() {
        return (End::NotStarted, &[]);
    }
    let [reader, writer] = ends.map(|number| File(number as usize));
    let child = match fork() {
        None => return (End::NotStarted, &[]),
        Some(None) => become_program(path, arguments, environment, &writer),
        Some(Some(child)) => child,
    };
    drop(writer);
    let deadline = now().saturating_add(seconds.saturating_mul(NANOSECONDS));
    let mut len = 0;
    let mut wasted = [0; 256];
    let ended = loop {
        if let ControlFlow::Break(ended) = wait_for_input(&reader, deadline) {
            break ended;
        }
        let free = room.get_mut(len..).filter(|free| !free.is_empty());
        let is_full = free.is_none();
        match reader.read(free.unwrap_or(&mut wasted)) {
            Some(0) | None => break true,
            Some(count) if !is_full => len += count,
            Some(_) => {}
        }
    };
    if !ended {
        // SAFETY: the call refers to no memory, and the child is waited for below.
        let _ = unsafe { call(KILL, [child, SIGKILL, 0, 0, 0, 0]) };
    }
    (wait(child), room.get(..len).unwrap_or_default())
}

/// Waits until something can be read; breaks with false at the deadline.
fn wait_for_input(file: &File, deadline: u64) -> ControlFlow<bool> {
    let left = deadline.saturating_sub(now());
    if left == 0 {
        return ControlFlow::Break(false);
    }
    let time = [left / NANOSECONDS, left % NANOSECONDS];
    // A file and the events to wait for.
    let mut wanted = file.0 as u64 | POLLIN << 32;
    let args = [(&raw mut wanted).addr(), 1, time.as_ptr().addr(), 0, 0, 0];
    // SAFETY: the kernel reads and writes one entry, and reads the time.
    match unsafe { call(PPOLL, args) } {
        Ok(0) => ControlFlow::Break(false),
        _ => ControlFlow::Continue(()),
    }
}

/// Replaces this process, a child, by a program that writes to the pipe.
fn become_program(
    path: &CStr,
    arguments: &[*const u8],
    environment: *const *const u8,
    output: &File,
) -> ! {
    if let Some(nowhere) = File::open(c"/dev/null", O_WRONLY) {
        // SAFETY: the call refers to no memory.
        let _ = unsafe { call(DUP3, [nowhere.0, 2, 0, 0, 0, 0]) };
    }
    let args = [path.as_ptr().addr(), arguments.as_ptr().addr(), environment.addr(), 0, 0, 0];
    // SAFETY: the call refers to no memory.
    let _ = unsafe { call(DUP3, [output.0, 1, 0, 0, 0, 0]) };
    // SAFETY: the path ends with a zero, and both lists with a null pointer.
    let _ = unsafe { call(EXECVE, args) };
    exit(127)
}

/// A counter of the calling process in user mode, on the hart's own counters.
pub struct Counter(File);

/// What a [`Counter`] counts.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Event {
    /// Cycles.
    Cycles = 0,
    /// Retired instructions.
    Instructions = 1,
}

impl Counter {
    /// Opens a counter; `None` if the kernel refuses it.
    pub fn open(event: Event) -> Option<Self> {
        const SIZE: u64 = 64;
        // Values with the time for which the counter was wanted, and for which it ran.
        const TIMES: u64 = 3;
        // Pinned (an error instead of a share of a counter), without kernel and without hypervisor.
        const FLAGS: u64 = 1 << 2 | 1 << 5 | 1 << 6;
        let attributes = [SIZE << 32, event as u64, 0, 0, TIMES, FLAGS, 0, 0_u64];
        let args = [attributes.as_ptr().addr(), 0, usize::MAX, usize::MAX, 0, 0];
        // SAFETY: the kernel reads the attributes, whose size is the first form's.
        let file = unsafe { call(PERF_EVENT_OPEN, args) }.ok().map(File)?;
        let counter = Self(file);
        counter.value().map(|_| counter)
    }

    /// Returns the count; `None` if the counter has not counted all the time.
    pub fn value(&self) -> Option<u64> {
        let mut bytes = [0; 24];
        let count = self.0.read(&mut bytes)?;
        let (words, _) = bytes.as_chunks::<8>();
        let [value, wanted, ran] = [0, 1, 2].map(|at| words.get(at).copied().map(u64::from_le_bytes));
        (count == 24 && wanted == ran).then_some(value?)
    }
}
