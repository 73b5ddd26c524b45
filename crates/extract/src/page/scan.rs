//! The pass over a page's tokens that gathers its facts.

use std::borrow::Cow;

use url::Url;

use super::anchor::OpenAnchor;
use super::elements::{AnchorTag, LinkTag, MetaTag, attribute};
use super::foreign::Foreign;
use super::links::LinkCollector;
use super::place::Places;
use super::text::{TextCollector, collapse};
use super::{Alternate, MetaRobots, PageFacts, PageLimits, Rel, href, refresh, robots};
use crate::html::{StartTag, TagKey, Token, Tokenizer, entities};
use crate::warning::{Warning, warn_once};
use trawl_types::{AnchorText, LinkKind};

const MAX_TITLE_CHARS: usize = 1000;
const MAX_DESCRIPTION_CHARS: usize = 2000;
const MAX_SHORT_CHARS: usize = 100;
const MAX_FEEDS: usize = 16;
const MAX_ALTERNATES: usize = 64;

/// What has been seen of a page so far.
#[derive(Debug)]
pub(crate) struct Scan<'u, 'a> {
    page_url: &'u Url,
    limits: PageLimits<'u>,
    links: LinkCollector<'a>,
    anchor: OpenAnchor<'a>,
    places: Places,
    foreign: Foreign,
    /// Open `<template>` elements: what is in them is not on the page.
    templates: u32,
    base: Option<Url>,
    base_seen: bool,
    title: Option<TextCollector>,
    in_title: bool,
    description: Option<Box<str>>,
    og_title: Option<Box<str>>,
    og_description: Option<Box<str>>,
    canonical: Option<String>,
    refreshed: bool,
    robots: MetaRobots,
    lang: Option<Box<str>>,
    generator: Option<Box<str>>,
    feeds: Vec<String>,
    alternates: Vec<Alternate>,
    warnings: Vec<Warning>,
}

impl<'u, 'a> Scan<'u, 'a> {
    pub(crate) fn new(page_url: &'u Url, limits: PageLimits<'u>) -> Self {
        Scan {
            page_url,
            limits,
            links: LinkCollector::new(limits.max_links),
            anchor: OpenAnchor::new(limits.max_anchor_chars),
            places: Places::default(),
            foreign: Foreign::default(),
            templates: 0,
            base: None,
            base_seen: false,
            title: None,
            in_title: false,
            description: None,
            og_title: None,
            og_description: None,
            canonical: None,
            refreshed: false,
            robots: MetaRobots::default(),
            lang: None,
            generator: None,
            feeds: Vec::new(),
            alternates: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(crate) fn run(mut self, html: &'a str) -> PageFacts<'a> {
        let mut tokenizer = Tokenizer::new(html);
        while let Some(token) = tokenizer.next() {
            match token {
                Token::Text(text) => self.text(text),
                Token::RawText(_) => {}
                Token::Start(tag) => {
                    if self.foreign.is_active() || matches!(tag.key, TagKey::SVG | TagKey::MATH) {
                        self.foreign.start(tag.key, tag.self_closing);
                        tokenizer.set_foreign(self.foreign.is_foreign());
                    }
                    self.start(&tag);
                }
                Token::End(tag) => {
                    if self.foreign.is_active() {
                        self.foreign.end(tag.key);
                        tokenizer.set_foreign(self.foreign.is_foreign());
                    }
                    self.end(tag.key);
                }
            }
        }
        self.finish()
    }

    #[inline]
    fn text(&mut self, text: &str) {
        if self.in_title {
            if let Some(title) = &mut self.title {
                title.push(&entities::text(text));
            }
        } else if self.anchor.is_open() && self.templates == 0 {
            self.anchor.push(text, !self.foreign.is_active());
        }
    }

    #[inline]
    fn start(&mut self, tag: &StartTag<'a>) {
        if self.anchor.is_open() && !tag.key.flows_within_a_word() {
            self.anchor.space();
        }
        match tag.key {
            // Declarative shadow roots are templates whose content is shown.
            TagKey::TEMPLATE
                if !self.foreign.is_foreign()
                    && (self.templates > 0 || attribute(tag, "shadowrootmode").is_none()) =>
            {
                self.templates = self.templates.saturating_add(1);
            }
            _ if self.templates > 0 => {}
            TagKey::A => self.anchor_tag(tag),
            TagKey::AREA => self.area_tag(tag),
            TagKey::NAV
            | TagKey::HEADER
            | TagKey::MAIN
            | TagKey::FOOTER
            | TagKey::ASIDE
            | TagKey::ARTICLE => self.places.start(tag.key),
            TagKey::IMG if self.anchor.is_open() => {
                if let Some(alt) = attribute(tag, "alt") {
                    self.anchor.push_alternative(&alt);
                }
            }
            TagKey::TITLE if self.title.is_none() && !self.foreign.is_active() => {
                self.title = Some(TextCollector::new(MAX_TITLE_CHARS));
                self.in_title = true;
            }
            TagKey::META => self.meta_tag(tag),
            TagKey::LINK => self.link_tag(tag),
            TagKey::BASE => self.base_tag(tag),
            TagKey::FRAME => {
                if let Some(src) = attribute(tag, "src") {
                    self.offer(src, LinkKind::Frame, Rel::NONE);
                }
            }
            TagKey::HTML if self.lang.is_none() => self.html_tag(tag),
            _ => {}
        }
    }

    #[inline]
    fn end(&mut self, key: TagKey) {
        match key {
            TagKey::A if self.templates == 0 => self.close_anchor(),
            TagKey::NAV
            | TagKey::HEADER
            | TagKey::MAIN
            | TagKey::FOOTER
            | TagKey::ASIDE
            | TagKey::ARTICLE
                if self.templates == 0 =>
            {
                self.places.end(key);
            }
            TagKey::TITLE => self.in_title = false,
            TagKey::TEMPLATE => self.templates = self.templates.saturating_sub(1),
            _ => {}
        }
        if self.anchor.is_open() && !key.flows_within_a_word() {
            self.anchor.space();
        }
    }

    fn close_anchor(&mut self) {
        if let Some((link, text)) = self.anchor.close() {
            self.links.set_anchor(link, text);
        }
    }

    /// Takes a link unless it leads to another part of the same page.
    fn offer(&mut self, href: Cow<'a, str>, kind: LinkKind, rel: Rel) -> Option<usize> {
        let within_page = match href.as_bytes().first() {
            Some(first) if first.is_ascii_graphic() => *first == b'#',
            _ => matches!(href.trim_start().as_bytes().first(), None | Some(b'#')),
        };
        if within_page && self.base.is_none() {
            return None;
        }
        self.links
            .offer(href, kind, rel, self.places.current(), &mut self.warnings)
    }

    fn anchor_tag(&mut self, tag: &StartTag<'a>) {
        // Anchors do not nest: a second one ends the first.
        self.close_anchor();
        let read = AnchorTag::read(tag, self.foreign.is_foreign());
        if let Some(href) = read.href
            && !read.download
            && let Some(link) = self.offer(href, LinkKind::Anchor, read.rel)
            && !(self.foreign.is_foreign() && tag.self_closing)
        {
            self.anchor.open(link, read.label);
        }
    }

    fn area_tag(&mut self, tag: &StartTag<'a>) {
        let read = AnchorTag::read(tag, false);
        if let Some(href) = read.href
            && !read.download
            && let Some(link) = self.offer(href, LinkKind::Area, read.rel)
        {
            let label = read.label.map(|label| label.value()).unwrap_or_default();
            let label = collapse(&label, self.limits.max_anchor_chars);
            self.links.set_anchor(link, AnchorText::from(&*label));
        }
    }

    fn link_tag(&mut self, tag: &StartTag<'a>) {
        let read = LinkTag::read(tag);
        let is_feed = read.is_feed();
        let Some(address) = read.href else { return };
        if read.rel.contains(Rel::CANONICAL) {
            if self.canonical.is_none() {
                self.canonical = Some(href::clean(address.clone()).into_owned());
            }
            self.offer(address, LinkKind::Canonical, read.rel);
        } else if read.rel.contains(Rel::ALTERNATE) && !read.rel.contains(Rel::STYLESHEET) {
            let href = href::clean(address);
            if href.len() > href::MAX_HREF_BYTES || !href::is_crawlable(&href) {
                return;
            }
            if is_feed && self.feeds.len() < MAX_FEEDS {
                self.feeds.push(href.into_owned());
            } else if let Some(lang) = read.hreflang
                && self.alternates.len() < MAX_ALTERNATES
            {
                let lang = collapse(&lang, MAX_SHORT_CHARS).into_string();
                self.alternates.push(Alternate {
                    lang,
                    href: href.into_owned(),
                });
            }
        }
    }

    fn meta_tag(&mut self, tag: &StartTag<'a>) {
        let read = MetaTag::read(tag);
        let Some(content) = read.content else { return };
        if read
            .http_equiv
            .is_some_and(|name| name.trim().eq_ignore_ascii_case("refresh"))
        {
            if let Some(address) = refresh::address(&content)
                && !std::mem::replace(&mut self.refreshed, true)
            {
                let address = Cow::Owned(address.to_owned());
                self.offer(address, LinkKind::MetaRefresh, Rel::NONE);
            }
            return;
        }
        let Some(name) = read.name else { return };
        let (slot, limit) = match name.as_str() {
            "description" => (&mut self.description, MAX_DESCRIPTION_CHARS),
            "og:description" => (&mut self.og_description, MAX_DESCRIPTION_CHARS),
            "og:title" => (&mut self.og_title, MAX_TITLE_CHARS),
            "generator" => (&mut self.generator, MAX_SHORT_CHARS),
            name if robots::is_crawler(name, self.limits.crawler) => {
                return self.robots.add(&content);
            }
            _ => return,
        };
        if slot.is_none() {
            *slot = Some(collapse(&content, limit)).filter(|text| !text.is_empty());
        }
    }

    fn base_tag(&mut self, tag: &StartTag<'_>) {
        if self.base_seen {
            return;
        }
        if let Some(address) = attribute(tag, "href") {
            self.base_seen = true;
            self.base = href::resolve(self.page_url, &address);
            if self.base.is_none() {
                warn_once(&mut self.warnings, Warning::BaseIgnored);
            }
        }
    }

    fn html_tag(&mut self, tag: &StartTag<'_>) {
        let lang = attribute(tag, "lang").or_else(|| attribute(tag, "xml:lang"));
        let lang = lang.map(|lang| collapse(&lang, MAX_SHORT_CHARS));
        self.lang = lang.filter(|lang| !lang.is_empty());
    }

    fn finish(mut self) -> PageFacts<'a> {
        self.close_anchor();
        let (links, links_total, links_truncated) = self.links.finish();
        let base = self.base.unwrap_or_else(|| self.page_url.clone());
        let title = self
            .title
            .map(|mut title| title.take())
            .filter(|title| !title.is_empty());
        let canonical = self
            .canonical
            .and_then(|canonical| href::resolve(&base, &canonical));
        PageFacts {
            canonical,
            base,
            links,
            links_total,
            links_truncated,
            title: title.or(self.og_title),
            description: self.description.or(self.og_description),
            robots: self.robots,
            lang: self.lang,
            generator: self.generator,
            feeds: self.feeds,
            alternates: self.alternates,
            warnings: self.warnings,
        }
    }
}
