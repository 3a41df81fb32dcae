//! Commands in Markdown.

/// The commands of a page that begin with a program that is known, in words.
pub fn commands(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut is_block = false;
    // A command that goes on in the next line, and a paragraph, in which a code span may do so.
    let (mut console, mut paragraph) = (String::new(), String::new());
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
            found.extend(in_spans(&std::mem::take(&mut paragraph)));
            found.extend(split(&std::mem::take(&mut console)));
        } else if is_block {
            let goes_on = console.trim_end().ends_with('|') || console.ends_with('\\');
            if goes_on {
                console.truncate(console.trim_end_matches('\\').len());
                console.push_str(line);
            } else {
                found.extend(split(&std::mem::take(&mut console)));
                console = line.strip_prefix("$ ").unwrap_or_default().to_owned();
            }
        } else {
            // Rows of a table are paragraphs of their own.
            if line.trim().is_empty() || line.starts_with('|') {
                found.extend(in_spans(&std::mem::take(&mut paragraph)));
            }
            paragraph.push_str(line.trim());
            paragraph.push(' ');
        }
    }
    found.extend(in_spans(&paragraph));
    found.extend(split(&console));
    found.retain(|words| is_known(words));
    found
}

/// The commands in the code spans of a paragraph.
fn in_spans(paragraph: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = paragraph;
    while let Some(start) = rest.find('`') {
        let marks = rest[start..].chars().take_while(|c| *c == '`').count();
        let inner = &rest[start + marks..];
        let Some(end) = inner.find(&"`".repeat(marks)) else { break };
        found.extend(split(&inner[..end]));
        rest = &inner[end + marks..];
    }
    found
}

pub fn is_known(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(words[..], ["cargo", "xtask" | "test", ..] | ["make" | "hartlock" | "python3", ..])
}

/// A line of a shell as commands, in words. Assignments before a command, redirections and
/// comments are left out.
pub fn split(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(mark)) if c == mark => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('\\', None) => word.get_or_insert_default().extend(chars.next()),
            ('#', None) if word.is_none() => break,
            ('|' | '&' | ';' | '>', None) => {
                finish(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            (c, None) if c.is_whitespace() => finish(&mut commands, &mut word),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    finish(&mut commands, &mut word);
    commands.retain(|words| !words.is_empty());
    commands
}

fn finish(commands: &mut [Vec<String>], word: &mut Option<String>) {
    let (Some(word), Some(words)) = (word.take(), commands.last_mut()) else { return };
    let is_assignment = |word: &str| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    if !(words.is_empty() && is_assignment(&word)) {
        words.push(word);
    }
}
