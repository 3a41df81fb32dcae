//! The stored corpus of a target, which is one archive: `verif/fuzz/corpus/<target>.tar`.
//!
//! The archive is a plain tar (POSIX ustar), so that every tool can list it and git stores only changes. The
//! same inputs always give the same bytes: names are sorted, and times, owners and modes are constant. A file
//! that differs in any of this is refused, so that a pack which was cut between two entries is not taken for
//! a smaller corpus. The contents of inputs are not checked, because any input is a valid start.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tar::{Archive, Builder, EntryType, Header};

/// Inputs by name. The fuzzing engine names an input by the SHA-1 of its bytes, in hexadecimal.
pub type Inputs = BTreeMap<String, Vec<u8>>;

/// Number of hexadecimal digits of a SHA-1.
const NAME_LEN: usize = 40;

/// Returns the path of the pack of a corpus below the root of the checkout.
pub fn path(root: &Path, corpus: &str) -> PathBuf {
    root.join("verif/fuzz/corpus").join(corpus).with_extension("tar")
}

/// Reads all inputs of a pack.
pub fn read(pack: &Path) -> Result<Inputs> {
    let bytes = fs::read(pack).with_context(|| format!("cannot read {}", pack.display()))?;
    decode(&bytes).with_context(|| {
        format!("{0} is damaged; take it back with `git restore {0}`", pack.display())
    })
}

/// Writes a pack. A file that already has these bytes is not touched; any other is replaced atomically.
pub fn write(pack: &Path, inputs: &Inputs) -> Result<()> {
    let bytes = encode(inputs)?;
    if fs::read(pack).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let folder = pack.parent().context("a pack is in a folder")?;
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&bytes)?;
    // Temporary files are readable by their owner only, but a pack is a normal file of the repository.
    #[cfg(unix)]
    file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    file.persist(pack).with_context(|| format!("cannot write {}", pack.display()))?;
    Ok(())
}

/// Reads those inputs of a folder for which `is_wanted` returns true.
pub fn collect(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Inputs> {
    let mut inputs = Inputs::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).context("a name of an input")?;
        if is_wanted(name) {
            inputs.insert(name.to_owned(), fs::read(&path)?);
        }
    }
    Ok(inputs)
}

/// Makes a folder that contains exactly these inputs.
pub fn unpack(inputs: &Inputs, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for (name, input) in inputs {
        fs::write(folder.join(name), input)?;
    }
    Ok(())
}

fn encode(inputs: &Inputs) -> Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    for (name, input) in inputs {
        ensure!(is_name(name), "{name:?} is not the SHA-1 of an input");
        let mut header = Header::new_ustar();
        header.set_path(name)?;
        header.set_entry_type(EntryType::Regular);
        header.set_size(input.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        header.set_cksum();
        builder.append(&header, input.as_slice())?;
    }
    Ok(builder.into_inner()?)
}

fn decode(bytes: &[u8]) -> Result<Inputs> {
    let mut inputs = Inputs::new();
    for entry in Archive::new(bytes).entries()? {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        // The check also keeps every input inside its folder.
        ensure!(is_name(&name), "{name:?} is not the SHA-1 of an input");
        let mut input = Vec::new();
        entry.read_to_end(&mut input)?;
        ensure!(input.len() as u64 == entry.size(), "input {name} is cut off");
        inputs.insert(name, input);
    }
    // The tar reader does not check the zero blocks at the end of the archive; this comparison does.
    ensure!(encode(&inputs)? == bytes, "it is cut off, or another program wrote it");
    Ok(inputs)
}

fn is_name(name: &str) -> bool {
    name.len() == NAME_LEN && name.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns three inputs: an empty one, a short one, and one of more than a block.
    fn inputs() -> Inputs {
        let contents: [&[u8]; 3] = [b"", b"one", &[0x5a; 700]];
        (0..3).zip(contents).map(|(digit, it)| (format!("{digit:040x}"), it.to_vec())).collect()
    }

    fn refusal(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let pack = folder.path().join("spec.tar");
        fs::write(&pack, bytes).unwrap();
        let error = format!("{:#}", read(&pack).unwrap_err());
        assert!(error.contains("spec.tar is damaged; take it back"), "{error}");
        error
    }

    #[test]
    fn a_pack_gives_back_its_inputs_and_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let pack = path(folder.path(), "spec");
        assert!(pack.ends_with("verif/fuzz/corpus/spec.tar"));
        write(&pack, &inputs()).unwrap();
        let first = fs::read(&pack).unwrap();
        assert_eq!(read(&pack).unwrap(), inputs());

        let unpacked = folder.path().join("unpacked");
        fs::create_dir(&unpacked).unwrap();
        fs::write(unpacked.join("of an earlier run"), "").unwrap();
        unpack(&inputs(), &unpacked).unwrap();
        assert_eq!(collect(&unpacked, |_| true).unwrap(), inputs());
        write(&pack, &collect(&unpacked, |_| true).unwrap()).unwrap();
        assert_eq!(fs::read(&pack).unwrap(), first);
        assert_eq!(collect(&unpacked, |name| name.ends_with('1')).unwrap().len(), 1);
    }

    #[test]
    fn an_empty_pack_is_one() {
        assert_eq!(decode(&encode(&Inputs::new()).unwrap()).unwrap(), Inputs::new());
    }

    #[test]
    fn refuses_a_pack_that_is_cut_off_anywhere() {
        let whole = encode(&inputs()).unwrap();
        for len in 0..whole.len() {
            assert!(decode(&whole[..len]).is_err(), "{len} of {} bytes", whole.len());
        }
        let refused = |len: usize, why: &str| {
            let error = refusal(&whole[..len]);
            assert!(error.contains(why), "{len} bytes: {error}");
        };
        let (header, block) = (512, 512);
        // The cuts are in the second input, after the first header, where the tar reader finds no fault, and
        // before the last zero block.
        refused(header + header + 1, &format!("input {:040x} is cut off", 1));
        refused(header, "it is cut off, or");
        refused(whole.len() - block, "it is cut off, or");
        assert!(refusal(b"version https://git-lfs").contains("damaged"));
    }

    #[test]
    fn refuses_what_it_would_not_write() {
        let whole = encode(&inputs()).unwrap();
        // A changed bit in a header makes its checksum wrong.
        for at in [0, 100, 124, 136, 148, 156, 257] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            refusal(&bytes);
        }
        // Each of the following archives has valid entries, but a wrong order, a duplicate, a time, or a name
        // that leaves the folder.
        let entry = |name: &str, mtime: u64| {
            let mut header = Header::new_ustar();
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(0);
            header.set_mode(0o644);
            header.set_mtime(mtime);
            header.set_cksum();
            header
        };
        let archive = |entries: &[Header]| {
            let mut builder = Builder::new(Vec::new());
            for header in entries {
                builder.append(header, &b""[..]).unwrap();
            }
            builder.into_inner().unwrap()
        };
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let not_ours = "another program wrote it";
        assert!(refusal(&archive(&[entry(&two, 0), entry(&one, 0)])).contains(not_ours), "order");
        assert!(refusal(&archive(&[entry(&one, 0), entry(&one, 0)])).contains(not_ours), "twice");
        assert!(refusal(&archive(&[entry(&one, 7)])).contains(not_ours), "time");
        for name in ["../../../etc/passwd", "README.md", &"A".repeat(40), &"1".repeat(41)] {
            assert!(refusal(&archive(&[entry(name, 0)])).contains("not the SHA-1"), "{name}");
        }
        assert!(encode(&[("x".to_owned(), Vec::new())].into()).is_err());
    }

    #[test]
    fn says_which_pack_is_missing() {
        let error = read(Path::new("/nowhere/spec.tar")).unwrap_err();
        assert!(error.to_string().contains("cannot read /nowhere/spec.tar"), "{error}");
    }
}
