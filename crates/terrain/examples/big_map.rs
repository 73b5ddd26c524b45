//! Times every view of a large made-up map, of which no edge is ever held in memory.
//!
//! `cargo run --release -p trawl-terrain --example big_map -- [PAGES] [LINKS_PER_PAGE] [DOMAINS] [FOLDER]`
//!
//! With a folder, what is written is kept there.

use std::{
    convert::Infallible,
    fs::File,
    io::{BufWriter, Write},
    ops::ControlFlow,
    path::PathBuf,
    time::Instant,
};

use trawl_terrain::{
    Diff, Prospects, Summary, TerrainSource,
    export::{Filter, Format, Level, write_graph},
    html::write_html,
    source::{Each, PageDepth},
};
use trawl_types::{
    CrawlId, LinkKind, LinkRel, PageId, Place, UnixMillis,
    terrain::{DomainClass, Run, RunStatus, TerrainDomain, TerrainEdge, TerrainPage, TerrainState},
};

const RUN: CrawlId = CrawlId(1);
const QUALITY: usize = 20;

/// A map made of arithmetic: domains of very different sizes, links mostly inside and nearby.
struct MadeUp {
    links: u64,
    /// Where the pages of each domain end.
    ends: Vec<u64>,
}

/// Evenly spread and always the same.
fn mixed(seed: u64) -> u64 {
    let mut x = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(0x1234_5678_9abc_def1);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn fraction(seed: u64) -> f64 {
    (mixed(seed) >> 11) as f64 / (1_u64 << 53) as f64
}

impl MadeUp {
    fn new(pages: u64, links: u64, domains: usize) -> Self {
        let shares: Vec<f64> = (0..domains)
            .map(|at| (at as f64 + 8.0).powf(-0.9))
            .collect();
        let total: f64 = shares.iter().sum();
        let mut sum = 0.0;
        let mut ends: Vec<u64> = Vec::with_capacity(domains);
        for (at, share) in shares.iter().enumerate() {
            sum += share / total;
            let least = ends.last().copied().unwrap_or(0) + 1;
            let rest = (domains - at - 1) as u64;
            ends.push(
                ((pages as f64 * sum) as u64).clamp(least, pages.saturating_sub(rest).max(least)),
            );
        }
        if let Some(last) = ends.last_mut() {
            *last = pages;
        }
        Self { links, ends }
    }

    fn pages(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn domain_of(&self, page: u64) -> usize {
        self.ends.partition_point(|end| *end <= page)
    }

    fn page_in(&self, domain: usize, at: f64) -> u64 {
        let start = if domain == 0 {
            0
        } else {
            self.ends[domain - 1]
        };
        start + (at * (self.ends[domain] - start) as f64) as u64
    }

    fn class(domain: usize) -> DomainClass {
        match domain {
            _ if domain < QUALITY => DomainClass::Quality,
            _ if domain.is_multiple_of(23) => DomainClass::Blacklisted,
            _ if domain.is_multiple_of(17) => DomainClass::Stubbed,
            _ => DomainClass::Discovered,
        }
    }

    fn state(class: DomainClass, page: u64) -> TerrainState {
        match class {
            DomainClass::Blacklisted => TerrainState::Blacklisted,
            DomainClass::Stubbed => TerrainState::Stubbed,
            _ if page.is_multiple_of(41) => TerrainState::DeadLink,
            _ if page.is_multiple_of(97) => TerrainState::Unreachable,
            _ => TerrainState::Processed,
        }
    }

    fn depth(domain: usize) -> u32 {
        match domain {
            _ if domain < QUALITY => 0,
            _ => 1 + (mixed(domain as u64) % 100 / 40) as u32,
        }
    }

    /// Inside, in the neighbourhood, or anywhere, the large ones more often.
    fn target(&self, domain: usize, seed: u64) -> u64 {
        let (how, where_to, at) = (
            fraction(seed),
            fraction(seed ^ 0x0f00),
            fraction(seed ^ 0x00f0),
        );
        let count = self.ends.len();
        let other = if how < 0.6 {
            domain
        } else if how < 0.92 {
            let group = domain % QUALITY;
            group + QUALITY * ((where_to * where_to * (count / QUALITY) as f64) as usize)
        } else {
            (where_to.powi(3) * count as f64) as usize
        };
        self.page_in(other.min(count - 1), at * at)
    }

    fn page(&self, page: u64) -> TerrainPage {
        let domain = self.domain_of(page);
        let class = Self::class(domain);
        TerrainPage {
            id: PageId(page as i64 + 1),
            url: format!(
                "https://domain-{domain}.example/section/{}/page-{page}.html",
                page % 50
            ),
            domain: format!("domain-{domain}.example"),
            class,
            state: Self::state(class, page),
            depth: Self::depth(domain),
            title: Some(format!("The title of page number {page}")),
            status_code: Some(200),
            content_type: Some("text/html".into()),
            last_modified: None,
            visited_at: Some(UnixMillis(1_790_000_000_000 + page as i64)),
            discovered_at: UnixMillis(1_790_000_000_000),
            first_run: RUN,
            last_run: RUN,
            reason: None,
            outcome: None,
            error: None,
            retry_count: 0,
        }
    }

    fn edge(from: u64, to: u64, position: u32) -> TerrainEdge {
        TerrainEdge {
            from: PageId(from as i64 + 1),
            to: PageId(to as i64 + 1),
            kind: LinkKind::Anchor,
            rel: LinkRel(0),
            place: Place::Main,
            position,
            anchor: format!("a link to page {to}"),
            first_run: RUN,
            last_run: RUN,
        }
    }
}

impl TerrainSource for MadeUp {
    type Error = Infallible;

    fn runs(&self) -> Result<Vec<Run>, Infallible> {
        Ok(vec![Run {
            id: RUN,
            started_at: UnixMillis(1_790_000_000_000),
            finished_at: Some(UnixMillis(1_790_000_360_000)),
            status: RunStatus::Completed,
            config_hash: String::new(),
        }])
    }

    fn origins(&self, _: CrawlId) -> Result<Vec<String>, Infallible> {
        Ok((0..QUALITY)
            .map(|at| format!("domain-{at}.example"))
            .collect())
    }

    fn domains(&self, _: CrawlId) -> Result<Vec<TerrainDomain>, Infallible> {
        let domain = |at: usize| TerrainDomain {
            name: format!("domain-{at}.example"),
            class: Self::class(at),
            origin: (at < QUALITY).then_some(at as u16),
            requests: 10,
            rate_limited: at % 301 == 300,
        };
        Ok((0..self.ends.len()).map(domain).collect())
    }

    fn pages(&self, _: CrawlId, each: Each<'_, TerrainPage>) -> Result<(), Infallible> {
        for page in 0..self.pages() {
            if each(self.page(page)).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn edges(&self, _: CrawlId, each: Each<'_, TerrainEdge>) -> Result<(), Infallible> {
        for from in 0..self.pages() {
            let domain = self.domain_of(from);
            if !matches!(
                Self::class(domain),
                DomainClass::Quality | DomainClass::Discovered
            ) {
                continue;
            }
            let mut targets: Vec<u64> = (0..self.links)
                .map(|link| self.target(domain, from * 1000 + link))
                .collect();
            targets.sort_unstable();
            targets.dedup();
            for (to, position) in targets.into_iter().zip(0..) {
                if let ControlFlow::Break(()) = each(Self::edge(from, to, position)) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn depths(&self, _: CrawlId, each: Each<'_, PageDepth>) -> Result<(), Infallible> {
        for page in 0..self.pages() {
            for origin in 0..4 {
                let depth = Self::depth(self.domain_of(page));
                let row = PageDepth {
                    page: PageId(page as i64 + 1),
                    origin,
                    depth,
                };
                if each(row).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// The most memory the process had so far, where the system tells.
fn peak_megabytes() -> u64 {
    let mut status = String::new();
    let read = File::open("/proc/self/status")
        .and_then(|mut file| std::io::Read::read_to_string(&mut file, &mut status));
    let line = read
        .ok()
        .and_then(|_| status.lines().find(|line| line.starts_with("VmHWM:")));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

fn timed(name: &str, view: impl FnOnce(&mut dyn Write), folder: Option<&PathBuf>) {
    let mut out: Box<dyn Write> = match folder {
        Some(folder) => match File::create(folder.join(name)) {
            Ok(file) => Box::new(BufWriter::new(file)),
            Err(error) => {
                eprintln!("{name}: {error}");
                return;
            }
        },
        None => Box::new(std::io::sink()),
    };
    let start = Instant::now();
    view(&mut *out);
    let _ = out.flush();
    let seconds = start.elapsed().as_secs_f64();
    println!("{name:24} {seconds:7.2} s   peak {:5} MB", peak_megabytes());
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |standard: u64| {
        arguments
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(standard)
    };
    let (pages, links, domains) = (number(100_000), number(27), number(5_000));
    let folder = std::env::args().nth(4).map(PathBuf::from);
    let map = MadeUp::new(pages, links, domains as usize);
    let start = Instant::now();
    let mut edges = 0_u64;
    let _ = map.edges(RUN, &mut |_| {
        edges += 1;
        ControlFlow::Continue(())
    });
    println!(
        "{} pages, {edges} edges, {domains} domains; making them up takes {:.2} s",
        map.pages(),
        start.elapsed().as_secs_f64()
    );
    let folder = folder.as_ref();
    timed(
        "summary.md",
        |out| {
            let summary = Summary::read(&map, RUN).map(|summary| summary.to_markdown());
            let _ = out.write_all(summary.unwrap_or_default().as_bytes());
        },
        folder,
    );
    timed(
        "summary.html",
        |out| {
            let _ = write_html(&map, RUN, out);
        },
        folder,
    );
    for (level, name) in [
        (Level::Page, "page"),
        (Level::Host, "host"),
        (Level::Site, "site"),
    ] {
        for (format, ending) in [
            (Format::GraphMl, "graphml"),
            (Format::Gexf, "gexf"),
            (Format::CsvNodes, "nodes.csv"),
            (Format::CsvEdges, "edges.csv"),
            (Format::Json, "json"),
        ] {
            timed(
                &format!("{name}.{ending}"),
                |out| {
                    let _ = write_graph(&map, RUN, level, format, &Filter::default(), out);
                },
                folder,
            );
        }
    }
    timed(
        "prospects.md",
        |out| {
            let found = Prospects::read(&map, RUN, 50).map(|found| found.to_markdown());
            let _ = out.write_all(found.unwrap_or_default().as_bytes());
        },
        folder,
    );
    timed(
        "diff.md",
        |out| {
            let diff = Diff::read(&map, RUN, RUN, 100).map(|diff| diff.to_markdown());
            let _ = out.write_all(diff.unwrap_or_default().as_bytes());
        },
        folder,
    );
}
