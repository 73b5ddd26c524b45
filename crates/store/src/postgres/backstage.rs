//! A database as whoever backs it up or fills it sees it: whole tables, one snapshot, no store.

use std::{collections::BTreeMap, ffi::OsString, time::Duration};

use super::{
    address::{Address, Security},
    fault::Fault,
    pool::{Pool, Taken},
    schema,
};
use crate::{backup::TableFacts, contract::StoreError};

const PATIENCE: Duration = Duration::from_secs(10);

/// Plans for whole tables, and time for them.
const SETTINGS: &str = "SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL enable_seqscan = on;
    SET LOCAL enable_hashjoin = on; SET LOCAL bytea_output = 'hex';
    SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL extra_float_digits = 1";

/// For every table but `workers` and `duties`, which are of processes and not of the store: how many rows, and a sum
/// over them that does not depend on their order.
macro_rules! tables {
    ($($name:literal $row:literal),*) => {
        pub(super) const ROWS: &[(&str, &str)] =
            &[$(($name, concat!("SELECT count(*) FROM ", $name))),*];
        const SUMS: &[(&str, &str)] = &[$(($name, concat!(
            "SELECT count(*), coalesce(sum(('x' || substr(md5(", $row,
            "), 1, 16))::bit(64)::int8::numeric), 0)::text FROM ", $name, " t"
        ))),*];
    };
}

tables! {
    "meta" "t::text",
    "crawls" "t::text",
    "tallies" "t::text",
    "hosts" "t::text",
    "robots" "t::text",
    "crawl_hosts" "t::text",
    "urls" "t::text",
    "crawl_pages" "t::text",
    "page_links" "t::text",
    "results" "t::text",
    "records" "row(t.crawl, t.seq, t.kind, md5(t.record))::text",
    "originals" "t::text",
    "contents" "t::text",
    "jobs" "t::text",
    "api_keys" "t::text",
    "users" "t::text",
    "sessions" "t::text",
    "login_failures" "t::text",
    "activity" "t::text"
}

/// A connection that nobody else uses.
#[derive(Debug)]
pub(crate) struct Backstage {
    pool: Pool,
    conn: Taken,
}

/// The version of a server.
#[derive(Debug)]
pub(crate) struct ServerVersion {
    pub(crate) major: u32,
    pub(crate) text: String,
}

impl Backstage {
    pub(crate) async fn connect(url: &str) -> Result<Self, StoreError> {
        let pool = Pool::new(Address::parse(url)?, 2)?;
        let conn = pool.take(PATIENCE).await;
        let conn = conn.map_err(|fault| fault.at(pool.place()))?;
        Ok(Self { pool, conn })
    }

    pub(crate) fn place(&self) -> &str {
        self.pool.place()
    }

    pub(crate) fn name(&self) -> String {
        let config = &self.pool.address().config;
        let name = config.get_dbname().or(config.get_user());
        name.unwrap_or_default().to_owned()
    }

    /// What libpq must know, for a program that connects by itself.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        self.pool.address().environment()
    }

    fn said<T>(&self, done: Result<T, Fault>) -> Result<T, StoreError> {
        done.map_err(|fault| fault.at(self.place()))
    }

    /// The format of the store, which must be there, and the version of the server.
    pub(crate) async fn versions(&self) -> Result<(i64, ServerVersion), StoreError> {
        let format = self.said(schema::format(&self.conn, self.place()).await)?;
        if format == 0 {
            let path = self.place().to_owned();
            return Err(StoreError::Missing { path });
        }
        let sql = "SELECT current_setting('server_version_num')::int8,
                   current_setting('server_version')";
        let row = self.said(self.conn.query_one(sql, &[]).await)?;
        let version = ServerVersion {
            major: (row.get::<_, i64>(0) / 10_000) as u32,
            text: row.get(1),
        };
        Ok((format, version))
    }

    /// Nothing changes for this connection from here on; gives the name under which others see the same.
    pub(crate) async fn hold_still(&self) -> Result<String, StoreError> {
        let hold = async {
            self.conn.begin().await?;
            let still = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";
            self.conn.run(still).await?;
            self.conn.run(SETTINGS).await?;
            let row = self.conn.query_one("SELECT pg_export_snapshot()", &[]);
            Ok(row.await?.get(0))
        };
        self.said(hold.await)
    }

    pub(crate) async fn let_go(&self) -> Result<(), StoreError> {
        self.said(self.conn.commit().await)
    }

    /// How much there is of every table. Within a transaction of its own unless there is one.
    pub(crate) async fn tables(&self) -> Result<BTreeMap<String, TableFacts>, StoreError> {
        let alone = !self.conn.is_in_transaction();
        let ask = async {
            if alone {
                self.conn.begin().await?;
                self.conn.run(SETTINGS).await?;
            }
            let mut tables = BTreeMap::new();
            for (name, sql) in SUMS {
                let row = self.conn.query_one(sql, &[]).await?;
                let facts = TableFacts {
                    rows: row.get::<_, i64>(0) as u64,
                    checksum: Some(row.get(1)),
                };
                tables.insert((*name).to_owned(), facts);
            }
            if alone {
                self.conn.commit().await?;
            }
            Ok(tables)
        };
        self.said(ask.await)
    }

    /// Whether nothing is there. Tables of others are an error.
    pub(crate) async fn is_empty(&self) -> Result<bool, StoreError> {
        let format = schema::format(&self.conn, self.place()).await;
        Ok(self.said(format)? == 0)
    }

    /// That no process of ours has the database open.
    pub(crate) async fn must_be_unused(&self) -> Result<(), StoreError> {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                   AND pid <> pg_backend_pid() AND application_name = 'trawl'";
        let row = self.said(self.conn.query_one(sql, &[]).await)?;
        match row.get::<_, i64>(0) {
            0 => Ok(()),
            others => Err(StoreError::Locked {
                path: self.place().to_owned(),
                holder: format!("other processes of trawl ({others} connections)"),
            }),
        }
    }

    /// Loans are of processes that know another database: hosts are free again after their delay.
    pub(crate) async fn end_loans(&self) -> Result<(), StoreError> {
        let sql = "UPDATE hosts SET holder = NULL, epoch = epoch + 1,
              ready_at = clock_timestamp() + delay_ms * interval '1 ms'
            WHERE holder IS NOT NULL";
        self.said(self.conn.execute(sql, &[]).await)?;
        Ok(())
    }

    /// Removes the store.
    pub(crate) async fn drop_everything(&self) -> Result<(), StoreError> {
        let names = ROWS.iter().map(|(name, _)| *name);
        let names: Vec<&str> = names.chain(["workers", "duties"]).collect();
        let sql = format!(
            "SET LOCAL statement_timeout = 0; DROP TABLE IF EXISTS {} CASCADE;
             DROP SEQUENCE IF EXISTS commits",
            names.join(", ")
        );
        let drop = async {
            self.conn.begin().await?;
            self.conn.run(&sql).await?;
            self.conn.commit().await
        };
        self.said(drop.await)
    }
}

impl Address {
    fn environment(&self) -> Vec<(&'static str, OsString)> {
        use tokio_postgres::config::Host;
        let mut all: Vec<(&'static str, OsString)> = Vec::new();
        match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => all.push(("PGHOST", name.into())),
            #[cfg(unix)]
            Some(Host::Unix(path)) => all.push(("PGHOST", path.into())),
            None => {}
        }
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        all.push(("PGPORT", port.to_string().into()));
        let texts = [
            ("PGUSER", self.config.get_user()),
            ("PGDATABASE", self.config.get_dbname()),
        ];
        for (name, value) in texts {
            all.extend(value.map(|value| (name, value.into())));
        }
        if let Some(password) = self.config.get_password() {
            let password = String::from_utf8_lossy(password).into_owned();
            all.push(("PGPASSWORD", password.into()));
        }
        let mode = match self.security {
            Security::Disable => "disable",
            Security::Prefer => "prefer",
            Security::Require => "require",
            Security::VerifyCa => "verify-ca",
            Security::VerifyFull => "verify-full",
        };
        all.push(("PGSSLMODE", mode.into()));
        match (&self.root_file, self.security) {
            (Some(file), _) => all.push(("PGSSLROOTCERT", file.into())),
            (None, Security::VerifyFull) => all.push(("PGSSLROOTCERT", "system".into())),
            (None, _) => {}
        }
        all.push(("PGCONNECT_TIMEOUT", "10".into()));
        all.push(("PGAPPNAME", "trawl-admin".into()));
        all
    }
}
