//! The settings as flags of a command, made from the table.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, parser::ValueSource};

use super::table::{SECTIONS, SETTINGS, Setting};

/// What was typed, by the keys of the settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags(pub(super) BTreeMap<&'static str, Vec<String>>);

impl Flags {
    /// As if one flag had been typed, where something was.
    #[cfg(test)]
    pub(crate) fn only(key: &'static str, text: Option<String>) -> Self {
        Self(text.map(|text| (key, vec![text])).into_iter().collect())
    }
}

fn arg(setting: &'static Setting) -> Arg {
    let heading = SECTIONS.iter().find(|(name, _)| *name == setting.section());
    let mut help = format!("{} [env: {}]", setting.help, setting.variable());
    if !setting.default.is_empty() && setting.default != "false" {
        help = format!("{help} [default: {}]", setting.default);
    }
    let mut arg = Arg::new(setting.key)
        .long(setting.flag)
        .value_name(setting.value_name)
        .help(help)
        .help_heading(heading.map(|(_, about)| *about));
    arg = match setting.flag {
        "listen" => arg.short('l'),
        "database" => arg.short('d'),
        _ => arg,
    };
    if setting.kind == super::kind::Kind::Switch {
        return arg
            .num_args(0..=1)
            .require_equals(true)
            .hide_possible_values(true)
            .default_missing_value("true")
            .action(ArgAction::Set);
    }
    let many = setting.kind.is_list();
    arg.action(if many {
        ArgAction::Append
    } else {
        ArgAction::Set
    })
}

impl Args for Flags {
    fn augment_args(command: Command) -> Command {
        SETTINGS
            .iter()
            .fold(command, |command, setting| command.arg(arg(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = BTreeMap::new();
        for setting in SETTINGS {
            if matches.value_source(setting.key) == Some(ValueSource::CommandLine)
                && let Some(values) = matches.get_many::<String>(setting.key)
            {
                flags.insert(setting.key, values.cloned().collect());
            }
        }
        Ok(Self(flags))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
