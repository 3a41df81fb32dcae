//! Parses the text of a description into a board: checks its form, takes missing values from the board that
//! it extends, and looks for contradictions.

use std::collections::BTreeSet;

use hartlock_image::{MAX_BOOTARGS, Name};
use serde::Deserialize;
use toml::Spanned;

use crate::fault::{Fault, KeyPosition, Kind};
use crate::is_file;
use crate::model::{
    Board, Clock, Device, Dma, Environment, ModuleSelection, Place, Region, RootOfTrustRegion,
    Signing, Size, Storage,
};

/// A function that returns the text of the description with this name, for a description that extends it.
pub type Base<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A description as it is written. Every value that can be taken from another board is optional.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a description of a board")]
struct RawDescription {
    name: String,
    soc: Option<String>,
    about: Option<String>,
    harts: Option<u32>,
    max_bootargs: Option<u32>,
    ticks_per_second: Option<u64>,
    stages_of: Option<String>,
    extends: Option<Spanned<String>>,
    #[serde(default)]
    without: Vec<Spanned<String>>,
    #[serde(default)]
    forms: FormsText,
    region: Option<Vec<Region>>,
    place: Option<Vec<Place>>,
    signing: Option<Signing>,
    device: Option<Vec<Device>>,
    root_of_trust: Option<Vec<RootOfTrustRegion>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the forms of a board")]
struct FormsText {
    environment: Option<Environment>,
    clock: Option<Clock>,
    storage: Option<Storage>,
    dma: Option<Dma>,
}

/// Parses a description. `base` returns the text of the description that this one extends.
///
/// # Errors
/// Fails if the form is wrong or the description contradicts itself.
pub fn read(text: &str, base: Base<'_>) -> Result<Board, Fault> {
    let own = form(text)?;
    let board = match &own.extends {
        None => complete(own, text)?,
        Some(name) => {
            let fail = |message: &str| Fault::at(Kind::Form, message, text, name.span());
            let base = base(name.get_ref())
                .ok_or_else(|| fail(&format!("there is no board {} to extend", name.get_ref())))?;
            let base = form(&base)
                .and_then(|own| match own.extends {
                    None => complete(own, &base),
                    Some(_) => Err(fail("it extends a board that extends another")),
                })
                .map_err(|fault| fail(&fault.message))?;
            extended(base, own, text)?
        }
    };
    check(&board, text)?;
    Ok(board)
}

fn form(text: &str) -> Result<RawDescription, Fault> {
    if text.contains(|c: char| c.is_control() && !c.is_whitespace()) {
        return Err(Fault::at(Kind::Form, "it is not a text file", "", 0..0));
    }
    toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        Fault::at(Kind::Form, error.message(), text, span)
    })
}

/// Makes a board from a description that extends no other, so that every value must be given.
fn complete(own: RawDescription, text: &str) -> Result<Board, Fault> {
    let missing = |key: &str| {
        let message =
            format!("missing field `{key}`; add it, or take it from another board with `extends`");
        Fault::of_key(Kind::Form, message, text, &[KeyPosition::top("name")])
    };
    if let Some(name) = own.without.first() {
        let message = "`without` is for a board that extends another";
        return Err(Fault::at(Kind::Form, message, text, name.span()));
    }
    Ok(Board {
        name: own.name,
        soc: own.soc.ok_or_else(|| missing("soc"))?,
        about: own.about.ok_or_else(|| missing("about"))?,
        harts: own.harts.ok_or_else(|| missing("harts"))?,
        max_bootargs: own.max_bootargs.unwrap_or(MAX_BOOTARGS as u32),
        ticks_per_second: own.ticks_per_second.ok_or_else(|| missing("ticks_per_second"))?,
        stages_of: own.stages_of,
        forms: ModuleSelection {
            environment: own.forms.environment.ok_or_else(|| missing("forms.environment"))?,
            clock: own.forms.clock.ok_or_else(|| missing("forms.clock"))?,
            storage: own.forms.storage.ok_or_else(|| missing("forms.storage"))?,
            dma: own.forms.dma.ok_or_else(|| missing("forms.dma"))?,
        },
        region: own.region.ok_or_else(|| missing("region"))?,
        place: own.place.ok_or_else(|| missing("place"))?,
        signing: own.signing,
        device: own.device.ok_or_else(|| missing("device"))?,
        root_of_trust: own.root_of_trust.unwrap_or_default(),
    })
}

/// Makes a board from a description that extends `base`. Values that are missing are those of `base`. An
/// entry of a list replaces the entry of the same name; the entries named in `without` are removed.
fn extended(base: Board, own: RawDescription, text: &str) -> Result<Board, Fault> {
    let forms = ModuleSelection {
        environment: own.forms.environment.unwrap_or(base.forms.environment),
        clock: own.forms.clock.unwrap_or(base.forms.clock),
        storage: own.forms.storage.unwrap_or(base.forms.storage),
        dma: own.forms.dma.unwrap_or(base.forms.dma),
    };
    // What is closed stays closed: an entry that moves it need not say so again.
    let closed: Vec<_> = base.region.iter().map(|it| (it.name.clone(), it.s_mode)).collect();
    let mut region = merged(base.region, own.region, |it| &it.name);
    for region in region.iter_mut().filter(|it| it.s_mode.is_none()) {
        region.s_mode = closed.iter().find(|it| it.0 == region.name).and_then(|it| it.1);
    }
    let mut board = Board {
        name: own.name,
        soc: own.soc.unwrap_or(base.soc),
        about: own.about.unwrap_or(base.about),
        harts: own.harts.unwrap_or(base.harts),
        max_bootargs: own.max_bootargs.unwrap_or(base.max_bootargs),
        ticks_per_second: own.ticks_per_second.unwrap_or(base.ticks_per_second),
        stages_of: own.stages_of.or(base.stages_of),
        forms,
        region,
        place: merged(base.place, own.place, |it| it.payload.name()),
        // At most one board is the default, so this property is not taken from `base`.
        signing: own.signing.or(base.signing.map(|_| Signing { default: false })),
        device: merged(base.device, own.device, |it| &it.name),
        root_of_trust: own.root_of_trust.unwrap_or(base.root_of_trust),
    };
    for name in &own.without {
        let count = |board: &Board| board.region.len() + board.device.len() + board.place.len();
        let before = count(&board);
        board.region.retain(|it| it.name != *name.get_ref());
        board.device.retain(|it| it.name != *name.get_ref());
        board.place.retain(|it| it.payload.name() != name.get_ref());
        if count(&board) == before {
            let message = format!("without: there is no {}", name.get_ref());
            return Err(Fault::at(Kind::Form, message, text, name.span()));
        }
    }
    Ok(board)
}

fn merged<T>(base: Vec<T>, own: Option<Vec<T>>, name_of: impl Fn(&T) -> &str) -> Vec<T> {
    let mut all = base;
    let from_base = all.len();
    for entry in own.into_iter().flatten() {
        // Two new entries of the same name are both kept, so that the check for duplicates refuses them.
        let at = all.iter().take(from_base).position(|it| name_of(it) == name_of(&entry));
        match at {
            Some(at) => all[at] = entry,
            None => all.push(entry),
        }
    }
    all
}

/// Refuses values that contradict each other.
fn check(board: &Board, text: &str) -> Result<(), Fault> {
    let fail = |message: String, keys: &[KeyPosition<'_>]| {
        Fault::of_key(Kind::Contradiction, message, text, keys)
    };
    let ensure = |is_right: bool, message: &dyn Fn() -> String, keys: &[KeyPosition<'_>]| {
        if is_right { Ok(()) } else { Err(fail(message(), keys)) }
    };
    for (key, name) in [("name", &board.name), ("soc", &board.soc)] {
        let message = || "a name has 1 to 32 printable ASCII characters".to_owned();
        ensure(Name::new(name).is_some(), &message, &[KeyPosition::top(key)])?;
    }
    let message = || "`--board` would read this name as a file".to_owned();
    ensure(!is_file(&board.name), &message, &[KeyPosition::top("name")])?;
    unique("region", board.region.iter().map(|it| it.name.as_str()), text)?;
    unique("device", board.device.iter().map(|it| it.name.as_str()), text)?;
    unique("place", board.place.iter().map(|it| it.payload.name()), text)?;
    unique("root_of_trust", board.root_of_trust.iter().map(|it| it.name.as_str()), text)?;
    let message = || "loader and pool have room for 1 to 8 harts".to_owned();
    ensure((1..=8).contains(&board.harts), &message, &[KeyPosition::top("harts")])?;
    let message = || format!("a command line has 1 to {MAX_BOOTARGS} bytes");
    let is_right = (1..=MAX_BOOTARGS as u32).contains(&board.max_bootargs);
    ensure(is_right, &message, &[KeyPosition::top("max_bootargs")])?;

    let mut ranges = Vec::new();
    for region in &board.region {
        let key = KeyPosition::new("region", &region.name, "size");
        let end = board.end(region).map_err(|missing| fail(missing.0, &[key]))?;
        ensure(region.start < end, &|| format!("{}: is empty", region.name), &[key])?;
        ranges.push((region.start, end, region.name.as_str()));
    }
    no_overlap("region", &ranges, text)?;
    let mut ranges = Vec::new();
    for device in &board.device {
        let name = device.name.as_str();
        let size = device.size.0.checked_mul(device.count.unwrap_or(1));
        let end = size.and_then(|size| device.start.checked_add(size));
        let key = KeyPosition::new("device", name, "size");
        let end = end.ok_or_else(|| fail(format!("{name}: too large"), &[key]))?;
        ranges.push((device.start, end, name));
        let message = || format!("{name}: `tree` and `node` belong together");
        let key = KeyPosition::new("device", name, "tree");
        ensure(device.tree.is_some() == device.node.is_some(), &message, &[key])?;
    }
    no_overlap("device", &ranges, text)?;
    for place in &board.place {
        check_place(board, place, &fail)?;
    }
    Ok(())
}

fn check_place(
    board: &Board,
    place: &Place,
    fail: &dyn Fn(String, &[KeyPosition<'_>]) -> Fault,
) -> Result<(), Fault> {
    let name = place.payload.name();
    let key = |key| KeyPosition::new("place", name, key);
    let ensure = |is_right: bool, message: &str, at: &'static str| {
        if is_right { Ok(()) } else { Err(fail(format!("{name}: {message}"), &[key(at)])) }
    };
    let missing = |missing: crate::model::ReferenceError| {
        fail(format!("place {name}: {}", missing.0), &[key("region")])
    };
    let region = board.region(&place.region).map_err(missing)?;
    let end = board.end(region).map_err(missing)?;
    ensure(
        !(place.fixed && place.alignment.is_some()),
        "a place is either fixed or aligned",
        "alignment",
    )?;
    ensure(!place.fixed || place.load_address.is_none(), "its address is fixed", "load_address")?;
    let alignment = place.alignment.map_or(1, |Size(alignment)| alignment);
    ensure(alignment.is_power_of_two(), "its alignment is not a power of two", "alignment")?;
    let address = place.load_address.unwrap_or(region.start);
    let is_inside = region.start <= address && address < end;
    ensure(is_inside, "its load address is outside its region", "load_address")?;
    let is_aligned = address.is_multiple_of(alignment);
    ensure(is_aligned, "its load address is not aligned", "load_address")?;
    let is_complete = board.signing.is_none() || place.fixed || place.load_address.is_some();
    ensure(is_complete, "`hartlock sign` needs a load address", "load_address")
}

fn unique<'a>(list: &str, names: impl Iterator<Item = &'a str>, text: &str) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            let message = format!("{list} {name} is given twice");
            let key =
                KeyPosition::new(list, name, if list == "place" { "payload" } else { "name" });
            return Err(Fault::of_key(Kind::Contradiction, message, text, &[key]));
        }
    }
    Ok(())
}

/// Checks that ranges do not overlap, except that one region may contain another.
fn no_overlap(list: &str, ranges: &[(u64, u64, &str)], text: &str) -> Result<(), Fault> {
    for (index, (start, end, name)) in ranges.iter().enumerate() {
        for (other_start, other_end, other) in &ranges[index + 1..] {
            let is_apart = end <= other_start || other_end <= start;
            let contains = (start <= other_start && other_end <= end)
                || (other_start <= start && end <= other_end);
            if !is_apart && (list != "region" || !contains) {
                let keys = [other, name].map(|name| KeyPosition::new(list, name, "start"));
                let message = format!("{name} and {other} overlap");
                return Err(Fault::of_key(Kind::Contradiction, message, text, &keys));
            }
        }
    }
    Ok(())
}
