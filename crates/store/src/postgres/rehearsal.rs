//! A process that is going to crawl opens its connections and has its statements planned before there is
//! something to crawl. Tables of many partitions take long to plan for; done when the first crawl begins,
//! on every connection of every worker at once, it would keep the database busy for half a second.

use super::{LOOKUPS, PostgresStore, borrowing, commit, crawls, fault::Fault, pool::Taken, reader};
use crate::contract::StoreError;

impl PostgresStore {
    /// Changes nothing. What fails here is tried again when it is needed.
    pub async fn rehearse(&self) -> Result<(), StoreError> {
        let done = self.rehearse_all().await;
        done.map_err(|fault| fault.at(self.pool.place()))
    }

    async fn rehearse_all(&self) -> Result<(), Fault> {
        self.for_commits()
            .await?
            .plan(&commit::statements())
            .await?;
        let questions = [crawls::ASLEEP, commit::WAKE, reader::HOSTS];
        self.patiently().await?.plan(&questions).await?;
        // At the same time: a connection that goes back is the one that is taken next.
        let mut lenders: Vec<Taken> = Vec::new();
        for _ in 0..LOOKUPS {
            lenders.push(self.for_loans().await?);
        }
        for conn in &lenders {
            conn.plan(&of_loans()).await?;
        }
        Ok(())
    }
}

fn of_loans() -> [&'static str; 4] {
    [
        borrowing::lend_from_all(),
        borrowing::GIVE_BACK,
        reader::HOSTS,
        reader::PENDING,
    ]
}
