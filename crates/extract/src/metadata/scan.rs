//! The pass over a page's tokens that gathers metadata as written; what it means is decided after.

use url::Url;

use super::item_refs::referred;
use super::json_ld::JsonLd;
use super::microdata::Microdata;
use super::text::MAX_VALUE_CHARS;
use crate::html::{StartTag, TagKey, Token, Tokenizer, entities};
use crate::page::elements::attribute;
use crate::page::foreign::Foreign;
use crate::page::href;
use crate::page::text::{TextCollector, collapse};

const MAX_METAS: usize = 400;
const MAX_LINKS: usize = 64;
const MAX_TITLE_CHARS: usize = 1000;

/// A `<link>`, or an `<a rel="license">`, as written.
#[derive(Debug, Default)]
pub(super) struct RawLink {
    /// Link types in lower case.
    pub(super) rel: String,
    pub(super) href: String,
    pub(super) media_type: String,
    pub(super) title: String,
}

impl RawLink {
    pub(super) fn has_rel(&self, wanted: &str) -> bool {
        self.rel.split_ascii_whitespace().any(|rel| rel == wanted)
    }
}

/// A `<time>` with a machine-readable date.
#[derive(Debug)]
pub(super) struct RawTime {
    pub(super) datetime: String,
    /// `itemprop`, `class` and `pubdate` in lower case.
    pub(super) marks: String,
    pub(super) in_article: bool,
}

/// What a page says about itself, as written.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// Names in lower case and values, in document order.
    pub(super) metas: Vec<(String, String)>,
    pub(super) links: Vec<RawLink>,
    pub(super) times: Vec<RawTime>,
    pub(super) articles: usize,
    pub(super) title: Option<String>,
    pub(super) heading: Option<String>,
    pub(super) author_links: Vec<String>,
    pub(super) lang: Option<String>,
    pub(super) base: Option<String>,
    pub(super) json_ld: JsonLd,
    pub(super) microdata: Vec<serde_json::Value>,
}

impl Collected {
    /// The first value among names, the names in order of trust.
    pub(super) fn meta(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|wanted| self.all(wanted).next())
    }

    pub(super) fn all(&self, wanted: &str) -> impl Iterator<Item = &str> {
        let of_name =
            move |(name, value): &'_ (String, String)| name == wanted && !value.is_empty();
        self.metas
            .iter()
            .filter(move |meta| of_name(meta))
            .map(|(_, value)| value.as_str())
    }
}

/// The text being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Title,
    Heading,
    Author,
}

#[derive(Debug)]
struct Scan {
    found: Collected,
    foreign: Foreign,
    templates: u32,
    open_articles: usize,
    reading: Option<Reading>,
    text: TextCollector,
    is_json_ld: bool,
    microdata: Option<Microdata>,
}

/// Gathers what the page says about itself.
pub(super) fn scan(html: &str) -> Collected {
    let has_items = memchr::memmem::find(html.as_bytes(), b"itemscope").is_some();
    let mut scan = Scan {
        found: Collected::default(),
        foreign: Foreign::default(),
        templates: 0,
        open_articles: 0,
        reading: None,
        text: TextCollector::new(MAX_TITLE_CHARS),
        is_json_ld: false,
        microdata: has_items.then(|| Microdata::with(referred(html))),
    };
    let mut tokenizer = Tokenizer::new(html);
    while let Some(token) = tokenizer.next() {
        match token {
            Token::Text(text) => scan.text(text),
            Token::RawText(text) => scan.raw_text(text),
            Token::Start(tag) => {
                if scan.foreign.is_active() || matches!(tag.key, TagKey::SVG | TagKey::MATH) {
                    scan.foreign.start(tag.key, tag.self_closing);
                    tokenizer.set_foreign(scan.foreign.is_foreign());
                }
                scan.start(&tag);
            }
            Token::End(tag) => {
                if scan.foreign.is_active() {
                    scan.foreign.end(tag.key);
                    tokenizer.set_foreign(scan.foreign.is_foreign());
                }
                scan.end(tag.key);
            }
        }
    }
    scan.stop_reading();
    scan.found.microdata = scan.microdata.map(Microdata::finish).unwrap_or_default();
    scan.found
}

impl Scan {
    fn text(&mut self, raw: &str) {
        if self.reading.is_some() {
            self.text.push(&entities::text(raw));
        }
        if let Some(microdata) = &mut self.microdata {
            microdata.text(raw);
        }
    }

    fn raw_text(&mut self, text: &str) {
        if std::mem::take(&mut self.is_json_ld) && self.templates == 0 {
            self.found.json_ld.add(text);
        }
    }

    fn start(&mut self, tag: &StartTag<'_>) {
        if tag.key == TagKey::TEMPLATE && !self.foreign.is_foreign() {
            self.templates = self.templates.saturating_add(1);
        }
        if self.templates > 0 {
            return;
        }
        if let Some(microdata) = &mut self.microdata {
            microdata.start(tag);
        }
        if self.reading.is_some() && !tag.key.flows_within_a_word() {
            self.text.space();
        }
        match tag.key {
            TagKey::META => self.meta(tag),
            TagKey::LINK => self.link(tag),
            TagKey::A => self.anchor(tag),
            TagKey::TIME => self.time(tag),
            TagKey::SCRIPT => {
                self.is_json_ld = attribute(tag, "type").is_some_and(|kind| is_json_ld(&kind));
            }
            TagKey::TITLE if self.found.title.is_none() && !self.foreign.is_active() => {
                self.read(Reading::Title);
            }
            TagKey::H1 if self.found.heading.is_none() => self.read(Reading::Heading),
            TagKey::ARTICLE => {
                self.open_articles += 1;
                self.found.articles += 1;
            }
            TagKey::HTML if self.found.lang.is_none() => {
                let lang = attribute(tag, "lang").or_else(|| attribute(tag, "xml:lang"));
                self.found.lang = lang.map(|lang| collapse(&lang, 100).into_string());
            }
            TagKey::BASE if self.found.base.is_none() => {
                self.found.base = attribute(tag, "href").map(|base| address(&base));
            }
            _ => {}
        }
    }

    fn end(&mut self, key: TagKey) {
        if key == TagKey::TEMPLATE {
            self.templates = self.templates.saturating_sub(1);
        }
        if self.templates > 0 {
            return;
        }
        if let Some(microdata) = &mut self.microdata {
            microdata.end(key);
        }
        match (key, self.reading) {
            (TagKey::TITLE, Some(Reading::Title))
            | (TagKey::H1, Some(Reading::Heading))
            | (TagKey::A, Some(Reading::Author)) => self.stop_reading(),
            (TagKey::ARTICLE, _) => self.open_articles = self.open_articles.saturating_sub(1),
            _ => {}
        }
        if self.reading.is_some() && !key.flows_within_a_word() {
            self.text.space();
        }
    }

    fn read(&mut self, what: Reading) {
        self.stop_reading();
        self.reading = Some(what);
    }

    fn stop_reading(&mut self) {
        let Some(what) = self.reading.take() else {
            return;
        };
        let text = self.text.take().into_string();
        if text.is_empty() {
            return;
        }
        match what {
            Reading::Title => self.found.title = Some(text),
            Reading::Heading => self.found.heading = Some(text),
            Reading::Author if self.found.author_links.len() < 8 => {
                self.found.author_links.push(text);
            }
            Reading::Author => {}
        }
    }

    fn meta(&mut self, tag: &StartTag<'_>) {
        let mut names: [Option<String>; 4] = [const { None }; 4];
        let mut content = None;
        for attribute in tag.attributes() {
            let slot = ["name", "property", "itemprop", "http-equiv"]
                .iter()
                .position(|name| attribute.is(name));
            if let Some(slot) = slot.and_then(|slot| names.get_mut(slot)) {
                let name = || collapse(&attribute.value(), 100).to_ascii_lowercase();
                slot.get_or_insert_with(name);
            } else if attribute.is("content") {
                content.get_or_insert_with(|| attribute.value());
            }
        }
        let Some(content) = content else { return };
        let value = collapse(&content, MAX_VALUE_CHARS).into_string();
        // One element may be meant for two readers: `name="twitter:title" property="og:title"`.
        let mut names: Vec<String> = names.into_iter().flatten().collect();
        names.dedup();
        for name in names {
            if self.found.metas.len() < MAX_METAS {
                self.found.metas.push((name, value.clone()));
            }
        }
    }

    fn link(&mut self, tag: &StartTag<'_>) {
        let mut link = RawLink::default();
        for attribute in tag.attributes() {
            let slot = match attribute.name.len() {
                3 if attribute.is("rel") => &mut link.rel,
                4 if attribute.is("href") => &mut link.href,
                4 if attribute.is("type") => &mut link.media_type,
                5 if attribute.is("title") => &mut link.title,
                _ => continue,
            };
            if slot.is_empty() {
                *slot = address(&attribute.value());
            }
        }
        link.rel.make_ascii_lowercase();
        let wanted = [
            "canonical",
            "alternate",
            "icon",
            "apple-touch-icon",
            "license",
        ];
        if wanted.iter().any(|rel| link.has_rel(rel)) && !link.has_rel("stylesheet") {
            self.take_link(link);
        }
    }

    fn take_link(&mut self, link: RawLink) {
        if !link.href.is_empty() && self.found.links.len() < MAX_LINKS {
            self.found.links.push(link);
        }
    }

    fn anchor(&mut self, tag: &StartTag<'_>) {
        if self.reading == Some(Reading::Author) {
            self.stop_reading();
        }
        let Some(rel) = attribute(tag, "rel") else {
            return;
        };
        let rel = rel.to_ascii_lowercase();
        let has = |wanted: &str| rel.split_ascii_whitespace().any(|word| word == wanted);
        if has("license") {
            let href = attribute(tag, "href")
                .map(|href| address(&href))
                .unwrap_or_default();
            self.take_link(RawLink {
                rel: "license".to_owned(),
                href,
                ..RawLink::default()
            });
        } else if has("author") && self.reading.is_none() {
            self.read(Reading::Author);
        }
    }

    fn time(&mut self, tag: &StartTag<'_>) {
        if self.found.times.len() >= MAX_LINKS {
            return;
        }
        let Some(datetime) = attribute(tag, "datetime") else {
            return;
        };
        let mut marks = String::new();
        for attribute in tag.attributes() {
            if attribute.is("pubdate") {
                marks.push_str(" pubdate");
            } else if attribute.is("class") || attribute.is("itemprop") {
                marks.push(' ');
                marks.push_str(&collapse(&attribute.value(), 200).to_ascii_lowercase());
            }
        }
        self.found.times.push(RawTime {
            datetime: collapse(&datetime, 100).into_string(),
            marks,
            in_article: self.open_articles > 0,
        });
    }
}

fn is_json_ld(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/ld+json")
}

/// An attribute's value without what URL parsing ignores; nothing if it is absurdly long.
fn address(value: &str) -> String {
    let cleaned = href::clean(value.into());
    if cleaned.len() > href::MAX_HREF_BYTES {
        return String::new();
    }
    cleaned.into_owned()
}

/// An absolute http(s) address, if it is one or the page's own is known.
pub(super) fn absolute(base: Option<&Url>, address: &str) -> Option<Url> {
    match base {
        _ if address.is_empty() => None,
        Some(base) => href::resolve(base, address),
        None => Url::parse(address)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https")),
    }
}
