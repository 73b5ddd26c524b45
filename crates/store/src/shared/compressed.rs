//! Frames made beside the threads that everything else runs on.

use std::io;

use crate::{
    contract::StoreError,
    segment::{Record, frame},
};

pub(crate) async fn compressed(plain: Vec<u8>) -> Result<Vec<u8>, StoreError> {
    aside(move || frame::compress(&plain)).await
}

/// All in one frame, one after the other.
pub(crate) async fn compressed_together(records: Vec<Record>) -> Result<Vec<u8>, StoreError> {
    aside(move || frame::compress_together(records)).await
}

/// Each in a frame of its own.
pub(crate) async fn compressed_each(plain: Vec<Record>) -> Result<Vec<Vec<u8>>, StoreError> {
    let compress = |record: &Record| frame::compress(&record.bytes());
    aside(move || plain.iter().map(compress).collect()).await
}

async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(StoreError::Segment(error.to_string())),
        Err(error) => Err(StoreError::Segment(error.to_string())),
    }
}
