use super::area::{HASH, LANE, Netlist, WHOLE};
use super::cycles::{EngineConfig, POINTS, VerificationSample};
use super::*;
use hartlock_hw::ip::Count;
use hartlock_results::run::Run;
use hartlock_results::run::Status;

fn value(paper: &Paper, table: &str, metric: &str, config: &str) -> f64 {
    let number = paper.number(table, metric, config);
    number.unwrap_or_else(|| panic!("no {table}, {metric}, {config}")).value
}

fn erratum(paper: &Paper, table: &str, metric: &str, config: &str) -> Option<String> {
    paper.number(table, metric, config).and_then(|it| it.erratum.clone())
}

#[test]
fn a_whole_is_its_parts_but_for_eight_instances() {
    let paper = Paper::load(KEY).unwrap();
    let time = |config: &str| value(&paper, "Table I", "time", config);
    let rest = time("LTREE (without sha256)") + time("MERKLEROOT (without sha256)");
    for count in [1, 2, 4, 8] {
        let instances = EngineConfig::new(count, 1).instances();
        let sum = time(&format!("chains, {instances}")) + rest;
        let whole = format!("whole, {instances}");
        // The whole takes only a few cycles more than the sum of its parts.
        let is_wrong = !(0.0..12.0).contains(&(time(&whole) - sum));
        let erratum = erratum(&paper, "Table I", "time", &whole);
        assert_eq!(is_wrong, erratum.is_some(), "{instances}");
        assert!(erratum.is_none_or(|why| why.ends_with(&format!("= {sum}"))));
    }
}

#[test]
fn errata_are_what_the_paper_itself_rules_out() {
    let paper = Paper::load(KEY).unwrap();
    let (one, eight) = ("whole, 1 instance", "whole, 8 instances");
    // The largest engine has the fewest cycles.
    for (end, whole, of_area) in [("from", eight, one), ("to", one, eight)] {
        let config = format!("{end}, XMSS (this work)");
        let time = value(&paper, "Table I", "time", whole);
        let ratio = value(&paper, "Table II", "time", &config) / time;
        assert!((9.5..10.5).contains(&ratio), "{ratio}");
        assert!(
            erratum(&paper, "Table II", "time", &config)
                .unwrap()
                .contains(&format!("{time} cycles"))
        );
        // The areas are those of table I, in thousands.
        for metric in ["LUTs", "FFs"] {
            let off = value(&paper, "Table II", metric, &config)
                - value(&paper, "Table I", metric, of_area);
            assert!(off.abs() < 1000.0 && erratum(&paper, "Table II", metric, &config).is_none());
        }
    }
    let hash = value(&paper, "Table I", "time", "sha256");
    let calls = value(&paper, "Table I", "time", "LTREE (without sha256)") / (66.0 * hash);
    let after = value(&paper, "Section III-A", "hash calls", "thash_h, after");
    assert!(calls > after + 3.0);
    let why = erratum(&paper, "Section III-A", "hash calls", "thash_h, after").unwrap();
    assert!(why.ends_with(&format!("are {calls:.2} calls a node")), "{why}");
}

#[test]
fn comparisons_with_ecdsa_are_those_of_table_1_but_for_one() {
    let paper = Paper::load(KEY).unwrap();
    let table = "Section IV, XMSS beside ECDSA";
    let cycles = value(&paper, "Section IV, ECDSA", "time", "ECDSA in hardware");
    for (count, is_wrong) in [(8, false), (4, false), (2, false), (1, true)] {
        let instances = EngineConfig::new(count, 1).instances();
        let time = value(&paper, "Table I", "time", &format!("whole, {instances}"));
        // The text says "about" these numbers; 13.7 is printed as 13.
        assert!((time / cycles - value(&paper, table, "time", &instances)).abs() < 0.8);
        let Some(printed) = paper.number(table, "time at 100 MHz", &instances) else { continue };
        let milliseconds = time / paper.constant("clock_mhz").unwrap() / 1000.0;
        assert_eq!((milliseconds - printed.value).abs() > 0.05, is_wrong, "{milliseconds}");
        assert_eq!(printed.erratum.is_some(), is_wrong);
    }
}

/// Returns invented verifications and netlists of all points.
fn invented() -> (VerificationSamples, area::Netlists) {
    let sample = |point: EngineConfig, seed: u64| VerificationSample {
        point,
        height: if seed > 2 { 20 } else { 10 },
        passes: 1,
        seed,
        steps: 500 + seed as u32,
        cycles: 20_000 + 136 * seed,
    };
    let samples = POINTS.iter().flat_map(|point| (1..4).map(|seed| sample(*point, seed))).collect();
    let netlist = |top: &str, lanes, rounds| Netlist {
        top: top.to_owned(),
        lanes,
        rounds,
        count: Count { luts: 100, flip_flops: 50, ..Count::default() },
        megahertz: None,
    };
    let mut netlists: Vec<Netlist> =
        POINTS.iter().map(|point| netlist(WHOLE, point.lanes, point.rounds)).collect();
    for rounds in [1, 2] {
        netlists.extend([netlist(HASH, 0, rounds), netlist(LANE, 0, rounds)]);
    }
    netlists.extend([netlist(area::MESSAGE, 0, 0), netlist(area::SCHEDULE, 0, 0)]);
    (VerificationSamples(samples), area::Netlists(netlists))
}

#[test]
fn a_whole_run_has_every_number_or_says_why_not() {
    let paper = Paper::load(KEY).unwrap();
    let (samples, netlists) = invented();
    let mut rows = table1::rows(&paper, &samples, &netlists).unwrap();
    rows.extend(table1::calls(&paper, &samples).unwrap());
    rows.extend(section4::rows(&paper, &samples, &netlists).unwrap());
    let find = |table: &str, metric: &str, config: &str| {
        let is_it = |row: &&Row| row.table == table && row.metric == metric && row.config == config;
        rows.iter().find(is_it).unwrap_or_else(|| panic!("no {metric}, {config}"))
    };
    // A lane does not contain its hash core, so both are counted, once for each chain.
    assert_eq!(find("Table I", "LUTs", "BUILD_WOTSCHAIN").ours, Some(200.0));
    assert_eq!(find("Table I", "LUTs", "chains, 8 instances").ours, Some(1600.0));
    let eight = find("Table I", "time", "whole, 8 instances");
    assert_eq!((eight.target, eight.status), (Some(12_000.0), Status::Miss));
    assert!(eight.erratum.is_some());
    assert_eq!(find("Table I, 1 round a cycle", "LUTs", "whole, 1 instance").status, Status::Hit);
    assert_eq!(
        find("Section IV, co-designs", "area", "Murax with accelerators (Cyclone V ALMs)").ratio,
        None
    );
    // The slope equals that of the invented cycles.
    assert_eq!(find("Section III-A", "hash calls", "thash_f, after").ours, Some(4.0));
    let rows = missing(paper.completed(rows, NOTHING));
    let unsaid =
        |row: &&Row| row.note.as_deref().is_some_and(|note| note.starts_with("only a whole run"));
    let unsaid: Vec<&str> = rows.iter().filter(unsaid).map(|row| row.config.as_str()).collect();
    assert_eq!(unsaid, [""; 0]);
}

#[test]
fn a_sequencer_is_judged_with_its_engine_and_the_unit_around_it_is_not() {
    let paper = Paper::load(KEY).unwrap();
    let (samples, mut netlists) = invented();
    for (top, luts) in [("boot_verifier_engine", 30), ("boot_verifier_driver", 2000)] {
        let count = Count { luts, ..Count::default() };
        let top = top.to_owned();
        netlists.0.push(Netlist { top, lanes: 0, rounds: 0, count, megahertz: None });
    }
    let rows = |netlists: &area::Netlists| table1::rows(&paper, &samples, netlists).unwrap();
    let find = |rows: &[Row], metric: &str| {
        let config = EngineConfig::new(1, 1).name();
        let row = rows.iter().find(|row| row.metric == metric && row.config == config)?;
        Some((row.ours, row.status))
    };
    assert_eq!(find(&rows(&netlists), "LUTs with its sequencer"), None);
    let count = Count { luts: 5000, ..Count::default() };
    let top = "boot_verifier".to_owned();
    netlists.0.push(Netlist { top, lanes: 0, rounds: 0, count, megahertz: None });
    let rows = rows(&netlists);
    assert_eq!(find(&rows, "LUTs with its sequencer"), Some((Some(2130.0), Status::Hit)));
    let whole = find(&rows, "LUTs with the unit that needs no core");
    assert_eq!(whole, Some((Some(7130.0), Status::Info)));
}

#[test]
fn a_run_without_netlists_leaves_their_rows_without_numbers() {
    let paper = Paper::load(KEY).unwrap();
    let (samples, _) = invented();
    let rows = table1::rows(&paper, &samples, &area::Netlists::default()).unwrap();
    assert!(rows.iter().all(|row| !["LUTs", "FFs"].contains(&row.metric.as_str())));
    let rows = missing(paper.completed(rows, NOTHING));
    let whole = rows.iter().find(|row| row.metric == "LUTs" && row.config == "whole, 4 instances");
    assert_eq!(whole.and_then(|row| row.note.as_deref()), Some("only a whole run measures it"));
}

/// If sources have changed, the run is outdated and says so itself.
#[test]
fn the_stored_run_has_the_count_of_the_record() {
    let root = project::root();
    let path = root.join("lab/runs/latest").join(KEY).with_extension("json");
    if !path.exists() {
        return;
    }
    let run = Run::read(&path).unwrap();
    if run.stale(&root, KEY).unwrap().is_some() {
        return;
    }
    let recorded = area::recorded(&MeasuredEngine::load(ENGINE).unwrap());
    assert!(!recorded.0.is_empty());
    for Netlist { lanes, rounds, count, .. } in recorded.0 {
        let config = EngineConfig::new(lanes, rounds).name();
        let stored = run.row("Engine", "CARRY4", &config).and_then(|row| row.ours);
        assert_eq!(stored, Some(f64::from(count.carries)), "{config}");
    }
}
