//! TLS to the database by rustls, as far as the address asks for it.

use std::{future::Future, io, pin::Pin, sync::Arc};

use rustls::{
    ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{
    Socket,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use tokio_rustls::{TlsConnector, client::TlsStream as Encrypted};

use super::address::{Address, Security};
use crate::contract::StoreError;

#[derive(Clone)]
pub(super) struct MakeTls(TlsConnector);

impl std::fmt::Debug for MakeTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MakeTls")
    }
}

impl MakeTls {
    pub(super) fn of(address: &Address) -> Result<Self, StoreError> {
        let wrong = |error: String| StoreError::Database(format!("TLS to the database: {error}"));
        // Named here so that no process-wide default is needed.
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(error.to_string()))?;
        let config = match address.security {
            Security::VerifyFull => builder.with_root_certificates(roots(address)?),
            security => {
                let authorities = if security == Security::VerifyCa {
                    let roots = Arc::new(roots(address)?);
                    let provider = Arc::clone(&provider);
                    let built =
                        WebPkiServerVerifier::builder_with_provider(roots, provider).build();
                    Some(built.map_err(|error| wrong(error.to_string()))?)
                } else {
                    None
                };
                let verifier = Arc::new(AnyName {
                    provider,
                    authorities,
                });
                builder
                    .dangerous()
                    .with_custom_certificate_verifier(verifier)
            }
        };
        let config = config.with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }
}

fn roots(address: &Address) -> Result<RootCertStore, StoreError> {
    let mut store = RootCertStore::empty();
    let Some(path) = &address.root_file else {
        store.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
        return Ok(store);
    };
    let wrong = |why: String| {
        let path = path.display();
        StoreError::Database(format!("sslrootcert {path} cannot be used: {why}"))
    };
    let pem = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        store
            .add(certificate)
            .map_err(|error| wrong(error.to_string()))?;
    }
    if store.is_empty() {
        return Err(wrong("it holds no PEM certificate".into()));
    }
    Ok(store)
}

/// Less than a full check: the name on a certificate never matters here.
#[derive(Debug)]
struct AnyName {
    provider: Arc<CryptoProvider>,
    /// `verify-ca`: who must have signed it. Without (`require`) there is encryption against those who
    /// listen, and nothing against those who pretend.
    authorities: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        use rustls::CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        match authorities.verify_server_cert(end, between, name, ocsp, now) {
            Err(TlsError::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) => {
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// One handshake to come.
#[derive(Clone)]
pub(super) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl MakeTlsConnect<Socket> for MakeTls {
    type Stream = Secured;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Handshake> {
        let name = ServerName::try_from(domain.to_owned());
        let name = name.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Handshake {
            connector: self.0.clone(),
            name,
        })
    }
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Secured;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Secured>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move {
            let stream = self.connector.connect(self.name, stream).await?;
            Ok(Secured(Box::new(stream)))
        })
    }
}

/// An encrypted connection.
pub(super) struct Secured(Box<Encrypted<Socket>>);

impl TlsStream for Secured {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Secured {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Secured {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        bytes: &[u8],
    ) -> std::task::Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(context)
    }
}
