//! Bytes to everything that is known of their meaning: the main content as Markdown, text and
//! HTML, metadata, language, fingerprints. Puts the other modules together and adds nothing.

use serde::{Serialize, Serializer};
use serde_json::Value;
use url::Url;

use crate::charset;
use crate::content::{ContentLimits, PageKind, Strategy, main_content};
use crate::document::{self, Document, DocumentKind, DocumentLink, TextDocument};
use crate::fingerprint::{Fingerprint, near_fingerprint, text_sha256};
use crate::language::{LanguageGuess, language, text_size};
use crate::markdown::{RenderLimits, render};
use crate::metadata::{Hints, metadata};
use crate::warning::{Warning, warn_once};

/// Where bytes came from, and how much of their content is wanted.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The address after redirects; links are resolved against it.
    pub url: Option<&'a Url>,
    /// The `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// Other headers that say something about the content.
    pub hints: Hints<'a>,
    /// Longer content is cut at a character boundary.
    pub max_content_bytes: usize,
}

impl Default for Source<'_> {
    fn default() -> Self {
        Source {
            url: None,
            content_type: None,
            hints: Hints::default(),
            max_content_bytes: RenderLimits::default().max_content_bytes,
        }
    }
}

/// What bytes mean.
#[derive(Clone, Debug, Serialize)]
pub struct Extracted {
    /// Where they came from.
    pub url: Option<Url>,
    /// `html`, `pdf`, `plain_text`, `markdown` or `feed`.
    pub kind: &'static str,
    /// The title without the site's name, where that can be told.
    pub title: Option<String>,
    /// The main content as Markdown.
    pub markdown: String,
    /// The main content as readable text.
    pub text: String,
    /// The main content as HTML that is safe to show; only of HTML pages.
    pub html: Option<String>,
    /// Whether there was more content than is kept.
    pub truncated: bool,
    /// Declared and detected language.
    pub language: LanguageGuess,
    /// Words of the text.
    pub word_count: usize,
    /// Seconds of silent reading.
    pub reading_time_seconds: u32,
    /// SHA-256 of the normalised text: equal for equal texts.
    #[serde(serialize_with = "as_hex")]
    pub text_sha256: [u8; 32],
    /// Nearly equal texts have nearly equal fingerprints; none for very short ones.
    pub near_fingerprint: Option<HexFingerprint>,
    /// What kind of page it is; only of HTML pages.
    pub page_kind: Option<PageKind>,
    /// How the content was found; only of HTML pages.
    pub strategy: Option<Strategy>,
    /// How sure that is, from 0 to 1; only of HTML pages.
    pub quality: Option<f32>,
    /// What the document says about itself.
    pub metadata: Value,
    /// Where it leads, if it is Markdown or a feed; the links of a page are found by
    /// [`page()`](crate::page()).
    #[serde(skip)]
    pub links: Vec<DocumentLink>,
    /// What went not quite right.
    #[serde(serialize_with = "as_sentences")]
    pub warnings: Vec<Warning>,
}

/// A fingerprint that is written as text: numbers of 64 bits do not survive every reader of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexFingerprint(pub Fingerprint);

impl Serialize for HexFingerprint {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(&format_args!("{:016x}", self.0.0))
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Extraction {
    /// The content.
    Content(Box<Extracted>),
    /// There is no content to be had, for a reason with a name.
    Nothing(Unreadable),
}

/// Why there is no content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// A list of addresses, not of words.
    Sitemap,
    /// It cannot be read without a password.
    Encrypted,
    /// It is what it says, but too broken to be read.
    Damaged,
    /// Reading it would take more time or memory than it is worth.
    TooLarge,
    /// A kind of document that is not read, such as `image/png`.
    Unsupported(String),
}

impl Unreadable {
    /// The outcome's name.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Sitemap => "sitemap",
            Self::Encrypted => "encrypted",
            Self::Damaged => "damaged",
            Self::TooLarge => "too_large",
            Self::Unsupported(_) => "unsupported",
        }
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sitemap => f.write_str("a sitemap: it lists addresses and has no text"),
            Self::Encrypted => f.write_str("encrypted: it cannot be read without a password"),
            Self::Damaged => f.write_str("damaged: it cannot be read"),
            Self::TooLarge => f.write_str("too large to be read"),
            Self::Unsupported(media_type) => {
                write!(f, "documents of type {media_type} are not read")
            }
        }
    }
}

/// Reads bytes of whatever kind.
pub fn extract(bytes: &[u8], source: &Source<'_>) -> Extraction {
    let nothing = match document::read(bytes, source.content_type, source.url) {
        Document::Html => return Extraction::Content(Box::new(page(bytes, source))),
        Document::Text(document) => {
            return Extraction::Content(Box::new(text_document(*document, source)));
        }
        Document::Sitemap => Unreadable::Sitemap,
        Document::Encrypted => Unreadable::Encrypted,
        Document::Damaged => Unreadable::Damaged,
        Document::TooLarge => Unreadable::TooLarge,
        Document::Unsupported { media_type } => Unreadable::Unsupported(media_type),
    };
    Extraction::Nothing(nothing)
}

/// Reads bytes that are known to be an HTML page.
pub fn page(bytes: &[u8], source: &Source<'_>) -> Extracted {
    let tld = source
        .url
        .and_then(Url::domain)
        .and_then(|host| host.rsplit('.').next());
    let decoded = charset::decode(bytes, source.content_type, tld);
    let about = metadata(&decoded.text, source.url, &source.hints);
    let content = main_content(&decoded.text, source.url, &ContentLimits::default());
    let limits = RenderLimits {
        max_content_bytes: source.max_content_bytes,
    };
    // The main content has its links resolved; what the page's base was is in them already.
    let rendered = render(&content.html, source.url, &limits);
    let mut warnings = Vec::new();
    let found = [&about.warnings, &content.warnings, &rendered.warnings];
    for warning in found.into_iter().flatten() {
        warn_once(&mut warnings, *warning);
    }
    if decoded.had_errors {
        warn_once(&mut warnings, Warning::CharsetErrors);
    }
    let mut html = content.html;
    let cut = cut(&mut html, source.max_content_bytes);
    Extracted {
        html: Some(html),
        truncated: rendered.truncated || cut,
        page_kind: Some(content.kind),
        strategy: Some(content.strategy),
        quality: Some(content.quality),
        warnings,
        title: about.title.clone(),
        metadata: as_value(&about),
        ..measured(
            "html",
            rendered.markdown,
            rendered.text,
            about.language.as_deref(),
            source,
        )
    }
}

fn text_document(mut document: TextDocument, source: &Source<'_>) -> Extracted {
    let cut = cut(&mut document.text, source.max_content_bytes);
    let kind = match document.kind {
        DocumentKind::Pdf => "pdf",
        DocumentKind::PlainText => "plain_text",
        DocumentKind::Markdown => "markdown",
        DocumentKind::Feed => "feed",
    };
    let about = &document.metadata;
    let declared = about.language.as_deref();
    Extracted {
        truncated: document.truncated || cut,
        title: document.title,
        metadata: as_value(about),
        links: document.links,
        warnings: document.warnings,
        ..measured(kind, document.text.clone(), document.text, declared, source)
    }
}

/// What can be told from the text alone.
fn measured(
    kind: &'static str,
    markdown: String,
    text: String,
    declared: Option<&str>,
    source: &Source<'_>,
) -> Extracted {
    let size = text_size(&text);
    Extracted {
        url: source.url.cloned(),
        kind,
        title: None,
        language: language(&text, declared),
        word_count: size.word_count,
        reading_time_seconds: size.reading_time_seconds,
        text_sha256: text_sha256(&text),
        near_fingerprint: near_fingerprint(&text).map(HexFingerprint),
        markdown,
        text,
        html: None,
        truncated: false,
        page_kind: None,
        strategy: None,
        quality: None,
        metadata: Value::Null,
        links: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Cuts a text at a character boundary; says whether it had to be cut.
fn cut(text: &mut String, limit: usize) -> bool {
    let long = text.len() > limit;
    if long {
        text.truncate(text.floor_char_boundary(limit));
    }
    long
}

/// Metadata are strings, numbers and lists of them, which JSON can say.
fn as_value(metadata: &impl Serialize) -> Value {
    serde_json::to_value(metadata).unwrap_or(Value::Null)
}

fn as_hex<S: Serializer>(bytes: &[u8; 32], out: S) -> Result<S::Ok, S::Error> {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    out.serialize_str(&digits.map(digit).collect::<String>())
}

fn as_sentences<S: Serializer>(warnings: &[Warning], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(warnings.iter().map(ToString::to_string))
}
