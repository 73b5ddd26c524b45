//! The edges of settled pages, one list for each.

use rustc_hash::FxHashMap;

use super::{ends::Ends, routed::Pending, work::Work};
use crate::{
    contract::write::VisitEnd,
    postgres::{edges::lists, fault::Fault, pool::Conn},
    shared::{
        link_lists::{LinkList, Recorded, count, recorded},
        link_text::LinkText,
    },
};

/// The links of a page as they are written.
#[derive(Debug)]
struct NewList {
    page: i64,
    json: String,
    links: u64,
}

/// The lists of those settlements of a batch that count.
fn made(work: &Work, settled: &[(usize, Pending)]) -> Vec<NewList> {
    let mut new = Vec::new();
    for (at, _) in settled {
        let settlement = &work.batch.settlements[*at];
        let mut text = LinkText::default();
        for link in &settlement.links {
            if let Some(known) = work.known.get(&link.target.key) {
                text.push_link(known.page, link);
            }
        }
        // A page that is still pending, or refused, was not looked at.
        let has_none = settlement.links.is_empty() && matches!(settlement.end, VisitEnd::Final(_));
        if text.links() > 0 || has_none {
            new.push(NewList {
                page: settlement.page.0,
                links: text.links(),
                json: text.finish().to_owned(),
            });
        }
    }
    new
}

/// The lists that the pages have already.
async fn known(conn: &Conn, new: &[NewList]) -> Result<Known, Fault> {
    if new.is_empty() {
        return Ok(Known::default());
    }
    let pages: Vec<i64> = new.iter().map(|list| list.page).collect();
    lists(conn, &pages).await
}

type Known = FxHashMap<i64, Vec<LinkList>>;

/// What is to be written of the lists of a batch.
#[derive(Debug, Default)]
struct News<'l> {
    extended: Vec<i64>,
    added: Vec<i64>,
    texts: Vec<&'l str>,
    counted: Counted,
}

/// How many edges of a batch nobody has seen before, and how many its crawl has not.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counted {
    new: u64,
    new_in_crawl: u64,
}

/// Writes the lists of a batch.
pub(super) async fn record(
    conn: &Conn,
    work: &Work,
    settled: &[(usize, Pending)],
) -> Result<Counted, Fault> {
    let made = made(work, settled);
    let known = known(conn, &made).await?;
    let news = compared(work, &made, &known)?;
    write(conn, work, &news).await?;
    Ok(news.counted)
}

impl Counted {
    pub(super) fn tell(self, work: &mut Work, ends: &mut Ends) {
        work.report.edges += self.new;
        ends.changes.edges(self.new_in_crawl);
    }
}

/// Compares the lists with those that the pages have already, and counts what is new.
fn compared<'l>(work: &Work, new: &'l [NewList], known: &Known) -> Result<News<'l>, Fault> {
    let crawl = work.batch.crawl;
    let mut news = News::default();
    for NewList { page, json, links } in new {
        let before = known.get(page).map_or(&[][..], Vec::as_slice);
        let counts = count(before, crawl, json, *links)?;
        news.counted.new += counts.new;
        news.counted.new_in_crawl += counts.new_in_crawl;
        match recorded(before, crawl, json, *links) {
            Recorded::Extended(id) => news.extended.push(id),
            Recorded::Added => {
                news.added.push(*page);
                news.texts.push(json.as_str());
            }
            Recorded::Left => {}
        }
    }
    Ok(news)
}

async fn write(conn: &Conn, work: &Work, news: &News<'_>) -> Result<(), Fault> {
    let crawl = work.batch.crawl;
    if !news.extended.is_empty() {
        let sql = "UPDATE page_links l SET last_crawl = greatest(l.last_crawl, $2)
            FROM unnest($1::int8[]) n(id) WHERE l.id = n.id";
        conn.execute(sql, &[&news.extended, &crawl.0]).await?;
    }
    if !news.added.is_empty() {
        let sql = "INSERT INTO page_links (page, first_crawl, last_crawl, links)
            SELECT n.page, $1, $1, n.links FROM unnest($2::int8[], $3::text[]) n(page, links)";
        conn.execute(sql, &[&crawl.0, &news.added, &news.texts])
            .await?;
    }
    Ok(())
}
