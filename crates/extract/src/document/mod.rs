//! Documents other than HTML pages: PDF, plain text, Markdown and feeds to text and metadata.
//!
//! What a document is, its own bytes say first and its headers second. Everything else is a named
//! outcome; HTML is handed back to be read as a page.

mod feed;
mod feed_json;
mod feed_xml;
mod front_matter;
mod links;
mod pdf;
mod pdf_guard;
mod plain;
mod sniff;

use serde::Serialize;
use url::Url;

use crate::charset;
use crate::metadata::Date;
use crate::warning::Warning;

pub use feed::FeedEntry;
pub use links::DocumentLink;

/// Longer texts are cut, at a character boundary.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// What kind of document a text came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// A PDF file; the text is Markdown.
    Pdf,
    /// Plain text.
    PlainText,
    /// Markdown, without its front matter.
    Markdown,
    /// An RSS, Atom or JSON feed; the text is Markdown with a section for each entry.
    Feed,
}

/// What a document says about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DocumentMetadata {
    /// The first of the authors.
    pub author: Option<String>,
    /// All authors.
    pub authors: Vec<String>,
    /// When the document was published or made.
    pub publish_date: Option<Date>,
    /// When it was last changed.
    pub modified_date: Option<Date>,
    /// A description in one or a few sentences.
    pub description: Option<String>,
    /// Keywords and tags.
    pub keywords: Vec<String>,
    /// The language the document says it is in, as a BCP 47 tag.
    pub language: Option<String>,
    /// The page a feed belongs to, absolute.
    pub canonical_url: Option<Url>,
    /// The program that made the document.
    pub generator: Option<String>,
    /// How many pages there are on paper.
    pub pages: Option<u32>,
    /// The entries of a feed.
    pub entries: Vec<FeedEntry>,
}

/// A document's text and what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextDocument {
    /// What it was.
    pub kind: DocumentKind,
    /// Its title.
    pub title: Option<String>,
    /// Its text: Markdown, or plain where it was.
    pub text: String,
    /// Whether there was more text than is kept.
    pub truncated: bool,
    /// What it says about itself.
    pub metadata: DocumentMetadata,
    /// Where it leads, if it is Markdown or a feed.
    #[serde(skip)]
    pub links: Vec<DocumentLink>,
    /// What went not quite right.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// What came of reading a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// Its text.
    Text(Box<TextDocument>),
    /// It is an HTML page.
    Html,
    /// It is a sitemap, to be read for its addresses.
    Sitemap,
    /// It cannot be read without a password.
    Encrypted,
    /// It is what it says, but too broken to be read.
    Damaged,
    /// Reading it would take more time or memory than it is worth.
    TooLarge,
    /// Its kind is not one that is read.
    Unsupported {
        /// What it is, such as `image/png`.
        media_type: String,
    },
}

/// Reads a document. `content_type` is the header, if there was one; `url` is where it came from.
pub fn read(bytes: &[u8], content_type: Option<&str>, url: Option<&Url>) -> Document {
    let media_type = match sniff::sniff(bytes, content_type, url) {
        sniff::Type::Html => return Document::Html,
        sniff::Type::Pdf => return pdf::read(bytes),
        sniff::Type::Sitemap => return Document::Sitemap,
        sniff::Type::Other(media_type) => {
            let media_type = media_type.into_owned();
            return Document::Unsupported { media_type };
        }
        text => text,
    };
    let tld = url
        .and_then(Url::domain)
        .and_then(|host| host.rsplit('.').next());
    let decoded = charset::decode(bytes, content_type, tld);
    let mut document = match media_type {
        sniff::Type::Markdown => front_matter::read(&decoded.text),
        sniff::Type::JsonFeed => match feed_json::read(&decoded.text, url) {
            Some(feed) => feed,
            None => return Document::Damaged,
        },
        sniff::Type::XmlFeed => feed_xml::read(&decoded.text, url),
        _ => plain::read(&decoded.text),
    };
    document.links = match document.kind {
        DocumentKind::Markdown => links::of_markdown(&document),
        DocumentKind::Feed => links::of_feed(&document.metadata),
        DocumentKind::Pdf | DocumentKind::PlainText => Vec::new(),
    };
    if decoded.had_errors {
        document.warnings.push(Warning::CharsetErrors);
    }
    Document::Text(Box::new(document))
}

impl TextDocument {
    /// A document with its text cut to what is kept.
    fn new(kind: DocumentKind, mut text: String) -> Self {
        let mut warnings = Vec::new();
        let truncated = text.len() > MAX_TEXT_BYTES;
        if truncated {
            text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
            warnings.push(Warning::ContentTruncated);
        }
        TextDocument {
            kind,
            title: None,
            text,
            truncated,
            metadata: DocumentMetadata::default(),
            links: Vec::new(),
            warnings,
        }
    }
}
