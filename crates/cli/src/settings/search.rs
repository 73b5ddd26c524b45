//! What is searched, with what model, and who may find what.

use std::path::{Path, PathBuf};

use trawl_search::{follow, qdrant::QdrantSettings};

use super::{Environment, Settings};
use crate::{
    args::{ModelArgs, ProtocolArg},
    commands::index::{index_path, languages},
    database::{Database, hidden},
    exit::BadInput,
};

/// Longer than any key.
const LONGEST_KEY: u64 = 64 * 1024;
/// Beside databases that are no files.
const USUAL_INDEX: &str = "trawl.search";

/// What a server is to search with.
#[derive(Debug)]
pub(crate) struct SearchSettings {
    pub(crate) index: PathBuf,
    /// The database that an index belongs to which does not lie beside it.
    pub(crate) database: Option<String>,
    /// Nothing where the index is left as it is.
    pub(crate) follow: Option<follow::Settings>,
    pub(crate) model: ModelArgs,
    /// One of this machine, or else a server, or none.
    pub(crate) rerank_model: Option<String>,
    pub(crate) rerank_url: Option<String>,
    pub(crate) qdrant: Option<QdrantSettings>,
    /// Everybody who may read finds everything.
    pub(crate) open: bool,
}

impl Settings {
    /// Nothing where search is switched off.
    pub(crate) fn search(
        &self,
        database: &Database,
        environment: Environment<'_>,
    ) -> anyhow::Result<Option<SearchSettings>> {
        if self.switch("search.off") {
            return Ok(None);
        }
        let given = self.text("search.index").map(Path::new);
        let (index, named) = match database {
            Database::File(path) => (index_path(given, path), None),
            Database::Url(url) => (
                given.unwrap_or(Path::new(USUAL_INDEX)).to_owned(),
                Some(hidden(url)),
            ),
        };
        let rerank_model = self.text("search.rerank-model").map(str::to_owned);
        let rerank_url = self.text("search.rerank-url").map(str::to_owned);
        if rerank_model.is_some() && rerank_url.is_some() {
            return Err(self.clash("search.rerank-url", "nothing beside search.rerank-model"));
        }
        let follow = follow::Settings {
            languages: languages(self.texts("search.languages")),
            ..follow::Settings::default()
        };
        Ok(Some(SearchSettings {
            index,
            database: named,
            follow: (!self.switch("search.no-indexing")).then_some(follow),
            model: self.model(environment)?,
            rerank_model,
            rerank_url,
            qdrant: self.qdrant(environment)?,
            open: self.text("search.visibility") == Some("all"),
        }))
    }

    fn qdrant(&self, environment: Environment<'_>) -> anyhow::Result<Option<QdrantSettings>> {
        let Some(url) = self.text("search.qdrant-url") else {
            return Ok(None);
        };
        Ok(Some(QdrantSettings {
            url: url.to_owned(),
            key: self.key("search.qdrant-key-file", "TRAWL_QDRANT_KEY", environment)?,
            collection: self
                .text("search.qdrant-collection")
                .unwrap_or("trawl")
                .to_owned(),
        }))
    }

    /// From a file, or else from a variable.
    fn key(
        &self,
        file: &str,
        variable: &str,
        environment: Environment<'_>,
    ) -> Result<Option<String>, BadInput> {
        if let Some(path) = self.text(file) {
            return key_in(Path::new(path)).map(Some);
        }
        let key = environment(variable).and_then(|key| key.into_string().ok());
        Ok(key.filter(|key| !key.is_empty()))
    }

    fn model(&self, environment: Environment<'_>) -> anyhow::Result<ModelArgs> {
        let text = |key: &str| self.text(key).map(str::to_owned);
        let openai = self.text("search.embed-protocol") == Some("openai");
        let embed_url = text("search.embed-url");
        if openai && embed_url.is_some() && text("search.model").is_none() {
            let allowed = "together with search.model, the name of the server's model";
            return Err(self.clash("search.embed-protocol", allowed));
        }
        Ok(ModelArgs {
            model: text("search.model"),
            models: self.text("search.models").map(PathBuf::from),
            full_precision: false,
            embed_url,
            embed_protocol: if openai {
                ProtocolArg::Openai
            } else {
                ProtocolArg::Tei
            },
            embed_key: self.key("search.embed-key-file", "TRAWL_EMBED_KEY", environment)?,
        })
    }
}

/// What a file says, so that no command line holds the key.
fn key_in(path: &Path) -> Result<String, BadInput> {
    use std::io::Read;
    let cannot = |error: std::io::Error| {
        BadInput(format!(
            "cannot read the key in {}: {error}",
            path.display()
        ))
    };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(LONGEST_KEY)
        .read_to_string(&mut text)
        .map_err(cannot)?;
    Ok(text.trim().to_owned())
}
