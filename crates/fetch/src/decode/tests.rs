//! Every encoding: good, cut off, corrupt and hostile.

use std::io::Write;

use bytes::Bytes;
use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};
use trawl_types::OutcomeKind;

use super::{Body, BodyReader, Caps, Push};
use crate::ended::End;

const CAPS: Caps = Caps {
    body: 10 * 1024 * 1024,
    refuse: false,
    ratio: 200,
};

const ENCODINGS: [&str; 5] = ["gzip", "deflate", "raw deflate", "br", "zstd"];

fn encode(encoding: &str, plain: &[u8]) -> Vec<u8> {
    match encoding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "raw deflate" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut out = Vec::new();
            let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 5, 22);
            encoder.write_all(plain).unwrap();
            drop(encoder);
            out
        }
        _ => zstd::encode_all(plain, 3).unwrap(),
    }
}

fn header(encoding: &str) -> &str {
    encoding.strip_prefix("raw ").unwrap_or(encoding)
}

fn decode(encoding: &str, wire: &[u8], caps: Caps, chunk: usize) -> Result<Body, End> {
    let mut reader = BodyReader::new(Some(encoding), caps, Some(wire.len() as u64))?;
    for chunk in wire.chunks(chunk) {
        if reader.push(Bytes::copy_from_slice(chunk))? == Push::Enough {
            break;
        }
    }
    reader.finish()
}

/// Text that does not compress to nothing.
fn page(length: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let words = (0..).flat_map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("<p>word {state}").into_bytes()
    });
    words.take(length).collect()
}

#[test]
fn every_encoding_decodes_however_the_bytes_arrive() {
    let plain = page(100_000);
    for encoding in ENCODINGS {
        let wire = encode(encoding, &plain);
        for chunk in [1, 7, 4096, wire.len()] {
            let body = decode(header(encoding), &wire, CAPS, chunk).unwrap();
            assert!(body.bytes == plain, "{encoding} in chunks of {chunk}");
            assert!(!body.truncated, "{encoding} in chunks of {chunk}");
            assert_eq!(body.wire_bytes, wire.len() as u64);
        }
    }
}

#[test]
fn names_are_read_in_any_case_and_identity_changes_nothing() {
    let wire = encode("gzip", b"hello");
    for name in ["GZIP", "x-gzip", " gzip , identity", "identity, x-GZip"] {
        assert_eq!(decode(name, &wire, CAPS, 99).unwrap().bytes, b"hello"[..]);
    }
    assert_eq!(
        decode("identity", b"hello", CAPS, 99).unwrap().bytes,
        b"hello"[..]
    );
}

#[test]
fn encodings_one_over_the_other_are_undone_in_order() {
    let wire = encode("zstd", &encode("br", &encode("gzip", b"hello")));
    let body = decode("gzip, br, zstd", &wire, CAPS, 3).unwrap();
    assert_eq!((&body.bytes[..], body.truncated), (&b"hello"[..], false));
}

#[test]
fn unknown_and_too_many_encodings_are_refused_before_anything_is_read() {
    for name in [
        "compress",
        "gzip, compress",
        "gzip, gzip, gzip, gzip",
        "aes128gcm",
    ] {
        let end = decode(name, b"", CAPS, 99).unwrap_err();
        assert_eq!(end.kind, OutcomeKind::BadEncoding, "{name}");
    }
}

#[test]
fn a_stream_cut_off_keeps_what_it_gave_and_says_so() {
    let plain = page(300_000);
    for encoding in ENCODINGS {
        let wire = encode(encoding, &plain);
        let half = &wire[..wire.len() / 2];
        let body = decode(header(encoding), half, CAPS, 1000).unwrap();
        assert!(body.truncated, "{encoding}");
        assert!(!body.bytes.is_empty(), "{encoding}");
        assert!(plain.starts_with(&body.bytes), "{encoding}");
    }
}

#[test]
fn a_stream_without_its_last_bytes_is_marked_as_cut() {
    for encoding in ENCODINGS {
        let wire = encode(encoding, &page(1000));
        let cut = &wire[..wire.len() - 1];
        match decode(header(encoding), cut, CAPS, 99) {
            Ok(body) => assert!(body.truncated, "{encoding}"),
            Err(end) => assert_eq!(end.kind, OutcomeKind::BadEncoding, "{encoding}"),
        }
    }
}

#[test]
fn a_stream_that_gives_nothing_is_a_bad_encoding() {
    for encoding in ["gzip", "br", "zstd", "deflate"] {
        let noise = [0xff; 64];
        let end = decode(encoding, &noise, CAPS, 99).unwrap_err();
        assert_eq!(end.kind, OutcomeKind::BadEncoding, "{encoding}");
    }
}

#[test]
fn corrupt_bytes_never_panic_and_never_pass_unmarked() {
    let plain = page(20_000);
    for encoding in ["gzip", "deflate", "zstd", "br"] {
        let good = encode(encoding, &plain);
        for position in (0..good.len()).step_by(97) {
            let mut wire = good.clone();
            wire[position] ^= 0x55;
            if let Ok(body) = decode(encoding, &wire, CAPS, 512) {
                // Only gzip and zlib carry a checksum that shows every change.
                let checked = matches!(encoding, "gzip" | "deflate");
                let harmless = body.bytes == plain;
                assert!(
                    body.truncated || harmless || !checked,
                    "{encoding} at {position}"
                );
            }
        }
    }
}

#[test]
fn no_body_is_no_error_whatever_its_encoding() {
    for encoding in ["gzip", "br", "zstd", "deflate", "gzip, br"] {
        let body = decode(encoding, b"", CAPS, 99).unwrap();
        assert_eq!((body.bytes.len(), body.truncated), (0, false), "{encoding}");
    }
}

#[test]
fn several_gzip_members_are_one_body_and_bytes_behind_them_are_ignored() {
    let mut wire = encode("gzip", b"hello ");
    wire.extend(encode("gzip", b"world"));
    wire.extend(b"\0\0\0padding");
    for chunk in [1, 5, 1000] {
        let body = decode("gzip", &wire, CAPS, chunk).unwrap();
        assert_eq!(
            (&body.bytes[..], body.truncated),
            (&b"hello world"[..], false)
        );
    }
}

#[test]
fn gzip_headers_with_every_field_are_skipped() {
    let plain = encode("raw deflate", b"hello");
    let mut wire = vec![0x1f, 0x8b, 8, 0b1_1110, 0, 0, 0, 0, 0, 3];
    wire.extend([3, 0, b'x', b'y', b'z']);
    wire.extend(b"name.html\0a comment\0\x12\x34");
    wire.extend(plain);
    let sum = encode("gzip", b"hello");
    wire.extend(&sum[sum.len() - 8..]);
    for chunk in [1, 1000] {
        let body = decode("gzip", &wire, CAPS, chunk).unwrap();
        assert_eq!((&body.bytes[..], body.truncated), (&b"hello"[..], false));
    }
}

#[test]
fn bombs_of_every_kind_are_named_and_kept_small() {
    let zeros = vec![0; 8 * 1024 * 1024];
    for encoding in ENCODINGS {
        let wire = encode(encoding, &zeros);
        for chunk in [100, 64 * 1024] {
            let end = decode(header(encoding), &wire, CAPS, chunk).unwrap_err();
            assert_eq!(
                end.kind,
                OutcomeKind::DecompressionBomb,
                "{encoding} {chunk}"
            );
        }
    }
}

#[test]
fn a_bomb_that_only_unfolds_between_two_encodings_is_named_too() {
    // Empty gzip members: the outer layer gives gigabytes of them, the inner one gives nothing.
    let empty = encode("gzip", b"");
    let layers = empty.repeat(8 * 1024 * 1024 / empty.len());
    let wire = encode("zstd", &layers);
    let caps = Caps {
        body: 1024 * 1024,
        ..CAPS
    };
    let end = decode("gzip, zstd", &wire, caps, 4096).unwrap_err();
    assert_eq!(end.kind, OutcomeKind::DecompressionBomb);
}

#[test]
fn a_body_above_the_limit_is_cut_there_or_refused() {
    let plain = page(50_000);
    let caps = Caps {
        body: 20_000,
        ..CAPS
    };
    let refusing = Caps {
        refuse: true,
        ..caps
    };
    for encoding in ["identity", "gzip", "deflate", "br", "zstd"] {
        let wire = match encoding {
            "identity" => plain.clone(),
            _ => encode(encoding, &plain),
        };
        let body = decode(encoding, &wire, caps, 1000).unwrap();
        assert_eq!(body.bytes, plain[..20_000], "{encoding}");
        assert!(body.truncated, "{encoding}");
        let end = decode(encoding, &wire, refusing, 1000).unwrap_err();
        assert_eq!(end.kind, OutcomeKind::BodyTooLarge, "{encoding}");
    }
}

#[test]
fn a_body_of_exactly_the_limit_is_whole() {
    let plain = page(20_000);
    let caps = Caps {
        body: 20_000,
        refuse: true,
        ..CAPS
    };
    for encoding in ["identity", "gzip", "br"] {
        let wire = match encoding {
            "identity" => plain.clone(),
            _ => encode(encoding, &plain),
        };
        let body = decode(encoding, &wire, caps, 1000).unwrap();
        assert_eq!(
            (body.bytes.len(), body.truncated),
            (20_000, false),
            "{encoding}"
        );
    }
}

#[test]
fn a_compressed_stream_that_gives_nothing_for_ever_is_stopped() {
    let caps = Caps {
        body: 100_000,
        ..CAPS
    };
    // Stored blocks of no bytes, as many as are wanted.
    let blocks = [0, 0, 0, 0xff, 0xff].repeat(1000);
    let mut reader = BodyReader::new(Some("deflate"), caps, None).unwrap();
    let taken =
        (0..1000).find(|_| reader.push(Bytes::from(blocks.clone())).unwrap() == Push::Enough);
    assert!(taken.is_some_and(|chunks| chunks < 100));
    assert_eq!(reader.finish().unwrap_err().kind, OutcomeKind::BadEncoding);
}

#[test]
fn a_window_larger_than_the_web_allows_is_refused() {
    let plain = page(64 * 1024);
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(27).unwrap();
    encoder.include_contentsize(false).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.write_all(&plain).unwrap();
    let wire = encoder.finish().unwrap();
    let end = decode("zstd", &wire, CAPS, 4096).unwrap_err();
    assert_eq!(end.kind, OutcomeKind::BadEncoding);
}
