//! Where the next page of a search begins. Pure.

use crate::{error::SearchError, request::Request};

/// How many results came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) skip: usize,
}

impl Cursor {
    /// A cursor of another search is refused: its place would mean nothing here.
    pub(crate) fn read(text: Option<&str>, request: &Request) -> Result<Self, SearchError> {
        let Some(text) = text else {
            return Ok(Self { skip: 0 });
        };
        let (skip, check) = text.split_once('-').ok_or(SearchError::BadCursor)?;
        let skip: usize = skip.parse().map_err(|_| SearchError::BadCursor)?;
        if check != fingerprint(request) || skip > crate::request::MOST_RESULTS {
            return Err(SearchError::BadCursor);
        }
        Ok(Self { skip })
    }

    pub(crate) fn write(self, request: &Request) -> String {
        format!("{}-{}", self.skip, fingerprint(request))
    }
}

/// What must be the same on all pages of a search.
fn fingerprint(request: &Request) -> String {
    let parts = format!(
        "{:?}",
        (
            &request.query,
            request.mode,
            &request.filter,
            request.weights,
            request.min_score,
            request.one_per_document,
            request.rerank,
        )
    );
    blake3::hash(parts.as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_fits_only_the_search_it_came_from() {
        let request = Request::new("crawl");
        let text = Cursor { skip: 20 }.write(&request);
        assert_eq!(Cursor::read(Some(&text), &request).unwrap().skip, 20);
        assert!(Cursor::read(Some(&text), &Request::new("other")).is_err());
        for bad in ["", "x", "-", "20", "999999999999999999999-0", "20-zz"] {
            assert!(Cursor::read(Some(bad), &request).is_err(), "{bad}");
        }
    }
}
