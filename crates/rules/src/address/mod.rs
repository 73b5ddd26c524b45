//! Which addresses may be contacted: public ones, and what the operator allows.
//!
//! Two checks. [`AddressGuard::check_url`] is early and gives a reason without a lookup.
//! [`AddressGuard::check`] is the one that counts: the connector asks it about the address it is
//! about to open a socket to, on every hop. Messages never repeat a resolved address.

mod names;
mod ranges;

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};
use trawl_types::{
    Reason, ReasonCode,
    spec::{FetchSpec, SpecError},
};
use url::{Host, Url};

use names::NameKind;

const USUAL_PORTS: [u16; 4] = [80, 443, 8080, 8443];
const METADATA: IpAddr = IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254));

/// The rules for addresses and ports of one crawl.
#[derive(Debug, Clone)]
pub struct AddressGuard {
    allowed: Vec<IpNet>,
    ports: Vec<u16>,
}

/// Why a connection must not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefusal {
    #[error("{0} addresses are not contacted")]
    NotPublic(&'static str),
    #[error("port {0} is not contacted")]
    Port(u16),
}

impl AddressGuard {
    pub fn compile(spec: &FetchSpec) -> Result<Self, SpecError> {
        let allowed = spec
            .allow_networks
            .iter()
            .map(|text| network(text))
            .collect::<Result<_, _>>()?;
        let mut ports = USUAL_PORTS.to_vec();
        ports.extend(&spec.allow_ports);
        Ok(Self { allowed, ports })
    }

    /// May a socket to this address be opened?
    pub fn check(&self, ip: IpAddr, port: u16) -> Result<(), AddressRefusal> {
        // Port 0 cannot be connected to, whoever allows it.
        if self.is_allowed(ip) && port != 0 {
            return Ok(());
        }
        if let Some(range) = ranges::special(ip) {
            return Err(AddressRefusal::NotPublic(range));
        }
        self.check_port(port)
    }

    /// May this URL be asked for at all? Of a name, only what its spelling tells: where it leads
    /// is known when it is resolved.
    pub fn check_url(&self, url: &Url) -> Result<(), Reason> {
        let port = url.port_or_known_default().unwrap_or(0);
        match url.host() {
            Some(Host::Ipv4(ip)) => self.check(ip.into(), port).map_err(refused),
            Some(Host::Ipv6(ip)) => self.check(ip.into(), port).map_err(refused),
            Some(Host::Domain(name)) => self.check_name(name, port),
            None => Err(Reason::new(ReasonCode::InvalidUrl, "no host")),
        }
    }

    fn check_name(&self, name: &str, port: u16) -> Result<(), Reason> {
        let name = name.trim_end_matches('.');
        if let Ok(ip) = name.parse::<Ipv4Addr>() {
            return self.check(ip.into(), port).map_err(refused);
        }
        let known = match names::kind(name) {
            NameKind::Loopback => self.allows_loopback(),
            NameKind::Metadata => self.is_allowed(METADATA),
            NameKind::Private => !self.allowed.is_empty(),
            NameKind::Other => true,
        };
        if !known {
            let detail = format!("{name} is not a public name");
            return Err(Reason::new(ReasonCode::ForbiddenAddress, detail));
        }
        // In an allowed network every port is fine, and the name may lead there.
        if self.allowed.is_empty() {
            self.check_port(port).map_err(refused)?;
        }
        Ok(())
    }

    fn check_port(&self, port: u16) -> Result<(), AddressRefusal> {
        if port != 0 && self.ports.contains(&port) {
            Ok(())
        } else {
            Err(AddressRefusal::Port(port))
        }
    }

    /// An allowed IPv4 network also holds the v4-mapped forms of its addresses.
    fn is_allowed(&self, ip: IpAddr) -> bool {
        let canonical = ip.to_canonical();
        self.allowed
            .iter()
            .any(|net| net.contains(&canonical) || net.contains(&ip))
    }

    fn allows_loopback(&self) -> bool {
        self.allowed.iter().any(|net| match net {
            IpNet::V4(net) => net.network().is_loopback() || net.contains(&Ipv4Addr::LOCALHOST),
            IpNet::V6(net) => net.contains(&std::net::Ipv6Addr::LOCALHOST),
        })
    }
}

fn refused(refusal: AddressRefusal) -> Reason {
    Reason::new(ReasonCode::ForbiddenAddress, refusal.to_string())
}

/// A network in CIDR form, or one address.
fn network(text: &str) -> Result<IpNet, SpecError> {
    let trimmed = text.trim();
    let net = trimmed
        .parse::<IpNet>()
        .or_else(|_| trimmed.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| {
            let problem = format!("{text:?} is not a network such as 10.0.0.0/8 or fd00::/8");
            SpecError::new("fetch.allow_networks", problem)
        })?;
    Ok(unmapped(net))
}

/// `::ffff:10.0.0.0/104` is how some write `10.0.0.0/8`.
fn unmapped(net: IpNet) -> IpNet {
    let IpNet::V6(v6) = net else {
        return net;
    };
    match (v6.addr().to_ipv4_mapped(), v6.prefix_len().checked_sub(96)) {
        (Some(v4), Some(prefix)) => Ipv4Net::new(v4, prefix).map_or(net, IpNet::V4),
        _ => net,
    }
}
