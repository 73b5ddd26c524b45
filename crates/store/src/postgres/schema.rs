//! The format of a database: what makes it ours, and how older ones are brought up. Processes that
//! start at the same time take turns.

use trawl_types::KeySecret;

use super::{fault::Fault, pool::Conn};
use crate::contract::StoreError;

/// Migrations in order; the first takes an empty database to format 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../../../../migrations/postgres/0001_first.sql"),
    include_str!("../../../../migrations/postgres/0002_server.sql"),
    include_str!("../../../../migrations/postgres/0003_duties.sql"),
];

/// `trawl`, for those who take turns.
const TURN: i64 = 0x74_72_61_77_6c;

/// Makes sure that the database has the newest format, and gives the secret of its URL keys.
pub(super) async fn prepare(conn: &Conn, place: &str, create: bool) -> Result<KeySecret, Fault> {
    take_turn(conn).await?;
    let known = MIGRATIONS.len() as i64;
    let found = format(conn, place).await?;
    if found > known {
        let path = place.to_owned();
        return Err(StoreError::Newer { path, found, known }.into());
    }
    if found < known && !create {
        return Err(outdated(place, found).into());
    }
    if found < known {
        bring_up(conn, found).await?;
    }
    let secret = conn
        .query_opt("SELECT value FROM meta WHERE key = 'key_secret'", &[])
        .await?;
    let copying = conn
        .query_opt("SELECT 1 FROM meta WHERE key = 'copying'", &[])
        .await?;
    conn.commit().await?;
    if copying.is_some() {
        return Err(StoreError::Database(format!(
            "a copy to {place} has not come to its end: run `trawl admin copy` again"
        ))
        .into());
    }
    let bytes = secret.and_then(|row| <[u8; 16]>::try_from(row.get::<_, &[u8]>(0)).ok());
    bytes.map(KeySecret).ok_or_else(|| {
        let (path, why) = (place.to_owned(), "its key secret is missing".to_owned());
        StoreError::Damaged { path, why }.into()
    })
}

/// Begins a transaction in which nobody else changes the format.
async fn take_turn(conn: &Conn) -> Result<(), Fault> {
    conn.begin().await?;
    conn.run("SET LOCAL statement_timeout = 0").await?;
    let turn = format!("SELECT pg_advisory_xact_lock({TURN})");
    conn.run(&turn).await
}

/// The migrations after a format, and what every store has.
async fn bring_up(conn: &Conn, found: i64) -> Result<(), Fault> {
    for sql in MIGRATIONS.iter().skip(found as usize) {
        conn.run(sql).await?;
    }
    let secret: [u8; 16] = rand::random();
    conn.execute(
        "INSERT INTO meta (key, value) VALUES ('key_secret', $1) ON CONFLICT DO NOTHING",
        &[&&secret[..]],
    )
    .await?;
    let known = MIGRATIONS.len() as i64;
    conn.execute(
        "INSERT INTO meta (key, value) VALUES ('format', $1)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        &[&known.to_string().as_bytes()],
    )
    .await?;
    Ok(())
}

/// Makes the schema in a database with nothing in it, which is then being filled with what has this
/// secret and this fingerprint; `besides` makes further tables.
pub(super) async fn make_for_copy(
    conn: &Conn,
    place: &str,
    secret: KeySecret,
    fingerprint: &str,
    besides: &str,
) -> Result<(), Fault> {
    take_turn(conn).await?;
    let found = format(conn, place).await?;
    bring_up(conn, found).await?;
    let sql = "INSERT INTO meta (key, value) VALUES ('key_secret', $1), ('copying', $2)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    conn.execute(sql, &[&&secret.0[..], &fingerprint.as_bytes()])
        .await?;
    conn.run(besides).await?;
    conn.commit().await
}

fn outdated(place: &str, found: i64) -> StoreError {
    if found == 0 {
        return StoreError::Missing {
            path: place.to_owned(),
        };
    }
    StoreError::Database(format!("{place} has the older format {found}"))
}

/// 0 for a database with nothing in it. What belongs to an extension is nobody's table: hosts of
/// databases like to put some into new ones.
pub(super) async fn format(conn: &Conn, place: &str) -> Result<i64, Fault> {
    let tables = "SELECT count(*), count(*) FILTER (WHERE relname = 'meta') FROM pg_class
                  WHERE relkind IN ('r', 'p', 'v') AND relnamespace = current_schema()::regnamespace
                  AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass
                    AND objid = pg_class.oid AND deptype = 'e')";
    let row = conn.query_one(tables, &[]).await?;
    let (all, ours): (i64, i64) = (row.get(0), row.get(1));
    if all == 0 {
        return Ok(0);
    }
    let found = if ours == 0 {
        None
    } else {
        conn.query_opt("SELECT value FROM meta WHERE key = 'format'", &[])
            .await?
    };
    let number = found.and_then(|row| {
        let text = String::from_utf8(row.get(0)).ok()?;
        text.parse().ok()
    });
    number.ok_or_else(|| {
        StoreError::Foreign {
            path: place.to_owned(),
            why: "it holds tables of another program".into(),
        }
        .into()
    })
}
