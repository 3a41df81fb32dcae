use std::fs;

use super::*;

/// Checks a site of these files.
fn check_files(files: &[(&str, &str)]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    check(dir.path()).unwrap()
}

/// Checks one page beside a page `other.html` with `#there`, a picture and a folder.
fn check_page(body: &str) -> Vec<String> {
    check_files(&[
        ("index.html", "<p id=home>"),
        ("a/page.html", body),
        ("a/other.html", "<h1 id=\"there\">x</h1><h2 id=\"über-uns\">y</h2>"),
        ("a/picture.svg", "<svg/>"),
        ("a/folder/index.html", "<a name=old>"),
    ])
}

#[test]
fn good_links_pass() {
    let body = r##"
        <a href="other.html">1</a> <a href="other.html#there">2</a> <a href="../index.html">3</a>
        <a href="#here">4</a> <p id="here"> <a href="#">5</a> <img src="picture.svg">
        <a href="folder/">6</a> <a href="folder#old">7</a> <a href="/index.html#home">8</a>
        <a href="..">9</a> <a href="other.html?x=1#%C3%BCber-uns">10</a>
        <a href="https://example.org/x">11</a> <a href="mailto:a@example.org">12</a>
        <link href="data:image/svg+xml;base64,AAAA"> <img srcset="picture.svg 2x, picture.svg 1x">
        <svg><marker id="tip"/><path marker-end="url(#tip)"/></svg>"##;
    assert_eq!(check_page(body), [""; 0]);
}

/// Each line holds one fault, and each is found, with the page and the reason.
#[test]
fn a_bad_page_is_caught_line_by_line() {
    for (body, why) in [
        ("<a href='gone.html'>", "no such page or file"),
        ("<a href='Other.html'>", "no such page or file"),
        ("<a href='other.html/'>", "no such page or file"),
        ("<a href='../../index.html'>", "leads out of the site"),
        ("<a href='other.html#nowhere'>", "a/other.html has no #nowhere"),
        ("<a href='#nowhere'>", "a/page.html has no #nowhere"),
        ("<a href='picture.svg#there'>", "is no page, so it has no anchors"),
        ("<a href=''>", "empty"),
        ("<a href=' other.html'>", "blanks around it"),
        ("<a href='other%2.html'>", "a % without two digits"),
        ("<img src='gone.png'>", "no such page or file"),
        ("<img srcset='picture.svg 1x, gone.svg 2x'>", "no such page or file"),
        ("<script src='gone.js'></script>", "no such page or file"),
        ("<link rel=stylesheet href='gone.css'>", "no such page or file"),
        ("<svg><use xlink:href='#gone'/></svg>", "has no #gone"),
        ("<svg><path marker-end='url(#gone)'/></svg>", "a picture uses #gone"),
        ("<p id=x><p id=x>", "two elements are #x"),
        ("<a href='https://'>", "no host"),
        ("<a href='https:/example.org/'>", "no host"),
        ("<a href='https://exa mple.org/'>", "blanks in an address"),
        ("<a href='//example.org/'>", "without a scheme"),
        ("<a href='javascript:x()'>", "not expected here"),
        ("<a href='file:///etc/hosts'>", "not expected here"),
        ("<a href='mailto:reader'>", "not expected here"),
        ("<p>{{#include gone.md}}", "a directive was not replaced"),
    ] {
        let found = check_page(body);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert!(found[0].starts_with("a/page.html: ") && found[0].contains(why), "{found:?}");
    }
}

#[test]
fn what_a_script_or_a_comment_holds_is_no_link() {
    let body = "<script>x = '<a href=\"gone.html\">'</script><!-- <a href='gone.html'> -->
                <p>&lt;a href='gone.html'&gt;";
    assert_eq!(check_page(body), [""; 0]);
}

#[test]
fn a_page_with_a_base_counts_from_there() {
    let found = check_files(&[
        ("index.html", ""),
        ("a/page.html", "<base href='/'><a href='index.html'><a href='page.html'>"),
    ]);
    assert_eq!(found, ["a/page.html: href=\"page.html\": no such page or file"]);
}
