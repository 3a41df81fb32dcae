//! Keys and signatures exchanged with the `openssl` command.

use std::fs;
use std::process::{Command, Output};

use crate::common::{MESSAGE, generated, second_opinion, skipped};
use hartlock_image::{Algorithm, Curve, RsaPadding};
use hartlock_keys::{Format, PrivateKey, PublicKey};
use tempfile::TempDir;

/// The `openssl` command in a temporary folder. `HARTLOCK_OPENSSL` names another one than that of
/// the system.
struct OpenSsl {
    folder: TempDir,
}

impl OpenSsl {
    /// Returns `None` if there is no openssl, or only an older one than `least`.
    fn new(least: (u32, u32)) -> Option<Self> {
        let ssl = Self { folder: tempfile::tempdir().unwrap() };
        let output = match ssl.command().arg("version").output() {
            Ok(output) => output,
            Err(error) => {
                skipped(format_args!("`openssl` cannot be run: {error}"));
                return None;
            }
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.split_whitespace().nth(1).unwrap_or_default();
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let is_enough = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= least;
        if !is_enough {
            let (major, minor) = least;
            skipped(format_args!("openssl {version} is older than {major}.{minor}"));
        }
        is_enough.then_some(ssl)
    }

    fn command(&self) -> Command {
        let program = std::env::var_os("HARTLOCK_OPENSSL").unwrap_or_else(|| "openssl".into());
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        command
    }

    fn output(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    #[track_caller]
    fn run(&self, args: &[&str]) {
        let output = self.output(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {}: {said}", args.join(" "));
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns the option for the hash, and the options for the padding, of an algorithm.
    fn sign_options(algorithm: Algorithm) -> (Option<String>, Vec<String>) {
        match algorithm {
            Algorithm::Rsa { padding, hash, .. } => {
                let options = match padding {
                    RsaPadding::Pss => [
                        "rsa_padding_mode:pss",
                        "rsa_pss_saltlen:digest",
                        &format!("rsa_mgf1_md:{}", hash.name()),
                    ]
                    .map(str::to_string)
                    .to_vec(),
                    RsaPadding::Pkcs1 => vec!["rsa_padding_mode:pkcs1".to_string()],
                };
                (Some(hash.name().to_string()), options)
            }
            Algorithm::Ecdsa(Curve::P256) => (Some("sha256".to_string()), Vec::new()),
            Algorithm::Ecdsa(Curve::P384) => (Some("sha384".to_string()), Vec::new()),
            _ => (None, Vec::new()),
        }
    }

    fn signing(algorithm: Algorithm, what: &[&str]) -> Vec<String> {
        let mut args: Vec<String> = ["pkeyutl", "-rawin", "-in", "message"].map(Into::into).into();
        args.extend(what.iter().map(|arg| (*arg).to_string()));
        let (digest, options) = Self::sign_options(algorithm);
        args.extend(digest.into_iter().flat_map(|digest| ["-digest".to_string(), digest]));
        args.extend(options.into_iter().flat_map(|option| ["-pkeyopt".to_string(), option]));
        args
    }

    /// Signs with openssl and returns the signature in the encoding of bundles.
    fn sign(&self, algorithm: Algorithm, key: &str) -> Vec<u8> {
        self.write("message", MESSAGE);
        let args = Self::signing(algorithm, &["-sign", "-inkey", key, "-out", "signature"]);
        self.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let signature = self.read("signature");
        if matches!(algorithm, Algorithm::Ecdsa(_)) {
            fixed(&signature, algorithm.signature_size().unwrap() / 2)
        } else {
            signature
        }
    }

    fn verifies(&self, algorithm: Algorithm, public: &str, signature: &[u8]) -> bool {
        self.write("message", MESSAGE);
        let is_ecdsa = matches!(algorithm, Algorithm::Ecdsa(_));
        let signature = if is_ecdsa { der(signature) } else { signature.to_vec() };
        self.write("signature", &signature);
        let what = ["-verify", "-pubin", "-inkey", public, "-sigfile", "signature"];
        let args = Self::signing(algorithm, &what);
        self.output(&args.iter().map(String::as_str).collect::<Vec<_>>()).status.success()
    }

    /// Checks that openssl reads one of our keys, writes the same key, verifies our signatures and
    /// signs with it.
    fn takes_our_key(&self, name: &str) {
        let key = generated(name);
        let algorithm = key.algorithm();
        self.write("ours.pem", key.to_pem().unwrap().as_bytes());
        self.write("ours.pub.pem", key.public().to_pem().as_bytes());
        self.run(&["pkey", "-in", "ours.pem", "-pubout", "-out", "again.pub.pem"]);
        let again = String::from_utf8(self.read("again.pub.pem")).unwrap();
        // The file of openssl has no line with the algorithm of RSA keys.
        assert!(key.public().to_pem().ends_with(&again), "{name}");
        self.run(&["pkey", "-in", "ours.pem", "-out", "again.pem"]);
        let again = PrivateKey::decode(&self.read("again.pem"), &[algorithm], None).unwrap();
        assert_eq!(again.public().as_bytes(), key.public().as_bytes(), "{name}");
        for passphrase in ["secret", "geheim und länger"] {
            let locked = key.export(Format::Pem, Some(passphrase.as_bytes())).unwrap();
            self.write("locked.pem", &locked);
            let pass = format!("pass:{passphrase}");
            self.run(&["pkey", "-in", "locked.pem", "-passin", &pass, "-out", "open.pem"]);
            assert_eq!(self.read("open.pem"), self.read("again.pem"), "{name}");
        }
        let signature = key.sign(MESSAGE).unwrap();
        assert!(self.verifies(algorithm, "ours.pub.pem", &signature), "{name}");
        let mut changed = signature.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(!self.verifies(algorithm, "ours.pub.pem", &changed), "{name}");
        assert!(second_opinion(&key.public(), &signature), "{name}");
        assert!(second_opinion(&key.public(), &self.sign(algorithm, "ours.pem")), "{name}");
    }

    /// Checks that we read a key of openssl and that signatures agree; `make` writes `theirs.pem`.
    fn gives_us_keys(&self, name: &str, make: &[&str]) {
        let algorithm = Algorithm::from_name(name).unwrap();
        self.run(&[make, &["-out", "theirs.pem"]].concat());
        self.run(&["pkey", "-in", "theirs.pem", "-pubout", "-out", "theirs.pub.pem"]);
        self.run(&["pkey", "-in", "theirs.pem", "-outform", "DER", "-out", "theirs.der"]);
        let public = PublicKey::decode(&self.read("theirs.pub.pem"), &[algorithm]).unwrap();
        assert_eq!(public.algorithm(), algorithm);
        let theirs = String::from_utf8(self.read("theirs.pub.pem")).unwrap();
        // Our file has one line more for RSA.
        assert!(public.to_pem().ends_with(&theirs), "{name}");
        let decode = |file: &str, passphrase: Option<&[u8]>| {
            PrivateKey::decode(&self.read(file), &[algorithm], passphrase).unwrap()
        };
        let key = decode("theirs.pem", None);
        assert_eq!(key.public(), public, "{name}");
        assert_eq!(decode("theirs.der", None).public(), public, "{name}");
        let ways: [&[&str]; 5] = [
            &["-scrypt"],
            &["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA256"],
            &["-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA512", "-iter", "5000"],
            &["-v2", "aes-192-cbc", "-v2prf", "hmacWithSHA384"],
            &[],
        ];
        for way in ways {
            let args = ["pkcs8", "-topk8", "-in", "theirs.pem", "-out", "locked.pem"];
            self.run(&[&args[..], &["-passout", "pass:secret"], way].concat());
            assert_eq!(decode("locked.pem", Some(b"secret")).public(), public, "{name} {way:?}");
        }
        let signature = key.sign(MESSAGE).unwrap();
        assert!(self.verifies(algorithm, "theirs.pub.pem", &signature), "{name}");
        assert!(second_opinion(&public, &self.sign(algorithm, "theirs.pem")), "{name}");
    }
}

/// Converts an ECDSA signature from DER to r and s in their full length.
fn fixed(der: &[u8], size: usize) -> Vec<u8> {
    let number = |bytes: &[u8]| {
        let len = usize::from(bytes[1]);
        let value: Vec<u8> = bytes[2..2 + len].iter().copied().skip_while(|it| *it == 0).collect();
        let mut room = vec![0; size - value.len()];
        room.extend(value);
        (room, 2 + len)
    };
    let start = if der[1] < 0x80 { 2 } else { 3 };
    let (r, len) = number(&der[start..]);
    let (s, _) = number(&der[start + len..]);
    [r, s].concat()
}

/// Converts an ECDSA signature from r and s to DER.
fn der(fixed: &[u8]) -> Vec<u8> {
    let number = |half: &[u8]| {
        let mut value: Vec<u8> = half.iter().copied().skip_while(|byte| *byte == 0).collect();
        if value.first().is_none_or(|first| first & 0x80 != 0) {
            value.insert(0, 0);
        }
        [&[2, value.len() as u8], &value[..]].concat()
    };
    let (r, s) = fixed.split_at(fixed.len() / 2);
    let content = [number(r), number(s)].concat();
    [&[0x30, content.len() as u8], &content[..]].concat()
}

#[test]
fn openssl_takes_our_keys_and_signatures() {
    let Some(ssl) = OpenSsl::new((3, 0)) else { return };
    for name in [
        "ed25519",
        "ecdsa-p256",
        "ecdsa-p384",
        "rsa-pss-2048-sha256",
        "rsa-pss-3072-sha384",
        "rsa-pkcs1-2048-sha512",
    ] {
        ssl.takes_our_key(name);
    }
}

#[test]
fn we_take_keys_and_signatures_of_openssl() {
    let Some(ssl) = OpenSsl::new((3, 0)) else { return };
    let rsa = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"];
    for hash in ["sha256", "sha384", "sha512"] {
        ssl.gives_us_keys(&format!("rsa-pss-2048-{hash}"), &rsa);
    }
    ssl.gives_us_keys("rsa-pkcs1-2048-sha256", &rsa);
    // A key that is restricted to PSS states its padding, and also its hash if one was given when
    // it was made.
    let pss = ["genpkey", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"];
    let said =
        ["md:sha256", "mgf1_md:sha256", "saltlen:32"].map(|it| format!("rsa_pss_keygen_{it}"));
    let said = said.iter().flat_map(|it| ["-pkeyopt", it]);
    ssl.run(&pss.into_iter().chain(said).chain(["-out", "pss.pem"]).collect::<Vec<_>>());
    let key = PrivateKey::read(&ssl.path("pss.pem")).unwrap();
    assert_eq!(key.algorithm().to_string(), "rsa-pss-2048-sha256");
    let larger = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"];
    ssl.gives_us_keys("rsa-pkcs1-3072-sha384", &larger);
    ssl.gives_us_keys("ed25519", &["genpkey", "-algorithm", "ed25519"]);
    for (name, curve) in [("ecdsa-p256", "P-256"), ("ecdsa-p384", "P-384")] {
        let curve = format!("ec_paramgen_curve:{curve}");
        for _ in 0..5 {
            ssl.gives_us_keys(name, &["genpkey", "-algorithm", "EC", "-pkeyopt", &curve]);
        }
    }
}

#[test]
fn we_take_the_older_forms_of_openssl() {
    let Some(ssl) = OpenSsl::new((3, 0)) else { return };
    let rsa = [Algorithm::from_name("rsa-pss-2048-sha256").unwrap()];
    let decode = |name: &str| PrivateKey::decode(&ssl.read(name), &rsa, None).unwrap();
    ssl.run(&["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "sec1.pem"]);
    ssl.run(&["pkcs8", "-topk8", "-nocrypt", "-in", "sec1.pem", "-out", "pkcs8.pem"]);
    ssl.run(&["ec", "-in", "sec1.pem", "-outform", "DER", "-out", "sec1.der"]);
    assert!(ssl.read("sec1.pem").starts_with(b"-----BEGIN EC PRIVATE KEY"));
    assert_eq!(decode("sec1.pem").public(), decode("pkcs8.pem").public());
    assert_eq!(decode("sec1.der").public(), decode("pkcs8.pem").public());
    // The curve is in a separate block before the key.
    ssl.run(&["ecparam", "-name", "secp384r1", "-genkey", "-out", "two.pem"]);
    assert!(ssl.read("two.pem").starts_with(b"-----BEGIN EC PARAMETERS"));
    let key = decode("two.pem");
    assert_eq!(key.algorithm().to_string(), "ecdsa-p384");
    ssl.run(&["ecparam", "-name", "prime256v1", "-out", "other.pem"]);
    let two = String::from_utf8(ssl.read("two.pem")).unwrap();
    let key = &two[two.find("-----BEGIN EC PRIVATE").unwrap()..];
    let swapped = [&ssl.read("other.pem")[..], key.as_bytes()].concat();
    let kind = PrivateKey::decode(&swapped, &[], None).unwrap_err();
    assert_eq!(kind, hartlock_keys::KeyErrorKind::PublicHalfDiffers);
    ssl.run(&["genrsa", "-traditional", "-out", "pkcs1.pem", "2048"]);
    ssl.run(&["pkcs8", "-topk8", "-nocrypt", "-in", "pkcs1.pem", "-out", "pkcs8.pem"]);
    assert!(ssl.read("pkcs1.pem").starts_with(b"-----BEGIN RSA PRIVATE KEY"));
    assert_eq!(decode("pkcs1.pem").public(), decode("pkcs8.pem").public());
    ssl.run(&["rsa", "-in", "pkcs1.pem", "-RSAPublicKey_out", "-out", "pkcs1.pub.pem"]);
    let public = PublicKey::read_for(&ssl.path("pkcs1.pub.pem"), &rsa).unwrap();
    assert_eq!(public, decode("pkcs1.pem").public());
    // A compressed point within a private key is accepted, and one as the public key is refused.
    ssl.run(&["ec", "-in", "sec1.pem", "-conv_form", "compressed", "-out", "short.pem"]);
    assert_eq!(decode("short.pem").public(), decode("sec1.pem").public());
    let args = ["ec", "-in", "sec1.pem", "-pubout", "-conv_form", "compressed"];
    ssl.run(&[&args[..], &["-out", "short.pub.pem"]].concat());
    let error = PublicKey::read(&ssl.path("short.pub.pem")).unwrap_err();
    assert!(error.to_string().contains("compressed"), "{error}");
}

/// `cargo xtask test` runs this test with a version of openssl that is new enough.
#[test]
fn a_newer_openssl_and_we_agree_on_ml_dsa_and_slh_dsa() {
    let Some(ssl) = OpenSsl::new((3, 5)) else { return };
    for (name, theirs) in [
        ("ml-dsa-44", "ML-DSA-44"),
        ("ml-dsa-65", "ML-DSA-65"),
        ("ml-dsa-87", "ML-DSA-87"),
        ("slh-dsa-sha2-128f", "SLH-DSA-SHA2-128f"),
        ("slh-dsa-sha2-192f", "SLH-DSA-SHA2-192f"),
        ("slh-dsa-shake-256f", "SLH-DSA-SHAKE-256f"),
        ("slh-dsa-shake-128s", "SLH-DSA-SHAKE-128s"),
    ] {
        ssl.takes_our_key(name);
        ssl.gives_us_keys(name, &["genpkey", "-algorithm", theirs]);
    }
    // The private-key formats of ML-DSA that openssl can write.
    for form in ["seed-only", "priv-only", "seed-priv", "bare-seed", "bare-priv"] {
        let provider = format!("ml-dsa.output_formats={form}");
        let args = ["genpkey", "-algorithm", "ML-DSA-65", "-provparam", &provider];
        ssl.run(&[&args[..], &["-out", "form.pem"]].concat());
        let read = PrivateKey::read(&ssl.path("form.pem"));
        // The bare forms come from drafts; RFC 9881 does not define them.
        assert_eq!(read.is_ok(), !form.starts_with("bare"), "{form}: {read:?}");
    }
}
