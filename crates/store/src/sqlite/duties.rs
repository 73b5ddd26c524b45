//! What servers do by themselves, and how far crawls were archived: small notes of the writer.

use async_trait::async_trait;
use rusqlite::{Connection, Row, params};
use trawl_types::{CrawlId, Sequence, UnixMillis};

use super::{SqliteStore, fault::Fault, writer::Command};
use crate::contract::{
    StoreError,
    duties::{Duties, DutyRow, Taking},
};

/// What the writer is to note.
#[derive(Debug)]
pub(crate) enum Note {
    Taken(Taking),
    Held {
        name: String,
        holder: String,
        until: UnixMillis,
    },
    Ended {
        name: String,
        holder: String,
        ended: Result<String, String>,
        now: UnixMillis,
    },
    Archived(CrawlId, Sequence),
}

#[async_trait]
impl Duties for SqliteStore {
    async fn duties(&self) -> Result<Vec<DutyRow>, StoreError> {
        self.pool.ask(all).await
    }

    async fn take_duty(&self, taking: Taking) -> Result<bool, StoreError> {
        self.tell(|reply| Command::Note(Note::Taken(taking), reply))
            .await
    }

    async fn hold_duty(
        &self,
        name: &str,
        holder: &str,
        until: UnixMillis,
    ) -> Result<bool, StoreError> {
        let note = Note::Held {
            name: name.to_owned(),
            holder: holder.to_owned(),
            until,
        };
        self.tell(|reply| Command::Note(note, reply)).await
    }

    async fn end_duty(
        &self,
        name: &str,
        holder: &str,
        ended: Result<String, String>,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        let note = Note::Ended {
            name: name.to_owned(),
            holder: holder.to_owned(),
            ended,
            now,
        };
        self.tell(|reply| Command::Note(note, reply)).await
    }
}

fn all(conn: &Connection) -> Result<Vec<DutyRow>, Fault> {
    let mut statement = conn.prepare_cached(
        "SELECT name, holder, held_until, begun_at, ended_at, succeeded_at, result, error
         FROM duties ORDER BY name",
    )?;
    let rows = statement.query_map([], duty)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn duty(row: &Row<'_>) -> rusqlite::Result<DutyRow> {
    Ok(DutyRow {
        name: row.get(0)?,
        holder: row.get(1)?,
        held_until: UnixMillis(row.get(2)?),
        begun_at: UnixMillis(row.get(3)?),
        ended_at: row.get::<_, Option<i64>>(4)?.map(UnixMillis),
        succeeded_at: row.get::<_, Option<i64>>(5)?.map(UnixMillis),
        result: row.get(6)?,
        error: row.get(7)?,
    })
}

pub(super) fn archived(conn: &Connection, crawl: CrawlId) -> Result<Sequence, Fault> {
    let sql = "SELECT coalesce(max(archived), 0) FROM crawls WHERE id = ?1";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(Sequence(statement.query_row([crawl.0], |row| row.get(0))?))
}

/// Whether it was still so when it was noted.
pub(super) fn write(conn: &Connection, note: &Note) -> Result<bool, Fault> {
    let noted = match note {
        Note::Taken(taking) => conn.execute(
            "INSERT INTO duties (name, holder, held_until, begun_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,
               held_until = excluded.held_until, begun_at = excluded.begun_at
             WHERE begun_at IS ?5 AND (holder IS NULL OR held_until <= ?4)",
            params![
                taking.name,
                taking.holder,
                taking.until.0,
                taking.now.0,
                taking.seen.map(|at| at.0)
            ],
        )?,
        Note::Held {
            name,
            holder,
            until,
        } => conn.execute(
            "UPDATE duties SET held_until = ?3 WHERE name = ?1 AND holder = ?2",
            params![name, holder, until.0],
        )?,
        Note::Ended {
            name,
            holder,
            ended,
            now,
        } => conn.execute(
            "UPDATE duties SET holder = NULL, ended_at = ?3, error = ?5,
             succeeded_at = CASE WHEN ?5 IS NULL THEN ?3 ELSE succeeded_at END,
             result = coalesce(?4, result) WHERE name = ?1 AND holder = ?2",
            params![
                name,
                holder,
                now.0,
                ended.as_ref().ok(),
                ended.as_ref().err()
            ],
        )?,
        Note::Archived(crawl, through) => conn.execute(
            "UPDATE crawls SET archived = max(archived, ?2) WHERE id = ?1",
            [crawl.0, through.0],
        )?,
    };
    Ok(noted > 0)
}
