//! Prints the content of a first-stage image.

use hartlock_bundle::first_stage::{FirstStageDescription, KeyByDigest};

use crate::page::Page;
use crate::units::{count_text, size_text};

/// Prints all values in the header of an image.
pub fn write_facts(page: &mut Page, image: &FirstStageDescription) {
    page.row("form", "first stage, verified by hardware");
    page.row("board", &format!("{}, SoC {}", image.board, image.soc));
    page.row("security version", &image.security_version.to_string());
    page.row("lifecycle", &image.lifecycle.join(", "));
    page.row("signer", &image.signer.algorithm);
    page.row("key digest", &image.signer.key_digest);
    match &image.next_key {
        None => page.row("next stage", "no key is named"),
        Some(KeyByDigest { algorithm, key_digest }) => {
            page.row("next stage", &format!("signed with {algorithm}"));
            page.row("next key digest", key_digest);
        }
    }
    page.row("code", &format!("{} at {:#x}", size_text(image.code_size), image.code_offset));
    page.row("SHA-256 of code", &image.code_digest);
    page.row("size", &count_text(image.image_size, "byte", "bytes"));
}
