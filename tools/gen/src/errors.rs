//! `cargo xtask errors` generates the Rust enums of reason codes, and the table of codes in the documentation, from
//! `spec/errors.toml`.
//!
//! There are five enums: refusals of a bundle, refusals of a request to the root of trust, of a call of the C library,
//! faults of key files, and refusals of the command. Boot stages contain the texts of the first only, because their space is limited.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use xtask::Outcome;
use xtask::{Verdict, project};

#[derive(clap::Args)]
pub struct ErrorsArgs {
    /// Write nothing; fail if a generated file is out of date
    #[arg(long)]
    check: bool,
}

/// The contents of `spec/errors.toml`, which explains the fields at its beginning.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub group: Vec<Group>,
    pub reason: Vec<Reason>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub number: String,
    pub title: String,
    pub about: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub code: String,
    pub name: String,
    pub fault: FaultParty,
    pub title: String,
    pub why: String,
    pub hint: String,
    pub spec: String,
    pub details: Option<String>,
    pub remedy: Option<String>,
    /// Causes that the command tells apart, each with its own hint.
    #[serde(default)]
    pub cause: Vec<Cause>,
    pub reported_by: Option<Vec<Reporter>>,
}

/// A cause of a reason that has several.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    pub when: String,
    pub hint: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultParty {
    Image,
    Device,
    Caller,
}

/// The program that can give a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reporter {
    Rom,
    Loader,
    /// The first-stage loader of a TEE.
    Fsbl,
    Hartlock,
    /// The C library, in a boot loader of others.
    Library,
}

impl List {
    /// Returns the reasons of a group.
    pub fn of<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = &'a Reason> {
        self.reason.iter().filter(|reason| group.has(reason))
    }
}

impl Group {
    fn has(&self, reason: &Reason) -> bool {
        reason.group() == Some(&self.number)
    }
}

impl Reason {
    fn group(&self) -> Option<&str> {
        self.code.get(1..3)
    }

    /// Returns true if the reason is about a key file.
    pub fn is_of_key_file(&self) -> bool {
        self.group() == Some(KEY_FILES)
    }

    /// Returns true if the reason is about a request of the host to the root of trust.
    pub fn is_of_request(&self) -> bool {
        self.group() == Some(REQUEST)
    }

    /// Returns true if the reason is about a call of the C library.
    pub fn is_of_call(&self) -> bool {
        self.group() == Some(CALL)
    }

    /// Returns true if the reason is about a signer that is not a key file.
    pub fn is_of_signer(&self) -> bool {
        self.group() == Some(SIGNER)
    }

    /// Returns true if the reason is about a file that the command reads or writes.
    pub fn is_of_command(&self) -> bool {
        self.group() == Some(COMMAND)
    }

    /// Returns the programs that can give this reason: all of them, unless the list names some.
    pub fn reporters(&self) -> &[Reporter] {
        self.reported_by.as_deref().unwrap_or(&[
            Reporter::Rom,
            Reporter::Loader,
            Reporter::Fsbl,
            Reporter::Hartlock,
        ])
    }
}

impl FaultParty {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Device => "device",
            Self::Caller => "caller",
        }
    }
}

impl Reporter {
    /// Returns the name of a boot stage as it is printed on the console, or `None` for the command and the
    /// C library.
    pub const fn stage(self) -> Option<&'static str> {
        match self {
            Self::Rom => Some("rom"),
            Self::Loader => Some("loader"),
            Self::Fsbl => Some("fsbl"),
            Self::Hartlock | Self::Library => None,
        }
    }
}

const SOURCE: &str = "spec/errors.toml";

/// The group of key files, which boot stages do not contain. The titles of its reasons begin with [`KEY_FILE`]: in a
/// message the name of the file replaces these words.
pub const KEY_FILES: &str = "11";
pub const KEY_FILE: &str = "The key file ";
/// The group of refusals that only the command gives, before a bundle exists.
pub const COMMAND: &str = "12";
/// The group of requests of the host that the root of trust refuses.
pub const REQUEST: &str = "13";
/// The group of calls that the C library refuses.
pub const CALL: &str = "15";
/// The group of signers that are not key files.
pub const SIGNER: &str = "16";

/// An enum of reasons that is generated.
struct Enum {
    name: &'static str,
    about: &'static str,
    /// The crate that has the macro.
    home: &'static str,
    /// The feature without which the texts are left out that the ROM never prints.
    texts: Option<&'static str>,
}

const BUNDLES: Enum = Enum {
    name: "Reason",
    about: "Why a bundle was refused",
    home: "crate",
    texts: Some("every-text"),
};

const KEYS: Enum = Enum {
    name: "KeyReason",
    about: "Why a key cannot be used",
    home: "hartlock_image",
    texts: None,
};

const COMMANDS: Enum = Enum {
    name: "CommandReason",
    about: "Why the command does not write a file",
    home: "hartlock_image",
    texts: None,
};

const REQUESTS: Enum = Enum {
    name: "RequestReason",
    about: "Why a request of the host was refused",
    home: "crate",
    texts: None,
};

const CALLS: Enum = Enum {
    name: "CallReason",
    about: "Why a call of the C library was refused",
    home: "crate",
    texts: None,
};

const SIGNERS: Enum = Enum {
    name: "SignerReason",
    about: "Why a signer that is not a key file did not sign",
    home: "hartlock_image",
    texts: None,
};

pub fn main(args: &ErrorsArgs) -> Result<Verdict> {
    let stale = update(&project::root(), !args.check)?;
    for file in &stale {
        let what = if args.check { "is not what spec/errors.toml makes" } else { "written" };
        println!("{file} {what}");
    }
    Ok(if args.check && !stale.is_empty() { Verdict::No } else { Verdict::Yes })
}

/// Runs the step `errors` of `cargo xtask test`: fails if a generated file is out of date.
pub fn step(root: &Path) -> Result<Outcome> {
    let stale = update(root, false)?;
    Ok(match stale.as_slice() {
        [] => Outcome::Passed,
        files => Outcome::Failed(format!("run `cargo xtask errors`: {}", files.join(", "))),
    })
}

/// Reads the list and checks the form of its codes, names and texts.
pub fn load(root: &Path) -> Result<List> {
    let text = fs::read_to_string(root.join(SOURCE)).context(SOURCE)?;
    let list: List = toml::from_str(&text).context(SOURCE)?;
    check(&list.reason).context(SOURCE)?;
    check_groups(&list).context(SOURCE)?;
    Ok(list)
}

/// Compares the generated files with those of the checkout and, if `is_writing`, writes them; returns the paths of the
/// files that differed.
fn update(root: &Path, is_writing: bool) -> Result<Vec<&'static str>> {
    let list = load(root)?;
    let of = |is_in: &dyn Fn(&Reason) -> bool| -> Vec<&Reason> {
        list.reason.iter().filter(|reason| is_in(reason)).collect()
    };
    let is_of_bundle = |reason: &Reason| {
        !reason.is_of_key_file()
            && !reason.is_of_command()
            && !reason.is_of_request()
            && !reason.is_of_call()
            && !reason.is_of_signer()
    };
    let of_bundles = of(&is_of_bundle);
    let mut stale = Vec::new();
    for (file, content) in [
        ("device/image/src/reason.rs", rust(&BUNDLES, &of_bundles)?),
        ("device/image/src/request_reason.rs", rust(&REQUESTS, &of(&Reason::is_of_request))?),
        ("device/image/src/call_reason.rs", rust(&CALLS, &of(&Reason::is_of_call))?),
        ("host/keys/src/reason.rs", rust(&KEYS, &of(&Reason::is_of_key_file))?),
        ("host/keys/src/signer_reason.rs", rust(&SIGNERS, &of(&Reason::is_of_signer))?),
        ("host/bundle/src/reason.rs", rust(&COMMANDS, &of(&Reason::is_of_command))?),
        ("spec/errors.md", markdown(&list.reason)?),
    ] {
        let path = root.join(file);
        if fs::read_to_string(&path).ok().as_deref() != Some(&content) {
            stale.push(file);
            if is_writing {
                fs::write(&path, content).with_context(|| path.display().to_string())?;
            }
        }
    }
    Ok(stale)
}

/// Checks that codes have four digits and are in ascending order, that names are unique, and that texts are sentences.
fn check(reasons: &[Reason]) -> Result<()> {
    for pair in reasons.windows(2) {
        ensure!(pair[0].code < pair[1].code, "{} is out of order", pair[1].code);
    }
    for (index, reason) in reasons.iter().enumerate() {
        number(reason)?;
        let is_new = reasons[..index].iter().all(|earlier| earlier.name != reason.name);
        ensure!(is_new, "{} is given twice", reason.name);
        let optional = [&reason.details, &reason.remedy].into_iter().flatten();
        let causes = reason.cause.iter().flat_map(|cause| [&cause.when, &cause.hint]);
        let texts = [&reason.title, &reason.why, &reason.hint];
        for text in texts.into_iter().chain(optional).chain(causes) {
            ensure!(text.ends_with('.'), "{}: not a sentence: {text}", reason.code);
        }
        if reason.is_of_key_file() || reason.is_of_command() || reason.is_of_signer() {
            let is_of_command = reason.reporters() == [Reporter::Hartlock];
            ensure!(is_of_command, "{}: no boot stage carries it", reason.code);
        }
        if reason.is_of_key_file() {
            let is_about_file = reason.title.starts_with(KEY_FILE);
            ensure!(is_about_file, "{}: does not begin with {KEY_FILE:?}", reason.code);
        }
    }
    Ok(())
}

/// Checks that each reason belongs to a group, and that groups are in order.
fn check_groups(list: &List) -> Result<()> {
    for pair in list.group.windows(2) {
        ensure!(pair[0].number < pair[1].number, "group {} is out of order", pair[1].number);
    }
    for reason in &list.reason {
        let is_in_one = list.group.iter().any(|group| group.has(reason));
        ensure!(is_in_one, "{} has no group", reason.code);
    }
    Ok(())
}

fn number(reason: &Reason) -> Result<u16> {
    let digits = reason.code.strip_prefix('E').filter(|digits| digits.len() == 4);
    let digits = digits.with_context(|| format!("{}: not a code", reason.code))?;
    digits.parse().with_context(|| format!("{}: not a code", reason.code))
}

fn rust(made: &Enum, reasons: &[&Reason]) -> Result<String> {
    let Enum { name, about, home, texts } = made;
    let mut out = format!(
        "// @generated by `cargo xtask errors` from spec/errors.toml. Do not edit.\n\n\
         //! Reason codes (`spec/errors.toml`).\n\n\
         {home}::reasons! {{\n    \
         /// {about}. The number is the code without its `E`.\n    {name};\n\n",
    );
    for reason in reasons {
        let Reason { name, fault, spec, title, why, hint, .. } = reason;
        if let Some(feature) = texts
            && !reason.reporters().contains(&Reporter::Rom)
        {
            writeln!(out, "    #[cfg(feature = {feature:?})]")?;
        }
        writeln!(out, "    {name} = {}, {fault:?}, {spec:?},", number(reason)?)?;
        writeln!(out, "        {title:?},\n        {why:?},\n        {hint:?};")?;
    }
    out += "}\n";
    Ok(out)
}

fn markdown(reasons: &[Reason]) -> Result<String> {
    let mut out = String::from(
        "<!-- @generated by `cargo xtask errors` from spec/errors.toml. Do not edit. -->\n\n\
         # Reason codes\n\n\
         What a refusal means, who has to act, and what to do. Codes are never renumbered.\n\n\
         | code | name | what happened | why it is refused | what to do | who | rule |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for reason in reasons {
        let who = reason.fault.name();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {who} | {} |",
            reason.code, reason.name, reason.title, reason.why, reason.hint, reason.spec
        )?;
    }
    out += "\n## Causes\n\n\
            Some codes have several causes. Where `hartlock` tells them apart, it gives the advice of the cause. What \
            depends on the case is `…`.\n\n\
            | code | cause | what to do |\n|---|---|---|\n";
    for reason in reasons {
        for Cause { when, hint } in &reason.cause {
            writeln!(out, "| {} | {when} | {} |", reason.code, hint.replace('|', "\\|"))?;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(code: &str, name: &str) -> Reason {
        let text = || "Text.".to_owned();
        let (code, name) = (code.to_owned(), name.to_owned());
        Reason {
            code,
            name,
            fault: FaultParty::Image,
            title: text(),
            why: text(),
            hint: text(),
            spec: text(),
            details: None,
            remedy: None,
            cause: Vec::new(),
            reported_by: None,
        }
    }

    #[test]
    fn refuses_codes_that_are_not_four_ascending_digits_given_once() {
        assert!(check(&[reason("E0101", "A"), reason("E0102", "B")]).is_ok());
        assert!(check(&[reason("E0102", "A"), reason("E0101", "B")]).is_err());
        assert!(check(&[reason("E0101", "A"), reason("E0101", "B")]).is_err());
        assert!(check(&[reason("E0101", "A"), reason("E0102", "A")]).is_err());
        assert!(check(&[reason("E101", "A")]).is_err());
        assert!(check(&[reason("0101", "A")]).is_err());
    }

    #[test]
    fn a_reason_of_a_key_file_is_of_the_command_alone_and_about_the_file() {
        let of = |title: &str, reported_by: Option<Vec<Reporter>>| {
            let title = title.to_owned();
            check(&[Reason { title, reported_by, ..reason("E1101", "A") }])
        };
        assert!(of("The key file is empty.", Some(vec![Reporter::Hartlock])).is_ok());
        assert!(of("The key is empty.", Some(vec![Reporter::Hartlock])).is_err());
        assert!(of("The key file is empty.", None).is_err());
        let both = vec![Reporter::Rom, Reporter::Hartlock];
        assert!(of("The key file is empty.", Some(both)).is_err());
    }

    #[test]
    fn texts_that_the_rom_never_prints_have_a_condition() {
        let of = |reporter: Reporter| Reason {
            reported_by: Some(vec![reporter, Reporter::Hartlock]),
            ..reason("E0101", "A")
        };
        let has_condition =
            |made: &Enum, reporter| rust(made, &[&of(reporter)]).unwrap().contains("#[cfg(");
        assert!(has_condition(&BUNDLES, Reporter::Loader));
        assert!(!has_condition(&BUNDLES, Reporter::Rom));
        assert!(!has_condition(&KEYS, Reporter::Hartlock));
    }

    #[test]
    fn refuses_reasons_without_a_group_and_groups_out_of_order() {
        let group = |number: &str| Group {
            number: number.into(),
            title: "Title".into(),
            about: "Text.".into(),
        };
        let list = |groups: &[&str]| List {
            group: groups.iter().copied().map(group).collect(),
            reason: vec![reason("E0101", "A"), reason("E0201", "B")],
        };
        assert!(check_groups(&list(&["01", "02"])).is_ok());
        assert!(check_groups(&list(&["01"])).is_err());
        assert!(check_groups(&list(&["02", "01"])).is_err());
        let list = list(&["01", "02"]);
        let of_second: Vec<_> = list.of(&list.group[1]).map(|reason| &reason.code).collect();
        assert_eq!(of_second, ["E0201"]);
    }
}
