//! Tests that text and graphics have enough contrast with their background, in every colour scheme.

use std::collections::BTreeMap;

const STYLE: &str = include_str!("../../../templates/report.css");

/// The minimum contrasts of WCAG 2.1 for small text, and for graphics that carry meaning.
const TEXT: f64 = 4.5;
const GRAPHIC: f64 = 3.0;

type Palette = BTreeMap<&'static str, [f64; 3]>;

/// Returns the three sets of colours, in the order of the style sheet: light, dark, print.
fn palettes() -> Vec<Palette> {
    let blocks = STYLE.split(":root {").skip(1);
    blocks.map(|block| colours(block.split('}').next().unwrap())).collect()
}

fn colours(block: &'static str) -> Palette {
    let colour = |text: &str| {
        let part =
            |at: usize| f64::from(u8::from_str_radix(&text[at..at + 2], 16).unwrap()) / 255.0;
        [part(1), part(3), part(5)]
    };
    let lines = block.split(';').filter_map(|line| line.split_once(':'));
    lines.map(|(name, value)| (name.trim(), colour(value.trim()))).collect()
}

fn luminance(colour: [f64; 3]) -> f64 {
    let linear = |part: f64| {
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    let [red, green, blue] = colour.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn text_and_bars_stand_out_in_every_scheme() {
    assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    let palettes = palettes();
    assert_eq!(palettes.len(), 3);
    for (scheme, palette) in ["light", "dark", "print"].iter().zip(&palettes) {
        for surface in ["--page", "--panel"] {
            for (name, colour) in palette.iter().filter(|(name, _)| !is_background(name)) {
                let is_text = ["--ink", "--soft", "--yes", "--no", "--open"].contains(name);
                let least = if is_text { TEXT } else { GRAPHIC };
                let found = contrast(*colour, palette[surface]);
                assert!(found >= least, "{scheme}: {name} on {surface}: {found:.2}");
            }
        }
    }
    // When printed, text and graphics are black or nearly black on white.
    let [.., print] = palettes.as_slice() else { unreachable!() };
    assert_eq!((print["--page"], print["--ink"]), ([1.0; 3], [0.0; 3]));
}

fn is_background(name: &str) -> bool {
    // Lines of tables and grids carry no meaning.
    ["--page", "--panel", "--line"].contains(&name)
}

#[test]
fn every_scheme_has_a_colour_for_everything() {
    let palettes = palettes();
    let names: Vec<_> = palettes[0].keys().collect();
    assert!(palettes.iter().all(|palette| palette.keys().eq(names.iter().copied())));
    for kind in STYLE.split("var(").skip(1) {
        let name = kind.split(')').next().unwrap();
        assert!(name == "--c" || palettes[0].contains_key(name), "{name}");
    }
}
