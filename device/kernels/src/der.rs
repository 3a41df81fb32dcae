//! The part of DER (ITU-T X.690 §10) that keys and signatures need: one encoding of every value, and
//! nothing after it.

/// SEQUENCE.
pub(crate) const SEQUENCE: u8 = 0x30;
/// OBJECT IDENTIFIER.
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
/// INTEGER.
const INTEGER: u8 = 0x02;
/// BIT STRING.
const BIT_STRING: u8 = 0x03;

/// Elements that have not been read yet.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads a sequence that is all of `bytes`.
    pub(crate) fn sequence(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Self(bytes);
        let content = reader.element(SEQUENCE)?;
        reader.end()?;
        Some(Self(content))
    }

    /// The content of the next element, which must have this tag.
    pub(crate) fn element(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (&[first, length], rest) = self.0.split_first_chunk()?;
        if first != tag {
            return None;
        }
        // The shortest form of a length (X.690 §10.1). No key or signature here reaches 64 KiB.
        let (length, rest) = match length {
            0..=0x7f => (usize::from(length), rest),
            0x81 => {
                let (&[length], rest) = rest.split_first_chunk()?;
                (usize::from(length), rest)
            }
            0x82 => {
                let (&length, rest) = rest.split_first_chunk()?;
                (usize::from(u16::from_be_bytes(length)), rest)
            }
            _ => return None,
        };
        let shortest = match self.0.len().wrapping_sub(rest.len()) {
            2 => 0,
            3 => 0x80,
            _ => 0x100,
        };
        if length < shortest {
            return None;
        }
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(content)
    }

    /// The next element, which must be an integer and not negative: its bytes without leading zeros, none
    /// for zero.
    pub(crate) fn unsigned_integer(&mut self) -> Option<&'a [u8]> {
        // X.690 §8.3.2: the first nine bits are not all alike, so a zero byte only precedes a byte
        // that would make the integer negative.
        match self.element(INTEGER)? {
            [0] => Some(&[]),
            [0, rest @ ..] if rest.first().is_some_and(|high| *high >= 0x80) => Some(rest),
            content @ [1..=0x7f, ..] => Some(content),
            _ => None,
        }
    }

    /// The next element, which must be a bit string of whole bytes.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        match self.element(BIT_STRING)? {
            [0, content @ ..] => Some(content),
            _ => None,
        }
    }

    /// Nothing may be left.
    pub(crate) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// Takes SubjectPublicKeyInfo apart (RFC 5280 §4.1.2.7): the object identifier of the algorithm, its
/// parameters as encoded, and the key.
pub(crate) fn subject_public_key_info(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut info = Reader::sequence(bytes)?;
    let mut algorithm = Reader::new(info.element(SEQUENCE)?);
    let key = info.bytes()?;
    info.end()?;
    let identifier = algorithm.element(OBJECT_IDENTIFIER)?;
    Some((identifier, algorithm.0, key))
}
