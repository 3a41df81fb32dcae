use super::*;
use hartlock_boards::model::Board;
use xtask::project::root;

const QEMU_VIRT: &str = "device/boards/qemu-virt/board.toml";

fn description() -> String {
    fs::read_to_string(root().join(QEMU_VIRT)).unwrap()
}

/// Reads the description of a real board after replacing the first occurrence of `from` by `to`.
fn changed(from: &str, to: &str) -> Result<Board> {
    let text = description();
    assert!(text.contains(from), "{from}");
    Ok(hartlock_boards::read(&text.replacen(from, to, 1), &|_| None)?)
}

#[test]
fn what_is_committed_is_what_the_descriptions_make() {
    for Output { path, content } in outputs(&root()).unwrap() {
        let committed = fs::read_to_string(root().join(&path)).unwrap_or_default();
        assert!(committed == content, "{} is out of date", path.display());
    }
}

#[test]
fn a_change_of_an_address_reaches_every_kind_of_file() {
    let boards = [changed("start = 0x8020_0000", "start = 0x8022_0000").unwrap()];
    let map = rust::map(&boards[0]).unwrap();
    assert!(map.contains("pub const LOADER: Region = Region::new(0x8022_0000, 2 * MIB);"));
    let memory = firmware::linker_memory(&boards[0], &boards[0]).unwrap();
    assert!(memory.contains("LOADER (rwx) : ORIGIN = 0x80220000, LENGTH = 0x200000"), "{memory}");
    let text = "<!-- board qemu-virt: places -->\n<!-- end of places -->";
    let table = spec::with_tables(text, &boards).unwrap();
    assert!(table.contains("| loader | 0x8022_0000, 2 MiB |"), "{table}");

    let boards = [changed("start = 0x1000_0000", "start = 0x1003_0000").unwrap()];
    let constants = firmware::constants(&boards[0], &boards[0]).unwrap();
    assert!(constants.contains("pub const UART: usize = 0x1003_0000;"), "{constants}");
    let fragments = tree::fragments(&boards[0]).unwrap();
    let has_node = |(_, content): &(_, String)| content.contains("uart0: serial@10030000 {");
    assert!(fragments.iter().any(has_node));
}

#[test]
fn refuses_a_closed_region_that_memory_protection_cannot_express() {
    let board =
        changed("start = 0x8010_0000\nsize = \"64 KiB\"", "start = 0x8010_0000\nsize = \"48 KiB\"");
    let error = format!("{:#}", tree::fragments(&board.unwrap()).unwrap_err());
    assert!(error.contains("rom-ram: memory protection"), "{error}");
}
