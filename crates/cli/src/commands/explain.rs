//! `trawl explain`: why a URL was or was not crawled, or what would happen to it.

use std::{io::Write, process::ExitCode};

use serde_json::json;
use trawl_engine::{CrawlPlan, Explanation, RobotsSays, explain, given_up};
use trawl_store::contract::read::CrawlRow;
use trawl_types::{CrawlState, PageRecord, PageState, Reason, ReasonCode, record::PageStanding};

use super::{open_to_read, pick};
use crate::{args::ExplainArgs, display, exit::BadInput, hint};

pub(crate) async fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let store = open_to_read(&args.database.database)?;
    let row = pick(store.as_ref(), args.crawl).await?;
    let plan = CrawlPlan::compile(row.spec.clone(), store.key_secret(), display::this_year())?;
    let found = explain(store.as_ref(), &plan, row.id, &args.url).await?;
    must_be_a_url(&args.url, &found)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", as_json(&row, &found))?;
    } else {
        for line in lines(&row, &args.url, &found) {
            writeln!(out, "{}", display::printable(&line))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is no URL has no fate. One of another scheme has: pages may link to it.
fn must_be_a_url(text: &str, found: &Explanation) -> Result<(), BadInput> {
    match &found.verdict {
        Err(reason) if found.address.is_none() && reason.code == ReasonCode::InvalidUrl => {
            Err(BadInput(format!(
                "{text:?} cannot be explained: {reason}; write it as https://example.org/page"
            )))
        }
        _ => Ok(()),
    }
}

fn lines(row: &CrawlRow, text: &str, found: &Explanation) -> Vec<String> {
    let mut lines = vec![found.address.clone().unwrap_or_else(|| text.to_owned())];
    match &found.standing {
        Some(standing) => lines.extend(seen_lines(row, found, standing)),
        None => lines.extend(unseen_lines(row, found)),
    }
    if let Some(identity) = found
        .identity
        .as_ref()
        .filter(|id| found.address.as_ref() != Some(id))
    {
        lines.push(format!("  compared as  {identity}"));
    }
    lines.push(format!("  robots.txt   {}", robots_text(found)));
    lines
}

fn seen_lines(row: &CrawlRow, found: &Explanation, standing: &PageStanding) -> Vec<String> {
    let mut lines = Vec::new();
    match (standing.state, &standing.record) {
        (PageState::Done, Some(record)) => {
            let status = record
                .status_code
                .map(|code| format!(" {code}"))
                .unwrap_or_default();
            lines.push(format!(
                "  crawled      {} in crawl {}: {}{status}",
                record.crawled_at.iso(),
                row.id,
                record.outcome.as_str(),
            ));
            lines.extend(
                record
                    .error
                    .iter()
                    .map(|error| format!("  error        {error}")),
            );
            lines.extend(
                record
                    .redirect_to
                    .iter()
                    .map(|to| format!("  redirects to {to}")),
            );
            lines.extend(
                record
                    .title
                    .iter()
                    .map(|title| format!("  title        {title}")),
            );
            lines.extend(copy_lines(record));
            lines.extend(hint::allowing_visit(record).as_deref().map(allow_line));
        }
        (PageState::Refused, _) => {
            let why = standing
                .reason
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            lines.push(format!("  not crawled  {why}"));
            let flag = standing.reason.as_ref();
            let flag = flag.and_then(|reason| hint::allowing(reason, &standing.url));
            lines.extend(flag.as_deref().map(allow_line));
        }
        _ => lines.push(format!(
            "  not crawled  {}",
            waiting_text(row, found, standing)
        )),
    }
    lines.push(format!("  depth        {}", standing.depth));
    lines.push("  found by".to_owned());
    for (step, url) in standing.chain.iter().enumerate() {
        lines.push(format!("    {step}: {url}"));
    }
    lines
}

/// The flag with which another crawl would visit the URL.
fn allow_line(flag: &str) -> String {
    format!("  allow it by  {flag}")
}

fn copy_lines(record: &PageRecord) -> impl Iterator<Item = String> {
    let same = record.duplicate_of.iter();
    let same = same.map(|first| format!("  the same as  {first}"));
    let near = record.near_duplicate_of.iter();
    same.chain(near.map(|first| format!("  nearly as    {first}")))
}

fn waiting_text(row: &CrawlRow, found: &Explanation, standing: &PageStanding) -> String {
    let tried = match standing.attempts {
        0 => String::new(),
        n => format!(" (tried {n} times so far)"),
    };
    if let Some(why) = found.host_given_up {
        return format!("{}{tried}", given_up(why));
    }
    if found.host_budget_used {
        return format!("{}{tried}", ReasonCode::HostBudget.explanation());
    }
    match row.state {
        CrawlState::Running => format!("it waits for its turn{tried}"),
        CrawlState::Completed => {
            format!("the crawl ended before its turn: {}{tried}", row.why)
        }
        state => format!(
            "the crawl is {}; it waits for its turn{tried}",
            state.as_str()
        ),
    }
}

fn unseen_lines(row: &CrawlRow, found: &Explanation) -> Vec<String> {
    let mut lines = vec![format!(
        "  never seen   no page of crawl {} links to it",
        row.id
    )];
    lines.push(match found.foreseen() {
        Ok(()) => "  if found     it would be crawled, depth and budgets permitting".to_owned(),
        Err(reason) if waits(&reason) => format!("  if found     it would wait: {reason}"),
        Err(reason) => format!("  if found     it would be refused: {reason}"),
    });
    let refused = found.verdict.as_ref().err().zip(found.address.as_ref());
    let flag = refused.and_then(|(reason, url)| hint::allowing(reason, url));
    lines.extend(flag.as_deref().map(allow_line));
    lines
}

/// True for what leaves a URL pending, to be taken up some other time.
fn waits(reason: &Reason) -> bool {
    matches!(
        reason.code,
        ReasonCode::HostSuspended | ReasonCode::HostBudget
    )
}

fn robots_text(found: &Explanation) -> String {
    match &found.robots {
        RobotsSays::Ignored => "ignored by this crawl".into(),
        RobotsSays::NotRead => unread_text(found).into(),
        RobotsSays::Unreachable { status: 0 } => {
            "could not be reached: nothing may be fetched".into()
        }
        RobotsSays::Unreachable { status } => format!("answers {status}: nothing may be fetched"),
        RobotsSays::Allowed { line: None } => "allows it (no rule matches)".into(),
        RobotsSays::Allowed { line: Some(line) } => format!("allows it by line {line}"),
        RobotsSays::Disallowed { line, rule } => format!("disallows it by line {line}: {rule}"),
    }
}

/// Nobody asks a host for rules about what no rule lets through.
fn unread_text(found: &Explanation) -> &'static str {
    match found.standing.as_ref().map(|standing| standing.state) {
        Some(PageState::Done) => "not read",
        Some(PageState::Refused) => REFUSED_FIRST,
        None if found.verdict.is_err() => REFUSED_FIRST,
        _ => "not read yet; it would be read first",
    }
}

const REFUSED_FIRST: &str = "not read: the URL is refused before it matters";

fn as_json(row: &CrawlRow, found: &Explanation) -> serde_json::Value {
    json!({
        "crawl": row.id.0,
        "url": found.address,
        "identity": found.identity,
        "seen": found.standing.as_ref().map(seen_json),
        "verdict": match found.foreseen() { Ok(()) => json!("allowed"), Err(reason) => json!(reason) },
        "robots": robots_text(found),
    })
}

/// Times are written as in every other output.
fn seen_json(standing: &PageStanding) -> serde_json::Value {
    let mut seen = json!(standing);
    seen["discovered_at"] = json!(standing.discovered_at.iso());
    if let Some(record) = &standing.record {
        seen["record"]["crawled_at"] = json!(record.crawled_at.iso());
    }
    seen
}
