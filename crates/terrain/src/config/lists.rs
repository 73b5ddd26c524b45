//! The three lists of domains, and what must hold between them: no domain twice, every seed in its
//! domain and not in a list that goes before it.

use std::{collections::HashMap, ops::Range};

use url::Url;

use super::{
    domain::{matches, pattern, without_www},
    error::Problems,
    model::QualityEntry,
    section::{Placed, Section},
};

#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) quality: Vec<QualityEntry>,
    pub(super) blacklist: Vec<String>,
    pub(super) stub: Vec<String>,
}

/// A domain that is never visited, and where it is said.
struct Shut {
    list: &'static str,
    pattern: String,
    line: usize,
}

pub(super) fn read(root: &Section<'_, '_>, https: bool, problems: &mut Problems<'_>) -> Lists {
    let mut seen = HashMap::new();
    let blacklist = domains(root, "blacklist", &mut seen, problems);
    let stub = domains(root, "stub", &mut seen, problems);
    let shut: Vec<Shut> = [("blacklist", &blacklist), ("stub", &stub)]
        .into_iter()
        .flat_map(|(list, domains)| domains.iter().map(move |domain| (list, domain)))
        .map(|(list, domain)| Shut {
            list,
            pattern: domain.value.clone(),
            line: problems.line_of(&domain.span),
        })
        .collect();
    let quality = quality(root, https, &shut, &mut seen, problems);
    let plain = |domains: Vec<Placed<String>>| domains.into_iter().map(|d| d.value).collect();
    Lists {
        quality,
        blacklist: plain(blacklist),
        stub: plain(stub),
    }
}

fn domains(
    root: &Section<'_, '_>,
    list: &'static str,
    seen: &mut HashMap<String, (String, Range<usize>)>,
    problems: &mut Problems<'_>,
) -> Vec<Placed<String>> {
    root.tables(list, &["domain"], problems)
        .iter()
        .filter_map(|entry| domain(entry, seen, problems))
        .collect()
}

/// The domain of an entry, unless it is none or is in a list already.
fn domain(
    entry: &Section<'_, '_>,
    seen: &mut HashMap<String, (String, Range<usize>)>,
    problems: &mut Problems<'_>,
) -> Option<Placed<String>> {
    let given = entry.required("domain", problems)?;
    let field = entry.field("domain");
    let value = match pattern(&given.value) {
        Ok(value) => value,
        Err(allowed) => {
            let found = format!("{:?}", given.value);
            let problem = problems.add(given.span, &field, found, allowed);
            if let Some(host) = host_of_url(&given.value) {
                problem.hint(format!("did you mean {host:?}?"));
            }
            return None;
        }
    };
    if let Some((other, span)) = seen.get(&value) {
        let line = problems.line_of(span);
        let found = format!("{value:?}, which {other} in line {line} has already");
        problems.add(given.span, &field, found, "each domain once, in one list");
        return None;
    }
    seen.insert(value.clone(), (field, given.span.clone()));
    Some(Placed {
        value,
        span: given.span,
    })
}

fn host_of_url(text: &str) -> Option<String> {
    let text = text.trim();
    let url = Url::parse(text).or_else(|_| Url::parse(&format!("https://{text}")));
    let host = url.ok()?.host_str()?.to_owned();
    pattern(&host).ok()
}

fn quality(
    root: &Section<'_, '_>,
    https: bool,
    shut: &[Shut],
    seen: &mut HashMap<String, (String, Range<usize>)>,
    problems: &mut Problems<'_>,
) -> Vec<QualityEntry> {
    let before = problems.len();
    let entries = root.tables("quality", &["domain", "seeds"], problems);
    if entries.is_empty() && problems.len() == before {
        let problem = problems.add(0..0, "quality", "nothing", "at least one [[quality]] entry");
        problem.hint("a map begins from the domains of its quality list");
        problem.without_excerpt();
    }
    let mut list = Vec::new();
    for entry in &entries {
        let domain = domain(entry, seen, problems);
        let given = entry.texts("seeds", problems);
        if given.is_empty() {
            let field = entry.field("seeds");
            let allowed = "at least one URL: seeds = [\"https://…/\"]";
            problems.add(entry.span_of("seeds"), &field, "no seed", allowed);
        }
        let field = entry.field("seeds");
        let mut seeds: Vec<String> = Vec::new();
        for seed in given {
            let inside = domain.as_ref().map(|d| d.value.as_str());
            if let Some(url) = check_seed(&seed, &field, https, inside, shut, problems)
                && !seeds.contains(&url)
            {
                seeds.push(url);
            }
        }
        if let Some(domain) = domain {
            list.push(QualityEntry {
                domain: domain.value,
                seeds,
            });
        }
    }
    list
}

/// The seed, if a crawl can begin there.
fn check_seed(
    seed: &Placed<String>,
    field: &str,
    https: bool,
    domain: Option<&str>,
    shut: &[Shut],
    problems: &mut Problems<'_>,
) -> Option<String> {
    let (url, host) = seed_url(seed, field, https, problems)?;
    // Without a good domain there is nothing to compare with, and that was said already.
    let domain = domain?;
    let shown = format!("{:?}", seed.value);
    if !matches(domain, &host) {
        let allowed = format!("URLs in {domain}, the domain of the entry");
        problems
            .add(seed.span.clone(), field, shown, allowed)
            .hint(elsewhere(domain, &host));
        return None;
    }
    if let Some(shut) = shut.iter().find(|shut| matches(&shut.pattern, &host)) {
        let (list, pattern, line) = (shut.list, &shut.pattern, shut.line);
        let found = format!("{shown}, which {pattern:?} in the {list} (line {line}) shuts out");
        problems.add(seed.span.clone(), field, found, "URLs that may be visited");
        return None;
    }
    Some(url.into())
}

/// A seed that is a URL to request, with its host as a map names it.
fn seed_url(
    seed: &Placed<String>,
    field: &str,
    https: bool,
    problems: &mut Problems<'_>,
) -> Option<(Url, String)> {
    let url = Url::parse(seed.value.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"));
    let host = url
        .as_ref()
        .and_then(Url::host_str)
        .map(|host| without_www(host).to_owned());
    let (Some(url), Some(host)) = (url, host) else {
        let scheme = if https { "https" } else { "http or https" };
        let found = format!("{:?}", seed.value);
        let allowed = format!("a whole {scheme} URL");
        problems.add(seed.span.clone(), field, found, allowed);
        return None;
    };
    if !url.username().is_empty() || url.password().is_some() {
        let found = "a URL with a user name or password";
        let problem = problems.add(seed.span.clone(), field, found, "a URL without");
        problem.without_excerpt();
        return None;
    }
    if url.scheme() == "http" && https {
        let found = format!("{:?}, which is http", seed.value);
        let allowed = "https URLs; http only with upgrade-https = false in [network]";
        problems.add(seed.span.clone(), field, found, allowed);
        return None;
    }
    Some((url, host))
}

fn elsewhere(domain: &str, host: &str) -> String {
    if host.ends_with(&format!(".{domain}")) {
        format!("domain = \"*.{domain}\" would take in {host}")
    } else {
        format!("give {host} a [[quality]] entry of its own")
    }
}
