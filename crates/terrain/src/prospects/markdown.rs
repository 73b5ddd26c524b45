//! Prospects as Markdown: the two rankings, examples, the matrix, and the TOML to take over.

use std::fmt::{self, Write};

use super::{Prospect, Prospects};
use crate::text::{markdown, thousands};

/// A larger matrix is for JSON.
const MATRIX: usize = 25;
/// More of those who cite a domain are only counted; JSON has them all.
const CITING: usize = 8;

pub(super) fn render(prospects: &Prospects) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(prospects, &mut out);
    out
}

fn write(prospects: &Prospects, out: &mut String) -> fmt::Result {
    writeln!(out, "# Prospects of run {}\n", prospects.run)?;
    let (total, actors) = (prospects.total as u64, prospects.actors.len() as u64);
    writeln!(
        out,
        "{} discovered domains are linked to around {} quality domains.\n",
        thousands(total),
        thousands(actors)
    )?;
    out.push_str("## Co-link: cited by quality domains\n\n");
    ranking(&prospects.co_link, out)?;
    out.push_str("\n## Snowball: cited by domains at most one link away\n\n");
    ranking(&prospects.snowball, out)?;
    out.push_str("\n## Examples\n");
    for prospect in &prospects.co_link {
        examples(prospect, out)?;
    }
    out.push_str("\n## Inter-actor: links between quality domains\n\n");
    matrix(prospects, out)?;
    out.push_str("\n## For the configuration\n\n```toml\n");
    out.push_str(prospects.to_toml().trim_end());
    out.push_str("\n```\n");
    Ok(())
}

fn ranking(rows: &[Prospect], out: &mut String) -> fmt::Result {
    if rows.is_empty() {
        return out.write_str("None.\n");
    }
    out.push_str("| Domain | Quality Domains | Near Domains | Links | Depth | Cited By |\n");
    out.push_str("|--------|-----------------|--------------|-------|-------|----------|\n");
    for row in rows {
        let cited_by = row.cited_by.iter().take(CITING);
        let mut names: Vec<String> = cited_by
            .map(|citation| {
                let links = thousands(citation.links);
                format!("{} ({links})", markdown(&citation.actor))
            })
            .collect();
        if row.cited_by.len() > CITING {
            names.push(format!("… {} more", row.cited_by.len() - CITING));
        }
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            markdown(&row.domain),
            row.cited_by.len(),
            thousands(row.near_domains),
            thousands(row.links),
            row.depth,
            names.join(", ")
        )?;
    }
    Ok(())
}

fn examples(prospect: &Prospect, out: &mut String) -> fmt::Result {
    writeln!(out, "\n### {}\n", markdown(&prospect.domain))?;
    for example in &prospect.examples {
        let (from, to) = (markdown(&example.from), markdown(&example.to));
        write!(out, "- {from} → {to}")?;
        if !example.anchor.is_empty() {
            write!(out, " “{}”", markdown(&example.anchor))?;
        }
        out.push('\n');
    }
    Ok(())
}

fn matrix(prospects: &Prospects, out: &mut String) -> fmt::Result {
    let actors = &prospects.actors;
    if actors.len() > MATRIX {
        return heaviest(prospects, out);
    }
    out.push_str("| From \\ To |");
    for actor in actors {
        write!(out, " {} |", markdown(actor))?;
    }
    out.push_str("\n|---|");
    out.push_str(&"---|".repeat(actors.len()));
    out.push('\n');
    for (actor, row) in actors.iter().zip(&prospects.inter_actor.links) {
        write!(out, "| {} |", markdown(actor))?;
        for links in row {
            write!(out, " {} |", thousands(*links))?;
        }
        out.push('\n');
    }
    Ok(())
}

/// Of a large matrix, the pairs that link most.
fn heaviest(prospects: &Prospects, out: &mut String) -> fmt::Result {
    let mut pairs: Vec<(u64, usize, usize)> = Vec::new();
    for (from, row) in prospects.inter_actor.links.iter().enumerate() {
        let others = row.iter().enumerate().filter(|(to, _)| *to != from);
        pairs.extend(
            others
                .filter(|(_, links)| **links > 0)
                .map(|(to, links)| (*links, from, to)),
        );
    }
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    out.push_str("| From | To | Links |\n|------|----|-------|\n");
    for (links, from, to) in pairs.iter().take(4 * MATRIX) {
        let [from, to] = [from, to].map(|place| markdown(&prospects.actors[*place]));
        writeln!(out, "| {from} | {to} | {} |", thousands(*links))?;
    }
    let (shown, total) = (pairs.len().min(4 * MATRIX), pairs.len());
    writeln!(
        out,
        "\n*(Showing top {shown} of {total} pairs; JSON has the matrix)*"
    )
}
