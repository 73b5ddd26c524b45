//! `trawl map --dry-run`: what would be done, without asking anybody.

use std::{io::Write, process::ExitCode};

use trawl_engine::CrawlPlan;
use trawl_rules::{DomainLists, domain_of};
use trawl_types::{KeySecret, ReasonCode, spec::RobotsPolicy, terrain::DomainClass};

use super::load::Map;
use crate::display::{self, number, printable};

pub(super) fn show(map: &Map, test_urls: &[String]) -> anyhow::Result<ExitCode> {
    let plan = CrawlPlan::compile(map.spec.clone(), KeySecret([0; 16]), display::this_year())?;
    let lists = DomainLists::compile(&map.spec.terrain.clone().unwrap_or_default())?;
    let mut lines = settings(map);
    lines.push(String::new());
    lines.push("Seeds:".into());
    for seed in &map.spec.seeds {
        lines.extend(fate(&plan, &lists, seed));
    }
    if !test_urls.is_empty() {
        lines.push(String::new());
        lines.push("What would become of:".into());
    }
    for url in test_urls {
        lines.extend(fate(&plan, &lists, url));
    }
    let mut out = std::io::stdout().lock();
    for line in lines {
        writeln!(out, "{}", printable(&line))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn settings(map: &Map) -> Vec<String> {
    let (config, spec) = (&map.config, &map.spec);
    let delay = spec.politeness.delay_ms;
    let robots = match spec.politeness.robots {
        RobotsPolicy::Strict => "nothing is asked of the domain",
        RobotsPolicy::UnreachableAllows | RobotsPolicy::Ignore => "everything is allowed",
    };
    vec![
        format!("{} is valid; nothing is crawled.", map.file.display()),
        format!(
            "{} quality domains, {} blacklisted, {} stubbed",
            config.quality.len(),
            config.blacklist.len(),
            config.stub.len()
        ),
        format!("Depth           at most {}", config.crawler.max_depth),
        format!("User-Agent      {}", spec.fetch.user_agent.header()),
        format!(
            "robots.txt      is read for \"{}\"; where that fails, {robots}",
            spec.fetch.user_agent.robots_name()
        ),
        format!("Delay           {delay} ms for every domain, longer where Crawl-delay says so"),
        format!(
            "Requests        at most {} at once, {} to one domain in a run",
            spec.politeness.concurrency,
            number(u64::from(config.crawler.max_domain_requests))
        ),
        format!("Database        {}", map.database().display()),
        format!("Summary         {}", map.summary().display()),
    ]
}

/// What the rules would do to a URL, in three lines at most.
fn fate(plan: &CrawlPlan, lists: &DomainLists, text: &str) -> Vec<String> {
    let (url, verdict) = match plan.foresee(text) {
        Ok(foreseen) => foreseen,
        Err(reason) => return vec![format!("  {text}"), format!("    refused: {reason}")],
    };
    let found = lists.classify(url.host().name());
    let class = match (found.class, found.by) {
        (DomainClass::Discovered, _) => "discovered: it is in no list".to_owned(),
        (class, Some(by)) => format!("{}, by {by}", class.as_str()),
        (class, None) => class.as_str().to_owned(),
    };
    let domain = domain_of(url.host().name());
    let delay = plan.spec().politeness.delay_ms;
    let fate = match verdict {
        Ok(()) if found.class == DomainClass::Quality => {
            format!("would be crawled, at depth 0; {delay} ms or more between requests")
        }
        Ok(()) => {
            let most = plan.spec().scope.max_depth.unwrap_or_default();
            format!("would be crawled within depth {most}; {delay} ms or more between requests")
        }
        Err(reason) if reason.code == ReasonCode::Blacklisted => {
            "never visited; who refers to it is counted".into()
        }
        Err(reason) if reason.code == ReasonCode::Stub => "recorded, not visited".into(),
        Err(reason) => format!("refused: {reason}"),
    };
    vec![
        format!("  {}", url.as_str()),
        format!("    {domain} is {class}"),
        format!("    {fate}"),
    ]
}
