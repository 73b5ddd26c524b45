//! Where a server remembers everything: a file, or a PostgreSQL database that several processes share.
//! Picks the adapters. The address of a database may hold a password, so it is shown to nobody.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use trawl_store::{
    OpenOptions, PostgresOptions, PostgresStore, SqliteAccountWriter, SqliteStore, Store,
    contract::{accounts::AccountWriter, server::ServerStore},
};

use crate::{commands::worker, exit::BadInput};

/// Longer than any address.
const LONGEST: u64 = 64 * 1024;

/// A database that was named.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Database {
    File(PathBuf),
    /// Begins with `postgres://` or `postgresql://`.
    Url(String),
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.fmt(f),
            Self::Url(url) => f.write_str(&hidden(url)),
        }
    }
}

/// Whether a name is the address of a database, not that of a file.
pub(crate) fn is_url(name: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| {
        name.get(..scheme.len())
            .is_some_and(|s| s.eq_ignore_ascii_case(scheme))
    })
}

/// Whether a text is an address that may hold a password.
pub(crate) fn may_hold_a_password(text: &str) -> bool {
    let text = text.trim_start().to_ascii_lowercase();
    let schemes = ["postgres://", "postgresql://", "redis://", "rediss://"];
    schemes.iter().any(|scheme| text.starts_with(scheme))
}

/// An address without the name and password in it.
pub(crate) fn hidden(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (_, place) = rest.rsplit_once('@').unwrap_or(("", rest));
    let place = place.split('?').next().unwrap_or_default();
    let user = if place.len() < rest.len() {
        "[redacted]@"
    } else {
        ""
    };
    format!("{scheme}://{user}{place}")
}

/// The address that stands in a file.
pub(crate) fn address_in(path: &Path) -> Result<String, BadInput> {
    use std::io::Read;
    let name = path.display();
    let cannot = |why: String| BadInput(format!("cannot read an address in {name}: {why}"));
    let file = std::fs::File::open(path).map_err(|error| cannot(error.to_string()))?;
    let mut text = String::new();
    file.take(LONGEST)
        .read_to_string(&mut text)
        .map_err(|error| cannot(error.to_string()))?;
    match text.trim() {
        "" => Err(cannot("it is empty".into())),
        text => Ok(text.to_owned()),
    }
}

/// For what only files have.
pub(crate) fn must_be_a_file(path: &Path) -> Result<(), BadInput> {
    match path.to_str() {
        Some(name) if is_url(name) => Err(BadInput(
            "this works on a database file, not on PostgreSQL: name a file with --database, or ask \
             the server (trawl serve) that uses the shared database"
                .into(),
        )),
        _ => Ok(()),
    }
}

impl Database {
    pub(crate) fn parse(name: &str) -> Self {
        if is_url(name) {
            Self::Url(name.to_owned())
        } else {
            Self::File(PathBuf::from(name))
        }
    }

    /// What a file says, so that no command line and no environment holds a password.
    pub(crate) fn from_file(path: &Path) -> Result<Self, BadInput> {
        Ok(Self::parse(&address_in(path)?))
    }

    /// Opens a store for a server, made if it is not there, and what writes its accounts. With a
    /// `loan`, the server crawls as well; in a file it always does.
    pub(crate) async fn open_server_store(
        &self,
        loan: Option<Duration>,
    ) -> anyhow::Result<ServerDatabaseParts> {
        match self {
            Self::File(path) => {
                let options = OpenOptions {
                    command: "trawl serve".into(),
                    ..OpenOptions::default()
                };
                Ok(ServerDatabaseParts {
                    store: Arc::new(SqliteStore::open(path, &options)?),
                    accounts: Arc::new(SqliteAccountWriter::new(path)),
                    shared: None,
                })
            }
            Self::Url(url) => {
                let store = match loan {
                    Some(loan) => worker::open(url, loan).await?,
                    None => PostgresStore::open(url, PostgresOptions::default()).await?,
                };
                let store = Arc::new(store);
                Ok(ServerDatabaseParts {
                    accounts: Arc::clone(&store) as Arc<dyn AccountWriter>,
                    shared: loan.map(|_| Arc::clone(&store)),
                    store,
                })
            }
        }
    }

    /// Opens a store that is there, to look after it. Who only looks disturbs nobody.
    pub(crate) async fn open_to_look_after(
        &self,
        command: &str,
        only_looks: bool,
    ) -> anyhow::Result<Arc<dyn ServerStore>> {
        match self {
            Self::File(path) => {
                if !path.exists() {
                    let message = format!(
                        "there is no database {}: name one with --database",
                        path.display()
                    );
                    return Err(BadInput(message).into());
                }
                if only_looks {
                    return Ok(Arc::new(SqliteStore::open_read_only(path)?));
                }
                let options = OpenOptions {
                    create: false,
                    command: format!("trawl admin {command}"),
                    ..OpenOptions::default()
                };
                Ok(Arc::new(SqliteStore::open(path, &options)?))
            }
            Self::Url(url) => {
                let options = PostgresOptions {
                    create: false,
                    connections: 4,
                    ..PostgresOptions::default()
                };
                Ok(Arc::new(PostgresStore::open(url, options).await?))
            }
        }
    }

    /// What writes keys and users, also while servers run. Makes the database if it is to.
    pub(crate) async fn open_accounts(
        &self,
        create: bool,
    ) -> anyhow::Result<Arc<dyn AccountWriter>> {
        match self {
            Self::File(path) => {
                if create && !path.exists() {
                    let store = SqliteStore::open(path, &OpenOptions::default())?;
                    store.close().await?;
                }
                Ok(Arc::new(SqliteAccountWriter::new(path)))
            }
            Self::Url(url) => {
                let options = PostgresOptions {
                    create,
                    connections: 2,
                    ..PostgresOptions::default()
                };
                Ok(Arc::new(PostgresStore::open(url, options).await?))
            }
        }
    }
}

/// What a server is started with.
#[derive(Debug)]
pub(crate) struct ServerDatabaseParts {
    pub(crate) store: Arc<dyn ServerStore>,
    pub(crate) accounts: Arc<dyn AccountWriter>,
    /// From where this server crawls as one of several.
    pub(crate) shared: Option<Arc<PostgresStore>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_from_a_file_by_its_beginning() {
        for url in ["postgres://h/db", "postgresql://u:p@h/db", "Postgres://h"] {
            assert!(matches!(Database::parse(url), Database::Url(_)), "{url}");
        }
        for file in ["trawl.db", "postgres", "/x/postgres:db", "https://x", "ü"] {
            assert!(matches!(Database::parse(file), Database::File(_)), "{file}");
        }
    }

    #[test]
    fn no_password_is_shown() {
        for url in [
            "postgres://me:5ecret@h:5432/db",
            "postgres://me:5ecret/with@signs@h:5432/db?sslmode=require",
            "postgres://me@h:5432/db?password=5ecret",
        ] {
            assert_eq!(hidden(url), "postgres://[redacted]@h:5432/db", "{url}");
            let shown = format!("{:?}", Database::parse(url));
            assert!(!shown.contains("5ecret"), "{shown}");
        }
        assert_eq!(hidden("postgres://h/db"), "postgres://h/db");
    }

    #[test]
    fn an_address_may_stand_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("url");
        std::fs::write(&path, "postgres://u:p@h/db\n").unwrap();
        let found = Database::from_file(&path).unwrap();
        assert_eq!(found, Database::Url("postgres://u:p@h/db".into()));
        std::fs::write(&path, " \n").unwrap();
        Database::from_file(&path).unwrap_err();
        Database::from_file(&folder.path().join("none")).unwrap_err();
    }
}
