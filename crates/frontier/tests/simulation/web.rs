//! Who was asked when, as the hosts see it, and whether that was right.

use std::collections::BTreeMap;

/// One request.
#[derive(Debug, Clone, Copy)]
struct Contact {
    /// Under which loan.
    epoch: u64,
    start: u64,
    /// What had to be kept when it was sent.
    delay: u64,
    answered: Option<u64>,
    end: Option<u64>,
}

#[derive(Debug, Default)]
struct Asked {
    contacts: Vec<Contact>,
    /// What the host asked for, once that is durable.
    wait_until: u64,
    /// Loans that were given back with what was to be waited for; the others ran out.
    returned: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct Web {
    hosts: BTreeMap<i64, Asked>,
    pub(crate) per_host: u32,
    /// The delay that every crawl keeps.
    pub(crate) delay: u64,
    /// What robots.txt of a host asks for.
    pub(crate) crawl_delays: BTreeMap<i64, u64>,
    /// Hosts whose robots.txt was read.
    pub(crate) known: Vec<i64>,
}

/// A request of a host.
pub(crate) type Request = (i64, usize);

impl Web {
    pub(crate) fn new(per_host: u32, delay: u64, crawl_delays: BTreeMap<i64, u64>) -> Self {
        Self {
            hosts: BTreeMap::new(),
            per_host,
            delay,
            crawl_delays,
            known: Vec::new(),
        }
    }

    /// As long as a host must be left alone between two requests.
    pub(crate) fn delay_of(&self, host: i64) -> u64 {
        let asked_for = self.crawl_delays.get(&host).copied().unwrap_or(0);
        if self.known.contains(&host) {
            self.delay.max(asked_for)
        } else {
            self.delay
        }
    }

    pub(crate) fn ask(&mut self, host: i64, epoch: u64, now: u64) -> Request {
        let (delay, most) = (self.delay_of(host), self.per_host);
        let asked = self.hosts.entry(host).or_default();
        assert!(
            now >= asked.wait_until,
            "host {host} is asked at {now}, and asked to be left alone until {}",
            asked.wait_until
        );
        let mut out = 0;
        for earlier in &asked.contacts {
            let (since, delay) = if earlier.epoch == epoch {
                out += u32::from(earlier.end.is_none());
                (asked_since(earlier, most), delay)
            } else if asked.returned.contains(&earlier.epoch) {
                (asked_since(earlier, most), delay)
            } else {
                // Whoever had it is gone; it may still be answering.
                (Some(earlier.start), earlier.delay)
            };
            assert!(
                since.is_some_and(|since| since + delay <= now),
                "host {host} is asked at {now}, less than {delay} after {earlier:?}"
            );
        }
        assert!(out < most, "host {host} has {out} requests at {now}");
        asked.contacts.push(Contact {
            epoch,
            start: now,
            delay,
            answered: None,
            end: None,
        });
        (host, asked.contacts.len() - 1)
    }

    fn contact(&mut self, request: Request) -> &mut Contact {
        let asked = self.hosts.get_mut(&request.0).expect("it was asked");
        &mut asked.contacts[request.1]
    }

    pub(crate) fn answers(&mut self, request: Request, now: u64) {
        self.contact(request).answered.get_or_insert(now);
    }

    pub(crate) fn ends(&mut self, request: Request, now: u64) {
        self.contact(request).end.get_or_insert(now);
    }

    pub(crate) fn must_wait(&mut self, host: i64, until: u64) {
        let asked = self.hosts.entry(host).or_default();
        asked.wait_until = asked.wait_until.max(until);
    }

    pub(crate) fn is_returned(&mut self, host: i64, epoch: u64) {
        self.hosts.entry(host).or_default().returned.push(epoch);
    }

    pub(crate) fn contacts(&self) -> usize {
        self.hosts.values().map(|asked| asked.contacts.len()).sum()
    }
}

/// From when on the delay to the next request counts; nothing while there may be none.
fn asked_since(earlier: &Contact, per_host: u32) -> Option<u64> {
    if per_host == 1 {
        earlier.end
    } else {
        earlier.answered.or(earlier.end)
    }
}
