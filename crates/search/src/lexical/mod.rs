//! Keyword search: BM25 over posting lists, wherever those lie. Pure.
//!
//! A store gives posting lists ([`PostingSource`]) and the lengths of chunks ([`Lengths`]);
//! everything that decides on the order of results is here, so that it is the same over every
//! store. How often a term occurs in all is counted while its lists are read, among the chunks
//! that live: what was deleted or replaced has no influence, and an index that grew by edits
//! scores as one built from scratch.

mod codec;
mod lengths;
mod phrase;
mod score;
mod top;

pub use codec::{PostingList, each_chunk, each_place};
pub use lengths::Lengths;
pub use score::{Bm25, Ranked, rank};
pub use top::{Scored, Top};

/// Where a term occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// The text of the chunk.
    Body = 0,
    /// The title of its document and the headings above it.
    Title = 1,
}

/// Where posting lists lie.
pub trait PostingSource {
    type Error;

    /// Calls with every list of a term, in ascending order of chunks: chunk part, places part.
    /// Places may be left empty where they are not wanted.
    fn each_list(
        &self,
        field: Field,
        term: &str,
        places: bool,
        call: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<(), Self::Error>;

    /// Terms that begin so, the shortest first, at most so many.
    fn expand(&self, prefix: &str, limit: usize) -> Result<Vec<String>, Self::Error>;
}
