//! What nothing refers to any more goes, and nothing else does.

use trawl_types::{CrawlState, ReasonCode, UnixMillis};

use super::web::{Crawl, NOW, breadth, link, refused};
use crate::contract::{
    Store,
    overview::Overview,
    upkeep::{Ageing, Upkeep, clean},
};

/// After everything that happens here.
const LATER: UnixMillis = UnixMillis(NOW.0 + 10 * 86_400_000);

async fn finish(crawl: &Crawl<'_>) {
    let state = CrawlState::Completed;
    let done = crawl.store.set_state(crawl.id, state, "", NOW).await;
    done.unwrap();
}

/// `a` was read and leads to `b`, which was refused, and `c`, which waits.
async fn ended(store: &dyn Store) -> Crawl<'_> {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let links = vec![refused(store, "b", ReasonCode::OtherHost), link(store, "c")];
    crawl.settle("a", links).await;
    finish(&crawl).await;
    crawl
}

async fn unused(store: &(impl Overview + Upkeep), dry_run: bool) -> u64 {
    let done = clean(store, Ageing::Unused, LATER, dry_run).await;
    done.unwrap().rows
}

pub async fn addresses_go_with_the_last_that_refers_to_them(
    store: &(impl Store + Overview + Upkeep),
) {
    let first = ended(store).await;
    assert_eq!(unused(store, false).await, 0, "the crawl has them");
    // The queue goes: `b` and `c` are in nothing but the links of `a`.
    clean(store, Ageing::Queue, LATER, false).await.unwrap();
    let page = first.page("a").await;
    assert_eq!(unused(store, false).await, 0, "links have them");
    let links = store.links_of(first.id, page).await.unwrap();
    let urls: Vec<&str> = links.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(urls, ["https://a.test/b", "https://a.test/c"]);
    clean(store, Ageing::Visits, LATER, false).await.unwrap();
    // Another crawl knows one of them, and is under way.
    let second = Crawl::begin(store, &["c", "z"], breadth()).await;
    assert_eq!(unused(store, true).await, 2, "a and b");
    assert_eq!(unused(store, false).await, 2);
    assert_eq!(unused(store, false).await, 0, "twice is once");
    assert_eq!(second.queue().await, ["c", "z"]);
    // What has gone can be found again.
    second.read("c", &["a", "b", "z"]).await;
    assert_eq!(second.queue().await, ["z", "a", "b"]);
    second.read("a", &["b"]).await;
    let page = second.page("a").await;
    let links = store.links_of(second.id, page).await.unwrap();
    assert_eq!(links.len(), 1, "older links are not taken up again");
    assert_eq!(links[0].url, "https://a.test/b");
    assert_eq!(unused(store, false).await, 0);
}

pub async fn links_that_several_crawls_saw_go_with_the_last_visit(
    store: &(impl Store + Overview + Upkeep),
) {
    let first = Crawl::begin(store, &["a"], breadth()).await;
    first.read("a", &["b"]).await;
    finish(&first).await;
    let second = Crawl::begin(store, &["a"], breadth()).await;
    second.read("a", &["b"]).await;
    finish(&second).await;
    clean(store, Ageing::Queue, LATER, false).await.unwrap();
    clean(store, Ageing::Visits, LATER, false).await.unwrap();
    // Their numbers stay with somebody, so that both addresses can go.
    Crawl::begin(store, &["z"], breadth()).await;
    assert_eq!(unused(store, true).await, 3, "the list, a and b");
    assert_eq!(unused(store, false).await, 3);
    assert_eq!(unused(store, false).await, 0);
}
