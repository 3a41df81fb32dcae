//! Prints the summary of a bundle.

use anstyle::Style;
use hartlock_bundle::date::date_text;
use hartlock_bundle::describe::{Description, Key, Payload, PayloadEncryption, Trust};
use hartlock_bundle::inspect::{
    Check, Field, FirstStage, Inspection, Memory, Obstacle, Part, PolicyOutcome, Usage,
};
use hartlock_image::{Family, Policy};

use super::first_stage::write_facts as write_facts_of_first_stage;
use super::place::place_text;
use crate::failure::ReasonText;
use crate::page::Page;
use crate::style::{BOLD, DIM, ERROR, GOOD, WARNING};
use crate::units::{grouped, size_text};

/// Prints the summary of a bundle, or as much as can be read of a malformed one.
pub(super) fn write(page: &mut Page, inspection: &Inspection, is_verbose: bool) {
    write_fault(page, inspection);
    if let Some(first_stage) = &inspection.first_stage {
        return write_first_stage(page, inspection, first_stage);
    }
    match &inspection.manifest {
        Some(manifest) => {
            page.gap();
            write_facts(page, manifest);
            write_payloads(page, manifest, is_verbose);
            if let Some(memory) = &inspection.memory {
                write_memory(page, manifest, memory);
            }
        }
        None => write_parts(page, inspection),
    }
    write_signatures(page, inspection, is_verbose);
    write_policies(page, inspection);
    if let Some(trust) = inspection.manifest.as_ref().and_then(|manifest| manifest.trust.as_ref()) {
        write_trust(page, trust, inspection, is_verbose);
    }
    page.gap();
    page.remark(0, "More: --fields (meanings), --hexdump (bytes), -v (whole key ids and digests)");
}

/// Prints the summary of a first-stage image, or as much as can be read of a malformed one.
fn write_first_stage(page: &mut Page, inspection: &Inspection, image: &FirstStage) {
    match &image.content {
        Some(content) => {
            page.gap();
            write_facts_of_first_stage(page, content);
        }
        None => {
            if let Some(key) = &image.key {
                page.gap();
                page.row("signer", &key.algorithm);
                page.row("key digest", &key.key_digest);
            }
            write_parts(page, inspection);
        }
    }
    if let Some(check) = image.check {
        page.heading("Signature");
        let (style, verdict) = check_text(check);
        page.write_indented("", &verdict, style);
    }
    page.gap();
    page.remark(0, "More: --fields (meanings), --hexdump (bytes)");
}

/// Returns the content of a manifest as text, for `hartlock sign`.
pub fn manifest_text(manifest: &Description) -> String {
    let mut page = Page::new();
    write_facts(&mut page, manifest);
    for (number, signer) in (1..).zip(&manifest.signers) {
        page.row(&format!("signer {number}"), &key_text(signer, false));
    }
    if let Some(trust) = &manifest.trust {
        page.row("next stage", trust_rule(trust));
        for (number, key) in (1..).zip(&trust.keys) {
            page.row(&format!("trusted key {number}"), &key_text(key, false));
        }
    }
    write_payloads(&mut page, manifest, false);
    page.finish()
}

fn write_fault(page: &mut Page, inspection: &Inspection) {
    let Some(reason) = inspection.reason else { return };
    let reason = ReasonText::from(reason);
    page.gap();
    page.write_indented("", &format!("MALFORMED: {} {}", reason.code, reason.title), ERROR);
    if let Some(place) = &inspection.place {
        page.write_indented("  ", &place_text(place), Style::new());
    }
}

fn write_facts(page: &mut Page, manifest: &Description) {
    page.row("type", &format!("{}, {}", manifest.bundle_type, role(manifest.bundle_type)));
    page.row("board", &format!("{}, SoC {}", manifest.board, manifest.soc));
    for device in &manifest.also_for {
        page.row("also for", &format!("{}, SoC {}", device.board, device.soc));
    }
    if let Some(devices) = manifest.devices {
        page.row("devices", devices);
    }
    if !manifest.label.is_empty() {
        page.row("label", &manifest.label);
    }
    page.row("security version", &manifest.security_version.to_string());
    if let Some(version) = manifest.min_boot_version {
        page.row("needs", &format!("a boot bundle of security version {version} or higher"));
    }
    page.row("lifecycle", &manifest.lifecycle.join(", "));
    let profiles = manifest.profiles.join(", ");
    page.row("profiles", if profiles.is_empty() { "(none)" } else { &profiles });
    page.row("created", &date_text(manifest.created));
    let size = manifest.bundle_size;
    page.row("size", &format!("{} ({} bytes)", size_text(size), grouped(size)));
    if let Some(bootargs) = &manifest.bootargs {
        page.row("bootargs", if bootargs.is_empty() { "(none)" } else { bootargs });
    }
}

fn role(bundle_type: &str) -> &'static str {
    match bundle_type {
        "boot" => "verified by the ROM",
        _ => "verified by the loader",
    }
}

fn write_payloads(page: &mut Page, manifest: &Description, is_verbose: bool) {
    page.heading(match manifest.bundle_type {
        "boot" => "Payloads: the ROM enters opensbi, which enters loader",
        _ => "Payloads: the loader enters kernel",
    });
    for payload in &manifest.payloads {
        let memory = format!(
            "{:#x} to {:#x}",
            payload.load_address,
            payload.load_address.saturating_add(payload.memory_size)
        );
        let entry = match payload.entry {
            0 => "data".to_string(),
            entry => format!("entered at {entry:#x}"),
        };
        let size = size_text(payload.size);
        page.line(format_args!("{:<11}{size:>10}  {memory}, {entry}", payload.payload_type));
        let digest = if is_verbose { &payload.digest } else { shortened(&payload.digest) };
        let dots = if is_verbose { "" } else { "…" };
        page.remark(23, &format!("{} {digest}{dots}", digest_rule(payload)));
        if let Some(PayloadEncryption { cipher, class }) = &payload.encryption {
            page.remark(23, &format!("encrypted with {cipher} for class {class}"));
        }
        if let Some(plain) = &payload.plain {
            page.remark(23, &format!("{}: {}", plain.tool, plain.digest));
        }
    }
}

fn digest_rule(payload: &Payload) -> String {
    let approval = if payload.is_nist_approved { "" } else { " (not NIST-approved)" };
    let hash = match payload.mode {
        "parallelhash" => format!("parallelhash with {}", payload.hash),
        _ => format!("{}{approval}", payload.hash),
    };
    match payload.mode {
        "flat" => format!("{hash} of the whole payload:"),
        _ => format!(
            "{hash} over {} of {}:",
            crate::units::count_text(payload.block_count, "block", "blocks"),
            size_text(payload.block_size.into())
        ),
    }
}

fn write_memory(page: &mut Page, manifest: &Description, memory: &Memory) {
    page.heading(&format!("Memory of {} (not to scale)", manifest.board));
    let stage = if manifest.bundle_type == "boot" { "ROM" } else { "loader" };
    for segment in &memory.segments {
        let is_misplaced = memory.faults.iter().any(|fault| Some(fault.payload) == segment.payload);
        let (mark, what) = match (segment.usage, segment.payload) {
            (Usage::Live, _) => ("::::", format!("in use while the {stage} works")),
            (Usage::Free, _) => ("    ", "free".to_string()),
            (Usage::Payload, payload) => {
                let mark = if is_misplaced { "!!!!" } else { "####" };
                (mark, payload.unwrap_or_default().to_string())
            }
        };
        let style = match segment.usage {
            Usage::Payload if is_misplaced => WARNING,
            Usage::Payload => BOLD,
            Usage::Live | Usage::Free => DIM,
        };
        let size = size_text(segment.end - segment.start);
        page.line(format_args!(
            "{:>#12x}  {style}{mark}  {what:<32}{style:#}{size:>10}",
            segment.start
        ));
    }
    if let Some(last) = memory.segments.last().filter(|_| memory.is_known_board) {
        page.line(format_args!("{:>#12x}        {DIM}end of memory{DIM:#}", last.end));
    }
    for fault in &memory.faults {
        let reason = ReasonText::from(fault.reason);
        let text = format!("{}: {} {}", fault.payload, reason.code, reason.title);
        page.write_indented("", &text, WARNING);
    }
    if !memory.is_known_board {
        page.remark(0, "The memory map of this board is not known here: only payloads are shown.");
    }
}

/// Returns the result of the check of a signature.
fn check_text(check: Check) -> (Style, String) {
    match check {
        Check::Verifies => (GOOD, "verifies over these bytes".to_string()),
        Check::Fails(reason) => {
            let reason = ReasonText::from(reason);
            (ERROR, format!("{} {}", reason.code, reason.title))
        }
        Check::NotCarried => (WARNING, "not checked: of an unknown algorithm".to_string()),
    }
}

fn write_signatures(page: &mut Page, inspection: &Inspection, is_verbose: bool) {
    if inspection.signatures.is_empty() {
        return;
    }
    page.heading("Signatures");
    for (number, signature) in (1..).zip(&inspection.signatures) {
        let (style, verdict) = check_text(signature.check);
        let key = key_text(&signature.key, is_verbose);
        let start = format!("{number}  {key}  ");
        if is_verbose {
            page.line(start.trim_end());
            page.write_indented("   ", &verdict, style);
        } else {
            page.write_indented(&start, &verdict, style);
        }
        write_published(page, &signature.key);
    }
    page.remark(
        3,
        "Checked against the key in the bundle itself. Whether that key is to be trusted is not \
         decided here: no key was given.",
    );
}

fn write_policies(page: &mut Page, inspection: &Inspection) {
    let policy_outcomes = inspection.policy_outcomes();
    if policy_outcomes.is_empty() {
        return;
    }
    let verified = (1..).zip(&inspection.signatures).filter(|(_, it)| it.check == Check::Verifies);
    let numbers: Vec<_> = verified.map(|(number, _): (u32, _)| number.to_string()).collect();
    page.heading("Policies of a device, and whether these signatures are enough");
    for outcome in policy_outcomes {
        let (style, text) = outcome_text(&outcome, &numbers);
        page.write_indented(&format!("{:<7} ", outcome.policy.name()), &text, style);
    }
}

/// Describes whether a policy can be satisfied. `keys` has the numbers of the keys whose signatures are
/// valid.
fn outcome_text(outcome: &PolicyOutcome, keys: &[String]) -> (Style, String) {
    let Some(obstacle) = outcome.obstacle else {
        let text = match outcome.policy {
            Policy::Hybrid => "enough if the device trusts a key of each family".to_string(),
            Policy::All => format!("enough if the device trusts no key but {}", keys.join(", ")),
            _ => format!("enough if the device trusts key {}", keys.join(" or ")),
        };
        return (Style::new(), text);
    };
    let why = match obstacle {
        Obstacle::SignatureFails(_) => "no signature verifies",
        Obstacle::Otherwise(_) => "the bundle is refused whichever key signed it",
        Obstacle::NothingVerifies => "no signature could be checked",
        Obstacle::Lacks(Family::Classical) => "there is no classical signature",
        Obstacle::Lacks(Family::PostQuantum) => "there is no post-quantum signature",
    };
    (WARNING, format!("never enough: {why} (E{:04})", obstacle.reason() as u16))
}

fn write_trust(page: &mut Page, trust: &Trust, inspection: &Inspection, is_verbose: bool) {
    page.heading(&format!("Next stage: {}", trust_rule(trust)));
    for (number, key) in (1..).zip(&trust.keys) {
        let is_signer = inspection.signatures.iter().any(|signature| signature.key == *key);
        let also = if is_signer { "  signs this bundle too" } else { "" };
        page.line(format_args!("{number}  {}{DIM}{also}{DIM:#}", key_text(key, is_verbose)));
        write_published(page, key);
    }
}

fn trust_rule(trust: &Trust) -> &'static str {
    match trust.policy {
        "all" => "a system bundle must be signed by all of these keys",
        "hybrid" => "a system bundle must be signed by a classical and a post-quantum key of these",
        _ => "a system bundle must be signed by one of these keys",
    }
}

/// Prints the fields and parts that can be read although the manifest cannot be parsed.
fn write_parts(page: &mut Page, inspection: &Inspection) {
    if let Some(header) = &inspection.header {
        page.gap();
        page.row("tag", &header.tag);
        page.row("board", &format!("{}, SoC {}", header.board, header.soc));
        page.row("label", &header.label);
        page.row("security version", &header.security_version.to_string());
        // The value in words shows also bits that have no name.
        let mask = inspection.fields.iter().find(|field| field.name == "lifecycle_mask");
        page.row("lifecycle", mask.map_or("", |field| &field.value));
        page.row("created", &date_text(header.created));
        page.row("bundle size", &format!("{} bytes", grouped(header.bundle_size)));
    }
    page.heading("Parts that could be recognised");
    let mut fields = inspection.fields.iter().peekable();
    while let Some(first) = fields.next() {
        let mut end = first.end();
        while let Some(next) = fields.next_if(|next| next.part == first.part) {
            end = next.end();
        }
        let size = grouped(end - first.offset);
        let part = part_text(first);
        let is_here = inspection
            .place
            .as_ref()
            .is_some_and(|place| (first.offset..end).contains(&place.offset));
        let mark = if is_here { "  <- the fault" } else { "" };
        let range = format!("{:#x} to {end:#x}", first.offset);
        page.line(format_args!("{range:<20}{size:>9} B  {part}{ERROR}{mark}{ERROR:#}"));
    }
}

/// Returns the name of a part, with the type of its payload.
pub(super) fn part_text(field: &Field) -> String {
    match field.part {
        Part::PayloadRecord(_, Some(payload_type)) => {
            format!("{} ({})", field.part, payload_type.name())
        }
        Part::Payload(_) => format!("{} ({})", field.part, field.value),
        part => part.to_string(),
    }
}

fn key_text(key: &Key, is_verbose: bool) -> String {
    if is_verbose {
        format!("{} {}", key.algorithm, key.key_id)
    } else {
        format!("{} {}…", key.algorithm, key.short_id())
    }
}

/// Prints a warning below a key that everybody has.
fn write_published(page: &mut Page, key: &Key) {
    if let Some(place) = key.published {
        page.write_indented("   ", &format!("EVERYBODY HAS THIS KEY: see {place}"), WARNING);
    }
}

/// Returns the first 16 characters of a digest, which are enough to tell two digests apart.
fn shortened(digest: &str) -> &str {
    digest.get(..16).unwrap_or(digest)
}
