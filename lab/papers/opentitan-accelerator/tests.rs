use super::*;
use hartlock_results::run::Status;

fn value(paper: &Paper, table: &str, metric: &str, config: &str) -> f64 {
    let number = paper.number(table, metric, config);
    number.map_or(0.0, |it| it.value)
}

/// Recomputes the sums, quotients and products that the paper prints.
#[test]
fn the_papers_arithmetic_holds_but_for_rounding() {
    let paper = Paper::load(KEY).unwrap();
    let of = |metric: &str, opcode: &str, config: &str| {
        value(&paper, "Table 4", metric, &format!("{opcode}, {config}"))
    };
    for (function, purposes) in [
        ("SHA-256", ["Config", "Digest", "Wait", "Final"].as_slice()),
        ("HMAC", &["Config", "Digest", "Wait", "Final"]),
        ("AES-256", &["Config", "Cipher", "Wait"]),
    ] {
        let opcodes = ["ALU", "CTL", "Memory-RoT", "Memory-RAM"];
        for (metric, slack) in [("instructions", 0.0), ("cycles", 0.0201)] {
            for purpose in purposes {
                let config = format!("{function}, {purpose}");
                let sum: f64 = opcodes.iter().map(|opcode| of(metric, opcode, &config)).sum();
                assert!((sum - of(metric, "all", &config)).abs() <= slack, "{metric}, {config}");
            }
            for opcode in opcodes {
                let part = |purpose: &&str| of(metric, opcode, &format!("{function}, {purpose}"));
                let sum: f64 = purposes.iter().map(part).sum();
                let all = of(metric, opcode, &format!("{function}, all"));
                assert!((sum - all).abs() <= slack, "{metric}, {opcode}, {function}");
            }
        }
        let cycles = value(&paper, "Table 4, cycles", "cycles", function);
        let config = format!("RAM, {function}, 4096 bytes");
        let cost = value(&paper, "Figure 2", "cost", &config);
        let bytes = paper.constant("payload_bytes").unwrap();
        assert!((cycles / bytes - cost).abs() <= 0.005, "{function}");
    }
}

#[test]
fn table_3_follows_from_table_2_and_bandwidth_from_the_engine() {
    let paper = Paper::load(KEY).unwrap();
    let least = |memory: &str| value(&paper, "Table 2", "least", memory);
    for (engine, memory, block) in
        [("HMAC", "RoT", 64.0), ("HMAC", "RAM", 64.0), ("AES", "RoT", 16.0), ("AES", "RAM", 16.0)]
    {
        let accesses = |what: &str| {
            value(&paper, "Table 3", "accesses", &format!("{engine}, {memory}, {what}"))
        };
        let cost = |what: &str| {
            value(&paper, "Table 3, costs", "cost", &format!("{engine}, {memory}, {what}"))
        };
        let both = |of: &str| accesses(&format!("{of} reads")) + accesses(&format!("{of} writes"));
        assert_eq!(both("engine") * least("RoT"), cost("engine"), "{engine}, {memory}");
        assert_eq!(both(memory) * least(memory), cost(memory), "{engine}, {memory}");
        assert_eq!(cost("engine") + cost(memory), cost("total"), "{engine}, {memory}");
        let config = format!("{engine}, {memory}");
        let bandwidth = value(&paper, "Table 3, bandwidth", "bandwidth", &config);
        assert_eq!(bandwidth, cost("total") / block, "{config}");
    }
    for (used, function, memory, (cycles, bytes)) in [
        ("SHA-256 and HMAC", "SHA-256", "RAM", ("hmac_block_cycles", 64.0)),
        ("SHA-256 and HMAC", "SHA-256", "RoT", ("hmac_block_cycles", 64.0)),
        ("AES-256", "AES-256", "RAM", ("aes_block_cycles", 16.0)),
        ("AES-256", "AES-256", "RoT", ("aes_block_cycles", 16.0)),
    ] {
        let engine = paper.constant(cycles).unwrap() / bytes;
        let cost = value(&paper, "Figure 2", "cost", &format!("{memory}, {function}, 4096 bytes"));
        let metric = "used of the engine's bandwidth";
        let percent = value(&paper, "Section 4.2, bandwidth", metric, &format!("{used}, {memory}"));
        assert_eq!((100.0 * engine / cost).round(), percent, "{function}, {memory}");
    }
}

#[test]
fn the_shares_of_the_text_are_those_of_table_4() {
    let paper = Paper::load(KEY).unwrap();
    let share = |opcode: &str, config: &str| {
        value(&paper, "Table 4", "cycles", &format!("{opcode}, {config}"))
    };
    let of_text = |what: &str| value(&paper, "Section 4.2, shares", "share of all cycles", what);
    let functions = ["SHA-256", "HMAC", "AES-256"];
    let least =
        |of: &dyn Fn(&str) -> f64| functions.map(of).into_iter().fold(f64::INFINITY, f64::min);
    let ram = |function: &str| share("Memory-RAM", &format!("{function}, all"));
    let memory = |function: &str| ram(function) + share("Memory-RoT", &format!("{function}, all"));
    assert!((least(&memory) - of_text("accesses to memory, least")).abs() < 0.005);
    // The text says "over" this number.
    let over = least(&ram) - of_text("accesses to RAM, least");
    assert!((0.0..1.0).contains(&over));
    let wait = functions.map(|it| share("all", &format!("{it}, Wait")));
    assert_eq!(wait.into_iter().fold(0.0, f64::max), of_text("Wait, most"));
}

#[test]
fn the_labels_are_those_of_table_1() {
    let paper = Paper::load(KEY).unwrap();
    let of = |kind: &str| -> Vec<&str> {
        let labels = paper.labels.iter().filter(|label| label.kind == kind);
        labels.map(|label| label.name.as_str()).collect()
    };
    assert_eq!(of("opcode"), Opcode::ALL.map(Opcode::name));
    assert_eq!(of("HMAC"), Purpose::OF_HASHES.map(Purpose::name));
    assert_eq!(of("AES"), Purpose::OF_AES.map(Purpose::name));
    assert!(paper.labels.iter().all(|label| !label.meaning.is_empty()));
}

#[test]
fn errata_are_what_the_paper_itself_rules_out() {
    let paper = Paper::load(KEY).unwrap();
    let most = paper.number("Table 2", "most", "RAM").unwrap();
    assert!(most.value.fract() != 0.0 && most.erratum.is_some());
    let least = paper.number("Abstract", "speed-up", "least").unwrap();
    let functions = ["SHA-256", "HMAC", "AES-256", "RSA-512", "RSA-1024"];
    let speed_ups = functions.map(|it| value(&paper, "Section 4.2", "speed-up over CVA6", it));
    assert!(speed_ups.iter().any(|it| *it < least.value) && least.erratum.is_some());
    assert_eq!(
        speed_ups.iter().copied().fold(0.0, f64::max),
        value(&paper, "Abstract", "speed-up", "most")
    );
}

#[test]
fn the_extremes_are_of_the_speed_ups_that_the_paper_has() {
    let paper = Paper::load(KEY).unwrap();
    let row = |config: &str, ours| {
        Row::info("Section 4.2", "speed-up over CVA6", "times", ours).of(config)
    };
    let speed_ups = [
        row("SHA-256", 11.0),
        row("SHA-256, our kernel", 3.0),
        row("AES-256", 13.0),
        row("RSA-1024", 20.0),
    ];
    let rows = extreme_rows(&speed_ups, &paper);
    let found: Vec<_> = rows.iter().map(|row| (&*row.config, row.ours)).collect();
    assert_eq!(found, [("least", Some(11.0)), ("most", Some(20.0))]);
    assert!(extreme_rows(&[], &paper).is_empty());
}

#[test]
fn what_is_reproduced_is_judged_in_both_directions() {
    let row = |ours| Row::info("Table 2", "average", "cycles", ours).of("RoT").with_published(5.7);
    for (ours, status) in
        [(5.7, Status::Hit), (6.5, Status::Hit), (6.6, Status::Miss), (4.8, Status::Miss)]
    {
        let rows = with_distances(vec![row(ours), Row::info("Table 2", "least", "cycles", 5.0)]);
        assert_eq!((rows.len(), rows[0].status), (3, status), "{ours}");
    }
}
