//! The only place that opens a socket. A target is resolved, every address is put before the
//! guard, and only addresses that passed are dialled: what was checked is what is connected to,
//! so an answer that changes in between changes nothing.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::TcpStream,
    time::{Instant, timeout},
};
use trawl_rules::{AddressGuard, AddressRefusal};
use trawl_types::OutcomeKind;

use super::target::{Host, Target};
use crate::{
    ended::End,
    resolve::{FixedNames, Resolve, ResolveError},
};

/// A name with more addresses than this is tried at the first few only.
const MAX_ADDRESSES: usize = 8;

/// No address of several is given less time than this before the next one is tried.
const LEAST_PER_ADDRESS: Duration = Duration::from_millis(250);

pub(crate) struct Dialer {
    pub(crate) guard: Arc<AddressGuard>,
    pub(crate) fixed: FixedNames,
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) patience: Duration,
}

impl Dialer {
    /// The addresses of a target that may be contacted.
    pub(crate) async fn guarded(&self, target: &Target) -> Result<Vec<SocketAddr>, End> {
        let mut allowed = Vec::new();
        let mut refusal = None;
        for found in self.addresses(&target.host, target.port).await? {
            match self.guard.check(found.ip, target.port) {
                Ok(()) => allowed.push(SocketAddr::new(found.ip, found.dial_port)),
                Err(reason) => refusal = Some(reason),
            }
        }
        allowed.truncate(MAX_ADDRESSES);
        match (allowed.is_empty(), refusal) {
            (false, _) => Ok(allowed),
            (true, Some(refusal)) => Err(refused(&target.host, refusal)),
            (true, None) => Err(no_address(&target.host, &ResolveError::NotFound)),
        }
    }

    /// Only the part of the guard that needs no name lookup, for targets a proxy will resolve.
    pub(crate) fn guard_spelling(&self, target: &Target) -> Result<(), End> {
        match target.host {
            Host::Address(ip) => self
                .guard
                .check(ip, target.port)
                .map_err(|refusal| refused(&target.host, refusal)),
            Host::Name(_) => Ok(()),
        }
    }

    /// Whether the operator gave this host an address of its own.
    pub(crate) fn is_fixed(&self, host: &Host) -> bool {
        matches!(host, Host::Name(name) if !self.fixed.get(name).is_empty())
    }

    /// The addresses of a host that the operator named (a proxy), which no guard applies to.
    pub(crate) async fn unguarded(&self, host: &Host, port: u16) -> Result<Vec<SocketAddr>, End> {
        let found = self.addresses(host, port).await?;
        Ok(found
            .into_iter()
            .map(|found| SocketAddr::new(found.ip, found.dial_port))
            .take(MAX_ADDRESSES)
            .collect())
    }

    /// Tries addresses in turn until one accepts, sharing the time out among them.
    pub(crate) async fn dial(
        &self,
        host: &Host,
        addresses: &[SocketAddr],
    ) -> Result<TcpStream, End> {
        let deadline = Instant::now() + self.patience;
        let mut last = None;
        for (index, address) in addresses.iter().enumerate() {
            let left = deadline.saturating_duration_since(Instant::now());
            let tries_left = u32::try_from(addresses.len() - index).unwrap_or(1);
            let share = (left / tries_left).max(LEAST_PER_ADDRESS);
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    // Requests are written whole, so waiting to fill a packet only costs time.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => last = Some(error),
                Err(_) => last = Some(io::ErrorKind::TimedOut.into()),
            }
        }
        Err(cannot_connect(host, last))
    }

    async fn addresses(&self, host: &Host, port: u16) -> Result<Vec<Found>, End> {
        let name = match host {
            Host::Address(ip) => return Ok(vec![Found::new(*ip, port)]),
            Host::Name(name) => name,
        };
        let fixed = self.fixed.get(name);
        if !fixed.is_empty() {
            return Ok(fixed
                .into_iter()
                .map(|fixed| Found::new(fixed.address, fixed.port.unwrap_or(port)))
                .collect());
        }
        match self.resolver.resolve(name).await {
            Ok(addresses) => Ok(addresses
                .into_iter()
                .map(|ip| Found::new(ip, port))
                .collect()),
            Err(error) => Err(no_address(host, &error)),
        }
    }
}

struct Found {
    ip: IpAddr,
    /// Differs from the URL's port only where the operator said so.
    dial_port: u16,
}

impl Found {
    fn new(ip: IpAddr, dial_port: u16) -> Self {
        Self { ip, dial_port }
    }
}

/// Says which host was refused and never what it resolved to: that would map our network for it.
fn refused(host: &Host, refusal: AddressRefusal) -> End {
    let detail = match refusal {
        AddressRefusal::NotPublic(_) => {
            format!("{host} is at an address that must not be contacted")
        }
        AddressRefusal::Port(_) => format!("{host}: {refusal}"),
    };
    End::new(OutcomeKind::AddressRefused, detail)
}

fn no_address(host: &Host, error: &ResolveError) -> End {
    let kind = match error {
        ResolveError::NotFound => OutcomeKind::DnsFailure,
        ResolveError::Failed(_) => OutcomeKind::DnsUnavailable,
    };
    End::new(kind, format!("{host}: {error}"))
}

fn cannot_connect(host: &Host, error: Option<io::Error>) -> End {
    let Some(error) = error else {
        return End::new(OutcomeKind::ConnectFailed, format!("{host} has no address"));
    };
    let kind = match error.kind() {
        io::ErrorKind::ConnectionRefused => OutcomeKind::ConnectRefused,
        io::ErrorKind::TimedOut => OutcomeKind::ConnectTimeout,
        _ => OutcomeKind::ConnectFailed,
    };
    End::new(kind, format!("cannot connect to {host}: {}", error.kind()))
}
