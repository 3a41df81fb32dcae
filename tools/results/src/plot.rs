//! Plots of a stored run, as SVG that uses the colours of the page which contains it.

use anyhow::Result;

use super::paper::{Paper, Parameter};
use super::run::{How, Run};
use super::sensitivity::{Sweep, sweeps};
use super::stored::Column;

mod canvas;
mod draw;

/// Name of the first paper's table over block sizes, and of its metrics and configurations.
const BLOCKS: &str = "Table V";
const SEQUENTIAL: &str = "sequential";
const PARALLEL: &str = "parallel, 4 harts";
const IMAGE: &str = "initramfs, ";
const ONE_HASH: &str = "initramfs, one hash";

const BLOCK_AXES: draw::Axes =
    draw::Axes { unit: "ms", sizes: "KiB in a block", heights: draw::Heights::Even };

/// Name of the fifth paper's figure over payload sizes, and of its metric.
const PAYLOADS: &str = "Figure 2";
const PAYLOAD_COST: &str = "cost";
/// Names of the limits that are horizontal lines in that figure.
const LIMITS: &str = "Figure 2, limits";
const HASH_LIMITS: [&str; 3] = ["engine, SHA-256 and HMAC", "memory, RAM", "memory, RoT"];
const AES: &str = "AES-256";
const AES_LIMITS: [&str; 3] = ["engine, AES-256", "memory, AES-256, RAM", "memory, AES-256, RoT"];
const PAYLOAD_AXES: draw::Axes = draw::Axes {
    unit: "cycles per byte",
    sizes: "bytes of the payload",
    heights: draw::Heights::Doublings,
};

/// An additional table in the fifth paper's run: cycles by engine, size and feed.
const FEEDS: &str = "Engine, size and feed";
const FED: [&str; 5] = ["SHA-256", "HMAC", "AES-256-CBC", "AES-256-CTR", "AES-256-GCM"];
const FEED_AXES: draw::Axes =
    draw::Axes { unit: "cycles", sizes: "bytes of the message", heights: draw::Heights::Decades };

/// An additional table in the fifth paper's run: utilisation of the engine by DMA, by memory latency and outstanding
/// reads.
const LATENCY: &str = "DMA, memory latency";
const LATENCY_AXES: draw::Axes = draw::Axes {
    unit: "percent of the engine",
    sizes: "cycles of memory latency",
    heights: draw::Heights::Even,
};

/// Name of the third paper's figure: cycles of a boot over payload size, with a line for each implementation.
const BOOTS: &str = "Figure 6";
const BOOT_AXES: draw::Axes =
    draw::Axes { unit: "cycles", sizes: "MiB of the payload", heights: draw::Heights::Decades };

/// Name of the second paper's table. In the run, it has this project's numbers with two rounds per cycle; other numbers
/// of rounds are in separate tables.
const VERIFICATIONS: &str = "Table I";
/// A figure from that table: metric, title of the plot, unit, and a sentence that describes it.
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

/// An additional table: cycles per byte, by order of loading and verifying and by storage rate.
const OVERLAP: &str = "Overlap";
const OVERLAP_AXES: draw::Axes = draw::Axes {
    unit: "cycles per byte",
    sizes: "rate of the storage",
    heights: draw::Heights::Even,
};
const LOAD_ONLY: &str = "load only";
const LOAD_THEN_VERIFY: &str = "load, then verify";
const LOAD_WHILE_VERIFYING: &str = "load while verifying";

/// Tables of the fourth paper's run: instructions of a first stage by signature algorithm and way, of a short message by
/// implementation and hart, and of WalnutDSA by security level and kernel.
const FIRST_STAGE: &str = "first stage, instructions";
const SHORT_MESSAGE: &str = "AES-256-GCM, instructions";
const WALNUT: &str = "WalnutDSA, instructions";

/// The ways of the plot are those of the paper's last slide. Of the six algorithms it shows as many as there are colours.
const FIRST_STAGE_BARS: Comparison = Comparison {
    id: "first-stage",
    title: "Hash and signature of a first stage, four ways",
    drawing: "Instructions of the boot hart for a first stage, by signature algorithm and kernels",
    axes: draw::Axes {
        unit: "instructions of the boot hart",
        sizes: "kernels",
        heights: draw::Heights::Decades,
    },
    kinds: &[
        ("WalnutDSA (broken)", canvas::Look::Then),
        ("Ed25519", canvas::Look::While),
        ("ML-DSA-65", canvas::Look::Load),
    ],
    groups: &[
        ("portable", "portable"),
        ("scalar", "scalar assembly"),
        ("vectors", "vectors, VLEN 256"),
        ("and 4 harts", "vectors, VLEN 256, 4 harts"),
    ],
    caption: "Ours: counted. SHA-256 of 503 KiB and the verification of one signature; each number of the axis is ten times the \
              one below. On four harts the hash is a tree of blocks, another form than the one message of the other \
              three groups.",
};

const SHORT_MESSAGE_BARS: Comparison = Comparison {
    id: "short-message",
    title: "A message of 1 KiB in AES-256-GCM",
    drawing: "Instructions of AES-256-GCM for 1 KiB, by extensions of the hart, ours and OpenSSL's",
    axes: draw::Axes {
        unit: "instructions",
        sizes: "extensions of the hart",
        heights: draw::Heights::Decades,
    },
    kinds: &[("Hartlock", canvas::Look::While), ("OpenSSL", canvas::Look::Then)],
    groups: &[
        ("none", "rv64"),
        ("Zkne", "Zkne and Zbkc"),
        ("Zvbc", "Zvkned and Zvbc, VLEN 128"),
        ("Zvkg", "Zvkned and Zvkg, VLEN 128"),
        ("256 bits", "Zvkned and Zvkg, VLEN 256"),
        ("512 bits", "Zvkned and Zvkg, VLEN 512"),
    ],
    caption: "Counted: decrypted and verified with the schedule of the key; each number of the axis is ten times the one \
              below. Without extensions OpenSSL looks up tables by secret addresses, and ours is in constant time. Zvbc and Zvkg \
              have vector registers of 128 bits and Zvkned, too; the last two groups are Zvkg with longer registers.",
};

const WALNUT_BARS: Comparison = Comparison {
    id: "walnut",
    title: "WalnutDSA, a generator",
    drawing: "Instructions of E-multiplication for each generator, by kernel and security level",
    axes: draw::Axes {
        unit: "instructions a generator",
        sizes: "kernel",
        heights: draw::Heights::Even,
    },
    kinds: &[("Walnut-128", canvas::Look::While), ("Walnut-256", canvas::Look::Then)],
    groups: &[
        ("portable", "portable"),
        ("rv64", "rv64"),
        ("zbc", "zbc"),
        ("v", "v"),
        ("zvbc", "zvbc"),
    ],
    caption: "Ours: counted, over the 1,704 generators that the paper estimates for its lower level, and those of the upper level. \
              WalnutDSA is broken; no boot stage has it.",
};

/// The tables of the fourth paper's run of models, ours and OpenSSL's, and the core of the plot. The loops of the plot are
/// those with vector crypto in which both have to do the same.
const MODELS: &str = "models of cores";
const MODELS_OF_OPENSSL: &str = "models of cores, OpenSSL";
const MODEL_OF_PLOT: &str = "sifive-p670";
const MODEL_BARS: Comparison = Comparison {
    id: "loops",
    title: "Inner loops in the model of a core",
    drawing: "Cycles of a byte in inner loops, by the model of sifive-p670",
    axes: draw::Axes {
        unit: "cycles per byte, modelled",
        sizes: "inner loop",
        heights: draw::Heights::Even,
    },
    kinds: &[("OpenSSL", canvas::Look::Then), ("Hartlock", canvas::Look::While)],
    groups: &[
        ("SHA-256", "SHA-256, Zvknha"),
        ("SHA-512", "SHA-512, Zvknhb"),
        ("AES-CTR", "AES-256-CTR, Zvkned"),
        ("AES-GCM", "AES-256-GCM, Zvkg"),
        ("GHASH", "GHASH, Zvbc"),
    ],
    caption: "Modelled, both: LLVM's model of sifive-p670, which has no caches and no branch prediction. Where the AES unit or \
              the chain of rounds is full, fewer instructions buy nothing.",
};

/// A plot with its title and caption.
pub struct Plot {
    pub title: String,
    /// An SVG element without blank lines, so that Markdown can contain it.
    pub svg: String,
    pub caption: String,
}

/// The plots that a run has rows for. The paper says what its sizes and times are of.
pub fn plots(key: &str, run: &Run, paper: Option<&Paper>) -> Result<Vec<Plot>> {
    let mut plots: Vec<Plot> =
        [blocks(key, run, paper)?, overlap(key, run)?].into_iter().flatten().collect();
    for function in ["SHA-256", "HMAC", AES] {
        plots.extend(payloads(key, run, function)?);
    }
    for function in FED {
        plots.extend(feeds(key, run, function)?);
    }
    plots.extend(latency(key, run)?);
    for bars in [first_stage, short_message, walnut, models] {
        plots.extend(bars(key, run)?);
    }
    for passes in ["one pass", "three passes"] {
        plots.extend(boots(key, run, passes)?);
    }
    for of in &FIGURES {
        plots.extend(figure(key, run, of)?);
    }
    let parameters = paper.map_or(&[][..], |paper| &paper.parameters);
    for (index, sweep) in sweeps(run, parameters).iter().enumerate() {
        plots.push(sensitivity(&format!("{key}-sensitivity-{index}"), sweep)?);
    }
    Ok(plots)
}

fn sensitivity(id: &str, sweep: &Sweep<'_>) -> Result<Plot> {
    let Parameter { name, .. } = sweep.parameter;
    let sentence = sweep.sentence();
    let words = canvas::Words {
        id: id.to_owned(),
        title: format!("Speed-up, by the {name}"),
        about: sentence.clone(),
    };
    Ok(Plot {
        title: format!("Sensitivity: {name}"),
        svg: drawn(&words, |svg| draw::sweep(svg, sweep))?,
        caption: sentence,
    })
}

/// Points of a line, such as block size and time.
type Points = Vec<(f64, f64)>;

/// A line of the plot over sizes of blocks.
struct Series {
    name: &'static str,
    look: canvas::Look,
    points: Points,
}

fn blocks(key: &str, run: &Run, paper: Option<&Paper>) -> Result<Option<Plot>> {
    use canvas::Look;
    let points = |column: Column, metric: &str| -> Points {
        let rows = run.rows.iter();
        let rows = rows.filter(|row| row.table == BLOCKS && row.metric == metric);
        let mut points: Points = rows
            .filter_map(|row| {
                let size = row.config.strip_prefix(IMAGE)?.strip_prefix("blocks of ")?;
                let size = size.strip_suffix(" KiB")?.parse().ok()?;
                Some((size, row.number(column)?))
            })
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let lines: Vec<Series> = [
        ("paper, 1 hart", Look::PaperOne, points(Column::Published, SEQUENTIAL)),
        ("paper, 4 harts", Look::PaperFour, points(Column::Published, PARALLEL)),
        ("ours, 1 hart", Look::OursOne, points(Column::Ours, SEQUENTIAL)),
        ("ours, 4 harts", Look::OursFour, points(Column::Ours, PARALLEL)),
    ]
    .into_iter()
    .map(|(name, look, points)| Series { name, look, points })
    .filter(|line| !line.points.is_empty())
    .collect();
    // A quick run has only one block size, which is not a line; its table shows it.
    if lines.iter().all(|line| line.points.len() < 2) {
        return Ok(None);
    }
    let flat = [(Column::Published, Look::PaperFlat), (Column::Ours, Look::OursFlat)];
    let flat: Vec<(f64, Look)> = flat
        .into_iter()
        .filter_map(|(column, look)| {
            Some((run.row(BLOCKS, SEQUENTIAL, ONE_HASH)?.number(column)?, look))
        })
        .collect();
    let ends = lines.iter().map(|line| {
        let text = |(size, time): &(f64, f64)| format!("{time} ms with blocks of {size} KiB");
        let ends = [line.points.first(), line.points.last()];
        let ends: Vec<String> = ends.into_iter().flatten().map(text).collect();
        format!("{}: {}", line.name, ends.join(", "))
    });
    let words = canvas::Words {
        id: format!("{key}-blocks"),
        title: "Time to hash the initramfs over the size of its blocks".to_owned(),
        about: ends.collect::<Vec<_>>().join(". "),
    };
    Ok(Some(Plot {
        title: "What blocks cost, and what four harts gain".to_owned(),
        svg: drawn(&words, |svg| draw::lines(svg, &BLOCK_AXES, &lines, &flat))?,
        caption: format!(
            "{}{}Small blocks cost padding and a longer list of digests; the digest of a block does not \
             depend on the others, so four harts can share them. Dotted: one hash from the first \
             byte to the last, which one hart has to compute.",
            paper.map_or(Ok(String::new()), conditions)?,
            made(run, BLOCKS)
        ),
    }))
}

/// Returns a sentence about the origin of our numbers in a table; empty for a run that does not state it.
fn made(run: &Run, table: &str) -> String {
    let mut hows: Vec<&str> = Vec::new();
    for row in run.rows.iter().filter(|row| row.table == table) {
        if let Some(how) = row.how.map(How::name)
            && !hows.contains(&how)
        {
            hows.push(how);
        }
    }
    if hows.is_empty() { String::new() } else { format!("Ours: {}. ", hows.join(", ")) }
}

fn conditions(paper: &Paper) -> Result<String> {
    let (size, clock) = (paper.constant("initramfs_mib")?, paper.constant("clock_mhz")?);
    Ok(format!("An initramfs of {size} MiB; times at {clock} MHz. "))
}

/// A group of bars, and its label on the axis.
struct Group {
    name: String,
    bars: Vec<(canvas::Look, f64)>,
}

fn overlap(key: &str, run: &Run) -> Result<Option<Plot>> {
    let kinds = [
        (LOAD_ONLY, canvas::Look::Load),
        (LOAD_THEN_VERIFY, canvas::Look::Then),
        (LOAD_WHILE_VERIFYING, canvas::Look::While),
    ];
    let mut configs: Vec<&str> = Vec::new();
    for row in run.rows.iter().filter(|row| row.table == OVERLAP) {
        if !configs.contains(&row.config.as_str()) {
            configs.push(&row.config);
        }
    }
    let group = |config: &str| {
        let rate = config.strip_prefix("storage at ")?.strip_suffix(" of the hash rate")?;
        let bar = |(metric, look)| Some((look, run.row(OVERLAP, metric, config)?.ours?));
        let bars: Vec<_> = kinds.into_iter().filter_map(bar).collect();
        (!bars.is_empty()).then(|| Group { name: format!("{rate} ×"), bars })
    };
    let groups: Vec<Group> = configs.into_iter().filter_map(group).collect();
    if groups.is_empty() {
        return Ok(None);
    }
    let text = |group: &Group| {
        let bars = group.bars.iter().map(|(look, value)| {
            let name = kinds.iter().find(|kind| kind.1 == *look).map_or("", |kind| kind.0);
            format!("{name} {value}")
        });
        let rate = group.name.trim_end_matches(" ×");
        format!("storage at {rate} of it: {}", bars.collect::<Vec<_>>().join(", "))
    };
    let words = canvas::Words {
        id: format!("{key}-overlap"),
        title: "Cycles for each byte, by the rate of the storage".to_owned(),
        about: format!(
            "As a share of the rate at which four harts hash: {}.",
            groups.iter().map(text).collect::<Vec<_>>().join("; ")
        ),
    };
    Ok(Some(Plot {
        title: "Hashing while loading".to_owned(),
        svg: drawn(&words, |svg| draw::bars(svg, &OVERLAP_AXES, &groups, &kinds))?,
        caption: format!(
            "{}The storage delivers at a multiple of the rate at which four harts hash. With both at once the \
             slower of the two decides.",
            made(run, OVERLAP)
        ),
    }))
}

fn payloads(key: &str, run: &Run, function: &'static str) -> Result<Option<Plot>> {
    use canvas::Look;
    let points = |column: Column, place: &str| -> Points {
        let rows = run.rows.iter();
        let rows = rows.filter(|row| row.table == PAYLOADS && row.metric == PAYLOAD_COST);
        let mut points: Points = rows
            .filter_map(|row| {
                let size = row.config.strip_prefix(place)?.strip_prefix(", ")?;
                let size = size.strip_prefix(function)?.strip_prefix(", ")?;
                Some((size.strip_suffix(" bytes")?.parse().ok()?, row.number(column)?))
            })
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let lines: Vec<Series> = [
        ("engine, from RAM", Look::OursFour, points(Column::Ours, "RAM")),
        ("engine, scratchpad", Look::OursOne, points(Column::Ours, "RoT")),
        ("BearSSL on CVA6", Look::Software, points(Column::Ours, "BearSSL -Os on CVA6")),
        ("paper, from RAM", Look::PaperFour, points(Column::Published, "RAM")),
        ("paper, scratchpad", Look::PaperOne, points(Column::Published, "RoT")),
    ]
    .into_iter()
    .map(|(name, look, points)| Series { name, look, points })
    .filter(|line| !line.points.is_empty())
    .collect();
    if lines.iter().all(|line| line.points.len() < 2) {
        return Ok(None);
    }
    let limit = |config| run.row(LIMITS, PAYLOAD_COST, config)?.ours;
    let limits = if function == AES { AES_LIMITS } else { HASH_LIMITS };
    let limits = limits.into_iter().filter_map(limit);
    let limits: Vec<(f64, Look)> = limits.map(|cost| (cost, Look::OursFlat)).collect();
    let ends = lines.iter().map(|line| {
        let text = |(size, cost): &(f64, f64)| format!("{cost} for {size} bytes");
        let ends = [line.points.first(), line.points.last()];
        let ends: Vec<String> = ends.into_iter().flatten().map(text).collect();
        format!("{}: {}", line.name, ends.join(", "))
    });
    let words = canvas::Words {
        id: format!("{key}-{}", function.to_lowercase()),
        title: format!("Cycles for each byte of {function}, over the size of the payload"),
        about: ends.collect::<Vec<_>>().join(". "),
    };
    Ok(Some(Plot {
        title: if function == "HMAC" { "HMAC-SHA-256" } else { function }.to_owned(),
        svg: drawn(&words, |svg| draw::lines(svg, &PAYLOAD_AXES, &lines, &limits))?,
        caption: made(run, PAYLOADS)
            + "Each line across is four times the one below. Of the paper's own figure only the \
                  largest payload is printed in numbers: the triangles. Dotted, from above: what the least \
                  costs of accesses allow from RAM and from the scratchpad, and what the engine \
                  allows.",
    }))
}

/// Cycles of a function by words of the core, by DMA, and in software, over sizes: a cost below a cycle a byte has no place on
/// the axis of the other figures.
fn feeds(key: &str, run: &Run, function: &str) -> Result<Option<Plot>> {
    use canvas::Look;
    let points = |feed: &str| -> Points {
        let rows = run.rows.iter();
        let rows = rows.filter(|row| row.table == FEEDS && row.metric == "cost");
        let mut points: Points = rows
            .filter_map(|row| {
                let rest = row.config.strip_prefix(function)?.strip_prefix(", ")?;
                let size = rest.strip_prefix(feed)?.strip_prefix(", ")?.strip_suffix(" bytes")?;
                let size: f64 = size.parse().ok()?;
                Some((size, (row.ours? * size).round()))
            })
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let lines: Vec<Series> = [
        ("BearSSL on CVA6", Look::Software, points("software")),
        ("words of the core", Look::OursOne, points("words")),
        ("DMA", Look::OursFour, points("DMA")),
        ("words, for the host", Look::PaperOne, points("words, for the host")),
        ("DMA, for the host", Look::PaperFour, points("DMA, for the host")),
    ]
    .into_iter()
    .map(|(name, look, points)| Series { name, look, points })
    .filter(|line| !line.points.is_empty())
    .collect();
    if lines.iter().all(|line| line.points.len() < 2) {
        return Ok(None);
    }
    let ends = lines.iter().map(|line| {
        let text = |(size, cycles): &(f64, f64)| format!("{cycles} cycles for {size} bytes");
        let ends = [line.points.first(), line.points.last()];
        let ends: Vec<String> = ends.into_iter().flatten().map(text).collect();
        format!("{}: {}", line.name, ends.join(", "))
    });
    let words = canvas::Words {
        id: format!("{key}-feeds-{}", function.to_lowercase()),
        title: format!("Cycles of a message of {function}, over its size, by feed and in software"),
        about: ends.collect::<Vec<_>>().join(". "),
    };
    Ok(Some(Plot {
        title: format!("{function}: engine or software"),
        svg: drawn(&words, |svg| draw::lines(svg, &FEED_AXES, &lines, &[]))?,
        caption: made(run, FEEDS)
            + "From RAM, by engines at their own speed. Both axes are logarithmic. Where the line of software crosses another \
               one, the host may as well compute by itself. Triangles: with what a request of the host takes beside \
               the message, which is that of a digest.",
    }))
}

/// Bars that stand together for each configuration, one for each kind.
struct Comparison {
    /// Appended to the name of the run.
    id: &'static str,
    title: &'static str,
    /// Title of the drawing, for those who do not see it.
    drawing: &'static str,
    axes: draw::Axes,
    kinds: &'static [(&'static str, canvas::Look)],
    /// Label of a group, and the configuration that it shows.
    groups: &'static [(&'static str, &'static str)],
    caption: &'static str,
}

/// Draws a comparison whose numbers `number` finds by kind and configuration. A run that lacks one of them has no such plot.
fn comparison(
    key: &str,
    of: &Comparison,
    number: impl Fn(&str, &str) -> Option<f64>,
) -> Result<Option<Plot>> {
    let group = |(name, config): &(&str, &str)| {
        let bar = |(kind, look): &(&str, _)| Some((*look, number(kind, config)?));
        let bars: Vec<_> = of.kinds.iter().filter_map(bar).collect();
        (bars.len() == of.kinds.len()).then(|| Group { name: (*name).to_owned(), bars })
    };
    let groups: Vec<Group> = of.groups.iter().filter_map(group).collect();
    if groups.len() < of.groups.len() {
        return Ok(None);
    }
    let text = |(group, (_, config)): (&Group, &(&str, &str))| {
        let bars = of.kinds.iter().zip(&group.bars);
        let bars: Vec<String> = bars.map(|((kind, _), bar)| format!("{kind} {}", bar.1)).collect();
        format!("{config}: {}", bars.join(", "))
    };
    let words = canvas::Words {
        id: format!("{key}-{}", of.id),
        title: of.drawing.to_owned(),
        about: groups.iter().zip(of.groups).map(text).collect::<Vec<_>>().join(". "),
    };
    Ok(Some(Plot {
        title: of.title.to_owned(),
        svg: drawn(&words, |svg| draw::bars(svg, &of.axes, &groups, of.kinds))?,
        caption: of.caption.to_owned(),
    }))
}

/// Instructions of hash and verification of a first stage, by way, with a bar for each algorithm.
fn first_stage(key: &str, run: &Run) -> Result<Option<Plot>> {
    comparison(key, &FIRST_STAGE_BARS, |kind, way| {
        let metric = format!("{}, sum", kind.trim_end_matches(" (broken)"));
        run.row(FIRST_STAGE, &metric, way)?.ours
    })
}

/// Instructions of the paper's message of AES-256-GCM, by hart, with a bar for each implementation.
fn short_message(key: &str, run: &Run) -> Result<Option<Plot>> {
    comparison(key, &SHORT_MESSAGE_BARS, |who, hart| {
        let config = format!("{}, {hart}, with key schedule", who.to_lowercase());
        run.row(SHORT_MESSAGE, "message of 1 KiB", &config)?.ours
    })
}

/// Instructions of WalnutDSA for each generator, by kernel, with a bar for each security level.
fn walnut(key: &str, run: &Run) -> Result<Option<Plot>> {
    comparison(key, &WALNUT_BARS, |level, kernel| {
        let config = format!("{}, {kernel}", level.to_lowercase());
        run.row(WALNUT, "E-multiplication", &config)?.ours
    })
}

/// Cycles of inner loops in the model of a core, with a bar for each implementation.
fn models(key: &str, run: &Run) -> Result<Option<Plot>> {
    comparison(key, &MODEL_BARS, |who, metric| {
        let table = if who == "OpenSSL" { MODELS_OF_OPENSSL } else { MODELS };
        run.row(table, metric, MODEL_OF_PLOT)?.ours
    })
}

/// Lines by outstanding reads, over the latency of memory.
fn latency(key: &str, run: &Run) -> Result<Option<Plot>> {
    use canvas::Look;
    let points = |reads: &str| -> Points {
        let rows = run.rows.iter().filter(|row| row.table == LATENCY);
        let mut points: Points = rows
            .filter_map(|row| {
                let (cycles, of) = row.config.split_once(" cycles, ")?;
                (of == reads).then_some((cycles.parse().ok()?, row.ours?))
            })
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let lines: Vec<Series> = [
        ("8 reads", Look::OursFour),
        ("4 reads", Look::OursOne),
        ("2 reads", Look::Software),
        ("1 read", Look::PaperFour),
    ]
    .into_iter()
    .map(|(name, look)| Series { name, look, points: points(name) })
    .filter(|line| !line.points.is_empty())
    .collect();
    if lines.iter().all(|line| line.points.len() < 2) {
        return Ok(None);
    }
    let of_line = |line: &Series| {
        let text = |(latency, used): &(f64, f64)| format!("{used:.1} % at {latency} cycles");
        let points: Vec<String> = line.points.iter().map(text).collect();
        format!("{}: {}", line.name, points.join(", "))
    };
    let words = canvas::Words {
        id: format!("{key}-latency"),
        title: "Use of the SHA-256 engine by DMA, over the latency of memory".to_owned(),
        about: lines.iter().map(of_line).collect::<Vec<_>>().join(". "),
    };
    Ok(Some(Plot {
        title: "DMA and slow memory".to_owned(),
        svg: drawn(&words, |svg| draw::lines(svg, &LATENCY_AXES, &lines, &[]))?,
        caption: made(run, LATENCY)
            + "SHA-256 of 16 KiB, by how many reads of a line may be outstanding. 100 % is a block in 34 cycles. \
               A line of 64 bytes takes 8 cycles of the bus, and one read at a time waits for all of the latency.",
    }))
}

/// Cycles of measuring, key pair and signature, over sizes of the payload.
fn boots(key: &str, run: &Run, passes: &str) -> Result<Option<Plot>> {
    use canvas::Look;
    let points = |column: &str| -> Points {
        let rows = run.rows.iter();
        let rows = rows.filter(|row| row.table == BOOTS && row.metric == passes);
        let mut points: Points = rows
            .filter_map(|row| {
                let size = row.config.strip_prefix(column)?.strip_prefix(", ")?;
                let mebibytes = match size.split_once(' ')? {
                    (number, "MiB") => number.parse::<f64>().ok()?,
                    (number, _) => number.parse::<f64>().ok()? / 1024.0,
                };
                Some((mebibytes, row.ours?))
            })
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let lines: Vec<Series> = [
        ("portable software", Look::Software),
        ("our software", Look::SoftwareOne),
        ("SHA-3 engine", Look::OursOne),
        ("engines in the paper's manner", Look::PaperFour),
        ("engines, pushed", Look::PaperOne),
        ("DMA, 24 cycles", Look::OursFour),
        ("DMA, 12 cycles", Look::OursFlat),
    ]
    .into_iter()
    .map(|(name, look)| Series { name, look, points: points(name) })
    .filter(|line| !line.points.is_empty())
    .collect();
    // A quick run has one size, which is not a line, and one implementation has nothing to be compared with.
    if lines.len() < 2 || lines.iter().all(|line| line.points.len() < 2) {
        return Ok(None);
    }
    let ends = lines.iter().map(|line| {
        let text = |(size, cycles): &(f64, f64)| format!("{cycles:.0} cycles for {size} MiB");
        let ends = [line.points.first(), line.points.last()];
        let ends: Vec<String> = ends.into_iter().flatten().map(text).collect();
        format!("{}: {}", line.name, ends.join(", "))
    });
    let words = canvas::Words {
        id: format!("{key}-{}", passes.replace(' ', "-")),
        title: format!("Cycles of measuring, key pair and signature over the payload, {passes}"),
        about: ends.collect::<Vec<_>>().join(". "),
    };
    let meaning = if passes == "one pass" {
        "The monitor is measured once, as Keystone does it, and 96 bytes are signed. "
    } else {
        "The payload itself is signed, as the paper's algorithm 1 says: it is read three times. "
    };
    Ok(Some(Plot {
        title: format!("Figure 6, {passes}"),
        svg: drawn(&words, |svg| draw::lines(svg, &BOOT_AXES, &lines, &[]))?,
        caption: format!(
            "{}{meaning}Both axes are logarithmic, so a time that grows with the payload is a straight line. Triangles: \
             engines that the processor feeds.",
            made(run, BOOTS)
        ),
    }))
}

/// A line of the second paper's table: a number over hash cores.
fn verifications(run: &Run, table: &str, metric: &str, column: Column) -> Points {
    let rows = run.rows.iter();
    let rows = rows.filter(|row| row.table == table && row.metric == metric);
    let mut points: Points = rows
        .filter_map(|row| {
            let cores = row.config.strip_prefix("whole, ")?.split(' ').next()?;
            Some((cores.parse().ok()?, row.number(column)?))
        })
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

/// Cycles or look-up tables of a verification, over hash cores.
fn figure(key: &str, run: &Run, (metric, title, unit, about): &Figure) -> Result<Option<Plot>> {
    use canvas::Look;
    let lines: Vec<Series> = [
        ("paper", Look::PaperFour, VERIFICATIONS.to_owned(), Column::Published),
        ("ours, 1 round", Look::OursOne, format!("{VERIFICATIONS}, 1 round a cycle"), Column::Ours),
        ("ours, 2 rounds", Look::OursFour, VERIFICATIONS.to_owned(), Column::Ours),
    ]
    .into_iter()
    .map(|(name, look, table, column)| Series {
        name,
        look,
        points: verifications(run, &table, metric, column),
    })
    .filter(|line| !line.points.is_empty())
    .collect();
    // The paper's line only is no comparison, and a quick run has one point.
    if lines.iter().filter(|line| line.look.is_ours()).all(|line| line.points.len() < 2) {
        return Ok(None);
    }
    let text = |line: &Series| {
        let text = |(cores, number): &(f64, f64)| format!("{number:.0} with {cores}");
        let points: Vec<String> = line.points.iter().map(text).collect();
        format!("{}: {}", line.name, points.join(", "))
    };
    let words = canvas::Words {
        id: format!("{key}-{}", metric.to_lowercase()),
        title: format!("{title}, over the number of hash cores"),
        about: lines.iter().map(text).collect::<Vec<_>>().join(". "),
    };
    let axes = draw::Axes { unit, sizes: "hash cores", heights: draw::Heights::Decades };
    Ok(Some(Plot {
        title: (*title).to_owned(),
        svg: drawn(&words, |svg| draw::lines(svg, &axes, &lines, &[]))?,
        caption: format!(
            "{}{about}A block of SHA-256 takes 68 cycles with one round a cycle, 34 with two, and 41 \
             in the paper. Both axes are logarithmic.",
            made(run, VERIFICATIONS)
        ),
    }))
}

fn drawn(words: &canvas::Words, draw: impl FnOnce(&mut String) -> Result<()>) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg)?;
    Ok(canvas::dressed(&svg, words))
}

#[cfg(test)]
mod tests;
