//! Line breaking of sentences.

/// Replaces spaces by no-break spaces, so that for instance a number and its unit stay on the same
/// line.
pub(crate) fn together(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Breaks a sentence between words into lines of at most `columns` characters; a longer word is cut.
/// No-break spaces become common spaces, so that text copied from a terminal contains no others.
pub(crate) fn lines(sentence: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in sentence.split(' ') {
        let is_full = line.chars().count() + 1 + word.chars().count() > columns;
        if !line.is_empty() && is_full {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars() {
            if line.chars().count() == columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push(letter);
        }
    }
    lines.push(line);
    lines.iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_together_is_not_torn_apart() {
        let sentence = format!("signatures {}; rest {}", together("30.0 ms"), together("334 ms"));
        assert_eq!(lines(&sentence, 80), ["signatures 30.0 ms; rest 334 ms"]);
        assert_eq!(lines(&sentence, 28), ["signatures 30.0 ms; rest", "334 ms"]);
        assert_eq!(lines(&sentence, 15), ["signatures", "30.0 ms; rest", "334 ms"]);
    }

    #[test]
    fn a_word_that_is_too_long_is_cut() {
        assert_eq!(lines("one twothreefour", 5), ["one", "twoth", "reefo", "ur"]);
        assert_eq!(lines("", 5), [""]);
    }
}
