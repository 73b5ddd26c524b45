//! A client that shows what is on the wire, without any HTTP library in between.

#![allow(dead_code)]

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer split into its parts; the body is as it was sent.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// How the connection ended.
    pub(crate) end: io::Result<()>,
}

impl Raw {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub(crate) async fn get(addr: SocketAddr, host: &str, path: &str) -> Raw {
    send(addr, "GET", host, path, "").await
}

/// Sends a request with `Connection: close` and reads until the connection ends.
pub(crate) async fn send(
    addr: SocketAddr,
    method: &str,
    host: &str,
    path: &str,
    headers: &str,
) -> Raw {
    let request =
        format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}\r\n");
    let (bytes, end) = exchange(addr, &request, usize::MAX).await;
    split(&bytes, end)
}

/// Sends raw text and reads until the end or until `limit` bytes came.
pub(crate) async fn exchange(
    addr: SocketAddr,
    request: &str,
    limit: usize,
) -> (Vec<u8>, io::Result<()>) {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    while bytes.len() < limit {
        match stream.read(&mut buffer).await {
            Ok(0) => return (bytes, Ok(())),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) => return (bytes, Err(error)),
        }
    }
    (bytes, Ok(()))
}

fn split(bytes: &[u8], end: io::Result<()>) -> Raw {
    let at = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, body) = match at {
        Some(at) => (&bytes[..at], bytes[at + 4..].to_vec()),
        None => (bytes, Vec::new()),
    };
    let head = String::from_utf8_lossy(head).into_owned();
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .unwrap_or(0);
    let chunked = head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked");
    let body = if chunked { unchunk(&body) } else { body };
    Raw {
        status,
        head,
        body,
        end,
    }
}

fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(at) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&rest[..at]).ok();
        let Some(size @ 1..) = size.and_then(|hex| usize::from_str_radix(hex, 16).ok()) else {
            break;
        };
        let start = at + 2;
        let Some(piece) = rest.get(start..start + size) else {
            break;
        };
        out.extend_from_slice(piece);
        rest = rest.get(start + size + 2..).unwrap_or(&[]);
    }
    out
}
