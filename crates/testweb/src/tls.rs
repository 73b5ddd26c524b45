//! The web's own certificate authority, and certificates issued for whatever name is asked for.
//! Names that begin with `expired.`, `wrongname.` or `selfsigned.` get a certificate that no
//! client may accept.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Issues certificates at the handshake and keeps them.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// One key serves all names: only the names matter here.
    leaf_key: KeyPair,
    issued: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    pub(crate) fn new() -> io::Result<Self> {
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "Trawl test web");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(io::Error::other)?;
        let leaf_key = KeyPair::generate().map_err(io::Error::other)?;
        Ok(Self {
            issuer,
            leaf_key,
            issued: Mutex::default(),
        })
    }

    /// The authority's certificate, which clients are to trust.
    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    pub(crate) fn server_config(self: &Arc<Self>) -> io::Result<ServerConfig> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    fn certificate_for(&self, name: &str) -> Option<Arc<CertifiedKey>> {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = issued.get(name) {
            return Some(Arc::clone(known));
        }
        let fresh = Arc::new(self.issue(name)?);
        issued.insert(name.to_owned(), Arc::clone(&fresh));
        Some(fresh)
    }

    fn issue(&self, name: &str) -> Option<CertifiedKey> {
        let wrong = name.starts_with("wrongname.");
        let subject = if wrong { "somebody-else.test" } else { name };
        let mut params = CertificateParams::new(vec![subject.to_owned()]).ok()?;
        if name.starts_with("expired.") {
            params.not_before = rcgen::date_time_ymd(2001, 1, 1);
            params.not_after = rcgen::date_time_ymd(2002, 1, 1);
        }
        let certificate = if name.starts_with("selfsigned.") {
            params.self_signed(&self.leaf_key).ok()?
        } else {
            params.signed_by(&self.leaf_key, &self.issuer).ok()?
        };
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.leaf_key.serialize_der()));
        let signer = aws_lc_rs::sign::any_supported_type(&key).ok()?;
        Some(CertifiedKey::new(vec![certificate.der().clone()], signer))
    }
}

impl ResolvesServerCert for Authority {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        // Clients that connect by address send no name.
        self.certificate_for(hello.server_name().unwrap_or("127.0.0.1"))
    }
}
