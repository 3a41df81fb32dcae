//! Tests that build, sign, verify and inspect bundles through the public interface.
//!
//! All tests are one program, because linking a program for each file takes longer than running the tests.

mod boot_tree;
mod build;
mod common;
mod fields;
mod inspect;
mod keys;
mod system_tree;
mod tampering;
