//! A tiny cross-encoder with made-up weights: its folder, and the real server that ranks with it.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

#[path = "../../../../search/src/embed/local/checkpoint.rs"]
mod checkpoint;

/// A folder with a model, and `trawl embed-server` for it; both end with the test.
#[derive(Debug)]
pub(crate) struct CrossEncoder {
    folder: tempfile::TempDir,
    child: Child,
    pub(crate) base: String,
}

impl CrossEncoder {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::write(folder.path());
        let mut child = Command::new(env!("CARGO_BIN_EXE_trawl"))
            .args(["embed-server", "--listen", "127.0.0.1:0", "--model", "none"])
            .arg("--rerank-model")
            .arg(folder.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().expect("it says where it listens").unwrap();
        let base = line
            .split_whitespace()
            .find(|word| word.starts_with("http"));
        let base = base.expect(&line).trim_end_matches(':').to_owned();
        thread::spawn(move || lines.for_each(drop));
        Self {
            folder,
            child,
            base,
        }
    }

    /// Puts the files of the model there.
    pub(crate) fn write(folder: &Path) {
        checkpoint::Checkpoint::cross_encoder().write(folder);
    }

    pub(crate) fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }
}

impl Drop for CrossEncoder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
