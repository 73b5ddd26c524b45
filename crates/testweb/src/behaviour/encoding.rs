//! Compressed answers: good, damaged, mislabelled, and bombs that cost the server next to nothing.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::header::CONTENT_ENCODING;

use super::bomb;
use crate::reply::Reply;

/// Content codings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coding {
    Gzip,
    Brotli,
    Zstd,
    /// `deflate` as the standard means it: with a zlib header.
    Zlib,
    /// `deflate` as some servers send it: without one.
    RawDeflate,
}

impl Coding {
    /// All codings.
    pub const ALL: [Self; 5] = [
        Self::Gzip,
        Self::Brotli,
        Self::Zstd,
        Self::Zlib,
        Self::RawDeflate,
    ];

    /// Name in the Content-Encoding header.
    pub fn label(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Zlib | Self::RawDeflate => "deflate",
        }
    }

    /// Compresses bytes.
    pub(crate) fn encode(self, plain: &[u8]) -> io::Result<Vec<u8>> {
        let level = Compression::default();
        match self {
            Self::Gzip => finish(GzEncoder::new(Vec::new(), level), plain, GzEncoder::finish),
            Self::Zlib => finish(
                ZlibEncoder::new(Vec::new(), level),
                plain,
                ZlibEncoder::finish,
            ),
            Self::RawDeflate => finish(
                DeflateEncoder::new(Vec::new(), level),
                plain,
                DeflateEncoder::finish,
            ),
            Self::Zstd => zstd::stream::encode_all(plain, 3),
            Self::Brotli => {
                let mut out = Vec::new();
                brotli::CompressorWriter::new(&mut out, 4096, 5, 20).write_all(plain)?;
                Ok(out)
            }
        }
    }
}

fn finish<W: Write>(
    mut encoder: W,
    plain: &[u8],
    end: impl FnOnce(W) -> io::Result<Vec<u8>>,
) -> io::Result<Vec<u8>> {
    encoder.write_all(plain)?;
    end(encoder)
}

/// What is wrong with a compressed body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Damage {
    /// Nothing.
    Whole,
    /// It ends too early.
    Truncated,
    /// Bytes in the middle are wrong.
    Corrupt,
    /// It is not compressed at all, in spite of its header.
    NotEncoded,
    /// It unpacks to this many megabytes.
    Bomb { megabytes: u32 },
}

/// The title of the page inside every good compressed answer.
pub const ENCODED_TITLE: &str = "Unpacked page";

/// A compressed answer.
pub(crate) fn reply(coding: Coding, damage: Damage) -> Reply {
    match cached(coding, damage) {
        Ok(body) => Reply::html(body).with_header(CONTENT_ENCODING, coding.label().as_bytes()),
        Err(_) => Reply::status(500),
    }
}

/// Bodies are made once: bombs take a moment.
fn cached(coding: Coding, damage: Damage) -> io::Result<Bytes> {
    static MADE: Mutex<Option<HashMap<(Coding, Damage), Bytes>>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = made.get_or_insert_default();
    if let Some(body) = made.get(&(coding, damage)) {
        return Ok(body.clone());
    }
    let body = Bytes::from(spoiled(coding, page(), damage)?);
    made.insert((coding, damage), body.clone());
    Ok(body)
}

/// A body compressed, with what is wrong with it.
pub(crate) fn spoiled(coding: Coding, plain: Vec<u8>, damage: Damage) -> io::Result<Vec<u8>> {
    let mut body = match damage {
        Damage::NotEncoded => return Ok(plain),
        Damage::Bomb { megabytes } => return bomb::build(coding, megabytes),
        Damage::Corrupt if coding == Coding::RawDeflate => return half_and_nonsense(&plain),
        Damage::Whole | Damage::Truncated | Damage::Corrupt => coding.encode(&plain)?,
    };
    let length = body.len();
    match damage {
        Damage::Truncated => body.truncate(length * 3 / 5),
        Damage::Corrupt => body
            .iter_mut()
            .skip(length / 3)
            .take(64)
            .for_each(|byte| *byte ^= 0xa5),
        _ => {}
    }
    Ok(body)
}

/// Raw deflate has no checksum, so that wrong bytes may pass for text: the second block is of a
/// type that does not exist.
fn half_and_nonsense(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain.get(..plain.len() / 2).unwrap_or(plain))?;
    encoder.flush()?;
    let mut body = encoder.get_ref().clone();
    body.extend_from_slice(&[0x07; 64]);
    Ok(body)
}

fn page() -> Vec<u8> {
    let mut html =
        format!("<!doctype html><title>{ENCODED_TITLE}</title><p><a href=\"/\">home</a></p>\n");
    crate::filler::Filler::shared()
        .reader(7)
        .push_upto(&mut html, 20_000);
    html.push_str("<p>end of the page</p>\n");
    html.into_bytes()
}
