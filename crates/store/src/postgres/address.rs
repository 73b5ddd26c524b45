//! The address of a database: `postgres://user:password@host:port/name?sslmode=…`. What is said of it
//! to people never holds the user's name or password, nor text that was not understood.

use std::{path::PathBuf, str::FromStr, time::Duration};

use percent_encoding::percent_decode_str;
use tokio_postgres::{Config, config::Host, config::SslMode};

use crate::contract::StoreError;

/// How much TLS is asked for, as libpq has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Security {
    Disable,
    /// Encrypted if the server can; nobody is authenticated.
    Prefer,
    /// Encrypted; nobody is authenticated.
    Require,
    /// The certificate must be of a known authority, whatever its name.
    VerifyCa,
    VerifyFull,
}

pub(super) struct Address {
    pub(super) config: Config,
    pub(super) security: Security,
    /// Authorities in a PEM file, instead of those that browsers trust.
    pub(super) root_file: Option<PathBuf>,
    /// What errors and logs call the database.
    pub(super) place: String,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.place)
    }
}

const CONNECT: Duration = Duration::from_secs(2);

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let (plain, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut security, mut root_file) = (Security::Prefer, None);
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(value).decode_utf8_lossy();
            match key {
                "sslmode" => security = security_of(&value)?,
                "sslrootcert" => root_file = Some(PathBuf::from(value.as_ref())),
                _ => others.push(pair),
            }
        }
        let rest = if others.is_empty() {
            plain.to_owned()
        } else {
            format!("{plain}?{}", others.join("&"))
        };
        // The driver's own words may repeat a piece of the address.
        let mut config = Config::from_str(&rest).map_err(|_| {
            misunderstood("it must look like postgres://user:password@host:port/name?sslmode=…")
        })?;
        if !plain.starts_with("postgres://") && !plain.starts_with("postgresql://") {
            return Err(misunderstood("it must begin with postgres://"));
        }
        config.ssl_mode(match security {
            Security::Disable => SslMode::Disable,
            Security::Prefer => SslMode::Prefer,
            _ => SslMode::Require,
        });
        if config.get_application_name().is_none() {
            config.application_name("trawl");
        }
        config.connect_timeout(CONNECT);
        config.keepalives_idle(Duration::from_secs(15));
        #[cfg(target_os = "linux")]
        config.tcp_user_timeout(Duration::from_secs(10));
        let place = place(&config);
        Ok(Self {
            config,
            security,
            root_file,
            place,
        })
    }
}

fn security_of(mode: &str) -> Result<Security, StoreError> {
    Ok(match mode {
        "disable" => Security::Disable,
        "allow" | "prefer" => Security::Prefer,
        "require" => Security::Require,
        "verify-ca" => Security::VerifyCa,
        "verify-full" => Security::VerifyFull,
        _ => {
            return Err(misunderstood(
                "sslmode is one of disable, prefer, require, verify-ca, verify-full",
            ));
        }
    })
}

fn misunderstood(why: &str) -> StoreError {
    StoreError::Database(format!("the address of the database: {why}"))
}

fn place(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let name = config.get_dbname().unwrap_or("");
    format!("postgres://{host}:{port}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_by_host_port_and_name_alone() {
        let address = Address::parse("postgres://me:s3cret@db.test:6000/crawl?sslmode=disable");
        let address = address.unwrap();
        assert_eq!(address.place, "postgres://db.test:6000/crawl");
        assert_eq!(address.security, Security::Disable);
        assert_eq!(format!("{address:?}"), address.place);
    }

    #[test]
    fn modes_and_authorities_are_those_of_libpq() {
        let url = "postgresql://db.test/x?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem";
        let address = Address::parse(url).unwrap();
        assert_eq!(address.security, Security::VerifyFull);
        assert_eq!(address.root_file, Some(PathBuf::from("/etc/ca.pem")));
        assert!(Address::parse("postgres://db.test/x?sslmode=maybe").is_err());
    }

    #[test]
    fn what_is_not_understood_is_not_repeated() {
        for url in [
            "postgres://me:s3cret@db.test:port/x",
            "postgres://me@db.test/x?s3cret=1",
            "mysql://me:s3cret@db.test/x",
            "host=db.test password=s3cret",
            "s3cret",
        ] {
            let error = Address::parse(url).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{url}");
        }
    }
}
