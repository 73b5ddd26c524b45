//! The summary as one HTML file that needs nothing else: tables, and a graph of domains to look
//! around in. Everything crawled is data in it, never markup; a content security policy allows its
//! own script and style and nothing more.
//!
//! * [`graph`]: which domains and links are drawn
//! * [`tables`]: the figures, readable without the script
//! * [`hash`]: what the policy knows its script and style by
//! * `page.html`, `style.css`, `*.js`: the page itself

mod graph;
mod hash;
mod tables;
#[cfg(test)]
mod tests;

use std::io::Write;

use trawl_types::CrawlId;

use crate::{
    source::{TerrainSource, ViewError},
    summary::read_with_atlas,
    text::{html, script_json},
};
pub use graph::{MAX_DOMAINS, MAX_LINKS};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");

/// One script: what lays out, what draws, what tells, what listens.
const SCRIPT: &str = concat!(
    "'use strict';\n",
    include_str!("layout.js"),
    include_str!("canvas.js"),
    include_str!("panel.js"),
    include_str!("main.js"),
);

/// Writes the page of a run.
pub fn write_html<S: TerrainSource>(
    source: &S,
    run: CrawlId,
    out: &mut dyn Write,
) -> Result<(), ViewError<S::Error>> {
    let mut links = graph::DomainLinks::default();
    let (summary, atlas) = read_with_atlas(source, run, |atlas, edge| links.add(atlas, edge))?;
    let graph = graph::select(source, &atlas, &links)?;
    let data = script_json(&graph).map_err(|error| ViewError::Write(error.into()))?;
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash::sha256(SCRIPT),
        hash::sha256(STYLE)
    );
    let title = format!("Terrain of run {run}");
    let parts = [
        ("{{policy}}", policy),
        ("{{title}}", html(&title)),
        ("{{style}}", STYLE.to_owned()),
        ("{{head}}", tables::head(&summary)),
        ("{{tables}}", tables::tables(&summary)),
        ("{{data}}", data),
        ("{{script}}", SCRIPT.to_owned()),
    ];
    fill(PAGE, &parts, out).map_err(ViewError::Write)
}

/// Writes a template, its marks replaced once each and in their order. What is put in is not
/// looked at again: it may hold anything.
fn fill(template: &str, parts: &[(&str, String)], out: &mut dyn Write) -> std::io::Result<()> {
    let mut rest = template;
    for (mark, text) in parts {
        if let Some((before, after)) = rest.split_once(mark) {
            out.write_all(before.as_bytes())?;
            out.write_all(text.as_bytes())?;
            rest = after;
        }
    }
    out.write_all(rest.as_bytes())
}
