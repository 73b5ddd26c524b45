//! PostgreSQL's own programs. They are found on the path and must not be older than the server; what
//! they need to connect is in their environment, never on their command line.

use std::{
    ffi::OsString,
    io,
    process::{Child, Command, Stdio},
};

use super::error::BackupError;

/// Would lead a program elsewhere than where we are connected.
const ASTRAY: [&str; 3] = ["PGHOSTADDR", "PGSERVICE", "PGOPTIONS"];
/// Of what a program says when it fails.
const TOLD: usize = 2_000;

pub(super) struct Tool {
    name: &'static str,
    environment: Vec<(&'static str, OsString)>,
}

impl Tool {
    /// A program that reads files alone.
    pub(super) fn new(name: &'static str) -> Self {
        let environment = Vec::new();
        Self { name, environment }
    }

    pub(super) fn connecting(
        name: &'static str,
        environment: Vec<(&'static str, OsString)>,
    ) -> Self {
        Self { name, environment }
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(self.name);
        for name in ASTRAY {
            command.env_remove(name);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env("LC_ALL", "C").stdin(Stdio::null());
        command
    }

    /// The first number of its version.
    pub(super) fn major(&self) -> Result<u32, BackupError> {
        let output = self.command().arg("--version").output();
        let output = output.map_err(|error| self.missing(&error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.split_whitespace().find_map(major_of);
        version.ok_or_else(|| {
            BackupError::Tool(format!(
                "{} does not say its version: {}",
                self.name,
                text.trim()
            ))
        })
    }

    /// That it can be used with a server: older programs cannot read newer servers.
    pub(super) fn must_serve(&self, server: u32) -> Result<(), BackupError> {
        let found = self.major()?;
        if found >= server {
            return Ok(());
        }
        Err(BackupError::Tool(format!(
            "{name} on the path is of version {found}, the server of version {server}: install \
             the client programs of PostgreSQL {server} and put them first on the path",
            name = self.name
        )))
    }

    pub(super) fn missing(&self, error: &io::Error) -> BackupError {
        let name = self.name;
        match error.kind() {
            io::ErrorKind::NotFound => BackupError::Tool(format!(
                "{name} is not on the path: install PostgreSQL's client programs \
                 (Debian: postgresql-client)"
            )),
            _ => BackupError::Tool(format!("{name}: {error}")),
        }
    }

    /// Runs it to its end.
    pub(super) fn run(&self, mut command: Command) -> Result<(), BackupError> {
        let output = command.stdout(Stdio::null()).output();
        let output = output.map_err(|error| self.missing(&error))?;
        if output.status.success() {
            return Ok(());
        }
        Err(self.failed(&output.stderr))
    }

    pub(super) fn start(&self, mut command: Command) -> Result<Child, BackupError> {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        child.map_err(|error| self.missing(&error))
    }

    pub(super) fn failed(&self, said: &[u8]) -> BackupError {
        let said = String::from_utf8_lossy(&said[..said.len().min(TOLD)]);
        let said = said.trim().replace('\n', " ");
        BackupError::Tool(format!("{} failed: {said}", self.name))
    }
}

fn major_of(word: &str) -> Option<u32> {
    let digits = word.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_first_number_said() {
        for (said, major) in [
            ("pg_dump (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)", 15),
            ("pg_dump (PostgreSQL) 17beta1", 17),
        ] {
            let found = said.split_whitespace().find_map(major_of);
            assert_eq!(found, Some(major), "{said}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_named_with_what_to_install() {
        let tool = Tool::new("pg_dump_of_nowhere");
        let error = tool.major().unwrap_err().to_string();
        assert!(error.contains("postgresql-client"), "{error}");
    }
}
