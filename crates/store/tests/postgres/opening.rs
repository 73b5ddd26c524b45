//! Databases that are new, foreign or newer; jobs, keys and workers.

use trawl_store::{
    PostgresOptions, PostgresStore, Store, StoreError,
    conformance::web::{NOW, breadth, fetched, link},
    contract::{
        accounts::AccountWriter,
        duties::Duties,
        jobs::{JobFilter, JobStore, KeyRow, NewJob},
        workers::{WorkerRegistry, WorkerRow},
    },
};
use trawl_types::{CrawlSpec, CrawlState, Sequence, UnixMillis};

use crate::{
    rows::number,
    server,
    web::{commit, page, plain_store},
};

async fn open(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open(url, PostgresOptions::default()).await
}

async fn empty(name: &str) -> String {
    let server = server::shared();
    let model = server.database().await;
    server
        .sql("postgres", &format!("CREATE DATABASE {name}"))
        .await;
    let (start, _) = model.rsplit_once('/').unwrap();
    format!("{start}/{name}?sslmode=disable")
}

#[tokio::test]
async fn processes_that_start_together_make_the_schema_once() {
    let url = empty("together").await;
    let all = (0..6).map(|_| open(&url));
    let stores = futures_util::future::join_all(all).await;
    let secrets: Vec<_> = stores
        .into_iter()
        .map(|store| store.unwrap().key_secret())
        .collect();
    assert!(secrets.iter().all(|secret| *secret == secrets[0]));
}

#[tokio::test]
async fn an_empty_database_is_left_alone_unless_it_may_be_filled() {
    let url = empty("left_alone").await;
    let options = PostgresOptions {
        create: false,
        ..PostgresOptions::default()
    };
    let refused = PostgresStore::open(&url, options).await.unwrap_err();
    assert!(matches!(refused, StoreError::Missing { .. }), "{refused}");
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    assert_eq!(number(&url, tables).await, 0);
}

#[tokio::test]
async fn a_database_of_another_program_and_a_newer_one_are_refused() {
    let url = empty("foreign_one").await;
    server::shared()
        .sql("foreign_one", "CREATE TABLE customers (id int)")
        .await;
    let error = open(&url).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    let url = empty("newer_one").await;
    drop(open(&url).await.unwrap());
    let newer = "UPDATE meta SET value = '999' WHERE key = 'format'";
    server::shared().sql("newer_one", newer).await;
    let error = open(&url).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 999, .. }),
        "{error}"
    );
}

fn job(id: &str, idempotency: Option<&str>) -> NewJob {
    NewJob {
        id: id.into(),
        owner: "owner".into(),
        kind: "spider".into(),
        request: "{}".into(),
        idempotency: idempotency.map(Into::into),
    }
}

#[tokio::test]
async fn jobs_are_listed_found_again_and_removed_with_all_that_is_theirs() {
    let url = server::shared().database().await;
    let store = plain_store(&url).await;
    let spec = CrawlSpec::default();
    let mut crawls = Vec::new();
    for (id, key) in [("one", Some("k")), ("two", None)] {
        let seeds = vec![link(&store, id)];
        let begun = store.create_crawl(&spec, "", seeds, breadth(), Some(job(id, key)), NOW);
        crawls.push(begun.await.unwrap());
    }
    let (all, total) = store
        .jobs(JobFilter {
            owner: Some("owner".into()),
            states: vec![CrawlState::Running],
            limit: 1,
            ..JobFilter::default()
        })
        .await
        .unwrap();
    assert_eq!((all.len(), total, all[0].id.as_str()), (1, 2, "two"));
    let found = store.job_by_idempotency("owner", "k").await.unwrap();
    assert_eq!(found.unwrap().crawl.id, crawls[0]);
    let twice = store.create_crawl(
        &spec,
        "",
        Vec::new(),
        breadth(),
        Some(job("three", Some("k"))),
        NOW,
    );
    assert!(twice.await.is_err(), "the same text is the same job");
    let first = page(&store, crawls[0], &link(&store, "one")).await;
    commit(
        &store,
        crawls[0],
        vec![fetched(first, vec![link(&store, "x")])],
    )
    .await;
    assert_eq!(store.job("one").await.unwrap().unwrap().counts.done, 1);
    assert!(store.delete_job("one").await.unwrap());
    assert!(!store.delete_job("one").await.unwrap());
    assert!(store.job("one").await.unwrap().is_none());
    assert!(store.crawl(crawls[0]).await.is_err());
    let log = store.results(crawls[0], Sequence(0), 9).await.unwrap();
    assert!(log.is_empty());
    assert_eq!(store.counts(crawls[1]).await.unwrap().pending, 1);
}

#[tokio::test]
async fn keys_are_kept_and_revoked_once() {
    let url = server::shared().database().await;
    let store = plain_store(&url).await;
    let key = KeyRow {
        id: "k1".into(),
        name: "a \0 name".into(),
        hash: vec![0, 1, 255],
        scope: "read".into(),
        per_minute: Some(7),
        created_at: UnixMillis(5),
        expires_at: None,
        revoked_at: None,
    };
    store.add_key(&key).await.unwrap();
    assert_eq!(store.key("k1").await.unwrap(), Some(key.clone()));
    assert!(store.revoke_key("k1", UnixMillis(9)).await.unwrap());
    assert!(!store.revoke_key("k1", UnixMillis(10)).await.unwrap());
    let keys = JobStore::keys(&store).await.unwrap();
    assert_eq!(keys[0].revoked_at, Some(UnixMillis(9)));
}

#[tokio::test]
async fn workers_are_known_while_they_say_so() {
    let url = server::shared().database().await;
    let store = plain_store(&url).await;
    let worker = |id: &str, at| WorkerRow {
        id: id.into(),
        host: "machine".into(),
        version: "0.1.0".into(),
        started_at: UnixMillis(at),
        heartbeat_at: UnixMillis(at),
        doing: "{}".into(),
    };
    store.register_worker(worker("b", 2)).await.unwrap();
    store.register_worker(worker("a", 1)).await.unwrap();
    let beat = store.beat("b", r#"{"crawls":1}"#, UnixMillis(8));
    assert!(beat.await.unwrap());
    assert!(!store.beat("c", "{}", UnixMillis(8)).await.unwrap());
    let known = store.workers().await.unwrap();
    assert_eq!(known[0], worker("a", 1));
    assert_eq!(known[1].heartbeat_at, UnixMillis(8));
    assert_eq!(known[1].doing, r#"{"crawls":1}"#);
    assert!(store.remove_worker("a").await.unwrap());
    assert!(!store.remove_worker("a").await.unwrap());
    assert_eq!(store.workers().await.unwrap().len(), 1);
}

/// Takes a database back to an older format, with all that this one had room for.
const TAKE_BACK: &str = "
    ALTER SCHEMA public RENAME TO newest; CREATE SCHEMA public; {migrations}
    DO $$ DECLARE t text; c text; BEGIN
      FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
          AND relkind IN ('r', 'p') AND NOT relispartition LOOP
        SELECT string_agg(quote_ident(a.attname), ', ') INTO c FROM pg_attribute a
          WHERE a.attrelid = format('public.%I', t)::regclass AND a.attnum > 0
          AND NOT a.attisdropped AND a.attgenerated = '';
        EXECUTE format('INSERT INTO public.%I (%s) OVERRIDING SYSTEM VALUE
          SELECT %s FROM newest.%I', t, c, c, t);
      END LOOP;
      FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
          AND relkind = 'S' LOOP
        EXECUTE format('SELECT setval(''public.%I'', (SELECT last_value FROM newest.%I))', t, t);
      END LOOP;
    END $$;
    UPDATE meta SET value = '{format}' WHERE key = 'format';
    DROP SCHEMA newest CASCADE";

const OLDER: [&str; 2] = [
    include_str!("../../../../migrations/postgres/0001_first.sql"),
    include_str!("../../../../migrations/postgres/0002_server.sql"),
];

#[tokio::test]
async fn a_database_of_an_older_format_is_brought_up_and_its_crawls_go_on() {
    for format in 1..=OLDER.len() {
        let name = format!("of_format_{format}");
        let url = empty(&name).await;
        let store = open(&url).await.unwrap();
        let seeds = vec![link(&store, "a"), link(&store, "b")];
        let spec = CrawlSpec::default();
        let begun = store.create_crawl(
            &spec,
            "old",
            seeds.clone(),
            breadth(),
            Some(job("old", None)),
            NOW,
        );
        let crawl = begun.await.unwrap();
        let first = page(&store, crawl, &seeds[0]).await;
        let links = vec![link(&store, "c")];
        commit(&store, crawl, vec![fetched(first, links)]).await;
        let results = store.results(crawl, Sequence(0), 10).await.unwrap();
        let counts = store.counts(crawl).await.unwrap();
        drop(store);
        let sql = TAKE_BACK
            .replace("{migrations}", &OLDER[..format].concat())
            .replace("{format}", &format.to_string());
        server::shared().sql(&name, &sql).await;

        let store = open(&url).await.unwrap();
        let after = store.results(crawl, Sequence(0), 10).await.unwrap();
        assert_eq!(after, results, "format {format}");
        assert_eq!(store.counts(crawl).await.unwrap(), counts);
        store.reopen_crawl(crawl, breadth()).await.unwrap();
        let second = page(&store, crawl, &seeds[1]).await;
        let links = vec![link(&store, "c"), link(&store, "d")];
        let done = commit(&store, crawl, vec![fetched(second, links)]).await;
        assert_eq!(done.last_seq, Some(Sequence(2)));
        assert_eq!((done.counts.done, done.counts.pending), (2, 2));
        assert!(store.delete_job("old").await.unwrap());
        assert!(store.duties().await.unwrap().is_empty());
    }
}
