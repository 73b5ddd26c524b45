//! Settings of the server: from a file, from the environment and from flags, each winning over the
//! one before; checked, and known with where they came from.
//!
//! * [`table`]: every setting, once
//! * [`kind`]: what kinds of values there are
//! * [`file`], [`flags`]: where values come from, besides the environment
//! * [`serve`], [`search`], [`duties`]: the settings as the server takes them
//! * [`show`]: the effective settings and a sample, as text

mod duties;
mod file;
mod flags;
mod kind;
mod search;
mod serve;
mod show;
mod table;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use trawl_terrain::config::nearest;

use crate::exit::BadInput;
pub(crate) use flags::Flags;
pub(crate) use search::SearchSettings;
pub(crate) use show::{sample, shown};
use table::{SETTINGS, Setting};

/// The file that is read if it is there and no other was named.
pub(crate) const USUAL_FILE: &str = "trawl.toml";

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File(usize),
    Environment,
    Flag,
}

/// The settings that hold.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) file: Option<PathBuf>,
    values: BTreeMap<&'static str, (Vec<String>, Origin)>,
}

/// What the environment says.
pub(crate) type Environment<'e> = &'e dyn Fn(&str) -> Option<OsString>;

/// The environment of this process: read here and nowhere else.
#[allow(clippy::disallowed_methods)]
pub(crate) fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

impl Settings {
    /// Reads everything there is: `config` names a file that must be there.
    pub(crate) fn load(
        config: Option<&Path>,
        flags: &Flags,
        environment: Environment<'_>,
    ) -> anyhow::Result<Self> {
        let file = find_file(config, environment);
        let mut settings = Self::of_nothing(file);
        settings.take_file()?;
        for setting in SETTINGS {
            settings.take_variable(setting, environment)?;
            if let Some(texts) = flags.0.get(setting.key) {
                let texts = checked(setting, &format!("--{}", setting.flag), texts.clone())?;
                settings.values.insert(setting.key, (texts, Origin::Flag));
            }
        }
        Ok(settings)
    }

    fn of_nothing(file: Option<PathBuf>) -> Self {
        let standard = |setting: &'static Setting| {
            let texts = match setting.default {
                "" => Vec::new(),
                text => vec![text.to_owned()],
            };
            (setting.key, (texts, Origin::Default))
        };
        Self {
            file,
            values: SETTINGS.iter().map(standard).collect(),
        }
    }

    fn take_file(&mut self) -> anyhow::Result<()> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| BadInput(format!("cannot read the settings in {name}: {error}")))?;
        for written in file::parse(&name, &text)? {
            let origin = Origin::File(written.line);
            self.values.insert(written.key, (written.texts, origin));
        }
        Ok(())
    }

    fn take_variable(
        &mut self,
        setting: &'static Setting,
        environment: Environment<'_>,
    ) -> anyhow::Result<()> {
        let name = setting.variable();
        let Some(value) = environment(&name).filter(|value| !value.is_empty()) else {
            return Ok(());
        };
        let Ok(value) = value.into_string() else {
            return Err(BadInput(format!("{name}: must be UTF-8")).into());
        };
        let texts = if setting.kind.is_list() {
            value
                .split(',')
                .map(|part| part.trim().to_owned())
                .collect()
        } else {
            vec![value]
        };
        let texts = checked(setting, &name, texts)?;
        let origin = Origin::Environment;
        self.values.insert(setting.key, (texts, origin));
        Ok(())
    }

    /// The values of a setting; none or one unless it is a list.
    pub(super) fn texts(&self, key: &str) -> &[String] {
        self.values.get(key).map_or(&[], |(texts, _)| texts)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.texts(key).first().map(String::as_str)
    }

    fn origin(&self, key: &str) -> &Origin {
        let found = self.values.get(key);
        found.map_or(&Origin::Default, |(_, origin)| origin)
    }

    /// Where a setting was made, to name it in a problem.
    pub(super) fn place(&self, key: &str) -> String {
        let setting = table::find(key);
        let file = self.file.as_ref().map(|file| file.display().to_string());
        match (self.origin(key), setting) {
            (Origin::Flag, Some(setting)) => format!("--{}", setting.flag),
            (Origin::Environment, Some(setting)) => setting.variable(),
            (Origin::File(line), _) => format!("{}:{line}: {key}", file.unwrap_or_default()),
            _ => key.to_owned(),
        }
    }
}

fn find_file(config: Option<&Path>, environment: Environment<'_>) -> Option<PathBuf> {
    if let Some(named) = config {
        return Some(named.to_owned());
    }
    if let Some(named) = environment("TRAWL_CONFIG").filter(|name| !name.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let usual = Path::new(USUAL_FILE);
    usual.is_file().then(|| usual.to_owned())
}

fn checked(setting: &Setting, place: &str, texts: Vec<String>) -> Result<Vec<String>, BadInput> {
    match texts.iter().find(|text| !setting.kind.accepts(text)) {
        None => Ok(texts),
        Some(bad) => Err(BadInput(format!(
            "{place}: found {bad:?}; allowed: {}",
            setting.kind.allowed()
        ))),
    }
}

/// Variables that look like a setting and are none, with the one that was meant, probably.
pub(crate) fn misspelt(names: impl Iterator<Item = OsString>) -> Vec<(String, String)> {
    let known: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
    let lower: Vec<String> = known
        .iter()
        .map(|name| name.to_lowercase().replace('_', "-"))
        .collect();
    let others = [
        "TRAWL_CONFIG",
        "TRAWL_LOG",
        "TRAWL_PROXY",
        "TRAWL_URL",
        "TRAWL_KEY",
        "TRAWL_BLESS",
        "TRAWL_EMBED_KEY",
    ];
    let candidates: Vec<&str> = lower.iter().map(String::as_str).collect();
    names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with("TRAWL_") && !others.contains(&name.as_str()))
        .filter(|name| !known.contains(name))
        .filter_map(|name| {
            let near = nearest(&name, &candidates)?;
            let meant = near.to_uppercase().replace('-', "_");
            Some((name, meant))
        })
        .collect()
}

#[cfg(test)]
mod tests;
