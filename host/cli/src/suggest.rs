//! Finds the name that was meant by a name that does not exist.

/// Returns the names that are nearest to what was typed: those from which the fewest letters differ, or else those
/// that it abbreviates. It is empty if no name is near.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let typed = plain(typed);
    // Of three letters one may differ, else short names would all be near to each other.
    let most = (typed.chars().count() / 3).max(1);
    let names: Vec<_> = names.into_iter().map(|name| (plain(name), name)).collect();
    let distance = |name: &str| strsim::damerau_levenshtein(&typed, name);
    let near = names.iter().map(|(plain, name)| (distance(plain), *name));
    let near: Vec<_> = near.filter(|(distance, _)| *distance <= most).collect();
    let least = near.iter().map(|(distance, _)| *distance).min();
    let nearest: Vec<_> =
        near.into_iter().filter(|(it, _)| Some(*it) == least).map(|(_, name)| name).collect();
    if nearest.is_empty() && typed.len() > 2 {
        let is_longer = |name: &str| name.starts_with(&typed);
        return names.iter().filter(|(it, _)| is_longer(it)).map(|(_, name)| *name).collect();
    }
    nearest
}

/// Appends the name that was meant to a message of a parser such as ``unknown field `a`, expected `b` or `c` ``.
pub fn completed(message: String) -> String {
    let Some((_, names)) = message.split_once("unknown ") else { return message };
    let Some((typed, expected)) = names.split_once("`, expected ") else { return message };
    let Some((_, typed)) = typed.split_once('`') else { return message };
    let is_of_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let expected = expected.split(|c| !is_of_name(c)).filter(|name| !name.is_empty());
    match nearest(typed, expected).as_slice() {
        [name] => format!("{message}; did you mean `{name}`?"),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = ["type", "key", "security_version", "soc", "kernel", "keys"];

    #[test]
    fn the_name_that_was_meant_is_found() {
        for (typed, meant) in [
            ("kye", &["key"][..]),
            ("typ", &["type"]),
            ("security-version", &["security_version"]),
            ("securityversion", &["security_version"]),
            ("sec", &["soc"]),
            ("secu", &["security_version"]),
            ("Kernel", &["kernel"]),
            ("keyz", &["key", "keys"]),
            ("frobnicate", &[]),
            ("", &[]),
            ("ke", &["key"]),
        ] {
            assert_eq!(nearest(typed, NAMES), meant, "{typed}");
        }
    }

    #[test]
    fn messages_of_parsers_get_the_name_that_was_meant() {
        for (message, meant) in [
            ("unknown field `kys`, expected one of `board`, `soc`, `keys`", Some("keys")),
            ("unknown variant `flatt`, expected one of `flat`, `blocks`", Some("flat")),
            ("unknown name `kernl`, expected opensbi, kernel, system-fdt", Some("kernel")),
            ("unknown field `x`, expected `board` or `soc`", None),
            ("unknown algorithm `rot13`", None),
            ("expected an equals", None),
        ] {
            let meant = meant.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
            assert_eq!(completed(message.to_owned()), format!("{message}{meant}"));
        }
    }
}
