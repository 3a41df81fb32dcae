//! The targets by name. Each module says what its target is about and which rule it holds it to.

mod blocks;
mod bundle;
mod console;
mod differential;
mod fdt;
mod first_stage;
mod handover;
mod keys;
mod looks;
mod manifest;
mod signatures;
mod spec;
mod timeline;
mod virtio;

/// Returns if all is well, panics if a rule is broken.
pub type Run = fn(&[u8]);

/// Every target; `verif/fuzz/run/src/lib.rs` has the same list, with the work that each gets.
pub const ALL: &[(&str, Run)] = &[
    ("head", blocks::head),
    ("signature-blocks", blocks::signature_blocks),
    ("manifest", manifest::bytes),
    ("manifest-built", manifest::built),
    ("looks", looks::run),
    ("bundle", bundle::run),
    ("differential", differential::run),
    ("inspect", bundle::inspect),
    ("first-stage", first_stage::run),
    ("keys", keys::run),
    ("spec", spec::run),
    ("root-of-trust", handover::root_of_trust),
    ("state", handover::state),
    ("handoff", handover::handoff),
    ("log", handover::log),
    ("fdt", fdt::bytes),
    ("fdt-built", fdt::built),
    ("timeline", timeline::run),
    ("console", console::run),
    ("virtio", virtio::run),
    ("ed25519", signatures::ed25519::run),
    ("ecdsa", signatures::ecdsa::run),
    ("rsa", signatures::rsa::run),
    ("lms", signatures::lms::run),
    ("xmss", signatures::xmss::run),
    ("ml-dsa", signatures::ml_dsa::run),
    ("slh-dsa", signatures::slh_dsa::run),
];
