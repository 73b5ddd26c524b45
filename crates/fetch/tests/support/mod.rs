//! A server of raw sockets: each test says byte for byte what is answered.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its own part"
)]

use std::{
    future::Future,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use trawl_fetch::{Answer, Body, Ended, Fetcher, Head, Request};
use trawl_types::{OutcomeKind, spec::FetchSpec};
use url::Url;

/// What a test server saw.
#[derive(Debug, Clone)]
pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The header blocks that arrived, in order.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub fn note(&self, request: &str) {
        self.requests.lock().unwrap().push(request.to_owned());
    }
}

/// Accepts connections and hands each to `serve`.
pub async fn listen<F, S>(serve: S) -> Server
where
    S: Fn(Server, TcpStream) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server {
        address: listener.local_addr().unwrap(),
        connections: Arc::default(),
        requests: Arc::default(),
    };
    let handle = server.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            handle.connections.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(handle.clone(), stream));
        }
    });
    server
}

/// Reads a request and writes `answer`, then again on the same connection; hangs up at the end
/// of the first answer if it says `connection: close` or has no length.
pub async fn answering(answer: impl Into<Vec<u8>>) -> Server {
    let answer = Arc::new(answer.into());
    let text = String::from_utf8_lossy(&answer).to_lowercase();
    let keep = !text.contains("connection: close")
        && (text.contains("content-length") || text.contains("chunked") || text.contains(" 304 "));
    listen(move |server, mut stream| {
        let answer = Arc::clone(&answer);
        async move {
            while let Some(request) = read_request(&mut stream).await {
                server.note(&request);
                if stream.write_all(&answer).await.is_err() || !keep {
                    break;
                }
            }
            let _ = stream.shutdown().await;
        }
    })
    .await
}

/// Reads one request's header block; `None` once the peer has gone.
pub async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(bytes).unwrap())
}

/// Waits until the peer hangs up.
pub async fn until_closed(stream: &mut (impl AsyncRead + Unpin)) {
    let mut buffer = [0; 1024];
    while matches!(stream.read(&mut buffer).await, Ok(n) if n > 0) {}
}

/// A 200 answer with these headers (each ending in `\r\n`) and a counted body.
pub fn ok(headers: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(body);
    answer
}

/// A spec that may contact loopback and gives up soon enough for a test.
pub fn spec() -> FetchSpec {
    FetchSpec {
        allow_networks: vec!["127.0.0.0/8".into()],
        ..FetchSpec::default()
    }
}

pub fn fetcher(change: impl FnOnce(&mut FetchSpec)) -> Fetcher {
    let mut spec = spec();
    change(&mut spec);
    Fetcher::new(&spec).unwrap()
}

pub async fn get(fetcher: &Fetcher, url: Url) -> Result<(Head, Body), Ended> {
    let answer: Answer = fetcher.start(Request::get(url)).await?;
    answer.into_parts().await
}

/// The kind of end that a GET comes to.
pub async fn end_of(fetcher: &Fetcher, url: Url) -> OutcomeKind {
    match get(fetcher, url).await {
        Ok((head, body)) => panic!("expected an end, got {} and {body:?}", head.status),
        Err(ended) => ended.outcome.kind,
    }
}
