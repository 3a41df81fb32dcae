//! Adapts a drawing of the plotting library to the page: it replaces fixed colours by those of the
//! page, and adds a description for readers who cannot see the plot.
//!
//! The library writes colours as numbers. Each style has a number that no page uses as a colour; it
//! is replaced by a reference to the page's colour.

use std::fmt::Write;

use plotters::style::{IntoFont, RGBColor, ShapeStyle, TextStyle};

/// Size of the plot in its own units. A phone shows it smaller, a large screen slightly larger.
pub const WIDTH: u32 = 400;
pub const HEIGHT: u32 = 316;
/// Factor by which coordinates are multiplied, because the library rounds them to integers.
pub const FINE: u32 = 4;
/// Font size in units of the plot.
const LETTERS: f64 = 14.0;
/// Correction factor, because the library draws letters smaller than the requested size.
const LETTERS_ASKED: f64 = 1.24;

/// The style of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Grid,
    Words,
    PaperOne,
    PaperFour,
    PaperFlat,
    OursOne,
    OursFour,
    OursFlat,
    Load,
    Then,
    While,
    Software,
    SoftwareOne,
}

const LOOKS: [Look; 13] = [
    Look::Grid,
    Look::Words,
    Look::PaperOne,
    Look::PaperFour,
    Look::PaperFlat,
    Look::OursOne,
    Look::OursFour,
    Look::OursFlat,
    Look::Load,
    Look::Then,
    Look::While,
    Look::Software,
    Look::SoftwareOne,
];

impl Look {
    /// Returns the colour number that marks this style.
    pub const fn color(self) -> RGBColor {
        RGBColor(1, 2, self as u8)
    }

    /// Returns the style of a line with this width in half units.
    pub fn line(self, width: u32) -> ShapeStyle {
        ShapeStyle::from(self.color()).stroke_width(width * FINE / 2)
    }

    pub fn filled(self) -> ShapeStyle {
        ShapeStyle::from(self.color()).filled()
    }

    /// Returns true for this project's numbers, which have round marks. Those of the paper have
    /// triangles.
    pub fn is_ours(self) -> bool {
        matches!(
            self,
            Self::OursOne | Self::OursFour | Self::OursFlat | Self::Software | Self::SoftwareOne
        )
    }

    /// Returns the CSS variable of the page, and the value for pages without it.
    fn variable(self) -> &'static str {
        match self {
            Self::Grid => "--hl-grid, #d9d6cf",
            Self::Words => "--hl-ink, #1f2328",
            Self::PaperOne | Self::PaperFour | Self::PaperFlat | Self::Then => {
                "--hl-other-line, #7a7f85"
            }
            Self::OursOne | Self::OursFour | Self::OursFlat | Self::While => {
                "--hl-ours-line, #3b6ea5"
            }
            Self::Load | Self::Software | Self::SoftwareOne => "--hl-store-line, #a9802c",
        }
    }

    /// Returns the dash pattern. One hart is dashed and one hash is dotted, so that no information
    /// depends on colour only.
    fn dashes(self) -> Option<[u32; 2]> {
        match self {
            Self::PaperOne | Self::OursOne | Self::SoftwareOne => Some([6, 4]),
            Self::PaperFlat | Self::OursFlat => Some([1, 3]),
            _ => None,
        }
    }
}

/// Returns the text style of the plot.
pub fn letters() -> TextStyle<'static> {
    const COLOR: &RGBColor = &Look::Words.color();
    let size = LETTERS * LETTERS_ASKED * f64::from(FINE);
    TextStyle::from(("sans-serif", size).into_font()).color(COLOR)
}

/// Description of a plot for readers who cannot see it.
pub struct Words {
    /// Identifier that is unique on the page.
    pub id: String,
    pub title: String,
    pub about: String,
}

/// Returns the drawing with the colours of its page and with its description.
pub fn dressed(svg: &str, words: &Words) -> String {
    let Words { id, title, about } = words;
    let (width, height) = (WIDTH * FINE, HEIGHT * FINE);
    let mut out = format!(
        "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"{id}-title {id}-about\">\n<title id=\"{id}-title\">{}</title>\n\
         <desc id=\"{id}-about\">{}</desc>\n",
        escaped(title),
        escaped(about)
    );
    let elements = svg.split_once('>').map_or("", |(_, elements)| elements);
    let mut elements =
        elements.replace(" font-family=\"sans-serif\"", "").replace(" opacity=\"1\"", "");
    for look in LOOKS {
        let RGBColor(red, green, blue) = look.color();
        let number = format!("#{red:02X}{green:02X}{blue:02X}");
        let mut stroke = format!("style=\"stroke:var({})", look.variable());
        if let Some([on, off]) = look.dashes() {
            let _ = write!(stroke, ";stroke-dasharray:{} {}", on * FINE, off * FINE);
        }
        let fill = format!("style=\"fill:var({})\"", look.variable());
        elements = elements
            .replace(&format!("stroke=\"{number}\""), &format!("{stroke}\""))
            .replace(&format!("fill=\"{number}\""), &fill);
    }
    out.extend(
        elements.lines().filter(|line| !line.trim().is_empty()).map(|it| it.to_owned() + "\n"),
    );
    out.trim_end().to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
