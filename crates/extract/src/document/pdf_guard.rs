//! Whether a PDF file can be read in bounded time and memory, before a parser sees it.
//!
//! Every stream's dictionary stands in the open, so what the streams unpack to can be measured
//! without understanding the file. Unpacked text decides the cost: putting the pieces of a page in
//! reading order takes time that grows with the square of their number.

use std::io::Read;

use flate2::read::ZlibDecoder;

/// What all streams but pictures may unpack to.
const MAX_UNPACKED: usize = 128 * 1024 * 1024;
/// What one stream may unpack to; larger ones are not text.
const MAX_STREAM: usize = 32 * 1024 * 1024;
/// The sum of the squares of the numbers of pieces of text in each stream: some five seconds.
const MAX_COST: u64 = 1_000_000_000;
/// Packings whose size is not measured here may be this long; they unpack at most a few
/// thousandfold.
const MAX_UNMEASURED: usize = 64 * 1024;

/// Whether reading the file is worth the risk.
pub(super) fn is_reasonable(bytes: &[u8]) -> bool {
    let (mut unpacked, mut cost) = (0_usize, 0_u64);
    for at in memchr::memmem::find_iter(bytes, b"stream") {
        if at >= 3 && bytes.get(at - 3..at) == Some(b"end") {
            continue;
        }
        let Some(packing) = packing(bytes, at) else {
            continue;
        };
        let body = bytes.get(at + 6..).unwrap_or_default();
        let body = body.strip_prefix(b"\r").unwrap_or(body);
        let body = body.strip_prefix(b"\n").unwrap_or(body);
        match packing {
            Packing::Picture => {}
            Packing::Twice => return false,
            Packing::Unmeasured => {
                let length = memchr::memmem::find(body, b"endstream").unwrap_or(body.len());
                if length > MAX_UNMEASURED {
                    return false;
                }
            }
            Packing::None => {
                let length = memchr::memmem::find(body, b"endstream").unwrap_or(body.len());
                cost = cost.saturating_add(square(pieces(body.get(..length).unwrap_or_default())));
            }
            Packing::Flate => {
                let (size, pieces) = measure(body);
                unpacked = unpacked.saturating_add(size);
                cost = cost.saturating_add(square(pieces));
                if size > MAX_STREAM {
                    return false;
                }
            }
        }
        if unpacked > MAX_UNPACKED || cost > MAX_COST {
            return false;
        }
    }
    true
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Flate,
    Picture,
    /// A packing not measured here.
    Unmeasured,
    /// Packed more than once: nobody does, and nobody can say what comes out.
    Twice,
}

/// How the stream whose keyword stands at `at` is packed, by its dictionary; nothing if the word
/// is not a stream's keyword.
fn packing(bytes: &[u8], at: usize) -> Option<Packing> {
    let before = bytes.get(at.saturating_sub(2048)..at)?.trim_ascii_end();
    if !before.ends_with(b">>") {
        return None;
    }
    let start = memchr::memmem::rfind(before, b" obj").map_or(0, |found| found + 4);
    let dictionary = before.get(start..).unwrap_or_default();
    let count = |name: &[u8]| memchr::memmem::find_iter(dictionary, name).count();
    let names: [&[u8]; 4] = [
        b"/DCTDecode",
        b"/JPXDecode",
        b"/CCITTFaxDecode",
        b"/JBIG2Decode",
    ];
    if names.iter().any(|name| count(name) > 0) || count(b"/Image") > 0 {
        return Some(Packing::Picture);
    }
    let flate = count(b"/FlateDecode") + count(b"/Fl ") + count(b"/Fl/");
    let packed = flate + count(b"/LZW") + count(b"/RunLength");
    let spelt = count(b"/ASCII") + count(b"/Crypt");
    Some(match (packed, spelt) {
        (0, 0) => Packing::None,
        (1, 0) if flate == 1 => Packing::Flate,
        (0 | 1, _) => Packing::Unmeasured,
        _ => Packing::Twice,
    })
}

/// How much a stream unpacks to, up to a little more than is allowed, and its pieces of text.
fn measure(body: &[u8]) -> (usize, u64) {
    let mut decoder = ZlibDecoder::new(body);
    let mut buffer = [0; 16 * 1024];
    let (mut size, mut pieces_found) = (0, 0);
    // A damaged stream ends where the damage is, here as in the parser.
    while let Ok(length @ 1..) = decoder.read(&mut buffer) {
        size += length;
        pieces_found += pieces(buffer.get(..length).unwrap_or_default());
        if size > MAX_STREAM {
            break;
        }
    }
    (size, pieces_found)
}

/// The operators that show text.
fn pieces(content: &[u8]) -> u64 {
    let shows = |name: &[u8]| memchr::memmem::find_iter(content, name).count() as u64;
    shows(b"Tj") + shows(b"TJ")
}

fn square(number: u64) -> u64 {
    number.saturating_mul(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use std::io::Write as _;

    fn file(dictionary: &str, body: &[u8]) -> Vec<u8> {
        let mut file = format!("%PDF-1.7\n1 0 obj\n<< {dictionary} >>\nstream\n").into_bytes();
        file.extend(body);
        file.extend(b"\nendstream\nendobj\n");
        file
    }

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn usual_files_pass_and_bombs_do_not() {
        let text = packed(&b"(Hello) Tj ".repeat(1000));
        assert!(is_reasonable(&file("/Filter /FlateDecode", &text)));
        assert!(is_reasonable(&file("/Length 4", b"text")));
        assert!(is_reasonable(b"%PDF-1.7 stream of thought"));
        let bomb = packed(&vec![b' '; MAX_STREAM + 1]);
        assert!(!is_reasonable(&file("/Filter /FlateDecode", &bomb)));
        assert!(is_reasonable(&file(
            "/Filter /FlateDecode /Subtype /Image",
            &bomb
        )));
        let scattered = packed(&b"1 2 Td (a) Tj ".repeat(60_000));
        assert!(!is_reasonable(&file("/Filter/FlateDecode", &scattered)));
    }

    #[test]
    fn packings_in_packings_are_refused_and_others_when_they_are_long() {
        assert!(is_reasonable(&file(
            "/Filter [/ASCII85Decode /FlateDecode]",
            b"abc~>"
        )));
        let long = vec![b'a'; MAX_UNMEASURED + 10];
        assert!(!is_reasonable(&file(
            "/Filter [/FlateDecode /FlateDecode]",
            b"short"
        )));
        assert!(!is_reasonable(&file("/Filter /LZWDecode", &long)));
    }
}
