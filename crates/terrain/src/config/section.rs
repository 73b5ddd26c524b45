//! Reading typed values out of a table of the file. A value that is not as it should be is noted
//! and replaced by its default, so that one reading finds every problem.

use std::ops::{Range, RangeInclusive};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::error::{Problems, nearest};

/// A value with the place it came from.
#[derive(Debug, Clone)]
pub(super) struct Placed<T> {
    pub(super) value: T,
    pub(super) span: Range<usize>,
}

/// One table of the file: `[crawler]`, or one entry of `[[quality]]`.
#[derive(Debug)]
pub(super) struct Section<'a, 'i> {
    path: String,
    /// None where the file has no such table: everything is as by default.
    table: Option<&'a DeTable<'i>>,
    pub(super) span: Range<usize>,
}

impl<'a, 'i> Section<'a, 'i> {
    pub(super) fn new(
        path: impl Into<String>,
        table: &'a Spanned<DeTable<'i>>,
        known: &[&str],
        problems: &mut Problems<'_>,
    ) -> Self {
        Self::of(path.into(), table.get_ref(), table.span(), known, problems)
    }

    fn of(
        path: String,
        table: &'a DeTable<'i>,
        span: Range<usize>,
        known: &[&str],
        problems: &mut Problems<'_>,
    ) -> Self {
        for key in table.keys() {
            if !known.contains(&key.get_ref().as_ref()) {
                unknown_key(&path, key, known, problems);
            }
        }
        Self {
            path,
            table: Some(table),
            span,
        }
    }

    pub(super) fn field(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'i>>> {
        self.table?.get(key)
    }

    /// A table below this one; a missing one is empty.
    pub(super) fn table(
        &self,
        key: &str,
        known: &[&str],
        problems: &mut Problems<'_>,
    ) -> Section<'a, 'i> {
        let path = self.field(key);
        let missing = |path| Section {
            path,
            table: None,
            span: self.span.clone(),
        };
        let Some(value) = self.get(key) else {
            return missing(path);
        };
        if let DeValue::Table(table) = value.get_ref() {
            return Self::of(path, table, value.span(), known, problems);
        }
        let allowed = format!("a table: a line [{key}] and fields below it");
        problems.add(value.span(), &path, describe(value.get_ref()), allowed);
        missing(path)
    }

    /// The entries of `[[key]]`.
    pub(super) fn tables(
        &self,
        key: &str,
        known: &[&str],
        problems: &mut Problems<'_>,
    ) -> Vec<Section<'a, 'i>> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let allowed = format!("entries, each with a line [[{key}]] of its own");
        let DeValue::Array(entries) = value.get_ref() else {
            let path = self.field(key);
            problems.add(value.span(), &path, describe(value.get_ref()), allowed);
            return Vec::new();
        };
        let mut sections = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            let path = format!("{}[{}]", self.field(key), place + 1);
            if let DeValue::Table(table) = entry.get_ref() {
                sections.push(Self::of(path, table, entry.span(), known, problems));
            } else {
                problems.add(
                    entry.span(),
                    &path,
                    describe(entry.get_ref()),
                    allowed.clone(),
                );
            }
        }
        sections
    }

    pub(super) fn integer(
        &self,
        key: &str,
        allowed: RangeInclusive<u64>,
        default: u64,
        problems: &mut Problems<'_>,
    ) -> u64 {
        let Some(value) = self.get(key) else {
            return default;
        };
        integer(value, &self.field(key), &allowed, problems).unwrap_or(default)
    }

    pub(super) fn boolean(&self, key: &str, default: bool, problems: &mut Problems<'_>) -> bool {
        let Some(value) = self.get(key) else {
            return default;
        };
        value.get_ref().as_bool().unwrap_or_else(|| {
            let found = describe(value.get_ref());
            problems.add(value.span(), &self.field(key), found, "true or false");
            default
        })
    }

    pub(super) fn text(&self, key: &str, problems: &mut Problems<'_>) -> Option<Placed<String>> {
        text(self.get(key)?, &self.field(key), problems)
    }

    /// A text that must be there.
    pub(super) fn required(
        &self,
        key: &str,
        problems: &mut Problems<'_>,
    ) -> Option<Placed<String>> {
        if self.get(key).is_none() {
            let allowed = format!("{key} = \"…\"");
            problems.add(self.span.clone(), &self.field(key), "nothing", allowed);
        }
        self.text(key, problems)
    }

    /// One of several words; the first is the default.
    pub(super) fn word<T: Copy>(
        &self,
        key: &str,
        words: &[(&str, T)],
        problems: &mut Problems<'_>,
    ) -> Option<T> {
        let given = self.text(key, problems)?;
        let found = words.iter().find(|(word, _)| *word == given.value);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let allowed: Vec<String> = names.iter().map(|word| format!("{word:?}")).collect();
            let shown = format!("{:?}", given.value);
            let problem = problems.add(given.span, &self.field(key), shown, allowed.join(", "));
            if let Some(near) = nearest(&given.value, &names) {
                problem.hint(format!("did you mean {near:?}?"));
            }
        }
        found.map(|(_, value)| *value)
    }

    pub(super) fn texts(&self, key: &str, problems: &mut Problems<'_>) -> Vec<Placed<String>> {
        let field = self.field(key);
        let items = self.list(key, "a list of texts: [\"…\", \"…\"]", problems);
        items
            .iter()
            .filter_map(|item| text(item, &field, problems))
            .collect()
    }

    pub(super) fn integers(
        &self,
        key: &str,
        allowed: &RangeInclusive<u64>,
        problems: &mut Problems<'_>,
    ) -> Vec<u64> {
        let field = self.field(key);
        let items = self.list(key, "a list of numbers: [8000, 8081]", problems);
        items
            .iter()
            .filter_map(|item| integer(item, &field, allowed, problems))
            .collect()
    }

    fn list(
        &self,
        key: &str,
        allowed: &str,
        problems: &mut Problems<'_>,
    ) -> &'a [Spanned<DeValue<'i>>] {
        let Some(value) = self.get(key) else {
            return &[];
        };
        if let DeValue::Array(items) = value.get_ref() {
            return items;
        }
        let found = describe(value.get_ref());
        problems.add(value.span(), &self.field(key), found, allowed);
        &[]
    }

    /// Where a field stands, or the table if it is not there.
    pub(super) fn span_of(&self, key: &str) -> Range<usize> {
        self.get(key).map_or(self.span.clone(), Spanned::span)
    }
}

fn unknown_key(
    path: &str,
    key: &Spanned<std::borrow::Cow<'_, str>>,
    known: &[&str],
    problems: &mut Problems<'_>,
) {
    let name = key.get_ref().as_ref();
    let field = if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    };
    let problem = problems.add(key.span(), &field, "an unknown key", known.join(", "));
    if let Some(near) = nearest(name, known) {
        problem.hint(format!("did you mean {near}?"));
    }
}

fn text(
    value: &Spanned<DeValue<'_>>,
    field: &str,
    problems: &mut Problems<'_>,
) -> Option<Placed<String>> {
    let Some(text) = value.get_ref().as_str() else {
        let found = describe(value.get_ref());
        problems.add(value.span(), field, found, "a text in quotation marks");
        return None;
    };
    Some(Placed {
        value: text.to_owned(),
        span: value.span(),
    })
}

fn integer(
    value: &Spanned<DeValue<'_>>,
    field: &str,
    allowed: &RangeInclusive<u64>,
    problems: &mut Problems<'_>,
) -> Option<u64> {
    let number = value
        .get_ref()
        .as_integer()
        .and_then(|n| i128::from_str_radix(n.as_str(), n.radix()).ok())
        .and_then(|n| u64::try_from(n).ok())
        .filter(|n| allowed.contains(n));
    if number.is_none() {
        let limits = format!(
            "a whole number from {} to {}",
            allowed.start(),
            allowed.end()
        );
        problems.add(value.span(), field, describe(value.get_ref()), limits);
    }
    number
}

/// A value as a problem names it.
pub fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text {text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
