//! What was named: a URL, a file, standard input, or a list of them.

use std::{
    fmt, fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use trawl_types::spec::FetchSpec;
use url::Url;

use super::{Raw, getter::Getter};
use crate::{exit::BadInput, spec::unmarked};

/// Larger files are no documents that anybody reads.
const MOST_BYTES: u64 = 64 << 20;
/// A list of addresses may be long, but not endless.
const MOST_LIST_BYTES: u64 = 256 << 20;

/// One document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    Web(Url),
    File(PathBuf),
    Stdin,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Web(url) => url.fmt(f),
            Self::File(path) => path.display().fmt(f),
            Self::Stdin => f.write_str("standard input"),
        }
    }
}

impl Input {
    pub(super) fn of(text: &str) -> Self {
        if text == "-" {
            return Self::Stdin;
        }
        match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Self::Web(url),
            _ => Self::File(text.into()),
        }
    }

    /// What is named with `--batch`: URLs, files, folders of files, and lists of URLs.
    pub(super) fn many(named: &[String]) -> anyhow::Result<Vec<Self>> {
        let mut inputs = Vec::new();
        for text in named {
            match Self::of(text) {
                Self::File(path) if path.is_dir() => inputs.extend(files_below(&path)?),
                Self::File(path) => match urls_in(&path)? {
                    Some(urls) => inputs.extend(urls.into_iter().map(Self::Web)),
                    None => inputs.push(Self::File(path)),
                },
                Self::Stdin => {
                    let text = read_text(io::stdin().lock(), "standard input")?;
                    inputs.extend(text.lines().map(str::trim).filter(is_entry).map(Self::of));
                }
                web @ Self::Web(_) => inputs.push(web),
            }
        }
        Ok(inputs)
    }
}

fn is_entry(line: &&str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

fn read_text(from: impl Read, name: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    from.take(MOST_LIST_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| BadInput(format!("--batch: cannot read {name}: {error}")))?;
    Ok(unmarked(&text).to_owned())
}

/// The URLs of a text file that holds nothing else; a document is no list.
fn urls_in(path: &Path) -> anyhow::Result<Option<Vec<Url>>> {
    let cannot = |error| BadInput(format!("--batch: cannot read {}: {error}", path.display()));
    let mut head = Vec::new();
    let file = fs::File::open(path).map_err(cannot)?;
    file.take(4096).read_to_end(&mut head).map_err(cannot)?;
    let first = String::from_utf8_lossy(&head);
    let first = unmarked(&first).lines().map(str::trim).find(is_entry);
    if !first.is_some_and(|line| line.starts_with("http://") || line.starts_with("https://")) {
        return Ok(None);
    }
    let file = fs::File::open(path).map_err(cannot)?;
    let text = read_text(file, &path.display().to_string())?;
    let urls: Result<Vec<Url>, _> = text
        .lines()
        .map(str::trim)
        .filter(is_entry)
        .map(Url::parse)
        .collect();
    Ok(urls.ok())
}

/// All files of a folder and the folders in it, in the order of their names. Links are not
/// followed: they could lead in a circle.
fn files_below(folder: &Path) -> anyhow::Result<Vec<Input>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| {
            BadInput(format!(
                "--batch: cannot read {}: {error}",
                folder.display()
            ))
        })?;
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files.into_iter().map(Input::File).collect())
}

/// The document's bytes, or what is wrong with it in words.
pub(super) async fn load(input: &Input, getter: &Getter) -> Result<Raw, String> {
    match input {
        Input::Web(url) => getter.get(url).await,
        Input::File(path) => {
            let path = path.clone();
            let reading = move || {
                let file = fs::File::open(&path)?;
                read_raw(file)
            };
            match tokio::task::spawn_blocking(reading).await {
                Ok(read) => read.map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            }
        }
        Input::Stdin => read_raw(io::stdin().lock()).map_err(|error| error.to_string()),
    }
}

fn read_raw(from: impl Read) -> io::Result<Raw> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    let truncated = bytes.len() as u64 > MOST_BYTES;
    bytes.truncate(MOST_BYTES as usize);
    Ok(Raw {
        bytes,
        truncated,
        ..Raw::default()
    })
}

/// Documents other than pages are often larger than pages.
pub(super) fn limits(mut fetch: FetchSpec) -> FetchSpec {
    fetch.max_body_bytes = fetch.max_body_bytes.min(MOST_BYTES);
    fetch
}
