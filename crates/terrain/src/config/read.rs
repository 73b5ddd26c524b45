//! Text to value. Every section is read to its end, whatever is wrong with the one before.

use std::{net::IpAddr, ops::Range};

use ipnet::IpNet;
use toml::de::DeTable;
use trawl_types::spec::{HeadPolicy, RobotsPolicy};
use url::Url;

use super::{
    error::{ConfigErrors, Problems},
    lists,
    model::{AgentConfig, CrawlerConfig, MapConfig, NetworkConfig, OutputConfig},
    section::{Placed, Section},
};

const ROOT: &[&str] = &[
    "crawler",
    "user-agent",
    "output",
    "network",
    "quality",
    "blacklist",
    "stub",
];
const CRAWLER: &[&str] = &[
    "max-depth",
    "max-concurrent-pages-open",
    "minimum-time-on-page",
    "max-domain-requests",
    "robots-unreachable",
    "head",
];
const USER_AGENT: &[&str] = &[
    "crawler-name",
    "crawler-version",
    "contact-url",
    "contact-email",
];
const OUTPUT: &[&str] = &["database-path", "summary-path"];
const NETWORK: &[&str] = &[
    "allow-networks",
    "resolve",
    "allow-ports",
    "extra-root-files",
    "upgrade-https",
    "proxy",
];

/// Reads a configuration; `file_name` is only named in problems.
pub fn parse(file_name: &str, text: &str) -> Result<MapConfig, ConfigErrors> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut problems = Problems::of(text);
    let (document, broken) = DeTable::parse_recoverable(text);
    for error in &broken {
        let span = error.span().unwrap_or(0..0);
        problems.add(span, "", error.message(), "TOML");
    }
    // What could be made of a broken text would only be good for false alarms.
    if !broken.is_empty() {
        return Err(problems.into_errors(file_name));
    }
    let root = Section::new("", &document, ROOT, &mut problems);
    let network = network(&root, &mut problems);
    let lists = lists::read(&root, network.upgrade_https, &mut problems);
    let config = MapConfig {
        crawler: crawler(&root, &mut problems),
        user_agent: user_agent(&root, &mut problems),
        output: output(&root, &mut problems),
        network,
        quality: lists.quality,
        blacklist: lists.blacklist,
        stub: lists.stub,
    };
    if problems.is_empty() {
        Ok(config)
    } else {
        Err(problems.into_errors(file_name))
    }
}

fn crawler(root: &Section<'_, '_>, problems: &mut Problems<'_>) -> CrawlerConfig {
    let section = root.table("crawler", CRAWLER, problems);
    let standard = CrawlerConfig::default();
    let whole = 0..=u64::from(u32::MAX);
    let positive = 1..=u64::from(u32::MAX);
    let mut number = |key, limits, default: u32| {
        section.integer(key, limits, u64::from(default), problems) as u32
    };
    let max_depth = number("max-depth", whole, standard.max_depth);
    let open = number(
        "max-concurrent-pages-open",
        1..=100,
        standard.max_concurrent_pages_open,
    );
    let requests = number(
        "max-domain-requests",
        positive,
        standard.max_domain_requests,
    );
    let robots = [
        ("disallow", RobotsPolicy::Strict),
        ("allow", RobotsPolicy::UnreachableAllows),
    ];
    let head = [
        ("auto", HeadPolicy::Auto),
        ("always", HeadPolicy::Always),
        ("never", HeadPolicy::Never),
    ];
    CrawlerConfig {
        max_depth,
        max_concurrent_pages_open: open,
        // A day is the longest that a crawl keeps.
        minimum_time_on_page: section.integer(
            "minimum-time-on-page",
            100..=86_400_000,
            standard.minimum_time_on_page,
            problems,
        ),
        max_domain_requests: requests,
        robots_unreachable: section
            .word("robots-unreachable", &robots, problems)
            .unwrap_or(standard.robots_unreachable),
        head: section
            .word("head", &head, problems)
            .unwrap_or(standard.head),
    }
}

fn user_agent(root: &Section<'_, '_>, problems: &mut Problems<'_>) -> AgentConfig {
    let section = root.table("user-agent", USER_AGENT, problems);
    let standard = AgentConfig::default();
    let mut checked = |key: &str, good: fn(&str) -> bool, allowed: &str| {
        let given = section.text(key, problems)?;
        checked_text(given, &section.field(key), good, allowed, problems)
    };
    AgentConfig {
        crawler_name: checked(
            "crawler-name",
            |name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'),
            "letters, digits and hyphens, at least one",
        )
        .unwrap_or(standard.crawler_name),
        crawler_version: checked(
            "crawler-version",
            |text| !text.is_empty() && text.chars().all(is_version_char),
            "letters, digits, and . - _ +, at least one",
        )
        .unwrap_or(standard.crawler_version),
        contact_url: checked(
            "contact-url",
            is_contact_url,
            "a URL such as https://example.org/about-our-crawler",
        ),
        contact_email: checked(
            "contact-email",
            is_email,
            "an address such as crawler-admin@example.org",
        ),
    }
}

fn output(root: &Section<'_, '_>, problems: &mut Problems<'_>) -> OutputConfig {
    let section = root.table("output", OUTPUT, problems);
    let standard = OutputConfig::default();
    let mut path = |key: &str| {
        let given = section.text(key, problems)?;
        let good = |path: &str| !path.trim().is_empty() && !path.contains('\0');
        let field = section.field(key);
        checked_text(given, &field, good, "the path of a file", problems)
    };
    OutputConfig {
        database_path: path("database-path").unwrap_or(standard.database_path),
        summary_path: path("summary-path").unwrap_or(standard.summary_path),
    }
}

fn network(root: &Section<'_, '_>, problems: &mut Problems<'_>) -> NetworkConfig {
    let section = root.table("network", NETWORK, problems);
    let mut list = |key: &str, good: fn(&str) -> bool, allowed: &str| -> Vec<String> {
        let field = section.field(key);
        let given = section.texts(key, problems);
        given
            .into_iter()
            .filter_map(|item| checked_text(item, &field, good, allowed, problems))
            .collect()
    };
    let allow_networks = list(
        "allow-networks",
        |text| text.parse::<IpNet>().is_ok() || text.parse::<IpAddr>().is_ok(),
        "networks such as 10.0.0.0/8 or fd00::/8",
    );
    let resolve = list("resolve", is_resolution, "name=address, *.name=address");
    let extra_root_files = list(
        "extra-root-files",
        |path| !path.trim().is_empty(),
        "paths of PEM files",
    );
    let ports = section.integers("allow-ports", &(1..=65_535), problems);
    NetworkConfig {
        allow_networks,
        resolve,
        allow_ports: ports.into_iter().map(|port| port as u16).collect(),
        extra_root_files,
        upgrade_https: section.boolean("upgrade-https", true, problems),
        proxy: proxy(&section, problems),
    }
}

/// A proxy's URL may hold a password: a problem with it shows nothing of it.
fn proxy(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Option<String> {
    let given = section.text("proxy", problems)?;
    let known = ["http", "socks5", "socks5h"];
    let good = Url::parse(&given.value)
        .is_ok_and(|url| known.contains(&url.scheme()) && url.host_str().is_some());
    if good {
        return Some(given.value);
    }
    let allowed = "a URL that begins with http://, socks5:// or socks5h://";
    let field = section.field("proxy");
    let problem = problems.add(given.span, &field, "something else", allowed);
    problem.without_excerpt();
    None
}

fn checked_text(
    given: Placed<String>,
    field: &str,
    good: fn(&str) -> bool,
    allowed: &str,
    problems: &mut Problems<'_>,
) -> Option<String> {
    if good(&given.value) {
        return Some(given.value);
    }
    note_text(given.span, field, &given.value, allowed, problems);
    None
}

fn note_text(
    span: Range<usize>,
    field: &str,
    found: &str,
    allowed: &str,
    problems: &mut Problems<'_>,
) {
    problems.add(span, field, format!("{found:?}"), allowed);
}

fn is_version_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || ".-_+".contains(c)
}

/// It is sent in a comment of a header: no brackets, spaces or semicolons.
fn fits_header(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_graphic() && !"();\"\\".contains(c))
}

fn is_contact_url(text: &str) -> bool {
    fits_header(text)
        && Url::parse(text)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else {
        return false;
    };
    fits_header(text)
        && !name.is_empty()
        && !name.contains(['@', ',', '<', '>'])
        && host.contains('.')
        && super::domain::pattern(host).is_ok_and(|host| !host.starts_with("*."))
}

/// An address may come with a port and, for IPv6, in brackets.
fn is_resolution(text: &str) -> bool {
    let Some((name, address)) = text.split_once('=') else {
        return false;
    };
    let address = address.trim();
    let bare = address.trim_start_matches('[').trim_end_matches(']');
    let known = bare.parse::<IpAddr>().is_ok() || address.parse::<std::net::SocketAddr>().is_ok();
    known && super::domain::pattern(name).is_ok()
}
