//! A connection for a small change beside the writer: keys and accounts can be changed by another
//! process while a server runs. It leaves the log alone: the checkpointer writes it back, after the
//! bodies that its rows refer to.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{BUSY_TIMEOUT, fault::Fault, open, schema};
use crate::contract::StoreError;

#[derive(Debug)]
pub(super) struct Side {
    conn: Connection,
    path: PathBuf,
}

impl Side {
    /// Opens a database that is there; one of an older format is brought up first.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let open = || -> Result<Connection, Fault> {
            open::must_exist(path)?;
            let connect = || -> Result<Connection, Fault> {
                let conn = Connection::open(path)?;
                conn.busy_timeout(BUSY_TIMEOUT)?;
                conn.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")?;
                Ok(conn)
            };
            let conn = connect()?;
            if !schema::is_older(&conn, path)? {
                schema::check(&conn, path)?;
                return Ok(conn);
            }
            drop(conn);
            open::bring_up(path)?;
            connect()
        };
        Ok(Self {
            conn: open().map_err(|fault| fault.at(path))?,
            path: path.to_owned(),
        })
    }

    pub(super) fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        question(&self.conn).map_err(|fault| fault.at(&self.path))
    }

    /// Changes something in one transaction.
    pub(super) fn change<T>(
        &mut self,
        change: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let conn = &mut self.conn;
        let work = || -> Result<T, Fault> {
            let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let done = change(&tx)?;
            tx.commit()?;
            Ok(done)
        };
        work().map_err(|fault| fault.at(&self.path))
    }
}
