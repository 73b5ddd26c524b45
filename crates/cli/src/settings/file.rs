//! The settings file: TOML in, values with their lines out, or every problem of the file.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};
use trawl_terrain::config::{ConfigErrors, Problems, describe, nearest};

use super::{
    kind::Kind,
    table::{SECTIONS, SETTINGS, Setting},
};

/// A value of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) key: &'static str,
    pub(super) texts: Vec<String>,
    /// Counted from 1 (the place in the text until all is read).
    pub(super) line: usize,
}

/// Reads a file; its name is only used to name problems.
pub(super) fn parse(name: &str, text: &str) -> Result<Vec<Written>, ConfigErrors> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut problems = Problems::of(text);
    let (document, broken) = DeTable::parse_recoverable(text);
    for error in &broken {
        problems.add(error.span().unwrap_or(0..0), "", error.message(), "TOML");
    }
    let mut written = Vec::new();
    if broken.is_empty() {
        for (section, value) in document.get_ref() {
            read_section(section, value, &mut written, &mut problems);
        }
    }
    if problems.is_empty() {
        written.sort_by_key(|found| found.line);
        for found in &mut written {
            found.line = text[..found.line].matches('\n').count() + 1;
        }
        return Ok(written);
    }
    Err(problems.into_errors(name))
}

type Key<'i> = Spanned<std::borrow::Cow<'i, str>>;

fn read_section(
    section: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
    written: &mut Vec<Written>,
    problems: &mut Problems<'_>,
) {
    let name = section.get_ref().as_ref();
    let known: Vec<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
    let DeValue::Table(table) = value.get_ref() else {
        let found = "a setting outside of a section";
        let allowed = format!("settings below [{}]", known.join("], ["));
        let problem = problems.add(section.span(), name, found, allowed);
        if let Some(near) = nearest_setting(name) {
            problem.hint(format!(
                "{} belongs below [{}]",
                near.name(),
                near.section()
            ));
        }
        return;
    };
    if !known.contains(&name) {
        let problem = problems.add(section.span(), name, "an unknown section", known.join(", "));
        if let Some(near) = nearest(name, &known) {
            problem.hint(format!("did you mean [{near}]?"));
        }
        return;
    }
    for (key, value) in table {
        read_setting(name, key, value, written, problems);
    }
}

fn nearest_setting(name: &str) -> Option<&'static Setting> {
    let names: Vec<&str> = SETTINGS.iter().map(Setting::name).collect();
    let near = nearest(name, &names)?;
    SETTINGS.iter().find(|setting| setting.name() == near)
}

fn read_setting(
    section: &str,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
    written: &mut Vec<Written>,
    problems: &mut Problems<'_>,
) {
    let path = format!("{section}.{}", key.get_ref());
    let Some(setting) = super::table::find(&path) else {
        unknown(section, key, &path, problems);
        return;
    };
    let texts = texts(setting.kind, value.get_ref());
    let fits = |texts: &Vec<String>| texts.iter().all(|text| setting.kind.accepts(text));
    if let Some(texts) = texts.filter(fits) {
        written.push(Written {
            key: setting.key,
            texts,
            line: key.span().start,
        });
    } else {
        let found = describe(value.get_ref());
        problems.add(value.span(), &path, found, setting.kind.allowed());
    }
}

fn unknown(section: &str, key: &Key<'_>, path: &str, problems: &mut Problems<'_>) {
    let here = SETTINGS
        .iter()
        .filter(|setting| setting.section() == section);
    let known: Vec<&str> = here.map(Setting::name).collect();
    let name = key.get_ref().as_ref();
    let problem = problems.add(key.span(), path, "an unknown key", known.join(", "));
    if let Some(near) = nearest(name, &known) {
        problem.hint(format!("did you mean {near}?"));
    } else if let Some(near) = nearest_setting(name) {
        problem.hint(format!(
            "did you mean {} below [{}]?",
            near.name(),
            near.section()
        ));
    }
}

/// The value as texts, if it is written as such a value is.
fn texts(kind: Kind, value: &DeValue<'_>) -> Option<Vec<String>> {
    if !kind.is_list() {
        return Some(vec![single(kind, value)?]);
    }
    let DeValue::Array(items) = value else {
        return None;
    };
    items
        .iter()
        .map(|item| single(kind, item.get_ref()))
        .collect()
}

fn single(kind: Kind, value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) if kind.is_quoted() => Some(text.to_string()),
        DeValue::Boolean(flag) if kind == Kind::Switch => Some(flag.to_string()),
        DeValue::Integer(number) if is_counted(kind) && number.radix() == 10 => {
            Some(number.as_str().replace('_', ""))
        }
        _ => None,
    }
}

fn is_counted(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Number(..) | Kind::Ports | Kind::Duration | Kind::Span(..) | Kind::Size(..)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse("trawl.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn values_come_with_their_lines() {
        let text = "[server]\nlisten = \"[::1]:80\"\n\n[network]\nallow-port = [81, 8_000]\n";
        let written = parse("trawl.toml", text).unwrap();
        let all: Vec<_> = written
            .iter()
            .map(|w| (w.key, w.texts.join(","), w.line))
            .collect();
        assert_eq!(
            all,
            [
                ("server.listen", "[::1]:80".into(), 2),
                ("network.allow-port", "81,8000".into(), 5)
            ]
        );
    }

    #[test]
    fn an_unknown_key_is_an_error_that_says_what_was_meant() {
        let said = refused("[server]\nlisen = \"[::1]:80\"\n");
        assert!(said.contains("trawl.toml:2:1: server.lisen"), "{said}");
        assert!(said.contains("did you mean listen?"), "{said}");
        let said = refused("[server]\ndelay = \"1s\"\n");
        assert!(said.contains("did you mean delay below [crawl]?"), "{said}");
        assert!(refused("[sever]\n").contains("did you mean [server]?"));
        assert!(refused("listen = 1\n").contains("listen belongs below [server]"));
    }

    #[test]
    fn a_bad_value_is_named_with_what_was_found_and_what_is_allowed() {
        let said = refused("[rates]\nuser = 0\nadmin = \"many\"\n");
        assert!(
            said.contains("rates.user: found 0; allowed: a whole number from 1 to"),
            "{said}"
        );
        assert!(
            said.contains("rates.admin: found the text \"many\""),
            "{said}"
        );
        assert!(said.contains("2 problems in trawl.toml"), "{said}");
        assert!(refused("[log]\nformat = \"yaml\"\n").contains("allowed: text, json"));
        assert!(refused("[access]\ninsecure-no-auth = \"true\"\n").contains("true or false"));
        assert!(refused("[server\n").contains("trawl.toml:1"));
    }
}
