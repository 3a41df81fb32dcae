//! Memory maps of the boards (boot flow §2). Each is generated from the description in the folder of its board; a
//! program links those that it names.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use hartlock_verify::board::Board;

include!(concat!(env!("OUT_DIR"), "/maps.rs"));
