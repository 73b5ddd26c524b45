//! Servers in temporary directories, on spare ports: PostgreSQL here, Redis in [`redis`]. A shell watches
//! each: see `watched`. A [`road`] leads there that can be made worse.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod redis;
mod road;
mod watched;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use tokio_postgres::NoTls;

pub use redis::Redis;
pub use road::Road;
use watched::Watched;
pub use watched::spare_port;

const WATCH: &str = r#"
trap '' INT TERM HUP
data=$1 bin=$2 port=$3
start() {
  "$bin/postgres" -D "$data/db" -p "$port" -k "$data" -h 127.0.0.1 -c fsync=off \
    -c full_page_writes=off -c shared_buffers=64MB -c max_connections=200 -c log_lock_waits=on \
    -c restart_after_crash=off >>"$data/log" 2>&1 </dev/null &
  pid=$!
}
crash() { kill -QUIT "$pid"; wait "$pid"; }
start
echo "$data"
while read -r order; do
  "$order"
  echo done
done
crash
rm -rf "$data"
"#;

/// A running server. It stops when this is dropped.
#[derive(Debug)]
pub struct Server {
    port: u16,
    watched: Watched,
    model: tokio::sync::OnceCell<()>,
    databases: AtomicU32,
}

/// Where Debian and others put the programs; the newest version first.
fn programs() -> PathBuf {
    let mut found: Vec<PathBuf> = ["/usr/lib/postgresql", "/usr/local/lib/postgresql"]
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    found.sort();
    let elsewhere = || {
        let asked = Command::new("pg_config").arg("--bindir").output().ok()?;
        Some(PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim()))
    };
    found
        .pop()
        .or_else(elsewhere)
        .expect("PostgreSQL is installed: run ci/packages")
}

/// A command as a user that PostgreSQL accepts: not as root.
fn command(program: &Path) -> Command {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout != b"0\n" {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=postgres", "--regid=postgres", "--clear-groups"])
        .arg(program)
        .current_dir("/");
    command
}

fn run(mut command: Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn new_folder() -> String {
    let mut make = command(Path::new("mktemp"));
    let pattern = std::env::temp_dir().join("trawl-postgres-XXXXXX");
    make.arg("-d").arg(pattern);
    run(make)
}

/// An empty cluster as an archive: made once, it is quicker to unpack than to make.
fn cluster(bin: &Path, cache: &Path) -> PathBuf {
    let version = run({
        let mut ask = Command::new(bin.join("postgres"));
        ask.arg("--version");
        ask
    });
    let version: String = version.chars().filter(char::is_ascii_digit).collect();
    let archive = cache.join(format!("cluster-{version}.tar"));
    if !archive.exists() {
        let folder = new_folder();
        let mut init = command(&bin.join("initdb"));
        init.args(["-D", &format!("{folder}/db"), "-U", "trawl", "-E", "UTF8"]);
        init.args(["--locale=C", "-A", "trust", "-N", "--wal-segsize=1"]);
        run(init);
        let half = archive.with_extension(std::process::id().to_string());
        let mut pack = command(Path::new("tar"));
        pack.args(["-cf", "-", "-C", &folder, "db"]);
        pack.stdout(File::create(&half).unwrap());
        assert!(pack.status().unwrap().success());
        fs::rename(half, &archive).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
    archive
}

impl Server {
    /// An empty cluster is kept in `cache`, and its copies are started.
    pub fn start(cache: &Path) -> Self {
        let bin = programs();
        let archive = cluster(&bin, cache);
        let data = new_folder();
        let mut unpack = command(Path::new("tar"));
        unpack.args(["-xf", "-", "-C", &data]);
        unpack.stdin(File::open(archive).unwrap());
        assert!(unpack.status().unwrap().success());
        let port = spare_port();
        let mut watch = command(Path::new("sh"));
        watch.args(["-c", WATCH, "sh", &data]);
        watch.arg(bin).arg(port.to_string());
        Self {
            port,
            watched: Watched::start(watch),
            model: tokio::sync::OnceCell::new(),
            databases: AtomicU32::new(0),
        }
    }

    fn url(&self, name: &str) -> String {
        let port = self.port;
        format!("postgres://trawl:s3cret@127.0.0.1:{port}/{name}?sslmode=disable")
    }

    /// The URL of a database with nothing in it.
    pub async fn empty_database(&self) -> String {
        self.ready().await;
        self.new_database("template1").await
    }

    /// The URL of a database with what `make` puts into one of that URL; asked the first time only.
    pub async fn database(&self, make: impl AsyncFnOnce(String)) -> String {
        self.model.get_or_init(|| self.make_model(make)).await;
        self.new_database("model").await
    }

    async fn new_database(&self, template: &str) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
        self.sql("postgres", &sql).await;
        self.url(&name)
    }

    async fn make_model(&self, make: impl AsyncFnOnce(String)) {
        self.ready().await;
        self.sql("postgres", "CREATE DATABASE model").await;
        make(self.url("model")).await;
        // Connections end a moment after they were given up.
        let gone = "DO $$ BEGIN WHILE EXISTS (SELECT 1 FROM pg_stat_activity
                    WHERE datname = 'model') LOOP PERFORM pg_sleep(0.01);
                    PERFORM pg_stat_clear_snapshot(); END LOOP; END $$";
        self.sql("postgres", gone).await;
    }

    /// Waits until the server answers.
    pub async fn ready(&self) {
        for _ in 0..600 {
            if tokio_postgres::connect(&self.url("postgres"), NoTls)
                .await
                .is_ok()
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("PostgreSQL does not start");
    }

    /// Statements in one of its databases.
    pub async fn sql(&self, database: &str, sql: &str) {
        let (client, connection) = tokio_postgres::connect(&self.url(database), NoTls)
            .await
            .unwrap();
        tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
    }

    /// A connection of its own that has done this; it lasts until it is dropped.
    pub async fn session(&self, database: &str, sql: &str) -> tokio_postgres::Client {
        let (client, connection) = tokio_postgres::connect(&self.url(database), NoTls)
            .await
            .unwrap();
        tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
        client
    }

    /// `stop -m immediate`: as if the machine had lost its memory.
    pub fn crash(&self) {
        self.watched.order("crash");
    }

    /// After a crash.
    pub fn start_again(&self) {
        self.watched.order("start");
    }
}
