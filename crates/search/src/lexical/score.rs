//! BM25 as Lucene has it, with titles counted several times. Pure.

use rustc_hash::FxHashSet;

use super::{Field, Lengths, PostingSource, Scored, Top, each_chunk, phrase};
use crate::query::{Phrase, Query, Term};

/// A prefix stands for at most so many terms.
const MOST_EXPANSIONS: usize = 128;

/// How much what counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// How soon further occurrences stop to count.
    pub k1: f32,
    /// How much longer chunks are held back.
    pub b: f32,
    /// How many times a word in the title counts.
    pub title: f32,
    /// How much the whole document counts beside the chunk.
    pub document: f32,
}

impl Default for Bm25 {
    fn default() -> Self {
        Self {
            k1: 1.5,
            b: 0.75,
            title: 2.0,
            document: 1.0,
        }
    }
}

/// The best chunks and how many there are in all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranked {
    pub hits: Vec<Scored>,
    pub total: u64,
}

/// A chunk and how often a term occurs in its text and in its title.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Occurrence {
    chunk: u32,
    body: f32,
    title: f32,
}

type Occurrences = Vec<Occurrence>;

/// Ranks the chunks that are allowed.
pub fn rank<S: PostingSource>(
    query: &Query,
    source: &S,
    lengths: &Lengths,
    weights: Bm25,
    allowed: &dyn Fn(u32) -> bool,
    limit: usize,
) -> Result<Ranked, S::Error> {
    let mut sum = Sum::new(lengths, weights);
    for term in &query.terms {
        let found = occurrences(term, source, lengths)?;
        sum.add(&found, term.weight);
    }
    let mut required: Option<FxHashSet<u32>> = None;
    for wanted in &query.phrases {
        let chunks = add_phrase(wanted, source, &mut sum)?;
        required = Some(match required {
            None => chunks,
            Some(before) => before.intersection(&chunks).copied().collect(),
        });
    }
    let mut refused = FxHashSet::default();
    for unwanted in &query.without {
        let chunks = phrase::chunks_with(source, lengths, &unwanted.stems)?;
        refused.extend(chunks.into_iter().map(|(chunk, _)| chunk));
    }
    let fits = |chunk: u32| {
        required.as_ref().is_none_or(|set| set.contains(&chunk))
            && !refused.contains(&chunk)
            && allowed(chunk)
    };
    Ok(sum.best(limit, fits))
}

/// A phrase counts as its words would, as often as all of it occurs.
fn add_phrase<S: PostingSource>(
    wanted: &Phrase,
    source: &S,
    sum: &mut Sum<'_>,
) -> Result<FxHashSet<u32>, S::Error> {
    let chunks = phrase::chunks_with(source, sum.lengths, &wanted.stems)?;
    let found: Occurrences = chunks
        .iter()
        .map(|(chunk, times)| Occurrence {
            chunk: *chunk,
            body: *times as f32,
            title: 0.0,
        })
        .collect();
    sum.add(&found, wanted.stems.len() as f32);
    Ok(chunks.into_iter().map(|(chunk, _)| chunk).collect())
}

fn occurrences<S: PostingSource>(
    term: &Term,
    source: &S,
    lengths: &Lengths,
) -> Result<Occurrences, S::Error> {
    let terms = if term.prefix {
        source.expand(&term.text, MOST_EXPANSIONS)?
    } else {
        vec![term.text.clone()]
    };
    let mut all = Occurrences::new();
    for text in &terms {
        for field in [Field::Body, Field::Title] {
            let found = list(source, lengths, field, text)?;
            all = if all.is_empty() {
                found
            } else {
                merge(&all, &found)
            };
        }
    }
    Ok(all)
}

fn list<S: PostingSource>(
    source: &S,
    lengths: &Lengths,
    field: Field,
    term: &str,
) -> Result<Occurrences, S::Error> {
    let mut found = Occurrences::new();
    source.each_list(field, term, false, &mut |chunks, _| {
        each_chunk(chunks, |chunk, times| {
            if lengths.lives(chunk) {
                let times = times as f32;
                let (body, title) = match field {
                    Field::Body => (times, 0.0),
                    Field::Title => (0.0, times),
                };
                found.push(Occurrence { chunk, body, title });
            }
        });
    })?;
    Ok(found)
}

/// Both lists in one, sums where they meet.
fn merge(left: &[Occurrence], right: &[Occurrence]) -> Occurrences {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if a.chunk == b.chunk => {
                merged.push(Occurrence {
                    chunk: a.chunk,
                    body: a.body + b.body,
                    title: a.title + b.title,
                });
                left.next();
                right.next();
            }
            (Some(a), Some(b)) if a.chunk < b.chunk => {
                merged.push(**a);
                left.next();
            }
            (Some(a), None) => {
                merged.push(**a);
                left.next();
            }
            (_, Some(b)) => {
                merged.push(**b);
                right.next();
            }
            (None, None) => return merged,
        }
    }
}

/// Scores under way: each chunk's own, and that of its document with all its chunks.
struct Sum<'l> {
    lengths: &'l Lengths,
    weights: Bm25,
    average: f32,
    document_average: f32,
    scores: Vec<f32>,
    documents: Vec<f32>,
    /// How often the term at hand occurs in each document.
    times: Vec<f32>,
    met: Vec<u32>,
    touched: Vec<u32>,
}

impl<'l> Sum<'l> {
    fn new(lengths: &'l Lengths, weights: Bm25) -> Self {
        Self {
            lengths,
            weights,
            average: lengths.average(weights.title),
            document_average: lengths.document_average(weights.title),
            scores: vec![0.0; lengths.bound()],
            documents: vec![0.0; lengths.document_bound()],
            times: vec![0.0; lengths.document_bound()],
            met: Vec::new(),
            touched: Vec::new(),
        }
    }

    fn add(&mut self, found: &[Occurrence], weight: f32) {
        let title = self.weights.title;
        let own = weight * idf(self.lengths.live(), found.len());
        for occurrence in found {
            let chunk = occurrence.chunk;
            let Some(document) = self.lengths.document(chunk) else {
                continue;
            };
            let times = occurrence.body + title * occurrence.title;
            let length = self.lengths.of(chunk, title) / self.average;
            let score = &mut self.scores[chunk as usize];
            if *score == 0.0 {
                self.touched.push(chunk);
            }
            *score += own * saturated(times, length, self.weights);
            let all = &mut self.times[document as usize];
            if *all == 0.0 {
                self.met.push(document);
            }
            // The title is repeated in every chunk, and counts once.
            let repeated = self.lengths.chunks_of(document).max(1) as f32;
            *all += occurrence.body + title * occurrence.title / repeated;
        }
        let whole = weight * idf(self.lengths.live_documents(), self.met.len());
        for document in self.met.drain(..) {
            let times = std::mem::take(&mut self.times[document as usize]);
            let length = self.lengths.of_document(document, title) / self.document_average;
            self.documents[document as usize] += whole * saturated(times, length, self.weights);
        }
    }

    fn best(self, limit: usize, fits: impl Fn(u32) -> bool) -> Ranked {
        let mut top = Top::new(limit);
        let mut total = 0;
        for chunk in self.touched {
            let Some(document) = self.lengths.document(chunk).filter(|_| fits(chunk)) else {
                continue;
            };
            total += 1;
            let whole = self.weights.document * self.documents[document as usize];
            let score = (self.scores[chunk as usize] + whole) / (1.0 + self.weights.document);
            top.offer(Scored { chunk, score });
        }
        Ranked {
            hits: top.into_sorted(),
            total,
        }
    }
}

fn idf(all: u64, with: usize) -> f32 {
    let (all, with) = (all as f32, with as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// How much so many occurrences count in a text so many times as long as the average.
#[inline]
fn saturated(times: f32, length: f32, weights: Bm25) -> f32 {
    let norm = weights.k1 * (1.0 - weights.b + weights.b * length);
    times * (weights.k1 + 1.0) / (times + norm)
}
