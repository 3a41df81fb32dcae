//! What a device prints, which is its own word.
//!
//! Rules: it does not matter in which pieces it arrives; nothing that steers a terminal is passed on;
//! what is kept is bounded.

use hartlock_emulator::console::{Console, Refusal};

use crate::choices::Choices;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let size = 1 + choices.below(64);
    let text = choices.rest();
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
        refusal = refusal.or_else(|| Refusal::parse(&line));
    }
    assert_eq!(whole.refusal(), refusal, "the first line that refuses");
    assert!(whole.transcript().len() <= 3 * text.len() + 64);
}
