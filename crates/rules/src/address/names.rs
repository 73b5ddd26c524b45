//! Host names that never lead to the public web. This list only saves a lookup and explains well:
//! a name that is missing here is still refused by the address it leads to.

/// What the spelling of a name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// This machine.
    Loopback,
    /// The metadata service of a cloud, which hands out credentials.
    Metadata,
    /// Somewhere in a private network.
    Private,
    Other,
}

const LOOPBACK: [&str; 6] = [
    "localhost",
    "localhost.localdomain",
    "localhost6",
    "localhost6.localdomain6",
    "ip6-localhost",
    "ip6-loopback",
];

const METADATA: [&str; 8] = [
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata.azure.com",
    "metadata.packet.net",
    "instance-data",
    "instance-data.ec2.internal",
];

const PRIVATE_SUFFIXES: [&str; 9] = [
    "internal",
    "local",
    "localdomain",
    "lan",
    "home.arpa",
    "intranet",
    "corp",
    "private",
    "svc",
];

/// `name` is a parsed host name (lower case) without a trailing dot.
pub(super) fn kind(name: &str) -> NameKind {
    if LOOPBACK.contains(&name) || is_below(name, "localhost") {
        NameKind::Loopback
    } else if METADATA.contains(&name) {
        NameKind::Metadata
    } else if PRIVATE_SUFFIXES.iter().any(|suffix| is_below(name, suffix)) {
        NameKind::Private
    } else {
        NameKind::Other
    }
}

fn is_below(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
