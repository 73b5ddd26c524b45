//! Gzip with a bound on what comes out.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::warning::{Warning, warn_once};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The document unpacked, if it is packed, and cut at `limit` bytes.
pub(super) fn unpack<'a>(
    bytes: &'a [u8],
    limit: usize,
    warnings: &mut Vec<Warning>,
) -> Cow<'a, [u8]> {
    let mut unpacked = if bytes.starts_with(&GZIP_MAGIC) {
        gunzip(bytes, limit, warnings)
    } else {
        Cow::Borrowed(bytes)
    };
    if unpacked.len() > limit {
        warn_once(warnings, Warning::SitemapTooLarge);
        match &mut unpacked {
            Cow::Borrowed(all) => *all = all.get(..limit).unwrap_or_default(),
            Cow::Owned(all) => all.truncate(limit),
        }
    }
    unpacked
}

fn gunzip<'a>(bytes: &[u8], limit: usize, warnings: &mut Vec<Warning>) -> Cow<'a, [u8]> {
    let mut unpacked = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(limit as u64 + 1);
    // What was unpacked before an error stays in the buffer and is used.
    if decoder.read_to_end(&mut unpacked).is_err() {
        warn_once(warnings, Warning::SitemapGzipDamaged);
    }
    Cow::Owned(unpacked)
}
