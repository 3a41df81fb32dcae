//! Removes comments from RTL sources, so that a changed comment does not cause a build.

/// Beginnings of comments that tools read (Verilator's metacomments, and those of synthesis).
const READ_BY_TOOLS: [&str; 4] = ["verilator", "synopsys", "synthesis", "pragma"];

/// Returns the source without comments and trailing blanks. Lines keep their numbers, because assertions report them.
pub fn without_comments(text: &str) -> String {
    let (mut code, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            end_of_string(rest)
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let (piece, after) = rest.split_at(len);
        let words = piece.trim_start_matches(['/', '*']).trim_start();
        if first == '"' || READ_BY_TOOLS.iter().any(|tool| words.starts_with(tool)) {
            code.push_str(piece);
        } else {
            // A comment separates words.
            code.push(' ');
            code.extend(piece.chars().filter(|character| *character == '\n'));
        }
        rest = after;
    }
    let lines: Vec<&str> = code.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

/// Does the same as [`without_comments`], and removes empty lines, for models whose messages have no line numbers.
pub fn code(text: &str) -> String {
    let stripped = without_comments(text);
    stripped.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns the length of the string that `text` begins with, including its quotes. A string ends with its line at the
/// latest.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '\n' if !is_escaped => return at,
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = character == '\\' && !is_escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "// About it.\n\nmodule a (input logic b);\n  assign c = b; // why\n  \
                          initial $display(\"http://x \\\" // y\", /* two\n  lines */ 2'd1);\nendmodule\n";

    #[test]
    fn comments_decide_nothing() {
        let changed = SOURCE.replace("About it.", "Other words.").replace("// why", "/* or */");
        assert_eq!(without_comments(SOURCE), without_comments(&changed));
        assert_eq!(without_comments(SOURCE).lines().count(), SOURCE.lines().count());
        let longer = SOURCE.replace("// About it.", "// About it.\n// More about it.\n");
        assert_ne!(without_comments(SOURCE), without_comments(&longer));
        assert_eq!(code(SOURCE), code(&longer));
    }

    #[test]
    fn everything_else_does() {
        for (from, to) in [
            ("= b;", "= !b;"),
            ("http://x", "http://z"),
            ("// y", "// z"),
            ("2'd1", "2'd2"),
            ("module a", "modulea"),
        ] {
            let changed = SOURCE.replace(from, to);
            assert_ne!(changed, SOURCE);
            assert_ne!(code(SOURCE), code(&changed), "{from}");
        }
        assert_ne!(code("a/**/b"), code("ab"));
    }

    #[test]
    fn comments_that_tools_read_stay() {
        for comment in [
            "// verilator lint_off WIDTH\n",
            "/*verilator public*/",
            "// synopsys x",
            "// pragma translate_off",
        ] {
            assert!(code(&format!("a {comment} b")).contains(comment.trim_end()), "{comment}");
        }
        assert!(!code("a // not for verilator").contains("verilator"));
    }
}
