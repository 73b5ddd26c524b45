//! TLS by rustls: the roots browsers trust plus the operator's own, and errors people can read.

use std::{
    io,
    sync::{Arc, LazyLock},
};

use rustls::{
    CertificateError, ClientConfig, Error as TlsError, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};
use trawl_types::{
    OutcomeKind,
    spec::{FetchSpec, SpecError},
};

use super::target::Host;
use crate::ended::End;

pub(crate) struct Tls {
    connector: TlsConnector,
}

impl Tls {
    pub(crate) fn of(spec: &FetchSpec) -> Result<Self, SpecError> {
        // Named here so that no process-wide default is needed, which other crates could fight over.
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| SpecError::new("fetch", error.to_string()))?
            .with_root_certificates(roots(&spec.extra_roots)?)
            .with_no_client_auth();
        config.alpn_protocols = if spec.http2 {
            vec![b"h2".to_vec(), b"http/1.1".to_vec()]
        } else {
            vec![b"http/1.1".to_vec()]
        };
        Ok(Self {
            connector: TlsConnector::from(Arc::new(config)),
        })
    }

    pub(crate) async fn handshake(
        &self,
        host: &Host,
        tcp: TcpStream,
    ) -> Result<TlsStream<TcpStream>, End> {
        let name = match host {
            Host::Address(address) => ServerName::from(*address),
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(|_| {
                End::new(
                    OutcomeKind::TlsFailure,
                    format!("{host} is not a name a certificate can hold"),
                )
            })?,
        };
        self.connector
            .connect(name, tcp)
            .await
            .map_err(|error| failed(host, &error))
    }
}

/// Whom browsers trust. Read once: every crawl wants them, and it takes a millisecond.
static BROWSERS: LazyLock<RootCertStore> = LazyLock::new(|| {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
    store
});

fn roots(extra: &[String]) -> Result<RootCertStore, SpecError> {
    let mut store = BROWSERS.clone();
    for (index, pem) in extra.iter().enumerate() {
        let wrong =
            |problem: String| SpecError::new(format!("fetch.extra_roots[{index}]"), problem);
        let mut count = 0;
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            store
                .add(certificate)
                .map_err(|error| wrong(error.to_string()))?;
            count += 1;
        }
        if count == 0 {
            return Err(wrong("holds no PEM certificate".to_owned()));
        }
    }
    Ok(store)
}

fn failed(host: &Host, error: &io::Error) -> End {
    let detail = match tls_error(error) {
        Some(tls) => explain(tls),
        // The peer hung up or spoke no TLS at all.
        None => error.kind().to_string(),
    };
    End::new(
        OutcomeKind::TlsFailure,
        format!("no secure connection to {host}: {detail}"),
    )
}

/// The rustls error within an I/O error, if there is one.
pub(crate) fn tls_error(error: &io::Error) -> Option<&TlsError> {
    error.get_ref()?.downcast_ref()
}

fn explain(error: &TlsError) -> String {
    let TlsError::InvalidCertificate(problem) = error else {
        return error.to_string();
    };
    let text = match problem {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "certificate has expired"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "certificate is not valid yet"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "certificate not valid for name"
        }
        CertificateError::UnknownIssuer => "certificate of an unknown issuer",
        CertificateError::Revoked => "certificate was revoked",
        CertificateError::BadSignature => "certificate has a bad signature",
        _ => return error.to_string(),
    };
    text.to_owned()
}
