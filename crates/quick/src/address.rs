//! Where Redis is: `redis://[user][:password@]host[:port][/number]`, or `rediss://` with TLS. The password
//! is shown to nobody, and an address that cannot be understood is not repeated.

use std::{fmt, path::PathBuf, sync::Arc};

use percent_encoding::percent_decode_str;
use redis::RedisConnectionInfo;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio_rustls::TlsConnector;
use url::Url;

const USUAL_PORT: u16 = 6379;

#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error("must be redis://[user][:password@]host[:port][/number], or rediss://… with TLS: {0}")]
    Malformed(&'static str),
    #[error("the certificates in {path} cannot be used: {why}")]
    Roots { path: String, why: String },
}

/// Where Redis is, and how to get in.
#[derive(Clone)]
pub struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) login: RedisConnectionInfo,
    pub(crate) tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl fmt::Display for Address {
    /// Without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls.is_some() {
            "rediss"
        } else {
            "redis"
        };
        let (host, port, number) = (&self.host, self.port, self.login.db());
        if host.contains(':') {
            return write!(f, "{scheme}://[{host}]:{port}/{number}");
        }
        write!(f, "{scheme}://{host}:{port}/{number}")
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Address {
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        use AddressError::Malformed;
        let url = Url::parse(text.trim()).map_err(|_| Malformed("it is no URL"))?;
        let encrypted = match url.scheme() {
            "redis" => false,
            "rediss" => true,
            _ => return Err(Malformed("it begins with something else")),
        };
        let host = match url.host() {
            Some(url::Host::Domain(name)) if !name.is_empty() => decoded(name)?,
            Some(url::Host::Ipv4(address)) => address.to_string(),
            Some(url::Host::Ipv6(address)) => address.to_string(),
            _ => return Err(Malformed("it names no host")),
        };
        let tls = match (encrypted, root_file(&url)?) {
            (true, roots) => Some(tls(&host, roots)?),
            (false, None) => None,
            (false, Some(_)) => return Err(Malformed("only rediss:// has certificates")),
        };
        Ok(Self {
            port: url.port().unwrap_or(USUAL_PORT),
            login: login(&url)?,
            host,
            tls,
        })
    }
}

fn decoded(text: &str) -> Result<String, AddressError> {
    let text = percent_decode_str(text).decode_utf8();
    let text = text.map_err(|_| AddressError::Malformed("it is not UTF-8"))?;
    Ok(text.into_owned())
}

fn login(url: &Url) -> Result<RedisConnectionInfo, AddressError> {
    let number = match url.path().trim_matches('/') {
        "" => 0,
        text => match text.parse::<u16>() {
            Ok(number) => i64::from(number),
            Err(_) => return Err(AddressError::Malformed("after the host comes a number")),
        },
    };
    let mut login = RedisConnectionInfo::default()
        .set_db(number)
        .set_lib_name("trawl", env!("CARGO_PKG_VERSION"));
    if !url.username().is_empty() {
        login = login.set_username(decoded(url.username())?);
    }
    if let Some(password) = url.password() {
        login = login.set_password(decoded(password)?);
    }
    Ok(login)
}

/// `?sslrootcert=FILE`, as in the address of a PostgreSQL database.
fn root_file(url: &Url) -> Result<Option<PathBuf>, AddressError> {
    let mut file = None;
    for (name, value) in url.query_pairs() {
        match &*name {
            "sslrootcert" => file = Some(PathBuf::from(&*value)),
            _ => return Err(AddressError::Malformed("after ? only sslrootcert is known")),
        }
    }
    Ok(file)
}

fn tls(
    host: &str,
    roots: Option<PathBuf>,
) -> Result<(TlsConnector, ServerName<'static>), AddressError> {
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|_| AddressError::Malformed("no certificate can have that name"))?;
    // Named here so that no process-wide default is needed.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| AddressError::Malformed("TLS cannot be used"))?;
    let config = builder
        .with_root_certificates(root_store(roots)?)
        .with_no_client_auth();
    Ok((TlsConnector::from(Arc::new(config)), name))
}

fn root_store(file: Option<PathBuf>) -> Result<RootCertStore, AddressError> {
    let mut store = RootCertStore::empty();
    let Some(path) = file else {
        store.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
        return Ok(store);
    };
    let wrong = |why: String| AddressError::Roots {
        path: path.display().to_string(),
        why,
    };
    let pem = std::fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        store
            .add(certificate)
            .map_err(|error| wrong(error.to_string()))?;
    }
    if store.is_empty() {
        return Err(wrong("there is no PEM certificate in it".into()));
    }
    Ok(store)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_other_programs_read_them() {
        for (text, shown, user, password) in [
            ("redis://h", "redis://h:6379/0", None, None),
            (
                "redis://:s3cret@h:7000/2",
                "redis://h:7000/2",
                None,
                Some("s3cret"),
            ),
            (
                "redis://me:a%40b@[::1]/",
                "redis://[::1]:6379/0",
                Some("me"),
                Some("a@b"),
            ),
            (
                "rediss://127.0.0.1:6380",
                "rediss://127.0.0.1:6380/0",
                None,
                None,
            ),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(address.login.username(), user);
            assert_eq!(address.login.password(), password);
        }
    }

    #[test]
    fn what_is_not_understood_is_not_repeated() {
        for text in [
            "h:6379",
            "http://:s3cret@h",
            "redis://:s3cret@",
            "redis://:s3cret@h/x",
            "redis://:s3cret@h/?password=s3cret",
            "redis://:s3cret@h/?sslrootcert=/none",
            "rediss://:s3cret@h/?sslrootcert=/none",
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn no_password_is_shown() {
        let address = Address::parse("redis://me:s3cret@h").unwrap();
        let options = crate::RedisOptions::new(address);
        assert!(!format!("{options:?}").contains("s3cret"));
    }
}
