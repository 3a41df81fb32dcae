//! Keys are generated, written, read and used through the public interface, and other implementations judge them.
//!
//! One program, because linking each file by itself costs more than running it.

mod common;
mod keys;
mod openssl;
mod spared;
