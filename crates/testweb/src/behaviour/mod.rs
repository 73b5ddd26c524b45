//! What a scripted path does. Each family of behaviours has a module; this one holds the list.

pub(crate) mod redirect;

pub use redirect::Redirect;

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
}

impl Behaviour {
    /// A page of HTML.
    pub fn page(html: impl Into<bytes::Bytes>) -> Self {
        Self::Answer(Answer::html(html))
    }

    pub(crate) fn reply(&self, ask: &Ask<'_>, site: &Site) -> Reply {
        match self {
            Self::Answer(answer) => answer.reply(),
            Self::Status(status) => Reply::status(*status),
            Self::Redirect(redirect) => redirect.reply(ask, site),
        }
    }
}
