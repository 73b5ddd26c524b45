//! A comparison as Markdown: a table of figures, then the lists that are not empty.

use std::fmt::{self, Write};

use super::{Diff, Listed};
use crate::text::{markdown, thousands};

pub(super) fn render(diff: &Diff) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(diff, &mut out);
    out
}

fn write(diff: &Diff, out: &mut String) -> fmt::Result {
    writeln!(out, "# Run {} compared with run {}\n", diff.new, diff.old)?;
    out.push_str("|  | Appeared | Vanished | Changed |\n|--|----------|----------|---------|\n");
    let figure = |total: usize| thousands(total as u64);
    for (what, appeared, vanished, changed) in [
        (
            "Pages",
            diff.pages_appeared.total,
            diff.pages_vanished.total,
            figure(diff.pages_changed.total),
        ),
        (
            "Domains",
            diff.domains_appeared.total,
            diff.domains_vanished.total,
            figure(diff.domains_changed.total),
        ),
        (
            "Links",
            diff.edges_appeared.total,
            diff.edges_vanished.total,
            "–".to_owned(),
        ),
    ] {
        let (appeared, vanished) = (figure(appeared), figure(vanished));
        writeln!(out, "| {what} | {appeared} | {vanished} | {changed} |")?;
    }
    lists(diff, out)
}

fn lists(diff: &Diff, out: &mut String) -> fmt::Result {
    list(
        "Domains that appeared",
        &diff.domains_appeared,
        out,
        |row| {
            let pages = thousands(row.pages);
            format!(
                "{} ({}, {pages} pages)",
                markdown(&row.domain),
                row.class.as_str()
            )
        },
    )?;
    list(
        "Domains that vanished",
        &diff.domains_vanished,
        out,
        |row| format!("{} ({})", markdown(&row.domain), row.class.as_str()),
    )?;
    list(
        "Domains of another class",
        &diff.domains_changed,
        out,
        |row| {
            let (was, is) = (row.was.as_str(), row.is.as_str());
            format!("{}: {was} → {is}", markdown(&row.domain))
        },
    )?;
    list("Pages that appeared", &diff.pages_appeared, out, |row| {
        format!("{} ({})", markdown(&row.url), row.state.as_str())
    })?;
    list("Pages that vanished", &diff.pages_vanished, out, |row| {
        format!("{} ({})", markdown(&row.url), row.state.as_str())
    })?;
    list("Pages in another state", &diff.pages_changed, out, |row| {
        let (was, is) = (row.was.as_str(), row.is.as_str());
        format!("{}: {was} → {is}", markdown(&row.url))
    })?;
    let edge = |row: &super::EdgeRow| format!("{} → {}", markdown(&row.from), markdown(&row.to));
    list("Links that appeared", &diff.edges_appeared, out, edge)?;
    list("Links that vanished", &diff.edges_vanished, out, edge)
}

fn list<Row>(
    title: &str,
    listed: &Listed<Row>,
    out: &mut String,
    line: impl Fn(&Row) -> String,
) -> fmt::Result {
    if listed.total == 0 {
        return Ok(());
    }
    writeln!(out, "\n## {title}\n")?;
    for row in &listed.rows {
        writeln!(out, "- {}", line(row))?;
    }
    match listed.total - listed.rows.len() {
        0 => Ok(()),
        more => writeln!(out, "- ... ({} more)", thousands(more as u64)),
    }
}
