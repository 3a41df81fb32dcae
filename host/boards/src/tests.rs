use super::*;

/// Reads the shipped description `name` with `from` replaced by `to`.
fn changed(name: &str, from: &str, to: &str) -> Result<Board, Fault> {
    let text = shipped_text(name).unwrap();
    assert!(text.contains(from), "{from}");
    read(&text.replacen(from, to, 1), &shipped_text)
}

#[test]
fn every_shipped_description_is_right_and_gives_the_map_that_firmware_has() {
    assert_eq!(shipped().len(), TEXTS.len());
    assert_eq!(shipped().len(), hartlock_maps::ALL.len());
    for (known, constant) in shipped().iter().zip(hartlock_maps::ALL) {
        assert_eq!(format!("{:?}", known.map()), format!("{constant:?}"));
    }
    assert_eq!(Boards::default().default_board().unwrap().name(), "qemu-virt");
    let iommu = Boards::default();
    let iommu = iommu.by_name("qemu-virt-iommu").unwrap();
    assert!(iommu.devices().starts_with("an IOMMU") && !iommu.description.is_default());
}

#[test]
fn the_command_the_second_verifier_and_the_specification_know_the_same_boards() {
    let file = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let after = |text: &str, start: &str, end: char| {
        let rests = text.lines().filter_map(|line| line.strip_prefix(start));
        let mut names: Vec<_> =
            rests.filter_map(|rest| Some(rest.split_once(end)?.0.to_owned())).collect();
        names.sort();
        names
    };
    let mut names: Vec<_> = shipped().iter().map(|board| board.name().to_owned()).collect();
    names.sort();
    let text = file("boot-flow.md");
    let tables: Vec<_> = text.lines().filter(|line| line.ends_with(": regions -->")).collect();
    assert_eq!(after(&tables.join("\n"), "<!-- board ", ':'), names);
    let text = file("boards.py");
    let (_, boards) = text.split_once("\nBOARDS: dict[str, Board] = {\n").unwrap();
    let (boards, _) = boards.split_once("\n}\n").unwrap();
    assert_eq!(after(boards, "    \"", '"'), names);
}

#[test]
fn a_description_that_contradicts_itself_is_marked_where_it_does() {
    for (from, to, kind, expected, line) in [
        (
            "start = 0x8011_0000",
            "start = 0x800f_f800",
            Kind::Contradiction,
            "opensbi and handoff overlap",
            "start = 0x800f_f800",
        ),
        (
            "start = 0x10_1000",
            "start = 0x10_0800",
            Kind::Contradiction,
            "test and rtc overlap",
            "start = 0x10_0800",
        ),
        (
            "region = \"opensbi\"",
            "region = \"bootloader\"",
            Kind::Contradiction,
            "place opensbi",
            "region = \"bootloader\"",
        ),
        (
            "name = \"handoff\"",
            "name = \"log\"",
            Kind::Contradiction,
            "region log is given twice",
            "name = \"log\"",
        ),
        (
            "payload = \"loader\"",
            "payload = \"opensbi\"",
            Kind::Contradiction,
            "place opensbi is given twice",
            "payload = \"opensbi\"",
        ),
        (
            "size = \"4 KiB\"",
            "size = \"4 pages\"",
            Kind::Form,
            "a number and a unit, MiB, KiB or B",
            "size = \"4 pages\"",
        ),
        (
            "load_address = 0x8200_0000",
            "load_address = 0x8210_0000",
            Kind::Contradiction,
            "is not aligned",
            "load_address = 0x8210_0000",
        ),
        (
            "load_address = 0x8600_0000",
            "load_address = 0x8010_0000",
            Kind::Contradiction,
            "outside its region",
            "load_address = 0x8010_0000",
        ),
        (
            "alignment = \"2 MiB\"",
            "alignment = \"3 MiB\"",
            Kind::Contradiction,
            "not a power of two",
            "alignment = \"3 MiB\"",
        ),
        (
            "fixed = true",
            "fixed = true\nload_address = 1",
            Kind::Contradiction,
            "its address is fixed",
            "load_address = 1",
        ),
        (
            "fixed = true",
            "fixed = true\nalignment = \"1 MiB\"",
            Kind::Contradiction,
            "fixed or aligned",
            "alignment = \"1 MiB\"",
        ),
        (
            "load_address = 0x8600_0000",
            "",
            Kind::Contradiction,
            "needs a load address",
            "[[place]]",
        ),
        ("harts = 5", "harts = 9", Kind::Contradiction, "1 to 8 harts", "harts = 9"),
        (
            "to_end_of = \"ram\"",
            "size = \"1 MiB\"\nto_end_of = \"ram\"",
            Kind::Contradiction,
            "either size or",
            "size = \"1 MiB\"",
        ),
        (
            "to_end_of = \"ram\"",
            "to_end_of = \"sram\"",
            Kind::Contradiction,
            "no region sram",
            "name = \"system\"",
        ),
        (
            "size = \"1024 MiB\"",
            "size = \"0 MiB\"",
            Kind::Contradiction,
            "ram: is empty",
            "size = \"0 MiB\"",
        ),
        (
            "size = \"1024 MiB\"",
            "size = \"17592186044415 MiB\"",
            Kind::Contradiction,
            "end of the address space",
            "size = \"17592186044415 MiB\"",
        ),
        ("tree = \"system\"\n", "", Kind::Contradiction, "belong together", "name = \"rtc\""),
        ("harts = 5", "hearts = 5", Kind::Form, "unknown field", "hearts = 5"),
        ("harts = 5", "harts = \"five\"", Kind::Form, "invalid type", "harts = \"five\""),
        (
            "harts = 5",
            "harts = 5\nroot_of_trust = [\"rom\"]",
            Kind::Form,
            "expected a region of a root of trust",
            "root_of_trust = [\"rom\"]",
        ),
        ("harts = 5\n", "", Kind::Form, "missing field `harts`", "name = \"qemu-virt\""),
        (
            "clock = \"time\"",
            "clock = \"sundial\"",
            Kind::Form,
            "unknown variant",
            "clock = \"sundial\"",
        ),
        (
            "name = \"qemu-virt\"",
            "name = \"a/b\"",
            Kind::Contradiction,
            "name as a file",
            "name = \"a/b\"",
        ),
        ("soc = \"virt\"", "soc = \"\"", Kind::Contradiction, "1 to 32 printable", "soc = \"\""),
        (
            "soc = \"virt\"",
            "extends = \"qemu\"",
            Kind::Form,
            "no board qemu to extend",
            "extends = \"qemu\"",
        ),
        (
            "soc = \"virt\"",
            "extends = \"qemu-virt-iommu\"",
            Kind::Form,
            "extends another",
            "extends = \"qemu-virt-iommu\"",
        ),
        (
            "soc = \"virt\"",
            "extends = \"qemu-virt\"\nwithout = [\"spi\"]",
            Kind::Form,
            "there is no spi",
            "without = [\"spi\"]",
        ),
        (
            "soc = \"virt\"",
            "soc = \"virt\"\nwithout = [\"rtc\"]",
            Kind::Form,
            "extends another",
            "without = [\"rtc\"]",
        ),
        ("soc = \"virt\"", "soc = \"virt", Kind::Form, "invalid basic string", "soc = \"virt"),
    ] {
        let fault =
            changed("qemu-virt", from, to).err().unwrap_or_else(|| panic!("{to} was accepted"));
        let lines = fault.lines();
        assert!(fault.message.contains(expected), "{to}: {lines:?}");
        assert_eq!(fault.kind, kind, "{to}");
        assert!(lines[2].ends_with(&format!("| {line}")), "{to}: {lines:#?}");
        let caret = lines[3].find('^').unwrap();
        let column: usize = lines[0].rsplit(' ').next().unwrap().parse().unwrap();
        assert_eq!(caret - lines[3].find('|').unwrap() - 2, column - 1, "{to}: {lines:#?}");
    }
}

#[test]
fn what_a_board_does_not_say_is_as_on_the_one_that_it_extends() {
    let board = |text: &str| read(text, &shipped_text).unwrap();
    let plain = board("name = \"mine\"\nextends = \"qemu-virt\"\n");
    let base = &Boards::default();
    let base = &base.by_name("qemu-virt").unwrap().description;
    assert!(!plain.is_default() && plain.signing.is_some());
    let expected = Board { name: "mine".into(), signing: plain.signing.clone(), ..base.clone() };
    assert_eq!(plain, expected);
    let other = board(
        "name = \"mine\"\nextends = \"qemu-virt\"\nwithout = [\"rtc\"]\nharts = 2\n[forms]\ndma = \"iommu\"\n\
         [[region]]\nname = \"ram\"\nstart = 0x8000_0000\nsize = \"512 MiB\"\nabout = \"Half.\"\n",
    );
    assert_eq!((other.harts, other.device.len()), (2, base.device.len() - 1));
    assert_eq!((other.forms.dma, other.forms.clock), (Dma::Iommu, base.forms.clock));
    assert_eq!(other.end(other.region("system").unwrap()), Ok(0xa000_0000));
    // A contradiction between the two boards is reported at a key of the description that the user can
    // change.
    let fault = read(
        "name = \"mine\"\nextends = \"qemu-virt\"\n[[region]]\nname = \"new\"\nstart = 0x8010_f000\n\
         size = \"8 KiB\"\nabout = \"In two.\"\n",
        &shipped_text,
    )
    .unwrap_err();
    assert_eq!(fault.lines()[0], "line 5, column 9");
}

#[test]
fn a_file_is_known_by_its_path_and_its_name_stays_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let mut boards = Boards::default();
    let text = shipped_text("qemu-virt").unwrap();
    // Adding a known board again with the same description is accepted.
    boards.add(&write("same.toml", &text)).unwrap();
    let smaller = text.replace("1024 MiB", "512 MiB");
    let error = boards.add(&write("taken.toml", &smaller)).unwrap_err();
    assert!(matches!(&error, Error::Wrong { fault, .. } if fault.kind == Kind::Taken), "{error}");
    let mine = write("mine.toml", &smaller.replacen("\"qemu-virt\"", "\"mine\"", 1));
    assert_eq!(boards.add(&mine).unwrap().file(), Some(mine.as_path()));
    let known = boards.by_name("mine").unwrap();
    assert_eq!(known.load_address(PayloadType::Kernel), Some(0x8200_0000));
    assert_eq!(known.least_memory(PayloadType::Opensbi), Some(0x8_0000));
    assert_eq!(boards.maps().len(), shipped().len() + 2);
    for (name, bytes) in
        [("latin.toml", b"name = \"\xe9\"".as_slice()), ("bell.toml", b"a = \"\x07\"")]
    {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = boards.add(&path).unwrap_err();
        assert!(
            matches!(&error, Error::Wrong { fault, .. } if fault.kind == Kind::Form),
            "{error}"
        );
    }
    assert!(matches!(boards.add(Path::new("/does/not/exist.toml")), Err(Error::File(_))));
    assert!(is_file("mine.toml") && is_file("./mine") && !is_file("qemu-virt"));
}
