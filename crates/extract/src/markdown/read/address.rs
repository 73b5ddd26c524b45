//! Addresses in attributes to absolute URLs, against `<base>` and the address of the page.
//!
//! Never gives a relative address, nor one whose scheme runs code or carries data.

use url::Url;

use crate::markdown::tree::{ROOT, Tag, Tree};

const MAX_ADDRESS_BYTES: usize = 8192;

/// Schemes that lead somewhere.
const LINK_SCHEMES: [&str; 11] = [
    "http", "https", "mailto", "tel", "sms", "ftp", "ftps", "sftp", "xmpp", "irc", "magnet",
];

/// Resolves the addresses of one page.
#[derive(Debug)]
pub(super) struct Addresses {
    page: Option<Url>,
    base: Option<Url>,
}

impl Addresses {
    pub(super) fn new(tree: &Tree<'_>, page: Option<&Url>) -> Self {
        Addresses {
            page: page.cloned(),
            base: declared_base(tree, page).or_else(|| page.cloned()),
        }
    }

    /// The absolute address of a link.
    pub(super) fn link(&self, href: &str) -> Option<Url> {
        let url = self.resolve(href)?;
        LINK_SCHEMES.contains(&url.scheme()).then_some(url)
    }

    /// The absolute address of an image.
    pub(super) fn image(&self, source: &str) -> Option<Url> {
        let url = self.resolve(source)?;
        matches!(url.scheme(), "http" | "https").then_some(url)
    }

    fn resolve(&self, href: &str) -> Option<Url> {
        if href.len() > MAX_ADDRESS_BYTES {
            return None;
        }
        match &self.base {
            Some(base) => base.join(href).ok(),
            None => Url::parse(href.trim()).ok(),
        }
    }

    /// The fragment of an address within the page.
    pub(super) fn own_fragment<'h>(&self, href: &'h str) -> Option<&'h str> {
        let (before, fragment) = href.trim().split_once('#')?;
        if before.is_empty() {
            return Some(fragment);
        }
        let page = self.page.as_ref()?;
        let page = page.as_str().split('#').next().unwrap_or_default();
        (before == page).then_some(fragment)
    }
}

fn declared_base(tree: &Tree<'_>, page: Option<&Url>) -> Option<Url> {
    let href = tree
        .descendants(ROOT)
        .filter(|&id| tree.tag(id) == Tag::Base)
        .find_map(|id| tree.attribute(id, "href"))?;
    let options = Url::options().base_url(page);
    let base = options.parse(&href).ok()?;
    matches!(base.scheme(), "http" | "https").then_some(base)
}
