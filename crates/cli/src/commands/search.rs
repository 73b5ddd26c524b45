//! `trawl search`: what was crawled, by words and by meaning.

use std::{io::Write, process::ExitCode, sync::Arc};

use console::style;
use trawl_search::{
    Hit, Mode, Request, Response, SearchError, Searcher, document::Filter, file::IndexFile,
    fuse::Weights,
};

use super::{embedder::embedder, index::index_path, reranker::reranker};
use crate::{
    args::{ModeArg, RerankArgs, SearchArgs},
    display::printable,
    exit::{self, BadInput},
};

/// Characters of a result that are shown.
const SNIPPET: usize = 320;

pub(crate) async fn run(args: &SearchArgs) -> anyhow::Result<ExitCode> {
    let path = index_path(args.index.as_deref(), &args.database.database);
    let opening = path.clone();
    let index = tokio::task::spawn_blocking(move || IndexFile::open_to_read(&opening)).await?;
    let index = match index {
        Err(error @ SearchError::Missing(_)) => return Err(BadInput(error.to_string()).into()),
        other => other?,
    };
    let has_vectors = index.model()?.is_some();
    let wanted = has_vectors && args.mode != ModeArg::Keyword;
    let embedder = if wanted {
        embedder(&args.model).await?
    } else {
        None
    };
    let mode = match args.mode {
        // Without vectors or a model there is no meaning to search by.
        ModeArg::Hybrid if embedder.is_some() => Mode::Hybrid,
        ModeArg::Hybrid | ModeArg::Keyword => Mode::Keyword,
        ModeArg::Vector => Mode::Vector,
    };
    let RerankArgs { model, url, top } = &args.rerank;
    let reranker = reranker(model.as_deref(), url.as_deref(), &args.model).await?;
    let request = Request {
        mode,
        rerank: reranker.as_ref().map(|_| usize::from(*top)),
        ..request(args)
    };
    let searcher = Searcher::new(Arc::new(index), embedder).with_reranker(reranker);
    let response = searcher.search(&request).await.map_err(explained)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&response)?)?;
    } else {
        show(&mut out, &response)?;
        if args.mode == ModeArg::Hybrid && mode == Mode::Keyword {
            eprintln!("by words alone: see `trawl models pull` and `trawl index`");
        }
    }
    Ok(if response.results.is_empty() {
        ExitCode::from(exit::NOTHING_FETCHED)
    } else {
        ExitCode::SUCCESS
    })
}

/// What was asked for, apart from how to look.
fn request(args: &SearchArgs) -> Request {
    Request {
        filter: Filter {
            domains: args.domain.clone(),
            languages: args.language.clone(),
            ..Filter::default()
        },
        weights: Weights::default(),
        min_score: args.min_score,
        expand_chunks: args.expand,
        one_per_document: !args.all_chunks,
        limit: args.limit,
        cursor: args.cursor.clone(),
        ..Request::new(args.query.join(" "))
    }
}

/// What was typed wrong is bad input, the rest is not.
fn explained(error: SearchError) -> anyhow::Error {
    match error {
        SearchError::Query(_) | SearchError::BadCursor | SearchError::Unknown { .. } => {
            BadInput(error.to_string()).into()
        }
        other => other.into(),
    }
}

fn show(out: &mut impl Write, response: &Response) -> std::io::Result<()> {
    for (place, hit) in response.results.iter().enumerate() {
        let title = hit.title.as_deref().unwrap_or(&hit.url);
        let title = printable(title);
        writeln!(out, "{:>2}. {}", place + 1, style(title).bold())?;
        writeln!(out, "    {}", style(printable(&hit.url)).cyan())?;
        if let Some(header) = hit
            .section_header
            .as_deref()
            .filter(|h| Some(*h) != hit.title.as_deref())
        {
            writeln!(out, "    {}", style(printable(header)).dim())?;
        }
        writeln!(out, "    {}\n", snippet(hit))?;
    }
    for problem in &response.degraded {
        let (part, reason) = (problem.part, printable(&problem.reason));
        eprintln!("trawl: {part} search could not be asked: {reason}");
    }
    eprintln!(
        "{} results of {} in {:.0} ms{}",
        response.results.len(),
        response.total_count,
        response.latency_ms,
        response
            .next_cursor
            .as_ref()
            .map(|cursor| format!("; more with --cursor {cursor}"))
            .unwrap_or_default()
    );
    Ok(())
}

/// The part of a result with the most highlights, on one line.
fn snippet(hit: &Hit) -> String {
    let characters: Vec<char> = hit.content.chars().collect();
    let within = |start: usize| {
        let inside = |range: &&(usize, usize)| range.0 >= start && range.1 <= start + SNIPPET;
        hit.highlights.iter().filter(inside).count()
    };
    let starts = hit
        .highlights
        .iter()
        .map(|range| range.0.saturating_sub(40));
    let start = starts.rev().max_by_key(|start| within(*start)).unwrap_or(0);
    // A word that is cut is left out.
    let is_space = |at: &usize| characters[*at].is_whitespace();
    let start = if start == 0 {
        0
    } else {
        (start..characters.len()).find(is_space).unwrap_or(start)
    };
    let end = (start + SNIPPET).min(characters.len());
    let mut text = String::new();
    let mut at = start;
    let shown = |range: &&(usize, usize)| range.0 >= start && range.1 <= end;
    for (from, to) in hit.highlights.iter().filter(shown) {
        text.push_str(&plain(&characters[at..*from]));
        let word = plain(&characters[*from..*to]);
        text.push_str(&style(word).yellow().bold().to_string());
        at = *to;
    }
    text.push_str(&plain(&characters[at..end]));
    if end < characters.len() {
        text.push_str(" …");
    }
    text
}

/// One line without control characters: pages must not write to the terminal.
fn plain(characters: &[char]) -> String {
    let mut text = String::new();
    for c in characters {
        let c = if c.is_whitespace() { ' ' } else { *c };
        if !(c == ' ' && text.ends_with(' ')) {
            text.push(c);
        }
    }
    printable(&text)
}
