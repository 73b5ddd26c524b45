//! What kind of page a URL looks like, from its words alone. Cheap: no allocation.

use url::Url;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    /// The front page of a host.
    Home,
    /// Pages that people look for: about, contact, blog, documentation.
    Landmark,
    Content,
    /// Pagination, archives, tags, searches, logins: pages about other pages.
    Listing,
}

impl PageKind {
    pub(super) fn of(url: &Url) -> Self {
        let path = url.path();
        let query = url.query().filter(|query| !query.is_empty());
        if query.is_some_and(|query| query.split('&').any(is_listing_parameter)) {
            return Self::Listing;
        }
        if path == "/" {
            return if query.is_none() {
                Self::Home
            } else {
                Self::Content
            };
        }
        let mut kind = Self::Content;
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        let mut last = "";
        for segment in &mut segments {
            if is_listing_word(segment) {
                return Self::Listing;
            }
            if is_landmark_word(segment) {
                kind = Self::Landmark;
            }
            last = segment;
        }
        if is_front_page(last) && path.len() == last.len() + 1 && query.is_none() {
            return Self::Home;
        }
        kind
    }
}

fn is_listing_parameter(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or(pair);
    matches!(
        name,
        "page"
            | "p"
            | "pg"
            | "paged"
            | "offset"
            | "start"
            | "from"
            | "q"
            | "s"
            | "query"
            | "search"
            | "sort"
            | "order"
            | "orderby"
            | "filter"
            | "tag"
            | "month"
            | "year"
            | "date"
            | "replytocom"
            | "print"
            | "share"
    )
}

fn is_listing_word(segment: &str) -> bool {
    matches!(
        segment,
        "page"
            | "pages"
            | "archive"
            | "archives"
            | "tag"
            | "tags"
            | "category"
            | "categories"
            | "label"
            | "labels"
            | "search"
            | "author"
            | "authors"
            | "calendar"
            | "feed"
            | "login"
            | "signup"
            | "register"
            | "cart"
            | "checkout"
            | "print"
    )
}

fn is_landmark_word(segment: &str) -> bool {
    matches!(
        segment,
        "about"
            | "about-us"
            | "contact"
            | "contact-us"
            | "blog"
            | "news"
            | "article"
            | "articles"
            | "post"
            | "posts"
            | "docs"
            | "doc"
            | "documentation"
            | "guide"
            | "guides"
            | "help"
            | "faq"
            | "team"
            | "press"
            | "impressum"
            | "products"
            | "services"
    )
}

fn is_front_page(segment: &str) -> bool {
    matches!(
        segment,
        "index.html" | "index.htm" | "index.php" | "default.aspx" | "home"
    )
}
