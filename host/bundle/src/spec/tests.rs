use std::ffi::OsStr;

use super::*;

const WHOLE: &str = r#"
type = "boot"
board = "b"
soc = "s"
label = "l"
security_version = 0x10
lifecycle = ["returned"]
bootargs = "quiet"
hash = "sha3-384"
block_size = 0x400

[[payload]]
type = "kernel"
file = "linux"
load_address = 0x8200_0000
memory_size = 4096
entry = 2
hash = "sha256"
mode = "flat"
block_size = 1024

[[payload]]
type = "loader"
file = "/abs/loader"

[trust]
policy = "all"
keys = ["root.pub.pem"]
"#;

fn read(text: &str) -> Result<BundleSpec, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.toml");
    std::fs::write(&path, text).unwrap();
    let mut spec = BundleSpec::read(&path)?;
    for payload in &mut spec.payloads {
        if let Ok(relative) = payload.file.strip_prefix(folder.path()) {
            payload.file = relative.to_path_buf();
        }
    }
    Ok(spec)
}

fn message(text: &str) -> String {
    let error = read(text).unwrap_err();
    error.context().join("\n")
}

#[test]
fn every_key_is_read() {
    let spec = read(WHOLE).unwrap();
    assert_eq!(spec.bundle_type, Some(BundleType::Boot));
    assert_eq!((spec.board.as_deref(), spec.soc.as_deref()), (Some("b"), Some("s")));
    assert_eq!((spec.label.as_deref(), spec.security_version), (Some("l"), Some(16)));
    assert_eq!(spec.lifecycle, Some(vec![Lifecycle::Returned]));
    assert_eq!(spec.bootargs.as_deref(), Some("quiet"));
    assert_eq!((spec.hash, spec.block_size), (Some(HashId::Sha3_384), Some(1024)));
    let [kernel, loader] = &spec.payloads[..] else { panic!("{spec:?}") };
    assert_eq!(
        (kernel.payload_type, kernel.file.as_path()),
        (PayloadType::Kernel, Path::new("linux"))
    );
    assert_eq!(kernel.load_address, Some(0x8200_0000));
    assert_eq!((kernel.memory_size, kernel.entry), (Some(4096), Some(2)));
    assert_eq!((kernel.hash, kernel.mode), (Some(HashId::Sha256), Some(ModeName::Flat)));
    assert_eq!(kernel.block_size, Some(1024));
    assert_eq!(loader.file, Path::new("/abs/loader"));
    let trust = spec.trust.unwrap();
    assert_eq!(trust.policy, Policy::All);
    // The path is relative to the folder of `bundle.toml`, like those of payloads.
    assert!(trust.keys[0].is_absolute());
}

#[test]
fn unknown_keys_and_names_are_refused_with_their_line() {
    for (text, line, word) in [
        ("\nfoo = 1", "line 2", "foo"),
        ("[[payload]]\ntype = \"kernel\"\nfile = \"a\"\nsize = 1", "line 4", "size"),
        ("type = \"systm\"", "line 1", "expected boot, system"),
        ("hash = \"md5\"", "line 1", "sha384"),
        ("lifecycle = [\"production\", \"sold\"]", "line 1", "returned"),
        ("[trust]\npolicy = \"some\"\nkeys = []", "line 2", "hybrid"),
        ("[[payload]]\ntype = \"kernel\"", "line 1", "file"),
        ("[[payload]]\ntype = \"kernel\"\nfile = \"a\"\nmode = \"tree\"", "line 4", "blocks"),
        ("trust = \"all\"", "line 1", "expected trusted keys"),
        ("payload = [\"kernel\"]", "line 1", "expected a payload"),
        ("security_version = -1", "line 1", "u64"),
        ("block_size = 4294967296", "line 1", "u32"),
        ("security_version = 1\nsecurity_version = 2", "line 2", "duplicate"),
        ("type = ", "line 1", ""),
    ] {
        let message = message(text);
        assert!(message.contains(line) && message.contains(word), "{text:?} gave {message:?}");
    }
}

#[test]
fn hashes_and_modes_have_the_names_of_the_format() {
    let spec = read(
        "hash = \"kt128\"\n[[payload]]\ntype = \"kernel\"\nfile = \"linux\"\n\
         hash = \"shake128\"\nmode = \"parallelhash\"",
    )
    .unwrap();
    assert_eq!(spec.hash, Some(HashId::Kt128));
    let kernel = &spec.payloads[0];
    assert_eq!((kernel.hash, kernel.mode), (Some(HashId::Shake128), Some(ModeName::ParallelHash)));
}

#[test]
fn flags_win_and_keep_what_they_do_not_name() {
    let flags = BundleSpec {
        bundle_type: Some(BundleType::System),
        label: Some("other".to_string()),
        payloads: vec![
            PayloadSpec::new(PayloadType::Kernel, "new".into()),
            PayloadSpec::new(PayloadType::Initramfs, "initrd".into()),
        ],
        ..BundleSpec::default()
    };
    let spec = read(WHOLE).unwrap().overridden_by(flags);
    assert_eq!(spec.bundle_type, Some(BundleType::System));
    assert_eq!((spec.label.as_deref(), spec.board.as_deref()), (Some("other"), Some("b")));
    assert_eq!(spec.payloads.len(), 3);
    assert_eq!(spec.payloads[0].file, Path::new("new"));
    assert_eq!(spec.payloads[0].load_address, Some(0x8200_0000));
    assert_eq!(spec.payloads[2].payload_type, PayloadType::Initramfs);
    assert!(spec.trust.is_some());
}

#[test]
fn the_date_is_a_number_or_an_error() {
    assert_eq!(created(None).unwrap(), 0);
    assert_eq!(created(Some(OsStr::new("1700000000"))).unwrap(), 1_700_000_000);
    for wrong in ["", "+1", "-1", "1.5", "12x", " 1", "18446744073709551616"] {
        assert!(created(Some(OsStr::new(wrong))).is_err(), "{wrong:?}");
    }
}
