//! What a database holds at this instant. Read from a copy: opening the original would replay its
//! log and so hide from the program what a crash left behind.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

/// Names a file of the database has beside it.
const FILES: [&str; 2] = ["", "-wal"];

/// A copy of the files, not looked into yet.
#[derive(Debug)]
pub(crate) struct Copy(tempfile::TempDir);

#[derive(Debug)]
pub(crate) struct Snapshot {
    conn: Connection,
    _copy: Copy,
}

impl Copy {
    /// Copies the database, if there is one; nobody may be writing to it.
    pub(crate) fn of(database: &Path) -> Self {
        let copy = Self(tempfile::tempdir().unwrap());
        for ending in FILES {
            let name = |path: &Path| format!("{}{ending}", path.display());
            if Path::new(&name(database)).exists() {
                fs::copy(name(database), name(&copy.database())).unwrap();
            }
        }
        copy
    }

    fn database(&self) -> PathBuf {
        self.0.path().join("copy.db")
    }

    pub(crate) fn open(self) -> Snapshot {
        Snapshot {
            conn: Connection::open(self.database()).unwrap(),
            _copy: self,
        }
    }
}

impl Snapshot {
    /// What the database holds now.
    pub(crate) fn of(database: &Path) -> Self {
        Copy::of(database).open()
    }

    /// False while the process that should make the database has not got that far.
    pub(crate) fn has_tables(&self) -> bool {
        self.number("SELECT count(*) FROM sqlite_schema") > 0
    }

    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.conn
            .query_row(sql, [], |row| row.get(0))
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub(crate) fn texts(&self, sql: &str) -> HashSet<String> {
        let mut statement = self.conn.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// URLs whose visit has ended, in any crawl.
    pub(crate) fn done(&self) -> HashSet<String> {
        self.texts(
            "SELECT url FROM crawl_pages JOIN urls ON urls.id = page WHERE crawl_pages.state = 2",
        )
    }

    /// Fails unless the file is sound and its counters agree with its rows.
    #[track_caller]
    pub(crate) fn assert_sound(&self) {
        let check: String = self
            .conn
            .query_row("PRAGMA quick_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(check, "ok");
        if !self.has_tables() {
            return;
        }
        for (what, sql) in [
            (
                "pages with two results in a crawl",
                "SELECT count(*) - count(DISTINCT crawl || ' ' || page) FROM results",
            ),
            (
                "results beside the crawl's last number",
                "SELECT count(*) FROM crawls WHERE last_seq !=
                   (SELECT count(*) FROM results WHERE crawl = crawls.id)
                 OR last_seq != (SELECT coalesce(max(seq), 0) FROM results WHERE crawl = crawls.id)",
            ),
            (
                "finished pages without their result",
                "SELECT count(*) FROM crawl_pages WHERE state = 2 AND NOT EXISTS
                   (SELECT 1 FROM results WHERE results.crawl = crawl_pages.crawl
                    AND results.page = crawl_pages.page)",
            ),
            (
                "results whose page still waits",
                "SELECT count(*) FROM results JOIN crawl_pages USING (crawl, page) WHERE state != 2",
            ),
            (
                "crawls whose counters are wrong",
                "SELECT count(*) FROM crawls WHERE
                   pending != (SELECT count(*) FROM crawl_pages WHERE crawl = id AND state = 0)
                   OR done != (SELECT count(*) FROM crawl_pages WHERE crawl = id AND state = 2)
                   OR discovered != (SELECT count(*) FROM crawl_pages WHERE crawl = id)",
            ),
            (
                "edges from or to nowhere",
                "SELECT count(*) FROM edges WHERE NOT EXISTS (SELECT 1 FROM urls WHERE id = src)
                   OR NOT EXISTS (SELECT 1 FROM urls WHERE id = dst)",
            ),
        ] {
            assert_eq!(self.number(sql), 0, "{what}");
        }
    }
}
