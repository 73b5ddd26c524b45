//! What is made of the content of pages: what is kept, what counts as a copy, which documents are
//! read.

use serde::{Deserialize, Serialize};

use super::{SpecError, within};

/// What of a page is kept beyond its record and its links, in the segment files beside the
/// database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeepSpec {
    /// The body as it came.
    pub html: bool,
    /// The main content as Markdown, with the page's metadata.
    pub markdown: bool,
    /// The main content as readable text, with the page's metadata.
    pub text: bool,
}

impl KeepSpec {
    /// True if something is kept that has to be made of a page first.
    pub fn content(&self) -> bool {
        self.markdown || self.text
    }
}

/// Where pages are found besides links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SitemapPolicy {
    #[default]
    None,
    /// In the sitemaps that robots.txt names.
    Robots,
    /// There, or in `/sitemap.xml` of hosts whose robots.txt names none.
    Guess,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContentSpec {
    /// Look for pages whose main content is nearly that of an earlier one. Copies to the letter
    /// are found anyway; this has to read each page's content first.
    pub near_duplicates: bool,
    /// In how many of 64 bits fingerprints may differ.
    pub near_distance: u32,
    /// Links of pages are not followed once their cluster of near-duplicates has more members.
    pub stop_at_near_duplicates: Option<u32>,
    /// Longer content is cut at a character boundary, and the page marked `truncated`.
    pub max_content_bytes: u64,
    /// Read PDF, plain text, Markdown and feeds too. Keeping Markdown or text implies it.
    pub documents: bool,
    pub sitemaps: SitemapPolicy,
}

impl Default for ContentSpec {
    fn default() -> Self {
        Self {
            near_duplicates: false,
            near_distance: 3,
            stop_at_near_duplicates: None,
            max_content_bytes: 1_000_000,
            documents: false,
            sitemaps: SitemapPolicy::None,
        }
    }
}

impl ContentSpec {
    pub(super) fn validate(&self) -> Result<(), SpecError> {
        within("content.near_distance", u64::from(self.near_distance), 0, 6)?;
        if self.stop_at_near_duplicates.is_some() && !self.near_duplicates {
            return Err(SpecError::new(
                "content.stop_at_near_duplicates",
                "needs near_duplicates: otherwise none are looked for",
            ));
        }
        within(
            "content.max_content_bytes",
            self.max_content_bytes,
            1,
            64 << 20,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_on_clusters_needs_clusters() {
        let mut spec = ContentSpec {
            stop_at_near_duplicates: Some(5),
            ..ContentSpec::default()
        };
        assert!(spec.validate().is_err());
        spec.near_duplicates = true;
        assert_eq!(spec.validate(), Ok(()));
    }
}
