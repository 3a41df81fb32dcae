//! Draws the plots with the scales, marks and lines of the plotting library.

use anyhow::Result;
use plotters::backend::SVGBackend;
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Rectangle, Text, TriangleMarker};
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{FINE, HEIGHT, Look, WIDTH, letters};
use super::{Group, Series, Sweep};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Height of a line of the legend, and start of its second column.
const LEGEND_LINE: u32 = 22;
const LEGEND_COLUMN: u32 = WIDTH / 2;
/// Space for the numbers on the axes.
const LEFT: u32 = 54;
const BELOW: u32 = 46;
/// Factor for the space above the largest number.
const AIR: f64 = 1.1;

/// Maximum number of labels on an axis of powers of ten, which is more than any plot needs.
const DECADES: usize = 8;

/// Size of the mark of a measured point.
const MARK: i32 = 3 * FINE as i32 + FINE as i32 / 2;

fn units(units: u32) -> i32 {
    (units * FINE) as i32
}

/// Labels and scale of the axes of a line plot.
pub struct Axes {
    /// Unit of the vertical axis, which is written above it.
    pub unit: &'static str,
    /// Label of the horizontal axis, which is written below it.
    pub sizes: &'static str,
    pub heights: Heights,
}

/// Scale of the vertical axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Heights {
    /// Linear: each step adds the same difference.
    Even,
    /// Logarithmic to base 2, from one on.
    Doublings,
    /// Logarithmic to base 10, from the largest power of ten below all points.
    Decades,
}

impl Axes {
    fn height(&self, value: f64) -> f64 {
        match self.heights {
            Heights::Even => value,
            Heights::Doublings => value.max(1.0).log2(),
            Heights::Decades => value.max(1.0).log10(),
        }
    }

    fn label(&self, height: &f64) -> String {
        match self.heights {
            Heights::Even => format!("{height}"),
            Heights::Doublings => power_of_two(*height),
            // Grid lines between powers of ten have no label.
            Heights::Decades if height.fract() != 0.0 => String::new(),
            Heights::Decades => decimal(*height as u32),
        }
    }

    /// Returns the ends of the axis, which include the smallest and the largest number.
    fn range(&self, smallest: f64, largest: f64) -> std::ops::Range<f64> {
        match self.heights {
            Heights::Decades => self.height(smallest).floor()..self.height(largest).ceil(),
            _ => 0.0..self.height(largest) * AIR,
        }
    }
}

/// Returns the label of a power of two; an empty text between powers.
fn power_of_two(exponent: f64) -> String {
    if exponent.fract() == 0.0 { format!("{}", exponent.exp2()) } else { String::new() }
}

/// Returns a short label of a power of ten.
fn decimal(exponent: u32) -> String {
    let unit = ["", " k", " M", " G", " T"].get(exponent as usize / 3).unwrap_or(&"");
    format!("1{}{unit}", "0".repeat(exponent as usize % 3))
}

/// Costs over sizes, which double from mark to mark. Dotted: the same whatever the size.
pub fn lines(svg: &mut String, axes: &Axes, lines: &[Series], flat: &[(f64, Look)]) -> Result<()> {
    let root = root(svg);
    let legend: Vec<_> = lines.iter().map(|line| (line.name, line.look)).collect();
    let area = with_legend(&root, &legend, |area, at, look| {
        let (x, y) = at;
        area.draw(&PathElement::new([(x, y), (x + units(34), y)], look.line(4)))?;
        match look.is_ours() {
            true => area.draw(&Circle::new((x + units(17), y), MARK, look.filled())),
            false => area.draw(&TriangleMarker::new((x + units(17), y), MARK, look.filled())),
        }
    })?;
    let area = with_unit(area, axes.unit)?;
    let points = || lines.iter().flat_map(|line| &line.points);
    let largest = points().map(|it| it.1).chain(flat.iter().map(|it| it.0)).fold(0.0, f64::max);
    let smallest = points().map(|it| it.1).fold(f64::INFINITY, f64::min);
    let first = points().map(|it| it.0.log2()).fold(f64::INFINITY, f64::min);
    let last = points().map(|it| it.0.log2()).fold(f64::NEG_INFINITY, f64::max);
    let mut chart = ChartBuilder::on(&area)
        .x_label_area_size(BELOW * FINE)
        .y_label_area_size(LEFT * FINE)
        .margin_right(10 * FINE)
        .build_cartesian_2d(first..last, axes.range(smallest, largest))?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(Look::Grid.line(2))
        .light_line_style(Look::Grid.line(0))
        .max_light_lines(0)
        .axis_style(Look::Grid.line(2))
        .x_labels(8)
        .y_labels(if axes.heights == Heights::Decades { DECADES } else { 6 })
        .set_all_tick_mark_size(5 * FINE)
        .x_label_formatter(&|exponent| power_of_two(*exponent))
        .y_label_formatter(&|height| axes.label(height))
        .x_desc(axes.sizes)
        .label_style(letters())
        .axis_desc_style(letters())
        .draw()?;
    for (time, look) in flat {
        chart.draw_series(LineSeries::new(
            [(first, axes.height(*time)), (last, axes.height(*time))],
            look.line(3),
        ))?;
    }
    for line in lines {
        let points = || line.points.iter().map(|(size, time)| (size.log2(), axes.height(*time)));
        chart.draw_series(LineSeries::new(points(), line.look.line(4)))?;
        let style = line.look.filled();
        if line.look.is_ours() {
            chart.draw_series(points().map(|at| Circle::new(at, MARK, style)))?;
        } else {
            chart.draw_series(points().map(|at| TriangleMarker::new(at, MARK, style)))?;
        }
    }
    root.present()?;
    Ok(())
}

/// Draws groups of bars, with their numbers above them if the axis is linear. Others are too long for that.
pub fn bars(
    svg: &mut String,
    axes: &Axes,
    groups: &[Group],
    kinds: &[(&'static str, Look)],
) -> Result<()> {
    /// Share of a group's width that bars fill.
    const FILLED: f64 = 0.84;
    let root = root(svg);
    let area = with_legend(&root, kinds, |area, (x, y), look| {
        let (width, half) = (units(18), units(7));
        area.draw(&Rectangle::new([(x, y - half), (x + width, y + half)], look.filled()))
    })?;
    let area = with_unit(area, axes.unit)?;
    let values = || groups.iter().flat_map(|it| &it.bars).map(|it| it.1);
    let heights = axes.range(values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let bottom = heights.start;
    let mut chart = ChartBuilder::on(&area)
        .x_label_area_size(BELOW * FINE)
        .y_label_area_size(LEFT * FINE)
        .margin_right(10 * FINE)
        .build_cartesian_2d(-0.5..groups.len() as f64 - 0.5, heights)?;
    let name = |at: &f64| {
        let group = (at.fract() == 0.0).then(|| groups.get(*at as usize)).flatten();
        group.map_or(String::new(), |group| group.name.clone())
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(Look::Grid.line(2))
        .max_light_lines(0)
        .axis_style(Look::Grid.line(2))
        .x_labels(groups.len())
        .y_labels(if axes.heights == Heights::Decades { DECADES } else { 6 })
        .set_all_tick_mark_size(5 * FINE)
        .x_label_formatter(&name)
        .y_label_formatter(&|height| axes.label(height))
        .x_desc(axes.sizes)
        .label_style(letters())
        .axis_desc_style(letters())
        .draw()?;
    let above = letters().pos(Pos::new(HPos::Center, VPos::Bottom));
    for (place, group) in groups.iter().enumerate() {
        let width = FILLED / group.bars.len() as f64;
        for (index, (look, value)) in group.bars.iter().enumerate() {
            let left = place as f64 - FILLED / 2.0 + width * index as f64;
            let top = axes.height(*value);
            let bar = [(left, bottom), (left + width * 0.92, top)];
            chart.draw_series([Rectangle::new(bar, look.filled())])?;
            if axes.heights == Heights::Even {
                let at = (left + width * 0.46, top);
                chart.draw_series([Text::new(format!("{value:.1}"), at, above.clone())])?;
            }
        }
    }
    root.present()?;
    Ok(())
}

/// Draws numbers over the values of a parameter. The values have equal distances, whatever their size. The paper's
/// number is drawn at the preset.
pub fn sweep(svg: &mut String, sweep: &Sweep<'_>) -> Result<()> {
    let root = root(svg);
    let legend = [("ours", Look::OursFour), ("paper", Look::PaperFour)];
    let legend = &legend[..if sweep.of_paper.is_some() { 2 } else { 1 }];
    let area = with_legend(&root, legend, |area, (x, y), look| {
        let at = (x + units(17), y);
        match look.is_ours() {
            true => area.draw(&Circle::new(at, MARK, look.filled())),
            false => area.draw(&TriangleMarker::new(at, MARK, look.filled())),
        }
    })?;
    let area = with_unit(area, &sweep.unit)?;
    let numbers = sweep.points.iter().map(|(_, number)| *number).chain(sweep.of_paper);
    let largest = numbers.fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(&area)
        .x_label_area_size(BELOW * FINE)
        .y_label_area_size(LEFT * FINE)
        .margin_right(10 * FINE)
        .build_cartesian_2d(-0.5..sweep.points.len() as f64 - 0.5, 0.0..largest * AIR)?;
    let name = |at: &f64| {
        let point = (at.fract() == 0.0).then(|| sweep.points.get(*at as usize)).flatten();
        point.map_or(String::new(), |(value, _)| short(value).to_owned())
    };
    // The unit is that of the first value which has one.
    let unit = sweep.points.iter().filter_map(|(value, _)| value.split_once(' ')).next();
    let below = match unit {
        Some((_, unit)) => format!("{}, {unit}", sweep.parameter.name),
        None => sweep.parameter.name.clone(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(Look::Grid.line(2))
        .max_light_lines(0)
        .axis_style(Look::Grid.line(2))
        .x_labels(sweep.points.len())
        .y_labels(6)
        .set_all_tick_mark_size(5 * FINE)
        .x_label_formatter(&name)
        .y_label_formatter(&|number| format!("{number}"))
        .x_desc(below)
        .label_style(letters())
        .axis_desc_style(letters())
        .draw()?;
    let points = || sweep.points.iter().enumerate().map(|(at, (_, number))| (at as f64, *number));
    chart.draw_series(LineSeries::new(points(), Look::OursFour.line(4)))?;
    chart.draw_series(points().map(|at| Circle::new(at, MARK, Look::OursFour.filled())))?;
    if let (Some(number), Some(preset)) = (sweep.of_paper, sweep.preset()) {
        let style = Look::PaperFour.filled();
        chart.draw_series([TriangleMarker::new((preset as f64, number), 2 * MARK, style)])?;
    }
    root.present()?;
    Ok(())
}

/// Returns a value without its unit.
fn short(value: &str) -> &str {
    value.split(' ').next().unwrap_or(value)
}

fn root(svg: &mut String) -> Area<'_> {
    SVGBackend::with_string(svg, (WIDTH * FINE, HEIGHT * FINE)).into_drawing_area()
}

/// Draws a legend of two columns, each entry with a sample, and returns the area below it.
fn with_legend<'a, E: std::error::Error + Send + Sync + 'static>(
    root: &Area<'a>,
    entries: &[(&str, Look)],
    sample: impl Fn(&Area<'a>, (i32, i32), Look) -> Result<(), E>,
) -> Result<Area<'a>> {
    let height = LEGEND_LINE * entries.len().div_ceil(2) as u32;
    let (legend, rest) = root.split_vertically(height * FINE);
    let beside = letters().pos(Pos::new(HPos::Left, VPos::Center));
    for (index, (name, look)) in entries.iter().enumerate() {
        let (line, column) = (index as u32 / 2, index as u32 % 2);
        let at = (units(4 + column * LEGEND_COLUMN), units(line * LEGEND_LINE + LEGEND_LINE / 2));
        sample(&legend, at, *look)?;
        legend.draw(&Text::new(*name, (at.0 + units(42), at.1), beside.clone()))?;
    }
    Ok(rest)
}

/// Writes the unit above the numbers of the vertical axis, because horizontal text is easier to read.
fn with_unit<'a>(area: Area<'a>, unit: &str) -> Result<Area<'a>> {
    let (above, rest) = area.split_vertically(32 * FINE);
    let style = letters().pos(Pos::new(HPos::Left, VPos::Center));
    above.draw(&Text::new(unit.to_owned(), (units(4), units(15)), style))?;
    Ok(rest)
}
