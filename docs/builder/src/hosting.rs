//! Checks that a site can be hosted as it is: below any path of a server or opened from a folder, without a network.
//!
//! Then no address begins at the root of a server or loads something from another one, and the search box finds its
//! index beside the pages. That each relative address leads somewhere is checked in `links`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

/// By what a page of the generator names the index of its search box.
const INDEX_NAME: &str = "path_to_searchindex_js";
/// The field for what is searched.
const SEARCH_BOX: &str = "type=\"search\"";
/// Elements whose address a browser loads with the page, and the attributes that hold it.
const LOADED: [(&str, &str); 8] = [
    ("script", "src"),
    ("link", "href"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
    ("object", "data"),
    ("use", "href"),
];

/// One line for each fault, `file: what`.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let mut files = BTreeMap::new();
    read(root, "", &mut files)?;
    let mut findings = Vec::new();
    for (name, text) in &files {
        let found = match Path::new(name).extension().and_then(|it| it.to_str()) {
            Some("html") => page(name, text, &files),
            Some("css") => style(name, text, &files),
            _ => continue,
        };
        findings.extend(found.into_iter().map(|what| format!("{name}: {what}")));
    }
    Ok(findings)
}

/// All files by their path from the root, those with text with it.
fn read(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read(&entry.path(), &format!("{name}/"), files)?;
        } else {
            let bytes = fs::read(entry.path()).with_context(|| name.clone())?;
            files.insert(name, String::from_utf8(bytes).unwrap_or_default());
        }
    }
    Ok(())
}

fn page(name: &str, text: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    let mut findings = Vec::new();
    let mut emitter = DefaultEmitter::default();
    // Inside a script a tag is text.
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(text, emitter) {
        if let Ok(Token::StartTag(tag)) = token {
            tag_findings(&tag, &mut findings);
        }
    }
    if text.contains(SEARCH_BOX) {
        findings.extend(search(name, text, files).err());
    }
    findings
}

fn tag_findings(tag: &StartTag<()>, findings: &mut Vec<String>) {
    let element = String::from_utf8_lossy(&tag.name).into_owned();
    if element == "base" {
        findings.push("<base> fixes where it is hosted".into());
    }
    for (name, value) in &tag.attributes {
        let name = String::from_utf8_lossy(name);
        let value = String::from_utf8_lossy(value);
        let is_address = matches!(&*name, "href" | "src" | "xlink:href" | "data" | "poster");
        if is_address && value.starts_with('/') && element != "base" {
            findings.push(format!("{name}=\"{value}\": begins at the root of a server"));
        }
        let is_loaded = LOADED.contains(&(&*element, &*name));
        if is_loaded && is_remote(&value) {
            findings.push(format!("{name}=\"{value}\": is loaded from another server"));
        }
    }
}

fn is_remote(address: &str) -> bool {
    ["http:", "https:", "//"].iter().any(|start| address.trim_start().starts_with(start))
}

/// The files that a style sheet loads.
fn style(name: &str, text: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    let mut findings = Vec::new();
    for part in text.split("url(").skip(1) {
        let address = part.split(')').next().unwrap_or_default().trim_matches(['"', '\'', ' ']);
        if address.starts_with("data:") || address.starts_with('#') {
            continue;
        }
        if is_remote(address) {
            findings.push(format!("url({address}): is loaded from another server"));
        } else if !files.contains_key(&beside(name, address)) {
            findings.push(format!("url({address}): no such file"));
        }
    }
    if text.contains("@import") {
        findings.push("@import: name the file in the pages".into());
    }
    findings
}

/// The path from the root of a file that is named beside another.
fn beside(name: &str, address: &str) -> String {
    let address = address.split(['#', '?']).next().unwrap_or_default();
    let mut parts: Vec<&str> = name.split('/').collect();
    parts.pop();
    for part in address.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether the search box of a page has an index, and this page is in it.
fn search(name: &str, text: &str, files: &BTreeMap<String, String>) -> Result<(), String> {
    let named = text.split_once(INDEX_NAME).and_then(|(_, rest)| rest.split('"').nth(1));
    let index = &beside(name, named.ok_or("its search box has no index")?);
    let to_root = "../".repeat(name.matches('/').count());
    let is_there = text.contains(&format!("path_to_root = \"{to_root}\""));
    if !is_there {
        return Err(format!("its search box looks for the index elsewhere than in \"{to_root}\""));
    }
    let content = files.get(index).ok_or_else(|| format!("no index {index} of its search box"))?;
    // The front page is there under its own name as well.
    let is_listed = content.contains(&format!("{name}#")) || name == "index.html";
    if is_listed { Ok(()) } else { Err(format!("the search index {index} lacks the page")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "<input type=\"search\"><script>const path_to_root = \"../\";\
                        window.path_to_searchindex_js = \"../searchindex-1.js\";</script>";

    /// Checks a page in a folder, and a style sheet, beside an index and a picture.
    fn found(body: &str, css: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("a/page.html", body),
            ("css/all.css", css),
            ("searchindex-1.js", "[\"a/page.html#top\"]"),
            ("fonts/f.woff2", ""),
        ] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        check(dir.path()).unwrap()
    }

    #[test]
    fn a_site_that_names_its_files_from_where_it_is_passes() {
        let body = "<a href=\"../index.html\">1</a> <a href='https://example.org/'>2</a>\
                    <script src='../book.js'></script><img src='data:image/png;base64,AA'>";
        let css = "@font-face { src: url(\"../fonts/f.woff2\") } a { mask: url(#m) }";
        assert_eq!(found(&format!("{HEAD}{body}"), css), [""; 0]);
        // Inside a script or a text an address is neither.
        assert_eq!(found("<script>'<a href=\"/x\">'</script> &lt;base&gt;", ""), [""; 0]);
    }

    #[test]
    fn what_ties_a_site_to_a_place_or_a_network_is_found() {
        for (body, css, why) in [
            ("<base href='/'>", "", "<base>"),
            ("<a href='/start.html'>", "", "begins at the root"),
            ("<link rel=stylesheet href='/book.css'>", "", "begins at the root"),
            ("<script src='https://example.org/x.js'></script>", "", "from another server"),
            ("<img src='http://example.org/x.png'>", "", "from another server"),
            ("", "a { background: url(https://example.org/x.png) }", "from another server"),
            ("", "a { src: url('../fonts/gone.woff2') }", "no such file"),
            ("", "@import 'more.css';", "@import"),
        ] {
            let found = found(body, css);
            assert!(found.len() == 1 && found[0].contains(why), "{body}{css}: {found:?}");
        }
    }

    #[test]
    fn a_search_box_without_its_index_is_found() {
        for (from, to, why) in [
            ("path_to_searchindex_js", "path_to_another_js", "has no index"),
            ("searchindex-1.js", "searchindex-2.js", "no index searchindex-2.js"),
            ("\"../\"", "\"\"", "elsewhere"),
            ("\"../searchindex", "\"searchindex", "no index a/searchindex-1.js"),
        ] {
            let found = found(&HEAD.replace(from, to), "");
            assert!(found.len() == 1 && found[0].contains(why), "{to}: {found:?}");
        }
        let page = HEAD.replace("../", "");
        let files = BTreeMap::from([("searchindex-1.js".to_owned(), "[]".to_owned())]);
        let error = search("other.html", &page, &files).unwrap_err();
        assert!(error.contains("lacks the page"), "{error}");
    }
}
