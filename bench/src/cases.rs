//! What is measured, and what it should come to. The targets are ratios to the baseline of the
//! same run, because a rate alone says more about the machine than about the program.

use anyhow::Context as _;

use crate::{args::Finder, contender::Contender, web::WebShape};

/// Something that a case must reach.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    /// Pages per second as a share of the baseline's.
    ShareOfBaseline(f64),
    /// CPU seconds for 1,000 pages.
    CpuPerThousand(f64),
    /// Pages per second in the last quarter as a share of the first.
    LastQuarter(f64),
    /// Peak memory.
    PeakBytes(u64),
}

/// One thing to measure.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) web: WebShape,
    pub(crate) concurrency: u32,
    pub(crate) per_host: u32,
    /// Further flags of `trawl crawl`.
    pub(crate) flags: &'static [&'static str],
    pub(crate) rounds: usize,
    pub(crate) finders: &'static [Finder],
    /// Whether the rate over time is read from the result log.
    pub(crate) watch_growth: bool,
    /// Pages that a crawl must end with, and URLs it must have discovered.
    pub(crate) expect: Expected,
    pub(crate) targets: &'static [Target],
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) pages: u64,
    pub(crate) discovered: u64,
}

impl Case {
    /// Baseline first: the others are compared with it.
    pub(crate) fn contenders(&self) -> Vec<Contender> {
        let baselines = self.finders.iter().copied().map(Contender::Baseline);
        baselines.chain([Contender::Trawl]).collect()
    }
}

/// The cases that were named, or those that take seconds.
pub(crate) fn chosen(names: &[String]) -> anyhow::Result<Vec<Case>> {
    let all = all();
    if names.iter().any(|name| name == "all") {
        return Ok(all.into_iter().filter(|c| c.name != "smoke").collect());
    }
    let known = || all.iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
    let find = |name: &str| {
        let found = all.iter().find(|case| case.name == name).cloned();
        found.with_context(|| format!("there is no case {name:?}; there are: {}, all", known()))
    };
    let default = ["site", "site-kept", "hosts"];
    match names {
        [] => default.iter().map(|name| find(name)).collect(),
        names => names.iter().map(|name| find(name)).collect(),
    }
}

const SITE: WebShape = WebShape {
    hosts: 1,
    pages: 10_000,
    page_bytes: 20_000,
    links: 30,
    latency_ms: 0,
    rich: false,
    listed: true,
};

/// The same with as much markup as real pages have: plain paragraphs have half of it, so that finding links
/// weighs less, whoever does it, and all the rest more.
const RICH_SITE: WebShape = WebShape { rich: true, ..SITE };

/// Where nothing else is wanted, results go nowhere: as on a terminal, where a crawl writes no
/// results beside its database. What writing them costs as well is the case `site-ndjson`.
const NO_OUTPUT: &[&str] = &["--output", "none"];

fn site() -> Case {
    Case {
        name: "site",
        about: "10,000 pages of 20 KB on one host; pages, edges, frontier and result log written",
        web: SITE,
        concurrency: 32,
        per_host: 32,
        flags: NO_OUTPUT,
        rounds: 5,
        finders: &[Finder::LolHtml, Finder::ByteScan],
        watch_growth: false,
        expect: whole(&SITE),
        targets: &[Target::ShareOfBaseline(0.70), Target::CpuPerThousand(0.30)],
    }
}

fn site_kept() -> Case {
    Case {
        name: "site-kept",
        about: "the same with the compressed HTML of every page kept",
        flags: &["--output", "none", "--keep", "html"],
        finders: &[Finder::LolHtml],
        targets: &[Target::ShareOfBaseline(0.55)],
        ..site()
    }
}

fn all() -> Vec<Case> {
    vec![
        smoke(),
        site(),
        site_kept(),
        Case {
            name: "site-rich",
            about: "as `site`, with as much markup as real pages have",
            web: RICH_SITE,
            ..site()
        },
        Case {
            name: "site-rich-kept",
            about: "as `site-kept`, with as much markup as real pages have",
            web: RICH_SITE,
            ..site_kept()
        },
        Case {
            name: "site-ndjson",
            about: "the same, HTML not kept, with every result written as NDJSON",
            flags: &["--format", "ndjson", "--output", "/dev/null"],
            finders: &[Finder::LolHtml],
            targets: &[],
            ..site()
        },
        hosts(),
        long(),
        memory(),
    ]
}

fn smoke() -> Case {
    let web = WebShape {
        pages: 60,
        page_bytes: 3_000,
        links: 8,
        ..SITE
    };
    Case {
        name: "smoke",
        about: "60 small pages: does everything run at all",
        web,
        rounds: 1,
        watch_growth: true,
        expect: whole(&web),
        targets: &[],
        ..site()
    }
}

fn hosts() -> Case {
    let web = WebShape {
        hosts: 50,
        pages: 5_000,
        latency_ms: 30,
        ..SITE
    };
    Case {
        name: "hosts",
        about: "5,000 pages over 50 hosts that take 30 ms to answer, no delay, 2 at once on a host",
        web,
        concurrency: 64,
        per_host: 2,
        finders: &[Finder::LolHtml],
        expect: whole(&web),
        targets: &[Target::ShareOfBaseline(0.80)],
        ..site()
    }
}

fn long() -> Case {
    let web = WebShape {
        hosts: 2_000,
        pages: 200_000,
        page_bytes: 2_000,
        links: 12,
        latency_ms: 0,
        rich: false,
        listed: false,
    };
    Case {
        name: "long",
        about: "200,000 small pages over 2,000 hosts: does the rate hold",
        web,
        concurrency: 64,
        per_host: 2,
        rounds: 1,
        finders: &[],
        watch_growth: true,
        expect: whole(&web),
        targets: &[Target::LastQuarter(0.85)],
        ..site()
    }
}

/// Pages with hundreds of links to pages that are never visited: 8,000 visits discover more than 5 million.
fn memory() -> Case {
    Case {
        name: "memory",
        about: "5 million discovered URLs, of which few are visited: does memory grow with them",
        web: WebShape {
            hosts: 1_000,
            pages: 50_000_000,
            page_bytes: 1_000,
            links: 950,
            latency_ms: 0,
            rich: false,
            listed: false,
        },
        concurrency: 32,
        per_host: 2,
        flags: &["--output", "none", "--max-pages", "8000"],
        rounds: 1,
        finders: &[],
        watch_growth: false,
        expect: Expected {
            pages: 8_000,
            discovered: 5_000_000,
        },
        targets: &[Target::PeakBytes(250_000_000)],
    }
}

fn whole(web: &WebShape) -> Expected {
    Expected {
        pages: u64::from(web.pages),
        discovered: u64::from(web.pages),
    }
}
