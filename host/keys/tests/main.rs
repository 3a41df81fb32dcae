//! Tests of the public interface: keys are generated, written, read and used, and other implementations check the
//! results.
//!
//! All files are one test program, because linking each file separately takes longer than running it.

mod common;
mod keys;
mod openssl;
mod spared;
