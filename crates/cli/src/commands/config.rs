//! `trawl config`: the settings of the server, as they hold and as a sample.

use std::{
    io::{ErrorKind, Write},
    path::Path,
    process::ExitCode,
};

use crate::{
    args::{ConfigArgs, ConfigCommand},
    exit::BadInput,
    settings::{Settings, environment, sample, shown},
};

pub(crate) fn run(args: &ConfigArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        ConfigCommand::Show(args) => {
            let config = args.config.path.as_deref();
            let settings = Settings::load(config, &args.flags, &environment)?;
            // Shown only if a server could use them.
            settings.server()?;
            std::io::stdout().write_all(shown(&settings).as_bytes())?;
        }
        ConfigCommand::Init { path, force } => write(path, *force)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, force: bool) -> anyhow::Result<()> {
    let name = path.display();
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(sample().as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => BadInput(format!("{name} is there already: say --force")),
        _ => BadInput(format!("cannot write {name}: {error}")),
    })?;
    println!("wrote {name}");
    Ok(())
}
