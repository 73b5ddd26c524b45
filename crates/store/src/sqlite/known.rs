//! Links that the engine wrote down by what this store said of their pages. Mostly that still holds. Where
//! it may not, because the page is nearer than whoever read it thought, or because something was forgotten
//! since, they become links like any other.

use rusqlite::OptionalExtension;
use trawl_types::{AnchorText, LinkKind, LinkRel, Place, UrlKey};

use super::{
    commit::Commit,
    fault::Fault,
    link_text::{Entry, parse},
};
use crate::contract::{known::KnownLinks, target::LinkTarget, write::NewLink};

impl Commit<'_> {
    /// All links of a page in document order, to be looked at one by one. A page whose very address has
    /// been removed meanwhile is left out: nobody knows it any more.
    pub(super) fn as_new(
        &mut self,
        known: &KnownLinks,
        others: &[NewLink],
    ) -> Result<Vec<NewLink>, Fault> {
        let mut text = known.text();
        let entries = parse::<String>(text.finish())?;
        let mut links = Vec::with_capacity(entries.len() + others.len());
        for other in 0..=others.len() {
            let (places, keys) = known.keys_before(other);
            let entries = entries.get(places).unwrap_or_default();
            for (entry, key) in entries.iter().zip(keys) {
                links.extend(self.link_again(entry, *key)?);
            }
            links.extend(others.get(other).cloned());
        }
        Ok(links)
    }

    fn link_again(
        &self,
        (_, kind, rel, place, anchor): &Entry<String>,
        key: UrlKey,
    ) -> Result<Option<NewLink>, Fault> {
        let address = "SELECT u.url, h.name FROM urls u JOIN hosts h ON h.id = u.host_id
                       WHERE u.key_host = ?1 AND u.key_url = ?2";
        let target = self
            .sql
            .conn
            .prepare_cached(address)?
            .query_row([key.host as i64, key.url as i64], |row| {
                let (address, host) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
                // The rules have let it into the crawl once.
                Ok(LinkTarget::new(address, host, key, Ok(0)))
            })
            .optional()?;
        Ok(target.map(|target| NewLink {
            target,
            kind: LinkKind::from_stored(*kind),
            rel: LinkRel(*rel),
            place: Place::from_stored(*place),
            anchor: AnchorText::from(anchor.as_str()),
            chain: Vec::new(),
            mark: None,
        }))
    }
}
