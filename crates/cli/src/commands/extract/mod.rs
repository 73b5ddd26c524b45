//! `trawl extract`: the meaning of one document, or of many. Keeps nothing.
//!
//! * `inputs`: what was named: a URL, a file, standard input, a list
//! * `getter`: documents from the web, politely
//! * `batch`: many documents with all cores

mod batch;
mod getter;
mod inputs;

use std::{io::Write, process::ExitCode};

use trawl_extract::{Extracted, Extraction, Source, extract, metadata::Hints};
use url::Url;

use crate::{
    args::{ExtractArgs, ExtractFormat},
    exit::{BadInput, NOTHING_FETCHED},
};
use getter::Getter;
use inputs::Input;

/// Bytes and what came with them.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    bytes: Vec<u8>,
    url: Option<Url>,
    content_type: Option<String>,
    /// Further headers, lower case.
    headers: Vec<(String, String)>,
    truncated: bool,
}

pub(crate) async fn run(args: &ExtractArgs) -> anyhow::Result<ExitCode> {
    let base = args.base.as_deref().map(base_of).transpose()?;
    let getter = Getter::new(args)?;
    if !args.batch.is_empty() {
        return batch::run(args, base, getter).await;
    }
    let Some(input) = &args.input else {
        let message = "name a URL, a file or - for standard input, or many with --batch";
        return Err(BadInput(message.into()).into());
    };
    let input = Input::of(input);
    let raw = match inputs::load(&input, &getter).await {
        Ok(raw) => raw,
        Err(problem) if matches!(input, Input::Web(_)) => {
            eprintln!("trawl: {input}: {problem}");
            return Ok(ExitCode::from(NOTHING_FETCHED));
        }
        Err(problem) => {
            return Err(BadInput(format!("cannot read {input}: {problem}")).into());
        }
    };
    let most = args.max_content as usize;
    let meaning = tokio::task::spawn_blocking(move || understand(&raw, base.as_ref(), most));
    match meaning.await? {
        Extraction::Content(content) => {
            for warning in &content.warnings {
                tracing::warn!("{warning}");
            }
            print(&content, args.format)?;
            Ok(ExitCode::SUCCESS)
        }
        Extraction::Nothing(why) => {
            eprintln!("trawl: {input}: {why}");
            Ok(ExitCode::from(NOTHING_FETCHED))
        }
    }
}

fn base_of(text: &str) -> Result<Url, BadInput> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        _ => Err(BadInput(format!(
            "--base: {text:?} is no http or https address"
        ))),
    }
}

/// A base that was given wins over where the document came from.
fn understand(raw: &Raw, base: Option<&Url>, max_content_bytes: usize) -> Extraction {
    let header = |name: &str| {
        let mut all = raw.headers.iter();
        all.find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    };
    let headers = |name: &str| -> Vec<&str> {
        let all = raw.headers.iter().filter(|(n, _)| n == name);
        all.map(|(_, value)| value.as_str()).collect()
    };
    let mut signals = headers("content-signal");
    signals.extend(headers("content-usage"));
    let source = Source {
        url: base.or(raw.url.as_ref()),
        content_type: raw.content_type.as_deref(),
        hints: Hints {
            crawler: "trawl",
            x_robots_tag: headers("x-robots-tag"),
            content_signal: signals,
            link: headers("link"),
            content_language: header("content-language"),
            last_modified: header("last-modified"),
            tdm_reservation: header("tdm-reservation"),
            tdm_policy: header("tdm-policy"),
        },
        max_content_bytes,
    };
    let mut meaning = extract(&raw.bytes, &source);
    if let Extraction::Content(content) = &mut meaning {
        content.truncated |= raw.truncated;
    }
    meaning
}

fn print(content: &Extracted, format: ExtractFormat) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match format {
        ExtractFormat::Markdown => writeln!(out, "{}", content.markdown.trim_end())?,
        ExtractFormat::Text => writeln!(out, "{}", content.text.trim_end())?,
        ExtractFormat::Html => {
            let html = content.html.as_deref().unwrap_or(&content.markdown);
            writeln!(out, "{}", html.trim_end())?;
        }
        ExtractFormat::Json => {
            serde_json::to_writer_pretty(&mut out, content)?;
            writeln!(out)?;
        }
    }
    Ok(())
}
