//! Parses files of `name = value` lines: Botan's `.vec`, NIST's `.rsp` and the Keccak team's `.txt`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use crate::case::parse_hex;

/// A record. The field `[section]` holds the text of the brackets above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record(BTreeMap<String, String>);

impl Record {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn text(&self, name: &str) -> Result<&str> {
        self.get(name).with_context(|| format!("a record without `{name}`"))
    }

    pub fn bytes(&self, name: &str) -> Result<Vec<u8>> {
        // In one file, the signature is in quotes.
        parse_hex(self.text(name)?.trim_matches('"')).with_context(|| format!("`{name}`"))
    }

    pub fn section(&self) -> &str {
        self.get("[section]").unwrap_or_default()
    }
}

/// Splits a file into records that end with the field `last`, which every record must have. Empty lines
/// are ignored, since some files have them within records.
pub fn records(text: &str, last: &str) -> Vec<Record> {
    split(text, '=', |name| name == last)
}

/// Same as [`records`], for files with a colon as separator. If a record has several values of a name, the
/// last one is kept.
pub fn colon_records(text: &str, last: &str) -> Vec<Record> {
    split(text, ':', |name| name == last)
}

/// Splits a file into records that begin with the field `first`.
pub fn records_from(text: &str, first: &str) -> Vec<Record> {
    let mut all: Vec<Record> = Vec::new();
    for (name, value) in pairs(text, '=') {
        if name == first {
            all.push(Record::default());
        }
        if let Some(record) = all.last_mut() {
            record.0.insert(name, value);
        }
    }
    all
}

fn split(text: &str, separator: char, is_last: impl Fn(&str) -> bool) -> Vec<Record> {
    let mut all = Vec::new();
    let mut record = Record::default();
    let mut section = String::new();
    for (name, value) in pairs(text, separator) {
        if name == "[section]" {
            section = value;
            continue;
        }
        let ends = is_last(&name);
        record.0.insert(name, value);
        if ends {
            let mut done = std::mem::take(&mut record);
            done.0.insert("[section]".to_owned(), section.clone());
            all.push(done);
        }
    }
    all
}

fn pairs(text: &str, separator: char) -> impl Iterator<Item = (String, String)> {
    text.lines().map(str::trim).filter(|line| !line.starts_with('#')).filter_map(move |line| {
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return Some(("[section]".to_owned(), section.to_owned()));
        }
        let (name, value) = line.split_once(separator)?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_ends_with_its_last_field_and_knows_its_section() {
        let text = "# no\n[A]\nx = 1\n\ny = 0a\n[B]\nx = 2\ny = \"0b\"\nx = 3\n";
        let all = records(text, "y");
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].section(), all[1].section()), ("A", "B"));
        assert_eq!((all[0].text("x").unwrap(), all[1].bytes("y").unwrap()), ("1", vec![0x0b]));
        assert!(all[0].text("z").is_err());
    }
}
