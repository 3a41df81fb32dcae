//! Tests that run the `hartlock` command as its users do.
//!
//! All tests are one program, because linking a program for each file takes longer than running the tests.

mod board;
mod boot;
mod boot_tree;
mod common;
mod completions;
mod encryption;
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
mod signers;
mod terminal;
mod timeline;
mod tokens;
mod verbs;
mod wrong;
