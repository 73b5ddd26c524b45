//! TLS of the server itself: PEM files become a configuration, which can be read anew while
//! connections go on with the one they began with.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::ServerConfig;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tokio_rustls::TlsAcceptor;

use crate::settings::TlsFiles;

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{what}: cannot read {path}: {source}", path = path.display())]
    Unreadable {
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{what}: {path} {problem}", path = path.display())]
    Unusable {
        what: &'static str,
        path: PathBuf,
        problem: String,
    },
    #[error(
        "--tls-key: the key in {key} does not belong to the first certificate in {certificates}",
        key = key.display(), certificates = certificates.display()
    )]
    Mismatched { key: PathBuf, certificates: PathBuf },
}

const CERTIFICATES: &str = "--tls-cert";
const KEY: &str = "--tls-key";

/// Certificates and key of a server.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    config: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    pub(crate) fn load(files: &TlsFiles) -> Result<Self, TlsError> {
        Ok(Self {
            config: RwLock::new(Arc::new(read(files)?)),
            files: files.clone(),
        })
    }

    /// Reads the files anew; if they cannot be used, the ones before stay.
    pub fn reload(&self) -> Result<(), TlsError> {
        let config = Arc::new(read(&self.files)?);
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let config = self.config.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&config))
    }
}

fn read(files: &TlsFiles) -> Result<ServerConfig, TlsError> {
    let chain = certificates(&files.certificates)?;
    let key = private_key(&files.key)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let unusable = |error: rustls::Error| match error {
        rustls::Error::InconsistentKeys(_) => TlsError::Mismatched {
            key: files.key.clone(),
            certificates: files.certificates.clone(),
        },
        error => problem(KEY, &files.key, format!("cannot be used: {error}")),
    };
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(unusable)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = bytes(CERTIFICATES, path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let chain =
        found.map_err(|error| problem(CERTIFICATES, path, format!("is no PEM: {error}")))?;
    if chain.is_empty() {
        let why = "holds no certificate (-----BEGIN CERTIFICATE-----)";
        return Err(problem(CERTIFICATES, path, why));
    }
    Ok(chain)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let bytes = bytes(KEY, path)?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| match error {
        rustls_pki_types::pem::Error::NoItemsFound => {
            let why = "holds no private key (-----BEGIN PRIVATE KEY-----, without a password)";
            problem(KEY, path, why)
        }
        error => problem(KEY, path, format!("is no PEM: {error}")),
    })
}

fn bytes(what: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Unreadable {
        what,
        path: path.to_owned(),
        source,
    })
}

fn problem(what: &'static str, path: &Path, problem: impl Into<String>) -> TlsError {
    TlsError::Unusable {
        what,
        path: path.to_owned(),
        problem: problem.into(),
    }
}
