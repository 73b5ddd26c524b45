//! Reads paths of pages from standard input and prints the text of their main content, one JSON
//! line per page.

use std::io::{BufRead, Write};

use trawl_extract::content::{ContentLimits, main_content};
use trawl_extract::markdown::{RenderLimits, render};

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for path in std::io::stdin().lock().lines() {
        let path = path?;
        let page = std::fs::read(&path)?;
        let page = String::from_utf8_lossy(&page);
        let content = main_content(&page, None, &ContentLimits::default());
        let rendered = render(&content.html, None, &RenderLimits::default());
        let line = serde_json::json!({ "path": path, "text": rendered.text });
        writeln!(out, "{line}")?;
    }
    out.flush()
}
