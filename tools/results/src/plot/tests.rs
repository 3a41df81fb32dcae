use serde_json::{Value, json};

use super::*;

/// Table, metric, configuration, published number and this project's number of a row.
type Cells = (&'static str, &'static str, &'static str, Option<f64>, Option<f64>);

fn run(rows: &[Cells]) -> Run {
    let rows: Vec<Value> = rows
        .iter()
        .map(|(table, metric, config, published, ours)| {
            json!({ "table": table, "metric": metric, "config": config, "unit": "ms",
                "published": published, "ours": ours })
        })
        .collect();
    serde_json::from_value(json!({ "rows": rows })).unwrap()
}

fn blocks_run() -> Run {
    run(&[
        (BLOCKS, SEQUENTIAL, ONE_HASH, Some(3503.0), Some(3000.0)),
        (BLOCKS, SEQUENTIAL, "initramfs, blocks of 80 KiB", Some(3500.0), Some(3002.0)),
        (BLOCKS, PARALLEL, "initramfs, blocks of 80 KiB", Some(885.0), Some(760.5)),
        (BLOCKS, SEQUENTIAL, "initramfs, blocks of 1 KiB", Some(4335.0), None),
        (BLOCKS, PARALLEL, "kernel, blocks of 1 KiB", Some(374.1), Some(300.0)),
    ])
}

fn overlap_run() -> Run {
    let at = "storage at 0.5 of the hash rate";
    run(&[
        (OVERLAP, LOAD_ONLY, at, None, Some(20.0)),
        (OVERLAP, LOAD_THEN_VERIFY, at, None, Some(30.0)),
        (OVERLAP, LOAD_WHILE_VERIFYING, at, None, Some(20.5)),
    ])
}

/// A run with the rows of one comparison: table, metric and configuration of a kind and a group.
fn comparison_run(of: &Comparison, row: impl Fn(&str, &str) -> [String; 3]) -> Run {
    let cells: Vec<[String; 3]> = of
        .groups
        .iter()
        .flat_map(|(_, config)| of.kinds.iter().map(|(kind, _)| row(&kind.to_lowercase(), config)))
        .collect();
    let cell = |[table, metric, config]: &'static [String; 3]| {
        (table.as_str(), metric.as_str(), config.as_str(), None, Some(2e5))
    };
    run(&cells.leak().iter().map(cell).collect::<Vec<Cells>>())
}

fn comparison_runs() -> [Run; 4] {
    let first_stage = comparison_run(&FIRST_STAGE_BARS, |kind, way| {
        let kinds = ["WalnutDSA, sum", "Ed25519, sum", "ML-DSA-65, sum"];
        let sum = kinds.into_iter().find(|sum| kind.starts_with(&sum.to_lowercase()[..5])).unwrap();
        [FIRST_STAGE, sum, way].map(str::to_owned)
    });
    let short_message = comparison_run(&SHORT_MESSAGE_BARS, |who, hart| {
        let config = format!("{who}, {hart}, with key schedule");
        [SHORT_MESSAGE, "message of 1 KiB", &config].map(str::to_owned)
    });
    let walnut = comparison_run(&WALNUT_BARS, |level, kernel| {
        [WALNUT, "E-multiplication", &format!("{level}, {kernel}")].map(str::to_owned)
    });
    let models = comparison_run(&MODEL_BARS, |who, metric| {
        let table = if who == "openssl" { MODELS_OF_OPENSSL } else { MODELS };
        [table, metric, MODEL_OF_PLOT].map(str::to_owned)
    });
    [first_stage, short_message, walnut, models]
}

#[test]
fn a_plot_is_one_element_that_takes_its_colours_from_the_page() {
    let others = comparison_runs().map(|run| (run, 0));
    for (run, lines) in [(blocks_run(), 6), (overlap_run(), 0)].into_iter().chain(others) {
        let [plot] = &plots("any", &run, None).unwrap()[..] else { panic!("one plot") };
        let svg = roxmltree::Document::parse(&plot.svg).unwrap();
        for element in svg.descendants() {
            for name in ["fill", "stroke"] {
                let color = element.attribute(name).unwrap_or("none");
                assert_eq!(color, "none", "{element:?}");
            }
        }
        let dashed = plot.svg.matches("stroke-dasharray").count();
        // The dashed elements are two lines of one hart, two lines of one hash, and two samples in
        // the legend.
        assert_eq!(dashed, lines, "{}", plot.svg);
        assert!(!plot.svg.contains("\n\n"), "Markdown would end it there");
        for name in ["title", "desc"] {
            assert!(svg.descendants().any(|it| it.has_tag_name(name) && it.text().is_some()));
        }
        let names = svg.root_element().attribute("aria-labelledby").unwrap();
        for id in names.split(' ') {
            assert!(svg.descendants().any(|it| it.attribute("id") == Some(id)), "{id}");
        }
    }
}

#[test]
fn what_was_not_measured_is_not_drawn() {
    assert!(
        plots("any", &run(&[("speed", "sign", "", None, Some(1.0))]), None).unwrap().is_empty()
    );
    let none = run(&[(BLOCKS, SEQUENTIAL, "initramfs, blocks of 1 KiB", None, None)]);
    assert!(plots("any", &none, None).unwrap().is_empty());
    let plots = plots("any", &blocks_run(), None).unwrap();
    assert!(plots[0].svg.contains("ours, 1 hart: 3002 ms with blocks of 80 KiB, 3002 ms"));
    assert!(!plots[0].svg.contains("374.1"), "the kernel has no line");
    for mut run in comparison_runs() {
        run.rows.pop();
        assert!(super::plots("any", &run, None).unwrap().is_empty());
    }
}

#[test]
fn the_rows_of_the_plot_are_those_of_the_paper() {
    let paper = Paper::load("parallel-verification").unwrap();
    for metric in [SEQUENTIAL, PARALLEL] {
        assert!(paper.number(BLOCKS, metric, &format!("{IMAGE}blocks of 80 KiB")).is_some());
    }
    assert!(paper.number(BLOCKS, SEQUENTIAL, ONE_HASH).is_some());
    assert!(conditions(&paper).unwrap().contains("97 MiB; times at 1200 MHz"));
}

#[test]
fn reads_are_lines_over_the_latency() {
    let run = run(&[
        (LATENCY, "used", "60 cycles, 1 read", None, Some(50.0)),
        (LATENCY, "used", "13 cycles, 1 read", None, Some(90.0)),
        (LATENCY, "used", "60 cycles, 8 reads", None, Some(98.0)),
        (LATENCY, "used", "13 cycles, 8 reads", None, Some(98.5)),
    ]);
    let plot = latency("any", &run).unwrap().unwrap();
    let document = roxmltree::Document::parse(&plot.svg).unwrap();
    let texts: Vec<_> =
        document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
    assert!(["16", "32"].iter().all(|label| texts.contains(label)), "{texts:?}");
    // Marks between powers of two have no label, for example 2^4.5 ≈ 22.6.
    assert!(texts.iter().all(|text| !text.starts_with("22.6")), "{texts:?}");
    assert!(plot.svg.contains("1 read: 90.0 % at 13 cycles, 50.0 % at 60 cycles"), "{}", plot.svg);
    // The circles are two points and a sample in the legend; the line of one read has triangles.
    assert_eq!(plot.svg.matches("<circle").count(), 3);
    assert_eq!(plot.svg.matches("<polygon").count(), 3);
    roxmltree::Document::parse(&plot.svg).unwrap();
}

#[test]
fn feeds_are_lines_of_cycles_beside_software() {
    let row = |config, cost| (FEEDS, "cost", config, None, Some(cost));
    let run = run(&[
        row("SHA-256, DMA, 128 bytes", 9.063),
        row("SHA-256, DMA, 64 bytes", 17.641),
        row("SHA-256, DMA, for the host, 64 bytes", 41.0),
        row("SHA-256, software, 64 bytes", 180.0),
        row("SHA-256, software, 128 bytes", 140.0),
        row("HMAC, DMA, 64 bytes", 1.0),
        (FEEDS, "the engine wins from", "SHA-256, DMA", None, Some(64.0)),
    ]);
    let plot = feeds("any", &run, "SHA-256").unwrap().unwrap();
    assert!(plot.svg.contains("DMA: 1129 cycles for 64 bytes, 1160 cycles for 128 bytes"));
    assert!(plot.svg.contains("DMA, for the host: 2624 cycles for 64 bytes, 2624"));
    // The circles are four points of two lines and a sample of each; the lines for the host have
    // triangles.
    assert_eq!(plot.svg.matches("<circle").count(), 6);
    assert_eq!(plot.svg.matches("<polygon").count(), 2);
    roxmltree::Document::parse(&plot.svg).unwrap();
    assert!(feeds("any", &run, "HMAC").unwrap().is_none(), "one size is no line");
}

#[test]
fn a_boot_is_a_line_of_decades_over_sizes() {
    let row = |column: &'static str, cycles| (BOOTS, "one pass", column, None, Some(cycles));
    let engines = [row("DMA, 24 cycles, 64 KiB", 115_000.0), row("DMA, 24 cycles, 32 MiB", 1.2e7)];
    let software = [row("our software, 64 KiB", 8.0e6), row("our software, 32 MiB", 2.3e9)];
    let [plot] = &plots("any", &run(&[engines, software].concat()), None).unwrap()[..] else {
        panic!("one plot")
    };
    assert!(plot.svg.contains("DMA, 24 cycles: 115000 cycles for 0.0625 MiB, 12000000 cycles"));
    let labels = ["100 k", "1 M", "10 M", "100 M", "1 G", "10 G"];
    let document = roxmltree::Document::parse(&plot.svg).unwrap();
    let texts: Vec<&str> = document
        .descendants()
        .filter(|it| it.is_text())
        .filter_map(|it| it.text())
        .map(str::trim)
        .collect();
    for label in labels {
        assert!(texts.contains(&label), "{label}: {texts:?}");
    }
    assert_eq!(texts.iter().filter(|text| text.ends_with('M')).count(), 3, "{texts:?}");
    // The engines have nothing to be compared with.
    assert!(plots("any", &run(&engines), None).unwrap().is_empty());
    // Two implementations with one size each give no line.
    assert!(plots("any", &run(&[engines[0], software[0]]), None).unwrap().is_empty());
}

fn parameter(name: &str, preset: &str) -> Parameter {
    let text =
        format!("name = {name:?}\npreset = {preset:?}\nsource = \"ours\"\nbecause = \"no text\"");
    toml::from_str(&text).unwrap()
}

#[test]
fn a_sweep_is_ordered_and_says_what_the_number_depends_on() {
    let run = run(&[
        ("Sensitivity", "latency", "20 cycles", Some(11.1), Some(11.0)),
        ("Sensitivity", "latency", "100 cycles", None, Some(6.0)),
        ("Sensitivity", "latency", "5 cycles", None, Some(12.5)),
        ("Sensitivity", "alone", "1 KiB", None, Some(1.0)),
    ]);
    let parameters = [parameter("latency", "20 cycles"), parameter("alone", "1 KiB")];
    let [sweep] = &sweeps(&run, &parameters)[..] else { panic!("one value is no sweep") };
    let values: Vec<&str> = sweep.points.iter().map(|point| point.0.as_str()).collect();
    assert_eq!(values, ["5 cycles", "20 cycles", "100 cycles"]);
    assert_eq!((sweep.preset(), sweep.of_paper), (Some(1), Some(11.1)));
    let plot = sensitivity("any", sweep).unwrap();
    assert!(plot.caption.contains("between 6.00 (100 cycles) and 12.50 (5 cycles)"));
    // The circles are three points and the legend's sample; the triangles are two.
    assert_eq!(plot.svg.matches("<circle").count(), 4, "{}", plot.svg);
    assert_eq!(plot.svg.matches("<polygon").count(), 2, "{}", plot.svg);
    roxmltree::Document::parse(&plot.svg).unwrap();
}

#[test]
fn half_of_a_decade_has_no_label() {
    let row = |column: &'static str, cycles| (BOOTS, "one pass", column, None, Some(cycles));
    let near = [
        row("DMA, 24 cycles, 1 MiB", 2000.0),
        row("DMA, 24 cycles, 2 MiB", 4000.0),
        row("our software, 1 MiB", 8000.0),
        row("our software, 2 MiB", 9000.0),
    ];
    let [plot] = &plots("any", &run(&near), None).unwrap()[..] else { panic!("one plot") };
    let document = roxmltree::Document::parse(&plot.svg).unwrap();
    let texts = document.descendants().filter(|it| it.is_text()).filter_map(|it| it.text());
    let labels: Vec<&str> = texts.map(str::trim).filter(|text| text.ends_with(" k")).collect();
    assert_eq!(labels, ["1 k", "10 k"]);
}

#[test]
fn a_figure_has_a_line_for_each_number_of_rounds() {
    let row = |table: &str, cores: &str, published: u32, ours: &str| {
        format!(
            r#"{{"table": "{table}", "metric": "time", "config": "whole, {cores}", "unit": "cycles",
            "published": {published}, "ours": {ours}, "how": "simulated"}}"#
        )
    };
    let of = |rows: &[String]| {
        let text = format!(r#"{{"rows": [{}]}}"#, rows.join(", "));
        plots("key", &serde_json::from_str(&text).unwrap(), None).unwrap()
    };
    let few = [
        row(VERIFICATIONS, "1 instance", 161_280, "null"),
        row(VERIFICATIONS, "4 instances", 74_229, "22649"),
    ];
    assert!(of(&few).is_empty(), "one point is no line");
    let other = format!("{VERIFICATIONS}, 1 round a cycle");
    let more =
        [row(&other, "1 instance", 161_280, "179000"), row(&other, "8 instances", 51_725, "24000")];
    let plots = of(&[&few[..], &more].concat());
    assert_eq!(plots.len(), 1, "there are no look-up tables");
    let Plot { svg, caption, .. } = &plots[0];
    assert!(
        svg.contains(
            "paper: 161280 with 1, 74229 with 4. ours, 1 round: 179000 with 1, 24000 with 8."
        ),
        "{svg}"
    );
    assert!(caption.starts_with("Ours: simulated. "), "{caption}");
}
