//! A link from one page to another, with the evidence that is kept of it.

use serde::{Deserialize, Serialize};

/// Where on the page a link stands. Numbers are stored: never reuse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Place {
    /// No sectioning element around it.
    #[default]
    Body = 0,
    Nav = 1,
    /// The page's `<header>`; the header of an article belongs to the article.
    Header = 2,
    /// `<main>` or `<article>`.
    Main = 3,
    /// The page's `<footer>`; the footer of an article belongs to the article.
    Footer = 4,
    Aside = 5,
}

/// What kind of reference an edge is. Numbers are stored: never reuse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum LinkKind {
    /// `<a href>` without `download`.
    Anchor = 0,
    /// `<link rel="canonical">`.
    Canonical = 1,
    Redirect = 2,
    MetaRefresh = 3,
    Sitemap = 4,
    /// `<area href>` without `download`.
    Area = 5,
    /// `<frame src>`: the pages of an old frameset. Embedded `<iframe>`s are no links.
    Frame = 6,
}

/// The `rel` values that matter, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LinkRel(pub u8);

impl LinkRel {
    pub const NOFOLLOW: u8 = 1;
    pub const UGC: u8 = 2;
    pub const SPONSORED: u8 = 4;

    pub fn is_nofollow(self) -> bool {
        self.0 & Self::NOFOLLOW != 0
    }

    /// The set bits as the words they came from.
    pub fn words(self) -> Vec<&'static str> {
        [
            (Self::NOFOLLOW, "nofollow"),
            (Self::UGC, "ugc"),
            (Self::SPONSORED, "sponsored"),
        ]
        .into_iter()
        .filter(|(bit, _)| self.0 & bit != 0)
        .map(|(_, word)| word)
        .collect()
    }
}

impl Place {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Nav => "nav",
            Self::Header => "header",
            Self::Main => "main",
            Self::Footer => "footer",
            Self::Aside => "aside",
        }
    }

    pub fn from_stored(code: u8) -> Self {
        match code {
            1 => Self::Nav,
            2 => Self::Header,
            3 => Self::Main,
            4 => Self::Footer,
            5 => Self::Aside,
            _ => Self::Body,
        }
    }
}

impl LinkKind {
    /// How much further away than its page a link leads. A redirect is no step, and what a sitemap
    /// lists is as near as the sitemap.
    pub fn depth_step(self) -> u32 {
        u32::from(!matches!(self, Self::Redirect | Self::Sitemap))
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Canonical => "canonical",
            Self::Redirect => "redirect",
            Self::MetaRefresh => "meta_refresh",
            Self::Sitemap => "sitemap",
            Self::Area => "area",
            Self::Frame => "frame",
        }
    }

    pub fn from_stored(code: u8) -> Self {
        match code {
            1 => Self::Canonical,
            2 => Self::Redirect,
            3 => Self::MetaRefresh,
            4 => Self::Sitemap,
            5 => Self::Area,
            6 => Self::Frame,
            _ => Self::Anchor,
        }
    }
}
