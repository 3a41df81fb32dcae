//! Tests that a reader may close the pipe, as in `cargo xtask test --list | head`.

use std::io;
use std::process::Command;

#[test]
fn ends_silently_when_standard_output_is_closed() {
    let (reader, closed) = io::pipe().unwrap();
    drop(reader);
    let mut list = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = list.args(["test", "--list"]).stdout(closed).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success(), "{}", output.status);
}
