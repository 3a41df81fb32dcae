//! Jobs for a hart without other software. They check the project's claims about a core on that
//! core.
//!
//! A *pack* is a file that is placed in memory next to the program. It contains a job's number and
//! input. This library reads packs and does the jobs' work without any hardware, so that a
//! workstation runs exactly the same code. The binary adds entry, console and the end of the
//! machine.
//!
//! A new job needs a module in this library that does the work, a module in `jobs` that prints, and
//! a number in [`pack`].

#![no_std]
#![forbid(unsafe_code)]

pub mod ciphers;
pub mod kernels;
pub mod pack;
pub mod vectors;
