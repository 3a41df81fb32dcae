mod browser;
mod palette;

use super::*;
use crate::Outcome;
use crate::tests::{machine, timeline, with_kernels};
use roxmltree::{Document, Node, ParsingOptions};

fn page(is_refused: bool, icount: bool) -> String {
    Report::of_one(timeline(is_refused, icount)).to_html()
}

fn run(label: &str, timeline: Timeline) -> Run {
    Run { label: label.to_owned(), timeline }
}

/// Returns a boot that verified nothing and took 0.4 of the time.
fn unverified() -> Timeline {
    let mut unverified = timeline(false, false);
    let looks = ["signature", "hash", "hash-part", "verdict", "harts-start", "harts-stop"];
    unverified.stages.retain(|step| !looks.contains(&step.step.as_str()));
    for step in &mut unverified.stages {
        (step.start, step.end) = (step.start * 0.4, step.end * 0.4);
    }
    unverified
}

/// Returns the report of the demo: a boot without verification, one on one hart, one on all harts,
/// and one that counts instructions.
fn compared() -> Report {
    let mut one_hart = timeline(false, false);
    one_hart.stages.retain(|step| step.harts_mask & 1 == 1);
    for step in &mut one_hart.stages {
        (step.harts, step.harts_mask) = (1, 1);
        (step.start, step.end) = (step.start * 1.5, step.end * 1.5);
    }
    Report {
        title: "Boot timeline".to_owned(),
        baselines: vec![
            run("unverified", unverified()),
            run("verified on one hart", one_hart),
            run("counted", timeline(false, true)),
        ],
        subject: run("verified on 5 harts", timeline(false, false)),
        quoted: None,
    }
}

#[test]
fn quoted_numbers_come_first_and_say_that_they_are_stored() {
    let json = r#"{"title": "On a machine <1>", "unit": "cycles a byte", "notes": ["stored & old"],
        "rows": [["loaded", 13.0], ["verified", 13.4], ["by one", 47.3]]}"#;
    let report = Report { quoted: Some(QuotedNumbers::read(json).unwrap()), ..compared() };
    let html = report.to_html();
    let page = parse(&html);
    let words = text(by_class(&page, "quoted").next().unwrap());
    assert!(words.contains("On a machine <1>") && words.contains("stored & old"), "{words}");
    assert!(words.contains("47.3 cycles a byte 3.64×"), "{words}");
    let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(at("class=\"quoted\"") < at("class=\"lead\""));
    assert!(html.contains("Emulator time is no time of a board"));
    assert!(!compared().to_html().contains("Emulator time is no time of a board"));
}

#[test]
fn what_quotes_nothing_is_refused() {
    for json in [
        "[]",
        r#"{"title": "a", "unit": "b", "notes": [], "rows": []}"#,
        r#"{"title": "a", "unit": "b", "notes": [], "rows": [["c", 0.0]]}"#,
        r#"{"title": "a", "unit": "b", "notes": [], "rows": [["c", 1.0]], "more": 1}"#,
    ] {
        assert!(QuotedNumbers::read(json).is_err(), "{json}");
    }
}

/// Returns pages of every shape, with their names.
fn pages() -> [(&'static str, String); 6] {
    let without_log = Timeline::new(&Outcome::TimedOut, None, machine(false));
    [
        ("one", page(false, false)),
        ("refused", page(true, false)),
        ("counted", page(false, true)),
        ("without a log", Report::of_one(without_log).to_html()),
        ("compared", compared().to_html()),
        ("kernels", Report::of_one(with_kernels(&[(3, 1, 0), (4, 1, 0), (6, 2, 1)])).to_html()),
    ]
}

/// Parses a page. The pages are also valid XML, so that an unclosed element or an unescaped
/// character fails here.
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

fn by_tag<'a>(node: Node<'a, 'a>, tag: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.descendants().filter(move |node| node.has_tag_name(tag))
}

fn text(node: Node<'_, '_>) -> String {
    let texts = node.descendants().filter(|part| part.is_text());
    let words = texts.filter_map(|part| part.text()).flat_map(str::split_whitespace);
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_page_is_well_formed_and_asks_nobody_for_anything() {
    for (name, html) in pages() {
        parse(&html);
        for outside in ["http", "src=", "href", "url(", "@import", "<script", "<link", "<img"] {
            assert!(!html.contains(outside), "{name}: {outside}");
        }
    }
}

#[test]
fn ids_are_unique_and_what_refers_to_one_finds_it() {
    for (name, html) in pages() {
        let page = parse(&html);
        let ids: Vec<&str> = page.descendants().filter_map(|node| node.attribute("id")).collect();
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(id), "{name}: two are called {id}");
        }
        for node in page.descendants() {
            for attribute in ["aria-labelledby", "aria-describedby", "for", "headers"] {
                for id in node.attribute(attribute).unwrap_or_default().split_whitespace() {
                    assert!(ids.contains(&id), "{name}: nothing is called {id}");
                }
            }
        }
    }
}

#[test]
fn pictures_have_names_and_tables_have_headers() {
    for (name, html) in pages() {
        let page = parse(&html);
        for svg in by_tag(page.root(), "svg") {
            let is_hidden = svg.attribute("aria-hidden") == Some("true");
            let title = svg.children().find(|node| node.has_tag_name("title")).map(text);
            assert!(is_hidden || title.is_some_and(|title| !title.is_empty()), "{name}: {svg:?}");
            assert!(is_hidden || svg.attribute("role") == Some("img"), "{name}");
        }
        for table in by_tag(page.root(), "table") {
            let heads = by_tag(table, "th").collect::<Vec<_>>();
            assert!(!heads.is_empty() && heads.iter().all(|head| head.has_attribute("scope")));
            // Every row has a cell for each column, or one cell that spans all of them.
            let columns =
                heads.iter().filter(|head| head.attribute("scope") == Some("col")).count();
            for row in by_tag(table, "tr") {
                let cells = row.children().filter(Node::is_element);
                let span = |cell: Node<'_, '_>| {
                    cell.attribute("colspan").map_or(1, |count| count.parse().unwrap())
                };
                assert_eq!(cells.map(span).sum::<usize>(), columns, "{name}: {}", text(row));
            }
        }
        // Scrollable regions can be reached with the keyboard and have a label.
        for region in by_class(&page, "scroll") {
            assert_eq!(region.attribute("tabindex"), Some("0"));
            assert!(
                region.has_attribute("aria-label") && region.attribute("role") == Some("region")
            );
        }
        assert_eq!(by_tag(page.root(), "h1").count(), 1, "{name}");
    }
}

fn percent(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().strip_suffix('%').unwrap().parse().unwrap()
}

#[test]
fn every_step_is_in_the_picture_and_in_the_table() {
    let timeline = timeline(false, false);
    let html = Report::of_one(timeline.clone()).to_html();
    let page = parse(&html);
    let tables = by_class(&page, "log").flat_map(|table| table.descendants());
    let rows = tables.filter(|node| node.has_tag_name("tr")).count();
    assert_eq!(rows, timeline.stages.len() + 1);
    let bars: Vec<_> = by_class(&page, "bar").collect();
    // The stages ROM, OpenSBI and loader have one bar each in addition. The part of the hart that
    // hashed the device tree has none, because that hart hashed everything.
    assert_eq!(bars.len(), timeline.stages.len() + 3 - 1);
    let names: Vec<_> = by_tag(page.root(), "h3").collect();
    assert_eq!(names.len(), 3);
    // Each bar has a visible edge, however short it is.
    assert_eq!(by_class(&page, "edge").count(), bars.len() - 3);
}

#[test]
fn bars_stay_inside_the_picture() {
    for (name, html) in pages() {
        let page = parse(&html);
        for bar in by_class(&page, "bar").chain(by_class(&page, "frame")) {
            let (x, width) = (percent(bar, "x"), percent(bar, "width"));
            assert!(x >= 0.0 && width >= 0.0 && x + width <= 100.01, "{name}: {x} {width}");
            // The filling of a hart is inside of its frame.
            let value = |name| bar.attribute(name).unwrap().parse::<f64>().unwrap();
            let svg = bar.ancestors().find(|node| node.has_tag_name("svg")).unwrap();
            let height: f64 = svg.attribute("height").unwrap().parse().unwrap();
            assert!(value("y") >= 0.0 && value("y") + value("height") <= height, "{name}");
        }
    }
}

#[test]
fn reading_and_hashing_share_a_lane_that_says_how_much_they_overlap() {
    let html = page(false, false);
    let page = parse(&html);
    let lane = by_class(&page, "lane").find(|lane| text(*lane).contains("initramfs")).unwrap();
    let words = text(lane);
    assert!(words.contains("read 720 ms") && words.contains("hash 970 ms"), "{words}");
    // The steps overlap for 600 ms of 720 ms.
    assert!(words.contains("83 % overlap") && words.contains("5 harts"), "{words}");
    let bars = lane.descendants().filter(|node| node.attribute("class") == Some("bar"));
    let rows: Vec<_> = bars.map(|bar| bar.attribute("y").unwrap()).collect();
    assert_eq!(rows, ["0", "12"]);
}

#[test]
fn harts_stand_side_by_side_below_what_they_hashed() {
    let html = page(false, false);
    let page = parse(&html);
    let harts: Vec<_> = by_class(&page, "hart").collect();
    // Five harts hashed the kernel and five the initramfs; the device tree was hashed by one hart,
    // which is not shown.
    assert_eq!(harts.len(), 10);
    let words = text(harts[3]);
    assert!(words.contains("hart 3") && words.contains("35 %"), "{words}");
    let filling = |hart: Node<'_, '_>| {
        let bar = hart.descendants().find(|node| node.attribute("class") == Some("bar")).unwrap();
        bar.attribute("height").unwrap().parse::<u32>().unwrap()
    };
    let heights: Vec<_> = harts.iter().take(5).map(|hart| filling(*hart)).collect();
    assert_eq!(heights, [9, 7, 5, 3, 1]);
}

#[test]
fn runs_stand_side_by_side_on_one_scale() {
    let html = compared().to_html();
    let page = parse(&html);
    let runs: Vec<_> = by_class(&page, "run").collect();
    let expected = [
        "unverified 805 ms 1.00×",
        "verified on one hart 3.02 s 3.75×",
        "verified on 5 harts 2.01 s",
    ];
    for (run, expected) in runs.iter().zip(expected) {
        let words = text(run.children().find(|node| node.has_tag_name("p")).unwrap());
        assert!(words.starts_with(expected), "{words}");
    }
    // The longest boot fills the picture, and the others are in proportion to it.
    let end = |run: Node<'_, '_>| {
        let bars = run.descendants().filter(|node| node.attribute("class") == Some("bar"));
        bars.map(|bar| percent(bar, "x") + percent(bar, "width")).fold(0.0, f64::max)
    };
    let ends: Vec<_> = runs.iter().map(|run| end(*run).round()).collect();
    assert_eq!(ends, [27.0, 100.0, 67.0]);
    let lead: Vec<_> = by_class(&page, "lead").map(text).collect();
    assert_eq!(
        lead[1],
        "What verification costs: 805 ms unverified, 3.75× as long verified on one hart, 2.50× as \
         long verified on 5 harts."
    );
    assert!(html.contains("exists for this measurement only"));
    assert!(html.contains("more harts need not be faster"));
}

#[test]
fn the_sums_of_a_run_add_up() {
    let html = compared().to_html();
    let page = parse(&html);
    let sums = by_class(&page, "sums").next().unwrap();
    let rows: Vec<Vec<String>> = by_tag(sums, "tr")
        .map(|row| row.children().filter(Node::is_element).map(text).collect())
        .collect();
    let row = |name: &str| rows.iter().find(|row| row[0] == name).unwrap().clone();
    assert_eq!(
        rows[0],
        ["Emulator time", "unverified", "verified on one hart", "verified on 5 harts"]
    );
    let total = row("from reset to the kernel's entry");
    assert_eq!(total[1..], ["805 ms", "3.02 s", "2.01 s"]);
    assert_eq!(row("times as long as unverified")[1..], ["1.00×", "3.75×", "2.50×"]);
    assert_eq!(row("hashing payloads")[1..], ["0", "2.36 s", "1.57 s"]);
    assert_eq!(row("harts that hashed")[1..], ["0", "1", "5"]);
}

#[test]
fn a_step_that_only_some_runs_have_stands_at_its_place() {
    let html = compared().to_html();
    let page = parse(&html);
    let table = by_class(&page, "wide").next().unwrap();
    let rows: Vec<String> = by_tag(table, "tr").map(text).collect();
    let at = |start: &str| rows.iter().position(|row| row.starts_with(start)).unwrap();
    let loader = at("Loader");
    let after =
        |name: &str| loader + rows[loader..].iter().position(|row| row.starts_with(name)).unwrap();
    assert!(
        after("signature") < after("read kernel") && after("read system-fdt") < after("harts-stop")
    );
    assert!(
        rows[after("hash kernel")].starts_with("hash kernel, 29.8 MiB – 982 ms 655 ms 5 harts")
    );
    assert!(after("handover") > after("verdict"));
    let stopped = &rows[after("harts-stop")];
    assert!(stopped.ends_with("5 harts stopped"), "{stopped}");
    // Each step is listed once.
    assert_eq!(rows.iter().filter(|row| row.starts_with("read kernel")).count(), 1);
}

#[test]
fn counts_and_times_never_share_a_scale() {
    let html = compared().to_html();
    let page = parse(&html);
    let sections: Vec<_> = by_tag(page.root(), "section").collect();
    let heads: Vec<_> = sections.iter().map(|it| text(by_tag(*it, "h2").next().unwrap())).collect();
    assert_eq!(heads, ["Emulator time: side by side", "Retired instructions"]);
    assert!(text(sections[0]).contains("not the time of any board"));
    let counted = text(sections[1]);
    assert!(counted.contains("not cycles") && counted.contains("Timeline: counted"));
    assert!(!counted.contains(" ms") && !counted.contains("×"), "{counted}");
    assert!(!text(sections[0]).contains("counted"));
    // The subject of the page is shown first, whatever its unit is.
    let mut report = compared();
    std::mem::swap(&mut report.subject, &mut report.baselines[2]);
    let html = report.to_html();
    assert!(html.find("Retired instructions").unwrap() < html.find("Emulator time").unwrap());
}

#[test]
fn only_boots_that_came_as_far_have_a_factor() {
    let report = Report {
        baselines: vec![run("unverified", unverified())],
        subject: run("refused", timeline(true, false)),
        ..compared()
    };
    let html = report.to_html();
    let page = parse(&html);
    let sums = text(by_class(&page, "sums").next().unwrap());
    assert!(sums.contains("times as long as unverified 1.00× –"), "{sums}");
    assert!(sums.contains("how it ended booted refused"), "{sums}");
    assert!(!html.contains("What verification costs"));
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
fn a_boot_that_verified_nothing_says_so_before_anything_else() {
    let html = Report::of_one(unverified()).to_html();
    let page = parse(&html);
    let panel = by_class(&page, "verdict").next().unwrap();
    assert_eq!(panel.attribute("class"), Some("panel verdict no"));
    assert!(text(panel).contains("Nothing was verified"));
    assert!(!html.contains("What was verified"));
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
fn kernels_that_are_not_used_are_a_sentence_and_wrong_answers_stand_out() {
    let timeline = with_kernels(&[(3, 1, 0), (4, 1, 0), (6, 2, 1)]);
    let html = Report::of_one(timeline.clone()).to_html();
    let page = parse(&html);
    let notes: Vec<_> = by_class(&page, "note").map(text).collect();
    let plain = "hash implementation portable; hart 0 has no zbb, zknh.";
    let wrong = "WRONG ANSWER for SHA-256 from implementation zvknh on hart 1: not used.";
    assert!(notes.iter().any(|note| note == plain), "{notes:?}");
    // The warning is shown at the top of the page and below the picture.
    let alarms: Vec<_> = by_class(&page, "rejected").map(text).collect();
    assert_eq!(alarms, [wrong, wrong]);
    assert!(text(by_class(&page, "verdict").next().unwrap()).contains(wrong));
    // The notes have a row in the log, and no bar in the picture.
    let log = text(by_class(&page, "log").next().unwrap());
    assert!(log.contains("implementation hart 0 zbb 0 0.10 us not on this hart"), "{log}");
    assert!(log.contains("implementation hart 1 zvknh 0 0.10 us WRONG ANSWER: SHA-256"), "{log}");
    let without = by_class(&parse(&self::page(false, false)), "bar").count();
    assert_eq!(by_class(&page, "bar").count(), without);
    assert!(!Report::of_one(super::tests::timeline(false, false)).to_html().contains("WRONG"));
}

#[test]
fn a_boot_without_a_log_is_a_page_too() {
    let timeline = Timeline::new(&Outcome::TimedOut, None, machine(false));
    let html = Report::of_one(timeline).to_html();
    parse(&html);
    assert!(html.contains("No answer in time") && html.contains("no measurement log"));
}

#[test]
fn whatever_a_stored_timeline_says_is_text_on_the_page() {
    let mut foreign = timeline(false, false);
    foreign.machine.cpu = "<b>&\"max\"".into();
    foreign.time_base.note = "</style><script>".into();
    for step in &mut foreign.stages {
        (step.stage, step.step) = ("<i>".into(), "\"><svg>".into());
        (step.payload, step.reason) = (Some("</table>".into()), Some("'&'".into()));
    }
    let report = Report {
        title: "a & b".into(),
        baselines: vec![run("one <1>", foreign.clone())],
        subject: run("two", foreign),
        quoted: None,
    };
    let html = report.to_html();
    let page = parse(&html);
    assert!(!html.contains("<b>&\"") && !html.contains("<script"));
    let heads: Vec<_> = by_tag(page.root(), "h2").map(text).collect();
    assert!(heads.iter().any(|head| head.starts_with("Timeline: one <1> 2.01 s")), "{heads:?}");
}
