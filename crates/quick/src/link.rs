//! One connection to Redis. Every question has a time limit; after some failures in a row nobody asks any
//! more, and a task of its own looks for Redis until it is back. So a Redis that is away costs those
//! who ask a few short waits, and then nothing.

use std::{
    fmt,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use redis::{
    AsyncConnectionConfig, Cmd, FromRedisValue, Pipeline, RedisError, RedisResult,
    aio::{MultiplexedConnection, PubSub},
};
use tokio::{net::TcpStream, sync::Notify, time::timeout};

use crate::{RedisOptions, Standing, breaker::Breaker};

/// Between two attempts to find Redis again: doubles from the first to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Time limits of one attempt.
const LOOKING: Duration = Duration::from_secs(2);

/// Redis gave no answer that could be used. Whoever asked goes on without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Away;

pub(crate) struct Link {
    pub(crate) options: RedisOptions,
    breaker: Mutex<Breaker>,
    open: Mutex<Option<Open>>,
    /// One at a time connects, the others wait for it.
    connecting: tokio::sync::Mutex<()>,
    broken: Notify,
}

/// A connection; numbered, so that one that failed is not taken for its successor.
#[derive(Clone)]
struct Open {
    number: u64,
    connection: MultiplexedConnection,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    pub(crate) fn start(options: RedisOptions) -> Arc<Self> {
        let link = Arc::new(Self {
            options,
            breaker: Mutex::default(),
            open: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
            broken: Notify::new(),
        });
        tokio::spawn(mend(Arc::downgrade(&link)));
        link
    }

    /// A name under the prefix.
    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}{name}", self.options.prefix)
    }

    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Away> {
        self.within(|mut connection| async move { command.query_async(&mut connection).await })
            .await
    }

    pub(crate) async fn ask_all<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, Away> {
        self.within(|mut connection| async move { commands.query_async(&mut connection).await })
            .await
    }

    /// Asks something on the connection, unless nobody asks any more.
    pub(crate) async fn within<T, F>(
        &self,
        question: impl FnOnce(MultiplexedConnection) -> F,
    ) -> Result<T, Away>
    where
        F: Future<Output = RedisResult<T>> + Send,
    {
        if lock(&self.breaker).why_open().is_some() {
            return Err(Away);
        }
        self.try_now(question).await.map_err(|why| {
            self.failed(&why);
            Away
        })
    }

    async fn try_now<T, F>(
        &self,
        question: impl FnOnce(MultiplexedConnection) -> F,
    ) -> Result<T, String>
    where
        F: Future<Output = RedisResult<T>> + Send,
    {
        let mut number = None;
        let asked = timeout(self.options.timeout, async {
            let open = self.connection().await?;
            number = Some(open.number);
            question(open.connection).await
        });
        let why = match asked.await {
            Ok(Ok(answer)) => {
                lock(&self.breaker).worked();
                return Ok(answer);
            }
            Ok(Err(error)) => in_words(&error),
            Err(_) => "no answer in time".into(),
        };
        // The next one gets a connection that nothing is known against.
        let mut open = lock(&self.open);
        if open.as_ref().map(|open| open.number) == number {
            *open = None;
        }
        Err(why)
    }

    fn failed(&self, why: &str) {
        if lock(&self.breaker).failed(why) {
            let address = &self.options.address;
            tracing::warn!(redis = %address, why, "Redis is away; this process goes on without");
            self.broken.notify_one();
        }
    }

    async fn connection(&self) -> RedisResult<Open> {
        if let Some(open) = lock(&self.open).clone() {
            return Ok(open);
        }
        let _turn = self.connecting.lock().await;
        if let Some(open) = lock(&self.open).clone() {
            return Ok(open);
        }
        let connection = self.connect().await?;
        let number = rand::random();
        let fresh = Open { number, connection };
        *lock(&self.open) = Some(fresh.clone());
        Ok(fresh)
    }

    async fn connect(&self) -> RedisResult<MultiplexedConnection> {
        let (login, config) = (&self.options.address.login, AsyncConnectionConfig::new());
        // Time limits are ours.
        let config = config.set_response_timeout(None);
        let stream = self.dial().await?;
        let Some((tls, name)) = &self.options.address.tls else {
            let opened = MultiplexedConnection::new_with_config(login, stream, config).await?;
            return Ok(driven(opened.0, opened.1));
        };
        let stream = tls.connect(name.clone(), stream).await?;
        let opened = MultiplexedConnection::new_with_config(login, stream, config).await?;
        Ok(driven(opened.0, opened.1))
    }

    /// A connection on which others are listened to.
    pub(crate) async fn listen(&self) -> RedisResult<PubSub> {
        let login = &self.options.address.login;
        let stream = self.dial().await?;
        match &self.options.address.tls {
            None => PubSub::new(login, stream).await,
            Some((tls, name)) => {
                let stream = tls.connect(name.clone(), stream).await?;
                PubSub::new(login, stream).await
            }
        }
    }

    async fn dial(&self) -> RedisResult<TcpStream> {
        let address = &self.options.address;
        let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Asks Redis how it is; where nobody asks any more, that is the answer.
    pub(crate) async fn standing(&self) -> Standing {
        if let Some(why) = lock(&self.breaker).why_open() {
            return Standing::Away(why.to_owned());
        }
        match self.ping().await {
            Ok(()) => Standing::Well,
            Err(why) => {
                self.failed(&why);
                Standing::Away(why)
            }
        }
    }

    async fn ping(&self) -> Result<(), String> {
        self.try_now(|mut connection| async move {
            redis::cmd("PING")
                .query_async::<String>(&mut connection)
                .await
        })
        .await
        .map(drop)
    }
}

/// The connection ends with the last of its handles.
fn driven(
    connection: MultiplexedConnection,
    driver: impl Future<Output = ()> + Send + 'static,
) -> MultiplexedConnection {
    tokio::spawn(driver);
    connection
}

/// What Redis says about a login is no secret; where it is stands beside it in the log.
fn in_words(error: &RedisError) -> String {
    let text: String = error.to_string().chars().take(200).collect();
    text.replace(['\r', '\n'], " ")
}

/// How long to wait before the next attempt. Jitter keeps those who failed together apart.
pub(crate) fn pause(attempt: u32) -> Duration {
    let longest = FIRST_PAUSE
        .saturating_mul(1 << attempt.min(10))
        .min(LONGEST_PAUSE)
        .as_millis() as u64;
    Duration::from_millis(rand::random_range(longest / 2..=longest))
}

/// Looks for Redis whenever it is away.
async fn mend(link: Weak<Link>) {
    loop {
        let Some(known) = link.upgrade() else { return };
        // Wakes up now and then to see whether anybody still needs it.
        let broken = timeout(LONGEST_PAUSE, known.broken.notified()).await;
        drop(known);
        if broken.is_err() {
            continue;
        }
        for attempt in 0.. {
            tokio::time::sleep(pause(attempt)).await;
            let Some(link) = link.upgrade() else { return };
            let found = timeout(LOOKING, link.ping()).await;
            if let Ok(Ok(())) = found {
                lock(&link.breaker).close();
                tracing::info!(redis = %link.options.address, "Redis is back");
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_within_ten_seconds() {
        for attempt in 0..40 {
            let pause = pause(attempt);
            assert!(
                pause >= FIRST_PAUSE / 2 && pause <= LONGEST_PAUSE,
                "{attempt}"
            );
        }
        assert!(pause(9) >= LONGEST_PAUSE / 2);
    }
}
