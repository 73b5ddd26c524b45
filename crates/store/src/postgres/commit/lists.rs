//! The edges of settled pages, one list for each.

use super::{ends::Ends, work::Work};
use crate::{
    postgres::{
        edges::{EdgeCounts, count, lists},
        fault::Fault,
        pool::Conn,
    },
    shared::link_text::LinkText,
};

pub(super) async fn write(conn: &mut Conn, work: &mut Work, ends: &mut Ends) -> Result<(), Fault> {
    let mut new: Vec<(i64, String, u64)> = Vec::new();
    for (at, _) in &ends.settled {
        let settlement = &work.batch.settlements[*at];
        let mut text = LinkText::default();
        for link in &settlement.links {
            if let Some(known) = work.known.get(&link.target.key) {
                text.push(known.page, link);
            }
        }
        if text.links() > 0 {
            let links = text.links();
            new.push((settlement.page.0, text.finish().to_owned(), links));
        }
    }
    if new.is_empty() {
        return Ok(());
    }
    let pages: Vec<i64> = new.iter().map(|(page, ..)| *page).collect();
    let known = lists(conn, &pages).await?;
    let crawl = work.batch.crawl;
    let (mut extended, mut added, mut texts) = (vec![], vec![], vec![]);
    for (page, json, links) in &new {
        let before = known.get(page).map_or(&[][..], Vec::as_slice);
        let counts = match before {
            [] => EdgeCounts {
                new: *links,
                new_in_crawl: *links,
            },
            before => count(before, crawl, json)?,
        };
        work.report.edges += counts.new;
        ends.changes.edges(counts.new_in_crawl);
        match before.last() {
            Some(last) if last.may_extend(crawl, json) => extended.push(last.id),
            _ => {
                added.push(*page);
                texts.push(json.as_str());
            }
        }
    }
    if !extended.is_empty() {
        let sql = "UPDATE page_links l SET last_crawl = greatest(l.last_crawl, $2)
            FROM unnest($1::int8[]) n(id) WHERE l.id = n.id";
        conn.execute(sql, &[&extended, &crawl.0]).await?;
    }
    if !added.is_empty() {
        let sql = "INSERT INTO page_links (page, first_crawl, last_crawl, links)
            SELECT n.page, $1, $1, n.links FROM unnest($2::int8[], $3::text[]) n(page, links)";
        conn.execute(sql, &[&crawl.0, &added, &texts]).await?;
    }
    Ok(())
}
