//! Which embedder is meant: a model in a folder, a server, or none.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use trawl_search::embed::{Embedder, LocalModel, OpenAiEmbedder, Precision, TeiEmbedder};

use crate::{
    args::{ModelArgs, ProtocolArg},
    exit::BadInput,
};

/// The model that is used where none is named.
pub(crate) const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2";

/// The folder of pulled models.
pub(crate) fn models_folder(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(folder) = given {
        return Ok(folder.to_owned());
    }
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let home = home.ok_or_else(|| BadInput("name a folder for models with --models".into()))?;
    Ok(home.join(".local/share/trawl/models"))
}

/// The embedder that is meant; nothing where none is wanted, or none named and none pulled.
pub(crate) async fn embedder(args: &ModelArgs) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    if let Some(url) = &args.embed_url {
        return remote(url, args).await.map(Some);
    }
    let folder = match args.model.as_deref() {
        Some("none") => return Ok(None),
        Some(name) => named(name, args.models.as_deref())?,
        None => match models_folder(args.models.as_deref()) {
            Ok(folder) if is_model(&folder.join(DEFAULT_MODEL)) => folder.join(DEFAULT_MODEL),
            // Who has no home has pulled none.
            _ => return Ok(None),
        },
    };
    let precision = if args.full_precision {
        Precision::Float
    } else {
        Precision::EightBit
    };
    let load = tokio::task::spawn_blocking(move || LocalModel::load(&folder, precision));
    Ok(Some(Arc::new(Arc::new(load.await??))))
}

/// The folder of a model: one with this path, or one of the pulled ones.
pub(crate) fn named(name: &str, models: Option<&Path>) -> anyhow::Result<PathBuf> {
    if is_model(Path::new(name)) {
        return Ok(PathBuf::from(name));
    }
    let folder = models_folder(models)?.join(name);
    if !is_model(&folder) {
        let message = format!("there is no model {name} in {}", folder.display());
        return Err(BadInput(message).into());
    }
    Ok(folder)
}

fn is_model(folder: &Path) -> bool {
    folder.join("config.json").exists()
}

async fn remote(url: &str, args: &ModelArgs) -> anyhow::Result<Arc<dyn Embedder>> {
    let key = args.embed_key.clone();
    Ok(match args.embed_protocol {
        ProtocolArg::Tei => Arc::new(TeiEmbedder::connect(url, args.model.clone(), key).await?),
        ProtocolArg::Openai => {
            let missing = || BadInput("name the server's model with --model".into());
            let model = args.model.clone().ok_or_else(missing)?;
            Arc::new(OpenAiEmbedder::connect(url, model, key).await?)
        }
    })
}
