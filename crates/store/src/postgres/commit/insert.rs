//! The statements of the first transaction. Every one inserts in the order of keys and does nothing where
//! somebody was quicker.

use rustc_hash::FxHashSet;
use trawl_types::{HostId, PageId};

use super::{
    links::NewRow,
    search::{Candidate, Standing},
    work::{Work, detail},
};
use crate::{
    postgres::{
        PostgresStore,
        fault::Fault,
        identity::{first_choice, next_choice},
        pool::Conn,
        tallies::{self, Changes, slot_of},
        text::{Said, said},
    },
    shared::codes::chain_to_blob,
};

/// Hosts that wait for nothing have something to be asked for now. Not only those whose time is
/// infinity: one that was found empty once is about to be looked at for the last time.
pub(in crate::postgres) const WAKE: &str = "WITH idle AS MATERIALIZED (
      SELECT h.id FROM unnest($1::int8[]) n(id) JOIN hosts h ON h.id = n.id
      WHERE h.empties > 0 ORDER BY h.id FOR UPDATE OF h)
    UPDATE hosts h SET empties = 0, ready_at = CASE WHEN h.holder IS NULL
      THEN greatest(h.free_at, clock_timestamp()) ELSE h.ready_at END
    FROM idle WHERE h.id = idle.id";

/// Who commits what is written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// With the last statements, in one message: others wait for the rows until then.
    AtOnce,
    ByTheCaller,
}

/// Gives the pages whose rows were written here and by nobody else.
pub(super) async fn write(
    conn: &Conn,
    store: &PostgresStore,
    work: &Work,
    found: &[Candidate],
    rows: &[NewRow],
    ending: Ending,
) -> Result<FxHashSet<PageId>, Fault> {
    let mut sorted: Vec<&NewRow> = rows
        .iter()
        .filter(|row| !matches!(found[row.at].standing, Standing::Ours))
        .collect();
    sorted.sort_unstable_by_key(|row| row.page);
    // On their way together, and done in this order: nothing is left to be prepared in between.
    for sql in [ADD_URLS, STILL, ADD_ROWS, ADD_HOSTS, tallies::ADD, WAKE] {
        conn.prepare(sql).await?;
    }
    let relied_on = relied_on(found, &sorted);
    let ((), (), inserted, ()) = tokio::try_join!(biased;
        add_urls(conn, work, found, &sorted),
        make_sure(conn, &relied_on),
        add_rows(conn, work, found, &sorted),
        add_hosts(conn, store, work, found, &sorted),
    )?;
    let mut changes = Changes::default();
    let mut admitted: Vec<i64> = Vec::new();
    for row in sorted.iter().filter(|row| inserted.contains(&row.page)) {
        changes.discover();
        if let Some(reason) = &row.refusal {
            changes.refuse(reason.code);
        } else {
            changes.admit();
            admitted.push(row.host.0);
        }
    }
    admitted.sort_unstable();
    admitted.dedup();
    changes.hosts(add_crawl_hosts(conn, store, work, &admitted).await?);
    let wake = async {
        if !admitted.is_empty() {
            conn.execute(WAKE, &[&admitted]).await?;
        }
        Ok(())
    };
    let slot = slot_of(work.number);
    let tallies = tallies::write(conn, work.batch.crawl, slot, &changes);
    let commit = async {
        match ending {
            Ending::AtOnce => conn.commit().await,
            Ending::ByTheCaller => Ok(()),
        }
    };
    tokio::try_join!(biased; tallies, wake, commit)?;
    Ok(inserted)
}

pub(super) const ADD_URLS: &str = "INSERT INTO urls (page, key_host, key_url, url)
    SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::text[])
    ON CONFLICT DO NOTHING RETURNING page";

async fn add_urls(
    conn: &Conn,
    work: &Work,
    found: &[Candidate],
    rows: &[&NewRow],
) -> Result<(), Fault> {
    let free = rows
        .iter()
        .map(|row| &found[row.at])
        .filter(|candidate| matches!(candidate.standing, Standing::Free));
    let free: Vec<&Candidate> = free.collect();
    if free.is_empty() {
        return Ok(());
    }
    let pages: Vec<i64> = free.iter().map(|c| c.page.0).collect();
    let hosts: Vec<i64> = free.iter().map(|c| c.key.host.cast_signed()).collect();
    let urls: Vec<i64> = free.iter().map(|c| c.key.url.cast_signed()).collect();
    let texts = free
        .iter()
        .map(|c| Said(work.link(c.place).target.address()));
    let texts: Vec<Said<'_>> = texts.collect();
    let added = conn
        .query(ADD_URLS, &[&pages, &hosts, &urls, &texts])
        .await?;
    if added.len() == free.len() {
        return Ok(());
    }
    // Somebody was quicker, most likely with the same URLs. If with others, numbers must be chosen anew.
    let added: FxHashSet<i64> = added.iter().map(|row| row.get(0)).collect();
    let late = free.iter().filter(|c| !added.contains(&c.page.0));
    let late: Vec<&&Candidate> = late.collect();
    let pages: Vec<i64> = late.iter().map(|c| c.page.0).collect();
    let hosts: Vec<i64> = late.iter().map(|c| c.key.host.cast_signed()).collect();
    let urls: Vec<i64> = late.iter().map(|c| c.key.url.cast_signed()).collect();
    let sql = "SELECT count(*) FROM unnest($1::int8[], $2::int8[], $3::int8[]) n(page, host, url)
        JOIN urls u ON u.page = n.page WHERE u.key_host <> n.host OR u.key_url <> n.url";
    let row = conn.query_one(sql, &[&pages, &hosts, &urls]).await?;
    if row.get::<_, i64>(0) > 0 {
        conn.roll_back().await?;
        return Err(Fault::Overtaken);
    }
    Ok(())
}

/// Numbers that were found taken before the transaction began, and must still be: those of pages that
/// other crawls know, and those that were passed over because they are others'.
fn relied_on(found: &[Candidate], rows: &[&NewRow]) -> Vec<i64> {
    let mut pages = Vec::new();
    for candidate in rows.iter().map(|row| &found[row.at]) {
        let mut passed = first_choice(candidate.key);
        while passed != candidate.page {
            pages.push(passed.0);
            passed = next_choice(passed);
        }
        if matches!(candidate.standing, Standing::Elsewhere) {
            pages.push(candidate.page.0);
        }
    }
    pages
}

const STILL: &str =
    "SELECT count(*) FROM unnest($1::int8[]) n(page) JOIN urls u ON u.page = n.page";

/// What nothing refers to is removed now and then: where that has just happened, pages are looked up
/// anew.
async fn make_sure(conn: &Conn, pages: &[i64]) -> Result<(), Fault> {
    if pages.is_empty() {
        return Ok(());
    }
    let there: i64 = conn.query_one(STILL, &[&pages]).await?.get(0);
    if there < pages.len() as i64 {
        conn.roll_back().await?;
        return Err(Fault::Overtaken);
    }
    Ok(())
}

pub(super) const ADD_ROWS: &str =
    "INSERT INTO crawl_pages (crawl, page, host, rank, born, discovered_at, parent, depth,
      state, score, reason, reason_detail, chain)
    SELECT $1, n.page, n.host, n.rank, n.born, $2, n.parent, n.depth, n.state, n.score,
      n.reason, n.detail, n.chain
    FROM unnest($3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int4[],
      $9::int2[], $10::int2[], $11::int2[], $12::text[], $13::bytea[])
      n(page, host, rank, born, parent, depth, state, score, reason, detail, chain)
    ON CONFLICT DO NOTHING RETURNING page";

async fn add_rows(
    conn: &Conn,
    work: &Work,
    found: &[Candidate],
    rows: &[&NewRow],
) -> Result<FxHashSet<PageId>, Fault> {
    if rows.is_empty() {
        return Ok(FxHashSet::default());
    }
    let pages: Vec<i64> = rows.iter().map(|row| row.page.0).collect();
    let hosts: Vec<i64> = rows.iter().map(|row| row.host.0).collect();
    let ranks: Vec<i64> = rows.iter().map(|row| row.rank).collect();
    let born: Vec<i64> = rows.iter().map(|row| row.born).collect();
    let parents = rows.iter().map(|row| found[row.at].parent.map(|p| p.0));
    let parents: Vec<Option<i64>> = parents.collect();
    let depths: Vec<i32> = rows.iter().map(|row| row.depth as i32).collect();
    let states: Vec<i16> = rows.iter().map(|row| row.state() as i16).collect();
    let scores: Vec<i16> = rows.iter().map(|row| i16::from(row.score)).collect();
    let reasons = rows.iter().map(|row| row.refusal.as_ref());
    let codes: Vec<Option<i16>> = reasons.clone().map(|r| r.map(|r| r.code as i16)).collect();
    let details: Vec<Option<Said<'_>>> = reasons.map(|r| said(r.and_then(detail))).collect();
    let chains = rows.iter().map(|row| &work.link(found[row.at].place).chain);
    let chains: Vec<Option<Vec<u8>>> = chains.map(|chain| chain_to_blob(chain)).collect();
    let added = conn
        .query(
            ADD_ROWS,
            &[
                &work.batch.crawl.0,
                &work.batch.now.0,
                &pages,
                &hosts,
                &ranks,
                &born,
                &parents,
                &depths,
                &states,
                &scores,
                &codes,
                &details,
                &chains,
            ],
        )
        .await?;
    Ok(added.iter().map(|row| PageId(row.get(0))).collect())
}

/// A host that was removed and is known again must not repeat its numbers of loans: they begin with the
/// time.
pub(super) const ADD_HOSTS: &str = "INSERT INTO hosts (id, name, epoch)
    SELECT n.id, n.name, (extract(epoch FROM clock_timestamp()) * 1000)::int8
    FROM unnest($1::int8[], $2::text[]) n(id, name)
    WHERE NOT EXISTS (SELECT 1 FROM hosts h WHERE h.id = n.id)
    ORDER BY n.id ON CONFLICT DO NOTHING";

/// Hosts are idle until a page of theirs is admitted.
async fn add_hosts(
    conn: &Conn,
    store: &PostgresStore,
    work: &Work,
    found: &[Candidate],
    rows: &[&NewRow],
) -> Result<(), Fault> {
    let mut hosts: Vec<(i64, &str)> = {
        let mut memory = store.remembered();
        let unknown = rows
            .iter()
            .filter(|row| memory.hosts.get(&row.host).is_none());
        let name = |row: &&&NewRow| work.link(found[row.at].place).target.host();
        unknown.map(|row| (row.host.0, name(&row))).collect()
    };
    if hosts.is_empty() {
        return Ok(());
    }
    hosts.sort_unstable_by_key(|(id, _)| *id);
    hosts.dedup_by_key(|(id, _)| *id);
    let ids: Vec<i64> = hosts.iter().map(|(id, _)| *id).collect();
    let names: Vec<Said<'_>> = hosts.iter().map(|(_, name)| Said(name)).collect();
    conn.execute(ADD_HOSTS, &[&ids, &names]).await?;
    Ok(())
}

/// The hosts belong to the crawl from now on; gives how many did not before.
async fn add_crawl_hosts(
    conn: &Conn,
    store: &PostgresStore,
    work: &Work,
    hosts: &[i64],
) -> Result<u64, Fault> {
    let crawl = work.batch.crawl;
    let unknown: Vec<i64> = {
        let mut memory = store.remembered();
        let known = |host: i64| memory.crawl_hosts.get(&(crawl, HostId(host))).is_some();
        let mut known = known;
        hosts.iter().copied().filter(|host| !known(*host)).collect()
    };
    if unknown.is_empty() {
        return Ok(0);
    }
    let sql = "INSERT INTO crawl_hosts (crawl, host)
        SELECT $1, n.host FROM unnest($2::int8[]) n(host)
        WHERE NOT EXISTS (SELECT 1 FROM crawl_hosts c WHERE c.crawl = $1 AND c.host = n.host)
        ORDER BY n.host ON CONFLICT DO NOTHING";
    conn.execute(sql, &[&crawl.0, &unknown]).await
}
