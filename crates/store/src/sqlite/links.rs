//! Links into pages, rows of the crawl and edges. Most links of a page are known already and cost
//! one look into memory and a place in the page's list.

use rusqlite::{OptionalExtension, params};
use trawl_types::{HostId, PageId, PageState, Reason, ReasonCode, UnixMillis};

use super::{
    cache::KnownPage,
    commit::{Commit, Source, detail},
    fault::Fault,
    results::{self, Validators},
    row::{Row, chain_to_blob, rank},
};
use crate::contract::{
    known::{KnownLinks, KnownTarget, Recognised},
    read::PendingUrl,
    write::NewLink,
};

/// Where a new URL comes from: a page, or the seeds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) parent: Option<PageId>,
    pub(super) depth: u32,
}

impl Commit<'_> {
    pub(super) fn take_links(
        &mut self,
        source: Source,
        links: &mut [NewLink],
        known: &KnownLinks,
    ) -> Result<(), Fault> {
        if !known.hold(source.depth, self.memory.number) {
            let mut all = self.as_new(known, links)?;
            return self.take_links(source, &mut all, &KnownLinks::default());
        }
        self.text.clear();
        let remembered = self.remembered(links);
        for (nth, (link, remembered)) in links.iter_mut().zip(remembered).enumerate() {
            known.copy_before(nth, &mut self.text);
            let found = Found {
                parent: Some(source.page),
                depth: self.depth_by(source.depth, link),
            };
            let known = match remembered {
                Some(known) => self.take_known(known, found, link)?,
                None => self.take_url(found, link)?,
            };
            self.recognise(link, known);
            self.text.push_link(known.page, link);
            self.map_link(source.page, known.page, link)?;
        }
        known.copy_before(links.len(), &mut self.text);
        self.end_of_links();
        if self.text.links() == 0 && !source.has_ended {
            return Ok(());
        }
        let first = self.open.first_lists;
        let edges = &mut self.sql.edges;
        let counts = edges.write(self.crawl, source.page, &mut self.text, first)?;
        self.report.edges += counts.new;
        self.open.counters.edges += counts.new_in_crawl;
        Ok(())
    }

    /// What memory holds of all links of a page. Asked in one go: each look is a wait for memory,
    /// and waits that follow each other closely overlap.
    fn remembered(&mut self, links: &[NewLink]) -> Vec<Option<KnownPage>> {
        let (crawl, pages) = (self.crawl, &mut self.memory.pages);
        let look = |link: &NewLink| pages.get(&(crawl, link.target.key));
        links.iter().map(look).collect()
    }

    /// Says whether a link need not be looked up again. Maps write down where each of their links was seen.
    fn recognise(&mut self, link: &NewLink, known: KnownPage) {
        let Some(mark) = link.mark else { return };
        if known.reconsider || self.open.rules.terrain.is_some() {
            return;
        }
        let target = KnownTarget {
            key: link.target.key,
            page: known.page,
            depth: known.depth,
        };
        self.report.recognised.push(Recognised { mark, target });
    }

    /// Makes sure that the URL is in the crawl, at its shortest known depth.
    pub(super) fn take_url(
        &mut self,
        found: Found,
        link: &mut NewLink,
    ) -> Result<KnownPage, Fault> {
        let known = match self.memory.pages.get(&(self.crawl, link.target.key)) {
            Some(known) => known,
            None => match self.look_up(found, link)? {
                Looked::New(known) => return Ok(known),
                Looked::Known(known) => known,
            },
        };
        self.take_known(known, found, link)
    }

    fn take_known(
        &mut self,
        known: KnownPage,
        found: Found,
        link: &NewLink,
    ) -> Result<KnownPage, Fault> {
        let liftable = known.reconsider && link.target.verdict.is_ok();
        if found.depth >= known.depth && !liftable {
            return Ok(known);
        }
        let known = self.reconsider(known.page, found, link)?;
        self.memory
            .pages
            .insert((self.crawl, link.target.key), known);
        Ok(known)
    }

    /// What memory does not hold is new more often than not, so adding it is tried first.
    fn look_up(&mut self, found: Found, link: &mut NewLink) -> Result<Looked, Fault> {
        let host = self.host_id(link.target.host())?;
        let (page, host, seen_before) = if let Some(page) = self.add_page(host, link)? {
            (page, host, false)
        } else {
            let (page, host) = self.find_page(link)?;
            if let Some(row) = Row::find(&mut self.sql.find_row, self.crawl, page)? {
                let known = self.known(page, &row);
                self.memory
                    .pages
                    .insert((self.crawl, link.target.key), known);
                return Ok(Looked::Known(known));
            }
            (page, host, true)
        };
        let row = self.add_row(page, host, found, link, seen_before)?;
        let known = self.known(page, &row);
        self.memory
            .pages
            .insert((self.crawl, link.target.key), known);
        Ok(Looked::New(known))
    }

    fn known(&self, page: PageId, row: &Row) -> KnownPage {
        KnownPage {
            page,
            depth: row.depth,
            reconsider: row.may_be_lifted() && (row.for_its_parent() || self.within(row.depth)),
        }
    }

    pub(super) fn within(&self, depth: u32) -> bool {
        self.open.rules.max_depth.is_none_or(|max| depth <= max)
    }

    fn host_id(&mut self, name: &str) -> Result<HostId, Fault> {
        if let Some(host) = self.memory.hosts.get(name) {
            return Ok(host);
        }
        let found = self
            .sql
            .find_host
            .query_row([name], |row| row.get(0))
            .optional()?;
        let host = match found {
            Some(id) => HostId(id),
            None => HostId(self.sql.add_host.insert([name])?),
        };
        self.memory.hosts.insert(name.into(), host);
        Ok(host)
    }

    /// Nothing if the page is there already.
    fn add_page(&mut self, host: HostId, link: &NewLink) -> Result<Option<PageId>, Fault> {
        let (key_host, key_url) = (link.target.key.host as i64, link.target.key.url as i64);
        let values = params![key_host, key_url, host.0, link.target.address()];
        let added = self.sql.add_page.execute(values)?;
        Ok((added > 0).then(|| PageId(self.sql.conn.last_insert_rowid())))
    }

    fn find_page(&mut self, link: &NewLink) -> Result<(PageId, HostId), Fault> {
        let key = [link.target.key.host as i64, link.target.key.url as i64];
        let found = self
            .sql
            .find_page
            .query_row(key, |row| Ok((PageId(row.get(0)?), HostId(row.get(1)?))));
        Ok(found?)
    }

    /// A URL that is new in this crawl: judged, written, counted, and reported if admitted.
    fn add_row(
        &mut self,
        page: PageId,
        host: HostId,
        found: Found,
        link: &mut NewLink,
        seen_before: bool,
    ) -> Result<Row, Fault> {
        let score = *link.target.verdict.as_ref().unwrap_or(&0);
        let refusal = self.judge(found, link).err();
        let rank = self.rank(found.depth, score);
        let row = Row {
            state: match refusal {
                Some(_) => PageState::Refused,
                None => PageState::Pending,
            },
            depth: found.depth,
            host,
            score,
            reason: refusal.as_ref().map(|reason| reason.code),
        };
        self.sql.add_row.execute(params![
            self.crawl.0,
            page.0,
            row.state as u8,
            host.0,
            rank,
            row.depth,
            score,
            found.parent.map(|parent| parent.0),
            self.now.0,
            row.reason.map(|code| code as u8),
            refusal.as_ref().and_then(detail),
            chain_to_blob(&link.chain),
        ])?;
        self.open.counters.discovered += 1;
        self.report.discovered += 1;
        self.map_page(page, host, link)?;
        if let Some(code) = row.reason {
            self.open.counters.refuse(code);
            return Ok(row);
        }
        self.open.counters.admit();
        self.introduce(host)?;
        let validators = self.validators(page, seen_before)?;
        self.report.admitted.push(PendingUrl {
            page,
            host,
            address: String::from(link.target.address()),
            rank,
            depth: row.depth,
            score,
            attempts: 0,
            not_before: UnixMillis(0),
            chain: std::mem::take(&mut link.chain),
            etag: validators.etag,
            last_modified: validators.last_modified,
        });
        Ok(row)
    }

    fn validators(&self, page: PageId, seen_before: bool) -> Result<Validators, Fault> {
        if !(seen_before && self.open.has_elders) {
            return Ok(Validators::default());
        }
        results::validators(self.sql.conn, self.crawl, page)
    }

    /// Scope's verdict, then the rules that count URLs, then depth. Seeds were named by a person,
    /// so they are not asked of the rules that look for traps.
    fn judge(&mut self, found: Found, link: &NewLink) -> Result<(), Reason> {
        link.target
            .verdict
            .as_ref()
            .map_err(|reason| Reason::clone(reason))?;
        if found.parent.is_some() {
            self.open.rules.admission.admit(&link.target)?;
        }
        self.judge_depth(found.depth)
    }

    fn judge_depth(&self, depth: u32) -> Result<(), Reason> {
        match self.open.rules.max_depth {
            Some(max) if depth > max => Err(Reason::new(
                ReasonCode::TooDeep,
                format!("depth {depth}, limit {max}"),
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn rank(&self, depth: u32, score: u8) -> i64 {
        rank(
            self.open.rules.order,
            depth,
            score,
            self.open.counters.last_seq,
        )
    }

    /// The host belongs to the crawl from now on; the report names it the first time.
    pub(super) fn introduce(&mut self, host: HostId) -> Result<(), Fault> {
        if self.memory.crawl_hosts.get(&(self.crawl, host)).is_some() {
            return Ok(());
        }
        let added = self.sql.add_crawl_host.execute([self.crawl.0, host.0])?;
        self.open.counters.hosts += added as u64;
        self.memory.crawl_hosts.insert((self.crawl, host), ());
        self.new_hosts.push(host);
        Ok(())
    }

    /// Slow path for a URL of this crawl: the link is shorter than what was known, or may lift
    /// its refusal.
    fn reconsider(
        &mut self,
        page: PageId,
        found: Found,
        link: &NewLink,
    ) -> Result<KnownPage, Fault> {
        if let Some(parent) = found.parent {
            self.shorten(page, parent, found.depth)?;
        }
        let mut row = self.row(page)?;
        if found.parent.is_none() && row.may_be_lifted() {
            // Somebody names it now: the way that led there no longer counts.
            self.sql
                .conn
                .prepare_cached(
                    "UPDATE crawl_pages SET depth = ?3, parent = NULL
                     WHERE crawl = ?1 AND page = ?2",
                )?
                .execute([self.crawl.0, page.0, i64::from(found.depth)])?;
            row.depth = found.depth;
        }
        let row = match (&link.target.verdict, row.reason) {
            (Ok(score), Some(code)) if row.may_be_lifted() => {
                // A URL refused for its parent was never asked of the rules that count.
                let verdict = if row.for_its_parent() {
                    self.open.rules.admission.admit(&link.target)
                } else {
                    Ok(())
                };
                let verdict = verdict.and_then(|()| self.judge_depth(row.depth));
                self.rejudge(page, &row, code, *score, verdict)?
            }
            _ => row,
        };
        Ok(self.known(page, &row))
    }

    fn rejudge(
        &mut self,
        page: PageId,
        row: &Row,
        old: ReasonCode,
        score: u8,
        verdict: Result<(), Reason>,
    ) -> Result<Row, Fault> {
        match verdict {
            Ok(()) => {
                self.lift(page, row.depth, score, old)?;
            }
            Err(reason) => {
                let update = "UPDATE crawl_pages SET reason = ?3, reason_detail = ?4, score = ?5
                              WHERE crawl = ?1 AND page = ?2";
                let code = reason.code as u8;
                self.sql.conn.prepare_cached(update)?.execute(params![
                    self.crawl.0,
                    page.0,
                    code,
                    detail(&reason),
                    score
                ])?;
                self.open.counters.lift_refusal(old);
                self.open.counters.refuse(reason.code);
            }
        }
        self.row(page)
    }

    fn row(&mut self, page: PageId) -> Result<Row, Fault> {
        let row = Row::find(&mut self.sql.find_row, self.crawl, page)?;
        Ok(row.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
    }
}

enum Looked {
    New(KnownPage),
    Known(KnownPage),
}
