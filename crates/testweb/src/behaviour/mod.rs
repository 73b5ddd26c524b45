//! What a scripted path does. Each family of behaviours has a module; this one holds the list.

mod bomb;
pub(crate) mod bulk;
pub(crate) mod charset;
pub(crate) mod content;
pub(crate) mod encoding;
pub(crate) mod failure;
pub(crate) mod fault;
pub(crate) mod redirect;
pub(crate) mod robots;
pub(crate) mod sitemap;
pub(crate) mod slow;
pub(crate) mod trap;

use bulk::Bulk;
use charset::CharsetCase;
use content::FileKind;
use encoding::{Coding, Damage};
use failure::RetryAfter;
use fault::WireFault;
use redirect::Redirect;
use robots::RobotsKind;
use sitemap::SitemapKind;
use slow::Slow;
use trap::Trap;

use crate::reply::{Answer, Ask, Reply};
use crate::site::Site;

/// What a path does when it is asked for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Behaviour {
    /// A fixed answer.
    Answer(Answer),
    /// A status with a short page.
    Status(u16),
    /// A redirect of some kind.
    Redirect(Redirect),
    /// A refusal (429, 503, ...) that says when to come back.
    Busy {
        status: u16,
        retry_after: RetryAfter,
    },
    /// Fails the first times and then is a page.
    Flapping { failures: u32, status: u16 },
    /// An answer that takes its time.
    Slow(Slow),
    /// An answer that breaks the protocol or the connection.
    Fault(WireFault),
    /// A compressed answer, whole or damaged.
    Encoded(Coding, Damage),
    /// A page in some encoding.
    Charset(CharsetCase),
    /// A page that is too much.
    Bulk(Bulk),
    /// A web without end.
    Trap(Trap),
    /// The same bytes under any path.
    Duplicate,
    /// Nearly the same text under any path.
    NearDuplicate,
    /// A page that says in words, with status 200, that it does not exist.
    Soft404,
    /// A file that is no HTML.
    File(FileKind),
    /// A page with validators, which answers 304 to those who have it.
    Conditional {
        etag: Option<String>,
        last_modified: Option<String>,
    },
    /// Sets cookies and says which ones came.
    SetCookie,
    /// 405 to HEAD and a page to GET.
    HeadRefused,
    /// 401 unless user and password come.
    BasicAuth { user: String, password: String },
    /// What the server saw of the request, as JSON.
    Echo,
    /// robots.txt of some kind.
    Robots(RobotsKind),
    /// A sitemap of some kind.
    Sitemap(SitemapKind),
}

impl Behaviour {
    /// A page of HTML.
    pub fn page(html: impl Into<bytes::Bytes>) -> Self {
        Self::Answer(Answer::html(html))
    }

    /// A 302 to a fixed place.
    pub fn redirect_to(location: &str) -> Self {
        Self::Redirect(Redirect::to(location))
    }

    pub(crate) fn reply(&self, ask: &Ask<'_>, site: &Site) -> Reply {
        match self {
            Self::Answer(answer) => answer.reply(ask),
            Self::Status(status) => Reply::status(*status),
            Self::Redirect(redirect) => redirect.reply(ask, site),
            Self::Busy {
                status,
                retry_after,
            } => failure::busy(*status, *retry_after),
            Self::Flapping { failures, status } => failure::flapping(ask, *failures, *status),
            Self::Slow(slow) => slow.reply(),
            Self::Fault(fault) => fault.reply(),
            Self::Encoded(coding, damage) => encoding::reply(*coding, *damage),
            Self::Charset(case) => case.reply(),
            Self::Bulk(bulk) => bulk.reply(ask.path()),
            Self::Trap(trap) => trap.reply(ask),
            Self::Duplicate => content::duplicate(),
            Self::NearDuplicate => content::near_duplicate(ask.path()),
            Self::Soft404 => content::soft_404(),
            Self::File(kind) => kind.reply(),
            Self::Conditional {
                etag,
                last_modified,
            } => content::conditional(ask, etag.as_deref(), last_modified.as_deref()),
            Self::SetCookie => content::set_cookie(ask),
            Self::HeadRefused => content::head_refused(ask),
            Self::BasicAuth { user, password } => content::basic_auth(ask, user, password),
            Self::Echo => content::echo(ask),
            Self::Robots(kind) => kind.reply(ask),
            Self::Sitemap(kind) => kind.reply(ask, site),
        }
    }
}
