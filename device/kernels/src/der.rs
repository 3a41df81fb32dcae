//! The part of DER (ITU-T X.690 §10) that keys and signatures need. Only the single canonical encoding of a value is
//! accepted, without trailing bytes.

/// Tag of a SEQUENCE.
pub(crate) const SEQUENCE: u8 = 0x30;
/// Tag of an OBJECT IDENTIFIER.
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
/// Tag of an INTEGER.
const INTEGER: u8 = 0x02;
/// Tag of a BIT STRING.
const BIT_STRING: u8 = 0x03;

/// A reader of DER elements. It holds the bytes that were not read yet.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads the header of a sequence that fills `bytes` completely. Returns a reader of its elements.
    pub(crate) fn sequence(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Self(bytes);
        let content = reader.element(SEQUENCE)?;
        reader.end()?;
        Some(Self(content))
    }

    /// Reads the next element, which must have this tag, and returns its content.
    pub(crate) fn element(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (&[first, length], rest) = self.0.split_first_chunk()?;
        if first != tag {
            return None;
        }
        // Only the shortest form of a length is accepted (X.690 §10.1). All keys and signatures of this crate are
        // shorter than 64 KiB.
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

    /// Reads the next element, which must be a nonnegative integer. Returns its bytes without leading zeros, and no
    /// bytes for zero.
    pub(crate) fn unsigned_integer(&mut self) -> Option<&'a [u8]> {
        // The first nine bits are neither all zeros nor all ones (X.690 §8.3.2). So a leading zero byte is valid only
        // if the integer would be negative without it.
        match self.element(INTEGER)? {
            [0] => Some(&[]),
            [0, rest @ ..] if rest.first().is_some_and(|high| *high >= 0x80) => Some(rest),
            content @ [1..=0x7f, ..] => Some(content),
            _ => None,
        }
    }

    /// Reads the next element, which must be a bit string of whole bytes, and returns its bytes.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        match self.element(BIT_STRING)? {
            [0, content @ ..] => Some(content),
            _ => None,
        }
    }

    /// Checks that all bytes were read.
    pub(crate) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// Splits a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) into the object identifier of the algorithm, its encoded
/// parameters, and the key.
pub(crate) fn subject_public_key_info(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut info = Reader::sequence(bytes)?;
    let mut algorithm = Reader::new(info.element(SEQUENCE)?);
    let key = info.bytes()?;
    info.end()?;
    let identifier = algorithm.element(OBJECT_IDENTIFIER)?;
    Some((identifier, algorithm.0, key))
}
