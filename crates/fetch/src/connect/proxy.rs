//! The proxy an operator named. It may stand at any address, but no crawled URL may be aimed at
//! it. Its credentials are in nothing that is printed.

use std::{fmt, net::SocketAddr};

use http::HeaderValue;
use percent_encoding::percent_decode_str;
use tokio::net::TcpStream;
use trawl_types::{OutcomeKind, spec::SpecError};
use url::Url;

use super::{
    dial::Dialer,
    socks5,
    target::{Host, Target},
    tunnel,
};
use crate::ended::End;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http,
    Socks5 {
        /// `socks5h`: names go to the proxy unresolved, so the guard sees literal addresses only.
        proxy_resolves: bool,
    },
}

pub(crate) struct Credentials {
    pub(crate) user: String,
    pub(crate) password: String,
}

pub(crate) struct Proxy {
    protocol: Protocol,
    host: Host,
    port: u16,
    credentials: Option<Credentials>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({:?}, {}:{})", self.protocol, self.host, self.port)
    }
}

impl Proxy {
    pub(crate) fn parse(text: &str) -> Result<Self, SpecError> {
        // The text may hold a password, so no message repeats it.
        let wrong = |problem: &str| SpecError::new("fetch.proxy", problem);
        let url = Url::parse(text).map_err(|_| wrong("is not a URL"))?;
        let (protocol, default_port) = match url.scheme() {
            "http" => (Protocol::Http, 80),
            "socks5" => (
                Protocol::Socks5 {
                    proxy_resolves: false,
                },
                1080,
            ),
            "socks5h" => (
                Protocol::Socks5 {
                    proxy_resolves: true,
                },
                1080,
            ),
            _ => return Err(wrong("must begin with http://, socks5:// or socks5h://")),
        };
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or_else(|| wrong("has no host"))?;
        let credentials = (!url.username().is_empty()).then(|| Credentials {
            user: decoded(url.username()),
            password: decoded(url.password().unwrap_or_default()),
        });
        let too_long = |c: &Credentials| c.user.len() > 255 || c.password.len() > 255;
        if credentials.as_ref().is_some_and(too_long) {
            return Err(wrong("has a user name or password of more than 255 bytes"));
        }
        Ok(Self {
            protocol,
            host: Host::parse(host),
            port: url.port().unwrap_or(default_port),
            credentials,
        })
    }

    /// Plain requests are spoken to an HTTP proxy itself; everything else goes through a tunnel.
    pub(crate) fn takes_requests_for(&self, tls: bool) -> bool {
        self.protocol == Protocol::Http && !tls
    }

    /// The header that an HTTP proxy wants to see.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let credentials = self.credentials.as_ref()?;
        let pair = format!("{}:{}", credentials.user, credentials.password);
        let text = format!("Basic {}", tunnel::base64(pair.as_bytes()));
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Opens a connection on which the target can be spoken to.
    pub(crate) async fn reach(&self, dialer: &Dialer, target: &Target) -> Result<TcpStream, End> {
        let own = dialer
            .unguarded(&self.host, self.port)
            .await
            .map_err(|_| failure("the proxy's name cannot be resolved"))?;
        let aim = self.aim(dialer, target, &own).await?;
        let mut tcp = dialer
            .dial(&self.host, &own)
            .await
            .map_err(|_| failure("the proxy cannot be reached"))?;
        match self.protocol {
            Protocol::Http if !target.tls => {}
            Protocol::Http => tunnel::open(&mut tcp, &aim, self.authorization()).await?,
            Protocol::Socks5 { .. } => {
                socks5::open(&mut tcp, &aim, self.credentials.as_ref()).await?;
            }
        }
        Ok(tcp)
    }

    /// Where the proxy is told to connect to: a checked address wherever we can know one.
    async fn aim(&self, dialer: &Dialer, target: &Target, own: &[SocketAddr]) -> Result<Aim, End> {
        dialer.guard_spelling(target)?;
        if target.host == self.host && target.port == self.port {
            return Err(is_the_proxy(target));
        }
        let resolve_here = match self.protocol {
            Protocol::Socks5 { proxy_resolves } => !proxy_resolves,
            Protocol::Http => false,
        };
        let known = matches!(target.host, Host::Address(_)) || dialer.is_fixed(&target.host);
        if !resolve_here && !known {
            return Ok(Aim {
                host: target.host.clone(),
                port: target.port,
            });
        }
        let addresses = dialer.guarded(target).await?;
        let chosen = addresses
            .iter()
            .find(|address| !own.contains(address))
            .ok_or_else(|| is_the_proxy(target))?;
        Ok(Aim {
            host: Host::Address(chosen.ip()),
            port: chosen.port(),
        })
    }
}

/// What a proxy is asked to connect to.
pub(crate) struct Aim {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

pub(crate) fn failure(detail: &str) -> End {
    End::new(OutcomeKind::ProxyFailure, detail)
}

fn is_the_proxy(target: &Target) -> End {
    End::new(
        OutcomeKind::AddressRefused,
        format!("{} is the proxy itself", target.host),
    )
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
