//! HTTP CONNECT: asks a proxy for a tunnel.

use http::HeaderValue;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use trawl_types::OutcomeKind;

use super::proxy::{Aim, failure};
use crate::ended::End;

/// A proxy says little before the tunnel begins.
const MAX_ANSWER: usize = 16 * 1024;

pub(crate) async fn open(
    tcp: &mut TcpStream,
    aim: &Aim,
    authorization: Option<HeaderValue>,
) -> Result<(), End> {
    let broken = |_| failure("the proxy hung up");
    let target = format!("{}:{}", aim.host, aim.port);
    let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n").into_bytes();
    if let Some(value) = authorization {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    tcp.write_all(&request).await.map_err(broken)?;

    let mut answer = Vec::with_capacity(256);
    // Byte by byte: what follows the blank line already belongs to the target.
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() == MAX_ANSWER {
            return Err(failure("the proxy's answer is too long"));
        }
        answer.push(tcp.read_u8().await.map_err(broken)?);
    }
    judge(&answer)
}

fn judge(answer: &[u8]) -> Result<(), End> {
    let line = answer.split(|byte| *byte == b'\r').next().unwrap_or(&[]);
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_ascii_whitespace();
    let speaks_http = words.next().is_some_and(|word| word.starts_with("HTTP/1."));
    match words.next().and_then(|word| word.parse::<u16>().ok()) {
        _ if !speaks_http => Err(failure("the proxy does not speak HTTP")),
        Some(200..=299) => Ok(()),
        Some(407) => Err(failure("the proxy wants other credentials (407)")),
        Some(status) => Err(End::new(
            OutcomeKind::ProxyFailure,
            format!("the proxy opened no tunnel ({status})"),
        )),
        None => Err(failure("the proxy's answer cannot be read")),
    }
}

/// Standard base64 with padding: the only use is one header, so no crate is needed for it.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..4_usize {
            if position > group.len() {
                text.push('=');
            } else {
                let index = bits >> (18 - 6 * position) & 0x3f;
                text.push(char::from(ALPHABET[index as usize]));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads_as_the_rfc_says() {
        let examples = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
            ("user:p\u{e4}ss", "dXNlcjpww6Rzcw=="),
        ];
        for (plain, encoded) in examples {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }

    #[test]
    fn only_a_2xx_answer_opens_a_tunnel() {
        assert!(judge(b"HTTP/1.1 200 Connection established\r\n\r\n").is_ok());
        assert!(judge(b"HTTP/1.0 200\r\n\r\n").is_ok());
        for answer in [
            &b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"[..],
            b"HTTP/1.1 503 no\r\n\r\n",
            b"SSH-2.0-x\r\n\r\n",
            b"\r\n\r\n",
        ] {
            assert_eq!(judge(answer).unwrap_err().kind, OutcomeKind::ProxyFailure);
        }
    }
}
