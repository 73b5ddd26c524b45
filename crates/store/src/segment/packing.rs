//! What a batch keeps, taken out of it and compressed, before the writer has to wait for it.

use futures_util::future::try_join_all;

use super::{Record, pack};
use crate::{
    contract::{
        StoreError,
        write::{CommitBatch, VisitEnd},
    },
    shared::compressed::compressed_together,
};

/// The frames of a batch, and what lies where.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    pub(crate) frames: Vec<Vec<u8>>,
    /// Of each settlement; none at all where nothing is kept.
    kept: Vec<Kept>,
}

/// What one settlement keeps.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kept {
    pub(crate) body: Option<Spot>,
    pub(crate) content: Option<Spot>,
}

/// A record within the frames of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) frame: usize,
    pub(crate) within: u32,
}

impl Packed {
    pub(crate) fn kept(&self, settlement: usize) -> Kept {
        self.kept.get(settlement).copied().unwrap_or_default()
    }
}

/// Which record of a batch one is.
#[derive(Debug, Clone, Copy)]
enum Role {
    Body(usize),
    Content(usize),
}

/// Takes records out of a batch and packs them, on as many threads as there are frames.
pub(crate) async fn packed(batch: &mut CommitBatch) -> Result<Packed, StoreError> {
    let (roles, records) = take(batch);
    if records.is_empty() {
        return Ok(Packed::default());
    }
    let mut kept = vec![Kept::default(); batch.settlements.len()];
    let groups = pack::groups(records);
    for (frame, group) in groups.iter().enumerate() {
        for (number, within) in &group.members {
            let spot = Spot {
                frame,
                within: *within,
            };
            match roles[*number] {
                Role::Body(settlement) => kept[settlement].body = Some(spot),
                Role::Content(settlement) => kept[settlement].content = Some(spot),
            }
        }
    }
    let frames = groups
        .into_iter()
        .map(|group| compressed_together(group.records));
    let frames = try_join_all(frames).await?;
    Ok(Packed { frames, kept })
}

fn take(batch: &mut CommitBatch) -> (Vec<Role>, Vec<Record>) {
    let (mut roles, mut records) = (Vec::new(), Vec::new());
    for (number, settlement) in batch.settlements.iter_mut().enumerate() {
        let VisitEnd::Final(visit) = &mut settlement.end else {
            continue;
        };
        let content = visit.digest.as_mut().and_then(|d| d.content.take());
        for (role, record) in [
            (Role::Body(number), visit.body.take()),
            (Role::Content(number), content),
        ] {
            if let Some(record) = record {
                roles.push(role);
                records.push(record);
            }
        }
    }
    (roles, records)
}
