//! What holds for the settings, whatever their table says.

use super::*;

fn no_environment(_: &str) -> Option<OsString> {
    None
}

fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trawl.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn typed(key: &'static str, text: &str) -> Flags {
    Flags::only(key, Some(text.to_owned()))
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let (_folder, path) = written("[rates]\nuser = 2\nadmin = 2\nanonymous = 2\n");
    let environment = |name: &str| match name {
        "TRAWL_RATE_ADMIN" | "TRAWL_RATE_ANONYMOUS" => Some(OsString::from("3")),
        _ => None,
    };
    let flags = typed("rates.anonymous", "4");
    let settings = Settings::load(Some(&path), &flags, &environment).unwrap();
    for (key, value, origin) in [
        ("rates.user", "2", Origin::File(2)),
        ("rates.admin", "3", Origin::Environment),
        ("rates.anonymous", "4", Origin::Flag),
        ("rates.wrong-keys", "20", Origin::Default),
    ] {
        assert_eq!(settings.text(key), Some(value), "{key}");
        assert_eq!(settings.origin(key), &origin, "{key}");
    }
}

#[test]
fn a_bad_value_is_named_by_where_it_stands() {
    let environment = |name: &str| (name == "TRAWL_RATE_USER").then(|| OsString::from("many"));
    let said = |flags: &Flags, environment: Environment<'_>| {
        let (_folder, path) = written("");
        let refused = Settings::load(Some(&path), flags, environment);
        refused.unwrap_err().to_string()
    };
    let from_environment = said(&Flags::default(), &environment);
    assert!(from_environment.starts_with("TRAWL_RATE_USER: found \"many\"; allowed: a whole"));
    let from_flag = said(&typed("log.format", "yaml"), &no_environment);
    assert!(from_flag.starts_with("--log-format: found \"yaml\"; allowed: text, json"));
}

#[test]
fn lists_are_separated_by_commas_in_the_environment() {
    let (_folder, path) = written("");
    let environment = |name: &str| (name == "TRAWL_ALLOW_PORT").then(|| OsString::from("81, 82"));
    let settings = Settings::load(Some(&path), &Flags::default(), &environment).unwrap();
    assert_eq!(settings.texts("network.allow-port"), ["81", "82"]);
}

#[test]
fn a_file_that_was_named_must_be_there() {
    let missing = Path::new("/nowhere/trawl.toml");
    let refused = Settings::load(Some(missing), &Flags::default(), &no_environment);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("/nowhere/trawl.toml")
    );
}

#[test]
fn every_default_is_allowed_and_every_name_is_its_own() {
    for (place, setting) in SETTINGS.iter().enumerate() {
        assert!(
            setting.default.is_empty() || setting.kind.accepts(setting.default),
            "{}",
            setting.key
        );
        let others = || SETTINGS.iter().skip(place + 1);
        assert!(others().all(|other| other.key != setting.key && other.flag != setting.flag));
        assert!(
            table::SECTIONS
                .iter()
                .any(|(name, _)| *name == setting.section())
        );
    }
}

#[test]
fn the_sample_is_what_holds_without_it() {
    let (_folder, path) = written(&sample());
    let settings = Settings::load(Some(&path), &Flags::default(), &no_environment).unwrap();
    assert!(
        SETTINGS
            .iter()
            .all(|s| *settings.origin(s.key) == Origin::Default)
    );
    let uncommented: String = sample()
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') && !rest.contains('…') => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let (_folder, path) = written(&uncommented);
    let settings = Settings::load(Some(&path), &Flags::default(), &no_environment).unwrap();
    for setting in SETTINGS.iter().filter(|s| !s.default.is_empty()) {
        assert_eq!(settings.text(setting.key), Some(setting.default));
        assert_ne!(
            *settings.origin(setting.key),
            Origin::Default,
            "{}",
            setting.key
        );
    }
}

#[test]
fn a_variable_that_was_misspelt_is_noticed() {
    let names = [
        "TRAWL_LISTN",
        "TRAWL_LISTEN",
        "TRAWL_LOG",
        "PATH",
        "TRAWL_XYZZY_PLUGH_QUUX",
    ];
    let found = misspelt(names.into_iter().map(OsString::from));
    assert_eq!(found, [("TRAWL_LISTN".into(), "TRAWL_LISTEN".into())]);
}

#[test]
fn every_setting_is_documented_with_its_flag_and_its_variable() {
    let page = include_str!("../../../../docs/settings.md");
    for setting in SETTINGS {
        let name = format!("`{}`", setting.name());
        let flag = format!("`--{}`", setting.flag);
        let row = page
            .lines()
            .find(|line| line.contains(&name) && line.contains(&flag));
        assert!(row.is_some(), "{}: {name} and {flag}", setting.key);
        let standard = setting.default;
        assert!(
            row.unwrap().contains(standard),
            "{}: {standard}",
            setting.key
        );
    }
}
