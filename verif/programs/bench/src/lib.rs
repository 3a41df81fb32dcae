//! Jobs for a bare hart, which check the project's claims about a core on that core.
//!
//! A *pack* is a file that is put into memory beside the program: a job's number and its input.
//! This library reads packs and does the jobs' work without any hardware, so a workstation runs
//! exactly the same code; the binary adds entry, console and the end of the machine.
//!
//! A new job is a module here that works, one in `jobs` that prints, and a number in [`pack`].

#![no_std]
#![forbid(unsafe_code)]

pub mod kernels;
pub mod pack;
pub mod vectors;
