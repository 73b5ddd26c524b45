//! The configuration file becomes a checked value and a crawl's spec. Flags add to what it says of
//! the network; they are no part of its hash.

use std::path::{Path, PathBuf};

use trawl_engine::CrawlPlan;
use trawl_terrain::config::{MapConfig, parse};
use trawl_types::{CrawlSpec, KeySecret};

use crate::{
    args::NetworkArgs,
    display,
    exit::BadInput,
    spec::{allow, pem_of},
};

/// Everything that a map is told before it begins.
#[derive(Debug)]
pub(super) struct Map {
    pub(super) file: PathBuf,
    pub(super) config: MapConfig,
    pub(super) spec: CrawlSpec,
}

impl Map {
    pub(super) fn database(&self) -> &Path {
        Path::new(&self.config.output.database_path)
    }

    pub(super) fn summary(&self) -> &Path {
        Path::new(&self.config.output.summary_path)
    }
}

pub(super) fn load(file: &Path, network: &NetworkArgs) -> anyhow::Result<Map> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| {
        BadInput(match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("there is no file {name}: trawl map --init writes one to begin with")
            }
            std::io::ErrorKind::InvalidData => format!("{name} is not text in UTF-8"),
            _ => format!("{name} cannot be read: {error}"),
        })
    })?;
    let config = parse(&name, &text).map_err(|errors| BadInput(errors.to_string()))?;
    let mut roots = Vec::new();
    for path in &config.network.extra_root_files {
        roots.push(pem_of("extra-root-files", Path::new(path))?);
    }
    let mut spec = config.to_spec(roots);
    allow(&mut spec.fetch, network)?;
    // All that can be wrong with the input is found before a database is made.
    CrawlPlan::compile(spec.clone(), KeySecret([0; 16]), display::this_year())?;
    Ok(Map {
        file: file.to_owned(),
        config,
        spec,
    })
}
