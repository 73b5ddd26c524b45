//! TLS of the server itself: what it says, what it refuses, and new certificates while it runs.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::json;

use crate::harness::{Server, Trawl, place};

/// Writes a certificate of its own and its key; gives the certificate.
fn certificate(folder: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(vec!["trawl.test".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

fn arguments(folder: &Path) -> Vec<String> {
    let path = |name: &str| folder.join(name).display().to_string();
    vec![
        "--tls-cert".into(),
        path("cert.pem"),
        "--tls-key".into(),
        path("key.pem"),
    ]
}

struct Answer {
    protocol: Option<Vec<u8>>,
    certificate: CertificateDer<'static>,
    headers: hyper::HeaderMap,
    status: u16,
}

/// Asks over TLS, trusting one certificate; an error if the server has another.
async fn ask(
    server: &Server,
    trusted: &CertificateDer<'static>,
    protocols: &[&str],
    request: hyper::Request<Full<Bytes>>,
) -> Result<Answer, std::io::Error> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    let address = server.base.strip_prefix("https://").expect("it says https");
    let stream = tokio::net::TcpStream::connect(address).await?;
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let name = ServerName::try_from("trawl.test").unwrap();
    let stream = connector.connect(name, stream).await?;
    let (_, session) = stream.get_ref();
    let protocol = session.alpn_protocol().map(<[u8]>::to_vec);
    let certificate = session.peer_certificates().unwrap()[0].clone().into_owned();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    if protocol.as_deref() == Some(b"h2") {
        // Agreed upon; what follows would be another protocol.
        return Ok(Answer {
            protocol,
            certificate,
            headers: hyper::HeaderMap::new(),
            status: 0,
        });
    }
    let response = sender.send_request(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let _ = body.collect().await;
    Ok(Answer {
        protocol,
        certificate,
        headers: parts.headers,
        status: parts.status.as_u16(),
    })
}

fn health() -> hyper::Request<Full<Bytes>> {
    let request = hyper::Request::get("/health").header("host", "trawl.test");
    request.body(Full::default()).unwrap()
}

fn login() -> hyper::Request<Full<Bytes>> {
    let body = json!({ "username": "ada", "password": "correct horse" }).to_string();
    let request = hyper::Request::post("/auth/login")
        .header("host", "trawl.test")
        .header("content-type", "application/json");
    request.body(Full::new(Bytes::from(body))).unwrap()
}

#[tokio::test]
async fn a_server_with_a_certificate_speaks_tls_and_says_so() {
    let (folder, database) = place();
    let trusted = certificate(folder.path());
    let made = Trawl::on("users", &database).args(["create", "ada"]);
    made.input("correct horse\n").run().expect_code(0);
    let args = arguments(folder.path());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let server = Server::start_alone(&database, &args);
    let answer = ask(&server, &trusted, &["http/1.1"], health())
        .await
        .unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.headers["strict-transport-security"],
        "max-age=31536000"
    );
    let answer = ask(&server, &trusted, &["h2", "http/1.1"], health())
        .await
        .unwrap();
    assert_eq!(answer.protocol.as_deref(), Some(b"h2".as_slice()));
    let answer = ask(&server, &trusted, &[], login()).await.unwrap();
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("__Host-trawl_session="), "{cookie}");
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    // New certificates, without a restart; files that cannot be used change nothing.
    let renewed = certificate(folder.path());
    server.signal("-HUP");
    loop {
        if let Ok(answer) = ask(&server, &renewed, &["http/1.1"], health()).await {
            assert_eq!(answer.certificate, renewed);
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    std::fs::write(folder.path().join("key.pem"), "nonsense").unwrap();
    server.signal("-HUP");
    ask(&server, &renewed, &["http/1.1"], health())
        .await
        .unwrap();
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let (folder, database) = place();
    certificate(folder.path());
    let refused = |cert: &str, key: &str| {
        let path = |name: &str| folder.path().join(name);
        let call = Trawl::on("serve", &database)
            .arg("--tls-cert")
            .arg(path(cert));
        let call = call.arg("--tls-key").arg(path(key));
        call.args(["--listen", "127.0.0.1:0"])
            .run()
            .expect_code(2)
            .stderr
    };
    let said = refused("none.pem", "key.pem");
    assert!(
        said.contains("--tls-cert: cannot read") && said.contains("none.pem"),
        "{said}"
    );
    let said = refused("key.pem", "key.pem");
    assert!(
        said.contains("--tls-cert") && said.contains("no certificate"),
        "{said}"
    );
    let said = refused("cert.pem", "cert.pem");
    assert!(
        said.contains("--tls-key") && said.contains("no private key"),
        "{said}"
    );
    std::fs::rename(folder.path().join("key.pem"), folder.path().join("old.pem")).unwrap();
    certificate(folder.path());
    let said = refused("cert.pem", "old.pem");
    assert!(said.contains("does not belong"), "{said}");
    let alone = Trawl::on("serve", &database).args(["--tls-cert", "cert.pem"]);
    let said = alone.run().expect_code(2).stderr;
    assert!(said.contains("together with server.tls-key"), "{said}");
}
