//! Documents from the web, one request after another on each host: robots.txt first, then the
//! document, through redirects. Every hop is asked of robots.txt and of the address guard.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex as Held, PoisonError},
    time::Duration,
};

use tokio::{sync::Mutex, time::Instant};
use trawl_fetch::{Accept, Answer, Fetcher, Request};
use trawl_rules::{MAX_ROBOTS_BYTES, RobotsFromStatus, RobotsRules, robots_for_status};
use trawl_types::{HostKey, Outcome, spec::RobotsPolicy};
use url::Url;

use super::Raw;
use crate::{args::ExtractArgs, flags::by_flag, spec};

const MOST_HOPS: usize = 10;
/// RFC 9309 §2.3.1.2
const MOST_ROBOTS_HOPS: usize = 5;
/// RFC 9309 §2.5
/// A little more than is understood, so that a line across the limit is known to be cut.
const MOST_ROBOTS_BYTES: u64 = MAX_ROBOTS_BYTES as u64 + 16;
/// A longer Crawl-delay is not waited for.
const LONGEST_DELAY: Duration = Duration::from_mins(1);

/// What must be remembered of a host between requests.
#[derive(Debug, Default)]
struct Host {
    robots: HashMap<String, Arc<RobotsRules>>,
    next: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct Getter {
    fetcher: Fetcher,
    agent: String,
    policy: RobotsPolicy,
    delay: Duration,
    hosts: Held<HashMap<HostKey, Arc<Mutex<Host>>>>,
}

impl Getter {
    pub(super) fn new(args: &ExtractArgs) -> anyhow::Result<Self> {
        let fetch = super::inputs::limits(spec::fetch_of(&args.requests)?);
        fetch.validate().map_err(by_flag)?;
        Ok(Self {
            agent: fetch.user_agent.robots_name().to_owned(),
            fetcher: Fetcher::new(&fetch).map_err(by_flag)?,
            policy: if args.ignore_robots {
                RobotsPolicy::Ignore
            } else {
                RobotsPolicy::Strict
            },
            delay: args.delay,
            hosts: Held::default(),
        })
    }

    /// The document behind all redirects, or in words why there is none.
    pub(super) async fn get(&self, url: &Url) -> Result<Raw, String> {
        let mut url = url.clone();
        let mut been: Vec<Url> = Vec::new();
        loop {
            url.set_fragment(None);
            let answer = self.ask(&url).await?;
            let head = answer.head();
            let Some(to) = redirect_of(&answer) else {
                if !(200..300).contains(&head.status) {
                    return Err(format!("the server answered with status {}", head.status));
                }
                return raw(url, answer).await;
            };
            let next = url
                .join(&to)
                .map_err(|error| format!("a redirect to {to:?}: {error}"))?;
            been.push(url);
            if been.contains(&next) || been.len() > MOST_HOPS {
                return Err("its redirects lead in a circle or do not end".into());
            }
            url = next;
        }
    }

    async fn ask(&self, url: &Url) -> Result<Answer, String> {
        let host = HostKey::of(url).ok_or_else(|| format!("{url} has no host"))?;
        let host = self.host(host);
        let mut host = host.lock().await;
        let robots = self.robots(&mut host, url).await?;
        if !robots.check(url).is_allowed() {
            return Err(format!(
                "robots.txt does not allow {url} (see --ignore-robots)"
            ));
        }
        let delay = robots.crawl_delay().unwrap_or_default().min(LONGEST_DELAY);
        self.request(&mut host, url, Accept::Any, None, self.delay.max(delay))
            .await
    }

    fn host(&self, key: HostKey) -> Arc<Mutex<Host>> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(hosts.entry(key).or_default())
    }

    async fn request(
        &self,
        host: &mut Host,
        url: &Url,
        accept: Accept,
        max_body: Option<u64>,
        delay: Duration,
    ) -> Result<Answer, String> {
        if let Some(next) = host.next {
            tokio::time::sleep_until(next).await;
        }
        let request = Request {
            accept,
            max_body,
            ..Request::get(url.clone())
        };
        let answer = self.fetcher.start(request).await;
        host.next = Some(Instant::now() + delay);
        answer.map_err(|ended| in_words(&ended.outcome))
    }

    async fn robots(&self, host: &mut Host, url: &Url) -> Result<Arc<RobotsRules>, String> {
        if self.policy == RobotsPolicy::Ignore {
            return Ok(Arc::new(RobotsRules::allow_all()));
        }
        let origin = url.origin().ascii_serialization();
        if let Some(known) = host.robots.get(&origin) {
            return Ok(Arc::clone(known));
        }
        let rules = Arc::new(self.read_robots(host, url).await?);
        host.robots.insert(origin, Arc::clone(&rules));
        Ok(rules)
    }

    async fn read_robots(&self, host: &mut Host, url: &Url) -> Result<RobotsRules, String> {
        let unread = |why: String| format!("robots.txt cannot be read, so nothing may be: {why}");
        let mut at = url.join("/robots.txt").map_err(|error| error.to_string())?;
        for _ in 0..=MOST_ROBOTS_HOPS {
            let most = Some(MOST_ROBOTS_BYTES);
            let asked = self.request(host, &at, Accept::Robots, most, self.delay);
            let answer = asked.await.map_err(unread)?;
            if let Some(to) = redirect_of(&answer) {
                match at.join(&to) {
                    Ok(next) => at = next,
                    Err(_) => break,
                }
                continue;
            }
            let status = answer.head().status;
            return match robots_for_status(status, self.policy) {
                RobotsFromStatus::Parse => {
                    let body = answer.body().await;
                    let body = body.map_err(|ended| unread(in_words(&ended.outcome)))?;
                    if body.truncated && (body.bytes.len() as u64) < MOST_ROBOTS_BYTES {
                        return Err(unread("it breaks off".into()));
                    }
                    Ok(RobotsRules::parse(&body.bytes, &self.agent))
                }
                RobotsFromStatus::DisallowAll => Err(unread(format!("status {status}"))),
                RobotsFromStatus::AllowAll | RobotsFromStatus::Redirect => {
                    Ok(RobotsRules::allow_all())
                }
            };
        }
        // A chain that leads nowhere is a file that is not there.
        Ok(RobotsRules::allow_all())
    }
}

fn redirect_of(answer: &Answer) -> Option<String> {
    let head = answer.head();
    let moved = matches!(head.status, 301 | 302 | 303 | 307 | 308);
    head.location.clone().filter(|_| moved)
}

async fn raw(url: Url, answer: Answer) -> Result<Raw, String> {
    let (head, body) = answer
        .into_parts()
        .await
        .map_err(|ended| in_words(&ended.outcome))?;
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = head.headers.iter();
    Ok(Raw {
        bytes: body.bytes.into(),
        truncated: body.truncated,
        url: Some(url),
        content_type: head.content_type.clone(),
        headers: headers
            .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
            .collect(),
    })
}

fn in_words(outcome: &Outcome) -> String {
    let kind = outcome.kind.as_str().replace('_', " ");
    match outcome.detail.as_str() {
        "" => kind,
        detail => format!("{kind}: {detail}"),
    }
}
