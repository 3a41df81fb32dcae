//! `hartlock-bench`: measures the kernels of this project, and those of OpenSSL where it is installed, on a board under
//! Linux. It needs neither a C library nor privileges (docs/src/boards.md).

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(all(target_os = "none", target_arch = "riscv64"))]
mod board;

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!(
        "hartlock-bench runs on riscv64 boards under Linux; `cargo xtask bench-program` builds it for them"
    );
    std::process::ExitCode::from(2)
}
