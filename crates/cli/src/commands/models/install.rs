//! Files that another program fetches: watched while they grow, checked, put in place all at once.

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, bail};
use indicatif::ProgressBar;
use sha2::{Digest, Sha256};

use crate::display::number;

/// A file of a model: where it is among what was fetched, what it is called, what it must be.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) inside: &'a str,
    pub(super) name: &'a str,
    pub(super) sha256: Option<&'a str>,
}

/// Gets a model with `fetch`, which puts its files into the folder that it is given.
pub(super) fn pull(
    name: &str,
    files: &[Wanted<'_>],
    folder: &Path,
    fetch: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let target = folder.join(name);
    if files
        .iter()
        .all(|file| is_right(&target.join(file.name), file))
    {
        eprintln!("{name} is here already: {}", target.display());
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    // Commands that run inside of it are told of it.
    let work = std::path::absolute(folder)?.join(format!(".pull-{}", std::process::id()));
    fs::create_dir_all(&work)?;
    let result = fetch(&work).and_then(|()| install(files, &work, &target));
    let _ = fs::remove_dir_all(&work);
    result?;
    eprintln!("{name} is ready: {}", target.display());
    Ok(())
}

/// Runs a program that fetches something, and shows how far it is.
pub(super) fn watch(mut command: Command, work: &Path) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let line = ProgressBar::new_spinner();
    let said = work.join("said.txt");
    let mut child = command
        .current_dir(work)
        // What pip has not finished lies there, too, so that it can be seen to grow.
        .env("TMPDIR", work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said)?)
        .spawn()
        .with_context(|| format!("running {program}: is it installed? (see --help for others)"))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let size = number(size_of(work));
        line.set_message(format!("{program}: downloading, {size} bytes"));
        line.tick();
        std::thread::sleep(Duration::from_millis(100));
    };
    line.finish_and_clear();
    if !status.success() {
        let said = fs::read(&said).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        bail!("{program} could not get the model: {}", said.trim());
    }
    Ok(())
}

fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => size_of(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// Checks every file, and that they are a model, before any is put in place.
fn install(files: &[Wanted<'_>], work: &Path, target: &Path) -> anyhow::Result<()> {
    let ready = work.join("ready");
    fs::create_dir_all(&ready)?;
    for file in files {
        let path = work.join(file.inside);
        if !is_right(&path, file) {
            bail!(
                "{} is not what was expected: nothing was installed",
                file.inside
            );
        }
        fs::rename(&path, ready.join(file.name))?;
    }
    trawl_search::embed::check(&ready).context("nothing was installed")?;
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    fs::rename(&ready, target)?;
    Ok(())
}

/// Whether it is there and has the checksum, if one is known.
fn is_right(path: &Path, file: &Wanted<'_>) -> bool {
    let Some(sha256) = file.sha256 else {
        return path.is_file();
    };
    checksum(path).is_ok_and(|found| found.eq_ignore_ascii_case(sha256))
}

fn checksum(path: &Path) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut reader = fs::File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            let digest: [u8; 32] = hasher.finalize().into();
            let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
            return Ok(digest
                .iter()
                .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
                .collect());
        }
        hasher.update(&buffer[..count]);
    }
}
