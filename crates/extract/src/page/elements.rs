//! The attributes of the elements that matter, read in one pass each.

use std::borrow::Cow;

use super::Rel;
use crate::html::{Attribute, StartTag};

type Value<'a> = Option<Cow<'a, str>>;

/// Of equal attributes the first counts.
fn first<'a>(slot: &mut Value<'a>, value: Cow<'a, str>) {
    if slot.is_none() {
        *slot = Some(value);
    }
}

/// `<a>` and `<area>`, in HTML or SVG.
#[derive(Default)]
pub(crate) struct AnchorTag<'a> {
    pub(crate) href: Value<'a>,
    pub(crate) rel: Rel,
    pub(crate) download: bool,
    /// `aria-label`, or else `title` or `alt`; decoded only if the link turns out to have no text.
    pub(crate) label: Option<Attribute<'a>>,
}

impl<'a> AnchorTag<'a> {
    pub(crate) fn read(tag: &StartTag<'a>, foreign: bool) -> Self {
        let (mut rel, mut label, mut title, mut xlink) = (None, None, None, None);
        let mut read = AnchorTag::default();
        for attribute in tag.attributes() {
            match attribute.name.len() {
                4 if attribute.is("href") => first(&mut read.href, attribute.value()),
                3 if attribute.is("rel") => first(&mut rel, attribute.value()),
                8 if attribute.is("download") => read.download = true,
                10 if attribute.is("aria-label") => label = label.or(Some(attribute)),
                5 if attribute.is("title") => title = title.or(Some(attribute)),
                3 if attribute.is("alt") => title = title.or(Some(attribute)),
                10 if foreign && attribute.is("xlink:href") => first(&mut xlink, attribute.value()),
                _ => {}
            }
        }
        read.href = read.href.or(xlink);
        read.label = label.filter(|label| !label.raw_value.is_empty()).or(title);
        read.rel = rel.map_or(Rel::NONE, |rel| Rel::parse(&rel));
        read
    }
}

/// `<link>`
#[derive(Default)]
pub(crate) struct LinkTag<'a> {
    pub(crate) href: Value<'a>,
    pub(crate) rel: Rel,
    pub(crate) media_type: Value<'a>,
    pub(crate) hreflang: Value<'a>,
}

impl<'a> LinkTag<'a> {
    pub(crate) fn read(tag: &StartTag<'a>) -> Self {
        let mut rel = None;
        let mut read = LinkTag::default();
        for attribute in tag.attributes() {
            match attribute.name.len() {
                4 if attribute.is("href") => first(&mut read.href, attribute.value()),
                3 if attribute.is("rel") => first(&mut rel, attribute.value()),
                4 if attribute.is("type") => first(&mut read.media_type, attribute.value()),
                8 if attribute.is("hreflang") => first(&mut read.hreflang, attribute.value()),
                _ => {}
            }
        }
        read.rel = rel.map_or(Rel::NONE, |rel| Rel::parse(&rel));
        read
    }

    /// Whether the type is that of an RSS or Atom feed.
    pub(crate) fn is_feed(&self) -> bool {
        self.media_type.as_deref().is_some_and(|media_type| {
            let essence = media_type.split(';').next().unwrap_or_default().trim();
            [
                "application/rss+xml",
                "application/atom+xml",
                "application/feed+json",
            ]
            .iter()
            .any(|feed| essence.eq_ignore_ascii_case(feed))
        })
    }
}

/// `<meta>`
#[derive(Default)]
pub(crate) struct MetaTag<'a> {
    /// `name`, or else `property`, in lower case.
    pub(crate) name: Option<String>,
    pub(crate) http_equiv: Value<'a>,
    pub(crate) content: Value<'a>,
}

impl<'a> MetaTag<'a> {
    pub(crate) fn read(tag: &StartTag<'a>) -> Self {
        let (mut name, mut property) = (None, None);
        let mut read = MetaTag::default();
        for attribute in tag.attributes() {
            match attribute.name.len() {
                4 if attribute.is("name") => first(&mut name, attribute.value()),
                8 if attribute.is("property") => first(&mut property, attribute.value()),
                10 if attribute.is("http-equiv") => first(&mut read.http_equiv, attribute.value()),
                7 if attribute.is("content") => first(&mut read.content, attribute.value()),
                _ => {}
            }
        }
        read.name = name
            .or(property)
            .map(|name| name.trim().to_ascii_lowercase());
        read
    }
}

/// The first attribute called `name`.
pub(crate) fn attribute<'a>(tag: &StartTag<'a>, name: &str) -> Value<'a> {
    tag.attributes()
        .find(|attribute| attribute.is(name))
        .map(|attribute| attribute.value())
}
