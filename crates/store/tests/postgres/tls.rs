//! TLS to the database, in real handshakes with a server whose certificate is of an authority made here.

use std::{path::Path, time::Duration};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use trawl_store::{PostgresOptions, PostgresStore, StoreError};

use crate::{rows::number, server::Server};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Gives the server a certificate for a name, and lets it speak TLS.
async fn speak_tls(server: &Server, url: &str, authority: &Authority, name: &str) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let files = [
        ("server.crt", certificate.pem()),
        ("server.key", key.serialize_pem()),
    ];
    for (file, pem) in files {
        // Written by the server itself, which must own them.
        let line = pem.replace('\r', "").replace('\n', "|");
        let write =
            format!(r#"COPY (SELECT '{line}') TO PROGRAM 'umask 077; tr "|" "\n" > {file}'"#);
        server.sql("postgres", &write).await;
    }
    server.sql("postgres", "ALTER SYSTEM SET ssl = on").await;
    server.sql("postgres", "SELECT pg_reload_conf()").await;
    let speaks = "SELECT count(*) FROM pg_settings WHERE name = 'ssl' AND setting = 'on'";
    for _ in 0..500 {
        if number(url, speaks).await == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the server does not speak TLS");
}

/// The address with another host and other parameters.
fn to(url: &str, host: &str, parameters: &str) -> String {
    let (plain, _) = url.split_once('?').unwrap();
    format!("{}?{parameters}", plain.replace("127.0.0.1", host))
}

async fn open(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open(url, PostgresOptions::default()).await
}

/// Why it is refused; never with the password.
async fn refused(url: &str) -> String {
    let error = open(url).await.expect_err(url);
    let said = format!("{error} {error:?}");
    assert!(!said.contains("s3cret"), "{said}");
    error.to_string()
}

/// Whether the connections of a store that is opened are encrypted.
async fn is_encrypted(plain: &str, url: &str) -> bool {
    let store = open(url).await.unwrap();
    let sql = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE datname = current_database() AND application_name = 'trawl' AND ssl =";
    let encrypted = number(plain, &format!("{sql} true")).await;
    let others = number(plain, &format!("{sql} false")).await;
    drop(store);
    assert!(encrypted + others > 0, "the store has a connection");
    // Connections end a moment after they were given up.
    while number(plain, &format!("{sql} true")).await > 0
        || number(plain, &format!("{sql} false")).await > 0
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    encrypted > 0 && others == 0
}

fn written(folder: &Path, name: &str, authority: &Authority) -> String {
    let path = folder.join(name);
    std::fs::write(&path, authority.pem()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_certificate_is_checked_as_far_as_the_address_asks() {
    let server = Server::start();
    let url = server.database().await;
    // Without TLS there.
    for mode in ["require", "verify-ca", "verify-full"] {
        let why = refused(&to(&url, "localhost", &format!("sslmode={mode}"))).await;
        assert!(why.contains("does not support TLS"), "{mode}: {why}");
    }
    assert!(!is_encrypted(&url, &to(&url, "localhost", "")).await);

    let folder = tempfile::tempdir().unwrap();
    let (right, wrong) = (authority("right"), authority("wrong"));
    speak_tls(&server, &url, &right, "localhost").await;
    let right = written(folder.path(), "right.pem", &right);
    let wrong = written(folder.path(), "wrong.pem", &wrong);
    let verify = |host, mode, root: &str| {
        let parameters = format!("sslmode={mode}&sslrootcert={root}");
        to(&url, host, &parameters)
    };
    assert!(is_encrypted(&url, &verify("localhost", "verify-full", &right)).await);
    assert!(is_encrypted(&url, &verify("127.0.0.1", "verify-ca", &right)).await);
    assert!(is_encrypted(&url, &to(&url, "127.0.0.1", "sslmode=require")).await);
    assert!(is_encrypted(&url, &to(&url, "127.0.0.1", "sslmode=prefer")).await);
    assert!(!is_encrypted(&url, &to(&url, "127.0.0.1", "sslmode=disable")).await);

    let why = refused(&verify("127.0.0.1", "verify-full", &right)).await;
    assert!(why.contains("not valid for name"), "{why}");
    for mode in ["verify-ca", "verify-full"] {
        let strangers = [
            verify("localhost", mode, &wrong),
            to(&url, "localhost", &format!("sslmode={mode}")),
        ];
        for url in strangers {
            let why = refused(&url).await;
            assert!(why.contains("UnknownIssuer"), "{why}");
            assert!(why.contains("sslrootcert="), "it says what to do: {why}");
        }
    }
    let missing = folder.path().join("none.pem");
    let why = refused(&verify(
        "localhost",
        "verify-full",
        missing.to_str().unwrap(),
    ))
    .await;
    assert!(why.contains("none.pem"), "{why}");
}
