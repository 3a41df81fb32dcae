use super::*;
use crate::machine::Outcome;
use crate::timeline::tests::{machine, timeline};
use roxmltree::{Document, Node, ParsingOptions};

fn page(is_refused: bool, icount: bool) -> String {
    Report::of_one(timeline(is_refused, icount)).to_html()
}

/// The page is written so that it is XML too: what is not closed or not escaped fails here.
fn parse(html: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(html, options).unwrap()
}

fn by_class<'a>(page: &'a Document<'_>, class: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    let has_class = move |node: &Node<'_, '_>| {
        node.attribute("class").is_some_and(|list| list.split(' ').any(|name| name == class))
    };
    page.descendants().filter(has_class)
}

fn text(node: Node<'_, '_>) -> String {
    let texts = node.descendants().filter(|part| part.is_text());
    texts.filter_map(|part| part.text()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_page_is_well_formed_and_asks_nobody_for_anything() {
    for html in [page(false, false), page(true, false), page(false, true)] {
        parse(&html);
        for outside in ["http", "src=", "href", "url(", "@import", "<script", "<link", "<img"] {
            assert!(!html.contains(outside), "{outside}");
        }
    }
}

#[test]
fn every_step_is_in_the_picture_and_in_the_table() {
    let timeline = timeline(false, false);
    let html = Report::of_one(timeline.clone()).to_html();
    let page = parse(&html);
    let tables = by_class(&page, "steps").flat_map(|table| table.descendants());
    let rows = tables.filter(|node| node.has_tag_name("tr")).count();
    assert_eq!(rows, timeline.stages.len() + 1);
    let bars: Vec<_> = by_class(&page, "bar").collect();
    // One more for each of ROM, OpenSBI and loader.
    assert_eq!(bars.len(), timeline.stages.len() + 3);
    for bar in bars {
        let percent =
            |name| bar.attribute(name).unwrap().strip_suffix('%').unwrap().parse::<f64>().unwrap();
        let (x, width) = (percent("x"), percent("width"));
        assert!(x >= 0.0 && width >= 0.0 && x + width <= 100.01, "{x} {width}");
    }
    let names: Vec<_> = page.descendants().filter(|node| node.has_tag_name("h3")).collect();
    assert_eq!(names.len(), 3);
}

#[test]
fn reading_and_hashing_share_a_lane_that_says_how_much_they_overlap() {
    let html = page(false, false);
    let page = parse(&html);
    let lane = by_class(&page, "lane").find(|lane| text(*lane).contains("initramfs")).unwrap();
    let text = text(lane);
    assert!(text.contains("read 720 ms") && text.contains("hash 970 ms"), "{text}");
    // 600 ms of 720 ms.
    assert!(text.contains("83 % overlap") && text.contains("5 harts"), "{text}");
    let bars = lane.descendants().filter(|node| node.attribute("class") == Some("bar"));
    let rows: Vec<_> = bars.map(|bar| bar.attribute("y").unwrap()).collect();
    assert_eq!(rows, ["0", "12"]);
}

#[test]
fn the_time_base_is_stated_and_never_that_of_a_board() {
    let time = page(false, false);
    assert!(time.contains("not the time of any board") && time.contains("of emulator time"));
    let count = page(false, true);
    assert!(count.contains("not cycles") && count.contains("instructions"));
    for html in [time, count] {
        assert!(html.contains("QEMU 10.0.13, not a board"));
    }
}

#[test]
fn a_refused_boot_says_who_refused_what_and_what_to_do() {
    let html = page(true, false);
    let page = parse(&html);
    let why = text(by_class(&page, "why").next().unwrap());
    for part in ["The loader refused: A payload", "E0801", "not the one that was signed"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    let rows: Vec<_> = by_class(&page, "seen")
        .flat_map(|table| table.descendants())
        .filter(|node| node.has_tag_name("tr"))
        .map(text)
        .collect();
    let status = |what: &str| rows.iter().find(|row| row.contains(what)).unwrap();
    assert!(status("opensbi").ends_with(" accepted") && !status("opensbi").contains("not"));
    assert!(status("kernel").ends_with("not accepted"));
    assert!(status("boot bundle").contains("security version 7"));
}

#[test]
fn a_boot_without_a_log_is_a_page_too() {
    let timeline = Timeline::new(&Outcome::TimedOut, None, machine(false));
    let html = Report::of_one(timeline).to_html();
    parse(&html);
    assert!(html.contains("No answer in time") && html.contains("no measurement log"));
}

#[test]
fn names_are_escaped_and_several_boots_have_headings() {
    let mut first = timeline(false, false);
    first.machine.cpu = "<b>&\"max\"".into();
    let runs = vec![("one <1>".into(), first), ("two".into(), timeline(true, false))];
    let html = Report { title: "a & b".into(), runs }.to_html();
    let page = parse(&html);
    assert!(!html.contains("<b>&\""));
    let heads: Vec<_> =
        page.descendants().filter(|node| node.has_tag_name("h2")).map(text).collect();
    assert!(heads.contains(&"one <1>".to_owned()) && heads.contains(&"two".to_owned()));
}
