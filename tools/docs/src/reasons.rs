//! Generates a page for each reason code, their index, and their entries in the table of contents.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::vectors::Vector;
use hartlock_gen::errors::{FaultParty, Group, KEY_FILE, List, Reason, Reporter};

/// A page of the book.
pub struct Page {
    /// The path from the root of the checkout.
    pub path: String,
    pub text: String,
}

/// Returns the entries below *Reason codes* in the table of contents.
///
/// The files are named only for the code, because a code never changes, but a name may be
/// corrected.
pub fn summary(list: &List) -> String {
    let mut out = String::new();
    for group in &list.group {
        let number = &group.number;
        let _ = writeln!(out, "  - [E{number}xx {}](reasons/E{number}.md)", group.title);
        for Reason { code, name, .. } in list.of(group) {
            let _ = writeln!(out, "    - [{code} {name}](reasons/{code}.md)");
        }
    }
    out
}

/// Returns the tables of all codes, by group.
pub fn index(list: &List) -> String {
    let section = |group| format!("## {}\n\n{}\n", heading(group), group_table(list, group));
    list.group.iter().map(section).collect()
}

fn heading(group: &Group) -> String {
    format!("[E{0}xx](E{0}.md) {1}", group.number, group.title)
}

fn group_table(list: &List, group: &Group) -> String {
    let mut out = format!("{}\n\n", group.about);
    out += "| code | what happened | who has to act |\n|---|---|---|\n";
    for reason in list.of(group) {
        let (code, who) = (&reason.code, reason.fault.name());
        let _ = writeln!(out, "| [{code}]({code}.md) | {} | {who} |", reason.title);
    }
    out
}

/// Returns the text of a page where every code is a link to its page. Codes are found where the
/// specification writes them: in bold, or in the first column of a table.
pub fn linked(text: &str, list: &List, path: impl Fn(&str) -> String) -> String {
    let mut is_code = false;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        let mut line = line.to_owned();
        for code in list.reason.iter().map(|reason| &reason.code).filter(|_| !is_code) {
            let link = format!("[{code}]({})", path(code));
            line = line.replace(&format!("**{code}**"), &format!("**{link}**"));
            if let Some(rest) = line.strip_prefix(&format!("| {code} |")) {
                line = format!("| {link} |{rest}");
            }
        }
        out += &line;
        out.push('\n');
    }
    out
}

pub fn pages(list: &List, vectors: &[Vector], root: &Path) -> Result<Vec<Page>> {
    let sections = Sections::read(root)?;
    let mut pages = Vec::new();
    for group in &list.group {
        pages.push(Page {
            path: format!("docs/src/reasons/E{}.md", group.number),
            text: format!("# E{}xx {}\n\n{}", group.number, group.title, group_table(list, group)),
        });
        for reason in list.of(group) {
            let of_reason = |vector: &&Vector| vector.reason.as_ref() == Some(&reason.code);
            let vectors: Vec<_> = vectors.iter().filter(of_reason).collect();
            let rule = sections.link(&reason.spec).context(reason.code.clone())?;
            pages.push(Page {
                path: format!("docs/src/reasons/{}.md", reason.code),
                text: page(reason, group, &rule, &vectors),
            });
        }
    }
    Ok(pages)
}

fn page(reason: &Reason, group: &Group, rule: &str, vectors: &[&Vector]) -> String {
    let Reason { code, name, title, why, hint, .. } = reason;
    let mut out = format!("# {code} {name}\n\n**{title}**\n\n## What happened\n\n{why}");
    if let Some(details) = &reason.details {
        let _ = write!(out, " {details}");
    }
    let _ = write!(out, "\n\n## Who is at fault\n\n{}", blame(reason));
    let _ = write!(out, "\n\n## What to do\n\n{hint}");
    if let Some(remedy) = &reason.remedy {
        let _ = write!(out, " {remedy}");
    }
    if !reason.cause.is_empty() {
        out += "\n\nWhere `hartlock` knows the cause, it gives the advice for it:\n\n| cause | what to do |\n|---|---|";
        for cause in &reason.cause {
            let _ = write!(out, "\n| {} | {} |", cause.when, cause.hint.replace('|', "\\|"));
        }
    }
    out += "\n\n## Messages\n\n";
    out += &consoles(reason);
    let (number, group) = (&group.number, &group.title);
    let _ =
        write!(out, "\n## The rule in the specification\n\n{rule}. Other reasons of this kind: ");
    let _ = writeln!(out, "[E{number}xx {group}](E{number}.md).");
    if !vectors.is_empty() {
        out +=
            "\n## Bundles with this fault\n\nTest vectors that must be refused with this code:\n\n";
        for vector in vectors {
            let _ = writeln!(out, "- {}: {}", vector.link(), vector.description);
        }
    }
    out
}

fn blame(reason: &Reason) -> &'static str {
    match reason.fault {
        FaultParty::Image => {
            "The **image**. The party that built, signed or transported the bundle has to act; the \
             device is correct."
        }
        FaultParty::Device => {
            "The **device**. The party that provisioned or maintains it has to act; another bundle \
             does not help."
        }
        FaultParty::Caller if reason.is_of_call() => {
            "The **caller**. The program that calls the library has to change; no fault of the bundle \
             is known."
        }
        FaultParty::Caller => {
            "The **caller**. The caller of the command has to change its arguments; no fault of the \
             bundle is known."
        }
    }
}

/// Returns the messages of each stage, in the form of the boot flow §7, and of the `hartlock`
/// command.
fn consoles(reason: &Reason) -> String {
    let Reason { code, title, hint, .. } = reason;
    let reporters = reason.reporters();
    let stages: Vec<&str> = reporters.iter().filter_map(|reporter| reporter.stage()).collect();
    let mut out = String::new();
    if let [first, ..] = stages[..] {
        let _ = writeln!(out, "On the console of a device, from the {}:\n", of_stages(&stages));
        let _ = writeln!(out, "```text\nhartlock: {first} refused: {code} {title}");
        // The ROM has no room for hints.
        if first != "rom" {
            let _ = writeln!(out, "hartlock: hint: {hint}");
        }
        out.push_str("```\n\n");
    }
    if reason.is_of_key_file() {
        let what = title.strip_prefix(KEY_FILE).unwrap_or(title).trim_end_matches('.');
        out += "From `hartlock`, exit code 2; the message may say more about the file:\n\n";
        out += &command(&format!("{code} `root.pem` {what}.\n"), reason);
    } else if reason.is_of_command() {
        out += "From `hartlock`; the message may say more about the file:\n\n";
        out += &command(&format!("{code} {title}\n"), reason);
    } else if reporters.contains(&Reporter::Hartlock) {
        out += "From `hartlock verify`, exit code 1; what was found may follow the name of the file:\n\n";
        let file = if stages.contains(&"loader") { "system.hlk" } else { "boot.hlk" };
        let what = format!("{code} {title}\n       {file}\n");
        out += &command(&what, reason);
    } else if reporters == [Reporter::Library] {
        let number = code.trim_start_matches(['E', '0']);
        let _ = writeln!(
            out,
            "A call of the C library returns {number}; `hartlock_title({number})` and `hartlock_hint({number})` are \
             the texts above."
        );
    } else {
        out += "`hartlock verify` never gives this code.\n";
    }
    out
}

/// Returns the output of the command for a refusal.
fn command(what: &str, reason: &Reason) -> String {
    let hint = &reason.hint;
    let spec = reason.spec.replacen('-', " ", 1);
    format!("```text\nerror: {what}\n       hint: {hint}\n       spec: {spec}\n```\n")
}

/// Returns the names of stages for a sentence.
fn of_stages(stages: &[&str]) -> String {
    stages.join(" or the ").replace("rom", "ROM").replace("fsbl", "first-stage loader")
}

/// The numbered headings of the specification.
struct Sections {
    /// Page, section number and heading.
    all: Vec<(&'static str, String, String)>,
}

impl Sections {
    fn read(root: &Path) -> Result<Self> {
        let mut all = Vec::new();
        for page in [
            "image-format",
            "first-stage",
            "boot-flow",
            "key-files",
            "stateful-key",
            "command",
            "requests",
            "c-library",
            "signers",
        ] {
            let file = format!("spec/{page}.md");
            let text = fs::read_to_string(root.join(&file)).context(file)?;
            for line in text.lines().filter(|line| line.starts_with("##")) {
                let heading = line.trim_start_matches('#').trim();
                let number = heading.split(' ').next().unwrap_or_default();
                all.push((page, number.trim_end_matches('.').to_owned(), heading.to_owned()));
            }
        }
        Ok(Self { all })
    }

    /// Returns the link to a heading for a reference such as `image-format §5.2`.
    fn link(&self, spec: &str) -> Result<String> {
        let (page, number) =
            spec.split_once(" §").with_context(|| format!("no section: {spec}"))?;
        let found = self.all.iter().find(|(of, is, _)| *of == page && is == number);
        let (_, _, heading) = found.with_context(|| format!("there is no section {spec}"))?;
        let words = spec.replacen('-', " ", 1);
        Ok(format!("[{words}](../../../spec/{page}.md#{})", anchor(heading)))
    }
}

/// Returns the anchor that mdbook gives to a heading. The check of links finds a wrong one.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || "_- ".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> List {
        let text = |text: &str| text.to_owned();
        List {
            group: vec![Group { number: text("01"), title: text("Container"), about: text("A.") }],
            reason: vec![Reason {
                code: text("E0101"),
                name: text("Truncated"),
                fault: FaultParty::Image,
                title: text("The bundle ends."),
                why: text("A copy broke off."),
                hint: text("Copy it again."),
                spec: text("image-format §3"),
                details: Some(text("Or worse.")),
                remedy: None,
                cause: Vec::new(),
                reported_by: None,
            }],
        }
    }

    #[test]
    fn a_page_says_what_happened_who_and_what_to_do_and_how_it_looks() {
        let list = list();
        let vector =
            Vector { name: "short".into(), reason: Some("E0101".into()), description: "S.".into() };
        let text = page(&list.reason[0], &list.group[0], "[image format §3](x)", &[&vector]);
        for part in [
            "# E0101 Truncated\n\n**The bundle ends.**\n",
            "## What happened\n\nA copy broke off. Or worse.\n",
            "The **image**.",
            "## What to do\n\nCopy it again.\n",
            "hartlock: rom refused: E0101 The bundle ends.\n```\n",
            "error: E0101 The bundle ends.\n",
            "       hint: Copy it again.\n       spec: image format §3\n",
            "](../vectors.md#short): S.\n",
        ] {
            assert!(text.contains(part), "{part}\n\n{text}");
        }
    }

    #[test]
    fn a_reason_of_the_device_is_not_shown_as_one_of_the_command() {
        let mut list = list();
        list.reason[0].reported_by = Some(vec![Reporter::Loader]);
        let text = page(&list.reason[0], &list.group[0], "", &[]);
        assert!(text.contains("from the loader:"), "{text}");
        assert!(!text.contains("error:"), "{text}");
    }

    #[test]
    fn a_reason_of_a_key_file_begins_with_the_file_and_decides_nothing() {
        let mut list = list();
        let reason = &mut list.reason[0];
        (reason.code, reason.spec) = ("E1102".into(), "key-files §2".into());
        reason.title = "The key file is not PEM.".into();
        reason.reported_by = Some(vec![Reporter::Hartlock]);
        let text = page(&list.reason[0], &list.group[0], "", &[]);
        let expected = "From `hartlock`, exit code 2; the message may say more about the file:\n\n\
                        ```text\nerror: E1102 `root.pem` is not PEM.\n\n       \
                        hint: Copy it again.\n       spec: key files §2\n```\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn sections_are_found_by_number_and_a_missing_one_is_an_error() {
        let sections = Sections {
            all: vec![("image-format", "5.2".into(), "5.2 What must verify: all".into())],
        };
        let link = sections.link("image-format §5.2").unwrap();
        assert_eq!(
            link,
            "[image format §5.2](../../../spec/image-format.md#52-what-must-verify-all)"
        );
        assert!(sections.link("image-format §5").is_err());
        assert!(sections.link("boot-flow §5.2").is_err());
    }

    #[test]
    fn codes_of_the_specification_become_links_outside_of_code() {
        let text = "else **E0101** (**E9999**)\n| E0101 | x |\n```text\n**E0101**\n```\nE0101\n";
        let expected = "else **[E0101](../reasons/E0101.md)** (**E9999**)\n\
                        | [E0101](../reasons/E0101.md) | x |\n```text\n**E0101**\n```\nE0101\n";
        assert_eq!(linked(text, &list(), |code| format!("../reasons/{code}.md")), expected);
    }

    #[test]
    fn every_reason_is_in_the_table_of_contents_and_in_the_index() {
        let expected =
            "  - [E01xx Container](reasons/E01.md)\n    - [E0101 Truncated](reasons/E0101.md)\n";
        assert_eq!(summary(&list()), expected);
        let text = index(&list());
        assert!(text.contains("## [E01xx](E01.md) Container\n\nA.\n"), "{text}");
        assert!(text.contains("| [E0101](E0101.md) | The bundle ends. | image |"), "{text}");
    }
}
