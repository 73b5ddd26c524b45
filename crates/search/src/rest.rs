//! Whoever did not answer is left in peace for a moment: everybody who searches would wait for it. Time is
//! an argument.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::error::SearchError;

/// It is not asked again so soon.
const REST: Duration = Duration::from_secs(3);

/// Servers that a search asks, and how they are.
#[derive(Debug, Default)]
pub(crate) struct Rests {
    pub(crate) embedder: Rest,
    pub(crate) qdrant: Rest,
    pub(crate) reranker: Rest,
}

/// Since when a server fails, and how; nothing if it does not.
#[derive(Debug, Default)]
pub(crate) struct Rest(Mutex<Option<(Instant, Arc<SearchError>)>>);

impl Rest {
    /// What it said last, for as long as it is not to be asked.
    pub(crate) fn why(&self, now: Instant) -> Option<Arc<SearchError>> {
        let ailing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, error) = ailing.as_ref()?;
        (now.saturating_duration_since(*since) < REST).then(|| Arc::clone(error))
    }

    pub(crate) fn failed(&self, now: Instant, error: SearchError) -> Arc<SearchError> {
        let error = Arc::new(error);
        self.set(Some((now, Arc::clone(&error))));
        error
    }

    pub(crate) fn worked(&self) {
        self.set(None);
    }

    fn set(&self, ailing: Option<(Instant, Arc<SearchError>)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = ailing;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_failed_is_not_asked_for_a_moment_and_then_once_more() {
        let (rest, began) = (Rest::default(), Instant::now());
        assert!(rest.why(began).is_none());
        rest.failed(began, SearchError::NoModel("gone".into()));
        let soon = began + REST / 2;
        let why = rest.why(soon).unwrap();
        assert!(matches!(&*why, SearchError::NoModel(text) if text == "gone"));
        assert!(rest.why(began + REST).is_none(), "worth another try");
        rest.failed(soon, SearchError::NoModel("gone".into()));
        rest.worked();
        assert!(rest.why(soon).is_none());
    }
}
