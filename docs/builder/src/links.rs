//! Checks that the target of every link of a site exists.
//!
//! Pages, files and anchors of the site itself must exist. Of external links only the form is
//! checked: a check that needs the network would fail for reasons outside of this project.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

/// Attributes that hold one address.
const ADDRESSES: [&str; 5] = ["href", "src", "xlink:href", "data", "poster"];

/// Anchors and links of a page.
#[derive(Default)]
struct Page {
    anchors: BTreeSet<String>,
    /// (attribute, address)
    links: Vec<(String, String)>,
    /// Anchors of this page that its pictures use, as in `url(#arrow)`.
    uses: Vec<String>,
    /// The base of relative addresses, from `<base>`.
    base: Option<String>,
    findings: Vec<String>,
}

/// The files of a site by their path from its root; pages are read.
struct Site {
    files: BTreeMap<String, Option<Page>>,
}

/// One line for each dead link, `page: what`, in the order of the pages.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let mut site = Site { files: BTreeMap::new() };
    site.read(root, "")?;
    let mut findings = Vec::new();
    for (name, page) in &site.files {
        let Some(page) = page else { continue };
        findings.extend(page.findings.iter().map(|what| format!("{name}: {what}")));
        for anchor in page.uses.iter().filter(|anchor| !page.anchors.contains(*anchor)) {
            findings.push(format!("{name}: a picture uses #{anchor}, which is not there"));
        }
        for (attribute, address) in &page.links {
            if let Err(why) = site.judge(name, page, address) {
                findings.push(format!("{name}: {attribute}=\"{address}\": {why}"));
            }
        }
    }
    Ok(findings)
}

impl Site {
    fn read(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                self.read(&entry.path(), &format!("{name}/"))?;
                continue;
            }
            let page = if name.ends_with(".html") {
                let text = fs::read_to_string(entry.path()).with_context(|| name.clone())?;
                Some(Page::parse(&text))
            } else {
                None
            };
            self.files.insert(name, page);
        }
        Ok(())
    }

    /// `Err` says why a link is dead.
    fn judge(&self, from: &str, page: &Page, address: &str) -> Result<(), String> {
        if address.trim() != address || address.is_empty() {
            return Err("empty, or with blanks around it".into());
        }
        if let Some((scheme, rest)) = scheme_of(address) {
            return judge_external(scheme, rest);
        }
        if address.starts_with("//") {
            return Err("names a host without a scheme".into());
        }
        let (path, anchor) = address.split_once('#').map_or((address, None), |(p, a)| (p, Some(a)));
        let path = path.split('?').next().unwrap_or_default();
        let target = if path.is_empty() {
            from.to_owned()
        } else {
            let base = page.base.as_deref().unwrap_or(from);
            self.find(&resolve(base, &decode(path)?)?).ok_or("no such page or file")?
        };
        // An empty anchor is the top of the page.
        let Some(anchor) = anchor.filter(|anchor| !anchor.is_empty()) else { return Ok(()) };
        let anchor = decode(anchor)?;
        match self.files.get(&target).and_then(Option::as_ref) {
            Some(page) if page.anchors.contains(&anchor) => Ok(()),
            Some(_) => Err(format!("{target} has no #{anchor}")),
            None => Err(format!("{target} is no page, so it has no anchors")),
        }
    }

    /// The file that a server would answer with.
    fn find(&self, path: &str) -> Option<String> {
        let index = match path.trim_end_matches('/') {
            "" => "index.html".to_owned(),
            folder => format!("{folder}/index.html"),
        };
        let is_folder = path.is_empty() || path.ends_with('/');
        [path.to_owned(), index]
            .into_iter()
            .skip(usize::from(is_folder))
            .find(|name| self.files.contains_key(name))
    }
}

impl Page {
    fn parse(text: &str) -> Self {
        let mut page = Page::default();
        let mut emitter = DefaultEmitter::default();
        // Inside a script a tag is text.
        emitter.naively_switch_states(true);
        for token in Tokenizer::new_with_emitter(text, emitter) {
            match token {
                Ok(Token::StartTag(tag)) => page.take(&tag),
                Ok(Token::String(text)) if contains(&text, b"{{#") => {
                    page.findings.push("a directive was not replaced: {{#".into());
                }
                _ => {}
            }
        }
        page
    }

    fn take(&mut self, tag: &StartTag<()>) {
        let element = String::from_utf8_lossy(&tag.name).into_owned();
        for (name, value) in &tag.attributes {
            let name = String::from_utf8_lossy(name).into_owned();
            let value = String::from_utf8_lossy(value).into_owned();
            match name.as_str() {
                "id" => self.offer(value),
                "name" if element == "a" => self.offer(value),
                "href" if element == "base" => {
                    self.base = Some(value.trim_start_matches('/').to_owned());
                }
                _ if ADDRESSES.contains(&name.as_str()) => self.links.push((name, value)),
                "srcset" => {
                    let one = |part: &str| part.split_whitespace().next().map(str::to_owned);
                    let addresses = value.split(',').filter_map(one);
                    self.links.extend(addresses.map(|address| (name.clone(), address)));
                }
                _ => self.uses.extend(anchor_in_use(&value)),
            }
        }
    }

    fn offer(&mut self, anchor: String) {
        if !self.anchors.insert(anchor.clone()) {
            self.findings.push(format!("two elements are #{anchor}"));
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Of `url(#arrow)`, the anchor.
fn anchor_in_use(value: &str) -> Option<String> {
    let rest = value.split_once("url(#")?.1;
    Some(rest.split_once(')')?.0.to_owned())
}

/// Scheme and rest of an address that has one (RFC 3986 §3.1).
fn scheme_of(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some((scheme, rest))
}

fn judge_external(scheme: &str, rest: &str) -> Result<(), String> {
    if rest.contains(char::is_whitespace) {
        return Err("blanks in an address".into());
    }
    match scheme {
        "https" | "http" => {
            let after = rest.strip_prefix("//").unwrap_or_default();
            let host = after.split(['/', '?', '#']).next().unwrap_or_default();
            let is_host = host.contains('.')
                && !host.starts_with('.')
                && !host.ends_with('.')
                && host.chars().all(|c| c.is_ascii_alphanumeric() || "-.:".contains(c));
            if is_host { Ok(()) } else { Err("no host".into()) }
        }
        "mailto" if rest.contains('@') => Ok(()),
        "data" => Ok(()),
        _ => Err(format!("an address of the form {scheme}: is not expected here")),
    }
}

/// The path from the root of the site of `path` on the page `from`.
fn resolve(from: &str, path: &str) -> Result<String, String> {
    let (start, path) = match path.strip_prefix('/') {
        Some(path) => ("", path),
        None => (from.rsplit_once('/').map_or("", |(folder, _)| folder), path),
    };
    let mut parts: Vec<&str> = start.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or("leads out of the site")?),
            part => parts.push(part),
        }
    }
    let slash = if path.ends_with('/') && !parts.is_empty() { "/" } else { "" };
    Ok(parts.join("/") + slash)
}

/// Undoes percent encoding.
fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err("a % without two digits".into());
        };
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| "not valid UTF-8".into())
}

#[cfg(test)]
mod tests;
