use super::super::run::Status;
use super::*;

const SMALL: &str = r#"
key = "small"
title = "No author: Nothing"
[constants]
clock_mhz = 1200
[[table]]
name = "Table I"
columns = [{ metric = "hash", unit = "ms" }, { of = "on all harts", metric = "hash", unit = "ms" }]
rows = [["kernel", 8, 2.0], ["fdt", 1.5, "-"]]
[[erratum]]
table = "Table I"
metric = "hash"
config = "fdt"
why = "it takes longer"
"#;

#[test]
fn a_cell_is_found_by_table_metric_and_configuration() {
    let paper = Paper::parse(SMALL).unwrap();
    let value = |config| paper.number("Table I", "hash", config).map(|it| it.value);
    assert_eq!(value("kernel"), Some(8.0));
    assert_eq!(value("on all harts, kernel"), Some(2.0));
    assert_eq!(value("on all harts, fdt"), None, "the paper has none");
    assert_eq!(paper.constant("clock_mhz").unwrap(), 1200.0);
    assert!(paper.constant("voltage").is_err());
}

#[test]
fn a_row_stands_beside_its_number_or_is_an_error() {
    let paper = Paper::parse(SMALL).unwrap();
    let row = |config, unit| Row::info("Table I", "hash", unit, 2.0).of(config).published(&paper);
    let kernel = row("kernel", "ms").unwrap();
    assert_eq!((kernel.published, kernel.ratio, &kernel.erratum), (Some(8.0), Some(0.25), &None));
    assert_eq!(row("fdt", "ms").unwrap().erratum.as_deref(), Some("it takes longer"));
    let wrong = row("initramfs", "ms").unwrap_err().to_string();
    assert_eq!(wrong, "small has no Table I, hash, initramfs");
    let wrong = row("kernel", "s").unwrap_err().to_string();
    assert_eq!(wrong, "Table I, hash, kernel is in ms, not in s");

    let rows = vec![
        Row::info("Overlap", "load only", "cycles/byte", 9.0),
        row("fdt", "ms").unwrap(),
        Row::info("Table I", "hash, of ours alone", "ms", 1.0),
        Row { ours: None, ..kernel },
    ];
    assert_eq!(paper.unused(&rows, "not measured").len(), 1);
    let rows = paper.completed(rows, "not measured");
    let configs: Vec<&str> = rows.iter().map(|row| row.config.as_str()).collect();
    assert_eq!(configs, ["", "kernel", "on all harts, kernel", "fdt", ""]);
    let absent = &rows[2];
    assert_eq!((absent.ours, absent.published, absent.ratio), (None, Some(2.0), None));
    assert_eq!((absent.note.as_deref(), absent.status), (Some("not measured"), Status::Info));
    assert!(paper.unused(&[], "not measured")[2].erratum.is_some());
}

#[test]
fn a_file_with_a_slip_is_refused() {
    for (from, to) in [
        (r#"["fdt", 1.5, "-"]"#, r#"["fdt", 1.5]"#),
        (r#"["fdt", 1.5, "-"]"#, r#"["fdt", 1.5, "2"]"#),
        (r#"["fdt", 1.5, "-"]"#, r#"["kernel", 1.5, "-"]"#),
        (r#"["fdt", 1.5, "-"]"#, r#"[1, 1.5, "-"]"#),
        (r#"config = "fdt""#, r#"config = "kernel, fdt""#),
        (r#"unit = "ms" },"#, r#"unit = "ms", harts = 4 },"#),
    ] {
        assert!(SMALL.contains(from) && Paper::parse(&SMALL.replace(from, to)).is_err(), "{to}");
    }
}

#[test]
fn every_paper_can_be_read() {
    for entry in fs::read_dir(project::root().join("lab/papers")).unwrap() {
        let name = entry.unwrap().file_name();
        Paper::load(name.to_str().unwrap()).unwrap();
    }
}

/// Interval of the values that are rounded to a printed number.
#[derive(Clone, Copy)]
struct Range(f64, f64);

impl Range {
    /// Returns the interval of a number. The paper prints four significant digits, and two decimals
    /// of a speed-up.
    fn of(number: &Published) -> Self {
        let digits_in_front = number.value.log10().floor() as i32;
        let last = if number.unit == "times" { -2 } else { digits_in_front - 3 };
        let half = 10_f64.powi(last) / 2.0;
        Self(number.value - half, number.value + half)
    }

    fn sum(ranges: &[Self]) -> Self {
        let sum = |end: fn(&Self) -> f64| ranges.iter().map(end).sum();
        Self(sum(|it| it.0), sum(|it| it.1))
    }

    fn divided_by(self, other: Self) -> Self {
        Self(self.0 / other.1, self.1 / other.0)
    }

    fn times(self, factor: f64) -> Self {
        Self(self.0 * factor, self.1 * factor)
    }

    fn meets(self, other: Self) -> bool {
        self.0 <= other.1 && other.0 <= self.1
    }
}

/// Recomputes all numbers in the first paper that follow from other numbers of it. Returns the
/// number, its interval, and the result that is computed from the printed numbers.
fn computed(paper: &Paper) -> Vec<(&Published, Range, f64)> {
    let get = |table: &str, metric: &str, config: &str| {
        paper.number(table, metric, config).unwrap_or_else(|| panic!("{table} {metric} {config}"))
    };
    let mut all = Vec::new();
    let sum = |of: &[&Published]| {
        let ranges: Vec<Range> = of.iter().map(|it| Range::of(it)).collect();
        (Range::sum(&ranges), of.iter().map(|it| it.value).sum::<f64>())
    };
    let quotient = |one: &Published, other: &Published, factor: f64| {
        let range = Range::of(one).divided_by(Range::of(other)).times(factor);
        (range, one.value / other.value * factor)
    };
    let mut add = |number, (range, value)| all.push((number, range, value));
    for (stages, details, large) in
        [("Table I", "Table II", "hash"), ("Table VI", "Table VII", "hash, parallel")]
    {
        let verification = |config| get(stages, "verification", config);
        let total = |config| get(stages, "stage total", config);
        let parts = |configs: [(&str, &str); 3]| {
            let parts = configs.map(|(hash, config)| {
                [get(details, hash, config), get(details, "signature", config)]
            });
            sum(parts.as_flattened())
        };
        let (spl, proper) = ("U-Boot SPL", "U-Boot Proper");
        add(
            verification(spl),
            parts([("hash", "OpenSBI"), ("hash", "U-Boot"), ("hash", "FDT of SPL")]),
        );
        add(
            verification(proper),
            parts([(large, "initramfs"), (large, "kernel"), ("hash", "FDT of Proper")]),
        );
        add(verification("total"), sum(&[verification(spl), verification(proper)]));
        add(total("total"), sum(&[total(spl), total("OpenSBI"), total(proper)]));
        for config in [spl, proper, "total"] {
            let share = get(stages, "share of verification", config);
            add(share, quotient(verification(config), total(config), 100.0));
        }
    }
    for image in ["initramfs", "kernel"] {
        let blocks = format!("{image}, blocks of 80 KiB");
        let one = get("Table V", "sequential", &format!("{image}, one hash"));
        let four = get("Table V", "parallel, 4 harts", &blocks);
        add(get("Section VII-A", "speed-up", &blocks), quotient(one, four, 1.0));
        let one = get("Table II", "hash", image);
        let four = get("Table VII", "hash, parallel", image);
        let speed_up = get("Section VII-B", "speed-up", &format!("{image} hash"));
        add(speed_up, quotient(one, four, 1.0));
    }
    for (config, metric) in [("verification", "verification"), ("boot", "stage total")] {
        let (one, four) = (get("Table I", metric, "total"), get("Table VI", metric, "total"));
        add(get("Section VII-B", "speed-up", config), quotient(one, four, 1.0));
    }
    all
}

#[test]
fn an_erratum_is_what_rounding_cannot_explain() {
    let paper = Paper::load("parallel-verification").unwrap();
    assert_eq!(paper.numbers.len(), 104);
    let computed = computed(&paper);
    assert_eq!(computed.len(), 20);
    let (mut contradicted, mut rounded) = (Vec::new(), Vec::new());
    for (number, range, value) in computed {
        let own = Range::of(number);
        if !own.meets(range) {
            contradicted.push(number.clone());
        } else if !own.meets(Range(value, value)) {
            rounded.push((number.table.as_str(), number.value));
        }
    }
    let has_erratum = |it: &&Published| it.erratum.is_some();
    let errata: Vec<Published> = paper.numbers.iter().filter(has_erratum).cloned().collect();
    assert_eq!(contradicted, errata);
    assert_eq!(
        rounded,
        [
            ("Table I", 9888.0),
            ("Table I", 42.14),
            ("Table I", 67.81),
            ("Table I", 58.44),
            ("Table VI", 42.52),
        ],
        "what the comments of the file say about rounding"
    );
}
