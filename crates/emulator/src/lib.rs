//! The emulated board.

#![forbid(unsafe_code)]
