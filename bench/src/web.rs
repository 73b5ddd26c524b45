//! The test web as a process of its own: what it costs is not the crawler's.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use crate::binaries::Binaries;

/// The shape of a web.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WebShape {
    pub(crate) hosts: u32,
    pub(crate) pages: u32,
    pub(crate) page_bytes: u32,
    pub(crate) links: u32,
    pub(crate) latency_ms: u32,
    /// Whether text is marked up as densely as on real pages.
    pub(crate) rich: bool,
    /// Whether the baseline needs the list of all pages.
    pub(crate) listed: bool,
}

/// A running web; stopped when dropped.
#[derive(Debug)]
pub(crate) struct Web {
    process: Child,
    pub(crate) address: SocketAddr,
    pub(crate) root: String,
    /// File with the URLs of all pages, one on a line.
    pub(crate) list: PathBuf,
}

/// The line that the web prints once it serves.
#[derive(Deserialize)]
struct Ready {
    addr: SocketAddr,
    root: String,
}

/// A line of the true graph.
#[derive(Deserialize)]
struct Page {
    name: String,
    path: String,
}

impl Web {
    pub(crate) fn start(
        binaries: &Binaries,
        shape: &WebShape,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let mut process = Command::new(&binaries.testweb)
            .args(flags(shape))
            // It serves until this pipe closes, also when this process is killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the test web")?;
        let out = process.stdout.take().context("no standard output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let ready: Ready = serde_json::from_str(&line).context("the test web did not start")?;
        let web = Self {
            process,
            address: ready.addr,
            root: ready.root,
            list: folder.join("urls.txt"),
        };
        if shape.listed {
            web.write_list(shape.hosts == 1)?;
        }
        Ok(web)
    }

    /// Asks for the true graph and writes the URLs of all pages down.
    fn write_list(&self, by_address: bool) -> anyhow::Result<()> {
        let port = self.address.port();
        let mut list = String::new();
        for line in self.get("/.testweb/graph")?.lines() {
            let page: Page = serde_json::from_str(line)?;
            let host = if by_address { "127.0.0.1" } else { &page.name };
            writeln!(list, "http://{host}:{port}{}", page.path)?;
        }
        fs::write(&self.list, list)?;
        Ok(())
    }

    /// HTTP/1.0, so that the answer ends with the connection and is never in chunks.
    fn get(&self, path: &str) -> anyhow::Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: admin\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
        ensure!(head.contains(" 200 "), "the test web has no {path}");
        Ok(body.to_owned())
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends by itself now; a failure to wait changes no figure.
        let _ = self.process.wait();
    }
}

fn flags(shape: &WebShape) -> Vec<String> {
    [
        ("--hosts", shape.hosts),
        ("--pages", shape.pages),
        ("--page-bytes", shape.page_bytes),
        ("--links", shape.links),
        ("--latency-ms", shape.latency_ms),
    ]
    .into_iter()
    .flat_map(|(flag, value)| [flag.to_owned(), value.to_string()])
    .chain(shape.rich.then(|| "--rich-markup".to_owned()))
    .collect()
}
