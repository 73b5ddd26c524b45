//! Segment files that no visit refers to any more. A file that is not the newest gets no further
//! references, since only what is there can be referred to again; so what a reader found
//! unreferenced stays so, and its file may go at any later moment. Whatever a process leaves behind
//! that ends in the middle, the next sweep finds.

use std::{collections::BTreeSet, fs};

use rusqlite::Connection;

use super::{
    SqliteStore,
    fault::Fault,
    open::referenced,
    writer::{Command, Writer},
};
use crate::{
    contract::{StoreError, overview::Swept},
    segment::{self, append::End},
};

impl SqliteStore {
    pub(super) async fn sweep_segments(&self) -> Result<Swept, StoreError> {
        let folder = segment::folder(&self.path);
        let found = self
            .pool
            .ask(move |conn| {
                let Some(end) = referenced(conn)? else {
                    return Ok(None);
                };
                let used = used(conn)?;
                let numbers = segment::numbers(&folder)?;
                let unused = numbers
                    .into_iter()
                    .filter(|number| *number <= end.segment && !used.contains(number));
                Ok(Some((unused.collect::<Vec<_>>(), end)))
            })
            .await?;
        match found {
            Some((unused, end)) if !unused.is_empty() => {
                self.tell(|reply| Command::RemoveSegments(unused, end, reply))
                    .await
            }
            _ => Ok(Swept::default()),
        }
    }
}

/// Segments that rows refer to, in one pass over them.
pub(crate) fn used(conn: &Connection) -> Result<BTreeSet<u32>, Fault> {
    let mut statement = conn.prepare_cached(
        "SELECT DISTINCT body_segment FROM results WHERE body_segment IS NOT NULL
         UNION SELECT DISTINCT segment FROM contents WHERE segment IS NOT NULL",
    )?;
    let numbers = statement.query_map([], |row| row.get(0))?;
    Ok(numbers.collect::<Result<_, _>>()?)
}

impl Writer {
    /// `end` is where the newest file ended when references were looked for: if it has grown since,
    /// it is in use again.
    pub(super) fn remove_segments(&mut self, numbers: &[u32], end: End) -> Result<Swept, Fault> {
        let newest_is_free = self.bodies.end() == end && numbers.contains(&end.segment);
        if newest_is_free {
            let next = self.bodies.leave_segment();
            self.conn.execute(
                "INSERT OR REPLACE INTO segments (number, bytes) VALUES (?1, ?2)",
                [i64::from(next.segment), next.offset as i64],
            )?;
        }
        let newest = self.bodies.end().segment;
        // What was deleted must not come back without its bodies when the power fails.
        self.restart_log();
        let mut swept = Swept::default();
        for number in numbers.iter().filter(|number| **number < newest) {
            let path = segment::folder(&self.path).join(segment::file_name(*number));
            let bytes = fs::metadata(&path).map_or(0, |meta| meta.len());
            match fs::remove_file(&path) {
                Ok(()) => {
                    swept.segments += 1;
                    swept.bytes += bytes;
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
            self.conn.execute(
                "DELETE FROM segments WHERE number = ?1",
                [i64::from(*number)],
            )?;
        }
        Ok(swept)
    }
}
