//! Chores on tables with more rows than one step looks at.

use trawl_store::contract::upkeep::{Ageing, Cutoff, Upkeep};
use trawl_types::UnixMillis;

use crate::{rows::number, server, web::plain_store};

#[tokio::test]
async fn old_answers_to_robots_txt_go_step_by_step_and_new_ones_stay() {
    let url = server::shared().database().await;
    let name = url.rsplit_once('/').unwrap().1.split('?').next().unwrap();
    // Both schemes of every host, of which every third was asked lately.
    let fill = "INSERT INTO robots (host, scheme, status, body, fetched_at)
        SELECT n, s, 200, 'abcd', CASE WHEN n % 3 = 0 THEN 2000 ELSE 1000 END
        FROM generate_series(1, 1500) n, unnest(ARRAY['http', 'https']) s";
    server::shared().sql(name, fill).await;
    let store = plain_store(&url).await;
    let old = Cutoff {
        before: UnixMillis(1500),
        archived: false,
    };
    for dry_run in [true, false] {
        let cleaned = store
            .clean_rows(Ageing::Robots, old, dry_run)
            .await
            .unwrap();
        assert_eq!((cleaned.rows, cleaned.bytes), (2_000, 8_000));
    }
    assert_eq!(number(&url, "SELECT count(*) FROM robots").await, 1_000);
    let again = store.clean_rows(Ageing::Robots, old, false).await.unwrap();
    assert_eq!(again.rows, 0);
}
