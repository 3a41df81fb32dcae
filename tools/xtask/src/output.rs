//! Standard output of `cargo xtask` and of every runner.
//!
//! If a reader closes the pipe (`cargo xtask firmware | head`), that is not a failure, as with the `hartlock` command:
//! the work goes on, and the exit code still answers the question. The macros of the standard library panic instead.
//! `print!` and `println!` of this crate replace them: each runner has `#[macro_use] extern crate xtask` in its root
//! and denies the lint `clippy::print_stdout`, which finds uses of the macros of the standard library.

use std::fmt::Arguments;
use std::io::{self, Write};

/// A writer to standard output. If the pipe is closed, the output is dropped.
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_closed(io::stdout().write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_closed(io::stdout().flush(), ())
    }
}

fn unless_closed<T>(written: io::Result<T>, all: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(all),
        result => result,
    }
}

/// Implements the macros `print!` and `println!`.
///
/// # Panics
/// If standard output cannot be written for another reason than a closed pipe, such as a full disk.
#[doc(hidden)]
pub fn print(text: Arguments<'_>) {
    // The lock is held for all parts of a text, so that lines of two threads do not mix.
    let _lock = io::stdout().lock();
    if let Err(error) = Stdout.write_fmt(text) {
        panic!("cannot write to standard output: {error}");
    }
}

/// Same as `print!` of the standard library, except that a closed pipe is not a failure.
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => { $crate::output::print(::std::format_args!($($argument)*)) };
}

/// Same as `println!` of the standard library, except that a closed pipe is not a failure.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($argument:tt)*) => { $crate::print!("{}\n", ::std::format_args!($($argument)*)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_closed_pipe_is_no_failure() {
        let (reader, mut closed) = io::pipe().unwrap();
        drop(reader);
        let failed = closed.write(b"text");
        assert_eq!(failed.as_ref().map_err(io::Error::kind), Err(io::ErrorKind::BrokenPipe));
        assert_eq!(unless_closed(failed, 4).unwrap(), 4);
        let full = io::Error::from(io::ErrorKind::StorageFull);
        unless_closed(Err(full), 4).unwrap_err();
    }
}
