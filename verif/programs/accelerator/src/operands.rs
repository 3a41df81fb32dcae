//! Keys and operands of AES and RSA for the measurements of the fifth paper. They are the same on the root of trust
//! (`verif/programs/accelerator`), on CVA6 (`lab/baseline`) and on the workstation that checks the results.
//!
//! These are test keys, which protect nothing.

/// Sizes of the payloads in bytes (figure 2 of the paper).
pub const SIZES: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];

/// Length of a key of AES-256 in bytes.
pub const AES_KEY_LEN: usize = 32;
pub const AES_BLOCK_LEN: usize = 16;

/// Returns byte i of a payload. The first byte is zero, so that an RSA payload is less than every modulus.
pub const fn payload_byte(at: usize) -> u8 {
    (at % 251) as u8
}

/// Returns byte i of the key of HMAC and of AES-256.
pub const fn key_byte(at: usize) -> u8 {
    255 - at as u8
}

/// Returns byte i of the initialization vector of CBC.
pub const fn iv_byte(at: usize) -> u8 {
    0x80 + at as u8
}

/// Additional authenticated data of GCM.
pub const HEADER: &[u8] = b"header";
/// Length in bytes of the GCM vector, which is the beginning of the CBC vector.
pub const GCM_IV_LEN: usize = 12;

/// Public exponent of both keys, without leading zeros.
pub const EXPONENT: [u8; 3] = [1, 0, 1];

/// An RSA key as in PKCS #1 (RFC 8017 §3.2), with a blinding pair. Numbers are big-endian.
pub struct Key<const WHOLE: usize, const HALF: usize> {
    pub n: [u8; WHOLE],
    pub p: [u8; HALF],
    pub q: [u8; HALF],
    pub dp: [u8; HALF],
    pub dq: [u8; HALF],
    pub iq: [u8; HALF],
    /// Blinding pair r^e and 1 / r for some r.
    pub blinding: [u8; WHOLE],
    pub unblinding: [u8; WHOLE],
}

/// Converts hexadecimal digits to bytes. Spaces between them are ignored.
const fn bytes<const LEN: usize>(text: &str) -> [u8; LEN] {
    let text = text.as_bytes();
    let mut result = [0; LEN];
    let (mut at, mut digits) = (0, 0);
    while at < text.len() {
        let digit = match text[at] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' => digit - b'a' + 10,
            _ => {
                at += 1;
                continue;
            }
        };
        result[digits / 2] = result[digits / 2] << 4 | digit;
        digits += 1;
        at += 1;
    }
    assert!(digits == 2 * LEN);
    result
}

/// A key with a modulus of 512 bits.
pub const RSA_512: Key<64, 32> = Key {
    n: bytes(
        "bb654698ac7d1dfa533fbef37b5e792fa5405890c439bd81a62ce48823ed0b4b6bef3d8675db3176f8f6c02db45eb732 \
         6d90cbc7e0474b18281d0ea3d3aa9dff",
    ),
    p: bytes("f6e02866cdb11fffffc8c70e1bee9356c1b3769e0b742fcacc1bf6909869d04b"),
    q: bytes("c252574a4bdc942ea815bbaca1f88b5be26f67595e68780f025553f64165a09d"),
    dp: bytes("80847ee3cdaea8aef7344953b1fcc7dd012770d7a3b4cf706e431c5f77c895f3"),
    dq: bytes("48dacc455bb9e088b996245dee001c679fb6baddc3ca9130b7643c6d78495cf5"),
    iq: bytes("39b428b2e09733f1c56b0ed75cf68abdecb8600fa61510b054f26fefb8eafeea"),
    blinding: bytes(
        "308d6fdb0d08b0b69ebfeaf163890f7bce59b2fa61085312ca94370d1608d5e08fd5819be70c2300016a5ea664b27505 \
         b951c25c84a65fb869a960ab5f9efcba",
    ),
    unblinding: bytes(
        "29e0ecfde7a9cccc500757bf004c0e3c2b4be74907771c07155a2b57052d30689186bceff438a6e32b5423c0f5763629 \
         981e495e6782f81bcbe0906b6d6a0fcf",
    ),
};

/// A key with a modulus of 1024 bits.
pub const RSA_1024: Key<128, 64> = Key {
    n: bytes(
        "a32a318a5ec599cc8b7bacc48bfd5b890d61180f632fea1247e3b409d8c7216af72690744c8051c9f371ebd0e5887b89 \
         17562b0d2b0a28c192e03109e704f477abe83afd4f0a05f1362c4dcf52b36fadefbce66c130d152701b2586000b629ab \
         30683e982c849b6abd3895b265884750125aa3ae77d532d9a255cda83cc0c853",
    ),
    p: bytes(
        "d89da095408dbafdcd24d97826d29e450966d21f972f8807344b51780ef729c866163e643ce226ecef5a1223cd156bb7 \
         01e50a2603d05659b87cc9559589425d",
    ),
    q: bytes(
        "c0d4b1f1a37d67cd4cb8e1528c9cc96932d2395c5474aa1580a06aaf02f2f710134fbbb51223e43d286fd1e0ef4118d6 \
         be68251c894d15b0a15d9c195ca4ea6f",
    ),
    dp: bytes(
        "8ddef72ca9a1ea058e5583252170327e8ec0cc002ab9d3c2bc2a544a68aad2afd0c4e2ca2de204928bd5172a6188950a \
         c06fed2ca6b4cdc9677e3b3315845775",
    ),
    dq: bytes(
        "30458e7e25254194fd3dd2fa2d451a8e81306b3797d4d4b72949ff2aec9c12092e2c699afc7d8ba75bb6125e32c6a307 \
         2f0737331b93f6780f0d36048b52a575",
    ),
    iq: bytes(
        "9fb69aa7d478c66330f986bfa758bdc6d40bbae8d0b01de70a90cd31300b0ad318cc2f1523cd468d010e14af1d4e2dde \
         22620bc125ccf7eb503ac543c732c4d0",
    ),
    blinding: bytes(
        "6d2e2e8c12ccd43c7e0f4814c7a9d9ccf080745c5ad15b7ce421911a2a74bd96687bc6a0b20d4faf981cbd0226d1ef2b \
         9cbe53ed6567d976e69472ba3c669d304a716236df9fbdf1d684b4b392c185f356f206535689b7d8dfa26c3f0f5bff5a \
         04949bd0d7476b8a4dbb9b27052184b0607dd33b2d92fb8dc07ff54d906eae48",
    ),
    unblinding: bytes(
        "15fffaecbb9f4fd363b25a37e2433c712c83349429f99bed67b15a6575343480348c6f1817f71a16f526dc05cab47f75 \
         e03bb39cd624fffafbf0117efd987289e7d0ef0699c2cf98fdac47ae49271c01843e3ad2535701ad3ca53ac7fc74d959 \
         a775fb4cff80f43db20a47554a897413793a5074cf111faf8b1d0bca5eb50b4f",
    ),
};
