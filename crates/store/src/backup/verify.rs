//! A backup looked through without making a store of it: checksums, counts, and whether every record can
//! be read.

use std::{collections::BTreeMap, path::Path};

use rusqlite::Connection;

use super::{
    dump,
    error::BackupError,
    files,
    manifest::{Kind, Manifest, TableFacts},
    sqlite::{self, BODIES, DATABASE, SEARCH},
};
use crate::{
    segment::{BodyRef, fetch::Records},
    sqlite::Fault,
};

/// What is told at most of one kind of trouble.
const TOLD: usize = 10;

/// A backup that holds what it says it holds.
#[derive(Debug)]
pub struct Verified {
    pub manifest: Manifest,
    /// Bodies and content that were read.
    pub records: u64,
    /// Those that the store had lost before the backup was made.
    pub lost: u64,
}

/// Reads all of a backup. Blocks.
pub fn verify(folder: &Path) -> Result<Verified, BackupError> {
    let manifest = Manifest::read(folder)?;
    must_be_whole(folder, &manifest)?;
    let (counts, records, lost) = match manifest.kind {
        Kind::Sqlite => look_through(folder, &manifest)?,
        Kind::Postgres => dump::look_through(folder)?,
    };
    let problems = differences(&manifest, &counts);
    if problems.is_empty() {
        return Ok(Verified {
            manifest,
            records,
            lost,
        });
    }
    Err(damaged(folder, problems))
}

fn damaged(folder: &Path, problems: Vec<String>) -> BackupError {
    let path = folder.display().to_string();
    BackupError::Damaged { path, problems }
}

/// That every file is there and is what it was when the backup was made.
pub(super) fn must_be_whole(folder: &Path, manifest: &Manifest) -> Result<(), BackupError> {
    let mut problems = Vec::new();
    for file in &manifest.files {
        let name = &file.name;
        match files::facts_of(folder, name) {
            Ok(found) if found == *file => {}
            Ok(found) if found.bytes != file.bytes => problems.push(format!(
                "{name} has {} bytes instead of {}",
                found.bytes, file.bytes
            )),
            Ok(_) => problems.push(format!("{name} does not have its checksum")),
            Err(BackupError::Io { source, .. }) => problems.push(format!("{name}: {source}")),
            Err(error) => return Err(error),
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let more = problems.len().saturating_sub(TOLD);
    problems.truncate(TOLD);
    if more > 0 {
        problems.push(format!("and {more} more"));
    }
    Err(damaged(folder, problems))
}

/// Tables that hold more or less than they should.
pub(super) fn differences(
    manifest: &Manifest,
    found: &BTreeMap<String, TableFacts>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, wanted) in &manifest.tables {
        let rows = found.get(name).map_or(0, |facts| facts.rows);
        let sum = found.get(name).and_then(|facts| facts.checksum.as_ref());
        if rows != wanted.rows {
            problems.push(format!(
                "table {name} has {rows} rows instead of {}",
                wanted.rows
            ));
        } else if sum.is_some() && sum != wanted.checksum.as_ref() {
            problems.push(format!("table {name} does not have its checksum"));
        }
    }
    problems
}

type Looked = (BTreeMap<String, TableFacts>, u64, u64);

fn look_through(folder: &Path, manifest: &Manifest) -> Result<Looked, BackupError> {
    let place = tempfile::tempdir().map_err(BackupError::io(&std::env::temp_dir()))?;
    let plain = place.path().join("database.db");
    files::unpack(&folder.join(DATABASE), &plain)?;
    let conn = sqlite::open(&plain)?;
    must_be_sound(folder, &conn, DATABASE)?;
    let counts = sqlite::counts(&conn, &plain)?;
    let (records, lost) = read_records(&conn, &folder.join(BODIES), &plain)?;
    drop(conn);
    if manifest.has(SEARCH) {
        files::unpack(&folder.join(SEARCH), &plain)?;
        must_be_sound(folder, &sqlite::open(&plain)?, SEARCH)?;
    }
    Ok((counts, records, lost))
}

fn must_be_sound(folder: &Path, conn: &Connection, name: &str) -> Result<(), BackupError> {
    let check = conn.query_row("PRAGMA integrity_check(1)", [], |row| {
        row.get::<_, String>(0)
    });
    match check {
        Ok(said) if said == "ok" => Ok(()),
        Ok(said) => Err(damaged(folder, vec![format!("{name}: {said}")])),
        Err(error) => Err(damaged(folder, vec![format!("{name}: {error}")])),
    }
}

/// Every body and content, in the order in which they lie.
fn read_records(
    conn: &Connection,
    bodies: &Path,
    database: &Path,
) -> Result<(u64, u64), BackupError> {
    let read = || -> Result<(u64, u64), Fault> {
        let mut statement = conn.prepare(
            "SELECT body_segment, body_offset, body_length, body_crc, body_within, 0 FROM results
             WHERE body_segment IS NOT NULL
             UNION SELECT segment, offset, length, crc, within, 1 FROM contents
             WHERE segment IS NOT NULL ORDER BY 1, 2",
        )?;
        let mut rows = statement.query([])?;
        let kept = Records::of(bodies.to_owned());
        let (mut records, mut lost) = (0, 0);
        while let Some(row) = rows.next()? {
            let reference = BodyRef {
                segment: row.get(0)?,
                offset: row.get::<_, i64>(1)? as u64,
                length: row.get::<_, i64>(2)? as u64,
                crc: row.get(3)?,
                within: row.get(4)?,
            };
            let decoded = match row.get::<_, i64>(5)? {
                0 => kept.body(reference),
                _ => kept.content(reference),
            };
            // Its file has its checksum, so it was so before.
            records += 1;
            lost += u64::from(!matches!(decoded, Ok(Some(_))));
        }
        Ok((records, lost))
    };
    Ok(read().map_err(|fault| fault.at(database))?)
}
