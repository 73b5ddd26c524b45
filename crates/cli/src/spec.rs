//! Typed arguments to a crawl's spec.

use std::{io::Read, path::Path};

use trawl_types::{
    CrawlSpec,
    spec::{
        ContentSpec, FetchSpec, HeadPolicy, HostScope, KeepSpec, Order, Oversize, Politeness,
        RetrySpec, RobotsPolicy, ScopeSpec, SitemapPolicy, StrategySpec, UserAgent,
    },
};

use crate::{
    args::{
        ContentArgs, CrawlArgs, Format, HeadArg, KeepArg, LimitArgs, NetworkArgs, OversizeArg,
        PolitenessArgs, RequestArgs, ScopeArg, SitemapsArg, StrategyArg, UnreachableArg,
    },
    exit::BadInput,
};

pub(crate) fn spec_of(args: &CrawlArgs) -> anyhow::Result<CrawlSpec> {
    let mut spec = CrawlSpec {
        seeds: seeds_of(args)?,
        scope: scope_of(&args.limits),
        strategy: StrategySpec {
            order: order_of(args.limits.strategy),
            keywords: args.limits.keywords.clone(),
            min_score: 0,
        },
        politeness: politeness_of(&args.politeness),
        fetch: fetch_of(&args.requests)?,
        keep: keep_of(args),
        content: content_of(&args.content),
        ..CrawlSpec::default()
    };
    spec.normalise.upgrade_https = args.limits.upgrade_https;
    if spec.strategy.order == Order::BestFirst && spec.strategy.keywords.is_empty() {
        return Err(BadInput("--strategy best-first needs --keywords to look for".into()).into());
    }
    Ok(spec)
}

fn keep_of(args: &CrawlArgs) -> KeepSpec {
    let kept = |what| args.content.keep.contains(&what);
    KeepSpec {
        html: kept(KeepArg::Html),
        markdown: kept(KeepArg::Markdown) || args.output.format == Some(Format::Markdown),
        text: kept(KeepArg::Text),
    }
}

fn content_of(args: &ContentArgs) -> ContentSpec {
    ContentSpec {
        near_duplicates: args.near_duplicates,
        near_distance: args.near_distance,
        stop_at_near_duplicates: args.stop_at_near_duplicates,
        max_content_bytes: args.max_content,
        documents: args.documents,
        sitemaps: match args.sitemaps {
            None => SitemapPolicy::None,
            Some(SitemapsArg::Robots) => SitemapPolicy::Robots,
            Some(SitemapsArg::Guess) => SitemapPolicy::Guess,
        },
    }
}

fn seeds_of(args: &CrawlArgs) -> anyhow::Result<Vec<String>> {
    let mut seeds = args.urls.clone();
    if let Some(path) = &args.seeds {
        let text = read_seeds(path)?;
        let lines = text.lines().map(str::trim);
        seeds.extend(
            lines
                .filter(|l| !l.is_empty() && !l.starts_with('#'))
                .map(str::to_owned),
        );
    }
    if seeds.is_empty() {
        let message = "give at least one URL to start from, as an argument or with --seeds FILE";
        return Err(BadInput(message.into()).into());
    }
    Ok(seeds)
}

fn read_seeds(path: &Path) -> anyhow::Result<String> {
    let is_stdin = path == Path::new("-");
    let name = if is_stdin {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    };
    let bytes = if is_stdin {
        let mut bytes = Vec::new();
        let read = std::io::stdin().read_to_end(&mut bytes);
        read.map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| BadInput(format!("--seeds: cannot read {name}: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        BadInput(format!(
            "--seeds: {name} is not UTF-8 (byte {at}): save it as UTF-8, or pass it through iconv"
        ))
    })?;
    Ok(unmarked(&text).to_owned())
}

/// A list without the mark that editors of some systems begin files with: it would be part of the
/// first URL.
pub(crate) fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn scope_of(args: &LimitArgs) -> ScopeSpec {
    let hosts = match args.scope {
        _ if !args.hosts.is_empty() => HostScope::Listed(args.hosts.clone()),
        ScopeArg::Host => HostScope::SameHost,
        ScopeArg::Site => HostScope::SameSite,
        ScopeArg::Any => HostScope::Anywhere,
    };
    ScopeSpec {
        hosts,
        max_depth: args.max_depth,
        max_pages: args.max_pages,
        max_pages_per_host: args.max_pages_per_host,
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        follow_nofollow: !args.respect_nofollow,
        ..ScopeSpec::default()
    }
}

fn order_of(arg: StrategyArg) -> Order {
    match arg {
        StrategyArg::Breadth => Order::BreadthFirst,
        StrategyArg::Depth => Order::DepthFirst,
        StrategyArg::Best => Order::BestFirst,
    }
}

fn politeness_of(args: &PolitenessArgs) -> Politeness {
    let robots = match args.robots_unreachable {
        _ if args.ignore_robots => RobotsPolicy::Ignore,
        UnreachableArg::Disallow => RobotsPolicy::Strict,
        UnreachableArg::Allow => RobotsPolicy::UnreachableAllows,
    };
    Politeness {
        delay_ms: args.delay.as_millis() as u64,
        per_host: args.per_host,
        concurrency: args.concurrency,
        robots,
        retry: RetrySpec {
            attempts: args.attempts,
            base_ms: args.retry_delay.as_millis() as u64,
            ..RetrySpec::default()
        },
        ..Politeness::default()
    }
}

pub(crate) fn fetch_of(args: &RequestArgs) -> anyhow::Result<FetchSpec> {
    let defaults = FetchSpec::default();
    let total = args.timeout.as_millis() as u64;
    let mut fetch = FetchSpec {
        user_agent: UserAgent {
            full: args.user_agent.clone(),
            contact_url: args.contact_url.clone(),
            contact_email: args.contact_email.clone(),
            ..UserAgent::default()
        },
        headers: headers_of(&args.header)?,
        cookies: args.cookies,
        proxy: args.proxy.clone(),
        total_timeout_ms: total,
        connect_timeout_ms: defaults.connect_timeout_ms.min(total),
        headers_timeout_ms: defaults.headers_timeout_ms.min(total),
        idle_timeout_ms: defaults.idle_timeout_ms.min(total),
        max_body_bytes: args.max_body,
        oversize: match args.oversize {
            OversizeArg::Truncate => Oversize::Truncate,
            OversizeArg::Refuse => Oversize::Refuse,
        },
        head: match args.head {
            HeadArg::Auto => HeadPolicy::Auto,
            HeadArg::Always => HeadPolicy::Always,
            HeadArg::Never => HeadPolicy::Never,
        },
        http2: !args.no_http2,
        ..defaults
    };
    allow(&mut fetch, &args.network)?;
    Ok(fetch)
}

/// Whom a command may contact besides those it may contact anyway.
pub(crate) fn allow(fetch: &mut FetchSpec, network: &NetworkArgs) -> anyhow::Result<()> {
    for path in &network.ca_cert {
        fetch.extra_roots.push(pem_of("--ca-cert", path)?);
    }
    let (networks, ports) = (&network.allow_network, &network.allow_port);
    fetch.allow_networks.extend_from_slice(networks);
    fetch.allow_ports.extend_from_slice(ports);
    fetch.resolve.extend_from_slice(&network.resolve);
    Ok(())
}

fn headers_of(texts: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for text in texts {
        let (name, value) = header_of(text)?;
        if name.eq_ignore_ascii_case("user-agent") {
            let message = "--header: name yourself with --user-agent instead: robots.txt is read \
                           for the name that is sent";
            return Err(BadInput(message.into()).into());
        }
        if headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(&name)) {
            let message =
                format!("--header: {name} is given twice; put all of its values into one header");
            return Err(BadInput(message).into());
        }
        headers.push((name, value));
    }
    Ok(headers)
}

fn header_of(text: &str) -> anyhow::Result<(String, String)> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(BadInput("--header: write it as \"Name: value\"".into()).into()),
    }
}

pub(crate) fn pem_of(field: &str, path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).map_err(|error| {
        BadInput(format!("{field}: cannot read {}: {error}", path.display())).into()
    })
}
