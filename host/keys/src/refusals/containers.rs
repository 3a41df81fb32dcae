//! Files that hold no key in a supported container, and keys encrypted with a passphrase.

use pkcs8::der::Encode;
use pkcs8::pkcs5::{EncryptionScheme, pbes2, scrypt};
use pkcs8::{EncryptedPrivateKeyInfoRef, der};

use super::*;

/// The public key of RFC 8410 §10.3.
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
";

pub(super) fn add(cases: &mut Cases) {
    files(cases);
    pem_blocks(cases);
    der(cases);
    halves(cases);
    passphrases(cases);
    ways_of_encryption(cases);
}

fn files(cases: &mut Cases) {
    // A file that is shorter by one byte is read, and refused for another reason.
    let long = vec![b'A'; formats::MAX_KEY_FILE_SIZE + 1];
    cases.public("a file that is too long", KeyReason::TooLong, &long);
    cases.private("a file that is too long", KeyReason::TooLong, &long);
    cases.public("the longest file", KeyReason::NotPem, &long[1..]);
    let many = PUBLIC.repeat(1000);
    cases.public("a thousand keys", KeyReason::TooLong, many);
    cases.error(
        "a file without an end",
        KeyReason::TooLong,
        PublicKey::read(Path::new("/dev/zero")).err(),
    );
    let utf16: Vec<u8> = PUBLIC.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let others: [&[u8]; 7] = [
        b"",
        b"\n",
        b"key",
        b"PuTTY-User-Key-File-3: ssh-ed25519\n",
        b"\xff\xfe\x00",
        &[0x31, 0x00],
        &utf16,
    ];
    for other in others {
        let what = other.escape_ascii().to_string();
        cases.public(&what, KeyReason::NotPem, other);
        cases.private(&what, KeyReason::NotPem, other);
    }
}

fn pem_blocks(cases: &mut Cases) {
    let private = generated("ed25519").to_pem().unwrap();
    for line in ["ssh-ed25519 AAAA me@here\n", "ecdsa-sha2-nistp256 AAAA\n"] {
        cases.public("OpenSSH", KeyReason::OpenSsh, line);
        cases.private("OpenSSH", KeyReason::IsPublic, line);
    }
    for label in ["CERTIFICATE", "EC PARAMETERS", "X\x1b[2J", ""] {
        let file = PUBLIC.replace("PUBLIC KEY", label);
        cases.public(label, KeyReason::WrongLabel, &file);
        cases.private(label, KeyReason::WrongLabel, &file);
    }
    let file = private.replace("PRIVATE KEY", "OPENSSH PRIVATE KEY");
    cases.private("a key of OpenSSH", KeyReason::OpenSsh, file);

    for (what, file) in [
        ("two keys", PUBLIC.repeat(2)),
        ("a key and half of one", format!("{PUBLIC}{}", &PUBLIC[..60])),
        ("a comment after it", format!("{PUBLIC}mine\n")),
        ("both halves", format!("{PUBLIC}{}", *private)),
    ] {
        cases.public(what, KeyReason::TrailingData, &file);
        cases.private(what, KeyReason::TrailingData, &file);
    }

    let malformed = KeyReason::Malformed;
    for (what, file) in [
        ("a character that is none of Base64", PUBLIC.replace("MCow", "MC*w")),
        ("a padding too little", PUBLIC.replace("ZuE=", "ZuE")),
        ("bits after the last byte", PUBLIC.replace("ZuE=", "ZuF=")),
        ("another last line", PUBLIC.replace("END PUBLIC", "END PRIVATE")),
        ("no last line", PUBLIC.replace("-----END", "")),
        ("the first half of the file", PUBLIC[..70].to_string()),
        ("nothing between the lines", pem("PUBLIC KEY", &[])),
        ("an encoding that ends early", pem("PUBLIC KEY", &element(SEQUENCE, &[])[..1])),
        ("a byte after the encoding", PUBLIC.replace("ZuE=", "ZuEA")),
    ] {
        cases.public(what, malformed, file);
    }
}

/// Adds cases of DER that is truncated, has trailing bytes, or is not the only valid encoding of
/// its content.
fn der(cases: &mut Cases) {
    let key = generated("ed25519");
    let private = key.export(Format::Der, None).unwrap();
    let public = key.public().to_der();
    for len in 1..public.len() {
        let what = format!("{len} bytes");
        cases.public(&what, KeyReason::KeyTruncated, &public[..len]);
        cases.private(&what, KeyReason::KeyTruncated, &private[..len]);
    }
    for after in [&b"\0"[..], b"\n", &public] {
        cases.public("trailing bytes", KeyReason::TrailingData, [&public[..], after].concat());
        cases.private("trailing bytes", KeyReason::TrailingData, [&private[..], after].concat());
    }

    // X.690 §10.1: a length has the shortest form and is never indefinite.
    let (content, inside) = (&public[2..], &public[4..]);
    let long = |head: &[u8], content: &[u8]| [&[SEQUENCE][..], head, content].concat();
    let len = content.len() as u8;
    for (what, file) in [
        ("a length of one byte more", long(&[0x81, len], content)),
        ("a length of two bytes more", long(&[0x82, 0, len], content)),
        ("a length of three bytes more", long(&[0x83, 0, 0, len], content)),
        ("a length of four bytes more", long(&[0x84, 0, 0, 0, len], content)),
        ("a length that is left open", long(&[0x80], &[content, &[0, 0]].concat())),
        ("a reserved length", long(&[0xff], content)),
        ("a long length inside", element(SEQUENCE, &[&long(&[0x81, public[3]], inside)])),
        ("an open length inside", element(SEQUENCE, &[&long(&[0x80], inside), &[0, 0]])),
        ("a sequence with another element", element(SEQUENCE, &[content, &NULL])),
        ("a sequence of nothing", element(SEQUENCE, &[])),
        ("a sequence of something else", element(SEQUENCE, &[&NULL, &NULL])),
    ] {
        cases.public(what, KeyReason::Malformed, &file);
        cases.public(what, KeyReason::Malformed, pem("PUBLIC KEY", &file));
        cases.private(what, KeyReason::Malformed, pem("PRIVATE KEY", &file));
    }
    // The BIT STRING states that one bit of its last byte is unused, although that bit is set.
    let mut unused_bits = public.clone();
    unused_bits[11] = 1;
    cases.public("a string of 255 bits", KeyReason::Malformed, unused_bits);
}

fn halves(cases: &mut Cases) {
    for name in ["ed25519", "ecdsa-p256", "ml-dsa-44"] {
        let key = generated(name);
        for format in [Format::Pem, Format::Der] {
            let public = key.public().export(format);
            cases.private(name, KeyReason::IsPublic, public);
            let private = key.export(format, None).unwrap();
            cases.public(name, KeyReason::IsPrivate, &*private);
            let locked = key.export(format, Some(b"secret")).unwrap();
            cases.public(name, KeyReason::IsPrivate, &*locked);
        }
    }
    let counting = generated("lms-sha256-192-h5-w1");
    let file = counting.first_file(Format::Pem, None).unwrap();
    cases.public("a key that counts", KeyReason::IsPrivate, &*file);
    let rsa = generated("rsa-pss-2048-sha256").public();
    cases.private("PKCS#1", KeyReason::IsPublic, rsa.as_bytes());
    cases.private("PKCS#1", KeyReason::IsPublic, pem("RSA PUBLIC KEY", rsa.as_bytes()));
}

fn passphrases(cases: &mut Cases) {
    let key = generated("ed25519");
    for format in [Format::Pem, Format::Der] {
        let locked = key.export(format, Some(b"secret")).unwrap();
        cases.private("no passphrase", KeyReason::Encrypted, &*locked);
        for typed in ["", "Secret", "secret "] {
            cases.private_with(typed, KeyReason::WrongPassphrase, &*locked, Some(typed));
        }
    }
    let mut changed = key.export(Format::Der, Some(b"secret")).unwrap();
    *changed.last_mut().unwrap() ^= 1;
    cases.private_with("a changed byte", KeyReason::WrongPassphrase, &*changed, Some("secret"));
    let old = "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\
               DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n\
               -----END EC PRIVATE KEY-----\n";
    cases.private_with("encryption of PEM", KeyReason::OldEncryption, old, Some("secret"));
    cases.private("encryption of PEM", KeyReason::OldEncryption, old);
}

fn ways_of_encryption(cases: &mut Cases) {
    let mut locked = |what: &str, expected, identifier: &[&[u8]]| {
        let content = element(OCTET_STRING, &[&[7; 64]]);
        let file = element(SEQUENCE, &[&element(SEQUENCE, identifier), &content]);
        cases.private_with(what, expected, &file, Some("secret"));
        let file = pem("ENCRYPTED PRIVATE KEY", &file);
        cases.private_with(what, expected, file, Some("secret"));
    };
    let unsupported = KeyReason::UnsupportedEncryption;
    let salt = element(OCTET_STRING, &[&[1; 8]]);
    let work = element(SEQUENCE, &[&salt, &integer(&[8, 0])]);
    // PBES1 (RFC 8018 §6.1) and the scheme that PKCS#12 derived from it.
    for scheme in ["1.2.840.113549.1.5.3", "1.2.840.113549.1.12.1.3"] {
        locked(scheme, unsupported, &[&oid(scheme), &work]);
    }
    let pbkdf2 = element(SEQUENCE, &[&oid("1.2.840.113549.1.5.12"), &work]);
    let aes = |iv: &[u8]| {
        let iv = element(OCTET_STRING, &[iv]);
        element(SEQUENCE, &[&oid("2.16.840.1.101.3.4.1.42"), &iv])
    };
    let pbes2 = |kdf: &[u8], cipher: &[u8]| element(SEQUENCE, &[kdf, cipher]);
    let scheme = oid("1.2.840.113549.1.5.13");
    // The ciphers are Triple DES, Camellia and AES-GCM.
    for (cipher, size) in [
        ("1.2.840.113549.3.7", 8),
        ("1.2.392.200011.61.1.1.1.4", 16),
        ("2.16.840.1.101.3.4.1.46", 12),
    ] {
        let iv = element(OCTET_STRING, &[&vec![0; size]]);
        let cipher = element(SEQUENCE, &[&oid(cipher), &iv]);
        locked("a cipher", unsupported, &[&scheme, &pbes2(&pbkdf2, &cipher)]);
    }
    let other = element(SEQUENCE, &[&oid("1.2.3.4"), &work]);
    locked("a derivation", unsupported, &[&scheme, &pbes2(&other, &aes(&[0; 16]))]);
    // The key derivation uses HMAC with SHA-1, which is the default of RFC 8018, then HMAC with
    // MD5.
    locked("SHA-1", unsupported, &[&scheme, &pbes2(&pbkdf2, &aes(&[0; 16]))]);
    let hash = element(SEQUENCE, &[&oid("1.2.840.113549.2.6"), &NULL]);
    let work = element(SEQUENCE, &[&salt, &integer(&[8, 0]), &hash]);
    let md5 = element(SEQUENCE, &[&oid("1.2.840.113549.1.5.12"), &work]);
    locked("a hash", unsupported, &[&scheme, &pbes2(&md5, &aes(&[0; 16]))]);

    // The parameters in the file require too much memory or time.
    let salt = [1; 16];
    let scrypt = |log_n, r, p| {
        let work = scrypt::Params::new(log_n, r, p).unwrap();
        pbes2::Parameters::generate_scrypt_aes256cbc(work, &salt, [0; 16]).unwrap()
    };
    for (what, parameters) in [
        ("scrypt with 2 GiB", scrypt(21, 8, 1)),
        ("scrypt with wide blocks", scrypt(14, 1024, 1)),
        ("scrypt that is done too often", scrypt(4, 8, 65)),
    ] {
        let encryption_algorithm = EncryptionScheme::Pbes2(parameters);
        let encrypted_data = der::asn1::OctetStringRef::new(&[7; 64]).unwrap();
        let file = EncryptedPrivateKeyInfoRef { encryption_algorithm, encrypted_data };
        cases.private_with(what, unsupported, file.to_der().unwrap(), Some("secret"));
    }

    let mut locked = |what: &str, expected, identifier: &[&[u8]]| {
        let content = element(OCTET_STRING, &[&[7; 64]]);
        let file = element(SEQUENCE, &[&element(SEQUENCE, identifier), &content]);
        cases.private_with(what, expected, file, Some("secret"));
    };
    let rounds = |count: &[u8]| {
        let work = element(SEQUENCE, &[&element(OCTET_STRING, &[&salt]), &integer(count)]);
        element(SEQUENCE, &[&oid("1.2.840.113549.1.5.12"), &work])
    };
    // One iteration more than the maximum of a hundred million.
    let many = rounds(&[5, 0xf5, 0xe1, 1]);
    locked("too many rounds", unsupported, &[&scheme, &pbes2(&many, &aes(&[0; 16]))]);
    let malformed = KeyReason::Malformed;
    for count in [&[0][..], &[0xff], &[0x7f; 5]] {
        let parameters = pbes2(&rounds(count), &aes(&[0; 16]));
        locked("rounds out of range", malformed, &[&scheme, &parameters]);
    }
    locked("a short IV", malformed, &[&scheme, &pbes2(&pbkdf2, &aes(&[0; 15]))]);
    locked("no parameters", malformed, &[&scheme]);
    let n_of = |n: &[u8]| {
        let salt = element(OCTET_STRING, &[&salt]);
        let work = element(SEQUENCE, &[&salt, &integer(n), &integer(&[8]), &integer(&[1])]);
        element(SEQUENCE, &[&oid("1.3.6.1.4.1.11591.4.11"), &work])
    };
    for n in [&[0][..], &[1], &[3], &[0x40, 1], &[0x80]] {
        locked(
            "an N that is no power of two",
            malformed,
            &[&scheme, &pbes2(&n_of(n), &aes(&[0; 16]))],
        );
    }
}
