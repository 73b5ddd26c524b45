//! One answer as a WARC record, and back. Pure: no files, no clock, no randomness.
//!
//! Everything in the headers comes from strangers; nothing of it may end a line early.

use std::{borrow::Cow, io};

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat};
use trawl_types::UnixMillis;

/// Of every record.
const END: &[u8] = b"\r\n\r\n";
/// Described by the body that is kept, which is decoded and whole.
const REPLACED: [&str; 4] = [
    "content-encoding",
    "transfer-encoding",
    "content-length",
    "connection",
];

/// A record as it is put together: what stands before its bytes, and the bytes as they came. They are
/// brought together when the record is packed, so that a body is not copied only to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    head: Vec<u8>,
    body: Bytes,
    tail: &'static [u8],
}

impl Record {
    /// Bytes that are a record, or were made of one, as a whole.
    pub(crate) fn whole(bytes: Vec<u8>) -> Self {
        Self {
            head: bytes,
            body: Bytes::new(),
            tail: b"",
        }
    }

    /// In bytes; never zero.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.head.len() + self.body.len() + self.tail.len()
    }

    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        for part in [&self.head[..], &self.body, self.tail] {
            out.extend_from_slice(part);
        }
    }

    /// In one piece, if it is not already.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        if self.body.is_empty() && self.tail.is_empty() {
            return Cow::Borrowed(&self.head);
        }
        let mut bytes = Vec::with_capacity(self.len());
        self.append_to(&mut bytes);
        Cow::Owned(bytes)
    }

    /// What records of the same kind and host begin with.
    pub(crate) fn family(&self) -> &[u8] {
        // One slash is in the version of the format, two are in the address, the next ends its host.
        let end = memchr::memchr_iter(b'/', &self.head).nth(3);
        &self.head[..end.unwrap_or(self.head.len())]
    }
}

/// The record of an answer. A store packs and compresses it with others.
pub fn encode<'a>(
    url: &str,
    fetched_at: UnixMillis,
    status: u16,
    headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    body: Bytes,
) -> Record {
    let mut http = Vec::with_capacity(1024);
    http.extend_from_slice(format!("HTTP/1.1 {status} \r\n").as_bytes());
    for (name, value) in headers {
        if REPLACED.iter().any(|gone| name.eq_ignore_ascii_case(gone)) {
            continue;
        }
        push_clean(&mut http, name.as_bytes());
        http.extend_from_slice(b": ");
        push_clean(&mut http, value);
        http.extend_from_slice(b"\r\n");
    }
    http.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());

    let mut head = Vec::with_capacity(http.len() + url.len() + 512);
    head.extend_from_slice(b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: ");
    push_clean(&mut head, url.as_bytes());
    let (at, sum) = (fetched_at.0.to_le_bytes(), sample(&body));
    let id = record_id(&[url.as_bytes(), &at, &http, &sum.to_le_bytes()]);
    let rest = format!(
        "\r\nWARC-Date: {}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n",
        date(fetched_at),
        http.len() + body.len(),
    );
    head.extend_from_slice(rest.as_bytes());
    head.extend_from_slice(&http);
    Record {
        head,
        body,
        tail: END,
    }
}

/// What was made of an answer, as JSON: a record that WARC calls a conversion.
pub fn encode_content(url: &str, at: UnixMillis, json: Vec<u8>) -> Record {
    let mut head = Vec::with_capacity(url.len() + 512);
    head.extend_from_slice(b"WARC/1.1\r\nWARC-Type: conversion\r\nWARC-Target-URI: ");
    push_clean(&mut head, url.as_bytes());
    let sum = sample(&json).to_le_bytes();
    let id = record_id(&[url.as_bytes(), &at.0.to_le_bytes(), b"conversion", &sum]);
    let rest = format!(
        "\r\nWARC-Date: {}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        date(at),
        json.len(),
    );
    head.extend_from_slice(rest.as_bytes());
    Record {
        head,
        body: json.into(),
        tail: END,
    }
}

/// The record that opens every file.
pub(crate) fn info(segment: u32, now: UnixMillis) -> Vec<u8> {
    let fields = format!(
        "software: trawl/{}\r\nformat: WARC File Format 1.1\r\n\
         conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n",
        env!("CARGO_PKG_VERSION")
    );
    let id = record_id(&[&segment.to_le_bytes(), &now.0.to_le_bytes()]);
    let record = format!(
        "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: {}\r\nWARC-Filename: {}\r\n\
         WARC-Record-ID: <urn:uuid:{id}>\r\nContent-Type: application/warc-fields\r\n\
         Content-Length: {}\r\n\r\n{fields}\r\n\r\n",
        date(now),
        super::file_name(segment),
        fields.len(),
    );
    record.into_bytes()
}

/// The body inside a record that [`encode`] made. Whatever stands behind the record is not looked at.
pub(crate) fn body(record: &[u8]) -> io::Result<&[u8]> {
    let range = body_range(record).ok_or_else(|| wrong("not a response record"))?;
    Ok(&record[range])
}

/// What is inside a record: the JSON that [`encode_content`] was given, or an answer with its head.
pub(crate) fn content(record: &[u8]) -> io::Result<&[u8]> {
    let range = block_range(record).ok_or_else(|| wrong("not a record"))?;
    Ok(&record[range])
}

/// The record alone, without what stands behind it.
pub(crate) fn alone(record: &[u8]) -> io::Result<&[u8]> {
    let range = block_range(record).ok_or_else(|| wrong("not a record"))?;
    record
        .get(..range.end + END.len())
        .ok_or_else(|| wrong("a record without its end"))
}

fn wrong(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Headers and body of an answer as [`encode`] wrote it.
pub fn split_answer(answer: &[u8]) -> (Vec<(&str, &str)>, &[u8]) {
    let end = end_of_head(answer, 0).unwrap_or(0);
    let head = std::str::from_utf8(&answer[..end]).unwrap_or_default();
    let headers = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "));
    (headers.collect(), &answer[end..])
}

/// What stands between a record's head and its end.
fn block_range(record: &[u8]) -> Option<std::ops::Range<usize>> {
    let start = end_of_head(record, 0)?;
    let text = std::str::from_utf8(record.get(..start)?).ok()?;
    let length: usize = text
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))?
        .parse()
        .ok()?;
    let end = start.checked_add(length)?;
    (end <= record.len()).then_some(start..end)
}

fn body_range(record: &[u8]) -> Option<std::ops::Range<usize>> {
    let block = block_range(record)?;
    let http_head = end_of_head(record, block.start)?;
    (http_head <= block.end).then_some(http_head..block.end)
}

fn end_of_head(record: &[u8], from: usize) -> Option<usize> {
    let rest = record.get(from..)?;
    let at = rest.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(from + at + 4)
}

/// Control characters become spaces: a header may not say more than one line.
fn push_clean(out: &mut Vec<u8>, text: &[u8]) {
    let clean = |b: &u8| if b.is_ascii_control() { b' ' } else { *b };
    out.extend(text.iter().map(clean));
}

fn date(at: UnixMillis) -> String {
    DateTime::from_timestamp_millis(at.0)
        .unwrap_or_default()
        .to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A checksum of both ends of a body. Its length stands in the head, and nothing is told apart by this
/// alone: a page that is asked for twice in a millisecond is all that address and time leave open.
fn sample(body: &[u8]) -> u32 {
    const END: usize = 512;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&body[..body.len().min(END)]);
    hasher.update(&body[body.len().saturating_sub(END)..]);
    hasher.finalize()
}

/// Four checksums of the content in the shape of a version 8 (custom) UUID: the same answer has
/// the same name.
fn record_id(parts: &[&[u8]]) -> String {
    let words: Vec<u32> = (0..4u32)
        .map(|seed| {
            let mut hasher = crc32fast::Hasher::new();
            hasher.update(&seed.wrapping_mul(0x9e37_79b9).to_le_bytes());
            for part in parts {
                hasher.update(&(part.len() as u64 ^ u64::from(seed)).to_le_bytes());
                hasher.update(part);
            }
            hasher.finalize()
        })
        .collect();
    let (a, b, c, d) = (words[0], words[1], words[2], words[3]);
    format!(
        "{a:08x}-{:04x}-8{:03x}-{:04x}-{:04x}{d:08x}",
        b >> 16,
        b & 0xfff,
        0x8000 | ((c >> 16) & 0x3fff),
        c & 0xffff,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(record: &[u8]) -> String {
        String::from_utf8_lossy(record).into_owned()
    }

    fn sample(url: &str, headers: &[(&str, &[u8])], body: &[u8]) -> Vec<u8> {
        let headers = headers.iter().copied();
        let at = UnixMillis(1_700_000_000_000);
        encode(url, at, 200, headers, body.to_vec().into())
            .bytes()
            .into_owned()
    }

    #[test]
    fn a_body_is_read_back_as_it_was() {
        let sent: &[u8] = b"<p>\r\n\r\n\xff\x00</p>\r\n\r\n";
        let record = sample("https://a.test/", &[("Content-Type", b"text/html")], sent);
        assert_eq!(body(&record).unwrap(), sent);
        assert_eq!(body(&sample("https://a.test/", &[], b"")).unwrap(), b"");
    }

    #[test]
    fn a_record_is_told_from_what_stands_behind_it() {
        let record = sample("https://a.test/", &[], b"one");
        let both = [record.clone(), sample("https://a.test/", &[], b"two")].concat();
        assert_eq!(alone(&both).unwrap(), record);
        assert_eq!(body(&both).unwrap(), b"one");
        assert!(alone(&record[..record.len() - 1]).is_err());
    }

    #[test]
    fn an_answer_comes_apart_into_headers_and_body() {
        let record = sample("https://a.test/", &[("X-A", b"b: c")], b"\r\n\r\nbody");
        let answer = content(&record).unwrap();
        let (headers, body) = split_answer(answer);
        assert_eq!(headers, [("X-A", "b: c"), ("Content-Length", "8")]);
        assert_eq!(body, b"\r\n\r\nbody");
        assert_eq!(split_answer(b"no answer"), (Vec::new(), &b"no answer"[..]));
    }

    #[test]
    fn content_is_read_back_as_it_was() {
        let json = b"{\"markdown\":\"a\\r\\n\\r\\nb\"}";
        let record = encode_content("https://a.test/\r\nX: y", UnixMillis(0), json.to_vec())
            .bytes()
            .into_owned();
        assert_eq!(content(&record).unwrap(), json);
        assert!(text(&record).contains("\r\nWARC-Type: conversion\r\n"));
    }

    #[test]
    fn headers_that_the_decoded_body_would_belie_are_left_out() {
        let headers: [(&str, &[u8]); 3] = [
            ("Content-Encoding", b"gzip"),
            ("content-length", b"7"),
            ("X", b"y"),
        ];
        let text = text(&sample("https://a.test/", &headers, b"hello"));
        assert!(!text.contains("gzip"));
        assert!(text.contains("\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n"));
        assert!(text.contains("X: y\r\n"));
        assert!(text.contains("WARC-Date: 2023-11-14T22:13:20.000Z\r\n"));
    }

    #[test]
    fn line_breaks_in_urls_and_headers_do_not_break_out_of_the_record() {
        let evil = "https://a.test/\r\nWARC-Type: metadata\r\n\r\nx";
        let record = sample(evil, &[("A\r\nB", b"c\r\n\r\nWARC/1.1")], b"body");
        assert_eq!(body(&record).unwrap(), b"body");
        assert_eq!(text(&record).matches("\r\nWARC-Type:").count(), 1);
    }

    #[test]
    fn a_record_has_the_declared_length_and_a_uuid() {
        let text = text(&sample("https://a.test/", &[], b"12345"));
        let (head, block) = text.split_once("\r\n\r\n").unwrap();
        let length = head
            .lines()
            .find_map(|l| l.strip_prefix("Content-Length: "))
            .unwrap();
        assert_eq!(block.len() - 4, length.parse::<usize>().unwrap());
        let id = head.split("urn:uuid:").nth(1).unwrap();
        let id = id.split('>').next().unwrap();
        let groups: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12]);
    }
}
