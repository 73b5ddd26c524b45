//! How a store on PostgreSQL is opened. Knows no SQL.

use std::time::Duration;

/// How a database is opened.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// Make the schema where the database is empty, and bring an older one up.
    pub create: bool,
    /// Borrow hosts, as a worker does. Without, nothing is fenced and [`Store::loans`] gives nothing:
    /// for servers that do not crawl, and for whoever has the database to itself.
    ///
    /// [`Store::loans`]: crate::Store::loans
    pub loans: Option<LoanOptions>,
    /// Connections open at once.
    pub connections: usize,
    /// How long questions of a server wait for a database that cannot be reached.
    pub patience: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            create: true,
            loans: None,
            connections: 10,
            patience: Duration::from_secs(2),
        }
    }
}

/// How hosts are borrowed.
#[derive(Debug, Clone)]
pub struct LoanOptions {
    /// Who borrows: unique among the processes of this database, so made anew with each start.
    pub worker: String,
    /// How long a loan lasts if it is not renewed.
    pub lasts: Duration,
    /// How often loans are renewed.
    pub renewed_every: Duration,
    /// An idle host is looked at once more after this, for what was being written when it was found
    /// idle. Longer than any transaction takes.
    pub second_look: Duration,
}

impl LoanOptions {
    /// The usual times.
    pub fn new(worker: impl Into<String>) -> Self {
        Self {
            worker: worker.into(),
            lasts: Duration::from_mins(1),
            renewed_every: Duration::from_secs(20),
            second_look: Duration::from_secs(10),
        }
    }

    /// Loans of another length, renewed at a third of it.
    #[must_use]
    pub fn lasting(mut self, lasts: Duration) -> Self {
        self.lasts = lasts;
        self.renewed_every = lasts / 3;
        self
    }
}
