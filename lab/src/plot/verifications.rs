//! The table of the second paper as two figures: cycles and look-up tables over hash cores.

use anyhow::Result;

use super::canvas::{Look, Words};
use super::{Line, Plot, Points, draw, drawn, made};
use crate::stored::Stored;

/// The table of the paper, which has two rounds a cycle of ours, and those beside it.
const TABLE: &str = "Table I";
const WHOLE: &str = "whole, ";
const SIZES: &str = "hash cores";

/// What is shown of the table: metric, title of the plot, unit, and a sentence on what it is.
type Figure = (&'static str, &'static str, &'static str, &'static str);

const FIGURES: [Figure; 2] = [
    ("time", "Cycles of a verification", "cycles", "XMSS-SHA2_10_256, a message of 32 bytes. "),
    (
        "LUTs",
        "Look-up tables of the engine",
        "LUT",
        "The paper's by Vivado, ours by Yosys before placing. The paper's whole has interfaces for AXI and DMA in it. ",
    ),
];

/// The figures that a run has lines for.
pub fn plots(key: &str, run: &Stored) -> Result<Vec<Plot>> {
    let figures = FIGURES.iter().map(|figure| plot(key, run, figure));
    Ok(figures.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn points(run: &Stored, table: &str, metric: &str, field: &str) -> Points {
    let rows = run.rows().iter();
    let rows = rows.filter(|row| row.text("table") == table && row.text("metric") == metric);
    let mut points: Points = rows
        .filter_map(|row| {
            let cores = row.text("config").strip_prefix(WHOLE)?.split(' ').next()?;
            Some((cores.parse().ok()?, row.number(field)?))
        })
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

fn plot(key: &str, run: &Stored, (metric, title, unit, about): &Figure) -> Result<Option<Plot>> {
    let lines: Vec<Line> = [
        ("paper", Look::PaperFour, TABLE.to_owned(), "published"),
        ("ours, 1 round", Look::OursOne, format!("{TABLE}, 1 round a cycle"), "ours"),
        ("ours, 2 rounds", Look::OursFour, TABLE.to_owned(), "ours"),
        ("ours, 4 rounds", Look::OursFlat, format!("{TABLE}, 4 rounds a cycle"), "ours"),
    ]
    .into_iter()
    .map(|(name, look, table, field)| Line {
        name,
        look,
        points: points(run, &table, metric, field),
    })
    .filter(|line| !line.points.is_empty())
    .collect();
    // The paper's alone is no comparison, and a quick run has one point.
    if lines.iter().filter(|line| line.look.is_ours()).all(|line| line.points.len() < 2) {
        return Ok(None);
    }
    let text = |line: &Line| {
        let text = |(cores, number): &(f64, f64)| format!("{number:.0} with {cores}");
        let points: Vec<String> = line.points.iter().map(text).collect();
        format!("{}: {}", line.name, points.join(", "))
    };
    let words = Words {
        id: format!("{key}-{}", metric.to_lowercase()),
        title: format!("{title}, over the number of hash cores"),
        about: lines.iter().map(text).collect::<Vec<_>>().join(". "),
    };
    let axes = draw::Axes { unit, sizes: SIZES, heights: draw::Heights::Decades };
    Ok(Some(Plot {
        title: (*title).to_owned(),
        svg: drawn(&words, |svg| draw::lines(svg, &axes, &lines, &[]))?,
        caption: format!(
            "{}{about}A block of SHA-256 takes 68 cycles with one round a cycle, 34 with two and 17 with four, and 41 \
             in the paper. Both axes are logarithmic.",
            made(run, TABLE)
        ),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            plots("key", &serde_json::from_str(&text).unwrap()).unwrap()
        };
        let few =
            [row(TABLE, "1 instance", 161_280, "null"), row(TABLE, "4 instances", 74_229, "22649")];
        assert!(of(&few).is_empty(), "one point is no line");
        let other = format!("{TABLE}, 1 round a cycle");
        let more = [
            row(&other, "1 instance", 161_280, "179000"),
            row(&other, "8 instances", 51_725, "24000"),
        ];
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
}
