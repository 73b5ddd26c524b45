//! The effective settings, and a sample to begin with.

use std::fmt::Write;

use super::{
    Origin, Settings,
    kind::Kind,
    table::{SECTIONS, SETTINGS, Setting},
};
use crate::{
    database::{hidden, may_hold_a_password},
    logs::redact,
};

/// Every setting with its value and where it came from, as a file that could be read again.
pub(crate) fn shown(settings: &Settings) -> String {
    let mut text = String::new();
    let file = settings
        .file
        .as_ref()
        .map(|path| path.display().to_string());
    let read = file.as_deref().unwrap_or("none");
    let _ = writeln!(text, "# settings file: {read}");
    for (section, _) in SECTIONS {
        let _ = writeln!(text, "\n[{section}]");
        for setting in SETTINGS.iter().filter(|s| s.section() == *section) {
            let texts = without_passwords(settings.texts(setting.key));
            let origin = match settings.origin(setting.key) {
                Origin::Default => "default".to_owned(),
                Origin::File(line) => format!("{}:{line}", file.as_deref().unwrap_or_default()),
                Origin::Environment => setting.variable(),
                Origin::Flag => format!("--{}", setting.flag),
            };
            let line = match value(setting.kind, &texts) {
                Some(value) => format!("{} = {}", setting.name(), redact(&value)),
                None => format!("# {} is not set", setting.name()),
            };
            let _ = writeln!(text, "{line:<44} # {origin}");
        }
    }
    text
}

/// Addresses of databases and of Redis as they may be shown.
fn without_passwords(texts: &[String]) -> Vec<String> {
    let shown = texts.iter().map(|text| {
        if may_hold_a_password(text) {
            hidden(text)
        } else {
            text.clone()
        }
    });
    shown.collect()
}

/// A commented file in which every setting has its default.
pub(crate) fn sample() -> String {
    let mut text = String::from(
        "# Settings of `trawl serve`. All are optional; what is commented out shows the default.\n\
         # The environment (TRAWL_…) wins over this file, and flags win over both.\n\
         # `trawl config show` prints what holds and where it came from.\n",
    );
    for (section, about) in SECTIONS {
        let _ = writeln!(text, "\n# {about}.\n[{section}]");
        for setting in SETTINGS.iter().filter(|s| s.section() == *section) {
            let _ = writeln!(text, "# {}.\n{}", setting.help, commented(setting));
        }
    }
    text
}

fn commented(setting: &Setting) -> String {
    let standard: Vec<String> = match setting.default {
        "" => Vec::new(),
        text => vec![text.to_owned()],
    };
    let empty = if setting.kind.is_list() {
        "[]"
    } else {
        "\"…\""
    };
    let value = value(setting.kind, &standard).unwrap_or_else(|| empty.to_owned());
    format!("#{} = {value}", setting.name())
}

/// As TOML; nothing where it is not set.
fn value(kind: Kind, texts: &[String]) -> Option<String> {
    let one = |text: &String| {
        if kind.is_quoted() {
            // TOML's basic strings are quoted as JSON's are.
            serde_json::Value::String(text.clone()).to_string()
        } else {
            text.clone()
        }
    };
    if kind.is_list() {
        let items: Vec<String> = texts.iter().map(one).collect();
        return (!items.is_empty()).then(|| format!("[{}]", items.join(", ")));
    }
    texts.first().map(one)
}
