//! Texts that are found by a number, in little space.
//!
//! A `match` that returns one of a hundred texts takes 34 bytes of code for each, because a stage has no jump tables. An
//! entry of this table takes 6 bytes, and a text that several numbers have is stored once.

/// A table of texts. [`packed!`](crate::packed) makes one.
pub struct Texts {
    /// The numbers, in the order of `places`.
    pub numbers: &'static [u16],
    /// The place of each text in `all`: where it starts, and where it ends.
    pub places: &'static [[u16; 2]],
    /// Every different text, one after the other.
    pub all: &'static str,
}

impl Texts {
    /// Returns the text of a number, or an empty one if the table does not have the number.
    pub fn get(&self, number: u16) -> &'static str {
        let is_it = |(candidate, _): &(&u16, _)| **candidate == number;
        let found = self.numbers.iter().zip(self.places).find(is_it);
        found
            .and_then(|(_, [start, end])| self.all.get(usize::from(*start)..usize::from(*end)))
            .unwrap_or_default()
    }
}

/// Makes a table of [`Texts`] from an array of numbers and an array of texts, at compile time.
#[macro_export]
macro_rules! packed {
    ($numbers:expr, $texts:expr) => {{
        const TEXTS: &[&str] = $texts;
        const PLACES: [[u16; 2]; TEXTS.len()] = $crate::packed::places(TEXTS);
        const BYTES: [u8; $crate::packed::size(&PLACES)] = $crate::packed::bytes(TEXTS, &PLACES);
        const ALL: &str = match str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("texts in UTF-8 are not UTF-8 together"),
        };
        &$crate::packed::Texts { numbers: $numbers, places: &PLACES, all: ALL }
    }};
}

/// Returns the place of each text. A text that is equal to an earlier one is at the place of that one.
#[doc(hidden)]
pub const fn places<const N: usize>(texts: &[&str]) -> [[u16; 2]; N] {
    let mut places = [[0; 2]; N];
    let mut end = 0;
    let mut next = 0;
    while next < N {
        let mut earlier = 0;
        while earlier < next && !are_equal(texts[earlier].as_bytes(), texts[next].as_bytes()) {
            earlier += 1;
        }
        if earlier < next {
            places[next] = places[earlier];
        } else {
            let start = end;
            end += texts[next].len();
            assert!(end <= u16::MAX as usize, "more than 64 KiB of texts");
            places[next] = [start as u16, end as u16];
        }
        next += 1;
    }
    places
}

const fn are_equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    // From the end, because texts that differ often begin alike.
    let mut rest = one.len();
    while rest > 0 && one[rest - 1] == other[rest - 1] {
        rest -= 1;
    }
    rest == 0
}

/// Returns the size of the different texts together, in bytes.
#[doc(hidden)]
pub const fn size(places: &[[u16; 2]]) -> usize {
    let (mut size, mut next) = (0, 0);
    while next < places.len() {
        let [_, end] = places[next];
        size = if end as usize > size { end as usize } else { size };
        next += 1;
    }
    size
}

/// Returns the bytes of the different texts.
#[doc(hidden)]
pub const fn bytes<const SIZE: usize>(texts: &[&str], places: &[[u16; 2]]) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    let mut next = 0;
    while next < texts.len() {
        let (text, [start, _]) = (texts[next].as_bytes(), places[next]);
        let mut done = 0;
        while done < text.len() {
            bytes[start as usize + done] = text[done];
            done += 1;
        }
        next += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::Texts;

    const TABLE: &Texts = packed!(&[7, 3, 900, 4], &["one", "", "two", "one"]);

    #[test]
    fn a_number_has_its_text_and_another_number_none() {
        for (number, text) in [(7, "one"), (3, ""), (900, "two"), (4, "one"), (5, ""), (0, "")] {
            assert_eq!(TABLE.get(number), text, "{number}");
        }
    }

    #[test]
    fn equal_texts_are_stored_once() {
        assert_eq!(TABLE.all, "onetwo");
    }
}
