//! From a request to an answer: scripted paths first, then pages, then what every site has.
//! One service serves one connection.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{CONTENT_LENGTH, HOST};
use http::request::Parts;
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::service::Service;

use crate::admin;
use crate::body::{Content, ReplyBody};
use crate::log::{Arrival, RequestLog, Ticket};
use crate::reply::{Ask, Reply, Sent};
use crate::script::Script;
use crate::site::{Site, asset};
use crate::wire::WireControl;

/// Everything that all connections share.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) site: Site,
    pub(crate) script: Script,
    pub(crate) log: RequestLog,
}

impl World {
    fn reply(&self, ask: &mut Ask<'_>) -> Reply {
        let (host, path) = (ask.site.host, ask.request.uri.path());
        if let Some(mounted) = self.script.find(host, path) {
            ask.hits = mounted.hit();
            return mounted.behaviour.reply(ask, &self.site);
        }
        let layout = self.site.renderer.rule.layout;
        if let Some(page) = layout.find(host, path) {
            return self.site.page_reply(page, ask);
        }
        if let Some(reply) = self.site.well_known(ask) {
            return reply;
        }
        asset(path).unwrap_or_else(|| Reply::status(404))
    }
}

/// Answers the requests of one connection.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    pub(crate) world: Arc<World>,
    pub(crate) control: Arc<WireControl>,
    pub(crate) peer: SocketAddr,
    pub(crate) tls: bool,
}

impl Connection {
    fn answer(&self, request: &Parts) -> AnswerFuture {
        let authority = authority_of(request);
        if let Some(response) = admin::answer(&self.world, request) {
            return AnswerFuture::Now(ready(Ok(finish(request, response, None))));
        }
        let site = self.world.site.renderer.spec.host_of(authority);
        let ticket = self.world.log.is_enabled().then(|| {
            let (host, tls, peer) = (site.host, self.tls, self.peer);
            self.world.log.begin(Arrival {
                request,
                authority,
                host,
                tls,
                peer,
            })
        });
        let mut ask = Ask {
            request,
            site,
            tls: self.tls,
            authority,
            hits: 0,
        };
        let reply = self.world.reply(&mut ask);
        let wait = self.world.site.renderer.spec.latency + reply.wait;
        let response = match reply.sent {
            Sent::Silence => return AnswerFuture::never(ticket),
            Sent::Http(response) => {
                if let Some(ticket) = &ticket {
                    ticket.answered(response.status().as_u16());
                }
                finish(request, response, ticket)
            }
            Sent::Wire(script) => {
                let control = Arc::clone(&self.control);
                let dummy = finish(request, Response::new(Content::EMPTY), ticket);
                if wait.is_zero() {
                    control.arm(script);
                    return AnswerFuture::Now(ready(Ok(dummy)));
                }
                return AnswerFuture::Later(Box::pin(async move {
                    tokio::time::sleep(wait).await;
                    control.arm(script);
                    Ok(dummy)
                }));
            }
        };
        if wait.is_zero() {
            return AnswerFuture::Now(ready(Ok(response)));
        }
        AnswerFuture::Later(Box::pin(async move {
            tokio::time::sleep(wait).await;
            Ok(response)
        }))
    }
}

/// Host and port that the client asks for: `:authority` or an absolute target before `Host`.
fn authority_of(request: &Parts) -> &str {
    let from_target = request.uri.authority().map(http::uri::Authority::as_str);
    let from_header = || {
        request
            .headers
            .get(HOST)
            .and_then(|value| value.to_str().ok())
    };
    from_target.or_else(from_header).unwrap_or("")
}

/// Answers to HEAD keep the length and lose the body.
fn finish(
    request: &Parts,
    response: Response<Content>,
    ticket: Option<Ticket>,
) -> Response<ReplyBody> {
    let (mut head, mut content) = response.into_parts();
    if request.method == http::Method::HEAD {
        if let (false, Some(length)) = (
            head.headers.contains_key(CONTENT_LENGTH),
            content.known_length(),
        ) {
            head.headers
                .insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        content = Content::EMPTY;
    }
    Response::from_parts(
        head,
        ReplyBody {
            content,
            _ticket: ticket,
        },
    )
}

type Answered = Result<Response<ReplyBody>, Infallible>;

/// The answer at once, or after a wait; ordinary pages need no allocation.
pub(crate) enum AnswerFuture {
    Now(Ready<Answered>),
    Later(Pin<Box<dyn Future<Output = Answered> + Send>>),
}

impl AnswerFuture {
    fn never(ticket: Option<Ticket>) -> Self {
        Self::Later(Box::pin(async move {
            let _held_while_the_client_waits = ticket;
            std::future::pending().await
        }))
    }
}

impl Future for AnswerFuture {
    type Output = Answered;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answered> {
        match self.get_mut() {
            Self::Now(answer) => Pin::new(answer).poll(context),
            Self::Later(answer) => answer.as_mut().poll(context),
        }
    }
}

impl Service<Request<Incoming>> for Connection {
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn call(&self, request: Request<Incoming>) -> AnswerFuture {
        let (parts, _body) = request.into_parts();
        self.answer(&parts)
    }
}
