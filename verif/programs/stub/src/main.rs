//! A replacement of a kernel for tests that only check whether a kernel is entered. It prints a line on the console and
//! switches the machine off.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::global_asm;

// The program runs in S-mode with the hart number in a0 and the device tree in a1. It uses no stack and no memory
// except its own code.
global_asm!(
    ".section .text.init, \"ax\"",
    ".globl _start",
    "_start:",
    "    lla   t0, text",
    "    li    t1, {uart}",
    "1:  lbu   t2, 0(t0)",
    "    beqz  t2, 2f",
    "    sb    t2, 0(t1)",
    "    addi  t0, t0, 1",
    "    j     1b",
    "2:  li    a7, 0x53525354", // SBI system reset: shutdown
    "    li    a6, 0",
    "    li    a0, 0",
    "    li    a1, 0",
    "    ecall",
    "3:  wfi",
    "    j     3b",
    "text:",
    "    .asciz \"stub: the kernel runs\\r\\n\"",
    uart = const hartlock_virt::board::UART,
);
