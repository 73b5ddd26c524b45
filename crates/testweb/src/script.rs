//! Which path does what: the table of behaviours, fixed at the start or changed while running.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::behaviour::Behaviour;
use crate::behaviour::robots::RobotsKind;
use crate::gallery::gallery_mounts;

/// The hosts that a scripted path is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostPick {
    /// Every host.
    All,
    /// One host.
    Host(u32),
}

impl From<u32> for HostPick {
    fn from(host: u32) -> Self {
        Self::Host(host)
    }
}

impl From<&str> for HostPick {
    /// `"*"` is every host, `"3"` is host 3.
    fn from(text: &str) -> Self {
        text.parse().map_or(Self::All, Self::Host)
    }
}

/// Behaviours to start a web with.
#[derive(Debug, Clone, Default)]
pub struct Behaviours {
    pub(crate) rules: Vec<(HostPick, String, Behaviour)>,
}

impl Behaviours {
    /// No scripted path at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a path. A path that ends in `*` stands for all that begin with what is before it.
    #[must_use]
    pub fn on(mut self, host: impl Into<HostPick>, path: &str, behaviour: Behaviour) -> Self {
        self.rules.push((host.into(), path.to_owned(), behaviour));
        self
    }

    /// Sets the robots.txt of a host.
    #[must_use]
    pub fn robots(self, host: impl Into<HostPick>, kind: RobotsKind) -> Self {
        self.on(host, "/robots.txt", Behaviour::Robots(kind))
    }

    /// Mounts the hostile gallery on every host.
    #[must_use]
    pub fn with_gallery(mut self) -> Self {
        let mounts = gallery_mounts().into_iter();
        self.rules
            .extend(mounts.map(|(path, behaviour)| (HostPick::All, path, behaviour)));
        self
    }
}

/// A behaviour in use, with the number of times it was asked.
#[derive(Debug)]
pub(crate) struct Mounted {
    pub(crate) behaviour: Behaviour,
    hits: AtomicU32,
}

impl Mounted {
    /// Counts a request; returns how many came before it.
    pub(crate) fn hit(&self) -> u32 {
        self.hits.fetch_add(1, Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
struct Table {
    exact: HashMap<(HostPick, String), Arc<Mounted>>,
    /// Longest prefix first.
    prefixes: Vec<(HostPick, String, Arc<Mounted>)>,
}

/// The table of a running web.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// Spares a web without behaviours the lock.
    used: AtomicBool,
    table: RwLock<Table>,
}

impl Script {
    pub(crate) fn new(behaviours: Behaviours) -> Self {
        let script = Self::default();
        for (host, path, behaviour) in behaviours.rules {
            script.set(host, &path, behaviour);
        }
        script
    }

    /// Sets what a path does from now on; the latest word counts.
    pub(crate) fn set(&self, host: HostPick, path: &str, behaviour: Behaviour) {
        let mounted = Arc::new(Mounted {
            behaviour,
            hits: AtomicU32::new(0),
        });
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(prefix) = path.strip_suffix('*') {
            table
                .prefixes
                .retain(|(h, p, _)| (*h, p.as_str()) != (host, prefix));
            table.prefixes.push((host, prefix.to_owned(), mounted));
            table
                .prefixes
                .sort_by_key(|(_, prefix, _)| std::cmp::Reverse(prefix.len()));
        } else {
            table.exact.insert((host, path.to_owned()), mounted);
        }
        self.used.store(true, Ordering::Release);
    }

    /// Gives a path back to the ordinary web.
    pub(crate) fn unset(&self, host: HostPick, path: &str) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.exact.remove(&(host, path.to_owned()));
        if let Some(prefix) = path.strip_suffix('*') {
            table
                .prefixes
                .retain(|(h, p, _)| (*h, p.as_str()) != (host, prefix));
        }
    }

    pub(crate) fn find(&self, host: u32, path: &str) -> Option<Arc<Mounted>> {
        if !self.used.load(Ordering::Acquire) {
            return None;
        }
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let exact = [HostPick::Host(host), HostPick::All]
            .into_iter()
            .find_map(|pick| table.exact.get(&(pick, path.to_owned())));
        let by_prefix = || {
            let mut prefixes = table.prefixes.iter();
            let found = prefixes.find(|(pick, prefix, _)| {
                (*pick == HostPick::Host(host) || *pick == HostPick::All)
                    && path.starts_with(prefix.as_str())
            });
            found.map(|(_, _, mounted)| mounted)
        };
        exact.or_else(by_prefix).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Behaviours, HostPick, Script};
    use crate::behaviour::Behaviour;

    fn status_at(script: &Script, host: u32, path: &str) -> Option<u16> {
        match script.find(host, path)?.behaviour {
            Behaviour::Status(status) => Some(status),
            _ => None,
        }
    }

    #[test]
    fn one_host_beats_all_hosts_and_exact_paths_beat_prefixes() {
        let script = Script::new(
            Behaviours::none()
                .on("*", "/a", Behaviour::Status(401))
                .on(2, "/a", Behaviour::Status(402))
                .on("*", "/a*", Behaviour::Status(403))
                .on("*", "/a/b/*", Behaviour::Status(404)),
        );
        assert_eq!(status_at(&script, 1, "/a"), Some(401));
        assert_eq!(status_at(&script, 2, "/a"), Some(402));
        assert_eq!(status_at(&script, 2, "/ax"), Some(403));
        assert_eq!(status_at(&script, 2, "/a/b/c"), Some(404));
        assert_eq!(status_at(&script, 2, "/b"), None);
        script.unset(HostPick::All, "/a");
        assert_eq!(status_at(&script, 1, "/a"), Some(403));
    }
}
