//! What is old goes, where that is wanted.

use std::sync::Arc;

use async_trait::async_trait;
use trawl_store::contract::{
    server::ServerStore,
    upkeep::{Keeping, clean_up},
};
use trawl_types::UnixMillis;

use super::{Failed, Work};

#[derive(Debug)]
pub(crate) struct Retention {
    pub(crate) store: Arc<dyn ServerStore>,
    pub(crate) keeping: Keeping,
}

#[async_trait]
impl Work for Retention {
    async fn run(&self, now: UnixMillis) -> Result<String, Failed> {
        let cleaned = clean_up(&*self.store, &self.keeping, now, false).await;
        let cleaned = cleaned.map_err(|error| Failed(error.to_string()))?;
        let went: Vec<String> = cleaned
            .iter()
            .filter(|(_, cleaned)| cleaned.rows > 0)
            .map(|(what, cleaned)| format!("{} {}", cleaned.rows, what.as_str()))
            .collect();
        Ok(match went.as_slice() {
            [] => "nothing was old".to_owned(),
            some => format!("removed: {}", some.join(", ")),
        })
    }
}
