use super::*;

const SECTIONS: &str = "WalnutDSA, sections";

fn value(paper: &Paper, table: &str, metric: &str, config: &str) -> f64 {
    let number = paper.number(table, metric, config);
    number.unwrap_or_else(|| panic!("no {table}, {metric}, {config}")).value
}

#[test]
fn the_totals_of_walnut_dsa_are_the_sums_of_its_sections() {
    let paper = Paper::load(KEY).unwrap();
    let common = ["exit", "walnut_emul", "loop", "positive", "negative", "continue"];
    for (kind, more) in [("without", None), ("with", Some("emultiply"))] {
        let sections = common.into_iter().chain(more);
        let cycles = |name| value(&paper, SECTIONS, "cycles", &format!("{kind}, {name}"));
        let total = value(
            &paper,
            "WalnutDSA",
            "verification, 1704 braid generators",
            &format!("{kind} cryptographic extensions"),
        );
        assert_eq!(sections.map(cycles).sum::<f64>(), total, "{kind}");
    }
}

#[test]
fn errata_are_the_products_that_do_not_hold() {
    let paper = Paper::load(KEY).unwrap();
    let mut contradicted = Vec::new();
    for kind in ["without", "with"] {
        for name in ["exit", "walnut_emul", "loop", "positive", "negative", "continue", "emultiply"]
        {
            let config = format!("{kind}, {name}");
            let Some(cycles) = paper.number(SECTIONS, "cycles", &config) else { continue };
            let of = |metric| value(&paper, SECTIONS, metric, &config);
            let product = of("cycles of an iteration") * of("iterations");
            let is_wrong = product != cycles.value;
            assert_eq!(is_wrong, cycles.erratum.is_some(), "{config}");
            if is_wrong {
                assert!(cycles.erratum.as_ref().unwrap().ends_with(&format!("is {product}")));
                contradicted.push(config);
            }
        }
    }
    assert_eq!(
        contradicted,
        ["without, loop", "without, positive", "without, negative", "with, loop"]
    );
}

#[test]
fn nearly_three_is_the_quotient_of_the_totals() {
    let paper = Paper::load(KEY).unwrap();
    let total =
        |config: &str| value(&paper, "WalnutDSA", "verification, 1704 braid generators", config);
    let quotient =
        total("without cryptographic extensions") / total("with cryptographic extensions");
    let said = value(&paper, "WalnutDSA, speed-up", "speed-up", "with cryptographic extensions");
    assert!(quotient < said && quotient.round() == said, "{quotient}");
}

#[test]
fn a_peer_is_named_with_its_version() {
    let versions = BTreeMap::from([("openssl", "4.0.3".to_owned()), ("sha2", "0.11.1".to_owned())]);
    assert_eq!(with_version("openssl", "sha256", &versions), "openssl 4.0.3");
    assert_eq!(with_version("rustcrypto", "sha384", &versions), "rustcrypto sha2 0.11.1");
    assert_eq!(with_version("rustcrypto", "kt128", &versions), "rustcrypto");
}

#[test]
fn without_linux_rows_say_how_to_get_it() {
    let count = Count {
        hash: "sha256".to_owned(),
        tier: "zvknh-128".to_owned(),
        form: "one".to_owned(),
        bytes: 64,
        instructions: 64,
        cycles: None,
    };
    let of = |peer: &str| PeerCount {
        hart: "zvknh-128",
        peer: peer.to_owned(),
        count: Count {
            hash: count.hash.clone(),
            tier: count.tier.clone(),
            form: count.form.clone(),
            ..count
        },
    };
    let rows = without_linux(&[of("openssl")]);
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.ours.is_none() && row.config == "linux on zvknh-128"));
    assert!(without_linux(&[of("openssl"), of(LINUX)]).is_empty());
}

#[test]
fn lanes_are_not_compared_with_one_message() {
    let of = |form: &str, tier: &str| Count {
        hash: "sha256".to_owned(),
        tier: tier.to_owned(),
        form: form.to_owned(),
        bytes: 64,
        instructions: 64,
        cycles: None,
    };
    let hart =
        hartlock_device::kernels::HARTS.iter().find(|hart| hart.name == "zvknh-128").unwrap();
    let counts = [(hart, of("one", "zvknh")), (hart, of("many", "zvknh"))];
    let peer = PeerCount { hart: hart.name, peer: "a".to_owned(), count: of("one", "zvknh-128") };
    let rows = rows(&counts, &[peer], &BTreeMap::new());
    assert_eq!((rows[0].peer, rows[0].ratio), (Some(1.0), Some(1.0)));
    assert_eq!((rows[1].peer, rows[1].ratio), (Some(1.0), None));
}

#[test]
fn figures_of_others_have_no_ratio() {
    assert!(reported().all(|row| row.peer.is_some() && row.ours.is_none() && row.ratio.is_none()));
}
