//! The ordinary pages of the web, rendered once and kept, or rendered on demand where keeping
//! them all would take too much memory. Also the few files that pages mention.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use bytes::Bytes;
use http::HeaderValue;
use http::header::{ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};

use crate::behaviour::sitemap::SitemapKind;
use crate::http_date::http_date;
use crate::render::{Audience, Renderer};
use crate::reply::{Ask, Reply};

/// Pages are kept only while all of them together stay below this.
const KEEP_LIMIT: usize = 256 << 20;

type Shelf = Box<[OnceLock<Bytes>]>;

/// Serves pages by number.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) renderer: Renderer,
    /// One shelf for each audience, made when it first asks.
    shelves: [OnceLock<Shelf>; 4],
    keep: bool,
    any_changed: AtomicBool,
    revisions: RwLock<HashMap<u32, u32>>,
}

impl Site {
    pub(crate) fn new(renderer: Renderer) -> Self {
        let all = renderer
            .spec
            .page_bytes
            .saturating_mul(renderer.spec.pages as usize);
        Self {
            renderer,
            shelves: Default::default(),
            keep: all <= KEEP_LIMIT,
            any_changed: AtomicBool::new(false),
            revisions: RwLock::default(),
        }
    }

    /// Renders everything for one audience now, so that no client pays for it.
    pub(crate) fn render_all(&self, audience: Audience) {
        if self.keep {
            for page in 0..self.renderer.spec.pages {
                self.html(page, audience);
            }
        }
    }

    pub(crate) fn html(&self, page: u32, audience: Audience) -> Bytes {
        let revision = self.revision(page);
        let kept = (self.keep && revision == 0).then(|| self.shelf(audience).get(page as usize));
        match kept.flatten() {
            Some(slot) => slot
                .get_or_init(|| self.rendered(page, audience, 0))
                .clone(),
            None => self.rendered(page, audience, revision),
        }
    }

    fn rendered(&self, page: u32, audience: Audience, revision: u32) -> Bytes {
        Bytes::from(self.renderer.page(page, audience, revision))
    }

    fn shelf(&self, audience: Audience) -> &Shelf {
        let number = usize::from(audience.tls) * 2 + usize::from(audience.named);
        self.shelves[number].get_or_init(|| {
            (0..self.renderer.spec.pages)
                .map(|_| OnceLock::new())
                .collect()
        })
    }

    /// Changes the content and the validators of a page.
    pub(crate) fn touch(&self, page: u32) {
        let mut revisions = self
            .revisions
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *revisions.entry(page).or_insert(0) += 1;
        self.any_changed.store(true, Ordering::Release);
    }

    fn revision(&self, page: u32) -> u32 {
        if !self.any_changed.load(Ordering::Acquire) {
            return 0;
        }
        let revisions = self
            .revisions
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        revisions.get(&page).copied().unwrap_or(0)
    }

    /// The answer for an ordinary page.
    pub(crate) fn page_reply(&self, page: u32, ask: &Ask<'_>) -> Reply {
        let audience = Audience {
            tls: ask.tls,
            named: ask.site.named,
        };
        if !self.renderer.spec.validators {
            return Reply::html(self.html(page, audience));
        }
        let revision = self.revision(page);
        let tag = format!("\"{:x}-{page:x}-{revision}\"", self.renderer.spec.seed);
        let date = http_date(1_700_000_000 + u64::from(page) * 60 + u64::from(revision) * 86_400);
        let known = match ask.header(IF_NONE_MATCH) {
            Some(tags) => tags
                .split(',')
                .any(|known| known.trim().trim_start_matches("W/") == tag),
            None => ask.header(IF_MODIFIED_SINCE) == Some(date.as_str()),
        };
        let reply = if known {
            Reply::http(http::Response::new(crate::body::Content::EMPTY)).with_status(304)
        } else {
            Reply::html(self.html(page, audience))
        };
        reply
            .with_header(ETAG, tag.as_bytes())
            .with_header(LAST_MODIFIED, date.as_bytes())
    }
}

/// A file that pages mention without linking to it.
pub(crate) fn asset(path: &str) -> Option<Reply> {
    let of_type =
        |kind, body: &'static [u8]| Some(Reply::typed(HeaderValue::from_static(kind), body));
    match path {
        "/static/site.css" => of_type("text/css", b"main{max-width:40em}\n"),
        "/static/app.js" => of_type("text/javascript", b"'use strict';\n"),
        _ if path.starts_with("/img/") => of_type("image/png", PNG),
        _ => None,
    }
}

/// A picture of one transparent pixel.
pub(crate) const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, 0x49, 0x44, 0x41, 0x54,
    0x78, 0x9c, 0x63, 0, 1, 0, 0, 5, 0, 1, 0x0d, 0x0a, 0x2d, 0xb4, 0, 0, 0, 0, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
];

impl Site {
    /// robots.txt and sitemaps, as every site has them.
    pub(crate) fn well_known(&self, ask: &Ask<'_>) -> Option<Reply> {
        if ask.path() == "/robots.txt" {
            let text = HeaderValue::from_static("text/plain; charset=utf-8");
            return Some(Reply::typed(text, self.robots()));
        }
        SitemapKind::at(ask.path()).map(|kind| kind.reply(ask, self))
    }

    fn robots(&self) -> String {
        let delay = self.renderer.spec.crawl_delay;
        let delay = delay.map_or_else(String::new, |seconds| format!("Crawl-delay: {seconds}\n"));
        format!("User-agent: *\nAllow: /\n{delay}")
    }
}
