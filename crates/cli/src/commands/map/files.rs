//! Output files: written beside and put in place when they are whole.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;

use super::load::Map;
use crate::{exit::BadInput, output::resolved};

/// The name that stands for standard output.
pub(super) const STDOUT: &str = "-";

/// Fails early, and with what to do, where the end of a run would fail.
pub(super) fn must_be_writable(path: &Path) -> anyhow::Result<()> {
    if path == Path::new(STDOUT) {
        return Ok(());
    }
    let attempt = || -> io::Result<()> {
        if path.is_dir() {
            return Err(io::Error::other("it is a folder"));
        }
        let beside = beside(path);
        File::create(&beside)?;
        std::fs::remove_file(&beside)
    };
    attempt().map_err(|error| {
        BadInput(format!(
            "the summary cannot be written to {}: {error}; change summary-path or --output",
            path.display()
        ))
        .into()
    })
}

/// Refuses to write over what a map is made of: its database and its configuration.
pub(super) fn must_be_spare(path: &Path, map: &Map) -> anyhow::Result<()> {
    let taken = [
        (map.database(), "the database of the map"),
        (map.file.as_path(), "the configuration of the map"),
    ];
    for (file, what) in taken {
        if path != Path::new(STDOUT) && resolved(path) == resolved(file) {
            let path = path.display();
            return Err(BadInput(format!(
                "{path} is {what}: change summary-path or --output, nothing was written"
            ))
            .into());
        }
    }
    Ok(())
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Writes a whole file or none; `-` is standard output.
pub(super) fn put(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if path == Path::new(STDOUT) {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        out.flush()?;
        return Ok(());
    }
    let cannot = || format!("{} cannot be written", path.display());
    let part = beside(path);
    // A place that was badly chosen is the user's to change; what goes wrong later is not.
    let file = File::create(&part).map_err(|error| BadInput(format!("{}: {error}", cannot())))?;
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    if let Err(error) = written {
        let _ = std::fs::remove_file(&part);
        // Others have said for themselves what is wrong, and it is not the file.
        return Err(if error.is::<io::Error>() {
            error.context(cannot())
        } else {
            error
        });
    }
    std::fs::rename(&part, path).with_context(cannot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_finished_leaves_the_old_one_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("summary.md");
        put(&path, |out| Ok(out.write_all(b"old")?)).unwrap();
        let failed = put(&path, |out| {
            out.write_all(b"new")?;
            anyhow::bail!("the rest is missing")
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_place_that_cannot_be_written_to_is_bad_input() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = folder.path().join("no/such/folder.md");
        let error = put(&nowhere, |_| Ok(())).unwrap_err();
        assert!(error.is::<BadInput>(), "{error}");
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named_before_the_work_begins() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = folder.path().join("no/such/folder.md");
        let error = must_be_writable(&nowhere).unwrap_err();
        assert!(error.to_string().contains("summary-path"), "{error}");
        assert!(must_be_writable(folder.path()).is_err());
        must_be_writable(&folder.path().join("new.md")).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
