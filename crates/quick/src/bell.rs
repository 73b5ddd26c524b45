//! Whoever follows a crawl is woken when it has moved. A wake-up says nothing but that it is time to
//! look: what is to be seen stands in the store, so a wake-up that is lost delays and changes nothing.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::StreamExt;
use redis::{Msg, RedisResult};
use tokio::{
    sync::{
        mpsc::{Receiver, Sender, channel},
        watch,
    },
    time::timeout,
};

use crate::link::{Link, pause};

/// Rung instead of a crawl when what runs has changed: something began, was paused or is to go on.
pub const WHAT_RUNS: i64 = 0;

const CHANNEL: &str = "events";
/// Rings that wait to be passed on; more are dropped.
const MOST_WAITING: usize = 4096;
/// Crawls of one message.
const MOST_TOGETHER: usize = 256;
/// Rings within this long after one that was passed on are passed on together.
const GATHER: Duration = Duration::from_millis(20);
/// A connection on which nothing was heard for so long is asked whether it is still there.
const QUIET: Duration = Duration::from_secs(5);

/// Wakes those who follow crawls, in this process and, through Redis, in others.
#[derive(Debug)]
pub struct Bell {
    followers: Mutex<HashMap<i64, watch::Sender<()>>>,
    /// To other processes.
    outwards: Option<Sender<i64>>,
    /// Whether rings of other processes are heard.
    hears: AtomicBool,
    /// Known from others by it.
    id: u64,
}

impl Bell {
    pub(crate) fn here() -> Self {
        Self {
            followers: Mutex::default(),
            outwards: None,
            hears: AtomicBool::new(false),
            id: rand::random(),
        }
    }

    pub(crate) fn between(link: Arc<Link>) -> Arc<Self> {
        let (outwards, rings) = channel(MOST_WAITING);
        let bell = Arc::new(Self {
            outwards: Some(outwards),
            ..Self::here()
        });
        tokio::spawn(pass_on(Arc::clone(&link), bell.id, rings));
        tokio::spawn(hear(link, Arc::downgrade(&bell)));
        bell
    }

    /// A crawl has moved. Never waits.
    pub fn ring(&self, crawl: i64) {
        self.wake(crawl);
        if let Some(outwards) = &self.outwards {
            let _ = outwards.try_send(crawl);
        }
    }

    /// Changes whenever it is time to look at a crawl.
    pub fn follow(&self, crawl: i64) -> watch::Receiver<()> {
        let mut followers = self.followers();
        // Those whose followers have left are forgotten.
        followers.retain(|_, ring| ring.receiver_count() > 0);
        let ring = followers
            .entry(crawl)
            .or_insert_with(|| watch::channel(()).0);
        ring.subscribe()
    }

    /// Whether rings of other processes are heard just now.
    pub fn hears_others(&self) -> bool {
        self.hears.load(Ordering::Relaxed)
    }

    fn followers(&self) -> MutexGuard<'_, HashMap<i64, watch::Sender<()>>> {
        self.followers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, crawl: i64) {
        if let Some(ring) = self.followers().get(&crawl) {
            ring.send_replace(());
        }
    }

    fn wake_all(&self) {
        for ring in self.followers().values() {
            ring.send_replace(());
        }
    }

    fn take(&self, message: &Msg) {
        let Ok(text) = std::str::from_utf8(message.get_payload_bytes()) else {
            return;
        };
        let mut words = text.split(' ');
        let sender = words
            .next()
            .and_then(|word| u64::from_str_radix(word, 16).ok());
        if sender == Some(self.id) {
            return;
        }
        for crawl in words
            .take(MOST_TOGETHER)
            .filter_map(|word| word.parse().ok())
        {
            self.wake(crawl);
        }
    }
}

/// Tells other processes. What cannot be told is not told later either: they look by themselves.
async fn pass_on(link: Arc<Link>, id: u64, mut rings: Receiver<i64>) {
    let channel = link.key(CHANNEL);
    while let Some(first) = rings.recv().await {
        let mut crawls = BTreeSet::from([first]);
        while crawls.len() < MOST_TOGETHER {
            let Ok(crawl) = rings.try_recv() else { break };
            crawls.insert(crawl);
        }
        let words: Vec<String> = crawls.iter().map(i64::to_string).collect();
        let message = format!("{id:x} {}", words.join(" "));
        let mut publish = redis::cmd("PUBLISH");
        publish.arg(&channel).arg(message);
        let _ = link.ask::<i64>(&publish).await;
        tokio::time::sleep(GATHER).await;
    }
}

/// Listens to other processes, for as long as anybody has use for it.
async fn hear(link: Arc<Link>, bell: Weak<Bell>) {
    let mut attempt = 0;
    while bell.strong_count() > 0 {
        let heard = listen(&link, &bell).await;
        let Some(bell) = bell.upgrade() else { return };
        let was_heard = bell.hears.swap(false, Ordering::Relaxed);
        attempt = if was_heard { 0 } else { attempt + 1 };
        if let Err(error) = heard {
            tracing::debug!(%error, "other processes are not heard");
        }
        drop(bell);
        tokio::time::sleep(pause(attempt)).await;
    }
}

async fn listen(link: &Link, bell: &Weak<Bell>) -> RedisResult<()> {
    let late = |_| std::io::Error::from(std::io::ErrorKind::TimedOut);
    let opened = timeout(QUIET, async {
        let mut connection = link.listen().await?;
        connection.subscribe(link.key(CHANNEL)).await?;
        RedisResult::Ok(connection)
    });
    let (mut sink, mut messages) = opened.await.map_err(late)??.split();
    if let Some(bell) = bell.upgrade() {
        bell.hears.store(true, Ordering::Relaxed);
        // Whatever happened meanwhile was not heard.
        bell.wake_all();
    }
    loop {
        match timeout(QUIET, messages.next()).await {
            Ok(None) => return Ok(()),
            Ok(Some(message)) => match bell.upgrade() {
                Some(bell) => bell.take(&message),
                None => return Ok(()),
            },
            Err(_) if bell.strong_count() == 0 => return Ok(()),
            Err(_) => {
                timeout(QUIET, sink.ping::<redis::Value>())
                    .await
                    .map_err(late)??;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_wakes_those_who_follow_that_crawl_and_nobody_else() {
        let bell = Bell::here();
        let (one, other) = (bell.follow(1), bell.follow(2));
        bell.ring(1);
        assert!(one.has_changed().unwrap());
        assert!(!other.has_changed().unwrap());
    }

    #[test]
    fn those_who_have_left_are_forgotten() {
        let bell = Bell::here();
        for crawl in 0..100 {
            drop(bell.follow(crawl));
        }
        let _last = bell.follow(100);
        assert_eq!(bell.followers().len(), 1);
    }
}
