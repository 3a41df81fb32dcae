//! A case: an operation and its named fields.
//!
//! The encoding for a board is: the operation and the number of fields, in 32 bits each; then for each
//! field its number and its length in bytes, in 32 bits each, and its bytes, padded with zeros to a
//! multiple of 8. All integers are little-endian; the value of a numeric field has 8 bytes.

use hartlock_image::{Writer, u32_at};

/// The requested operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "the variants are the names of the specification")]
pub enum Op {
    Digest = 1,
    Mac = 2,
    Verify = 3,
    AeadDecrypt = 4,
    Cipher = 5,
    RsaPublic = 6,
    RsaPrivate = 7,
    KeyUnwrap = 8,
}

impl Op {
    /// Every operation.
    pub const ALL: [Op; 8] = [
        Op::Digest,
        Op::Mac,
        Op::Verify,
        Op::AeadDecrypt,
        Op::Cipher,
        Op::RsaPublic,
        Op::RsaPrivate,
        Op::KeyUnwrap,
    ];

    /// Returns the name of the operation in a line.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Digest => "digest",
            Op::Mac => "mac",
            Op::Verify => "verify",
            Op::AeadDecrypt => "aead-decrypt",
            Op::Cipher => "cipher",
            Op::RsaPublic => "rsa-public",
            Op::RsaPrivate => "rsa-private",
            Op::KeyUnwrap => "key-unwrap",
        }
    }

    /// Returns the operation with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }
}

/// The type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name.
    Text,
    /// Bytes, written in hexadecimal digits.
    Bytes,
    /// A non-negative integer.
    Number,
}

macro_rules! fields {
    ($($variant:ident $name:literal $kind:ident,)*) => {
        /// A named value of a case. The order gives the numbers in the encoding for a board.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the variants are the names of the specification")]
        pub enum Field { $($variant,)* }

        impl Field {
            /// Every field.
            pub const ALL: [Field; FIELDS] = [$(Field::$variant,)*];

            /// Returns the name of the field in a line.
            pub const fn name(self) -> &'static str {
                match self { $(Field::$variant => $name,)* }
            }

            /// Returns the type of the field's value.
            pub const fn kind(self) -> Kind {
                match self { $(Field::$variant => Kind::$kind,)* }
            }
        }

        const FIELDS: usize = [$($name,)*].len();
    };
}

fields! {
    Alg "alg" Text,
    Message "message" Bytes,
    Signature "signature" Bytes,
    PublicKey "public_key" Bytes,
    Context "context" Bytes,
    Hash "hash" Text,
    MgfHash "mgf_hash" Text,
    SaltLen "salt_len" Number,
    Encoding "encoding" Text,
    Interface "interface" Text,
    Prehash "prehash" Text,
    OutputLen "output_len" Number,
    BlockSize "block_size" Number,
    FunctionName "function_name" Bytes,
    Customization "customization" Bytes,
    Record "record" Bytes,
    Key "key" Bytes,
    Tag "tag" Bytes,
    Iv "iv" Bytes,
    Aad "aad" Bytes,
    Ciphertext "ciphertext" Bytes,
    Direction "direction" Text,
    Padding "padding" Text,
    Modulus "modulus" Bytes,
    Exponent "exponent" Bytes,
}

/// A case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The requested operation.
    pub op: Op,
    values: [Option<&'a [u8]>; FIELDS],
}

/// Length in bytes of the head of a case, and of the head of each field.
const HEAD_SIZE: usize = 8;

impl<'a> Request<'a> {
    /// Makes a case without fields.
    pub const fn new(op: Op) -> Self {
        Self { op, values: [None; FIELDS] }
    }

    /// Sets the value of a field: the characters of a name, bytes, or the 8 bytes of a number.
    pub fn set(&mut self, field: Field, value: &'a [u8]) {
        if let Some(place) = self.values.get_mut(field as usize) {
            *place = Some(value);
        }
    }

    /// Returns the value of a field as it was set.
    pub fn raw(&self, field: Field) -> Option<&'a [u8]> {
        self.values.get(field as usize).copied().flatten()
    }

    /// Returns the bytes of a field, which are empty if the field is absent.
    pub fn bytes(&self, field: Field) -> &'a [u8] {
        self.raw(field).unwrap_or_default()
    }

    /// Returns the name in a field, which is empty if it is not UTF-8.
    pub fn text(&self, field: Field) -> Option<&'a str> {
        self.raw(field).map(|bytes| core::str::from_utf8(bytes).unwrap_or_default())
    }

    /// Returns the number in a field.
    pub fn number(&self, field: Field) -> Option<u64> {
        self.raw(field)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Returns the name of the algorithm, which is empty if the field is absent.
    pub fn alg(&self) -> &'a str {
        self.text(Field::Alg).unwrap_or_default()
    }

    /// Returns the number of bytes that [`Request::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        let values = self.values.iter().flatten();
        values.map(|value| HEAD_SIZE + value.len().next_multiple_of(8)).sum::<usize>() + HEAD_SIZE
    }

    /// Encodes the case and returns the number of bytes; `None` if `out` is too short.
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        let mut out = Writer::new(out);
        out.put_u32(self.op as u32);
        out.put_u32(self.values.iter().flatten().count() as u32);
        for field in Field::ALL {
            let Some(value) = self.raw(field) else { continue };
            out.put_u32(field as u32);
            out.put_u32(u32::try_from(value.len()).ok()?);
            out.put(value);
            out.pad_to(8);
        }
        out.finish()
    }

    /// Decodes the case at the front of `bytes` and returns it with the bytes after it; `None` if it
    /// is malformed.
    pub fn parse(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (head, mut rest) = bytes.split_at_checked(HEAD_SIZE)?;
        let number = u32_at(head, 0)?;
        let mut request = Self::new(Op::ALL.into_iter().find(|op| *op as u32 == number)?);
        for _ in 0..u32_at(head, 4)? {
            let (head, after) = rest.split_at_checked(HEAD_SIZE)?;
            let number = u32_at(head, 0)?;
            let field = Field::ALL.into_iter().find(|field| *field as u32 == number)?;
            let len = u32_at(head, 4)? as usize;
            let (padded, after) = after.split_at_checked(len.checked_next_multiple_of(8)?)?;
            request.set(field, padded.get(..len)?);
            rest = after;
        }
        Some((request, rest))
    }
}
