//! `trawl admin` on the real binary, on files and on PostgreSQL.
//!
//! * `backups`: a database file copied while a crawl writes it, and made anew of the copy
//! * `dumps`: the same on PostgreSQL
//! * `duties`: what servers do of this by themselves
//! * `lifecycle`: what is old goes, archives, reports
//! * `buckets`: archives in an S3-compatible store
//! * `repairs`: pages queued again, content and figures made anew
//! * `copying`: a file moved to PostgreSQL

mod backups;
mod buckets;
mod copying;
mod dumps;
mod duties;
mod lifecycle;
mod repairs;

use std::path::Path;

use crate::harness::Trawl;

/// `trawl admin` with a command of its own.
fn admin(command: &str) -> Trawl {
    Trawl::new("admin").arg(command)
}

/// The same on a database, a file or an address.
fn admin_on(command: &str, database: impl AsRef<std::ffi::OsStr>) -> Trawl {
    admin(command).arg("--database").arg(database)
}

/// What the crawls of a file hold, row by row, without the names of files.
fn results(database: &Path) -> Vec<serde_json::Value> {
    let done = Trawl::on("export", database)
        .args([
            "--format",
            "ndjson",
            "--fields",
            "url,outcome,title,content_hash,seq,html",
        ])
        .run()
        .expect_code(0);
    done.json_lines()
}
