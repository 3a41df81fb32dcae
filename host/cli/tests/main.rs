//! The `hartlock` command, as its users run it.
//!
//! One program, because linking each file by itself costs more than running it.

mod board;
mod boot;
mod common;
mod completions;
mod explain;
mod extensions;
mod first_stage;
mod inspect;
mod integrations;
mod kat;
mod kat_memory;
mod keys;
mod narrow;
mod output;
mod overlay;
mod pages;
mod profiles;
mod shells;
mod terminal;
mod timeline;
mod verbs;
mod wrong;
