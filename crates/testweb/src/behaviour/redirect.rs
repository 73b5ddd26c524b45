//! Redirects: honest, endless, and to places where a crawler must not go.

use http::header::LOCATION;

use crate::reply::{Ask, Reply};
use crate::site::Site;

/// Kinds of redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Redirect {
    /// To a fixed place, with a given status.
    To { status: u16, location: String },
    /// `hops` redirects that end in a page: the number of hops left travels in `?left=`.
    Chain { hops: u32 },
    /// Goes round over this many addresses for ever (`?at=`).
    Loop { length: u32 },
    /// To itself.
    ToItself,
    /// To the front page of another host of this web.
    ToHost { host: u32 },
    /// From `/dir` to `/dir/`, which is a page.
    AddSlash,
    /// To the same address below `www.`, where it is a page.
    AddWww,
    /// The status of a redirect and no Location.
    WithoutLocation,
    /// A Location that is no address.
    Garbage,
}

impl Redirect {
    /// A 302 to a fixed place.
    pub fn to(location: &str) -> Self {
        Self::To {
            status: 302,
            location: location.to_owned(),
        }
    }

    pub(crate) fn reply(&self, ask: &Ask<'_>, site: &Site) -> Reply {
        let path = ask.path();
        match self {
            Self::To { status, location } => Reply::redirect(*status, location),
            Self::Chain { hops } => chain(ask, *hops),
            Self::Loop { length } => {
                let at: u32 = ask
                    .parameter("at")
                    .and_then(|n| n.parse().ok())
                    .unwrap_or(0);
                let next = at.wrapping_add(1) % (*length).max(1);
                Reply::redirect(302, &format!("{path}?at={next}"))
            }
            Self::ToItself => {
                let whole = ask.request.uri.path_and_query();
                Reply::redirect(301, whole.map_or("/", http::uri::PathAndQuery::as_str))
            }
            Self::ToHost { host } => {
                let (spec, port) = (&site.renderer.spec, site.renderer.port);
                let port = if ask.tls {
                    site.renderer.tls_port
                } else {
                    port
                };
                let location = format!("{}://{}:{port}/", ask.scheme(), spec.host_name(*host));
                Reply::redirect(302, &location)
            }
            Self::AddSlash if path.ends_with('/') => {
                Reply::html("<!doctype html><title>Directory</title><h1>Directory</h1>")
            }
            Self::AddSlash => Reply::redirect(301, &format!("{path}/")),
            Self::AddWww if ask.authority.starts_with("www.") => {
                Reply::html("<!doctype html><title>Below www</title><h1>Below www</h1>")
            }
            Self::AddWww => {
                let (scheme, authority) = (ask.scheme(), ask.authority);
                let whole = ask.request.uri.path_and_query();
                let whole = whole.map_or("/", http::uri::PathAndQuery::as_str);
                Reply::redirect(301, &format!("{scheme}://www.{authority}{whole}"))
            }
            Self::WithoutLocation => Reply::status(302),
            Self::Garbage => {
                Reply::status(302).with_header(LOCATION, b"http://[::bad \xff\xfe:99999/%zz")
            }
        }
    }
}

fn chain(ask: &Ask<'_>, hops: u32) -> Reply {
    let left: u32 = ask
        .parameter("left")
        .and_then(|n| n.parse().ok())
        .unwrap_or(hops);
    if left == 0 {
        return Reply::html("<!doctype html><title>End of the chain</title><h1>Arrived</h1>");
    }
    // The usual statuses take turns, since clients treat them differently.
    let status = [301, 302, 303, 307, 308][left as usize % 5];
    Reply::redirect(status, &format!("{}?left={}", ask.path(), left - 1))
}
