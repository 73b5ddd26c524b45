//! What the process says to scripts.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | something unforeseen |
//! | 2 | bad input: a flag, a URL, a pattern, an unknown crawl |
//! | 3 | the crawl ended and not one page could be fetched, or there is no content to extract |
//! | 4 | the database cannot be used: locked, full, read-only, damaged, too new |
//! | 130 | interrupted, or the reader of results has left; `trawl resume` goes on |

use std::process::ExitCode;

use trawl_api::ServeError;
use trawl_engine::EngineError;
use trawl_search::SearchError;
use trawl_store::{StoreError, backup::BackupError, copy::CopyError};

pub(crate) const NOTHING_FETCHED: u8 = 3;
pub(crate) const INTERRUPTED: u8 = 130;
const OTHER: u8 = 1;
const BAD_INPUT: u8 = 2;
const STORE: u8 = 4;

/// Input that cannot be used, with what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadInput(pub(crate) String);

/// Prints an error with its causes and gives the code for it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A reader that has had enough (`trawl export | head`) is no error.
    if let Some(io) = error.downcast_ref::<std::io::Error>()
        && io.kind() == std::io::ErrorKind::BrokenPipe
    {
        return ExitCode::SUCCESS;
    }
    eprintln!("trawl: {error:#}");
    ExitCode::from(code_of(error))
}

fn code_of(error: &anyhow::Error) -> u8 {
    if error.is::<BadInput>()
        || error.is::<trawl_types::spec::SpecError>()
        || error.is::<trawl_terrain::config::ConfigErrors>()
    {
        return BAD_INPUT;
    }
    if let Some(engine) = error.downcast_ref::<EngineError>() {
        return match engine {
            EngineError::Spec(_)
            | EngineError::NothingLeft(..)
            | EngineError::Store(StoreError::NoCrawl(_)) => BAD_INPUT,
            EngineError::Store(_) | EngineError::StoreFailed(_) => STORE,
            EngineError::Stopped => OTHER,
        };
    }
    if let Some(serve) = error.downcast_ref::<ServeError>() {
        return match serve {
            ServeError::Listen { .. } | ServeError::Unprotected(_) | ServeError::Tls(_) => {
                BAD_INPUT
            }
            ServeError::Store(_) => STORE,
            ServeError::Engine(_) | ServeError::Recovery(_) => OTHER,
        };
    }
    if let Some(search) = error.downcast_ref::<SearchError>() {
        return match search {
            SearchError::Locked(_)
            | SearchError::Newer { .. }
            | SearchError::Older(_)
            | SearchError::Conflict(_)
            | SearchError::Database(_) => STORE,
            SearchError::Missing(_) | SearchError::Invalid(_) => BAD_INPUT,
            _ => OTHER,
        };
    }
    if let Some(backup) = error.downcast_ref::<BackupError>() {
        return if backup.is_bad_input() {
            BAD_INPUT
        } else {
            STORE
        };
    }
    if let Some(copy) = error.downcast_ref::<CopyError>() {
        return if copy.is_bad_input() {
            BAD_INPUT
        } else {
            STORE
        };
    }
    match error.downcast_ref::<StoreError>() {
        Some(StoreError::NoCrawl(_)) => BAD_INPUT,
        Some(_) => STORE,
        None => OTHER,
    }
}
