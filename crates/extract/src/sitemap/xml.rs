//! The XML kinds: `urlset`, `sitemapindex`, RSS and Atom.

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::fields::{Field, Fields, Holder, append, append_reference};
use super::{Sitemap, SitemapLimits};
use crate::html::entities;
use crate::warning::Warning;

/// Where in the document the reader is.
#[derive(Debug, Default)]
struct Position {
    depth: usize,
    known_root: bool,
    /// The open holder and its depth.
    holder: Option<(Holder, usize)>,
    field: Option<Field>,
    fields: Fields,
    buffer: String,
}

/// Reads until the end, the limit or the first thing that is not XML.
pub(super) fn read(text: &str, limits: SitemapLimits, sitemap: &mut Sitemap) {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut position = Position::default();
    loop {
        let more = match reader.read_event() {
            Ok(Event::Eof) => false,
            Ok(event) => position.handle(&event, limits, sitemap),
            Err(_) => {
                sitemap.warn(Warning::SitemapMalformed);
                false
            }
        };
        if !more {
            break;
        }
    }
    if !position.known_root {
        sitemap
            .warnings
            .retain(|warning| *warning != Warning::SitemapMalformed);
        sitemap.warn(Warning::NotASitemap);
    } else if position.holder.is_some() && !sitemap.warnings.contains(&Warning::SitemapTruncated) {
        // The document ends inside an entry: without its end tag the address may be cut.
        sitemap.warn(Warning::SitemapMalformed);
    }
}

impl Position {
    /// Says whether to go on.
    fn handle(&mut self, event: &Event<'_>, limits: SitemapLimits, sitemap: &mut Sitemap) -> bool {
        match event {
            Event::Start(tag) => {
                if !self.start(tag) {
                    return false;
                }
                self.depth += 1;
            }
            Event::Empty(tag) => return self.empty(tag),
            Event::End(_) => return self.end(limits, sitemap),
            Event::Text(text) if self.field.is_some() => append(&mut self.buffer, text),
            Event::CData(text) if self.field.is_some() => append(&mut self.buffer, text),
            Event::GeneralRef(name) if self.field.is_some() => {
                append_reference(&mut self.buffer, name);
            }
            _ => {}
        }
        true
    }

    /// Says whether the element can belong to a sitemap or feed.
    fn start(&mut self, tag: &BytesStart<'_>) -> bool {
        let name = tag.local_name();
        let name: &str = name.as_ref();
        if !self.known_root {
            self.known_root = matches!(
                name,
                "urlset" | "sitemapindex" | "rss" | "feed" | "RDF" | "channel"
            );
            return self.known_root;
        }
        match self.holder {
            None => {
                if let Some(holder) = Holder::of(name) {
                    self.holder = Some((holder, self.depth));
                    self.fields = Fields::default();
                }
            }
            // Only direct children: `<image:loc>` stands one level deeper.
            Some((holder, depth)) if self.depth == depth + 1 => {
                self.field = holder.field(name);
                self.buffer.clear();
                self.atom_link(holder, tag);
            }
            Some(_) => {}
        }
        true
    }

    fn empty(&mut self, tag: &BytesStart<'_>) -> bool {
        if let Some((holder, depth)) = self.holder
            && self.depth == depth + 1
        {
            self.atom_link(holder, tag);
        }
        if self.known_root {
            return true;
        }
        // An empty root: a sitemap without entries, or something else.
        self.start(tag)
    }

    /// `<link rel="alternate" href="...">` of an Atom entry.
    fn atom_link(&mut self, holder: Holder, tag: &BytesStart<'_>) {
        if holder != Holder::Entry || tag.local_name().as_ref() != "link" {
            return;
        }
        let (mut href, mut is_page) = (None, true);
        for attribute in tag.attributes().with_checks(false).flatten() {
            match attribute.key.as_ref() {
                "href" => href = Some(attribute.value),
                "rel" => is_page = attribute.value == "alternate",
                _ => {}
            }
        }
        if let Some(href) = href.filter(|_| is_page) {
            self.fields
                .set(Field::Loc, &entities::attribute_value(&href));
        }
    }

    fn end(&mut self, limits: SitemapLimits, sitemap: &mut Sitemap) -> bool {
        self.depth = self.depth.saturating_sub(1);
        let Some((holder, depth)) = self.holder else {
            return true;
        };
        if self.depth == depth + 1
            && let Some(field) = self.field.take()
        {
            self.fields.set(field, &self.buffer);
        }
        if self.depth > depth {
            return true;
        }
        self.holder = None;
        let mut fields = std::mem::take(&mut self.fields);
        // RSS: where there is no link, the identity is an address unless it says otherwise.
        let guid = fields.guid.take().filter(|guid| super::is_absolute(guid));
        fields.loc = fields.loc.or(guid);
        // Feed items without a link are usual and no reason for a warning.
        if fields.loc.is_none() && matches!(holder, Holder::Item | Holder::Entry) {
            return true;
        }
        sitemap.take(fields.finish(holder), limits)
    }
}
