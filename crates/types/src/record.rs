//! What is known of a page and of a crawl, as every view of the store shows it.

use serde::{Deserialize, Serialize};

use crate::{OutcomeKind, PageId, Reason, Sequence, UnixMillis};

/// Where a page stands in one crawl. Numbers are stored: never reuse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum PageState {
    /// Admitted, waiting for its turn. Also what a page is while it is being fetched: a crash
    /// releases it by definition.
    Pending = 0,
    /// Refused by a rule; a shorter path or another spec may change that.
    Refused = 1,
    /// Fetched, or ended in an outcome that is final.
    Done = 2,
}

impl PageState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Refused => "refused",
            Self::Done => "done",
        }
    }

    pub fn from_stored(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Pending),
            1 => Some(Self::Refused),
            2 => Some(Self::Done),
            _ => None,
        }
    }
}

/// The life of a crawl. Text is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrawlState {
    /// Work is left; a process is on it, or died.
    Running,
    /// Stopped by request with work left.
    Paused,
    /// Nothing is left to do within the limits.
    Completed,
    /// Given up by request.
    Cancelled,
    /// Could not go on.
    Failed,
}

impl CrawlState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    pub fn from_stored(text: &str) -> Option<Self> {
        [
            Self::Running,
            Self::Paused,
            Self::Completed,
            Self::Cancelled,
            Self::Failed,
        ]
        .into_iter()
        .find(|state| state.as_str() == text)
    }
}

/// One entry of the result log: a page and how its visit ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageRecord {
    pub seq: Sequence,
    pub page_id: PageId,
    pub url: String,
    /// Where the answer came from, if not from `url` itself.
    pub final_url: Option<String>,
    /// Where a redirect pointed, for the outcome `redirected`.
    pub redirect_to: Option<String>,
    pub canonical_url: Option<String>,
    pub depth: u32,
    /// The page whose link led here first, by the shortest path.
    pub parent: Option<String>,
    pub outcome: OutcomeKind,
    pub status_code: Option<u16>,
    pub error: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub content_type: Option<String>,
    pub charset: Option<String>,
    pub language: Option<String>,
    /// Bytes of the decoded body that were read.
    pub content_length: Option<u64>,
    /// Hash of the body, hex.
    pub content_hash: Option<String>,
    /// The body was cut, or the content made of it.
    pub truncated: bool,
    /// The first page of the crawl with the same content.
    pub duplicate_of: Option<String>,
    /// The first page of the crawl with nearly the same content; copies to the letter have one too.
    pub near_duplicate_of: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// Directives of the robots meta element and header, as found.
    pub robots: Option<String>,
    pub links_total: u32,
    pub attempts: u32,
    pub fetch_time_ms: u64,
    pub crawled_at: UnixMillis,
    /// True where the raw body is kept.
    pub has_body: bool,
    /// True where Markdown or text is kept.
    pub has_content: bool,
}

/// What was made of a page and kept: main content, and what the page says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageContent {
    /// `html`, `pdf`, `plain_text`, `markdown` or `feed`.
    pub kind: String,
    /// The title without the site's name, where that can be told.
    pub title: Option<String>,
    /// Detected or declared, as a BCP 47 tag.
    pub language: Option<String>,
    pub word_count: u64,
    pub reading_time_seconds: u32,
    /// There was more content than is kept.
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub metadata: serde_json::Value,
}

/// What one crawl knows of one URL: the answer behind `trawl explain`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageStanding {
    pub page_id: PageId,
    pub url: String,
    pub state: PageState,
    pub depth: u32,
    pub attempts: u32,
    pub reason: Option<Reason>,
    pub discovered_at: UnixMillis,
    /// From the seed down to the page itself: URLs along the shortest known path.
    pub chain: Vec<String>,
    pub record: Option<PageRecord>,
}
