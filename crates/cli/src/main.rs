//! The `hartlock` command.

#![forbid(unsafe_code)]

fn main() {}
