//! What went not quite right: extraction never fails, it gives a value and these.

use std::fmt;

/// Something a caller may want to record about a page or sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// The page is larger than is read for its content; what stands before the limit was used.
    ContentTooLarge,
    /// A library failed on the page; its result was not used.
    LibraryFailed,
    /// The page has more distinct links than were taken.
    LinksTruncated,
    /// A link was left out because its address is absurdly long.
    HrefTooLong,
    /// `<base href>` does not give an http or https address and was ignored.
    BaseIgnored,
    /// The content is larger than may be kept; what stands before the limit was used.
    ContentTruncated,
    /// Elements nested deeper than any reader sees lost their tags and kept their text.
    NestingFlattened,
    /// The sitemap has more addresses than were taken.
    SitemapTruncated,
    /// The sitemap is larger than may be read; what stands before the limit was used.
    SitemapTooLarge,
    /// The sitemap is not well-formed; what could be read was used.
    SitemapMalformed,
    /// The sitemap's gzip stream is damaged; what could be unpacked was used.
    SitemapGzipDamaged,
    /// An address in the sitemap is empty, too long or not http or https, and was left out.
    SitemapLocationIgnored,
    /// The document is neither a sitemap, nor a feed, nor a list of addresses.
    NotASitemap,
    /// A JSON-LD script is not JSON, and was left out.
    JsonLdMalformed,
    /// There is more JSON-LD than is read.
    JsonLdTooLarge,
    /// Some bytes or glyphs of the document have no meaning in its encoding.
    CharsetErrors,
    /// The feed is not well-formed; what could be read was used.
    FeedMalformed,
    /// Pages of the document are pictures without text.
    PagesWithoutText,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ContentTooLarge => "the page is larger than is read for its content",
            Self::LibraryFailed => "an extraction library failed on the page",
            Self::LinksTruncated => "the page has more links than were taken",
            Self::HrefTooLong => "a link with an overlong address was left out",
            Self::BaseIgnored => "the base address is not http or https and was ignored",
            Self::ContentTruncated => "the content is too large and was cut",
            Self::NestingFlattened => "elements nested too deep were flattened",
            Self::SitemapTruncated => "the sitemap has more addresses than were taken",
            Self::SitemapTooLarge => "the sitemap is too large and was cut",
            Self::SitemapMalformed => "the sitemap is not well-formed and was read in part",
            Self::SitemapGzipDamaged => "the sitemap's gzip stream is damaged",
            Self::SitemapLocationIgnored => "an unusable address in the sitemap was left out",
            Self::NotASitemap => "the document is not a sitemap",
            Self::JsonLdMalformed => "a JSON-LD script is not JSON and was left out",
            Self::JsonLdTooLarge => "the page has more JSON-LD than is read",
            Self::CharsetErrors => "some characters of the document have no meaning",
            Self::FeedMalformed => "the feed is not well-formed and was read in part",
            Self::PagesWithoutText => "pages of the document are pictures without text",
        })
    }
}

/// Warnings in the order of their first appearance, each kind once, so that a hostile page
/// cannot make the list long.
pub(crate) fn warn_once(warnings: &mut Vec<Warning>, warning: Warning) {
    if !warnings.contains(&warning) {
        warnings.push(warning);
    }
}
