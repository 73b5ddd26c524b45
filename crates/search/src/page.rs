//! From ranked chunks to a page of results: what must be checked in the texts, neighbours,
//! highlights.

use rustc_hash::FxHashSet;

use crate::{
    error::SearchError,
    file::{ChunkRow, IndexFile},
    fuse::{Fused, fuse},
    highlight::{has_exactly, highlights},
    lexical::Scored,
    query::Query,
    request::{Hit, Mode, Request, Side},
    search::Found,
};

/// A chunk that fits, with its text.
#[derive(Debug)]
pub(crate) struct Candidate {
    fused: Fused,
    pub(crate) row: ChunkRow,
    pub(crate) rerank_score: Option<f32>,
}

/// The best chunks that fit, at most so many, and whether there are more behind them.
pub(crate) fn candidates(
    index: &IndexFile,
    request: &Request,
    query: &Query,
    found: &Found,
    most: usize,
) -> Result<(Vec<Candidate>, bool), SearchError> {
    let mut fitting = Vec::with_capacity(most);
    let mut documents = FxHashSet::default();
    for fused in ranked(request, query, found) {
        if fused.score < request.min_score {
            break;
        }
        let Some(row) = index.chunks(&[fused.chunk])?.pop() else {
            continue;
        };
        let exact = |phrase| {
            let within = |text: &str| has_exactly(text, phrase);
            within(&row.content) || row.title.as_deref().is_some_and(within)
        };
        if !query.phrases.iter().all(exact) {
            continue;
        }
        if request.one_per_document && !documents.insert(row.document) {
            continue;
        }
        if fitting.len() == most {
            return Ok((fitting, true));
        }
        fitting.push(Candidate {
            fused,
            row,
            rerank_score: None,
        });
    }
    Ok((fitting, false))
}

fn ranked(request: &Request, query: &Query, found: &Found) -> Vec<Fused> {
    match request.mode {
        Mode::Keyword => alone(&found.keyword.hits, true),
        Mode::Vector => alone(&found.vector, false),
        Mode::Hybrid => {
            // What must or must not occur is decided by words: meaning cannot overrule it.
            let strict = !query.phrases.is_empty() || !query.without.is_empty();
            let vector = if strict {
                let known: FxHashSet<u32> = found
                    .keyword
                    .hits
                    .iter()
                    .map(|scored| scored.chunk)
                    .collect();
                let near = found.vector.iter().copied();
                near.filter(|scored| known.contains(&scored.chunk))
                    .collect()
            } else {
                found.vector.clone()
            };
            fuse(&found.keyword.hits, &vector, request.weights)
        }
    }
}

fn alone(list: &[Scored], keyword: bool) -> Vec<Fused> {
    let fused = |scored: &Scored| Fused {
        chunk: scored.chunk,
        score: scored.score,
        vector_score: (!keyword).then_some(scored.score),
        keyword_score: keyword.then_some(scored.score),
    };
    list.iter().map(fused).collect()
}

pub(crate) fn hit(
    index: &IndexFile,
    request: &Request,
    query: &Query,
    candidate: Candidate,
) -> Result<Hit, SearchError> {
    let Candidate {
        fused,
        row,
        rerank_score,
    } = candidate;
    let expanded = if request.expand_chunks {
        let before = row.position.checked_sub(1);
        let around = before.into_iter().chain([row.position + 1]);
        let mut texts = Vec::new();
        for position in around {
            texts.extend(
                index
                    .chunk_at(row.document, position)?
                    .map(|chunk| chunk.content),
            );
        }
        Some(texts)
    } else {
        None
    };
    Ok(Hit {
        document_id: row.document_uuid,
        chunk_id: row.uuid,
        highlights: highlights(&row.content, query, index.analyser()),
        url: row.url,
        title: row.title,
        content: row.content,
        score: fused.score,
        vector_score: fused.vector_score,
        keyword_score: fused.keyword_score,
        rerank_score,
        source: match (fused.vector_score, fused.keyword_score) {
            (Some(_), Some(_)) => Side::Fused,
            (Some(_), None) => Side::Vector,
            _ => Side::Keyword,
        },
        section_header: row.header,
        content_type: row.kind,
        chunk_index: row.position,
        crawled_at: row.crawled_at,
        expanded_chunks: expanded,
    })
}
