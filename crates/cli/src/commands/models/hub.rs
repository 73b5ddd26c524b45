//! Any model that can be run here, from the address of its folder. curl fetches it, which knows
//! proxies and certificates of this machine.

use std::{path::Path, process::Command};

use super::install::{self, Wanted};
use crate::{args::HubArgs, exit::BadInput};

const WEIGHTS: &str = "model.safetensors";
const FILES: [&str; 3] = ["config.json", "tokenizer.json", WEIGHTS];

pub(super) fn pull(url: &str, args: &HubArgs, folder: &Path) -> anyhow::Result<()> {
    let needed = || BadInput("--url needs --name and --sha256".into());
    let name = args.name.as_deref().ok_or_else(needed)?;
    let sha256 = args.sha256.as_deref().ok_or_else(needed)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        let allowed = "letters, digits, `-`, `_` and `.`, with another than `.` first";
        return Err(BadInput(format!("--name: found {name:?}; allowed: {allowed}")).into());
    }
    let files = FILES.map(|file| Wanted {
        inside: file,
        name: file,
        sha256: (file == WEIGHTS).then_some(sha256),
    });
    install::pull(name, &files, folder, |work| {
        FILES.iter().try_for_each(|file| fetch(url, file, work))
    })
}

fn fetch(url: &str, file: &str, work: &Path) -> anyhow::Result<()> {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--fail", "--location"])
        .args(["--proto", "=http,https", "--output", file])
        .args(["--url", &format!("{}/{file}", url.trim_end_matches('/'))]);
    install::watch(curl, work)
}
