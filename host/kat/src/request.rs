//! One case: an operation, and its fields by name.
//!
//! To a board it travels as `op` and a count of fields in 32 bits each, then for each field its number
//! and its length in 32 bits each and its bytes, with zeros to a multiple of 8. All integers are
//! little-endian; a number is 8 bytes.

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
}

impl Op {
    /// Every operation.
    pub const ALL: [Op; 7] = [
        Op::Digest,
        Op::Mac,
        Op::Verify,
        Op::AeadDecrypt,
        Op::Cipher,
        Op::RsaPublic,
        Op::RsaPrivate,
    ];

    /// Its name in a line.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Digest => "digest",
            Op::Mac => "mac",
            Op::Verify => "verify",
            Op::AeadDecrypt => "aead-decrypt",
            Op::Cipher => "cipher",
            Op::RsaPublic => "rsa-public",
            Op::RsaPrivate => "rsa-private",
        }
    }

    /// The operation of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name.
    Text,
    /// Bytes, in hexadecimal digits.
    Bytes,
    /// A whole number, zero or more.
    Number,
}

macro_rules! fields {
    ($($variant:ident $name:literal $kind:ident,)*) => {
        /// A named value of a case. The order is that of the numbers on the way to a board.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the variants are the names of the specification")]
        pub enum Field { $($variant,)* }

        impl Field {
            /// Every field.
            pub const ALL: [Field; FIELDS] = [$(Field::$variant,)*];

            /// Its name in a line.
            pub const fn name(self) -> &'static str {
                match self { $(Field::$variant => $name,)* }
            }

            /// What its value is.
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

/// Bytes before the fields, and before each of them.
const HEAD_SIZE: usize = 8;

impl<'a> Request<'a> {
    /// A case without fields.
    pub const fn new(op: Op) -> Self {
        Self { op, values: [None; FIELDS] }
    }

    /// Gives a field a value: a name's letters, bytes, or a number's 8 bytes.
    pub fn set(&mut self, field: Field, value: &'a [u8]) {
        if let Some(place) = self.values.get_mut(field as usize) {
            *place = Some(value);
        }
    }

    /// The value of a field as it was set.
    pub fn raw(&self, field: Field) -> Option<&'a [u8]> {
        self.values.get(field as usize).copied().flatten()
    }

    /// The bytes of a field; none if it is absent.
    pub fn bytes(&self, field: Field) -> &'a [u8] {
        self.raw(field).unwrap_or_default()
    }

    /// The name in a field.
    pub fn text(&self, field: Field) -> Option<&'a str> {
        self.raw(field).map(|bytes| core::str::from_utf8(bytes).unwrap_or_default())
    }

    /// The number in a field.
    pub fn number(&self, field: Field) -> Option<u64> {
        self.raw(field)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// The algorithm.
    pub fn alg(&self) -> &'a str {
        self.text(Field::Alg).unwrap_or_default()
    }

    /// Bytes that [`Request::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        let values = self.values.iter().flatten();
        values.map(|value| HEAD_SIZE + value.len().next_multiple_of(8)).sum::<usize>() + HEAD_SIZE
    }

    /// Writes the case; `None` if it does not fit.
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

    /// Reads the case at the front of `bytes`, and the bytes after it; `None` if it is malformed.
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
