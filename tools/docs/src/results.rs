//! Generates the page of results from the stored runs of `lab/runs` only, without any manual entry.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use hartlock_bundle::units::grouped;

use hartlock_results::fuzz::FuzzRun;
use hartlock_results::paper::Paper;
use hartlock_results::plot;
use hartlock_results::run::{Run, Status};
use hartlock_results::stored::{Column, json_files};
use xtask::project;

/// A section for each run, in the order of their names. Runs are in the folder or, when a later
/// one replaces an earlier, in `latest` inside of it.
pub fn page(folder: &Path, fuzz: &Path) -> Result<String> {
    let mut files = json_files(folder)?;
    files.extend(json_files(&folder.join("latest"))?);
    let fuzz_runs = fuzz_section(fuzz)?;
    if files.is_empty() && fuzz_runs.is_empty() {
        return Ok("No runs are stored yet, so there are no figures to show.\n".into());
    }
    let mut out = String::new();
    for path in files {
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        out += &section(&name, &Run::read(&path)?)?;
    }
    Ok(out + &fuzz_runs)
}

fn section(name: &str, run: &Run) -> Result<String> {
    let stem = name.trim_start_matches("latest/").trim_end_matches(".json");
    let mut out = format!("## {stem}\n\n");
    let paper = Paper::of(stem)?;
    if let Some(paper) = &paper {
        let _ = writeln!(out, "Paper: {}.\n", markdown(&paper.title));
    }
    let headline = run.headline();
    let details = headline.details().map_or(String::new(), |details| format!(" {details}"));
    let _ = writeln!(out, "**{}.**{details}\n", headline.sentence());
    for miss in &headline.misses {
        let _ = writeln!(out, "* {MISS} {}", markdown(miss));
    }
    if !headline.misses.is_empty() {
        out.push('\n');
    }
    if let Some(stale) = run.stale(&project::root(), stem)? {
        let _ = writeln!(out, "**Stale:** {}.\n", markdown(&stale));
    }
    let _ = writeln!(out, "Stored as `lab/runs/{name}`, at commit `{}`, {}.", run.commit, run.date);
    let _ = writeln!(out, "Tools: {}.", markdown(&run.tools_in_words()));
    let _ = writeln!(out, "Machine: {}.", markdown(&run.machine_in_words()));
    for plot in plot::plots(stem, run, paper.as_ref())? {
        let _ = writeln!(
            out,
            "\n### {}\n\n<figure class=\"picture plot\">\n{}\n<figcaption>{}</figcaption>\n</figure>",
            plot.title,
            plot.svg,
            markdown(&plot.caption)
        );
    }
    let parameters = paper.as_ref().map_or(&[][..], |paper| &paper.parameters);
    if !parameters.is_empty() {
        out += "\n### Free parameters\n\n| parameter | value | source | because |\n|---|---|---|---|\n";
    }
    for it in parameters {
        let because = markdown(&it.because);
        let _ = writeln!(out, "| {} | {} | {} | {because} |", it.name, it.preset, it.source());
    }
    // All tables of a run have the same font size, independent of the number of their columns.
    out += "\n<div class=\"figures\">\n";
    for table in run.tables() {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name()).collect();
        let rules = table.columns.iter().map(|it| if it.is_number() { "---:|" } else { "---|" });
        let _ = writeln!(out, "\n### {}\n", table.name);
        // On a phone the note is below its row. So are the numbers, if there are many of them (hartlock.css).
        let texts = table.columns.iter().take_while(|column| !column.is_number()).count();
        let is_noted = names.last() == Some(&"note");
        let count = names.len() - usize::from(is_noted);
        let is_wide = count - texts > MANY_NUMBERS || names.contains(&"how");
        let above = if is_wide { texts } else { 0 };
        let noted = if is_noted { " noted" } else { "" };
        let columns = count - above;
        let style = format!("class=\"row texts-{above}{noted}\" style=\"--columns: {columns}\"");
        let _ = writeln!(out, "<div {style}>\n");
        let _ = writeln!(out, "| {} |\n|{}", names.join(" | "), rules.collect::<String>());
        for line in table.rows {
            let cells = line.cells.iter().map(|(column, text)| match (column, line.status) {
                (Column::Status, Status::Miss) => MISS.to_owned(),
                _ => markdown(text),
            });
            let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        out += "\n</div>\n";
    }
    out += "\n</div>\n\n";
    Ok(out)
}

/// The largest number of numeric columns that fit a phone next to the texts of their row. The column *how* never fits.
const MANY_NUMBERS: usize = 3;

/// A missed target, in red where the output has colours.
const MISS: &str = "<strong class=\"miss\">✗ miss</strong>";

/// Escapes a text so that Markdown shows it unchanged, also in a cell of a table.
fn markdown(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_")
}

/// Returns the section of the newest run of the fuzz targets, or nothing if no run is stored.
fn fuzz_section(folder: &Path) -> Result<String> {
    let mut runs = Vec::new();
    for path in json_files(folder)? {
        let name = path.file_stem().unwrap_or_default().display().to_string();
        let text = fs::read(&path).context(name.clone())?;
        let run: FuzzRun = serde_json::from_slice(&text).context(name.clone())?;
        runs.push((name, run));
    }
    let newest =
        runs.into_iter().max_by_key(|(name, run)| (run.date.clone(), run.ended, name.clone()));
    let Some((name, run)) = newest else { return Ok(String::new()) };
    let changes = if run.is_modified { ", with changes" } else { "" };
    let mut out = format!(
        "## Fuzz targets\n\nThe newest run, stored as `verif/runs/fuzz/{name}.json`, at commit \
         `{}`{changes}, {}.\nTools: {}, libfuzzer-sys {}. Coverage is in edges of the control \
         flow.\n\n| target | seconds | executions | coverage | corpus | crashes |\n\
         |---|---:|---:|---:|---:|---:|\n",
        run.commit, run.date, run.rustc, run.libfuzzer_sys
    );
    for it in &run.targets {
        let _ = writeln!(
            out,
            "| {} | {:.1} | {} | {} | {} | {} |",
            it.target,
            it.seconds,
            grouped(it.executions),
            grouped(it.coverage),
            grouped(it.corpus),
            it.crashes
        );
    }
    out.push('\n');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::status;
    use super::*;

    #[test]
    fn without_runs_the_page_says_so() {
        let dir = tempfile::tempdir().unwrap();
        assert!(
            page(&dir.path().join("runs"), &dir.path().join("fuzz"))
                .unwrap()
                .starts_with("No runs are stored")
        );
        fs::write(dir.path().join("notes.txt"), "x").unwrap();
        assert!(
            page(dir.path(), &dir.path().join("fuzz")).unwrap().starts_with("No runs are stored")
        );
    }

    #[test]
    fn a_run_becomes_its_tables_with_the_columns_that_are_used() {
        let dir = tempfile::tempdir().unwrap();
        let run = r#"{"commit": "abc", "date": "2026-11-21", "tools": {"rustc": "1.95"}, "rows": [
            {"table": "Hashes", "metric": "sha384", "unit": "MB/s", "ours": 512.25, "note": "a|b"},
            {"table": "Keys", "metric": "verify", "unit": "us", "ours": 75, "published": null}]}"#;
        fs::write(dir.path().join("host.json"), run).unwrap();
        let text = page(dir.path(), &dir.path().join("fuzz")).unwrap();
        assert!(text.contains("at commit `abc`, 2026-11-21.\nTools: rustc 1.95.\n"), "{text}");
        assert!(
            text.contains("### Hashes\n\n<div class=\"row texts-0 noted\" style=\"--columns: 3\">\n\n| metric | unit | ours | note |\n|---|---|---:|---|\n")
        );
        assert!(text.contains("| sha384 | MB/s | 512.25 | a\\|b |"), "{text}");
        assert!(text.contains("| verify | us | 75 |"), "{text}");
        let head = "## host\n\n**No targets were set.**\n\n**Stale:** changed since: rust-toolchain.toml.\n\n\
            Stored as `lab/runs/host.json`";
        assert!(text.contains(head), "{text}");
        fs::create_dir(dir.path().join("latest")).unwrap();
        fs::write(dir.path().join("latest/quick.json"), run).unwrap();
        let text = page(dir.path(), &dir.path().join("fuzz")).unwrap();
        assert!(text.contains("## quick\n\n**No targets"), "{text}");
        assert!(text.contains("Stored as `lab/runs/latest/quick.json`"), "{text}");
        fs::write(dir.path().join("bad.json"), "{}").unwrap();
        assert!(
            page(dir.path(), &dir.path().join("fuzz")).is_err(),
            "a run without rows is no run"
        );
    }

    #[test]
    fn a_run_says_once_what_it_was_made_with_and_on_what() {
        let dir = tempfile::tempdir().unwrap();
        let run = r#"{"commit": "abc", "date": "2026-11-21", "tools": {"openssl": "OpenSSL 3.0", "rustc": "rustc 1.95"},
            "machine": {"processor": "a|b", "cores": 2, "memory_mib": 24105, "kernel": "6.1",
                "others_median": 0.011, "others_most": 0.096},
            "rows": [{"metric": "a", "ours": 4.64}, {"metric": "b", "ours": 2.391},
                {"metric": "c", "ours": 12}, {"metric": "d", "ours": null, "note": "not built yet"}]}"#;
        fs::write(dir.path().join("host.json"), run).unwrap();
        let text = page(dir.path(), &dir.path().join("fuzz")).unwrap();
        assert!(text.contains("`abc`, 2026-11-21.\nTools: OpenSSL 3.0, rustc 1.95.\n"), "{text}");
        let machine = "Machine: a\\|b, 2 cores, 23.5 GiB of memory, Linux 6.1, everything else used \
            1.1 % of the processor in the median and 9.6 % at most.\n";
        assert!(text.contains(machine), "{text}");
        assert!(
            text.contains(
                "| a | 4.640 |  |\n| b | 2.391 |  |\n| c | 12.000 |  |\n| d | – | not built yet |\n"
            ),
            "{text}"
        );
        assert!(text.contains("<div class=\"figures\">\n\n### Figures"), "{text}");
    }

    #[test]
    fn misses_are_named_in_front_of_the_tables() {
        let dir = tempfile::tempdir().unwrap();
        let run = r#"{"rows": [
            {"table": "speed", "metric": "sign", "config": "a*b", "unit": "times", "ours": 1.5,
                "target": 1.8, "better": "higher", "status": "miss"},
            {"table": "speed", "metric": "verify", "config": "", "unit": "times", "ours": 1.25,
                "target": 2, "better": "lower", "status": "hit", "erratum": "1 + 1 is 2",
                "published": 3503.0, "peer": 1.2, "ratio": 0.0}]}"#;
        fs::write(dir.path().join("host.json"), run).unwrap();
        let text = page(dir.path(), &dir.path().join("fuzz")).unwrap();
        let head = "**1 of 2 targets missed, 1 hit.** Numbers that their own paper contradicts: 1.\n\n\
                    * <strong class=\"miss\">✗ miss</strong> speed, sign, a\\*b: 1.5 times, target ≥ 1.8\n\n";
        assert!(text.contains(head), "{text}");
        let columns = "| metric | config | unit | published | peer | ours | ratio | target | status | erratum |";
        assert!(text.contains(columns), "{text}");
        assert!(
            text.contains("| 1.50 |  | ≥ 1.8 | <strong class=\"miss\">✗ miss</strong> |  |"),
            "{text}"
        );
        assert!(text.contains("| 3503 | 1.2 | 1.25 | 0 | ≤ 2.0 | hit | 1 + 1 is 2 |"), "{text}");
    }

    #[test]
    fn of_the_runs_of_the_fuzzer_the_newest_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("fuzz");
        fs::create_dir(&folder).unwrap();
        let run = |date: &str, ended: u64, executions: u64| {
            serde_json::json!({
                "schema": 1, "commit": "abc", "is_modified": ended > 5, "date": date, "ended": ended,
                "rustc": "rustc 1.95", "libfuzzer_sys": "0.4", "seed": 1,
                "targets": [{ "target": "keys", "seconds": 46, "executions": executions,
                    "coverage": 7, "features": 8, "corpus": 9, "found_files": 0, "found_bytes": 0,
                    "peak_memory_mib": 28, "crashes": 0 }]
            })
            .to_string()
        };
        for (name, text) in [
            ("2026-01-02-b.json", run("2026-01-02", 5, 10)),
            ("2026-01-02-a.json", run("2026-01-02", 9, 20)),
            ("2025-12-31-c.json", run("2025-12-31", 99, 30)),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        let text = page(dir.path(), &dir.path().join("fuzz")).unwrap();
        assert!(
            text.contains(
                "`verif/runs/fuzz/2026-01-02-a.json`, at commit `abc`, with changes, 2026-01-02."
            ),
            "{text}"
        );
        assert!(text.contains("| keys | 46.0 | 20 | 7 | 9 | 0 |\n"), "{text}");
        assert!(!text.contains("| 30 |"));
    }

    /// Returns the text of a capability from the file of the page *Status*.
    fn text_of(id: &str) -> String {
        let all = status::load(&xtask::project::root()).unwrap();
        let it = all.into_iter().find(|it| it.id == id);
        it.unwrap_or_else(|| panic!("{} has no {id}", status::FILE)).text
    }

    /// Returns the number that follows the words `after`.
    fn quoted(text: &str, after: &str) -> String {
        let rest = text.split_once(after).unwrap_or_else(|| panic!("no {after:?} in {text}")).1;
        let number = rest.split_whitespace().next().unwrap_or_default();
        number.trim_end_matches([')', ';', ',']).to_owned()
    }

    #[test]
    fn the_status_quotes_the_stored_run() {
        let run = Run::read(&xtask::project::root().join("lab/runs/latest/host-speed.json"));
        let run = run.unwrap();
        let ours = |metric: &str, config: &str| {
            run.row("speed", metric, config).and_then(|row| row.ours).unwrap()
        };
        let good = text_of("host-speed");
        assert!(good.contains("openssl dgst -sha384"), "{good}");
        for (after, metric) in [("signed at ", "sign"), ("verified at ", "verify")] {
            let expected = format!("{:.1}", ours(metric, "sha384 blocks"));
            assert_eq!(quoted(&good, after), expected, "{metric}");
        }
        let missed = text_of("host-speed-sha256");
        let expected = format!("{:.2}", ours("sign", "sha256 blocks"));
        assert_eq!(quoted(&missed, "with SHA-256 has "), expected);
    }

    #[test]
    fn the_status_quotes_the_first_papers_evaluation() {
        let root = xtask::project::root();
        let run = Run::read(&root.join("lab/runs/latest/parallel-verification.json")).unwrap();
        let text = text_of("parallel-verification");
        // The measured number and the number that is scaled from it are different rows.
        let (overlap, ratio) = ("Overlap", "verified by unverified");
        let (here, whole) =
            ("storage at 1 of the hash rate", "initramfs, storage at 1 of the hash rate");
        for (after, table, metric, config, decimals) in [
            ("four harts hash ", "Section VII-A", "speed-up", "initramfs, blocks of 80 KiB", 2),
            ("as fast as one hart, ", "Hashing", "four harts", "SHA3-384, blocks of 80 KiB", 2),
            ("cycles a byte against ", "Hashing", "one hart", "SHA3-384", 2),
            ("(one hart, SHA-384: ", "Hashing", "one hart", "SHA-384", 2),
            ("while hashing takes ", overlap, ratio, here, 3),
            ("both simulated; ", overlap, ratio, whole, 3),
        ] {
            let ours = run.row(table, metric, config).and_then(|row| row.ours).unwrap();
            assert_eq!(quoted(&text, after), format!("{ours:.decimals$}"), "{table} {metric}");
        }
    }

    #[test]
    fn the_status_quotes_the_engine_for_sha3_beside_the_third_papers() {
        let root = xtask::project::root();
        let run = Run::read(&root.join("lab/runs/latest/quick-boot-tee.json")).unwrap();
        let text = text_of("quick-boot-tee");
        let core = "Keccak, 2 rounds a cycle, 12 cycles a block";
        let area = run.row("SHA-3 in one flow", "LUT", core).unwrap();
        let luts = |number: Option<f64>| grouped(number.unwrap() as u64);
        assert_eq!(quoted(&text, "with 12 cycles a block takes "), luts(area.ours));
        assert_eq!(quoted(&text, "the one that the paper's authors used, "), luts(area.peer));
        let block = run.row("SHA-3 by DMA", "a block", "SHA3-512, 16384 bytes, hits").unwrap();
        let cycles = format!("{:.2}", block.ours.unwrap());
        assert_eq!(quoted(&text, "SHA3-512 of 16 KiB takes "), cycles);
    }

    #[test]
    fn the_status_quotes_the_kernels_and_their_best_peers() {
        let root = xtask::project::root();
        let text = text_of("kernel-cost");
        let run = Run::read(&root.join("lab/runs/latest/vector-crypto.json")).unwrap();
        let (mut kernels, mut peers) = (Vec::new(), Vec::new());
        for (config, words) in [
            ("rv64", "on RV64GC"),
            ("zbb", "with Zbb"),
            ("zknh", "with Zknh"),
            ("zvknh, VLEN 128, one message", "with Zvknhb"),
        ] {
            let row = run.row("hash", "SHA-384", config).unwrap();
            let peer = row.peer.unwrap();
            kernels.push((row.ours.unwrap(), words));
            peers.push(format!("{peer:.1}"));
        }
        let [(first, place), rest @ ..] = &kernels[..] else { panic!("no kernels") };
        let rest: Vec<String> = rest.iter().map(|(it, words)| format!("{it:.1} {words}")).collect();
        let expected = [
            format!("SHA-384 in {first:.1} instructions a byte {place}, {};", rest.join(", ")),
            format!("on the same harts: {} ", peers.join(", ")),
        ];
        assert!(expected.iter().all(|it| text.contains(it)), "{expected:?} in {text}");
    }
}
