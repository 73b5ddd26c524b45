//! How long chunks and their documents are, and which of them live. Pure.

/// Lengths by number of chunk and of document. A chunk without any word still lives.
#[derive(Debug, Clone, Default)]
pub struct Lengths {
    chunks: Vec<Length>,
    documents: Vec<Document>,
    live: u64,
    live_documents: u64,
    body_total: u64,
    title_total: u64,
    /// Sum of the mean titles of all documents.
    mean_titles: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Length {
    /// Length plus one; zero where there is no such chunk any more.
    body: u32,
    title: u32,
    document: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Document {
    chunks: u32,
    body: u32,
    title: u32,
}

impl Document {
    fn mean_title(self) -> f64 {
        if self.chunks == 0 {
            return 0.0;
        }
        f64::from(self.title) / f64::from(self.chunks)
    }
}

impl Lengths {
    /// Adds a chunk, or changes it.
    pub fn set(&mut self, chunk: u32, document: u32, body: u32, title: u32) {
        self.remove(chunk);
        let at = chunk as usize;
        if at >= self.chunks.len() {
            self.chunks.resize(at + 1, Length::default());
        }
        if document as usize >= self.documents.len() {
            self.documents
                .resize(document as usize + 1, Document::default());
        }
        self.chunks[at] = Length {
            body: body.saturating_add(1),
            title,
            document,
        };
        self.live += 1;
        self.body_total += u64::from(body);
        self.title_total += u64::from(title);
        let owner = &mut self.documents[document as usize];
        self.live_documents += u64::from(owner.chunks == 0);
        self.mean_titles -= owner.mean_title();
        owner.chunks += 1;
        owner.body += body;
        owner.title += title;
        self.mean_titles += owner.mean_title();
    }

    pub fn remove(&mut self, chunk: u32) {
        if !self.lives(chunk) {
            return;
        }
        let length = std::mem::take(&mut self.chunks[chunk as usize]);
        let body = length.body - 1;
        self.live -= 1;
        self.body_total -= u64::from(body);
        self.title_total -= u64::from(length.title);
        let owner = &mut self.documents[length.document as usize];
        self.mean_titles -= owner.mean_title();
        owner.chunks -= 1;
        owner.body -= body;
        owner.title -= length.title;
        self.mean_titles += owner.mean_title();
        self.live_documents -= u64::from(owner.chunks == 0);
    }

    #[inline]
    pub fn lives(&self, chunk: u32) -> bool {
        self.chunks
            .get(chunk as usize)
            .is_some_and(|length| length.body > 0)
    }

    /// The document of a chunk that lives.
    #[inline]
    pub fn document(&self, chunk: u32) -> Option<u32> {
        let length = self.chunks.get(chunk as usize)?;
        (length.body > 0).then_some(length.document)
    }

    /// How many chunks live.
    pub fn live(&self) -> u64 {
        self.live
    }

    pub(super) fn live_documents(&self) -> u64 {
        self.live_documents
    }

    /// One more than the highest number of a chunk.
    pub(super) fn bound(&self) -> usize {
        self.chunks.len()
    }

    /// One more than the highest number of a document.
    pub(super) fn document_bound(&self) -> usize {
        self.documents.len()
    }

    /// The length of a chunk with titles counted so many times.
    #[inline]
    pub(super) fn of(&self, chunk: u32, title: f32) -> f32 {
        let length = self.chunks.get(chunk as usize).copied().unwrap_or_default();
        length.body.saturating_sub(1) as f32 + title * length.title as f32
    }

    /// The same of a document; each of its chunks repeats the title.
    #[inline]
    pub(super) fn of_document(&self, document: u32, title: f32) -> f32 {
        let owner = self
            .documents
            .get(document as usize)
            .copied()
            .unwrap_or_default();
        owner.body as f32 + title * owner.mean_title() as f32
    }

    /// How many chunks a document has.
    #[inline]
    pub(super) fn chunks_of(&self, document: u32) -> u32 {
        self.documents
            .get(document as usize)
            .map_or(0, |owner| owner.chunks)
    }

    pub(super) fn average(&self, title: f32) -> f32 {
        let total = self.body_total as f64 + f64::from(title) * self.title_total as f64;
        ((total / self.live.max(1) as f64) as f32).max(1.0)
    }

    pub(super) fn document_average(&self, title: f32) -> f32 {
        let total = self.body_total as f64 + f64::from(title) * self.mean_titles;
        ((total / self.live_documents.max(1) as f64) as f32).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_follow_changes_and_removals() {
        let mut lengths = Lengths::default();
        lengths.set(3, 1, 10, 2);
        lengths.set(7, 1, 20, 0);
        lengths.set(3, 1, 30, 2);
        lengths.set(9, 2, 10, 4);
        assert_eq!((lengths.live(), lengths.live_documents()), (3, 2));
        assert!((lengths.average(1.0) - 22.0).abs() < 1e-6);
        assert!((lengths.of_document(1, 1.0) - 51.0).abs() < 1e-6);
        assert!((lengths.document_average(1.0) - 32.5).abs() < 1e-6);
        lengths.remove(9);
        lengths.remove(9);
        assert!(!lengths.lives(9) && lengths.lives(7) && !lengths.lives(100));
        assert_eq!(lengths.live_documents(), 1);
        assert!((lengths.document_average(1.0) - 51.0).abs() < 1e-6);
    }
}
