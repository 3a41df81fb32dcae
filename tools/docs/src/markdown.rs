//! Finds and changes the links of a page, which are different in a checkout and on the site.

use std::ops::Range;

/// The byte ranges of the parts of an inline link, `[title](target)`.
struct Link {
    title: Range<usize>,
    target: Range<usize>,
}

/// Replaces each link of a page outside of code. `change` gets title and target of a link, and returns the new text of
/// the link, or nothing if it stays.
pub fn relink(text: &str, mut change: impl FnMut(&str, &str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for Link { title, target } in links(text) {
        if let Some(new) = change(&text[title.clone()], &text[target.clone()]) {
            out += &text[done..title.start - 1];
            out += &new;
            done = target.end + 1;
        }
    }
    out + &text[done..]
}

/// Returns the links that are not part of another link, in order.
fn links(text: &str) -> Vec<Link> {
    let bytes = text.as_bytes();
    let (mut found, mut open) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        let is_line = at == 0 || bytes[at - 1] == b'\n';
        match bytes[at] {
            b'`' if is_line && text[at..].starts_with("```") => {
                let end = text[at + 3..].find("\n```").map(|end| at + 3 + end + 4);
                at = end.unwrap_or(bytes.len());
                continue;
            }
            b'`' => {
                let marks = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
                let end = text[at + marks..].find(&"`".repeat(marks));
                at += marks + end.map_or(0, |end| end + marks);
                continue;
            }
            b'[' => open.push(at + 1),
            b']' => {
                if let (Some(start), Some(b'(')) = (open.pop(), bytes.get(at + 1))
                    && let Some(len) = text[at + 2..].find(')')
                {
                    found.push(Link { title: start..at, target: at + 2..at + 2 + len });
                    at += 2 + len;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns the path to which a relative path on a page leads. Both paths begin at the root of the checkout.
pub fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the relative path from a page to a file.
pub fn relative(page: &str, file: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (page.split('/').collect(), file.split('/').collect());
    let folders = &from[..from.len() - 1];
    let same = folders.iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    "../".repeat(folders.len() - same) + &to[same..].join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_outside_of_code_are_replaced() {
        let text = "[a](x.md) `[b](y.md)` ![c\nd](z.svg)\n```\n[e](f.md)\n```\n[g] [`h`](i.md#j)";
        let mut seen = Vec::new();
        let new = relink(text, |title, target| {
            seen.push((title.to_owned(), target.to_owned()));
            (target == "x.md").then(|| "A".to_owned())
        });
        let expected = [("a", "x.md"), ("c\nd", "z.svg"), ("`h`", "i.md#j")];
        assert_eq!(seen, expected.map(|(title, target)| (title.into(), target.into())));
        assert_eq!(new, text.replacen("[a](x.md)", "A", 1));
    }

    #[test]
    fn a_relative_path_leads_back() {
        for (page, file, path) in [
            ("a/b/c.md", "a/d.md", "../d.md"),
            ("a.md", "b/c.md", "b/c.md"),
            ("a/b.md", "a/c.md", "c.md"),
            ("a/b/c.md", "d/b/c.md", "../../d/b/c.md"),
        ] {
            assert_eq!(relative(page, file), path);
            assert_eq!(resolve(page, path).as_deref(), Some(file));
        }
        assert_eq!(resolve("a.md", "../b.md"), None);
    }
}
