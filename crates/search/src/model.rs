//! The embedder in use: there, not yet reached, or none at all.

use std::sync::{Arc, PoisonError, RwLock};

use crate::{
    embed::{EmbedError, Embedder},
    error::SearchError,
};

/// Where searches and indexers find the embedder. Whoever has one may put another in.
#[derive(Debug, Clone, Default)]
pub struct Model(Arc<RwLock<State>>);

#[derive(Debug, Clone, Default)]
enum State {
    #[default]
    None,
    /// The server at this address has not answered yet, and why.
    Away(String, String),
    There(Arc<dyn Embedder>),
}

impl From<Option<Arc<dyn Embedder>>> for Model {
    fn from(embedder: Option<Arc<dyn Embedder>>) -> Self {
        Self(Arc::new(RwLock::new(
            embedder.map_or(State::None, State::There),
        )))
    }
}

impl Model {
    pub fn set(&self, embedder: Arc<dyn Embedder>) {
        self.put(State::There(embedder));
    }

    /// There is one, but it cannot be reached.
    pub fn set_away(&self, url: &str, why: &str) {
        self.put(State::Away(url.to_owned(), why.to_owned()));
    }

    /// The embedder, if it is there.
    pub fn get(&self) -> Option<Arc<dyn Embedder>> {
        match self.state() {
            State::There(embedder) => Some(embedder),
            State::None | State::Away(..) => None,
        }
    }

    /// The embedder, or why there is none.
    pub fn needed(&self) -> Result<Arc<dyn Embedder>, SearchError> {
        match self.state() {
            State::There(embedder) => Ok(embedder),
            State::Away(url, why) => Err(EmbedError::Http {
                url,
                why,
                retry: true,
            }
            .into()),
            State::None => Err(SearchError::NoModel(
                "there is no model: search goes by words alone (`trawl models pull`)".into(),
            )),
        }
    }

    fn state(&self) -> State {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn put(&self, state: State) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = state;
    }
}
