//! What a program prints about its subcommands, arguments and options with `-h`.

use super::is_open;

/// The short help of a program or of a subcommand, as clap prints it.
#[derive(Default)]
pub struct Help {
    pub subcommands: Vec<String>,
    /// One text for each positional argument.
    arguments: Vec<String>,
    options: Vec<Parameter>,
}

/// An option.
pub struct Parameter {
    /// `-v`, `--verbose`.
    names: Vec<String>,
    /// Its line, with those that continue it.
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Other,
    Commands,
    Arguments,
    Options,
}

impl Help {
    pub fn parse(text: &str) -> Self {
        let mut help = Self::default();
        let mut section = Section::Other;
        for line in text.lines() {
            if !line.starts_with(' ') && !line.is_empty() {
                section = match line {
                    "Commands:" => Section::Commands,
                    "Arguments:" => Section::Arguments,
                    // Options can have headings of their own.
                    _ if line.ends_with(':') => Section::Options,
                    _ => Section::Other,
                };
                continue;
            }
            let (inner, indent) = (line.trim_start(), line.len() - line.trim_start().len());
            let is_entry = indent <= 6 && !inner.is_empty();
            match section {
                Section::Commands if indent == 2 => {
                    help.subcommands.extend(inner.split_whitespace().next().map(str::to_owned));
                }
                Section::Arguments if is_entry => help.arguments.push(inner.to_owned()),
                Section::Arguments => append(help.arguments.last_mut(), inner),
                Section::Options if is_entry && inner.starts_with('-') => {
                    let names = inner.split_whitespace().take_while(|word| word.starts_with('-'));
                    let names = names.map(|word| word.trim_end_matches([',', '.']).to_owned());
                    help.options.push(Parameter { names: names.collect(), text: inner.to_owned() });
                }
                Section::Options => append(help.options.last_mut().map(|it| &mut it.text), inner),
                _ => {}
            }
        }
        help
    }

    pub fn option(&self, name: &str) -> Option<&Parameter> {
        self.options.iter().find(|option| option.names.iter().any(|it| it == name))
    }

    /// Compares the words after a (sub)command. `list` is what it prints with `--list`.
    pub fn judge(&self, words: &[String], list: Option<&str>) -> Result<(), String> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            // What follows belongs to another program.
            if word == "--" {
                break;
            }
            if word.starts_with('-') && word.len() > 1 {
                let (name, inline) =
                    word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v)));
                let option = self.option(name).ok_or_else(|| format!("there is no {name}"))?;
                if option.takes_value() {
                    let value = inline.or_else(|| words.next().map(String::as_str));
                    let is_name = name == "--only";
                    option_value(&option.text, value, list.filter(|_| is_name))?;
                }
                continue;
            }
            if is_open(word) {
                continue;
            }
            let allowed =
                self.arguments.first().ok_or_else(|| format!("{word} is one too many"))?;
            is_possible(allowed, word)?;
            let is_listed = |list: &str| first_words(list).any(|name| name.contains(word.as_str()));
            if list.is_some_and(|list| !is_listed(list)) {
                return Err(format!("--list does not name {word}"));
            }
        }
        Ok(())
    }
}

impl Parameter {
    fn takes_value(&self) -> bool {
        let names = self.text.split("  ").next().unwrap_or_default();
        names.contains(" <") || names.contains("=<")
    }
}

fn append(text: Option<&mut String>, more: &str) {
    if let Some(text) = text {
        text.push(' ');
        text.push_str(more);
    }
}

fn first_words(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter_map(|line| line.split_whitespace().next())
}

fn option_value(help: &str, value: Option<&str>, list: Option<&str>) -> Result<(), String> {
    // An option can be named without its value, to speak of it.
    let Some(value) = value.filter(|value| !is_open(value)) else { return Ok(()) };
    is_possible(help, value)?;
    match list {
        Some(list) if !first_words(list).any(|name| name == value) => {
            Err(format!("--list does not name {value}"))
        }
        _ => Ok(()),
    }
}

fn is_possible(help: &str, value: &str) -> Result<(), String> {
    let Some((_, rest)) = help.split_once("[possible values: ") else { return Ok(()) };
    let values = rest.split(']').next().unwrap_or_default();
    if values.split(", ").any(|it| it == value) {
        return Ok(());
    }
    Err(format!("{value} is none of {values}"))
}
