//! The list of targets. Each module states its subject and its rules.

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

/// A target, which returns normally if all rules hold and panics if one is violated.
pub type Run = fn(&[u8]);

/// All targets by name. `verif/fuzz/run/src/lib.rs` has the same list with the limits of each.
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
    ("class-keys", handover::class_keys),
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
