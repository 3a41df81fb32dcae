//! A program that runs under Linux as root and tries, through `/dev/mem`, to read and to overwrite
//! the state records with the anti-rollback floors (boot flow §3.2), and the hand-off block.
//!
//! Usage: `devmem read-state`, `devmem write-state`, `devmem read-handoff`, `devmem write-handoff`.
//! The program prints its progress. A forbidden access ends it with a signal, which the caller
//! reports.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::{asm, global_asm};

use hartlock_virt::board::map;

// The kernel passes argc and argv on the stack.
global_asm!(
    ".section .text.init, \"ax\"",
    ".globl _start",
    "_start: mv a0, sp",
    "andi sp, sp, -16",
    "call devmem_main",
);

const OPENAT: usize = 56;
const WRITE: usize = 64;
const EXIT: usize = 93;
const MMAP: usize = 222;

const AT_FDCWD: usize = -100isize as usize;
const O_RDWR_SYNC: usize = 0o4_010_002;
const PROT_READ_WRITE: usize = 3;
const MAP_SHARED: usize = 1;
const PAGE: usize = 4096;

const STATE_COPY: usize = map::STATE_COPIES[0].start as usize;
const HANDOFF: usize = map::HANDOFF.start as usize;

fn call(number: usize, args: [usize; 6]) -> usize {
    let result;
    // SAFETY: this is Linux's calling convention. Only `mmap` changes memory, and its mapping is
    // used only through volatile accesses.
    unsafe {
        asm!(
            "ecall",
            in("a7") number,
            inlateout("a0") args[0] => result,
            in("a1") args[1], in("a2") args[2], in("a3") args[3], in("a4") args[4],
            in("a5") args[5],
        );
    }
    result
}

fn say(text: &str) {
    call(WRITE, [1, text.as_ptr().addr(), text.len(), 0, 0, 0]);
}

fn exit(code: usize) -> ! {
    call(EXIT, [code, 0, 0, 0, 0, 0]);
    loop {
        core::hint::spin_loop();
    }
}

/// Returns true if the program was called with this argument.
fn is_argument(stack: *const usize, expected: &[u8]) -> bool {
    // SAFETY: the kernel stores argc, argv[0] and argv[1] in this order.
    let argument = unsafe { stack.wrapping_add(2).read() } as *const u8;
    expected.iter().chain(b"\0").enumerate().all(|(index, byte)| {
        // SAFETY: the string ends with a zero, and the comparison stops at the first difference.
        unsafe { argument.wrapping_add(index).read() == *byte }
    })
}

#[unsafe(no_mangle)]
extern "C" fn devmem_main(stack: *const usize) -> ! {
    // SAFETY: argc is the first word on the stack.
    if unsafe { stack.read() } != 2 {
        exit(64);
    }
    let (address, is_write) = if is_argument(stack, b"read-state") {
        (STATE_COPY, false)
    } else if is_argument(stack, b"write-state") {
        (STATE_COPY, true)
    } else if is_argument(stack, b"read-handoff") {
        (HANDOFF, false)
    } else if is_argument(stack, b"write-handoff") {
        (HANDOFF, true)
    } else {
        exit(64);
    };
    let path = c"/dev/mem";
    let file = call(OPENAT, [AT_FDCWD, path.as_ptr().addr(), O_RDWR_SYNC, 0, 0, 0]);
    if (file as isize) < 0 {
        say("devmem: /dev/mem cannot be opened\n");
        exit(65);
    }
    let place = call(MMAP, [0, PAGE, PROT_READ_WRITE, MAP_SHARED, file, address]);
    if (place as isize) < 0 && (place as isize) > -4096 {
        say("devmem: cannot be mapped\n");
        exit(66);
    }
    say("devmem: mapped\n");
    let word: *mut u32 = core::ptr::with_exposed_provenance_mut(place);
    if is_write {
        // SAFETY: this is a shared mapping of one page, which is not memory of this program.
        unsafe { word.write_volatile(0) };
        say("devmem: WRITTEN\n");
    } else {
        // SAFETY: this is the same mapping.
        let _ = unsafe { word.read_volatile() };
        say("devmem: READ\n");
    }
    exit(0)
}
