//! What went not quite right: extraction never fails, it gives a value and these.

use std::fmt;

/// Something a caller may want to record about a page or sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// The page has more distinct links than were taken.
    LinksTruncated,
    /// A link was left out because its address is absurdly long.
    HrefTooLong,
    /// `<base href>` does not give an http or https address and was ignored.
    BaseIgnored,
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
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LinksTruncated => "the page has more links than were taken",
            Self::HrefTooLong => "a link with an overlong address was left out",
            Self::BaseIgnored => "the base address is not http or https and was ignored",
            Self::SitemapTruncated => "the sitemap has more addresses than were taken",
            Self::SitemapTooLarge => "the sitemap is too large and was cut",
            Self::SitemapMalformed => "the sitemap is not well-formed and was read in part",
            Self::SitemapGzipDamaged => "the sitemap's gzip stream is damaged",
            Self::SitemapLocationIgnored => "an unusable address in the sitemap was left out",
            Self::NotASitemap => "the document is not a sitemap",
            Self::JsonLdMalformed => "a JSON-LD script is not JSON and was left out",
            Self::JsonLdTooLarge => "the page has more JSON-LD than is read",
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
