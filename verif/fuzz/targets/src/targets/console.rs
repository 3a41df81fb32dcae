//! The untrusted console output of a device.
//!
//! Rules: the result does not depend on the pieces in which the output arrives; no terminal control
//! sequence is passed on; the amount of stored text is bounded.

use hartlock_emulator::console::{Console, Refusal};

use crate::choices::Choices;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let size = 1 + choices.below(64);
    let built;
    let text = if choices.rarely(4) {
        built = lines(&mut choices);
        &built
    } else {
        choices.rest()
    };
    let (mut whole, mut pieces) = (Console::default(), Console::default());
    whole.push(text);
    text.chunks(size).for_each(|piece| pieces.push(piece));
    assert_eq!(whole.refusal(), pieces.refusal());
    assert_eq!(whole.transcript(), pieces.transcript());
    whole.close();
    pieces.close();
    let mut refusal: Option<Refusal> = None;
    loop {
        let line = whole.next_line();
        assert_eq!(line, pieces.next_line());
        let Some(line) = line else { break };
        let steers = |c: char| (c < ' ' && c != '\t') || c == '\x7f';
        assert!(!line.contains(steers), "a terminal would obey it: {line:?}");
        // An invalid UTF-8 byte becomes one character.
        assert!(line.chars().count() <= 4096, "{} bytes are kept of one line", line.len());
        if let Some(Refusal { stage, reason }) = Refusal::parse(&line) {
            let told = format!("hartlock: {} refused: E{:04}", stage.name(), reason as u16);
            let rest = line.strip_prefix(&told);
            assert!(rest.is_some_and(|it| it.is_empty() || it.starts_with(' ')), "{line:?}");
        }
        refusal = refusal.or_else(|| Refusal::parse(&line));
    }
    assert_eq!(whole.refusal(), refusal, "the first line that refuses");
    assert!(whole.transcript().len() <= 3 * text.len() + 64);
}

/// Returns output that contains refusals or text that resembles them, and lines of any length.
fn lines(choices: &mut Choices<'_>) -> Vec<u8> {
    const PARTS: [&[u8]; 17] = [
        b"\n",
        b"hartlock: rom refused: E",
        b"hartlock: loader refused: E",
        b"0801",
        b"0301",
        b"9999",
        b"+801",
        b" A payload",
        b"0",
        b"\r\n",
        b"\x1b[31m",
        b"\x1b[",
        b"\x1b",
        b"\xc3\xa9",
        b"\xff",
        b"hartlock: ",
        &[b'x'; 4090],
    ];
    let mut text = Vec::new();
    while !choices.is_empty() && text.len() < 5_000 {
        text.extend(choices.of(&PARTS));
    }
    text
}
