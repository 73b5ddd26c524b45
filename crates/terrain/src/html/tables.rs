//! The figures of a summary as HTML tables.

use std::fmt::Write;

use crate::{
    summary::{DomainRow, Summary, TopUrls, depth_span, status_title},
    text::{duration, html, iso_seconds, thousands},
};

/// More domains than this are only counted; the graph has more.
const LISTED: usize = 200;

/// The run in a line.
pub(super) fn head(summary: &Summary) -> String {
    let run = &summary.run;
    let finished = run.finished_at.map_or("not yet".to_owned(), iso_seconds);
    format!(
        "Run {} · started {} · finished {finished} · took {} · {}",
        run.id,
        iso_seconds(run.started_at),
        duration(run.duration_ms),
        status_title(run.status)
    )
}

pub(super) fn tables(summary: &Summary) -> String {
    let mut out = String::new();
    overall(summary, &mut out);
    depths(summary, &mut out);
    states(summary, &mut out);
    errors(summary, &mut out);
    let quality = &summary.quality_domains;
    domains("Quality Domains (Fully Crawled)", quality, &mut out);
    domains("Other Domains", &summary.other_domains, &mut out);
    urls("Top Blacklisted URLs", &summary.blacklisted, &mut out);
    urls("Top Stubbed URLs", &summary.stubbed, &mut out);
    out
}

fn overall(summary: &Summary, out: &mut String) {
    let all = &summary.overall;
    let rows = [
        ("Pages Crawled", all.pages_crawled),
        ("Unique Domains Discovered", all.domains),
        ("Total Links Recorded", all.links),
        ("Blacklisted URLs Found", all.blacklisted_urls),
        ("Stubbed URLs Found", all.stubbed_urls),
        ("Errors Encountered", all.errors),
        ("Pages Known", all.pages_known),
    ];
    let rows = rows.map(|(metric, count)| vec![metric.to_owned(), thousands(count)]);
    table("Overall Statistics", &["Metric", "Count"], rows, "", out);
}

fn depths(summary: &Summary, out: &mut String) {
    let rows = summary.depths.iter().map(|row| {
        let depth = match row.depth {
            0 => "0 (Quality)".to_owned(),
            depth => depth.to_string(),
        };
        vec![depth, thousands(row.pages), thousands(row.new_domains)]
    });
    let columns = ["Depth", "Pages", "New Domains"];
    table("Depth Breakdown", &columns, rows, "", out);
}

fn states(summary: &Summary, out: &mut String) {
    let rows = summary.states.iter();
    let rows = rows.map(|row| vec![row.state.as_str().to_owned(), thousands(row.pages)]);
    table("Page States", &["State", "Pages"], rows, "", out);
}

fn errors(summary: &Summary, out: &mut String) {
    let rows = summary.errors.iter();
    let rows = rows.map(|row| vec![row.error.title().to_owned(), thousands(row.count)]);
    table("Error Summary", &["Error Type", "Count"], rows, "", out);
    if summary.rate_limited.is_empty() {
        return;
    }
    let rows = summary.rate_limited.iter();
    let rows = rows.map(|row| vec![row.domain.clone(), thousands(row.request)]);
    let columns = ["Domain", "Request"];
    table("Rate-Limited Domains", &columns, rows, "", out);
}

fn domains(title: &str, rows: &[DomainRow], out: &mut String) {
    let more = rows.len().saturating_sub(LISTED);
    let note = match more {
        0 => String::new(),
        more => format!("… and {} more domains", thousands(more as u64)),
    };
    let rows = rows.iter().take(LISTED).map(|row| {
        vec![
            row.domain.clone(),
            thousands(row.pages),
            thousands(row.pages_known),
            depth_span(row),
        ]
    });
    let columns = ["Domain", "Pages Crawled", "Pages Known", "Depth"];
    table(title, &columns, rows, &note, out);
}

fn urls(title: &str, urls: &TopUrls, out: &mut String) {
    let (shown, total) = (urls.top.len() as u64, thousands(urls.total));
    let note = format!("Showing top {} of {total}", thousands(shown));
    let rows = urls.top.iter();
    let rows = rows.map(|row| vec![row.url.clone(), thousands(row.references)]);
    table(title, &["URL", "Reference Count"], rows, &note, out);
}

/// The first column is text, the others are figures.
fn table(
    title: &str,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    note: &str,
    out: &mut String,
) {
    out.push_str("<section><h2>");
    out.push_str(&html(title));
    out.push_str("</h2><div class=\"scroll\"><table><thead><tr>");
    for column in columns {
        // Writing to a string does not fail.
        let _ = write!(out, "<th scope=\"col\">{}</th>", html(column));
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}</td>", html(&cell));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    if !note.is_empty() {
        let _ = write!(out, "<p>{}</p>", html(note));
    }
    out.push_str("</section>\n");
}
