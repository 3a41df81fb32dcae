//! Evaluates how a conclusion depends on the machine: one parameter is varied at a time, and the others
//! keep their presets.

use super::paper::Parameter;
use super::run::{Row, Run};

/// Name of the table. In its rows, the metric is the parameter and the configuration is its value.
pub const TABLE: &str = "Sensitivity";

/// A parameter and the numbers for its values.
pub struct Sweep<'a> {
    pub parameter: &'a Parameter,
    pub unit: String,
    /// Values of the parameter with their numbers, in ascending order of the values.
    pub points: Vec<(String, f64)>,
    /// The paper's number. It belongs to the preset, which is the value that the paper's machine has or
    /// is assumed to have.
    pub of_paper: Option<f64>,
}

impl Sweep<'_> {
    /// Returns the index of the point at the preset.
    pub fn preset(&self) -> Option<usize> {
        self.points.iter().position(|(value, _)| *value == self.parameter.preset)
    }

    /// Returns a sentence about the range of the numbers.
    pub fn sentence(&self) -> String {
        let numbers = || self.points.iter().map(|(_, number)| *number);
        let (least, most) = numbers().fold((f64::INFINITY, 0.0_f64), |(least, most), number| {
            (least.min(number), most.max(number))
        });
        let at = |number: f64| {
            let point = self.points.iter().find(|point| point.1 == number);
            point.map_or("", |(value, _)| value.as_str())
        };
        let Parameter { name, preset, because, .. } = self.parameter;
        format!(
            "If nothing but this changes, it is between {least:.2} ({}) and {most:.2} ({}) {}. In all other rows the {name} \
             is {preset}; {}: {because}.",
            at(least),
            at(most),
            self.unit,
            self.parameter.source()
        )
    }
}

/// The sweeps of a run, by the parameters of its paper.
pub fn sweeps<'a>(run: &Run, parameters: &'a [Parameter]) -> Vec<Sweep<'a>> {
    let sweep = |parameter: &'a Parameter| {
        let is_it = |row: &&Row| row.table == TABLE && row.metric == parameter.name;
        let rows: Vec<_> = run.rows.iter().filter(is_it).collect();
        let mut points: Vec<(String, f64)> =
            rows.iter().filter_map(|row| Some((row.config.clone(), row.ours?))).collect();
        // Numbers ascend; what is none, as "none" or "-Os", comes first, in the order of the run.
        points.sort_by(|one, other| size(&one.0).total_cmp(&size(&other.0)));
        let unit = rows.first()?.unit.clone();
        let of_paper = rows.iter().find_map(|row| row.published);
        (points.len() > 1).then_some(Sweep { parameter, unit, points, of_paper })
    };
    parameters.iter().filter_map(sweep).collect()
}

fn size(value: &str) -> f64 {
    value.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
}
