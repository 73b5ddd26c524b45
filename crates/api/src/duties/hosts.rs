//! Hosts that rest although something waits there. Whoever finds something for a host wakes it, mostly in
//! the same transaction; where it is done afterwards, a process may die in between. Crawls that end look
//! once more before they do; the open frontier never ends.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use trawl_store::contract::server::ServerStore;
use trawl_types::UnixMillis;

use super::{Duty, Failed, Work};

const EVERY: Duration = Duration::from_mins(10);

#[derive(Debug)]
struct Hosts {
    store: Arc<dyn ServerStore>,
}

/// Where processes share a store.
pub(crate) fn of(store: &Arc<dyn ServerStore>) -> Option<Duty> {
    store.registry()?;
    Some(Duty {
        name: "hosts",
        every: EVERY,
        work: Arc::new(Hosts {
            store: Arc::clone(store),
        }),
    })
}

#[async_trait]
impl Work for Hosts {
    async fn run(&self, _: UnixMillis) -> Result<String, Failed> {
        let Some(registry) = self.store.registry() else {
            return Ok("nobody else crawls".to_owned());
        };
        let found = registry.recover_loans().await;
        let found = found.map_err(|error| Failed(error.to_string()))?;
        Ok(match found.woken {
            0 => "no host rested by mistake".to_owned(),
            1 => "woken: 1 host".to_owned(),
            some => format!("woken: {some} hosts"),
        })
    }
}
