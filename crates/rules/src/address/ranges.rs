//! Addresses that are not public unicast, each with the name of its range (IANA special-purpose
//! registries). IPv6 is the other way round: only 2000::/3 is public, less its exceptions.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The name of the range that keeps an address from being public.
pub(super) fn special(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => special_v4(ip),
        IpAddr::V6(ip) => special_v6(ip),
    }
}

fn special_v4(ip: Ipv4Addr) -> Option<&'static str> {
    Some(match ip.octets() {
        [0, ..] => "unspecified",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "private",
        [100, 64..=127, ..] => "shared",
        [127, ..] => "loopback",
        [169, 254, ..] => "link-local",
        [192, 0, 0, _] => "protocol",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "documentation",
        [192, 88, 99, _] => "translated",
        [198, 18..=19, ..] => "benchmark",
        [224..=239, ..] => "multicast",
        [240..=255, ..] => "reserved",
        // Looks public, but from inside one cloud it is the host's own control service.
        [168, 63, 129, 16] => "metadata",
        _ => return None,
    })
}

fn special_v6(ip: Ipv6Addr) -> Option<&'static str> {
    Some(match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "unspecified",
        [0, 0, 0, 0, 0, 0, 0, 1] => "loopback",
        // v4-mapped and v4-compatible, NAT64, 6to4 and Teredo: the address within may be anything,
        // and a public IPv4 address has a plain spelling.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0x64, 0xff9b, ..] | [0x2002, ..] | [0x2001, 0, ..] => {
            "translated"
        }
        [0x2001, 1..=0x1ff, ..] => "protocol",
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => "documentation",
        [0x2000..=0x3fff, ..] => return None,
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => "private",
        [0xfe80..=0xfebf, ..] => "link-local",
        [0xff00..=0xffff, ..] => "multicast",
        _ => "reserved",
    })
}
